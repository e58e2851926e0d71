"""Privacy of one release and of many, of the mechanisms beyond the first four.

Evidence: sums over both mechanisms' probabilities from their documented formulas, in 50 digits; schoolbook convolution and
hypergeometric functions where the product has recurrences; products of the mechanisms, outcome by outcome, for compositions;
lattices so coarse that every outcome can be listed for the sums over runs; closed forms of the literature.
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
from hypothesis import given, settings
from hypothesis import strategies as st

import stairnoise as sn
from stairnoise.accounting.losses.listed import Listed
from stairnoise.accounting.losses.runs import Runs
from stairnoise.accounting.privacy_loss import PrivacyLoss
from stairnoise.distributions.slopes import Slopes

LISTED = 70  # length of the oracles' lists in nepers


@pytest.fixture(autouse=True)
def _fifty_digits():
    with mp.workdps(50):
        yield


# ---------------------------------------------------------------- oracles: probabilities of an integer


def gaussian_pmf(sigma2):
    sigma2 = mp.mpf(sigma2)
    reach = int(mp.sqrt(16 * LISTED * sigma2)) + 2
    weights = {k: mp.exp(-k * k / (2 * sigma2)) for k in range(-reach, reach + 1)}
    total = mp.fsum(weights.values())
    return {k: w / total for k, w in weights.items()}


def divisible_pmf(beta, a, scale=1):
    """Return the pmf of scale times the difference of two negative binomial variables, by the hypergeometric function."""
    beta, x = mp.mpf(beta), mp.exp(-mp.mpf(a))
    reach = int(LISTED / a) + 2
    right = [
        x**k * (1 - x) ** (2 * beta) * mp.rf(beta, k) / mp.factorial(k) * mp.hyp2f1(beta, beta + k, 1 + k, x * x)
        for k in range(reach)
    ]
    return {scale * sign * k: p for k, p in enumerate(right) for sign in (1, -1)}


def convolved(one, other):
    total = {}
    for (i, p), (j, q) in itertools.product(one.items(), other.items()):
        total[i + j] = total.get(i + j, 0) + p * q
    return total


def shifted_pair(pmf, shift):
    """Return (P, Q) at every integer where either is listed; unlisted probabilities are 0."""
    zero = mp.mpf(0)
    return [(pmf.get(k, zero), pmf.get(k - shift, zero)) for k in sorted({*pmf, *(k + shift for k in pmf)})]


def merged(pair):
    """Merge outcomes of equal likelihood ratio, which changes no measure."""
    total = {}
    for p, q in pair:
        key = mp.inf if q == 0 else -mp.inf if p == 0 else round(mp.log(p / q), 25)
        a, b = total.get(key, (0, 0))
        total[key] = (a + p, b + q)
    return list(total.values())


def product(pair, k):
    """Return the product distribution of outcomes above 1e-16, outcome by outcome, in float64."""
    p, q = (np.array([float(both[which]) for both in pair if max(both) > 1e-16]) for which in (0, 1))
    P, Q = p, q
    for _ in range(k - 1):
        P, Q = np.multiply.outer(P, p).ravel(), np.multiply.outer(Q, q).ravel()
    return P, Q


def hockey_stick_of_product(both, eps):
    return float(np.maximum(both[0] - math.exp(eps) * both[1], 0).sum())


def hockey_stick(pair, eps):
    return mp.fsum(max(p - mp.exp(mp.mpf(eps)) * q, 0) for p, q in pair)


def renyi(pair, alpha):
    both = [(p, q) for p, q in pair if p > 0 and q > 0]
    if alpha == 1:
        return mp.fsum(p * mp.log(p / q) for p, q in both)
    return mp.log(mp.fsum(p ** mp.mpf(alpha) * q ** (1 - mp.mpf(alpha)) for p, q in both)) / (mp.mpf(alpha) - 1)


def neyman_pearson(pair, alpha):
    left, missed = mp.mpf(alpha), mp.mpf(1)
    for p, q in sorted(pair, key=lambda pq: pq[1] / pq[0] if pq[0] else mp.inf):
        share = min(1, left / q) if q else 1
        left -= share * q
        missed -= share * p
    return max(missed, 0)


def multi_scale_pmf(eps, D):
    total = {0: mp.mpf(1)}
    for m in range(1, D + 1):
        total = convolved(total, divisible_pmf(1, eps, m))
    return total


CASES = [
    (sn.DiscreteGaussian(0.3), {"sensitivity": 1}, lambda: gaussian_pmf(0.3), 1),
    (sn.DiscreteGaussian(7.25), {"sensitivity": 3}, lambda: gaussian_pmf(7.25), 3),
    (sn.DiscreteGaussian(100), {"sensitivity": 1}, lambda: gaussian_pmf(100), 1),
    (sn.GeneralizedDiscreteLaplace(0.25, 0.9), {"sensitivity": 3}, lambda: divisible_pmf(0.25, 0.9), 3),
    (sn.GeneralizedDiscreteLaplace(2.5, 0.7), {"sensitivity": 2}, lambda: divisible_pmf(2.5, 0.7), 2),
    (sn.GeneralizedDiscreteLaplace(1.0, 0.5), {"sensitivity": 4}, lambda: divisible_pmf(1, 0.5), 4),
    (sn.GeneralizedDiscreteLaplace(0.5, 0.8).share(4, 3), {"sensitivity": 1}, lambda: divisible_pmf(0.375, 0.8), 1),
    (sn.MultiScaleDiscreteLaplace(2.0, 2), {}, lambda: multi_scale_pmf(2, 2), 2),
    (sn.MultiScaleDiscreteLaplace(4.0, 3), {"sensitivity": 2}, lambda: multi_scale_pmf(4, 3), 2),
    (sn.MultiScaleDiscreteLaplace(3.0, 1).share(3, 2), {}, lambda: divisible_pmf(mp.mpf(2) / 3, 3), 1),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]!r} {case[3]}", scope="module")
def case(request):
    mechanism, arguments, make, shift = request.param
    with mp.workdps(50):
        pmf = make()
        pairs = [merged(shifted_pair(pmf, s)) for s in range(1, shift + 1)]
    return mechanism, arguments, pairs


def close(value, exact, tolerance=1e-11, floor=1e-28):
    """Compare to a relative tolerance; the floor is the probability missing in the oracle's list."""
    return abs(mp.mpf(float(value)) - exact) <= tolerance * abs(exact) + floor


# ---------------------------------------------------------------- one release


def test_profile_is_the_hockey_stick_divergence_of_the_worst_shift(case):
    mechanism, arguments, pairs = case
    loss = mechanism.privacy_loss(**arguments)
    top = 6.0 if math.isinf(loss.eps) else loss.eps
    for eps in (-2 * top, -0.3 * top, 0.0, 1e-9, 0.1 * top, 0.61 * top, 0.95 * top, 0.999999 * top):
        exact = max(hockey_stick(pair, eps) for pair in pairs)
        tolerance = 1e-11 + 1e-14 * top / max(top - eps, 1e-300)
        assert close(loss.privacy_profile(eps), exact, tolerance)
        assert close(mechanism.privacy_profile([eps], **arguments)[0], exact, tolerance)


def test_other_measures(case):
    mechanism, arguments, pairs = case
    loss = mechanism.privacy_loss(**arguments)
    for alpha in (0.3, 0.9, 1.0, 1.7, 2.0, 8.0):
        exact = max(renyi(pair, alpha) for pair in pairs)
        # High orders weigh tails beyond the oracle's list.
        assert close(mechanism.rdp(alpha, **arguments), exact, 1e-10, mp.mpf(10) ** -8 if alpha > 2 else mp.mpf(10) ** -16)
    assert close(loss.mean(), max(renyi(pair, 1) for pair in pairs), floor=mp.mpf(10) ** -20)
    assert loss.rdp(1) == loss.mean()
    assert loss.rdp(math.inf) == loss.eps
    for alpha in (1e-6, 0.01, 0.1, 0.5, 0.9, 1 - 1e-6):
        exact = min(neyman_pearson(pair, alpha) for pair in pairs)
        assert close(mechanism.tradeoff(alpha, **arguments), exact, 1e-10, mp.mpf(10) ** -15)
    assert loss.tradeoff([0.0]) == [1.0]
    assert loss.tradeoff(1.0) < 1e-15


def test_variance_of_the_loss(case):
    mechanism, arguments, pairs = case
    found = []
    for pair in pairs:
        both = [(p, mp.log(p / q)) for p, q in pair if p > 0 and q > 0]
        mean = mp.fsum(p * loss for p, loss in both)
        found.append(mp.fsum(p * (loss - mean) ** 2 for p, loss in both))
    assert close(mechanism.privacy_loss(**arguments).var(), max(found), 1e-10, mp.mpf(10) ** -18)


def test_eps_for_delta_is_the_inverse(case):
    mechanism, arguments, _ = case
    loss = mechanism.privacy_loss(**arguments)
    for delta in (0.1, 1e-3, 1e-6, 1e-9):
        eps = loss.eps_for_delta(delta)
        if eps > 0:
            assert loss.privacy_profile(eps) == pytest.approx(delta, rel=1e-6)
            assert loss.privacy_profile(eps * (1 + 1e-12)) <= delta * (1 + 1e-10)
        else:
            assert loss.privacy_profile(0.0) <= delta
    assert loss.eps_for_delta(0) == loss.eps


# ---------------------------------------------------------------- many releases


@pytest.mark.parametrize("k", [2, pytest.param(3, marks=pytest.mark.long)])
def test_composed_bounds_enclose_the_product_mechanism(case, k):
    mechanism, arguments, pairs = case
    composed = mechanism.compose(k, **arguments)
    exact = product(pairs[-1], k)
    for eps in (0.0, 0.5, 1.5, 3.0):
        low, high = composed.privacy_profile(eps, bounds=True)
        true = hockey_stick_of_product(exact, eps)
        assert low <= true * (1 + 1e-10) + 1e-13
        assert high >= true * (1 - 1e-10) - 1e-13
        assert high - low <= 5e-3 * high + 1e-17
    low, high = composed.tradeoff(0.2, bounds=True)
    assert 0 <= high - low <= 2e-3 * high
    order = np.argsort(exact[1] / np.maximum(exact[0], 1e-300))
    best = 1 - np.interp(0.2, np.cumsum(exact[1][order]), np.cumsum(exact[0][order]))
    assert low - 1e-12 <= best <= high + 1e-12
    assert composed.rdp(2) == pytest.approx(k * mechanism.rdp(2, **arguments))
    assert composed.mean() == pytest.approx(k * mechanism.privacy_loss(**arguments).mean())


@pytest.mark.parametrize(("eps", "delta"), [(1.0, 1e-6), (0.1, 1e-9), (4.0, 1e-3)])
@pytest.mark.parametrize("k", [1, 7, 1000])
def test_composed_gaussian_noise_is_gaussian_noise_of_a_larger_shift(eps, delta, k):
    """The lattice mechanism agrees with the normal one: k shifts by s equal one by s√k (Dong, Roth and Su, corollary 2.1)."""
    mechanism = sn.Gaussian(eps, delta, 3.0)
    s = mp.mpf(3) / mp.mpf(mechanism.sigma) * mp.sqrt(k)
    for budget in (0.0, eps, 2 * eps + 0.1):
        e = mp.mpf(budget)
        exact = mp.ncdf(s / 2 - e / s) - mp.exp(e) * mp.ncdf(-s / 2 - e / s)
        low, high = mechanism.compose(k).privacy_profile(budget, bounds=True)
        assert low <= exact * (1 + 1e-6) + 1e-50
        assert exact * (1 - 1e-6) <= high
        assert high - low <= 5e-3 * high + 1e-50


def test_different_mechanisms_compose():
    """Compared with the product of the lists of discrete Gaussian and discrete Laplace noise."""
    one = merged(shifted_pair(gaussian_pmf(2.0), 1))
    other = merged(shifted_pair(divisible_pmf(1, 0.8), 1))
    p, q = (np.multiply.outer(*([float(both[i]) for both in pair] for pair in (one, other))).ravel() for i in (0, 1))
    loss = sn.DiscreteGaussian(2.0).privacy_loss() + sn.DiscreteLaplace(0.8).privacy_loss()
    assert (loss.releases, loss.exact, loss.eps) == (2, False, math.inf)
    for eps in (0.0, 0.7, 2.0):
        low, high = loss.privacy_profile(eps, bounds=True)
        assert low <= hockey_stick_of_product((p, q), eps) <= high
        assert high - low < 5e-3 * high
    assert loss == sn.DiscreteLaplace(0.8).privacy_loss() + sn.DiscreteGaussian(2.0).privacy_loss()


def test_infinite_losses_compose():
    mechanism = sn.TruncatedLaplace(1.0, 1e-3)
    twenty = mechanism.compose(20)
    never = 1 - (1 - mechanism.achieved_delta) ** 20
    low, high = twenty.privacy_profile(20.0, bounds=True)
    assert low == pytest.approx(never, rel=1e-7)
    assert high == pytest.approx(never, rel=1e-7)
    assert math.isinf(twenty.eps_for_delta(0.9 * never))
    assert twenty.eps_for_delta(1.1 * never) < 20
    assert (twenty.eps, twenty.rdp(2), twenty.mean()) == (math.inf, math.inf, math.inf)


# ---------------------------------------------------------------- mechanisms on a lattice too fine to list


def coarse_pair(mechanism, steps):
    """Return (P, Q) of the mechanism with these slopes, whose integers can be listed."""
    reach = int(LISTED / min(mechanism.rates)) + sum(mechanism.breaks) + 2
    low = -reach if mechanism.below is None else -mechanism.below
    high = reach if mechanism.above is None else mechanism.above
    weights = {k: mp.exp(-mp.mpf(mechanism.height(k).numerator) / mechanism.height(k).denominator) for k in range(low, high + 1)}
    total = mp.fsum(weights.values())
    return merged(shifted_pair({k: w / total for k, w in weights.items()}, steps))


F = Fraction
COARSE = [
    (Slopes([F(1, 5)], []), 7),
    (Slopes([F(3, 4), F(1, 6)], [3]), 5),
    (Slopes([F(1, 6), F(3, 4)], [9]), 5),
    (Slopes([F(1, 8), F(1), F(1, 4)], [2, 5]), 4),
    (Slopes([F(1, 4)], [], 30, 30), 6),
    (Slopes([F(1, 4)], [], 12, 40), 8),
    (Slopes([F(1, 4)], [], 12, 40), -8),
]


@pytest.mark.parametrize(("mechanism", "steps"), COARSE)
def test_sums_over_runs_are_sums_over_outcomes(mechanism, steps):
    runs, pair = Runs((), mechanism, steps), coarse_pair(mechanism, steps)
    finite = [(mp.log(p / q), (p, q)) for p, q in pair if p > 0 and q > 0]
    assert close(runs.top, max(finite)[0], 1e-14)
    assert close(runs.bottom, min(finite)[0], 1e-13)
    with np.errstate(all="ignore"):
        for t in np.linspace(0, runs.top, 23):
            assert close(runs.profile(np.array(t)), hockey_stick(pair, t), 1e-12, mp.mpf(10) ** -16)
        for alpha in (1e-5, 0.02, 0.3, 0.6, 0.95):
            assert close(runs.tradeoff(np.array(alpha)), neyman_pearson(pair, alpha), 1e-11, mp.mpf(10) ** -15)
        if runs.infinite == 0:
            for alpha in (0.5, 3.0):
                # Sums on a coarse lattice are no integrals; the fine lattices test the integral.
                assert close(runs.rdp(np.array(alpha)), renyi(pair, alpha), 1e-12)
        nodes = np.linspace(runs.top, runs.bottom - 0.1, 40)
        log_p, log_q, above = runs.masses(nodes)
    assert above == 0
    for logs, which in ((log_p, 0), (log_q, 1)):
        for i in range(nodes.size - 1):
            inside = [both[which] for loss, both in finite if nodes[i + 1] + 1e-9 < loss <= nodes[i] + 1e-9]
            assert abs(mp.exp(mp.mpf(float(logs[i]))) - mp.fsum(inside)) < 1e-13


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism",
    [
        sn.MergedLaplace([16, 4], [0.125]),
        pytest.param(sn.MergedLaplace([0.2, 0.25, 0.5], [1, 3]), marks=pytest.mark.long),
        pytest.param(sn.MergedLaplace([3, 0.5, 2], [1, 6], 2.0), marks=pytest.mark.long),
        pytest.param(sn.TruncatedLaplace(1, 1e-4), marks=pytest.mark.long),
        sn.TruncatedLaplace(2, 0.01, 3.0, lower=-9.0),
    ],
    ids=repr,
)
def test_profile_of_the_density(mechanism):
    """Compared with the density, summed over a grid of a million points; the lattice differs by less than 1e-9."""
    D = mechanism.sensitivity
    low, high = (end if math.isfinite(end) else math.copysign(40 * D, end) for end in mechanism.support())
    step = (high - low + 2 * D) / 1_000_000
    x = low - D + step * (np.arange(1_000_000) + 0.5)
    p, up, down = (mechanism.pdf(x - shift) * step for shift in (0, D, -D))
    for t in (0.0, 0.31, 1.3):
        exact = max(np.maximum(p - math.exp(t) * other, 0).sum() for other in (up, down))
        assert mechanism.privacy_profile(t) == pytest.approx(exact, rel=2e-5, abs=1e-7)


def test_one_rate_is_the_laplace_mechanism():
    one, other = sn.MergedLaplace([1.3], [], 2.5).privacy_loss(), sn.Laplace(1.3, 2.5).privacy_loss()
    eps = np.array([-1, 0, 0.2, 1.2999, 1.3, 2])
    np.testing.assert_allclose(one.privacy_profile(eps), other.privacy_profile(eps), rtol=1e-12)
    orders = np.array([0.1, 0.5, 1, 2, 40, np.inf])
    np.testing.assert_allclose(one.rdp(orders), other.rdp(orders), rtol=1e-12)
    alpha = np.array([1e-9, 0.01, 0.3, 0.7, 0.999])
    np.testing.assert_allclose(one.tradeoff(alpha), other.tradeoff(alpha), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(one.eps_for_delta([0.4, 1e-3]), other.eps_for_delta([0.4, 1e-3]), rtol=1e-12)
    assert one.var() == pytest.approx(other.var(), rel=1e-12)
    ours, theirs = (loss.compose(50).privacy_profile([1.0, 10.0, 30.0], bounds=True) for loss in (one, other))
    assert (ours[0] <= theirs[1]).all()
    assert (theirs[0] <= ours[1]).all()


def test_small_eps_keeps_its_digits():
    one, other = sn.MergedLaplace([1e-6], []).privacy_loss(), sn.Laplace(1e-6).privacy_loss()
    for measure in (PrivacyLoss.mean, PrivacyLoss.var, lambda loss: loss.rdp(2), lambda loss: loss.rdp(0.5)):
        assert measure(one) == pytest.approx(measure(other), rel=1e-9)


@pytest.mark.slow
def test_pure_eps_is_that_of_the_mechanism():
    for mechanism in (sn.MergedLaplace([16, 4], [0.125]), sn.MergedLaplace.from_eps(6)):
        assert mechanism.privacy_loss().eps == pytest.approx(mechanism.pure_eps(), rel=1e-15)
    mechanism = sn.Arete.from_eps(8, 1)
    assert mechanism.privacy_loss(sensitivity=0.5).eps == mechanism.privacy_eps(0.5)
    assert mechanism.privacy_loss().eps == mechanism.privacy_eps()


@pytest.mark.slow
def test_arete_against_its_own_list():
    """The test shifts and sums the list of the mechanism's probabilities, which other tests check."""
    mechanism = sn.Arete(0.4, 0.5, 0.3)
    g, steps = mechanism.granularity, math.ceil(0.7 / mechanism.granularity)
    k = np.arange(-60_000, 60_001)
    p, q = mechanism.pdf(k * g) * g, mechanism.pdf((k - steps) * g) * g
    for eps in (0.0, 0.5, 1.5):
        exact = float(np.maximum(p - math.exp(eps) * q, 0).sum())
        assert mechanism.privacy_profile(eps, 0.7) == pytest.approx(exact, rel=1e-9)


# ---------------------------------------------------------------- lists, in general


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.floats(1e-6, 1), st.floats(1e-6, 1)), min_size=1, max_size=12), st.floats(0, 3), st.floats(0.001, 0.999)
)
def test_any_list_of_outcomes(pairs, t, alpha):
    p, q = (np.array(column) / sum(column) for column in zip(*pairs, strict=True))
    listed = Listed((), np.log(p), np.log(q), float(np.log(p / q).max()))
    exact = np.maximum(p - math.exp(t) * q, 0).sum()
    assert abs(float(listed.profile(np.array(t))) - exact) < 1e-12
    best = neyman_pearson([(mp.mpf(a), mp.mpf(b)) for a, b in zip(p.tolist(), q.tolist(), strict=True)], alpha)
    assert abs(float(listed.tradeoff(np.array(alpha))) - best) < 1e-12


def test_a_list_with_an_unbounded_loss():
    """A fourth of the outcomes are possible under P only."""
    listed = Listed((), np.log([0.25, 0.5]), np.log([0.5, 0.5]), math.inf, beyond=0.25)
    assert listed.infinite == 0.25
    assert (listed.mean(), listed.var(), listed.rdp(np.array(2.0))) == (math.inf, math.inf, math.inf)
    assert math.isfinite(listed.rdp(np.array(0.5)))


# ---------------------------------------------------------------- the object


EVERY = [
    (sn.Gaussian(1, 1e-6), {}),
    (sn.DiscreteGaussian(4), {"sensitivity": 2}),
    (sn.TruncatedLaplace(1, 1e-6), {}),
    (sn.TruncatedLaplace(1, 1e-2, lower=-6), {}),
    (sn.MergedLaplace([2, 1], [0.5]), {}),
    (sn.GeneralizedDiscreteLaplace(0.5, 1.0), {"sensitivity": 2}),
    (sn.MultiScaleDiscreteLaplace(2, 2), {}),
    (sn.Arete.from_eps(8, 1), {"sensitivity": 0.5}),
]


@pytest.mark.parametrize(("mechanism", "arguments"), EVERY, ids=lambda v: repr(v))
def test_methods_are_those_of_the_loss(mechanism, arguments):
    loss = mechanism.privacy_loss(**arguments)
    assert mechanism.privacy_loss(**arguments) == loss
    assert pickle.loads(pickle.dumps(loss)) == loss
    assert repr(mechanism) in repr(loss)
    assert loss.exact
    assert mechanism.privacy_profile(0.5, **arguments) == loss.privacy_profile(0.5)
    assert mechanism.rdp(0.5, **arguments) == loss.rdp(0.5)
    assert mechanism.tradeoff(0.1, **arguments) == loss.tradeoff(0.1)
    assert mechanism.compose(3, **arguments) == loss.compose(3)
    assert mechanism.compose(1, **arguments) == loss
    assert isinstance(mechanism.privacy_loss(), PrivacyLoss)


@pytest.mark.parametrize(("mechanism", "arguments"), EVERY, ids=lambda v: repr(v))
def test_a_privacy_profile_falls_and_is_convex(mechanism, arguments):
    """The curve is convex in exp(eps), so it lies below its chords, between the values at 0 and at large eps."""
    loss = mechanism.privacy_loss(**arguments)
    eps = np.linspace(-3, 8, 500)
    delta = loss.privacy_profile(eps)
    assert (np.diff(delta) <= 1e-15).all()
    x = np.exp(eps)
    chord = delta[:-2] + (delta[2:] - delta[:-2]) * (x[1:-1] - x[:-2]) / (x[2:] - x[:-2])
    assert (delta[1:-1] <= chord + 1e-12).all()
    missed = loss.tradeoff(np.linspace(0, 1, 300))
    assert (np.diff(missed) <= 1e-15).all()
    # For an asymmetric mechanism, the smaller of both directions' convex curves need not be convex.
    if mechanism.support()[0] == -mechanism.support()[1]:
        assert (np.diff(missed, 2) >= -1e-12).all()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: sn.DiscreteGaussian(1).privacy_loss(sensitivity=0), "sensitivity must be an integer from 1 to 2**62, got 0"),
        (lambda: sn.DiscreteGaussian(1).rdp(2, 1.5), "sensitivity must be an integer, got 1.5"),
        (lambda: sn.GeneralizedDiscreteLaplace(1, 1).compose(2, -1), "sensitivity must be an integer from 1 to 2**20, got -1"),
        (lambda: sn.Arete.from_eps(8, 1).tradeoff(0.1, math.nan), "sensitivity must be finite and greater than 0, got nan"),
        (lambda: sn.MultiScaleDiscreteLaplace(0.01, 1000).privacy_loss(), "sensitivity must be small enough to list"),
        (lambda: sn.Laplace(1).compose(2**15), "k must leave at most 16384 releases for losses like these, got 32768"),
        (
            lambda: sn.DiscreteGaussian(0.001).compose(2),
            "eps, or the largest loss at this sensitivity, must be at most 512 to compose",
        ),
    ],
)
def test_refused(call, text):
    with pytest.raises(sn.StairnoiseError) as caught:
        call()
    assert str(caught.value).startswith(text)


# ---------------------------------------------------------------- reference values

FILE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "values.json"


def reference(group, quantity):
    if not FILE.is_file():
        return []
    values = json.loads(FILE.read_text(encoding="utf-8"))["values"]
    return [entry for entry in values if (entry["group"], entry["quantity"]) == (group, quantity)]


def numbers(text):
    return [float(Fraction(part)) for part in str(text).split()]


def merged_laplace(params):
    return sn.MergedLaplace([1 / scale for scale in numbers(params["scales"])], numbers(params["breaks"]))


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
def test_there_are_reference_values():
    found = (reference("gdl", "exact_eps"), reference("ml", "pure_eps_at_D=1"), reference("ml", "abs_quantile_0.9"))
    assert list(map(len, found)) == [7, 3, 3]


@pytest.mark.parametrize("entry", reference("gdl", "exact_eps"), ids=lambda entry: entry["id"])
def test_largest_loss_of_the_generalized_mechanism(entry):
    """The largest loss, from the list of outcomes, against the reference's scan of all shifts."""
    params, expected = entry["params"], float(entry["value"])
    (beta,), (a,), D = numbers(params["beta"]), numbers(params["a"]), params["D"]
    loss = sn.GeneralizedDiscreteLaplace(beta, a).privacy_loss(sensitivity=D)
    assert loss.eps == pytest.approx(expected, rel=1e-11)
    # δ is 0 there, and positive just below.
    assert loss.privacy_profile(expected * (1 + 1e-9)) < 1e-15
    assert loss.privacy_profile(expected * 0.99) > 0


@pytest.mark.parametrize("entry", reference("ml", "pure_eps_at_D=1"), ids=lambda entry: entry["id"])
def test_largest_loss_of_merged_noise(entry):
    loss = merged_laplace(entry["params"]).privacy_loss()
    assert loss.eps == pytest.approx(float(entry["value"]), rel=1e-9)
    assert loss.rdp(1e9) == pytest.approx(float(entry["value"]), rel=1e-6)


@pytest.mark.parametrize("entry", reference("ml", "abs_quantile_0.9"), ids=lambda entry: entry["id"])
def test_interval_of_merged_noise(entry):
    assert merged_laplace(entry["params"]).confidence_interval(0.0, 0.9)[1] == pytest.approx(float(entry["value"]), rel=1e-8)
