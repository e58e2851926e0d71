"""The mechanisms of the registry, for tests that go over all of them. A law is made when its test runs."""

import pytest

from stairnoise.registry import ROWS

EXAMPLES = [
    pytest.param((row, example), id=f"{row.name}-{example.by or index}")
    for row in ROWS
    for index, example in enumerate(row.examples)
]
ARRAYS = [pytest.param((row, row.arrays), id=f"{row.name}-arrays") for row in ROWS if row.arrays is not None]
NUMBERS = [one for one in EXAMPLES if one.values[0][0].kind != "vector"]

# A test with one of these takes `law`, the fixture of tests/conftest.py.
each_law = pytest.mark.parametrize("law", EXAMPLES, indirect=True)
each_law_and_array = pytest.mark.parametrize("law", [*EXAMPLES, *ARRAYS], indirect=True)
each_law_of_numbers = pytest.mark.parametrize("law", NUMBERS, indirect=True)


def promise(law, **options):
    """Return the guarantee of a mechanism; at sensitivity 1 if it was made from its noise alone."""
    return law.guarantee(1 if law._is_noise_alone else None, **options)
