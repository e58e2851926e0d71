"""Common properties of the infinitely divisible mechanisms: shares, draws, and refusals.

Evidence: sums over the list of probabilities, convolutions, and chi-square tests of the sampler with fixed seeds. If the seeds
change, each statistical check gives at most one false alarm in a million.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.distributions import infinitely_divisible as theory
from tests.by_mechanism.infinitely_divisible import points, probabilities
from tests.combinations import in_turn, looped, rest_long
from tests.statistical import checks

ALPHA = 1e-6
MECHANISMS = [
    sn.GeneralizedDiscreteLaplace(0.3, 0.7),
    sn.GeneralizedDiscreteLaplace(0.3, 0.7, 10),
    sn.MultiScaleDiscreteLaplace(2.0, 3),
    sn.MultiScaleDiscreteLaplace(2.0, 3, 10, 4),
    sn.Arete(0.5, 1.0, 0.25),
    sn.Arete(0.5, 1.0, 0.25, 10),
    sn.Skellam(4.0),
    sn.Skellam(4.0, 1, 10),
]
IDS = [repr(mechanism) for mechanism in MECHANISMS]
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS, ids=IDS)


@each_mechanism
def test_the_list_has_everything(mechanism):
    k = np.arange(0, 200_000)
    p = probabilities(mechanism, k)
    assert math.fsum(p) * 2 - p[0] == pytest.approx(1, abs=1e-12)
    assert 2 * math.fsum(p * points(mechanism, k) ** 2.0) == pytest.approx(mechanism.var(), rel=1e-11)
    assert mechanism.mean() == 0
    assert mechanism.median() == 0
    assert mechanism.cdf(points(mechanism, 5)) + mechanism.sf(points(mechanism, 5)) == pytest.approx(1, rel=1e-15)
    assert mechanism.ppf(mechanism.cdf(points(mechanism, 3))) == points(mechanism, 3)
    assert mechanism.support() == (-math.inf, math.inf)
    bound = mechanism.error_bound(0.999)
    assert (
        mechanism.sf(bound) + mechanism.cdf(-bound - mechanism.granularity)
        <= 1e-3
        < 2 * mechanism.sf(bound - mechanism.granularity)
    )


@pytest.mark.parametrize(
    ("mechanism", "n"), rest_long(in_turn(MECHANISMS[::2], [2, 3, 10]), product(MECHANISMS[::2], [2, 3, 10])), ids=repr
)
def test_shares_add_up_to_the_whole(mechanism, n):
    """The n-fold convolution of a share's probabilities is the whole's; far beyond the list both are below 1e-20."""
    reach = 60 if mechanism.granularity == 1 else 2**16
    k = np.arange(-reach, reach)
    size = 1 << (2 * n * reach).bit_length()
    share = probabilities(mechanism.share(n), k)
    total = np.fft.irfft(np.fft.rfft(np.roll(np.pad(share, (0, size - share.size)), -reach)) ** n, size)
    assert total[:50] == pytest.approx(probabilities(mechanism, np.arange(50)), abs=1e-12)
    assert mechanism.share(n).var() * n == pytest.approx(mechanism.var(), rel=1e-14)


@each_mechanism
def test_shares_of_shares(mechanism):
    part = mechanism.share(6, 4).share(5)
    assert (part.n_parties, part.present) == (mechanism.n_parties * 30, mechanism.present * 4)
    assert part == mechanism.share(30, 4)
    assert part.var() == pytest.approx(mechanism.var() * 4 / 30, rel=1e-14)
    assert mechanism.share(1) == mechanism


@pytest.mark.parametrize("mechanism", MECHANISMS[::2], ids=IDS[::2])
def test_draws_of_shares_add_up(mechanism):
    """Chi-square of 400 000 sums of five shares against the whole, with the probability at zero, seeds fixed."""
    total = sum(mechanism.share(5).sample(400_000, rng=rng) for rng in sn.SeededRng(71).spawn(5))
    check_draws(total, mechanism)


@each_mechanism
def test_draws(mechanism):
    """Chi-square of a million draws, seeds fixed."""
    check_draws(mechanism.sample(1_000_000, rng=sn.SeededRng(72)), mechanism)


def check_draws(noise, mechanism):
    steps = noise / mechanism.granularity
    assert np.array_equal(steps, np.round(steps))
    reach = int(mechanism.error_bound(0.9999) / mechanism.granularity) + 1
    steps = np.clip(steps, -reach, reach).astype(np.int64)
    expected = probabilities(mechanism, np.arange(-reach, reach + 1))
    expected[[0, -1]] = mechanism.sf(points(mechanism, reach - 1))
    counts = np.bincount(steps + reach, minlength=expected.size)
    checks.check_distribution(counts, expected, ALPHA)
    checks.check_symmetry(counts, ALPHA)
    checks.check_share(int(counts[reach]), noise.size, expected[reach], ALPHA)


@pytest.mark.slow
def test_missing_shares_cost_eps():
    """The remaining shares have a smaller β and lose more; brute force finds the stated ε."""
    for mechanism, D in ((sn.GeneralizedDiscreteLaplace.from_eps(8, 10), 10), (sn.MultiScaleDiscreteLaplace(2, 3), 3)):
        rest = [mechanism.share(100, present).privacy_eps(D) for present in (100, 90, 50, 1)]
        assert sorted(rest) == rest
        assert len(set(rest)) == 4
    mechanism = sn.Arete(0.2, 1.0, 0.25)
    part = mechanism.share(4, 3)
    assert part.privacy_eps(0.5) > mechanism.privacy_eps(0.5)
    steps, k = math.ceil(0.5 / mechanism.granularity), np.arange(20_000)
    loss = part.logpdf(points(part, k)) - part.logpdf(points(part, k + steps))
    assert part.privacy_eps(0.5) == pytest.approx(float(loss.max()), rel=1e-6)


@each_mechanism
def test_values_are_on_the_lattice(mechanism):
    assert mechanism.exactness == "lattice"
    assert mechanism.sample(3, rng=sn.SeededRng(9)).dtype == (np.float64 if isinstance(mechanism, sn.Arete) else np.int64)


def test_release_of_partitions():
    mechanism, values = sn.MultiScaleDiscreteLaplace(3.0, 2, 4), np.arange(1000)
    noisy = mechanism.release(values, max_partitions_contributed=3, rng=sn.SeededRng(1, allow_release=True))
    one = sn.MultiScaleDiscreteLaplace(1.0, 2, 4).sample(1000, rng=sn.SeededRng(1))
    assert np.array_equal(noisy - values, one)
    for other in (sn.GeneralizedDiscreteLaplace(0.3, 0.7), sn.Arete(0.5, 1.0, 0.25)):
        with pytest.raises(
            sn.ParameterError, match=r"^max_partitions_contributed must be 1 for a mechanism given by .*, got 3: make it"
        ):
            other.release(values, max_partitions_contributed=3)
    assert sn.Arete(0.5, 1.0, 0.25, 3).release(0.3) % sn.Arete(0.5, 1.0, 0.25).granularity == 0


NAN = math.nan


@looped(
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
        (lambda: MECHANISMS[0].share(2**32), "n_parties must be an integer from 1 to 2**32 - 1, got 4294967296"),
        (lambda: MECHANISMS[1].share(2**31), "n_parties must be an integer from 1 to 2**32 - 1, got 21474836480"),
        (lambda: MECHANISMS[0].privacy_eps(0), "sensitivity must be an integer from 1 to 2**20, got 0"),
        (
            lambda: sn.GeneralizedDiscreteLaplace.from_eps(NAN, 1),
            "eps must be from 2**-11 to 2**10 times the sensitivity, got nan",
        ),
        (
            lambda: sn.GeneralizedDiscreteLaplace.from_eps(1.0, 4096),
            "eps must be from 2**-11 to 2**10 times the sensitivity, got 1.0",
        ),
        (
            lambda: sn.GeneralizedDiscreteLaplace.from_eps(2000.0, 1),
            "eps must be from 2**-11 to 2**10 times the sensitivity, got 2000.0",
        ),
        (lambda: sn.GeneralizedDiscreteLaplace.from_eps(1.0, 2, 0.6), "a must be from 2**-11 to eps/sensitivity, got 0.6"),
        (lambda: sn.MultiScaleDiscreteLaplace(NAN), "eps must be finite and greater than 0, got nan"),
        (lambda: sn.MultiScaleDiscreteLaplace(1e-4), "eps must be from 2**-11 to 2**10, got 0.0001"),
        (lambda: sn.MultiScaleDiscreteLaplace(1.0, 1.5), "sensitivity must be a whole number for a discrete mechanism, got 1.5"),
        (lambda: sn.MultiScaleDiscreteLaplace(1.0, 2**17), "sensitivity must be at most 2**16, got 131072.0"),
        (lambda: sn.MultiScaleDiscreteLaplace(1.0, 0), "sensitivity must be finite and greater than 0, got 0.0"),
        (lambda: MECHANISMS[2].privacy_eps(0), "sensitivity must be an integer from 1"),
        (lambda: sn.Arete(0.0, 1.0, 1.0), "alpha must be finite and greater than 0, got 0.0"),
        (lambda: sn.Arete(1.0, NAN, 1.0), "theta must be finite and greater than 0, got nan"),
        (lambda: sn.Arete(1.0, 1.0, math.inf), "lam must be finite and greater than 0, got inf"),
        (lambda: sn.Arete(1.0, 1.0, 2.0**-13), "lam must be within a factor of 2**12 of theta, got 0.0001220703125"),
        (lambda: sn.Arete(1.0, 1e-308, 1e-308), "lam must be such that the lattice step is from 2**-1022 to 2**960"),
        (lambda: sn.Arete.from_eps(NAN, 1), "eps must be finite and greater than 0, got nan"),
        (lambda: sn.Arete.from_eps(1.0, 0.0), "sensitivity must be finite and greater than 0, got 0.0"),
        (lambda: MECHANISMS[4].privacy_eps(NAN), "sensitivity must be finite and greater than 0, got nan"),
        (lambda: MECHANISMS[4].privacy_eps(1000.0), "sensitivity must be at most 50 times the larger scale, 1.0, got 1000.0"),
    ],
)
def test_refuses(make, text):
    with pytest.raises(sn.ParameterError) as caught:
        make()
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize(
    "make",
    [lambda: sn.GeneralizedDiscreteLaplace("1", 1.0), lambda: MECHANISMS[0].share(2.0), lambda: MECHANISMS[0].privacy_eps(1.0)],
)
def test_refuses_types(make):
    with pytest.raises(sn.ParameterTypeError):
        make()


@pytest.mark.parametrize(("shape", "rate"), [(0.77, 1 / 1024), (1e-9, 0.002), (0.99999, 0.001), (0.3, 0.05)])
def test_long_lists_are_those_of_the_recurrence(shape, rate):
    """Lists agree ratio by ratio, except near their ends, where both are inaccurate."""
    size = 10_000 + math.ceil(21 / rate)
    one_by_one, first = theory._short_list(shape, rate, size)
    in_blocks, again = theory._long_list(shape, rate, size)
    assert in_blocks.shape == (size,)
    assert in_blocks[:10_000] == pytest.approx(one_by_one[:10_000], rel=1e-13, abs=0)
    assert again == pytest.approx(first, rel=1e-14, abs=0)
