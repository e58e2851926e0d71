"""Fixtures for all tests."""

import gc
import sys
from collections.abc import Generator
from typing import Any

import pytest

import stairnoise as sn

# Rewriting the asserts takes half the time of a collection. pytest caches the result only where Python can write bytecode.
sys.dont_write_bytecode = False

pytest_plugins = ["tests.quick"]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Collect without looking for garbage, which is a sixth of the work and finds none."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.fixture
def rng() -> sn.SeededRng:
    """A seeded generator that ``release`` accepts."""
    return sn.SeededRng(20, allow_release=True)


@pytest.fixture
def mechanism(request: pytest.FixtureRequest) -> Any:
    """A mechanism made from an example in the registry; see `tests/examples.py`."""
    row, example = request.param
    return row.make(example)
