"""The mechanisms of the registry, for tests of all mechanisms. Each mechanism is constructed when its test runs."""

import pytest

from stairnoise.registry import ROWS

EXAMPLES = [
    pytest.param((row, example), id=f"{row.name}-{example.by or index}")
    for row in ROWS
    for index, example in enumerate(row.examples)
]
ARRAYS = [pytest.param((row, row.arrays), id=f"{row.name}-arrays") for row in ROWS if row.arrays is not None]
NUMBERS = [one for one in EXAMPLES if one.values[0][0].of_numbers]
FIRST = [
    one if row.examples[0] is example else pytest.param(*one.values, id=one.id, marks=pytest.mark.long)
    for one in NUMBERS
    for row, example in one.values
]

# These public classes are only bases; nobody constructs them.
BASES = {"Mechanism", "AdditiveMechanism", "SelectionMechanism"}
# Public classes with the methods of a mechanism that no list of mechanisms has.
UNLISTED = {*BASES, "NoNoise"}

# For tests that take the fixture `mechanism` of tests/conftest.py.
each_mechanism = pytest.mark.parametrize("mechanism", EXAMPLES, indirect=True)
each_mechanism_and_array = pytest.mark.parametrize("mechanism", [*EXAMPLES, *ARRAYS], indirect=True)
each_mechanism_of_numbers = pytest.mark.parametrize("mechanism", NUMBERS, indirect=True)
# One example of each mechanism runs always, the others only in `make test-long`.
one_mechanism_of_each = pytest.mark.parametrize("mechanism", FIRST, indirect=True)


def mechanisms_of_numbers():
    """Return all examples, for a test that loops over them and is parametrized by something else."""
    return [row.make(example) for row, example in (one.values[0] for one in NUMBERS)]


def promise(mechanism, **options):
    """Return the guarantee of a mechanism, at sensitivity 1 if the mechanism was made from its noise scale alone."""
    return mechanism.guarantee(1 if mechanism._is_noise_alone else None, **options)
