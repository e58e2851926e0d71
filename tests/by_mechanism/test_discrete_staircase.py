"""DiscreteStaircase: its distribution functions.

Evidence: 500-digit arithmetic on the definition. Deterministic: no false alarms.
"""

from fractions import Fraction

import numpy as np
import pytest

import stairnoise as sn
from tests.by_mechanism.definitions import EPS, StairOracle, check_lattice
from tests.combinations import looped, pairs

pytestmark = pytest.mark.usefixtures("many_digits")


@looped(("eps", "D", "r"), pairs(EPS[1:], [1, 2, 7, 1000, 10**6], ["l1", "l2", 1, "sensitivity"]))
def test_discrete_staircase(eps, D, r):
    mechanism = sn.DiscreteStaircase(eps, D, D if r == "sensitivity" else r)
    oracle = StairOracle(eps, D, mechanism.r - Fraction(1, 2))
    last = int(700 / eps)
    starts = [mechanism.r + m * D for m in (0, 1, 2, last // 2, last)]
    for i in [0, 1, 2, *(int(D * f / eps) for f in (0.3, 1.1, 17.3, 333.3)), *starts, *(s - 1 for s in starts)]:
        check_lattice(mechanism, oracle, i)
        check_lattice(mechanism, oracle, -i)


def test_scalar_attributes_are_python_numbers():
    i = sn.DiscreteStaircase(4, 100.0)
    assert (i.eps, i.sensitivity, i.r, i.granularity) == (4.0, 100, 12, 1)
    assert [type(x) for x in (i.eps, i.sensitivity, i.r, i.granularity)] == [float, int, int, int]
    assert type(sn.DiscreteStaircase(4, 100, 3.0).r) is int


def test_array_attributes():
    i = sn.DiscreteStaircase([1, 8], [[5], [100]])
    assert i.sensitivity.dtype == np.int64
    assert i.r.tolist() == [[2, 1], [38, 2]]
    assert i.granularity == 1
    assert sn.DiscreteStaircase(1, 5, [1, 2]).r.tolist() == [1, 2]


def test_unknown_cost():
    with pytest.raises(sn.ParameterError) as caught:
        sn.DiscreteStaircase(1, 1, "l3")
    assert str(caught.value) == 'r must be "l1", "l2" or a number, got \'l3\''
