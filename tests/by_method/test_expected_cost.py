"""`expected_cost` of every law of numbers, against its moments and its tail."""

import math

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.registry import ROWS
from tests.examples import promise

LAWS = [law for row in ROWS if row.kind != "vector" for law in row.laws()]
each_law = pytest.mark.parametrize("law", LAWS, ids=repr)


@each_law
def test_powers_are_moments(law):
    assert sn.expected_cost(law, "l1") == law.abs_moment(1)
    assert sn.expected_cost(law, "l2") == law.abs_moment(2)
    assert sn.expected_cost(law, 0.5) == pytest.approx(law.abs_moment(0.5), rel=1e-12)
    found = sn.expected_cost(law, [[0.5, 1.0], [2.0, 3.0]])
    assert found.shape == (2, 2)
    assert found == pytest.approx(np.array([[law.abs_moment(p) for p in row] for row in ([0.5, 1.0], [2.0, 3.0])]), rel=1e-12)


def summable(law):
    """Whether a function as cost is allowed: laws of ε or Δ/ε near 1."""
    eps = promise(law).eps
    return eps is None or eps >= 0.1


SUMMABLE = list(filter(summable, LAWS))


@pytest.mark.parametrize("law", SUMMABLE, ids=repr)
def test_functions_agree_with_powers(law):
    # Probabilities of shares are good to 1e-9 down to e^-50, as their classes say.
    tolerance = 1e-9 if getattr(law, "n_parties", 1) > 1 else 1e-11
    assert sn.expected_cost(law, lambda x: x) == pytest.approx(law.abs_moment(1), rel=tolerance)
    assert sn.expected_cost(law, lambda x: x**2 + 3) == pytest.approx(law.abs_moment(2) + 3, rel=tolerance)


@pytest.mark.parametrize("law", SUMMABLE, ids=repr)
def test_a_jump_is_a_tail(law):
    t = 1.5 * float(law.std())
    step = float(law.granularity)
    # P(|X| > t); of a law with a lattice that its density hides, from the lattice point below.
    beyond = law.sf(t) + law.cdf(-t) - (law.pmf(-t) if law._integers else 0.0)
    if isinstance(law, sn.Arete):
        t = (math.floor(t / step) + 0.5) * step
        beyond = law.sf(t) + law.cdf(-t)
    assert sn.expected_cost(law, lambda x: x > t) == pytest.approx(beyond, rel=1e-9)


@pytest.mark.parametrize("law", [sn.Gaussian(1, 1e-6), sn.DiscreteGaussian(4), sn.MergedLaplace([1.0, 2.0], [1.0])], ids=repr)
def test_costs_without_an_expected_value(law):
    with np.errstate(over="ignore"), pytest.raises(sn.ParameterError, match=r"^cost must (be finite|have a finite)"):
        sn.expected_cost(law, lambda x: np.exp(x * x))


@pytest.mark.parametrize("law", [sn.MergedLaplace([1.0, 2.0], [1.0]), sn.TruncatedLaplace(1, 1e-6)], ids=repr)
def test_costs_that_grow_as_the_tail_falls(law):
    """Beyond its last break the density falls as e^-2|x|; a law that ends has every mean."""
    if math.isfinite(law.support()[1]):
        assert math.isfinite(sn.expected_cost(law, lambda x: np.exp(2 * x)))
        return
    assert math.isfinite(sn.expected_cost(law, np.exp))
    with pytest.raises(sn.ParameterError, match=r"^cost must have a finite expected value, got one that grows as fast"):
        sn.expected_cost(law, lambda x: np.exp(2 * x))


def test_laws_too_wide_to_be_listed():
    with pytest.raises(sn.ParameterError, match=r"^law must reach at most 2\*\*24 lattice steps from 0"):
        sn.expected_cost(sn.DiscreteGaussian(2.0**60), np.sqrt)


@pytest.mark.parametrize("thing", [4, "laplace", sn.Laplace, sn.MultivariateStaircase(1), None])
def test_what_is_no_law_of_numbers(thing):
    with pytest.raises(sn.ParameterTypeError, match="law must be a noise law of numbers, got"):
        sn.expected_cost(thing, "l1")
