"""Differences of elementary functions, of one number and of many, agree with results in 80 digits.

Evidence: relative errors at points near zero, near one and between. No false alarms: the points are fixed.
"""

import numpy as np
import pytest
from mpmath import mp

from stairnoise.numerics import elementary

POINTS = np.concatenate(
    [np.linspace(-0.999, 0.999, 58), [x * s for x in 10.0 ** np.arange(-15, 0) for s in (-1, 1)], [-20.0, 20.0]]
)


@pytest.mark.parametrize("apart", [True, False], ids=["one by one", "together"])
@pytest.mark.parametrize(
    ("function", "exact"),
    [
        (elementary.exp_beyond_linear, lambda x: mp.expm1(x) - x),
        (elementary.sinh_beyond_linear, lambda x: mp.sinh(x) - x),
        (elementary.below_linear, lambda x: x - mp.tanh(x)),
    ],
)
def test_nothing_cancels(function, exact, apart):
    found = np.array([function(np.array(x)) for x in POINTS]) if apart else function(POINTS)
    with mp.workdps(80):
        errors = [abs(mp.mpf(float(y)) / exact(mp.mpf(float(x))) - 1) for x, y in zip(POINTS, found, strict=True)]
    assert max(errors) < 8e-16
