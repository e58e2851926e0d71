"""What every test may ask for."""

import sys
from typing import Any

import pytest

import stairnoise as sn

# pytest rewrites every assert, which takes half the time of a collection, and keeps the result where bytecode may be written.
sys.dont_write_bytecode = False

pytest_plugins = ["tests.quick"]


@pytest.fixture
def rng() -> sn.SeededRng:
    """A seeded generator that ``release`` accepts."""
    return sn.SeededRng(20, allow_release=True)


@pytest.fixture
def mechanism(request: pytest.FixtureRequest) -> Any:
    """The mechanism of an example of the registry; see `tests/examples.py`."""
    row, example = request.param
    return row.make(example)
