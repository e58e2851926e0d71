"""Mechanisms of large shape and small ratio are made quickly, in little memory, with the right probabilities.

Evidence: the weights of N added up and convolved directly, in 50-digit numbers; limits on the address space of real processes.
"""

import subprocess
import sys

import pytest

import stairnoise as sn
from tests.combinations import looped

mpmath = pytest.importorskip("mpmath")


def probability(beta, a, k, terms=300):
    with mpmath.workdps(50):
        q, weights = mpmath.exp(-mpmath.mpf(a)), [mpmath.mpf(1)]
        for i in range(terms):
            weights.append(weights[-1] * q * (beta + i) / (i + 1))
        total = mpmath.fsum(x * y for x, y in zip(weights, weights[k:], strict=False))
        return float(total * (1 - q) ** (2 * mpmath.mpf(beta)))


@looped(("beta", "a"), [(1e9, 20.0), (1e18, 44.0), (9e18, 43.0), (1e5, 10.0), (40.0, 1.5), (1.5, 3.0)])
@looped("k", [0, 1, 3, 70])
def test_probabilities(beta, a, k):
    mechanism = sn.GeneralizedDiscreteLaplace(beta, a)
    assert mechanism.pmf(k) == pytest.approx(probability(beta, a, k), rel=3e-12)
    assert mechanism.var() == pytest.approx(beta / (mpmath.cosh(mpmath.mpf(a)) - 1), rel=1e-13)


def test_far_rates_have_a_variance():
    assert sn.GeneralizedDiscreteLaplace(1e-9, 1024.0).var() == 0


def test_shapes_that_no_table_holds_are_refused():
    with pytest.raises(sn.ParameterError, match="beta must be at most 2"):
        sn.GeneralizedDiscreteLaplace(1e30, 100.0)
    # 1 - q is 1 in float64, and the weights add up to e**85.
    with pytest.raises(sn.ParameterError, match="beta must be such that"):
        sn.GeneralizedDiscreteLaplace(1e18, 37.0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")
@pytest.mark.parametrize(
    "mechanism",
    [
        "GeneralizedDiscreteLaplace(1e9, 20.0)",
        pytest.param("GeneralizedDiscreteLaplace(5.2, 2**-11)", marks=pytest.mark.long),
        "Arete(5.0, 1.0, 2.0**-12).share(n_parties=10)",
        pytest.param("MultiScaleDiscreteLaplace(2**-11, 1).share(n_parties=3)", marks=pytest.mark.long),
        "MultiScaleDiscreteLaplace(1.0, 2**16).share(n_parties=3)",
    ],
)
def test_a_mechanism_takes_at_most_16_mib(mechanism):
    program = f"""
import resource
import stairnoise as sn
sn.GeneralizedDiscreteLaplace(1.0, 1.0)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (16 << 20), resource.RLIM_INFINITY))
mechanism = sn.{mechanism}
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
