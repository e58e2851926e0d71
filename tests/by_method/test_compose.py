"""Privacy of many releases, against the definitions: product distributions, the multinomial distribution, quadrature, published
figures.
"""

import math

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.accounting import convolution, models
from stairnoise.accounting.curve import Curve
from stairnoise.mechanisms.laplace import loss as steps
from tests.by_method.privacy_pairs import (
    CASES,
    TRUNCATED,
    close,
    hockey_stick,
    lattice_pair,
    merged,
    neyman_pearson,
    product,
    renyi,
)
from tests.combinations import rest_long


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mp.workdps(50):
        yield


@pytest.fixture(params=CASES, ids=lambda case: case[3])
def case(request):
    loss, make, arguments, _ = request.param
    return loss, merged(make(*arguments))


# ---------------------------------------------------------------- composition on the loss's own lattice


@pytest.mark.parametrize("k", [2, 3])
def test_composition_is_the_product_mechanism(case, k):
    loss, pair = case
    composed, joint = loss.compose(k), product(pair, k)
    assert composed.exact
    assert composed.releases == k
    for eps in [share * k * loss.eps for share in (-0.5, 0.0, 0.2, 0.55, 0.8, 0.97)]:
        exact = hockey_stick(joint, eps)
        assert close(composed.privacy_profile(eps), exact)
        assert close(composed.privacy_profile(np.array([eps]))[0], exact)
    for alpha in (0, 1e-9, 1e-4, 0.03, 0.2, 0.5, 0.8, 0.97, 1 - 1e-6, 1):
        # where the curve is steep, the rounding of alpha dominates
        assert close(composed.tradeoff(alpha), neyman_pearson(joint, alpha), 1e-12 if alpha < 0.9 else 1e-11, TRUNCATED)
    assert close(composed.rdp(3), renyi(joint, 3))
    assert close(composed.mean(), k * renyi(pair, 1))


@pytest.mark.slow
def test_a_million_releases_have_no_delta_above_1():
    composed = sn.Staircase(1).privacy_loss().compose(10**6)
    # The first call prepares the loss, so a second call with a float takes another path.
    for eps in (1.0, 1.0, np.array([1.0])):
        assert 0.999999 < composed.privacy_profile(eps) <= 1.0


def test_different_mechanisms_on_a_common_lattice():
    first, second = sn.DiscreteStaircase(1, 5, 2), sn.DiscreteLaplace(1, 4)
    total = first.privacy_loss().compose(2) + second.privacy_loss()
    joint = merged([(p * u, q * v) for p, q in product(merged(lattice_pair(first)), 2) for u, v in merged(lattice_pair(second))])
    assert total.exact
    for eps in (-1.0, 0.0, 0.4, 1.1, 2.0, 2.9):
        assert close(total.privacy_profile(eps), hockey_stick(joint, eps))
    for alpha in (1e-6, 0.01, 0.3, 0.8, 0.99):
        assert close(total.tradeoff(alpha), neyman_pearson(joint, alpha), 1e-11)
    assert total == second.privacy_loss() + first.privacy_loss().compose(2)
    assert total.releases == 3


def trinomial_delta(eps, p, k, t):
    """Return δ by the multinomial distribution, summed in 50 digits."""
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
    """δ from 1e-19 to 1 has relative accuracy in the far tail, by the multinomial distribution."""
    gamma = 0.2
    loss = sn.Staircase(eps, 1, gamma).privacy_loss(lattice=False).compose(k)
    exact, c = mp.mpf(eps), 1 / mp.expm1(mp.mpf(eps))
    p = (2 * mp.mpf(gamma) + c) / (2 * (mp.mpf(gamma) + c))
    assert close(loss.privacy_profile(t), trinomial_delta(exact, p, k, mp.mpf(t)), 5e-13)


@pytest.mark.slow
def test_thousands_of_releases_by_a_saddle_free_identity():
    """gamma = 1/2 is randomised response, whose sum is binomial: exact rational tails, down to 1e-300."""
    k, eps = 3000, 0.5
    loss = sn.Staircase(eps, 1, 0.5).privacy_loss(lattice=False).compose(k)
    p = 1 / (1 + mp.exp(-mp.mpf(eps)))
    for t in (0.0, 370.25, 700.0, 1000.0, 1200.0):
        exact = mp.fsum(
            mp.binomial(k, n) * p**n * (1 - p) ** (k - n) * (1 - mp.exp(t - (2 * n - k) * mp.mpf(eps)))
            for n in range(k + 1)
            if (2 * n - k) * eps > t
        )
        assert close(loss.privacy_profile(t), exact, 1e-11)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "masses"), [(2500, (0.5, 0.3, 0.2)), (4000, (0.55, 0.05, 0.4)), (1500, (0.6, 0.4, 1e-30))])
def test_trinomial_by_its_multinomial_sum(k, masses):
    """The entries are from a long recurrence, whose intermediate numbers leave float64's range."""
    found = convolution.trinomial(k, *masses)
    plus, zero, minus = ([mp.mpf(mass) ** i / mp.factorial(i) for i in range(k + 1)] for mass in masses)
    for total in (0, 1, k // 50, k // 10, k // 4, k // 2, 3 * k // 4, k - 1, k):
        exact = mp.factorial(k) * mp.fsum(
            plus[total + m] * minus[m] * zero[k - total - 2 * m] for m in range((k - total) // 2 + 1)
        )
        assert close(found[k - total], exact, 1e-12, 2.0**-1000)


@pytest.mark.parametrize(("theta", "width", "k", "entries"), [(0.02, 200, 60, 5900), (0.3, 40, 400, 4200), (3.0, 20, 400, 390)])
def test_tilted_transforms_agree_with_direct_convolution(theta, width, k, entries):
    """Both methods agree on one lattice in every entry above 1e-290; both ends can be below that."""
    mechanism = steps.geometric_masses(theta, width)
    length = width * k // 2
    direct = convolution._directly([(mechanism, k)], length)
    tilted, error = convolution._by_tilting([(mechanism, k)], length)
    read = direct > 1e-290
    assert (np.abs(tilted - direct) <= error + 1e-11 * direct)[read].all()
    assert read.sum() > entries
    assert np.abs(tilted[read] / direct[read] - 1).max() < 1e-11


def test_tilted_transforms_leave_out_what_their_errors_hide():
    """Compared with direct convolution. The largest loss is rare, so sums near it are far from normal under any tilt."""
    part = sn.Arete.from_eps(0.1, 1)._loss(1.0)
    mechanism = part.upper_model(part.top / 100).masses
    length = 50 * (mechanism.size - 1)
    direct = convolution._directly([(mechanism, 100)], length)
    tilted, error = convolution._by_tilting([(mechanism, 100)], length)
    assert (np.cumsum(error) <= convolution._BELIEVED * np.cumsum(tilted)).all()
    read = direct > 1e-290
    assert np.abs(np.cumsum(tilted)[read] / np.cumsum(direct)[read] - 1).max() < 1e-10


def test_compose_twice_is_compose_once():
    once = sn.DiscreteLaplace(0.7, 3).privacy_loss()
    assert once.compose(1) is once
    assert once.compose(4).compose(5) == once.compose(20)
    assert once + once == once.compose(2)
    assert once.compose(2) + once.compose(3) == once.compose(5)
    assert once.compose(2) != once
    assert hash(once + once) == hash(once.compose(2))


# ---------------------------------------------------------------- composition in brackets


@pytest.mark.parametrize("eps", [0.2, 1.0, 4.0])
def test_two_laplace_releases_by_quadrature(eps):
    """δ is the second loss's profile, averaged over the first loss's atoms and density."""
    loss = sn.Laplace(eps).privacy_loss(lattice=False).compose(2)
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
    "mechanism", [sn.DiscreteLaplace(2, 50), sn.DiscreteLaplace(0.5, 33), sn.DiscreteStaircase(1.3, 7, 2)], ids=repr
)
def test_brackets_enclose_what_an_exact_lattice_says(mechanism, monkeypatch):
    """Brackets are computed although the exact answer is known; coarse grids make them wide enough to fail."""
    monkeypatch.setattr(steps, "_LISTED_STEPS", 40)
    parts = ((mechanism.privacy_loss()._parts[0][0], 9),)
    exact = mechanism.privacy_loss().compose(9)
    eps = np.linspace(0, 9 * mechanism.eps, 91)[:-1]
    alpha = np.linspace(0, 1, 41)
    for nodes in (300, 3001):
        monkeypatch.setattr(models, "_NODES", nodes)
        lower, upper = models.lower_curve(parts), models.upper_curve(parts)
        assert (lower.profile(eps) <= exact.privacy_profile(eps)).all()
        assert (upper.profile(eps) >= exact.privacy_profile(eps)).all()
        with np.errstate(divide="ignore"):
            assert (upper.tradeoff(alpha) <= exact.tradeoff(alpha) + 1e-15).all()
            assert (lower.tradeoff(alpha) >= exact.tradeoff(alpha) - 1e-15).all()
        assert upper.profile(np.array(mechanism.eps)) - lower.profile(np.array(mechanism.eps)) < 300 / nodes


ROUNDED = [(0.99999, 9), (1.1, 25), (0.1, 3), (0.3, 7), (2.3, 11)]


@pytest.mark.parametrize(("eps", "k"), rest_long(ROUNDED[:2], ROUNDED))
def test_nothing_is_above_the_pure_eps(eps, k):
    """The lower model's largest loss is a product of rounded numbers, and must not exceed the upper model's."""
    loss = sn.Laplace(eps).privacy_loss().compose(k)
    for other in (sn.Laplace(0.7 * eps), sn.MergedLaplace([eps, 2 * eps], [1.0])):
        for total in (loss, loss + other.privacy_loss()):
            for share in (1.0, 1 - 1e-15, 1 - 1e-12):
                low, high = total.privacy_profile(share * total.eps, bounds=True)
                assert low <= high


@pytest.mark.parametrize("alpha", [1e-17, 1e-16, 1e-13, 1e-6])
@pytest.mark.parametrize(
    "loss",
    [
        sn.Laplace(58.0).privacy_loss().compose(7),
        sn.Laplace(17.0).privacy_loss().compose(10) + sn.MergedLaplace([17.0, 34.0], [1.0]).privacy_loss(),
        sn.DiscreteLaplace(60.0, 3).privacy_loss().compose(7),
    ],
    ids=["Laplace", "mixed", "exact"],
)
def test_missed_detections_are_few_where_false_alarms_are(loss, alpha):
    """1 - alpha rounds to 1 here. A best test has α <= e^(-t/2) B and β <= e^(t/2) B with B = E_Q (dP/dQ)^(1/2) = e^(-D/2).

    D is the divergence of order 1/2.
    """
    low, high = loss.tradeoff(alpha, bounds=True)
    assert low <= high
    assert low <= math.exp(-loss.rdp(0.5)) / alpha


@pytest.mark.slow
def test_brackets_of_different_mechanisms():
    """The losses' ratio is irrational; the product distribution gives the truth between the brackets."""
    first, second = sn.DiscreteStaircase(0.1, 5, 2), sn.DiscreteStaircase(0.3, 4, 2)
    total = first.privacy_loss().compose(2) + second.privacy_loss().compose(2)
    assert not total.exact
    pairs = [product(merged(lattice_pair(mechanism)), 2) for mechanism in (first, second)]
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
    """Lower and upper model meet for compositions of all kinds of mechanisms."""
    total = (
        sn.Laplace(0.4).privacy_loss().compose(3)
        + sn.Staircase(1).privacy_loss().compose(2)
        + sn.DiscreteLaplace(0.7, 10**6).privacy_loss()
        + sn.DiscreteLaplace(0.9, 11).privacy_loss()
    )
    low, high = total.eps_for_delta(1e-3, bounds=True)
    assert 0 < high - low < 0.005
    assert high < total.eps == pytest.approx(3 * 0.4 + 2 + 0.7 + 0.9)


@pytest.mark.parametrize(
    "small", [sn.Laplace(1e-9), sn.DiscreteLaplace(1e-9), sn.Staircase(1e-9), sn.DiscreteLaplace(1e-9, 10**6)], ids=repr
)
def test_a_loss_far_below_the_step(small):
    """The other losses change the total by at most 1e-9, and so do the bounds."""
    others = sn.Laplace(2.0).privacy_loss().compose(3)
    total = others + small.privacy_loss()
    eps = np.array([0.0, 0.5, 2.0, 5.0])
    low, high = total.privacy_profile(eps, bounds=True)
    least, most = others.privacy_profile(eps, bounds=True)
    assert (low <= most + 2e-9).all()
    assert (high >= least).all()
    assert (high - low < 1e-3).all()


GAPPED = [
    sn.DiscreteLaplace(30.0).privacy_loss().compose(3) + sn.Laplace(0.1).privacy_loss().compose(200),
    sn.DiscreteLaplace(300.0).privacy_loss() + sn.Laplace(0.1).privacy_loss().compose(200),
    sn.DiscreteGaussian(0.02).privacy_loss().compose(4) + sn.Staircase(1.0).privacy_loss().compose(60),
    sn.MergedLaplace([40.0, 1.0], [0.5]).privacy_loss().compose(3) + sn.Staircase(0.1).privacy_loss().compose(60),
    sn.Laplace(2.0).privacy_loss().compose(40),
    sn.DiscreteGaussian(0.01).privacy_loss() + sn.Laplace(1.0).privacy_loss().compose(60),
]


@pytest.mark.parametrize("loss", GAPPED, ids=["30", "300", "lattice", "merged", "none", "wide"])
def test_sums_with_gaps(loss, monkeypatch):
    """Compared with direct convolution. Transforms alone would give 1e-13 for 1e-44 in a gap."""
    step = sum(k * 2 * part.top for part, k in loss._parts) / 2**13
    mechanisms = [(part.upper_model(step).masses, k) for part, k in loss._parts]
    length = sum((mechanism.size - 1) * k for mechanism, k in mechanisms) // 2 + 1
    exact = np.cumsum(convolution._directly(mechanisms, length))
    monkeypatch.setattr(convolution, "_DIRECT_WORK", 0)
    found = np.cumsum(convolution.convolution(mechanisms, length))
    seen = exact > 1e-290
    assert np.abs(found / np.where(seen, exact, 1) - 1)[seen].max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(("k", "together"), [(20, 2e-5), pytest.param(100, 1e-12, marks=pytest.mark.long)])
def test_one_wide_loss_among_many(k, together):
    """The lattice's loss is 50 except with probability e^-50, and k losses of at most 1 never add up to nearly k."""
    total = sn.DiscreteGaussian(0.01).privacy_loss() + sn.Laplace(1.0).privacy_loss().compose(k)
    low, high = total.privacy_profile(np.array([0.0, 5.0, 0.6 * k, 49.0 + k]), bounds=True)
    assert (low <= high).all()
    assert (high - low < 1e-3).all()
    assert low[0] > 1 - 1e-6
    assert high[3] < together


def test_a_curve_whose_probabilities_do_not_add_up_is_refused():
    with pytest.raises(ArithmeticError, match=r"^probabilities must add up to 1, got 0\.5$"):
        Curve(0.0, 1.0, np.array([0.5]))


def test_an_upper_curve_below_the_lower_one_is_refused():
    lower, upper = (Curve(2.0, 1.0, np.array([mass, 0.2, 0.1]), symmetric=False) for mass in (0.11, 0.1))
    models.require_order(upper, lower)
    with pytest.raises(ArithmeticError, match=r"^bounds must be in order: their probabilities do not add up$"):
        models.require_order(lower, upper)


@pytest.mark.parametrize("infinite", [0.0, 0.25])
def test_beyond_every_finite_loss_only_the_unbounded_one_is_left(infinite):
    curve = Curve(2.0, 1.0, np.array([0.1, 0.2, 0.1]), infinite=infinite, symmetric=False)
    t = np.array([0.5, 2.0, 2.5, 9.0])
    assert [curve.profile_scalar(one) for one in t] == curve.profile(t).tolist()
    assert curve.profile(t)[1:].tolist() == [infinite] * 3


def test_sums_of_nothing():
    """A zero distribution stays zero in every convolution."""
    nothing = np.zeros(3)
    assert not convolution.convolution([(nothing, 2), (np.array([0.5, 0.5]), 1)], 4).any()


def test_no_loss_at_all_is_a_guess():
    curve = Curve(0.0, 1.0, np.array([1.0]))
    assert curve.tradeoff(np.array([0.0, 0.25, 1.0])).tolist() == [1.0, 0.75, 0.0]


@pytest.mark.parametrize("start", [0.0, -6.0, 6.0, -200.0, 1000.0])
def test_the_tilt_is_found_from_anywhere(start):
    """For a fair coin tossed 100 times, tilted heads have probability 1/(1 + e^tilt)."""
    tilted = convolution._tilt_to([(np.array([0.5, 0.5]), 100)], 30.0, start)
    assert tilted.mean == pytest.approx(30, abs=0.3)
    assert tilted.mean == pytest.approx(100 / (1 + math.exp(tilted.tilt)), rel=1e-12)


@pytest.mark.parametrize("mechanism", [sn.DiscreteLaplace(5, 2**30), sn.Laplace(3, 0.7), sn.DiscreteLaplace(4, 12)], ids=repr)
def test_thousands_of_laplace_releases(mechanism):
    """Float64 has no loss below zero here: δ is 1 far below the mean, and near the mean within 3 % of the normal distribution."""
    k = 3000
    once = mechanism.privacy_loss()
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
    monkeypatch.setattr(models, "convolution", lambda mechanisms, length: np.zeros(length))
    for mechanism in (sn.DiscreteLaplace(1, 3), sn.Laplace(1)):
        with pytest.raises(ArithmeticError, match="add up"):
            mechanism.privacy_loss().compose(2).privacy_profile(0.5)


# ---------------------------------------------------------------- known figures


@pytest.mark.slow
def test_hundred_fold_figures():
    """Figures are at δ = 1e-6. For ε = 0.1 the staircase's figure is 4.773: δ(4.773) is 1e-6 by the multinomial distribution."""
    staircase, laplace = (mechanism(1.0).privacy_loss().compose(100) for mechanism in (sn.Staircase, sn.Laplace))
    assert round(staircase.eps_for_delta(1e-6), 1) == 80.8
    low, high = laplace.eps_for_delta(1e-6, bounds=True)
    assert 71.5 < low < high < 71.55
    assert high - low < 1e-4
    staircase, laplace = (mechanism(0.1).privacy_loss().compose(100) for mechanism in (sn.Staircase, sn.Laplace))
    assert round(laplace.eps_for_delta(1e-6), 2) == 4.69
    found = staircase.eps_for_delta(1e-6)
    assert round(found, 3) == 4.773
    eps = mp.mpf(0.1)
    assert close(1e-6, trinomial_delta(eps, 1 - mp.exp(-eps / 2) / 2, 100, mp.mpf(found)), 1e-8)
