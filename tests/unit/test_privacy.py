"""Privacy of one release and of many, against the definitions: sums over the pmf, integrals of the density, product laws.

The oracles below know nothing of losses with three values: they take the probabilities of the noise, shift them, and sum.
"""

import itertools
import json
import math
import pickle
from fractions import Fraction
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.privacy import PrivacyLoss, privacy_loss

TOLERANCE = 1e-12
# What the oracles' sums leave out.
TRUNCATED = 1e-30
FILE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "values.json"


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mp.workdps(50):
        yield


def close(value, exact, tolerance=TOLERANCE, floor=2.0**-1022):
    return abs(mp.mpf(value) - exact) <= tolerance * abs(exact) + floor


# ---------------------------------------------------------------- oracles: pairs of laws as lists of (P, Q)


def pmf(law):
    """Probability of an integer, as its class documents it."""
    eps, D = mp.mpf(law.eps), law.sensitivity
    if isinstance(law, sn.DiscreteLaplace):
        ratio = mp.exp(-eps / D)
        return lambda i: (1 - ratio) / (1 + ratio) * ratio ** abs(i)
    b = mp.exp(-eps)
    height = (1 - b) / (2 * law.r + 2 * b * (D - law.r) - (1 - b))
    return lambda i: height * b ** (0 if abs(i) < law.r else (abs(i) - law.r) // D + 1)


def lattice_pair(law):
    """(P, Q) at every integer that carries 1e-30 or more, around 0 and around Δ."""
    probability = pmf(law)
    reach = int(law.sensitivity * (80 / law.eps + 2)) + 2
    return [(probability(i), probability(i - law.sensitivity)) for i in range(-reach, reach + law.sensitivity + 1)]


def staircase_pair(eps, gamma):
    """(P, Q) on every interval where both densities of a staircase, with Δ = 1, are constant; the tails in whole stairs."""
    eps, gamma = mp.mpf(eps), mp.mpf(gamma)
    b = mp.exp(-eps)
    height = (1 - b) / (2 * (gamma + b * (1 - gamma)))

    def density(x):
        return height * b ** (0 if abs(x) < gamma else mp.floor(abs(x) - gamma) + 1)

    reach = int(80 / eps) + 3
    edges = sorted({sign * (gamma + m) + shift for sign in (1, -1) for m in range(reach) for shift in (0, 1)})
    middles = [((left + right) / 2, right - left) for left, right in itertools.pairwise(edges) if right - left > 1e-40]
    return [(density(x) * width, density(x - 1) * width) for x, width in middles]


def merged(pair):
    """Add up outcomes of the same likelihood ratio, which changes no test and no divergence."""
    total = {}
    for p, q in pair:
        key = round(mp.log(p / q), 25)
        a, b = total.get(key, (0, 0))
        total[key] = (a + p, b + q)
    return list(total.values())


def product(pair, k):
    """The product law, outcome by outcome."""
    result = [(mp.mpf(1), mp.mpf(1))]
    for _ in range(k):
        result = merged([(p * u, q * v) for p, q in result for u, v in pair])
    return result


def hockey_stick(pair, eps):
    return mp.fsum(max(p - mp.exp(mp.mpf(eps)) * q, 0) for p, q in pair)


def renyi(pair, alpha):
    if alpha == 1:
        return mp.fsum(p * mp.log(p / q) for p, q in pair)
    return mp.log(mp.fsum(p ** mp.mpf(alpha) * q ** (1 - mp.mpf(alpha)) for p, q in pair)) / (mp.mpf(alpha) - 1)


def neyman_pearson(pair, alpha):
    """Least miss: raise the alarm where P/Q is largest, in proportion where the rate is used up."""
    left, missed = mp.mpf(alpha), mp.mpf(1)
    for p, q in sorted(pair, key=lambda pq: pq[1] / pq[0]):
        share = min(1, left / q)
        left -= share * q
        missed -= share * p
    return max(missed, 0)


DISCRETE = [
    sn.DiscreteLaplace(0.3),
    sn.DiscreteLaplace(1, 2),
    sn.DiscreteLaplace(1, 5),
    sn.DiscreteLaplace(6, 7),
    sn.DiscreteStaircase(1, 5, 2),
    sn.DiscreteStaircase(0.5, 4, 4),
    sn.DiscreteStaircase(3, 6, 1),
    sn.DiscreteStaircase(8, 9),
]
GAMMAS = [(0.4, 0.25), (1.0, 0.5), (2.0, 0.1), (5.0, 0.75), (1.5, 1.0)]
CASES = [(privacy_loss(law), lattice_pair, (law,), repr(law)) for law in DISCRETE] + [
    (privacy_loss(sn.Staircase(eps, 3.0, gamma), lattice=False), staircase_pair, (eps, gamma), f"Staircase({eps}, {gamma})")
    for eps, gamma in GAMMAS
]


@pytest.fixture(params=CASES, ids=lambda case: case[3])
def case(request):
    loss, make, arguments, _ = request.param
    return loss, merged(make(*arguments))


# ---------------------------------------------------------------- one release


def levels(eps):
    return [-2 * eps, -eps, -0.37 * eps, 0.0, 1e-9, 0.25 * eps, 0.61 * eps, 0.999 * eps, eps * (1 - 1e-9)]


def test_profile_is_the_hockey_stick_divergence(case):
    loss, pair = case
    for eps in levels(loss.eps):
        exact = hockey_stick(pair, eps)
        # An ε' near ε is rounded relative to ε, and δ is proportional to their difference.
        tolerance = TOLERANCE + 1e-15 * loss.eps / max(loss.eps - eps, 1e-300)
        assert close(loss.privacy_profile(eps), exact, tolerance)
        assert close(loss.privacy_profile(np.array([eps]))[0], exact, tolerance)


def test_nothing_is_lost_at_the_pure_eps(case):
    loss, _ = case
    for eps in (loss.eps, 2 * loss.eps, math.inf):
        assert loss.privacy_profile(eps) == 0
    assert loss.privacy_profile(-math.inf) == 1
    assert loss.eps_for_delta(0) == loss.eps
    assert loss.eps_for_delta(1) == 0


@pytest.mark.parametrize("alpha", [1e-3, 0.3, 0.5, 0.9, 1 - 1e-7, 1, 1 + 1e-7, 1.5, 2, 8, 64])
def test_rdp_is_the_renyi_divergence(case, alpha):
    loss, pair = case
    assert close(loss.rdp(alpha), renyi(pair, alpha))


def test_mean_and_variance(case):
    loss, pair = case
    mean = mp.fsum(p * mp.log(p / q) for p, q in pair)
    assert close(loss.mean(), mean)
    assert close(loss.var(), mp.fsum(p * (mp.log(p / q) - mean) ** 2 for p, q in pair))
    assert loss.rdp(1) == loss.mean()
    assert loss.rdp(math.inf) == loss.eps


def test_tradeoff_is_the_best_test(case):
    loss, pair = case
    for alpha in (0, 1e-12, 1e-5, 0.01, 0.1, 0.25, 0.5, 0.7, 0.9, 0.999, 1 - 1e-9, 1):
        assert close(loss.tradeoff(alpha), neyman_pearson(pair, alpha), floor=TRUNCATED)


def test_eps_for_delta_inverts_the_profile(case):
    loss, _ = case
    delta = loss.privacy_profile(0.0) * np.linspace(0.001, 0.999, 11)
    for composed in (loss, loss.compose(5)):
        found = composed.eps_for_delta(delta)
        assert (np.diff(found) < 0).all()
        assert np.allclose(composed.privacy_profile(found), delta, rtol=1e-11, atol=0)


# Laplace by its definition: the density on both sides of the shift, and quadrature in between.


def laplace_delta(eps, t):
    """Integral of (f(x) - e^t f(x - Δ))+, in units of Δ/ε: only x below (ε - t)/2 counts."""
    eps, t = mp.mpf(eps), mp.mpf(t)
    edge = (eps - t) / 2
    cdf = [mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2 for x in (edge, edge - eps)]
    return cdf[0] - mp.exp(t) * cdf[1]


@pytest.mark.parametrize("eps", [2.0**-30, 1e-3, 0.7, 3.0, 40.0, 700.0])
def test_laplace_density(eps):
    loss = privacy_loss(sn.Laplace(eps, 0.3), lattice=False)
    with mp.workdps(700):
        for t in (0.0, 0.3 * eps, 0.99 * eps):
            assert close(loss.privacy_profile(t), laplace_delta(eps, t), 1e-12)
            delta = loss.privacy_profile(t)
            assert math.isclose(loss.privacy_profile(loss.eps_for_delta(delta)), delta, rel_tol=1e-12)
        exact = mp.mpf(eps)
        for alpha in (1e-3, 0.25, 0.4999, 0.75, 1 - 1e-6, 1 + 1e-9, 1.1, 2, 30, 1e4):
            a = mp.mpf(alpha)
            moment = (a * mp.exp((a - 1) * exact) + (a - 1) * mp.exp(-a * exact)) / (2 * a - 1)
            assert close(loss.rdp(alpha), mp.log(moment) / (a - 1))
        assert close(loss.rdp(0.5), -2 * mp.log(mp.exp(-exact / 2) * (1 + exact / 2)))
        assert close(loss.mean(), exact + mp.exp(-exact) - 1)
    with mp.workdps(30):
        density = mp.quad(lambda u: u**2 * mp.exp((u - exact) / 2) / 4, mp.linspace(-exact, exact, 5 if eps < 10 else 101))
        second = exact**2 * (1 + mp.exp(-exact)) / 2 + density
        assert close(loss.var(), second - (exact + mp.exp(-exact) - 1) ** 2)


@pytest.mark.parametrize("eps", [0.1, 1.0, 12.0])
def test_laplace_tradeoff_is_the_published_curve(eps):
    """Dong, Roth and Su, proposition A.6: three pieces."""
    loss = privacy_loss(sn.Laplace(eps), lattice=False)
    exact = mp.exp(-mp.mpf(eps))
    for alpha in (0, 1e-9, 1e-3, 0.1, 0.3, 0.5, 0.6, 0.99, 1):
        a = mp.mpf(alpha)
        curve = 1 - a / exact if a < exact / 2 else exact / (4 * a) if a <= 0.5 else exact * (1 - a)
        assert close(loss.tradeoff(alpha), curve)


@pytest.mark.parametrize("eps", [2.0**-38, 1e-6, 0.01, 1.0, 30.0, 300.0, 700.0])
@pytest.mark.parametrize("h", [Fraction(1, 2**20), Fraction(1, 4), Fraction(1), Fraction(3, 2), Fraction(2)])
def test_staircase_formulas_at_extreme_eps(eps, h):
    """The formulas of the three atoms, with digits enough to subtract; h = 2 gamma."""
    loss = privacy_loss(sn.Staircase(eps, 1, float(h / 2)), lattice=False)
    with mp.workdps(800):
        b = mp.exp(-mp.mpf(eps))
        c, width = b / (1 - b), mp.mpf(h.numerator) / h.denominator
        p = (min(width, 1) + c) / (width + 2 * c)
        atoms = [(p, b * p), (1 - p * (1 + b), 1 - p * (1 + b)), (b * p, p)]
        atoms = [pair for pair in atoms if pair[0] > 0]
        for t in (0.0, 0.5 * eps):
            assert close(loss.privacy_profile(t), hockey_stick(atoms, t))
        for alpha in (0.01, 0.5, 0.99, 1, 1.01, 2, 1e3, 1e8):
            assert close(loss.rdp(alpha), renyi(atoms, alpha))
        assert close(loss.var(), mp.fsum(q * mp.log(q / u) ** 2 for q, u in atoms) - renyi(atoms, 1) ** 2)


@pytest.mark.parametrize("cells", [1, 2, 3, 1000, 10**6])
@pytest.mark.parametrize("eps", [1e-6, 0.01, 1.0, 30.0, 500.0])
def test_discrete_laplace_formulas_at_extreme_parameters(eps, cells):
    """Rényi divergence by summing the geometric series by hand, with digits enough to subtract."""
    loss = privacy_loss(sn.DiscreteLaplace(eps, cells))
    with mp.workdps(500):
        theta = mp.mpf(eps) / cells
        ratio = mp.exp(-theta)
        for alpha in (0.001, 0.3, 0.4999, 0.51, 0.9, 1 - 1e-6, 1 + 1e-9, 1.2, 2, 7, 500):
            a = mp.mpf(alpha)
            mu = ratio ** (2 * a - 1)
            ends = (ratio ** ((1 - a) * cells) + ratio ** (a * cells)) / (1 + ratio)
            inner = (1 - ratio) / (1 + ratio) * ratio ** ((1 - a) * cells) * (mu - mu**cells) / (1 - mu)
            assert close(loss.rdp(alpha), mp.log(ends + inner) / (a - 1))


# ---------------------------------------------------------------- the lattice that is drawn


@pytest.mark.parametrize(
    "law", [sn.Staircase(1, 0.3), sn.Staircase(6, 10, 0.01), sn.Laplace(2, 3.3), sn.Laplace(40, 1)], ids=repr
)
def test_drawn_law_is_the_discrete_one_of_its_cells(law):
    drawn, density = privacy_loss(law), privacy_loss(law, lattice=False)
    cells = math.ceil(Fraction(law.sensitivity) / Fraction(law.granularity))
    if isinstance(law, sn.Staircase):
        r = math.ceil(Fraction(law.gamma) * cells) if not isinstance(law._spec, str) else law._place()[1]
        c = 1 / mp.expm1(mp.mpf(law.eps))
        p = (min(cells, 2 * r - 1) + cells * c) / (2 * r - 1 + 2 * cells * c)
        assert close(drawn.privacy_profile(0.0), p * (1 - mp.exp(-mp.mpf(law.eps))), 1e-15)
    else:
        small = sn.DiscreteLaplace(law.eps, 3)
        assert privacy_loss(small).privacy_profile(0.0) > drawn.privacy_profile(0.0) >= density.privacy_profile(0.0)
    for t in (-1.0, 0.0, 0.3, 0.9):
        assert math.isclose(drawn.privacy_profile(t * law.eps), density.privacy_profile(t * law.eps), rel_tol=1e-9)
    assert math.isclose(drawn.rdp(2), density.rdp(2), rel_tol=1e-9)


def test_smaller_shifts_lose_less():
    """Every shift below Δ, by its own hockey-stick divergence: what the worst shift rests on."""
    for law in (sn.DiscreteStaircase(1, 5, 2), sn.DiscreteLaplace(1, 5)):
        probability = pmf(law)
        for shift in range(1, 5):
            pair = [(probability(i), probability(i - shift)) for i in range(-300, 300)]
            for t in (0.0, 0.1, 0.5, 0.9):
                assert hockey_stick(pair, t) <= privacy_loss(law).privacy_profile(t) + 1e-12


# ---------------------------------------------------------------- composition on the loss's own lattice


@pytest.mark.parametrize("k", [2, 3])
def test_composition_is_the_product_law(case, k):
    loss, pair = case
    composed, joint = loss.compose(k), product(pair, k)
    assert composed.exact
    assert composed.releases == k
    for eps in [share * k * loss.eps for share in (-0.5, 0.0, 0.2, 0.55, 0.8, 0.97)]:
        exact = hockey_stick(joint, eps)
        assert close(composed.privacy_profile(eps), exact)
        assert close(composed.privacy_profile(np.array([eps]))[0], exact)
    for alpha in (0, 1e-9, 1e-4, 0.03, 0.2, 0.5, 0.8, 0.97, 1 - 1e-6, 1):
        # where the curve is steep, the rounding of alpha is what counts
        assert close(composed.tradeoff(alpha), neyman_pearson(joint, alpha), 1e-12 if alpha < 0.9 else 1e-11, TRUNCATED)
    assert close(composed.rdp(3), renyi(joint, 3))
    assert close(composed.mean(), k * renyi(pair, 1))


def test_different_laws_on_a_common_lattice():
    first, second = sn.DiscreteStaircase(1, 5, 2), sn.DiscreteLaplace(1, 4)
    total = privacy_loss(first).compose(2) + privacy_loss(second)
    joint = merged([(p * u, q * v) for p, q in product(merged(lattice_pair(first)), 2) for u, v in merged(lattice_pair(second))])
    assert total.exact
    for eps in (-1.0, 0.0, 0.4, 1.1, 2.0, 2.9):
        assert close(total.privacy_profile(eps), hockey_stick(joint, eps))
    for alpha in (1e-6, 0.01, 0.3, 0.8, 0.99):
        assert close(total.tradeoff(alpha), neyman_pearson(joint, alpha), 1e-11)
    assert total == privacy_loss(second) + privacy_loss(first).compose(2)
    assert total.releases == 3


def trinomial_delta(eps, p, k, t):
    """δ by the multinomial law, summed in 50 digits."""
    b, delta = mp.exp(-eps), mp.mpf(0)
    zero = 1 - p * (1 + b)
    for plus in range(k + 1):
        for minus in range(k + 1 - plus):
            loss = (plus - minus) * eps
            if loss > t:
                ways = mp.binomial(k, plus) * mp.binomial(k - plus, minus)
                delta += ways * p**plus * (b * p) ** minus * zero ** (k - plus - minus) * (1 - mp.exp(t - loss))
    return delta


@pytest.mark.parametrize(
    ("eps", "k", "t"), [(0.5, 60, 20.0), (3.0, 40, 118.5), (0.01, 80, 0.7), (1e-6, 30, 2e-5), (40.0, 25, 10.0)]
)
def test_tails_of_many_fold_composition(eps, k, t):
    """δ from 1e-19 to 1, by the multinomial law: relative accuracy in the far tail."""
    gamma = 0.2
    loss = privacy_loss(sn.Staircase(eps, 1, gamma), lattice=False).compose(k)
    exact, c = mp.mpf(eps), 1 / mp.expm1(mp.mpf(eps))
    p = (2 * mp.mpf(gamma) + c) / (2 * (mp.mpf(gamma) + c))
    assert close(loss.privacy_profile(t), trinomial_delta(exact, p, k, mp.mpf(t)), 5e-13)


def test_thousands_of_releases_by_a_saddle_free_identity():
    """gamma = 1/2 is randomised response, whose sum is binomial: exact rational tails, down to 1e-300."""
    k, eps = 3000, 0.5
    loss = privacy_loss(sn.Staircase(eps, 1, 0.5), lattice=False).compose(k)
    p = 1 / (1 + mp.exp(-mp.mpf(eps)))
    for t in (0.0, 370.25, 700.0, 1000.0, 1200.0):
        exact = mp.fsum(
            mp.binomial(k, n) * p**n * (1 - p) ** (k - n) * (1 - mp.exp(t - (2 * n - k) * mp.mpf(eps)))
            for n in range(k + 1)
            if (2 * n - k) * eps > t
        )
        assert close(loss.privacy_profile(t), exact, 1e-11)


@pytest.mark.parametrize(("k", "masses"), [(2500, (0.5, 0.3, 0.2)), (4000, (0.55, 0.05, 0.4)), (1500, (0.6, 0.4, 1e-30))])
def test_trinomial_by_its_multinomial_sum(k, masses):
    """Single entries of a long recurrence, whose numbers leave the range of float64 on the way."""
    from stairnoise._theory.privacy import power

    found = power.trinomial(k, *masses)
    plus, zero, minus = map(mp.mpf, masses)
    for total in (0, 1, k // 50, k // 10, k // 4, k // 2, 3 * k // 4, k - 1, k):
        exact = mp.fsum(
            mp.binomial(k, total + m)
            * mp.binomial(k - total - m, m)
            * plus ** (total + m)
            * minus**m
            * zero ** (k - total - 2 * m)
            for m in range((k - total) // 2 + 1)
        )
        assert close(found[k - total], exact, 1e-12, 2.0**-1000)


@pytest.mark.parametrize(("theta", "cells", "k", "entries"), [(0.02, 200, 60, 5900), (0.3, 40, 400, 4200), (3.0, 20, 400, 390)])
def test_tilted_transforms_agree_with_direct_convolution(theta, cells, k, entries):
    """The same lattice both ways, in every entry above 1e-290; both ends may be below that."""
    from stairnoise._theory.privacy import models, power

    law = models._geometric_masses(theta, cells)
    length = cells * k // 2
    direct = power._directly([(law, k)], length)
    tilted = power._by_tilting([(law, k)], length)
    read = direct > 1e-290
    assert read.sum() > entries
    assert np.abs(tilted[read] / direct[read] - 1).max() < 1e-11


def test_compose_twice_is_compose_once():
    once = privacy_loss(sn.DiscreteLaplace(0.7, 3))
    assert once.compose(1) is once
    assert once.compose(4).compose(5) == once.compose(20)
    assert once + once == once.compose(2)
    assert once.compose(2) + once.compose(3) == once.compose(5)
    assert once.compose(2) != once
    assert hash(once + once) == hash(once.compose(2))


# ---------------------------------------------------------------- composition in brackets


@pytest.mark.parametrize("eps", [0.2, 1.0, 4.0])
def test_two_laplace_releases_by_quadrature(eps):
    """E over the first loss, atoms and density, of the second's profile."""
    loss = privacy_loss(sn.Laplace(eps), lattice=False).compose(2)
    assert not loss.exact
    e = mp.mpf(eps)

    def profile(t):
        if t >= e:
            return mp.mpf(0)
        return 1 - mp.exp(t) if t <= -e else 1 - mp.exp((t - e) / 2)

    with mp.workdps(30):
        for t in (0.0, 0.3 * eps, eps, 1.7 * eps):
            edges = sorted({-e, e, *(x for x in (t - e, t + e) if -e < x < e)})
            exact = profile(t - e) / 2 + mp.exp(-e) / 2 * profile(t + e)
            exact += mp.quad(lambda u, t=t: mp.exp((u - e) / 2) / 4 * profile(t - u), edges)
            low, high = loss.privacy_profile(t, bounds=True)
            assert low <= exact <= high
            assert high - low < 1e-5 * eps
            assert loss.privacy_profile(t) == high


@pytest.mark.parametrize(
    "law", [sn.DiscreteLaplace(2, 50), sn.DiscreteLaplace(0.5, 33), sn.DiscreteStaircase(1.3, 7, 2)], ids=repr
)
def test_brackets_enclose_what_an_exact_lattice_says(law, monkeypatch):
    """The bracket is forced where the exact answer is known; coarse grids make it wide enough to fail."""
    from stairnoise._theory.privacy import models

    monkeypatch.setattr(models, "_SPLIT_CELLS", 40)
    parts = ((privacy_loss(law)._parts[0][0], 9),)
    exact = privacy_loss(law).compose(9)
    eps = np.linspace(0, 9 * law.eps, 91)[:-1]
    alpha = np.linspace(0, 1, 41)
    for nodes in (300, 3001):
        monkeypatch.setattr(models, "_NODES", nodes)
        lower, upper = models.bracket(parts)
        assert (lower.profile(eps) <= exact.privacy_profile(eps)).all()
        assert (upper.profile(eps) >= exact.privacy_profile(eps)).all()
        with np.errstate(divide="ignore"):
            assert (upper.tradeoff(alpha) <= exact.tradeoff(alpha) + 1e-15).all()
            assert (lower.tradeoff(alpha) >= exact.tradeoff(alpha) - 1e-15).all()
        assert upper.profile(np.array(law.eps)) - lower.profile(np.array(law.eps)) < 300 / nodes


def test_brackets_of_different_laws():
    """Losses whose ratio is irrational; the product law says what is between."""
    first, second = sn.DiscreteStaircase(0.1, 5, 2), sn.DiscreteStaircase(0.3, 4, 2)
    total = privacy_loss(first).compose(2) + privacy_loss(second).compose(2)
    assert not total.exact
    pairs = [product(merged(lattice_pair(law)), 2) for law in (first, second)]
    joint = merged([(p * u, q * v) for p, q in pairs[0] for u, v in pairs[1]])
    for eps in (-0.1, 0.0, 0.11, 0.35, 0.55):
        low, high = total.privacy_profile(eps, bounds=True)
        assert low <= hockey_stick(joint, eps) <= high
        assert high - low < 1e-4
    for alpha in (0.01, 0.2, 0.6, 0.95):
        low, high = total.tradeoff(alpha, bounds=True)
        assert low <= neyman_pearson(joint, alpha) <= high
        assert high - low < 1e-3
    assert close(total.rdp(3), renyi(joint, 3))


def test_mixed_with_laplace():
    """The lower and the upper model meet, for laws of every kind together."""
    total = (
        privacy_loss(sn.Laplace(0.4)).compose(3)
        + privacy_loss(sn.Staircase(1)).compose(2)
        + privacy_loss(sn.DiscreteLaplace(0.7, 10**6))
        + privacy_loss(sn.DiscreteLaplace(0.9, 11))
    )
    low, high = total.eps_for_delta(1e-3, bounds=True)
    assert 0 < high - low < 0.005
    assert high < total.eps == pytest.approx(3 * 0.4 + 2 + 0.7 + 0.9)


@pytest.mark.parametrize("law", [sn.DiscreteLaplace(5, 2**30), sn.Laplace(3, 0.7), sn.DiscreteLaplace(4, 12)], ids=repr)
def test_thousands_of_laplace_releases(law):
    """Where float64 has no loss below zero: δ is 1 far below the mean, and within 3 % of the normal law near it."""
    k = 3000
    once = privacy_loss(law)
    loss = once.compose(k)
    mean, deviation = k * once.mean(), math.sqrt(k * once.var())
    assert loss.privacy_profile(mean - 10 * deviation, bounds=True)[0] > 1 - 1e-8
    # E(1 - e^(t-L))+ is P(L > t) less a part of about 1/deviation, and the loss is skew
    for z in (-1.0, 0.0, 1.0):
        low, high = loss.privacy_profile(mean + z * deviation, bounds=True)
        assert low <= high
        assert 0.5 * math.erfc(z / math.sqrt(2)) - high < 0.03
        assert low - 0.5 * math.erfc(z / math.sqrt(2)) < 0.03


def test_lost_probability_is_an_error(monkeypatch):
    from stairnoise._theory.privacy import models

    monkeypatch.setattr(models, "convolution", lambda laws, length: np.zeros(length))
    for law in (sn.DiscreteLaplace(1, 3), sn.Laplace(1)):
        with pytest.raises(ArithmeticError, match="add up"):
            privacy_loss(law).compose(2).privacy_profile(0.5)


# ---------------------------------------------------------------- known figures


def test_hundred_fold_figures():
    """At δ = 1e-6. For ε = 0.1 the staircase's is 4.773: δ(4.773) is 1e-6 by the multinomial law."""
    staircase, laplace = (privacy_loss(law(1.0)).compose(100) for law in (sn.Staircase, sn.Laplace))
    assert round(staircase.eps_for_delta(1e-6), 1) == 80.8
    low, high = laplace.eps_for_delta(1e-6, bounds=True)
    assert 71.5 < low < high < 71.55
    assert high - low < 1e-4
    staircase, laplace = (privacy_loss(law(0.1)).compose(100) for law in (sn.Staircase, sn.Laplace))
    assert round(laplace.eps_for_delta(1e-6), 2) == 4.69
    found = staircase.eps_for_delta(1e-6)
    assert round(found, 3) == 4.773
    eps = mp.mpf(0.1)
    assert close(1e-6, trinomial_delta(eps, 1 - mp.exp(-eps / 2) / 2, 100, mp.mpf(found)), 1e-8)


# ---------------------------------------------------------------- reference values


def entries():
    if not FILE.is_file():
        return []
    values = json.loads(FILE.read_text(encoding="utf-8"))["values"]
    return [entry for entry in values if entry["group"] in ("compose", "pld")]


def number(text):
    return float(Fraction(str(text)))


def reference_loss(params):
    if "r" in params:
        return privacy_loss(sn.DiscreteStaircase(number(params["eps"]), int(params["D"]), int(params["r"])))
    gamma = str(params["gamma"])
    shape = gamma.removeprefix("opt_") if gamma.startswith("opt_") else number(gamma)
    return privacy_loss(sn.Staircase(number(params["eps"]), number(params["D"]), shape), lattice=False)


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["id"])
def test_reference_value(entry):
    params, quantity = entry["params"], entry["quantity"].removesuffix("_discrete")
    loss = reference_loss(params)
    if quantity == "p_plus":
        # δ(0) = p (1 - e^-ε) is what is public
        value = loss.privacy_profile(0.0) / -math.expm1(-number(params["eps"]))
        if number(params["shift"]) < number(params["D"]):
            assert mp.mpf(entry["value"]) < value
            return
    elif quantity == "kl":
        value = loss.mean()
    elif quantity == "rdp":
        value = loss.rdp(number(params["alpha"]))
    else:
        assert quantity == "delta"
        value = loss.compose(params["k"]).privacy_profile(number(params["eps_prime"]))
    assert close(value, mp.mpf(entry["value"]))


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
def test_the_file_has_what_these_tests_are_for():
    assert len(entries()) == 81


# ---------------------------------------------------------------- arrays, errors, objects


LAWS = [
    lambda eps: sn.Staircase(eps, [[1.0], [2.5]], "l2"),
    lambda eps: sn.Staircase(eps, 1, 0.3),
    lambda eps: sn.DiscreteStaircase(eps, [[1], [7]]),
    lambda eps: sn.Laplace(eps, [[1.0], [2.5]]),
    lambda eps: sn.DiscreteLaplace(eps, [[1], [7]]),
]


@pytest.mark.parametrize("lattice", [True, False])
@pytest.mark.parametrize("make", LAWS)
def test_arrays_give_what_scalars_give(make, lattice):
    law = make([0.5, 1.0, 4.0])
    loss = privacy_loss(law, lattice=lattice)
    levels = np.array([0.01, 0.2, 0.9]).reshape(3, 1, 1)
    for method in ("privacy_profile", "rdp", "tradeoff", "eps_for_delta"):
        found = getattr(loss, method)(levels)
        assert found.shape == (3, *law._parameter_shape[-2:]) if len(law._parameter_shape) == 2 else (3, 1, 3)
        for index in np.ndindex(found.shape):
            eps, sensitivity, spec = (np.broadcast_to(a, law._parameter_shape)[index[-len(law._parameter_shape) :]].item()
                                      if not isinstance(a, str) else a for a in (*law._arguments(), "")[:3])  # fmt: skip
            one = type(law)(eps, sensitivity, *([spec] if spec != "" else []))
            expected = getattr(privacy_loss(one, lattice=lattice), method)(levels[index[0], 0, 0].item())
            assert type(expected) is float
            assert math.isclose(found[index], expected, rel_tol=1e-13)
    assert loss.mean().shape == loss.var().shape == law._parameter_shape
    assert np.array_equal(np.broadcast_to(loss.eps, law._parameter_shape), np.broadcast_to(law.eps, law._parameter_shape))


def test_composed_arrays_give_what_scalars_give():
    for loss in (privacy_loss(sn.Staircase(1)).compose(7), privacy_loss(sn.DiscreteLaplace(1, 3)).compose(4)):
        for method, levels in (
            ("privacy_profile", [-1.0, 0.0, 2.1, 9.0]),
            ("tradeoff", [0, 0.2, 1]),
            ("eps_for_delta", [0, 0.1, 1]),
        ):
            f = getattr(loss, method)
            assert f(np.array([levels])).tolist() == [[f(x) for x in levels]]
            assert f(levels[1], bounds=True) == (f(levels[1]), f(levels[1]))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda d: d.privacy_profile(math.nan), sn.ParameterError, "eps must be a number, not NaN, got nan"),
        (lambda d: d.privacy_profile("1"), sn.ParameterTypeError, "eps must be a real number"),
        (lambda d: d.eps_for_delta(1.5), sn.ParameterError, "delta must be from 0 to 1, got 1.5"),
        (lambda d: d.eps_for_delta([0.5, -1]), sn.ParameterError, "delta must be from 0 to 1, got -1.0"),
        (lambda d: d.tradeoff(math.nan), sn.ParameterError, "false_alarm must be from 0 to 1, got nan"),
        (lambda d: d.rdp(0), sn.ParameterError, "alpha must be greater than 0, got 0.0"),
        (lambda d: d.compose(0), sn.ParameterError, "k must be an integer from 1 to 2**20, got 0"),
        (lambda d: d.compose(2.0), sn.ParameterTypeError, "k must be an integer, got 2.0"),
        (lambda d: d.compose(2**20).compose(2), sn.ParameterError, "k must leave at most 1048576 releases"),
        (lambda d: privacy_loss(sn.Laplace(1)).compose(2**14 + 1), sn.ParameterError, "k must leave at most 16384 releases"),
        (lambda d: privacy_loss(sn.Laplace([1, 2])).compose(2), sn.ParameterError, "composition must be of laws with scalar"),
        (lambda d: d + privacy_loss(sn.Laplace([1, 2])), sn.ParameterError, "composition must be of laws with scalar"),
        (lambda d: privacy_loss(sn.Laplace(513)).compose(2), sn.ParameterError, "must be at most 512 to compose"),
        (lambda d: d + 1, TypeError, "unsupported operand"),
        (lambda d: privacy_loss(1), sn.ParameterTypeError, "law must be a noise law of numbers, got 1"),
        (lambda d: PrivacyLoss(), sn.ParameterTypeError, "PrivacyLoss must be made by"),
        (lambda d: privacy_loss(sn.Laplace([1, 2])).rdp([1, 2, 3]), sn.ParameterError, "alpha and parameters must have shapes"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error) as raised:
        call(privacy_loss(sn.Staircase(1)))
    assert text in str(raised.value)


def test_objects_are_values():
    loss = privacy_loss(sn.Staircase(1, 2)).compose(3) + privacy_loss(sn.Laplace(0.5), lattice=False)
    assert repr(loss) == (
        "PrivacyLoss(3 × Staircase(eps=1.0, sensitivity=2.0, gamma='l1') + Laplace(eps=0.5, sensitivity=1.0) as a density)"
    )
    assert repr(privacy_loss(sn.DiscreteLaplace(1), lattice=False)) == "PrivacyLoss(DiscreteLaplace(eps=1.0, sensitivity=1))"
    again = pickle.loads(pickle.dumps(loss))
    assert again == loss
    assert again.privacy_profile(1.0) == loss.privacy_profile(1.0)
    with pytest.raises(AttributeError, match="immutable"):
        loss.eps = 2
    with pytest.raises(AttributeError, match="immutable"):
        del loss._parts


def test_documented_examples_run():
    import doctest

    from stairnoise import privacy

    done = doctest.testmod(privacy)
    assert done.failed == 0
    assert done.attempted > 4


def test_mixin_is_the_function():
    """A law with the mixin says what `privacy_loss` says of it."""

    law, plain = sn.Staircase(2, 3), privacy_loss(sn.Staircase(2, 3))
    assert law.privacy_loss() == plain
    assert law.privacy_loss(lattice=False) == privacy_loss(sn.Staircase(2, 3), lattice=False) != plain
    assert law.privacy_profile(0.5) == plain.privacy_profile(0.5)
    assert law.rdp(2) == plain.rdp(2)
    assert law.tradeoff(0.1) == plain.tradeoff(0.1)
    assert law.compose(4) == plain.compose(4)


@pytest.mark.parametrize("value", [1, "no", None, [], np.zeros(3)])
def test_flags_are_bools(value):
    loss = privacy_loss(sn.Laplace(1.0))
    for call, argument in ((loss.privacy_profile, 0.5), (loss.eps_for_delta, 1e-6), (loss.tradeoff, 0.1)):
        with pytest.raises(sn.ParameterTypeError, match=r"^bounds must be True or False, got "):
            call(argument, bounds=value)
    for call in (sn.Laplace(1.0).privacy_loss, sn.MergedLaplace([1.0], []).pure_eps):
        with pytest.raises(sn.ParameterTypeError, match=r"^lattice must be True or False, got "):
            call(lattice=value)
    assert sn.Laplace(1.0).privacy_loss(lattice=np.True_) == privacy_loss(sn.Laplace(1.0))
