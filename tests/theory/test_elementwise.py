"""The functions used for Python floats agree with NumPy's at every kind of number. Deterministic."""

import itertools

import numpy as np
import pytest

from stairnoise.numerics.elementwise import Scalars

NUMBERS = [0.0, -0.0, 1.0, -1.5, 2.5, 5e-324, -1e-9, 700.0, 710.0, -800.0, 1e308, -1e308, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("name", ["abs", "floor", "ceil", "exp", "expm1", "log", "log1p", "isinf"])
def test_functions_of_one_number(name):
    for number in NUMBERS:
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(np.float64(number))
        assert getattr(Scalars, name)(number) == pytest.approx(expected, rel=4e-16, abs=0, nan_ok=True), number


@pytest.mark.parametrize("name", ["maximum", "minimum", "divide", "copysign"])
def test_functions_of_two_numbers(name):
    for pair in itertools.product(NUMBERS[:-1], repeat=2):
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(*map(np.float64, pair))
        assert getattr(Scalars, name)(*pair) == pytest.approx(expected, nan_ok=True), pair
