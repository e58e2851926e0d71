"""Laplace: its distribution functions.

Evidence: 500-digit arithmetic on the definition. Deterministic: no false alarms.
"""

import math

import pytest

import stairnoise as sn
from tests.by_mechanism.definitions import EPS, LaplaceOracle, check_line, check_quantiles
from tests.combinations import looped

pytestmark = pytest.mark.usefixtures("many_digits")


@looped("eps", EPS)
@looped("D", [1.0, 0.1, 3.7e5, 1e-100])
def test_laplace(eps, D):
    for x in [0.0, *(D * f / eps for f in (1e-9, 0.01, 0.3, 1.1, 17.3, 333.3, 699.9))]:
        check_line(sn.Laplace(eps, D), LaplaceOracle(eps, D), x)
        check_line(sn.Laplace(eps, D), LaplaceOracle(eps, D), -x)


@looped("eps", EPS)
@looped("D", [1.0, 0.1, 3.7e5])
def test_quantiles(eps, D):
    check_quantiles(sn.Laplace(eps, D), LaplaceOracle(eps, D))


def test_laplace_noise_has_no_shape():
    with pytest.raises(TypeError, match="gamma"):
        sn.Laplace(1, gamma=0.5)


def test_a_density_is_subnormal_before_it_is_zero():
    """Evidence: the definition, where exp(-eps) alone is 0 and eps/2 times it is not."""
    mechanism = sn.Laplace(745.2)
    density = mechanism.pdf(1.0)
    assert density == mechanism.pdf([1.0])[0]
    assert density == pytest.approx(math.exp(mechanism.logpdf(1.0)), rel=0.01, abs=0)
