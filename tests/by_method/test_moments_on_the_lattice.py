"""How far drawn values are from the density for which continuous mechanisms state moments, bounds and losses.

Evidence: moments of the mechanism on the lattice in closed sums, in 60 digits, which are compared with plain sums over the
integers first; lattice steps and shapes are the contract's. Every such figure in docstrings and pages is checked here.
"""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped, pairs

LEVELS = np.array([0.9, 0.5, 0.05, 1e-3, 1e-9])
WITHIN = [2.0**-20, 1e-5, 0.01, 0.5, 1.0, 1.32, 1.4, 2.66, 4.0, 7.9, 13.0, 20.0, 26.5, 27.0]


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


def staircase_moment(eps, D, r, p):
    """Return E|K|^p of the discrete staircase: steps of D integers, each e^-ε times the step before."""
    b = mp.exp(-mp.mpf(eps))
    c = b / (1 - b)
    total = 2 * r - 1 + 2 * D * c
    if p == 1:
        return (r * (r - 1) + (2 * r - 1) * D * c + D * D * c * (1 + 2 * c)) / total
    return (total**2 - 1) / 12 + D * D * c * (1 + c) + mp.mpf(2) / 3 * D**3 * c * (1 + c) * (1 + 2 * c) / total


def geometric_moment(eps, D, p):
    ratio = mp.exp(-mp.mpf(eps) / D)
    return 2 * ratio / (1 - ratio**2) if p == 1 else 2 * ratio / (1 - ratio) ** 2


def exact_gamma(mechanism):
    return 1 / (1 + mp.exp(mp.mpf(mechanism.eps) / 2)) if mechanism._arguments()[2] == "l1" else mp.mpf(mechanism.gamma)


def density_moment(mechanism, p):
    """Return a moment of Geng and Viswanath's mechanism, as in the tables of distributions.md, in 60 digits."""
    b, D, gamma = mp.exp(-mp.mpf(mechanism.eps)), mp.mpf(mechanism.sensitivity), exact_gamma(mechanism)
    c = b / (1 - b)
    t, v = 2 * D * (gamma + c), c * (1 + c)
    return t / 4 + D**2 * v / t if p == 1 else t**2 / 12 + D**2 * v + mp.mpf(2) / 3 * D**3 * v * (1 + 2 * c) / t


def sensitivity_steps(mechanism):
    return math.ceil(Fraction(mechanism.sensitivity) / Fraction(mechanism.granularity))


def drawn_over_density(mechanism, p):
    D = sensitivity_steps(mechanism)
    if isinstance(mechanism, sn.Laplace):
        drawn, density = (
            geometric_moment(mechanism.eps, D, p),
            math.factorial(p) * (mp.mpf(mechanism.sensitivity) / mechanism.eps) ** p,
        )
    else:
        spec = mechanism._arguments()[2]
        r = sn.DiscreteStaircase(mechanism.eps, D, spec).r if isinstance(spec, str) else math.ceil(Fraction(mechanism.gamma) * D)
        drawn, density = staircase_moment(mechanism.eps, D, r, p), density_moment(mechanism, p)
    return float(drawn * mp.mpf(mechanism.granularity) ** p / density)


@pytest.mark.parametrize(("eps", "D", "r"), [(0.7, 5, 2), (3.0, 4, 1), (1.5, 6, 6)])
def test_the_closed_sums_are_the_sums(eps, D, r):
    stair = [(abs(i), mp.exp(-mp.mpf(eps) * (0 if abs(i) < r else (abs(i) - r) // D + 1))) for i in range(-900, 901)]
    line = [(abs(i), mp.exp(-mp.mpf(eps) / D * abs(i))) for i in range(-1500, 1501)]
    for p in (1, 2):
        for points, closed in ((stair, staircase_moment(eps, D, r, p)), (line, geometric_moment(eps, D, p))):
            total = mp.fsum(w for _, w in points)
            assert abs(mp.fsum(w * i**p for i, w in points) / total / closed - 1) < 1e-40


@looped("sensitivity", [1.0, 1.999, 3.3])
@looped("eps", WITHIN)
def test_moments_within_the_range(eps, sensitivity):
    mechanisms = [sn.Laplace(eps, sensitivity), *(sn.Staircase(eps, sensitivity, gamma) for gamma in ("l1", "l2"))]
    for mechanism in mechanisms:
        for p in (1, 2):
            assert abs(drawn_over_density(mechanism, p) - 1) < 1e-9
    assert abs(drawn_over_density(sn.Laplace(eps * 2.0**15, sensitivity), 2) - 1) < 1e-9


@looped(
    ("eps", "gamma", "sensitivity"),
    pairs([2.0**-38, 1e-9, 2.0**-21, *WITHIN, 30.0, 40.0, 60.0], ["l1", "l2", 0.3, 1e-6, 1e-12, 1.0], [1.0, 1.999, 3.3]),
)
def test_the_bound_on_the_difference_of_moments(eps, gamma, sensitivity):
    """The bound p (1/D + 1/(2(γ + c)D)) holds outside the range too, with an eighth more for γ's rounding in float64."""
    mechanism = sn.Staircase(eps, sensitivity, gamma)
    D, c = sensitivity_steps(mechanism), 1 / mp.expm1(mp.mpf(eps))
    for p in (1, 2):
        assert abs(drawn_over_density(mechanism, p) - 1) <= p * (1 + 1 / (2 * (exact_gamma(mechanism) + c))) / D * 1.001


def test_beyond_the_range():
    assert round(drawn_over_density(sn.Staircase(80.0), 1), 3) == 0.019
    assert abs(drawn_over_density(sn.Staircase(40.0, gamma="l2"), 1) - 1) < 1e-9
    assert 1e-8 < abs(drawn_over_density(sn.Staircase(40.0), 2) - 1) < 1e-7
    assert abs(drawn_over_density(sn.Laplace(2.0**-40, 3.3), 1) - 1) < 2.0**-12
    assert abs(drawn_over_density(sn.Laplace(2.0**-30, 3.3), 1) - 1) > 1e-9


@looped("sensitivity", [1.0, 3.3])
@looped("eps", WITHIN)
def test_error_bounds_within_the_range(eps, sensitivity):
    """The lattice's bound equals that of confidence intervals before the answer is rounded."""
    for mechanism in (sn.Laplace(eps, sensitivity), sn.Staircase(eps, sensitivity), sn.Staircase(eps, sensitivity, "l2")):
        steps = mechanism._bounds_on_lattice(LEVELS, 1)[1].astype(np.float64)
        claimed = mechanism._tail_bound(LEVELS)
        assert (abs(steps * mechanism.granularity - claimed) < 1e-9 * (sensitivity + claimed)).all()


@pytest.mark.parametrize("eps", WITHIN)
def test_losses_within_the_range(eps):
    for mechanism in (sn.Laplace(eps, 3.3), sn.Staircase(eps, 3.3), sn.Staircase(eps, 3.3, "l2"), sn.Laplace(eps, 1.0)):
        drawn, density = mechanism.privacy_loss(), mechanism.privacy_loss(lattice=False)
        for measure in (
            lambda loss: loss.privacy_profile(np.array([0.0, 0.3, 0.9]) * eps),
            lambda loss: loss.rdp([0.3, 0.9, 2.0, 30.0]),
            lambda loss: loss.tradeoff([1e-6, 0.01, 0.3, 0.9]),
            lambda loss: loss.mean(),
            lambda loss: loss.var(),
        ):
            np.testing.assert_allclose(measure(drawn), measure(density), rtol=1e-9, atol=0)


def truncated_sums(rate, n, p):
    """Return the sum of k^p exp(-rate k) for k = 0 … n."""
    q = mp.exp(-rate)
    if p == 0:
        return (1 - q ** (n + 1)) / (1 - q)
    if p == 1:
        return q * (1 - (n + 1) * q**n + n * q ** (n + 1)) / (1 - q) ** 2
    return q * (1 + q - (n + 1) ** 2 * q**n + (2 * n * n + 2 * n - 1) * q ** (n + 1) - n * n * q ** (n + 2)) / (1 - q) ** 3


@pytest.mark.parametrize(
    "arguments",
    [(2.0**-20, 0.01, 3.3), (0.01, 0.4, 3.3), (0.5, 1e-6, 1.999), (1, 1e-3, 1.0, -7.2), (40, 1e-9, 0.7), (2.0**20, 0.1, 0.7)],
)
def test_moments_of_truncated_noise(arguments):
    mechanism = sn.TruncatedLaplace(*arguments)
    g, rate = mechanism.granularity, mp.mpf(mechanism.eps) / sensitivity_steps(mechanism)
    below, above = (round(abs(end) / g) for end in mechanism.lattice_bounds)
    total = truncated_sums(rate, below, 0) + truncated_sums(rate, above, 0) - 1
    for p in (1, 2):
        drawn = (truncated_sums(rate, below, p) + truncated_sums(rate, above, p)) / total * mp.mpf(g) ** p
        assert abs(float(drawn / mp.mpf(float(mechanism.abs_moment(p)))) - 1) < 1e-9


@pytest.mark.parametrize(
    ("rates", "breaks", "sensitivity"),
    [([2.0**-20], [], 3.3), ([16, 4], [0.125], 1.0), ([1000, 50], [0.01], 0.7), ([0.001, 0.1], [100.0], 0.7)],
)
def test_moments_of_merged_noise(rates, breaks, sensitivity):
    mechanism = sn.MergedLaplace(rates, breaks, sensitivity)
    g, D = mechanism.granularity, sensitivity_steps(mechanism)
    ends = [round(end / g) for end in mechanism.lattice_breakpoints]
    half = []
    for p in (0, 1, 2):
        total, start, weight = mp.mpf(0), 0, mp.mpf(1)
        for rate, end in zip(rates, [*ends, start + 2**200], strict=True):
            sums = [truncated_sums(mp.mpf(rate) / D, end - start - 1, power) for power in range(3)]
            total += weight * (sums[0], start * sums[0] + sums[1], start**2 * sums[0] + 2 * start * sums[1] + sums[2])[p]
            weight *= mp.exp(-mp.mpf(rate) / D * (end - start))
            start = end
        half.append(total)
    for p in (1, 2):
        drawn = 2 * half[p] / (2 * half[0] - 1) * mp.mpf(g) ** p
        assert abs(float(drawn / mp.mpf(float(mechanism.abs_moment(p)))) - 1) < 1e-9


@looped("norm", ["l1", "linf"])
@looped("gamma", ["l1", "l2"])
@looped(("dim", "ratio"), [(1, 0.5), (1, 13.0), (2, 5.0), (5, 1.0), (5, 13.0), (20, 13.0)])
def test_moments_of_vectors(dim, ratio, gamma, norm):
    """Moments of the norm, rounded to the lattice: D steps to Δ and ⌈γD⌉ to γΔ, with D as in multivariate.md."""
    mechanism = sn.MultivariateStaircase(ratio * (dim + 1), 0.7, dim, gamma, norm)
    g = Fraction(mechanism.granularity)
    D = math.ceil(Fraction(0.7) / g) + (dim - 1 if norm == "l1" else 0)
    r = math.ceil(Fraction(mechanism.gamma) * D)
    b = mp.exp(-mp.mpf(mechanism.eps))

    def moment(radius, p):
        weights = [(m + radius, b**m) for m in range(int((200 + 8 * dim) / mechanism.eps) + 60)]
        return mp.fsum(w * x ** (dim + p) for x, w in weights) / mp.fsum(w * x**dim for x, w in weights)

    for p in (1, 2):
        drawn = moment(mp.mpf(r) / D, p) * (D * mp.mpf(float(g))) ** p
        density = moment(mp.mpf(mechanism.gamma), p) * mp.mpf(0.7) ** p
        assert abs(float(drawn / density) - 1) < (dim + 4) * 1e-9
