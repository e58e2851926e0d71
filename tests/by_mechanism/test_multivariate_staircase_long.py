"""MultivariateStaircase in thousands of dimensions: the work of a vector, its functions, its best γ.

Deterministic: no false alarms.
"""

import math
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from mpmath import mp

import stairnoise as sn
from stairnoise.mechanisms.multivariate_staircase import calibration as vector_gamma
from tests.combinations import in_turn, rest_long

# About a second's work; sorting a vector's numbers again for every coordinate would take minutes.
PROGRAM = """
import stairnoise as sn
for dim, eps, count in [(256, 0.006, 30), (1024, 0.5, 20), (4096, 0.5, 5), (100_000, 5.0, 1), (100_000, 1e5, 1)]:
    for norm in ("l1", "l2", "linf"):
        noise = sn.MultivariateStaircase(eps, 1.0, dim, 0.5, norm).sample(count, rng=sn.SeededRng(1))
        assert noise.shape == (count, dim)
"""


@pytest.mark.slow
def test_the_work_of_a_vector_does_not_grow_with_the_square_of_its_length() -> None:
    """This is no test of speed: the bound is many times the usual time."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_parts_and_layouts_of_long_vectors_are_the_whole(norm: str) -> None:
    """Evidence: equality of values drawn together, in other memory, on threads, and vector by vector from their indices."""
    for dim, count in [(5001, 60), (70_001, 2)]:
        mechanism = sn.MultivariateStaircase(9.0, 1.0, dim, 0.5, norm)
        whole = mechanism.sample(count, rng=sn.SeededRng(5), threads=1)
        if count == 60:
            assert (mechanism.sample(count, rng=sn.SeededRng(5), threads=3) == whole).all()
            strided = mechanism.sample(rng=sn.SeededRng(5), out=np.zeros_like(whole, order="F"))
            assert (strided == whole).all()
        assert (mechanism.sample(rng=sn.SeededRng(5).at(dim)) == whole[1]).all()
        released = mechanism.release(np.zeros((1, dim)), rng=sn.SeededRng(5, allow_release=True))
        assert (released == whole[:1]).all()


def balls(eps: float, dim: int, gamma: "mp.mpf") -> list[tuple["mp.mpf", "mp.mpf"]]:
    """Return radii and weights of all balls that matter to 30 digits."""
    eps = mp.mpf(eps)
    mode, width = int(dim / eps), 14 * int(math.sqrt(dim) / eps) + 140 + int(200 / eps)
    unit = mp.log(mode + gamma + (mode == 0))
    radii = [m + gamma for m in range(max(0, mode - width), mode + width)]
    return [(r, mp.exp(dim * (mp.log(r) - unit) - eps * (r - gamma - mode))) for r in radii]


@pytest.mark.parametrize("eps", [20.0, 463.0, 2000.0, 1e5])
def test_functions_of_the_norm_in_100_000_dimensions(eps: float) -> None:
    """Evidence: the sums over the balls with 50 digits."""
    dim, gamma = 100_000, 0.3
    mechanism = sn.MultivariateStaircase(eps, 1.0, dim, gamma)
    with mp.workdps(50):
        listed = balls(eps, dim, mp.mpf(gamma))
        total = sum(w for _, w in listed)
        for p in (1, 2, 7):
            moment = mp.mpf(dim) / (dim + p) * sum(w * r**p for r, w in listed) / total
            assert mechanism.expected_norm(p) == pytest.approx(float(moment), rel=1e-13)
        radius = mp.mpf(float(mechanism.norm_ppf(0.4)))
        # Each ball of radius r is uniform, so the share (radius/r)^d of it is within.
        inside = sum(w * min(mp.mpf(1), mp.exp(dim * mp.log(radius / r))) for r, w in listed) / total
        assert mechanism.norm_cdf(float(radius)) == pytest.approx(float(inside), rel=1e-11)
        assert mechanism.norm_sf(float(radius)) == pytest.approx(float(1 - inside), rel=1e-11)
    # A relative change of 2^-53 in a radius is one of d·2^-53 in the mass inside.
    assert mechanism.norm_sf(mechanism.error_bound(0.95)) == pytest.approx(0.05, rel=1e-8)


LARGE = [(300.0, 100_000), (470.0, 100_000), (2500.0, 100_000), (2600.0, 100_000), (2e4, 100_000), (560.0, 5000)]


@pytest.mark.parametrize(("of", "p"), rest_long(in_turn(LARGE, (1, 2)), product(LARGE, (1, 2))))
def test_the_best_gamma_is_a_zero_of_the_slope_and_no_other_is_better(of: tuple[float, int], p: int) -> None:
    """Evidence: sums over the balls with 50 digits, on both sides of the γ and at eight others."""
    eps, dim = of
    gamma = vector_gamma.optimal(eps, dim, p)

    def cost(at: "mp.mpf") -> "mp.mpf":
        listed = balls(eps, dim, at)
        return sum(w * r**p for r, w in listed) / sum(w for _, w in listed)

    def slope(at: "mp.mpf") -> "mp.mpf":
        listed = balls(eps, dim, at)
        mean = lambda s, q: sum(w * r ** (s + q) for r, w in listed) / sum(w * r**s for r, w in listed)  # noqa: E731
        return (dim + p) * mean(p, -1) - dim * mean(0, -1)

    with mp.workdps(50):
        assert slope(mp.mpf(gamma) * (1 - mp.mpf(10) ** -9)) < 0 < slope(mp.mpf(gamma) * (1 + mp.mpf(10) ** -9))
        best = cost(mp.mpf(gamma))
        assert all(best <= cost(mp.mpf(i) / 8) for i in range(1, 9))


def test_the_best_gamma_at_both_ends_of_eps() -> None:
    """Evidence: for two balls of radii r and r + 1, ((r + 1)/r)^d = e^ε is where they have the same weight."""
    for eps in (69_300.0, 69_500.0, 1.2e5, 1e6):
        gamma = vector_gamma.optimal(eps, 100_000, 1)
        even = 1 / math.expm1(eps / 1e5) % 1
        assert even < gamma < even + 1e-3
    assert vector_gamma.optimal(1e9, 100_000, 1) == 1e-300
    assert 0 < vector_gamma.optimal(1.6, 100_000, 1) <= 1
    assert sn.MultivariateStaircase(5.0, 1.0, 100_000).expected_norm() == pytest.approx(100_000 / 5, rel=1e-4)


def test_limits() -> None:
    with pytest.raises(sn.ParameterError, match="dim must be an integer from 1 to 100000, got 100001"):
        sn.MultivariateStaircase(2.0, 1.0, 100_001)
    with pytest.raises(sn.ParameterError, match=r"eps must be at least \(dim \+ 128\)/2\*\*16, got 1.5"):
        sn.MultivariateStaircase(1.5, 1.0, 100_000)
