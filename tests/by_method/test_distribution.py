"""Properties that all mechanisms' distribution functions share; tests/by_mechanism compares each with its definition."""

import math

import numpy as np
import pytest

import stairnoise as sn


@pytest.mark.parametrize("mechanism", [sn.DiscreteLaplace(0.3), sn.Laplace(0.3), sn.Staircase(1), sn.DiscreteStaircase(1, 5)])
def test_a_nan_leaves_the_other_elements_alone(mechanism):
    """Evidence: equality with each element alone. A block of quantiles shares a bound, which must not be NaN."""
    points = {
        "ppf": [0.0, 1e-310, 0.2, 1.0],
        "isf": [0.0, 1e-310, 0.2, 1.0],
        "logcdf": [-math.inf, -900.0, 3.0],
        "logsf": [-math.inf, 900.0],
    }
    for name, x in points.items():
        function = getattr(mechanism, name)
        together = function(np.array([*x, math.nan]))
        assert together[:-1].tolist() == [function(value) for value in x], name
        assert np.isnan(together[-1])


@pytest.mark.parametrize("moments", [None, 1, 1.5, ["m"], [[]], np.array(["m", "v"]), b"m"])
def test_stats_are_asked_for_by_a_string(moments):
    with pytest.raises(sn.ParameterTypeError, match=r'^moments must be letters out of "mvsk", got '):
        sn.Laplace(1.0).stats(moments)


@pytest.mark.parametrize("mechanism", [sn.Staircase, sn.DiscreteStaircase, sn.Laplace, sn.DiscreteLaplace])
@pytest.mark.parametrize("eps", [700.0, 1e300, np.finfo(float).max])
def test_entropy_of_the_largest_eps(mechanism, eps):
    """At the largest eps only the centre is left: discrete noise has entropy 0, the staircase the logarithm of its width."""
    entropy = mechanism(eps).entropy()
    assert not math.isnan(entropy)
    if mechanism in (sn.DiscreteStaircase, sn.DiscreteLaplace):
        assert entropy == pytest.approx(0.0, abs=1e-290)
