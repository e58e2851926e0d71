"""PartitionSelection by named strategies, from `sigma`, and with a `pre_threshold`.

Evidence: the definition of (ε, δ), summed over all outcomes of all neighbouring tables of small counts, with probabilities
of noise that are computed here; and the values of the mechanisms whose noise the contract defines.
"""

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.mechanisms.partition_selection.rules import share
from tests.by_mechanism.test_partition_selection_of_several import hockey_stick
from tests.by_mechanism.test_partition_selection_of_several import noise as gaussian
from tests.combinations import looped
from tests.statistical.checks import check_share

NAMES = ("truncated_geometric", "laplace", "gaussian", "best")
named = pytest.mark.parametrize("strategy", NAMES)
HIDDEN = None


def geometric(eps):
    reach = math.ceil(45 / eps) + 2
    return {z: math.exp(-eps * abs(z)) * math.tanh(eps / 2) for z in range(-reach, reach + 1)}


def needed(eps, delta):
    """Return the probabilities of N = 1, 2, …, the number of people that a group needs, by the recursion."""
    shown = [0.0]
    while shown[-1] < 1:
        p = shown[-1]
        shown.append(min(math.exp(eps) * p + delta, 1 - math.exp(-eps) * (1 - p - delta), 1.0))
    return np.diff(shown)


def outcomes(mechanism, n):
    """Return the outcomes of one group of n people: its noisy count, or that it is hidden."""
    m, k = max(n - (mechanism.pre_threshold or 1) + 1, 0), mechanism.max_partitions_contributed
    if m == 0:
        return {HIDDEN: 1.0}
    if mechanism.always_shown is not None:
        steps = needed(mechanism.eps / k, min(share(mechanism.delta, k), 0.5))
        found = {n - i: p for i, p in enumerate(steps, 1) if i <= m}
        hidden = math.fsum(steps[m:])
        return {**found, HIDDEN: hidden} if hidden else found
    drawn = gaussian(mechanism.sigma2) if mechanism.sigma2 else geometric(mechanism.eps / k)
    found = {n + z: p for z, p in drawn.items() if n + z >= mechanism.threshold}
    hidden = math.fsum(p for z, p in drawn.items() if n + z < mechanism.threshold)
    return {**found, HIDDEN: hidden} if hidden else found


def largest_divergence(mechanism, eps, sizes):
    tables = itertools.combinations_with_replacement(sizes, mechanism.max_partitions_contributed)
    pairs = [[(outcomes(mechanism, n + 1), outcomes(mechanism, n)) for n in table] for table in tables]
    return max(hockey_stick(one, eps) for pair in pairs for one in (pair, [(q, p) for p, q in pair]))


CASES = [(0.5, 0.3, 1), (1.0, 1e-3, 1), (2.0, 0.9, 1), (0.8, 0.4, 2), (0.7, 0.6, 2), (1.5, 0.3, 3)]


@named
@looped("case", CASES)
def test_all_tables_of_small_counts(strategy, case):
    eps, delta, k = case
    for pre_threshold in (None, 4):
        mechanism = sn.PartitionSelection(eps, delta, k, strategy, pre_threshold)
        first = (pre_threshold or 1) - 1
        top = mechanism.threshold
        sizes = range(3 * top) if k == 1 else sorted({0, first, first + 1, top - 1, top, top + 1, 4 * top})
        largest = largest_divergence(mechanism, eps, sizes)
        assert largest <= mechanism.achieved_delta * (1 + 1e-7) <= delta * (1 + 2e-7)
        # The rules of one group count δ together as if all were in the worst case.
        assert largest >= mechanism.achieved_delta * (1 - 1e-3)


@pytest.mark.parametrize("strategy", ["laplace", "gaussian"])
@looped("case", CASES)
def test_a_lower_threshold_would_exceed_delta(strategy, case):
    eps, delta, k = case
    mechanism = sn.PartitionSelection(eps, delta, k, strategy)
    if mechanism.threshold > (1 if strategy == "laplace" else 2):
        mechanism._rule.threshold -= 1
        sizes = range(40) if k == 1 else (0, 1, mechanism.threshold, 60)
        assert largest_divergence(mechanism, eps, sizes) > delta * (1 - 1e-9)
        mechanism._rule.threshold += 1


@named
@pytest.mark.parametrize("k", [1, 2, 10])
@pytest.mark.parametrize(("eps", "delta"), [(0.1, 1e-5), (1, 1e-9), (5, 0.7), (1, 0.999999)])
def test_probabilities_of_all_sizes(strategy, k, eps, delta):
    """The definition for `select`, for every size of one group that changes; and the rule for its k groups."""
    mechanism = sn.PartitionSelection(eps, delta, k, strategy)
    n = np.arange(-3, 3 * mechanism.threshold + 20)
    shown = mechanism.probability(n)
    assert (shown[:4] == 0).all()
    assert (np.diff(shown) >= 0).all()
    growth = math.exp(eps) if mechanism.sigma2 else math.exp(eps / k)
    allowed = delta if mechanism.sigma2 else share(delta, k)
    hidden = 1 - shown
    # In float64, 1 - p has an error of 2**-53.
    assert (shown[1:] <= (growth * shown[:-1] + allowed) * (1 + 1e-9)).all()
    assert (hidden[:-1] <= growth * hidden[1:] + allowed + 1e-14 * growth).all()
    assert int(n[np.argmax(shown > 0.5)]) == mechanism.threshold
    moved = sn.PartitionSelection(eps, delta, k, strategy, 8)
    assert np.array_equal(moved.probability(n + 7), shown)
    assert moved.threshold == mechanism.threshold + 7
    assert (moved.always_shown is None) == (mechanism.always_shown is None)


def test_the_share_of_one_group():
    """k groups with the share have at most δ, by exact rationals, and no float64 share that is larger by 2**-38 has."""
    for delta, k in itertools.product([1e-30, 1e-6, 0.3, 0.5, 0.9, 1 - 2**-53], [1, 2, 3, 7, 50]):
        one = Fraction(share(delta, k))
        assert 1 - (1 - one) ** k <= Fraction(delta)
        assert share(delta, k) >= delta / k * (1 - 1e-11)
        more = min(one * (1 + Fraction(1, 2**38)), Fraction(1))
        assert 1 - (1 - more) ** k > Fraction(delta)
    assert share(0.3, 1) == 0.3


def test_best_has_the_least_threshold():
    for eps, delta, k in itertools.product([0.1, 1, 8], [1e-9, 0.4, 0.99], [1, 2, 3, 4, 20]):
        thresholds = [sn.PartitionSelection(eps, delta, k, name).threshold for name in NAMES]
        assert min(thresholds[:3]) == thresholds[3]
    # The strategy without a name has δ/k, and its values are those of the contract.
    assert sn.PartitionSelection(1, 1e-6, 2).probability(1) == 5e-7
    assert sn.PartitionSelection(1, 1e-6, 2, "best").probability(1) == share(1e-6, 2)


def test_laplace_has_the_formula_of_other_libraries():
    """1 + (k/ε) ln(1/(2δ')) for continuous noise, at most one more on the integers for a small ε/k."""
    for k in (1, 4, 30):
        threshold = sn.PartitionSelection(0.5, 1e-7, k, "laplace").threshold
        continuous = 1 - k / 0.5 * math.log(2 * share(1e-7, k))
        assert continuous - 1 < threshold < continuous + 1.5


@named
@pytest.mark.parametrize("k", [1, 3])
def test_groups_get_the_noise_of_the_contract(strategy, k):
    """The same fill of the mechanism whose noise it is; single counts, arrays, and both methods agree."""
    mechanism = sn.PartitionSelection(1, 1e-3, k, strategy, 6)
    counts = np.arange(3000) % 60
    rng = sn.SeededRng(5, allow_release=True)
    shown, values = mechanism.release(counts, rng=rng.at(0))
    assert np.array_equal(mechanism.select(counts, rng=rng.at(0)), shown)
    people = np.maximum(counts - 5, 0)
    if mechanism.always_shown is not None:
        plain = sn.PartitionSelection(1 / k, share(1e-3, k))
        expected = plain.release(people, rng=rng.at(0))[1]
    else:
        drawn = sn.DiscreteGaussian(mechanism.sigma2) if mechanism.sigma2 else sn.DiscreteLaplace(1 / k)
        noisy = drawn.release(people, rng=rng.at(0))
        expected = np.where((people > 0) & (noisy >= mechanism.threshold - 5), noisy, 0)
    assert np.array_equal(values, np.where(expected > 0, expected + 5, 0))
    assert not shown[counts < 6].any()
    assert values[shown].min() >= mechanism.threshold
    for number, count in enumerate(counts[:200].tolist()):
        assert mechanism.release(count, rng=rng.at(number)) == (shown[number], values[number])
        assert mechanism.select(count, rng=rng.at(number)) is bool(shown[number])


@named
def test_groups_are_shown_as_often_as_stated(strategy):
    mechanism = sn.PartitionSelection(0.7, 0.02, 2, strategy, 3)
    for n in range(1, mechanism.threshold + 5, 3):
        shown = mechanism.select(np.full(20_000, n), rng=sn.SeededRng(n, allow_release=True))
        check_share(int(shown.sum()), 20_000, mechanism.probability(n), 1e-9)


def test_the_ends_of_counts():
    mechanism = sn.PartitionSelection(1, 0.1, strategy="laplace", pre_threshold=100)
    _, values = mechanism.release([2**63 - 1] * 50)
    assert values.max() == 2**63 - 1
    assert values.min() > 2**63 - 100
    largest = sn.PartitionSelection(1, 0.5, strategy="gaussian", pre_threshold=2**53 - 1)
    assert largest.probability([5, 2**52]).tolist() == [0, 0]
    assert not largest.select([0, 2**53 - 2]).any()
    for strategy in (None, *NAMES):
        for call in ("select", "release"):
            with pytest.raises(sn.ParameterError, match=r"counts must be at least 0, got one that is not at index \(1,\)"):
                getattr(sn.PartitionSelection(1, 0.1, strategy=strategy, pre_threshold=3), call)([5, -1])


def test_noise_that_the_caller_chose():
    mechanism = sn.PartitionSelection(delta=1e-4, sigma=2, max_partitions_contributed=2, pre_threshold=5)
    assert (mechanism.eps, mechanism.delta, mechanism.sigma2) == (None, 1e-4, 4.0)
    drawn = gaussian(4.0)
    appear = [1 - (1 - math.fsum(p for z, p in drawn.items() if 5 + z >= mechanism.threshold - lower)) ** 2 for lower in (0, 1)]
    assert appear[0] <= 1e-4 < appear[1]
    assert mechanism.achieved_delta == pytest.approx(appear[0], rel=1e-9)
    with pytest.raises(sn.ParameterError, match="eps must be stated for a guarantee"):
        mechanism.guarantee()
    for eps in (1.0, 2.0, 4.0):
        stated = mechanism.privacy_loss().privacy_profile(eps)
        sizes = (0, 4, 5, mechanism.threshold, mechanism.threshold + 20)
        assert largest_divergence(mechanism, eps, sizes) <= stated * (1 + 1e-7)
    noise_alone = sn.DiscreteGaussian(sigma=2).privacy_loss().compose(2)
    assert mechanism.privacy_loss().privacy_profile(2.0) <= noise_alone.privacy_profile(2.0) + 1e-4


@named
@pytest.mark.parametrize("k", [1, 2, 5])
def test_privacy_loss_covers_the_delta(strategy, k):
    mechanism = sn.PartitionSelection(0.8, 0.05, k, strategy)
    loss = mechanism.privacy_loss()
    sizes = range(40) if k == 1 else (0, 1, mechanism.threshold, 4 * mechanism.threshold)
    for t in (0.1, 0.8, 1.5):
        if k < 5:
            assert loss.privacy_profile(t) >= largest_divergence(mechanism, t, sizes) * (1 - 1e-6)
    assert loss.privacy_profile(0.8) <= 0.05 * (1 + 1e-3)


def test_is_a_value():
    for k, strategy, pre_threshold in itertools.product((1, 5), (None, *NAMES), (None, 3)):
        mechanism = sn.PartitionSelection(1, 1e-3, k, strategy, pre_threshold)
        again = pickle.loads(pickle.dumps(mechanism))
        assert again == mechanism == eval(repr(mechanism), vars(sn))
        assert (again.strategy, again.pre_threshold, again.threshold) == (strategy, pre_threshold, mechanism.threshold)
    assert sn.PartitionSelection(1, 1e-3, strategy="laplace") != sn.PartitionSelection(1, 1e-3)
    chosen = sn.PartitionSelection(delta=1e-4, sigma=3)
    assert repr(chosen) == "PartitionSelection(delta=0.0001, max_partitions_contributed=1, sigma=3.0)"
    assert pickle.loads(pickle.dumps(chosen)) == chosen


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ({"strategy": "geometric"}, sn.ParameterError, 'strategy must be "truncated_geometric", "laplace", "gaussian" or "best"'),
        ({"strategy": 1}, sn.ParameterTypeError, "strategy must be"),
        ({"strategy": "laplace", "delta": 1}, sn.ParameterError, "delta must be less than 1"),
        ({"strategy": "laplace", "delta": 0}, sn.ParameterError, "delta must be"),
        ({"strategy": "best", "delta": math.nan}, sn.ParameterError, "delta must be"),
        ({"strategy": "gaussian", "delta": 1e-38, "max_partitions_contributed": 10}, sn.ParameterError, "delta must be"),
        ({"strategy": "best", "eps": 0}, sn.ParameterError, "eps must be finite and at least"),
        ({"strategy": "laplace", "eps": math.inf}, sn.ParameterError, "eps must be finite"),
        ({"pre_threshold": 0}, sn.ParameterError, "pre_threshold must be an integer from 1"),
        ({"pre_threshold": 2**53}, sn.ParameterError, "pre_threshold must be an integer from 1 to 2**53 - 1"),
        ({"pre_threshold": 2.0}, sn.ParameterTypeError, "pre_threshold must be an integer"),
        ({"sigma": 3}, sn.ParameterError, "eps must be left out beside sigma"),
        ({"sigma": 3, "eps": None, "strategy": "laplace"}, sn.ParameterError, 'strategy must be "gaussian" beside sigma'),
        ({"sigma": 0, "eps": None}, sn.ParameterError, "sigma must be"),
        ({"eps": None}, sn.ParameterTypeError, "eps must be"),
    ],
)
def test_refused_parameters(arguments, kind, text):
    with pytest.raises(kind) as caught:
        sn.PartitionSelection(**{"eps": 1, "delta": 0.1, **arguments})
    assert str(caught.value).startswith(text)


@named
@pytest.mark.parametrize("k", [1, 3, 2**14])
def test_every_delta_below_one(strategy, k):
    for delta in (1 - 2**-53, 1 - 1e-7):
        mechanism = sn.PartitionSelection(1.5, delta, k, strategy)
        assert mechanism.achieved_delta <= delta
        assert mechanism.threshold < 40 * k


def test_a_delta_above_one_half():
    """The truncated geometric rule takes 1/2 for a larger share: a group of one person would be shown more often."""
    for delta in (0.5, 0.6, 0.99):
        mechanism = sn.PartitionSelection(0.2, delta, strategy="truncated_geometric")
        assert mechanism.probability([0, 1, 2]).tolist() == [0, 0.5, 1]
        assert mechanism.achieved_delta == pytest.approx(0.5, rel=1e-11)
