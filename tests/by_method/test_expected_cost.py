"""`expected_cost` of every numeric mechanism agrees with its moments and its tail."""

import math

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.registry import ROWS
from tests.combinations import rest_long
from tests.examples import one_mechanism_of_each, promise

MECHANISMS = [mechanism for row in ROWS if row.of_numbers for mechanism in row.mechanisms()]


@one_mechanism_of_each
def test_powers_are_moments(mechanism):
    assert sn.expected_cost(mechanism, "l1") == mechanism.abs_moment(1)
    assert sn.expected_cost(mechanism, "l2") == mechanism.abs_moment(2)
    assert sn.expected_cost(mechanism, 0.5) == pytest.approx(mechanism.abs_moment(0.5), rel=1e-12)
    found = sn.expected_cost(mechanism, [[0.5, 1.0], [2.0, 3.0]])
    assert found.shape == (2, 2)
    assert found == pytest.approx(
        np.array([[mechanism.abs_moment(p) for p in row] for row in ([0.5, 1.0], [2.0, 3.0])]), rel=1e-12
    )


def summable(mechanism):
    """Return whether a function is allowed as cost, which needs ε or Δ/ε near 1."""
    eps = promise(mechanism).eps
    return eps is None or eps >= 0.1


SUMMABLE = list(filter(summable, MECHANISMS))


@pytest.mark.parametrize("mechanism", rest_long({type(one): one for one in SUMMABLE}.values(), SUMMABLE), ids=repr)
def test_functions_agree_with_powers(mechanism):
    # Probabilities of shares are accurate to 1e-9 down to e^-50, as their classes document.
    tolerance = 1e-9 if getattr(mechanism, "n_parties", 1) > 1 else 1e-11
    assert sn.expected_cost(mechanism, lambda x: x) == pytest.approx(mechanism.abs_moment(1), rel=tolerance)
    assert sn.expected_cost(mechanism, lambda x: x**2 + 3) == pytest.approx(mechanism.abs_moment(2) + 3, rel=tolerance)


@pytest.mark.parametrize("mechanism", SUMMABLE, ids=repr)
def test_a_jump_is_a_tail(mechanism):
    t = 1.5 * float(mechanism.std())
    step = float(mechanism.granularity)
    # P(|X| > t); if the density hides a lattice, from the lattice point below t.
    beyond = mechanism.sf(t) + mechanism.cdf(-t) - (mechanism.pmf(-t) if mechanism._integers else 0.0)
    if isinstance(mechanism, sn.Arete):
        t = (math.floor(t / step) + 0.5) * step
        beyond = mechanism.sf(t) + mechanism.cdf(-t)
    assert sn.expected_cost(mechanism, lambda x: x > t) == pytest.approx(beyond, rel=1e-9)


@pytest.mark.parametrize(
    "mechanism", [sn.Gaussian(1, 1e-6), sn.DiscreteGaussian(4), sn.MergedLaplace([1.0, 2.0], [1.0])], ids=repr
)
def test_costs_without_an_expected_value(mechanism):
    with np.errstate(over="ignore"), pytest.raises(sn.ParameterError, match=r"^cost must (be finite|have a finite)"):
        sn.expected_cost(mechanism, lambda x: np.exp(x * x))


@pytest.mark.parametrize("mechanism", [sn.MergedLaplace([1.0, 2.0], [1.0]), sn.TruncatedLaplace(1, 1e-6)], ids=repr)
def test_costs_that_grow_as_the_tail_falls(mechanism):
    """Beyond its last break the density falls as e^-2|x|; a mechanism of bounded support has every mean."""
    if math.isfinite(mechanism.support()[1]):
        assert math.isfinite(sn.expected_cost(mechanism, lambda x: np.exp(2 * x)))
        return
    assert math.isfinite(sn.expected_cost(mechanism, np.exp))
    with pytest.raises(sn.ParameterError, match=r"^cost must have a finite expected value, got one that grows as fast"):
        sn.expected_cost(mechanism, lambda x: np.exp(2 * x))


def test_mechanisms_too_wide_to_be_listed():
    with pytest.raises(sn.ParameterError, match=r"^mechanism must reach at most 2\*\*24 lattice steps from 0"):
        sn.expected_cost(sn.DiscreteGaussian(2.0**60), np.sqrt)


@pytest.mark.parametrize("thing", [4, "laplace", sn.Laplace, sn.MultivariateStaircase(1), None])
def test_what_is_no_mechanism_of_numbers(thing):
    with pytest.raises(sn.ParameterTypeError, match="mechanism must be a mechanism of numbers, got"):
        sn.expected_cost(thing, "l1")
