"""The mechanisms of the registry, for tests that go over all of them. A mechanism is made when its test runs."""

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

# Public classes that are only bases, and no mechanisms.
BASES = {"Mechanism", "AdditiveMechanism", "SelectionMechanism"}

# A test with one of these takes `mechanism`, the fixture of tests/conftest.py.
each_mechanism = pytest.mark.parametrize("mechanism", EXAMPLES, indirect=True)
each_mechanism_and_array = pytest.mark.parametrize("mechanism", [*EXAMPLES, *ARRAYS], indirect=True)
each_mechanism_of_numbers = pytest.mark.parametrize("mechanism", NUMBERS, indirect=True)
# One example of each, and in `make test-long` the others.
one_mechanism_of_each = pytest.mark.parametrize("mechanism", FIRST, indirect=True)


def mechanisms_of_numbers():
    """Return them for a test that goes over all of them itself, because another list is what it is about."""
    return [row.make(example) for row, example in (one.values[0] for one in NUMBERS)]


def promise(mechanism, **options):
    """Return the guarantee of a mechanism; at sensitivity 1 if it was made from its noise alone."""
    return mechanism.guarantee(1 if mechanism._is_noise_alone else None, **options)
