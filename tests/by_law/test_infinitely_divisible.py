"""The infinitely divisible laws: theory, shares, exact eps, and what the classes accept.

Evidence: mpmath's hypergeometric function and plain sums in 40 digits, brute force over shifts and parameters;
chi-square tests of the sampler. Statistical checks: at most one false alarm in a million each when the seeds change,
none while they stay.
"""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise._theory.laws import infinitely_divisible as theory
from stairnoise._theory.laws.infinitely_divisible import Term
from tests.statistical import checks

ALPHA = 1e-6
LAWS = [
    sn.GeneralizedDiscreteLaplace(0.3, 0.7),
    sn.GeneralizedDiscreteLaplace(0.3, 0.7, 10),
    sn.MultiScaleDiscreteLaplace(2.0, 3),
    sn.MultiScaleDiscreteLaplace(2.0, 3, 10, 4),
    sn.Arete(0.5, 1.0, 0.25),
    sn.Arete(0.5, 1.0, 0.25, 10),
]
IDS = [repr(law) for law in LAWS]
each_law = pytest.mark.parametrize("law", LAWS, ids=IDS)


def points(law, k):
    return np.asarray(k) * law.granularity


def probabilities(law, k):
    """P(X = k·g)."""
    x = points(law, k)
    return law.pdf(x) * law.granularity if isinstance(law, sn.Arete) else law.pmf(x)


# Theory


def hypergeometric(beta, a, k):
    """P(k) of the generalized discrete Laplace law in 40 digits."""
    with mp.workdps(40):
        b, x = mp.mpf(beta), mp.exp(-mp.mpf(a))
        return x**k * (1 - x) ** (2 * b) * mp.rf(b, k) / mp.factorial(k) * mp.hyp2f1(b, b + k, 1 + k, x * x)


@pytest.mark.parametrize(
    ("beta", "a"), [(0.3, 0.7), (0.05, 0.25), (1.0, 0.5), (2.5, 1.25), (1e-6, 0.1), (7.0, 2.0), (0.9, 30.0), (0.01, 0.004)]
)
def test_probabilities_of_one_term(beta, a):
    law = sn.GeneralizedDiscreteLaplace(beta, a)
    for k in (0, 1, 2, 7, int(20 / a), int(250 / a), int(640 / a)):
        exact = hypergeometric(beta, a, k)
        assert float(law.pmf(k) / exact - 1) == pytest.approx(0, abs=1e-12)
        assert law.pmf(-k) == law.pmf(k)
        assert law.logpmf(k) == pytest.approx(float(mp.log(exact)), rel=1e-14, abs=1e-13)


def test_one_is_the_discrete_laplace_law():
    law, same = sn.GeneralizedDiscreteLaplace(1.0, 0.01), sn.DiscreteLaplace(0.01)
    k = np.array([-60000, -3000, -1, 0, 1, 17, 1000, 50000])
    for name in ("pmf", "cdf", "sf", "logsf"):
        assert getattr(law, name)(k) == pytest.approx(getattr(same, name)(k), rel=1e-12)
    assert (law.var(), law.abs_moment(1), law.entropy()) == pytest.approx(
        (same.var(), same.abs_moment(1), same.entropy()), rel=1e-11
    )
    assert law.error_bound(1e-9) == same.error_bound(1e-9)


def convolution(terms, k):
    """P(X = k) in 40 digits, summed from the definition; for terms that fall fast."""
    with mp.workdps(40):
        law = {0: mp.mpf(1)}
        for m, shape, rate in terms:
            reach = int(95 / rate) + 2
            single = [hypergeometric(shape, rate, j) for j in range(reach)]
            new: dict = {}
            for x, p in law.items():
                for j in range(1 - reach, reach):
                    new[x + m * j] = new.get(x + m * j, 0) + p * single[abs(j)]
            law = new
        return [law[j] for j in k]


@pytest.mark.parametrize(
    ("terms", "k", "tolerance"),
    [
        ([Term(1, 1.0, 2.0), Term(2, 1.0, 2.0), Term(3, 1.0, 2.0)], (0, 1, 2, 4, 30, 50), 1e-13),
        ([Term(1, 0.2, 1.5), Term(1, 1.0, 4.0)], (0, 1, 2, 9, 20), 1e-13),
        ([Term(1, 0.2, 4.0), Term(1, 1.0, 1.5)], (0, 1, 2, 9, 20), 1e-13),
        ([Term(1, 0.1, 2.0), Term(2, 0.1, 2.0), Term(3, 0.1, 2.0)], (0, 1, 2, 4, 20), 1e-13),
        ([Term(1, 0.02, 1.5), Term(1, 0.1, 4.0)], (0, 1, 2, 9, 20), 1e-13),
        ([Term(1, 0.1, 2.0), Term(2, 0.1, 2.0), Term(3, 0.1, 2.0)], (45, 60), 1e-11),
    ],
)
def test_probabilities_of_several_terms(terms, k, tolerance):
    listed = theory.log_pmf(terms)
    for j, exact in zip(k, convolution(terms, k), strict=True):
        assert float(mp.exp(mp.mpf(float(listed[j]))) / exact - 1) == pytest.approx(0, abs=tolerance), j


@pytest.mark.parametrize(("shape", "rate"), [(0.3, 0.5), (0.01, 0.5), (0.3, 2.0**-6), (0.01, 2.0**-6)])
def test_the_transform_of_two_terms_of_one_rate(shape, rate):
    """Shapes add, and one term has an accurate way of its own."""
    listed = theory.log_pmf([Term(1, 0.3 * shape, rate), Term(1, 0.7 * shape, rate)])
    error = np.abs(listed - theory.single(shape, rate, listed.size))
    assert listed[-1] < -199
    assert error[listed > -50].max() < 1e-9
    assert error.max() < 1e-6


@pytest.mark.parametrize("rates", [(0.25, 0.75), (0.75, 0.25), (0.5, 0.5)])
def test_the_end_of_the_list(rates):
    """A fractional term and a geometric one, summed over all that matters at that place."""
    terms = [Term(1, 0.2, rates[0]), Term(1, 1.0, rates[1])]
    listed = theory.log_pmf(terms)
    slow, fast = sorted(terms, key=lambda term: term.rate)
    for k in (listed.size // 3, listed.size - 1):
        with mp.workdps(40):
            exact = mp.mpf(0)
            # Of the slow term around k and, where both fall alike, of every split.
            for j in range(-60, k + 61) if rates[0] == rates[1] else range(k - 250, k + 251):
                exact += hypergeometric(slow.shape, slow.rate, abs(j)) * hypergeometric(fast.shape, fast.rate, abs(k - j))
            assert float(mp.mpf(float(listed[k])) - mp.log(exact)) == pytest.approx(0, abs=1e-12)


@each_law
def test_the_list_has_everything(law):
    k = np.arange(0, 200_000)
    p = probabilities(law, k)
    assert math.fsum(p) * 2 - p[0] == pytest.approx(1, abs=1e-12)
    assert 2 * math.fsum(p * points(law, k) ** 2.0) == pytest.approx(law.var(), rel=1e-11)
    assert law.mean() == 0
    assert law.median() == 0
    assert law.cdf(points(law, 5)) + law.sf(points(law, 5)) == pytest.approx(1, rel=1e-15)
    assert law.ppf(law.cdf(points(law, 3))) == points(law, 3)
    assert law.support() == (-math.inf, math.inf)
    bound = law.error_bound(1e-3)
    assert law.sf(bound) + law.cdf(-bound - law.granularity) <= 1e-3 < 2 * law.sf(bound - law.granularity)


@pytest.mark.parametrize("eps", [1.0, 5.0, 20.0])
@pytest.mark.parametrize("D", [1, 3, 10])
def test_variance_of_the_multi_scale_law(eps, D):
    expected = D * (D + 1) * (2 * D + 1) / 6 / (math.cosh(eps) - 1)
    assert sn.MultiScaleDiscreteLaplace(eps, D).var() == pytest.approx(expected, rel=1e-13)
    if eps == 20:
        assert sn.DiscreteStaircase(eps, D, 1).var() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("alpha", "theta", "lam"), [(0.5, 1.0, 0.25), (0.25, 0.7, 0.1), (0.05, 1 / 3, 0.05), (0.3, 0.1, 2.0)])
def test_variance_of_arete_is_that_of_the_density_but_for_the_lattice(alpha, theta, lam):
    law = sn.Arete(alpha, theta, lam)
    g, continuous = law.granularity, 2 * alpha * theta**2 + 2 * lam**2
    loss = (2 * alpha + 2) * g**2 / 12
    assert continuous - law.var() == pytest.approx(loss, rel=1e-2)
    assert 2**10 <= max(theta, lam) / g < 2**11
    assert law.entropy() == pytest.approx(
        -math.fsum(p * math.log(p / g) for p in probabilities(law, np.arange(-90_000, 90_000)) if p > 0)
    )


# Shares


@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("law", LAWS[::2], ids=IDS[::2])
def test_shares_add_up_to_the_whole(law, n):
    """The n-fold convolution of a share's probabilities is the whole's; far beyond the list both are below 1e-20."""
    reach = 60 if law.granularity == 1 else 2**16
    k = np.arange(-reach, reach)
    size = 1 << (2 * n * reach).bit_length()
    share = probabilities(law.share(n), k)
    total = np.fft.irfft(np.fft.rfft(np.roll(np.pad(share, (0, size - share.size)), -reach)) ** n, size)
    assert total[:50] == pytest.approx(probabilities(law, np.arange(50)), abs=1e-12)
    assert law.share(n).var() * n == pytest.approx(law.var(), rel=1e-14)


@each_law
def test_shares_of_shares(law):
    part = law.share(6, 4).share(5)
    assert (part.n_parties, part.present) == (law.n_parties * 30, law.present * 4)
    assert part == law.share(30, 4)
    assert part.var() == pytest.approx(law.var() * 4 / 30, rel=1e-14)
    assert law.share(1) == law


@pytest.mark.parametrize("law", LAWS[::2], ids=IDS[::2])
def test_draws_of_shares_add_up(law):
    """Chi-square of 400 000 sums of five shares against the whole, with the probability at zero, seeds fixed."""
    total = sum(law.share(5).sample(400_000, rng=rng) for rng in sn.SeededRng(71).spawn(5))
    check_draws(total, law)


@each_law
def test_draws(law):
    """Chi-square of a million draws, seeds fixed."""
    check_draws(law.sample(1_000_000, rng=sn.SeededRng(72)), law)


def check_draws(noise, law):
    cells = noise / law.granularity
    assert np.array_equal(cells, np.round(cells))
    reach = int(law.error_bound(1e-4) / law.granularity) + 1
    cells = np.clip(cells, -reach, reach).astype(np.int64)
    expected = probabilities(law, np.arange(-reach, reach + 1))
    expected[[0, -1]] = law.sf(points(law, reach - 1))
    counts = np.bincount(cells + reach, minlength=expected.size)
    checks.check_distribution(counts, expected, ALPHA)
    checks.check_symmetry(counts, ALPHA)
    checks.check_share(int(counts[reach]), noise.size, expected[reach], ALPHA)


# Privacy


def largest_loss(law, most, reach):
    """Over every shift up to `most` and every point up to `reach`, both in steps of the lattice."""
    k = np.arange(-reach, reach + 1)
    log_p = np.log(probabilities(law, k))
    return max(float(np.max(np.abs(log_p[shift:] - log_p[:-shift]))) for shift in range(1, most + 1))


@pytest.mark.parametrize(("beta", "a"), [(0.3, 0.7), (0.05, 0.25), (1.0, 0.5), (0.9, 3.0)])
@pytest.mark.parametrize("D", [1, 2, 4, 9])
def test_exact_eps_of_the_generalized_law(beta, a, D):
    law = sn.GeneralizedDiscreteLaplace(beta, a)
    assert law.privacy_eps(D) == pytest.approx(largest_loss(law, D, 150), rel=1e-12)


def test_exact_eps_of_shapes_above_one_is_approached_in_the_tail():
    law = sn.GeneralizedDiscreteLaplace(2.5, 0.5)
    assert law.privacy_eps(3) == 1.5
    assert largest_loss(law, 3, 100) < largest_loss(law, 3, 1000) < 1.5
    assert largest_loss(law, 3, 1000) == pytest.approx(1.5, rel=5e-3)


@pytest.mark.parametrize(("eps", "D"), [(2.0, 3), (1.0, 4), (5.0, 2)])
def test_exact_eps_of_the_multi_scale_law(eps, D):
    law = sn.MultiScaleDiscreteLaplace(eps, D)
    assert law.privacy_eps() == pytest.approx(eps, rel=1e-15)
    assert largest_loss(law, D, int(100 * D / eps)) == pytest.approx(eps, rel=1e-11)
    assert law.privacy_eps(2 * D) == pytest.approx(largest_loss(law, 2 * D, int(100 * D / eps)), rel=1e-11)
    for shift in range(1, 2 * D + 2):
        assert law.privacy_eps(shift) == pytest.approx(eps * math.ceil(shift / D), rel=1e-14)
        assert largest_loss(law, shift, int(40 * D / eps)) < law.privacy_eps(shift) * (1 + 1e-11)
    rest = law.share(10, 8)
    assert largest_loss(rest, D, int(20 * D / eps)) < rest.privacy_eps() < eps + 1


@pytest.mark.parametrize(
    ("alpha", "theta", "lam", "change"),
    [
        (math.exp(-0.25), 4.0, math.exp(-0.25), 1.0),
        (math.exp(-1), 1.0, math.exp(-1), 1.0),  # largest near x = 0.3
        (math.exp(-3), 1 / 3, math.exp(-3), 1.0),  # largest at 0
        (0.3, 0.5, 2.0, 0.1),
        (2.0, 1.0, 0.5, 0.1),
        (0.5, 1.0, 1.0, 0.1),
    ],
)
def test_exact_eps_of_arete(alpha, theta, lam, change):
    law = sn.Arete(alpha, theta, lam)
    found, cells = law.privacy_eps(change), math.ceil(change / law.granularity)
    k = np.arange(0, int(60 / min(1 / theta, 1 / lam) / law.granularity))
    loss = law.logpdf(points(law, k)) - law.logpdf(points(law, k + cells))
    if lam < theta and alpha < 1:
        assert found == pytest.approx(float(loss.max()), rel=1e-12)
    else:
        tail = cells * law.granularity / max(theta, lam) if alpha + (lam == theta) >= 1 or lam > theta else None
        assert tail is not None
        assert found == pytest.approx(tail, rel=1e-13)
        assert loss.max() < found * (1 + 1e-12)
        assert loss.max() > 0.9 * found


@pytest.mark.parametrize(("eps", "expected"), [(12, 8.030), (16, 11.180), (20, 14.250), (24, 17.282)])
def test_arete_of_the_paper_is_conservative(eps, expected):
    assert sn.Arete.from_eps(eps).privacy_eps(1.0) == pytest.approx(expected, abs=1e-3)
    assert sn.Arete.from_eps(eps, 3.0).privacy_eps(3.0) == pytest.approx(expected, abs=2e-2)


def test_where_arete_loses_most():
    """At the mode for eps = 12 and 20, beside it for eps = 4."""
    for eps, at_mode in ((4, False), (12, True), (20, True)):
        law = sn.Arete.from_eps(eps)
        mode = law.logpdf(0.0) - law.logpdf(1.0)
        assert (law.privacy_eps(1.0) <= mode * (1 + 1e-12)) == at_mode


def test_missing_shares_cost_eps():
    """The tighter β of the rest loses more, and what is promised is what brute force finds."""
    for law, D in ((sn.GeneralizedDiscreteLaplace.from_eps(8, 10), 10), (sn.MultiScaleDiscreteLaplace(2, 3), 3)):
        rest = [law.share(100, present).privacy_eps(D) for present in (100, 90, 50, 1)]
        assert sorted(rest) == rest
        assert len(set(rest)) == 4
    law = sn.Arete(0.2, 1.0, 0.25)
    part = law.share(4, 3)
    assert part.privacy_eps(0.5) > law.privacy_eps(0.5)
    cells, k = math.ceil(0.5 / law.granularity), np.arange(20_000)
    loss = part.logpdf(points(part, k)) - part.logpdf(points(part, k + cells))
    assert part.privacy_eps(0.5) == pytest.approx(float(loss.max()), rel=1e-6)


# The best parameters


@pytest.mark.parametrize(
    ("eps", "D", "beta", "a", "variance"),
    [(5, 3, 0.22283, 0.90987, 0.50267), (8, 10, 0.02711, 0.21892, 1.12664), (5, 10, 1.0, 0.5, 7.8354), (16, 1, None, None, None)],
)
def test_from_eps(eps, D, beta, a, variance):
    law = sn.GeneralizedDiscreteLaplace.from_eps(eps, D)
    assert law.privacy_eps(D) <= eps
    assert law.privacy_eps(D) == pytest.approx(eps, rel=1e-9)
    if beta is not None:
        assert (law.beta, law.a, law.var()) == pytest.approx((beta, a, variance), rel=2e-4)
    for rate in np.geomspace(0.3 / D, eps / D, 40)[:-1].tolist():
        assert sn.GeneralizedDiscreteLaplace.from_eps(eps, D, a=rate).var() >= law.var() * (1 - 1e-9)
    assert sn.DiscreteLaplace(eps, D).var() >= law.var() * (1 - 1e-9)


@pytest.mark.parametrize(
    ("eps", "D", "a"), [(5.0, 3, 0.9), (8.0, 10, 0.2), (6.0, 1, 2.0), (1.0, 7, 0.1), (30.0, 2, 1.0), (3.0, 3, 1.0)]
)
def test_least_shape(eps, D, a):
    law = sn.GeneralizedDiscreteLaplace.from_eps(eps, D, a)
    assert eps * (1 - 1e-9) < law.privacy_eps(D) <= eps
    less = sn.GeneralizedDiscreteLaplace(law.beta * (1 - 1e-9), a)
    assert less.privacy_eps(D) > eps


def test_the_parameters_of_the_paper_are_private_and_cost_more():
    """β = Δ e^(2-ε), a = 2/Δ for ε > 2 + ln Δ."""
    for eps, D in ((4.0, 3), (8.0, 10), (10.0, 100)):
        law = sn.GeneralizedDiscreteLaplace(D * math.exp(2 - eps), 2 / D)
        assert law.privacy_eps(D) < eps
        assert law.var() > sn.GeneralizedDiscreteLaplace.from_eps(eps, D).var()


# The classes


@each_law
def test_values_are_on_the_lattice(law):
    assert law.exactness == "lattice"
    assert law.sample(3, rng=sn.SeededRng(9)).dtype == (np.float64 if isinstance(law, sn.Arete) else np.int64)


def test_release_of_partitions():
    law, values = sn.MultiScaleDiscreteLaplace(3.0, 2, 4), np.arange(1000)
    noisy = law.release(values, max_partitions_contributed=3, rng=sn.SeededRng(1, allow_release=True))
    one = sn.MultiScaleDiscreteLaplace(1.0, 2, 4).sample(1000, rng=sn.SeededRng(1))
    assert np.array_equal(noisy - values, one)
    for other in (sn.GeneralizedDiscreteLaplace(0.3, 0.7), sn.Arete(0.5, 1.0, 0.25)):
        with pytest.raises(
            sn.ParameterError, match=r"^max_partitions_contributed must be 1 for a law given by .*, got 3: make it"
        ):
            other.release(values, max_partitions_contributed=3)
    assert sn.Arete(0.5, 1.0, 0.25, 3).release(0.3) % sn.Arete(0.5, 1.0, 0.25).granularity == 0


NAN = math.nan


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: sn.GeneralizedDiscreteLaplace(NAN, 1.0), "beta must be finite and greater than 0, got nan"),
        (lambda: sn.GeneralizedDiscreteLaplace(0.0, 1.0), "beta must be finite and greater than 0, got 0.0"),
        (lambda: sn.GeneralizedDiscreteLaplace(-0.0, 1.0), "beta must be finite and greater than 0, got -0.0"),
        (lambda: sn.GeneralizedDiscreteLaplace(math.inf, 1.0), "beta must be finite and greater than 0, got inf"),
        (lambda: sn.GeneralizedDiscreteLaplace(1e-12, 1.0, 2), "beta must be at least 2**-40 for each party, got 1e-12"),
        (lambda: sn.GeneralizedDiscreteLaplace(50.0, 0.1), "beta must be such that"),
        (lambda: sn.GeneralizedDiscreteLaplace([0.1, 0.2], 1.0), "beta must be a single number"),
        (lambda: sn.GeneralizedDiscreteLaplace(1.0, NAN), "a must be from 2**-11 to 2**10, got nan"),
        (lambda: sn.GeneralizedDiscreteLaplace(1.0, 4e-4), "a must be from 2**-11 to 2**10, got 0.0004"),
        (lambda: sn.GeneralizedDiscreteLaplace(1.0, 1025), "a must be from 2**-11 to 2**10, got 1025.0"),
        (lambda: sn.GeneralizedDiscreteLaplace(1.0, 1.0, 0), "n_parties must be an integer from 1 to 2**32 - 1, got 0"),
        (lambda: sn.GeneralizedDiscreteLaplace(1.0, 1.0, 3, 4), "present must be an integer from 1 to"),
        (lambda: LAWS[0].share(2**32), "n_parties must be an integer from 1 to 2**32 - 1, got 4294967296"),
        (lambda: LAWS[1].share(2**31), "n_parties must be an integer from 1 to 2**32 - 1, got 21474836480"),
        (lambda: LAWS[0].privacy_eps(0), "sensitivity must be an integer from 1 to 2**20, got 0"),
        (lambda: sn.GeneralizedDiscreteLaplace.from_eps(NAN), "eps must be from 2**-11 to 2**10 times the sensitivity, got nan"),
        (
            lambda: sn.GeneralizedDiscreteLaplace.from_eps(1.0, 4096),
            "eps must be from 2**-11 to 2**10 times the sensitivity, got 1.0",
        ),
        (
            lambda: sn.GeneralizedDiscreteLaplace.from_eps(2000.0),
            "eps must be from 2**-11 to 2**10 times the sensitivity, got 2000.0",
        ),
        (lambda: sn.GeneralizedDiscreteLaplace.from_eps(1.0, 2, 0.6), "a must be from 2**-11 to eps/sensitivity, got 0.6"),
        (lambda: sn.MultiScaleDiscreteLaplace(NAN), "eps must be finite and greater than 0, got nan"),
        (lambda: sn.MultiScaleDiscreteLaplace(1e-4), "eps must be from 2**-11 to 2**10, got 0.0001"),
        (lambda: sn.MultiScaleDiscreteLaplace(1.0, 1.5), "sensitivity must be a whole number for a discrete law, got 1.5"),
        (lambda: sn.MultiScaleDiscreteLaplace(1.0, 2**17), "sensitivity must be at most 2**16, got 131072.0"),
        (lambda: sn.MultiScaleDiscreteLaplace(1.0, 0), "sensitivity must be finite and greater than 0, got 0.0"),
        (lambda: LAWS[2].privacy_eps(0), "sensitivity must be an integer from 1"),
        (lambda: sn.Arete(0.0, 1.0, 1.0), "alpha must be finite and greater than 0, got 0.0"),
        (lambda: sn.Arete(1.0, NAN, 1.0), "theta must be finite and greater than 0, got nan"),
        (lambda: sn.Arete(1.0, 1.0, math.inf), "lam must be finite and greater than 0, got inf"),
        (lambda: sn.Arete(1.0, 1.0, 2.0**-13), "lam must be within a factor of 2**12 of theta, got 0.0001220703125"),
        (lambda: sn.Arete(1.0, 1e-308, 1e-308), "lam must be such that the lattice step is from 2**-1022 to 2**960"),
        (lambda: sn.Arete.from_eps(NAN), "eps must be finite and greater than 0, got nan"),
        (lambda: sn.Arete.from_eps(1.0, 0.0), "sensitivity must be finite and greater than 0, got 0.0"),
        (lambda: LAWS[4].privacy_eps(NAN), "sensitivity must be finite and greater than 0, got nan"),
        (lambda: LAWS[4].privacy_eps(1000.0), "sensitivity must be at most 50 times the larger scale, 1.0, got 1000.0"),
    ],
)
def test_refuses(make, text):
    with pytest.raises(sn.ParameterError) as caught:
        make()
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    "make", [lambda: sn.GeneralizedDiscreteLaplace("1", 1.0), lambda: LAWS[0].share(2.0), lambda: LAWS[0].privacy_eps(1.0)]
)
def test_refuses_types(make):
    with pytest.raises(sn.ParameterTypeError):
        make()


@pytest.mark.parametrize(("shape", "rate", "shift"), [(0.5, 1.0, 4096), (1e-9, 1.0, 800), (0.999, 700.0, 3), (0.25, 0.01, 10**5)])
def test_pure_eps_beyond_the_smallest_float(shape, rate, shift):
    """Against the definition ln P(0)/P(Δ) at 30 digits, where P(Δ) is below all floats."""
    with mp.workdps(30):
        b, x = mp.mpf(shape), mp.exp(-mp.mpf(rate))
        at = [mp.rf(b, k) / mp.factorial(k) * mp.hyp2f1(b, b + k, 1 + k, x * x) for k in (0, shift)]
        exact = float(mp.log(at[0] / at[1]) + shift * mp.mpf(rate))
    assert theory.pure_eps(shape, rate, shift) == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("eps", [5e-324, 1e-300, 64, 700, 1e300])
def test_arete_names_the_eps_that_has_no_lattice(eps):
    with pytest.raises(sn.ParameterError, match=r"^eps and sensitivity must give scales that one lattice holds, got "):
        sn.Arete.from_eps(eps)


def test_the_least_eps_leaves_one_rate():
    law = sn.GeneralizedDiscreteLaplace.from_eps(2.0**-11)
    assert (law.beta, law.a) == (1.0, 2.0**-11)
    assert law.privacy_eps(1) == 2.0**-11


@pytest.mark.parametrize(("eps", "a"), [(64, None), (700, None), (2000, None), (2000, 1.0)])
def test_generalized_names_the_eps_whose_shape_is_too_small(eps, a):
    """The last two would need shapes below the smallest float."""
    with pytest.raises(sn.ParameterError, match=r"^eps and sensitivity must leave a shape that a table holds, got "):
        sn.GeneralizedDiscreteLaplace.from_eps(eps, 2, a)


def test_multi_scale_names_the_partitions_that_leave_no_eps():
    with pytest.raises(
        sn.ParameterError, match=r"^max_partitions_contributed must leave an eps that the law can have, got 4096: "
    ):
        sn.MultiScaleDiscreteLaplace(1.5, 2).release(3, max_partitions_contributed=4096)
