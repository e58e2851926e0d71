"""Fixtures that tests of several mechanisms share."""

from collections.abc import Iterator

import mpmath as mp
import pytest


@pytest.fixture
def many_digits() -> Iterator[None]:
    with mp.workdps(500):
        yield
