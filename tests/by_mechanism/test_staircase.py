"""Staircase: its distribution functions.

Evidence: 500-digit arithmetic on the definition. Deterministic: no false alarms.
"""

from fractions import Fraction

import numpy as np
import pytest

import stairnoise as sn
from tests.by_mechanism.definitions import EPS, StairOracle, check_line, check_quantiles, edges
from tests.combinations import looped, pairs

pytestmark = pytest.mark.usefixtures("many_digits")


@looped(("eps", "D", "gamma"), pairs(EPS, [1.0, 0.1, 3.7e5, 1e-100], ["l1", "l2", 0.5, 0.3, 1.0]))
def test_staircase(eps, D, gamma):
    mechanism = sn.Staircase(eps, D, gamma)
    oracle = StairOracle(eps, D, Fraction(mechanism.gamma) * Fraction(D))
    anywhere = [D * f / eps for f in (1e-9, 0.01, 0.3, 1.1, 17.3, 333.3, 699.9)]
    for x in [0.0, *anywhere, *edges(eps, D, mechanism.gamma)]:
        check_line(mechanism, oracle, x)
        check_line(mechanism, oracle, -x)


@looped(("eps", "D", "gamma"), pairs(EPS, [1.0, 0.1, 3.7e5], ["l1", "l2", 0.3, 1.0]))
def test_quantiles(eps, D, gamma):
    mechanism = sn.Staircase(eps, D, gamma)
    check_quantiles(mechanism, StairOracle(eps, D, Fraction(mechanism.gamma) * Fraction(D)))


def test_scalar_attributes_are_python_numbers():
    d = sn.Staircase(np.float32(4), np.int64(2), np.float64(0.25))
    assert (d.eps, d.sensitivity, d.gamma, d.granularity) == (4.0, 2.0, 0.25, 2.0**-34)
    assert {type(x) for x in (d.eps, d.sensitivity, d.gamma, d.granularity)} == {float}


def test_array_attributes():
    d = sn.Staircase([1, 8], [[1], [2], [3]])
    assert d.eps.shape == (2,)
    assert d.sensitivity.shape == (3, 1)
    assert d.gamma.shape == (2,)
    assert d.granularity.shape == (3, 2)
    exponents = np.log2(d.granularity)
    assert exponents.tolist() == [[-32, -38], [-31, -37], [-31, -37]]


def test_unknown_cost():
    with pytest.raises(sn.ParameterError) as caught:
        sn.Staircase(1, 1, "l3")
    assert str(caught.value) == 'gamma must be "l1", "l2" or a number, got \'l3\''
