"""Fixtures that several kinds of evidence share."""

import pytest

import stairnoise as sn


@pytest.fixture
def rng() -> sn.SeededRng:
    """A seeded generator that ``release`` accepts."""
    return sn.SeededRng(20, allow_release=True)
