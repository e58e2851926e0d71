"""`PrivacyLoss.to_dp_accounting`: Google's package composes our losses, and never underestimates them.

Evidence: the profile itself for one release; for many our own composition, which other tests compare with product distributions;
product distributions of asymmetric noise; dp_accounting's own losses of Gaussian and Laplace noise instead of ours.
"""

import math
import subprocess
import sys
from itertools import pairwise

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.accounting import dp_accounting as grid
from stairnoise.registry import ROWS
from tests import examples
from tests.by_method.privacy_pairs import hockey_stick, product
from tests.combinations import rest_long
from tests.examples import one_mechanism_of_each

pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")

# The grid's relative error of δ, and the absolute error of grid and dp_accounting's truncated tails.
RAISED, ADDED = 2.0**-29, 2.0**-78
# Mechanisms that divide an ε among a person's values; the examples of the other two state no ε.
DIVIDED = [
    pytest.param(row, id=row.name)
    for row in ROWS
    if row.name in examples.DIVIDED and row.of_numbers and row.name not in ("discrete_gaussian", "skellam")
]


def largest(loss):
    """Return the loss at which the grid ends."""
    return loss.eps if math.isfinite(loss.eps) else loss.eps_for_delta(grid.cut(loss.privacy_profile(math.inf)))


def intervals(loss):
    """Return an interval that divides the pure ε, and one that does not."""
    return largest(loss) / 2000, largest(loss) / (1000 * math.sqrt(2))


# ---------------------------------------------------------------- one release


@one_mechanism_of_each
def test_one_release(mechanism):
    """The result is never below the profile, and not above the profile of losses rounded up to the grid."""
    loss = mechanism.privacy_loss()
    top = largest(loss)
    rng = np.random.default_rng(7)
    anywhere, near_the_top = rng.uniform(0, 1.1 * top, 20), top * (1 - 10.0 ** -rng.uniform(0, 12, 10))
    for interval in intervals(loss):
        exported = loss.to_dp_accounting(interval)
        for eps in [0.0, *anywhere.tolist(), *near_the_top.tolist(), math.nextafter(top, 0), top]:
            found = exported.get_delta_for_epsilon(eps)
            assert found >= loss.privacy_profile(eps)
            assert found <= loss.privacy_profile(eps - interval) * (1 + RAISED) + ADDED
        for eps in (-0.3 * interval, -0.2 * top, -top):
            assert exported.get_delta_for_epsilon(eps) >= loss.privacy_profile(eps) - 1e-14


NOISES = (sn.DiscreteStaircase(1), sn.Staircase(1, gamma=0.5), sn.Laplace(2), sn.DiscreteLaplace(1, 7))


@pytest.mark.parametrize("mechanism", rest_long(NOISES[1:3], NOISES), ids=repr)
def test_rounding_does_not_add_up(mechanism):
    """On half a million nodes the profile is right to a relative 2e-9. All losses are on nodes, except those of Laplace noise."""
    loss = mechanism.privacy_loss()
    exported = loss.to_dp_accounting(mechanism.eps / (7 * 2**16))
    for eps in (0.0, mechanism.eps / 7, 0.9 * mechanism.eps):
        assert exported.get_delta_for_epsilon(eps) == pytest.approx(loss.privacy_profile(eps), rel=2e-9)


def test_pure_eps_is_kept():
    for mechanism in (sn.DiscreteLaplace(1), sn.Laplace(0.3), sn.Staircase(2.0)):
        found = mechanism.privacy_loss().to_dp_accounting(1e-3).get_epsilon_for_delta(0.0)
        assert mechanism.eps <= found <= mechanism.eps + 1e-3


def test_a_loss_smaller_than_the_interval():
    loss = sn.Laplace(1e-3).privacy_loss()
    exported = loss.to_dp_accounting(1.0)
    assert exported.get_delta_for_epsilon(0.0) == pytest.approx(loss.privacy_profile(0.0), rel=RAISED)
    assert exported.get_epsilon_for_delta(0.0) == 1.0


def test_nothing_but_an_infinite_loss():
    loss = sn.LatticeNoise([1, 0, 1]).privacy_loss()
    assert loss.privacy_profile(3.0) == 1.0
    assert loss.to_dp_accounting().get_epsilon_for_delta(0.5) == math.inf


@pytest.mark.parametrize("sigma", [0.5, 2.0, 40.0])
def test_tails_of_an_unbounded_loss_count_as_infinite(sigma):
    loss = sn.Gaussian(sigma=sigma).privacy_loss()
    exported = loss.to_dp_accounting(loss.eps_for_delta(1e-10) / 1000)
    beyond = exported.get_delta_for_epsilon(1e9)
    assert 0 < beyond <= 2.0**-79
    assert exported.get_epsilon_for_delta(1e-12) == pytest.approx(loss.eps_for_delta(1e-12), rel=1e-3)


# ---------------------------------------------------------------- many releases


def agree(found, loss, delta, slack):
    """Require at least the lower bound up to dp_accounting's rounding, and at most the upper bound plus the grid's slack."""
    low = loss.eps_for_delta(delta, bounds=True)[0]
    high = loss.eps_for_delta(delta * (1 - 1e-6))
    assert low * (1 - 1e-14) <= found <= high + slack


@one_mechanism_of_each
@pytest.mark.parametrize("k", [2, pytest.param(5, marks=pytest.mark.long)])
def test_composed_there_and_here(mechanism, k):
    loss = mechanism.privacy_loss()
    interval = intervals(loss)[1]
    composed = loss.compose(k)
    delta = max(1e-6, 1.5 * composed.privacy_profile(math.inf))
    agree(loss.to_dp_accounting(interval).self_compose(k).get_epsilon_for_delta(delta), composed, delta, k * interval)


@one_mechanism_of_each
def test_a_composed_loss_is_converted(mechanism):
    composed = mechanism.privacy_loss().compose(5)
    interval = largest(composed) / 5000
    delta = max(1e-9, 1.5 * composed.privacy_profile(math.inf))
    agree(composed.to_dp_accounting(interval).get_epsilon_for_delta(delta), composed, delta, interval)


def test_far_tails_of_a_composed_loss():
    """δ = 1e-40 of a hundred releases is far below the errors of transforms."""
    composed = sn.DiscreteStaircase(0.1).compose(100)
    agree(composed.to_dp_accounting().get_epsilon_for_delta(1e-40), composed, 1e-40, 1e-4)


MANY = [(sn.Staircase(1), 100), (sn.Laplace(1), 100), (sn.Gaussian(sigma=5), 200), (sn.TruncatedLaplace(1, 1e-8), 10)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "k"),
    rest_long(MANY[::2], MANY),
)
def test_many_releases_at_the_usual_interval(mechanism, k):
    """The slack is much less than k intervals, because it falls with the interval's square."""
    loss = mechanism.privacy_loss()
    agree(loss.to_dp_accounting().self_compose(k).get_epsilon_for_delta(1e-6), loss.compose(k), 1e-6, 3e-5)


@pytest.mark.parametrize("weights", [[0.5, 1.0, 4.0, 2.0, 1.5], [1.0, 0.25, 3.0]], ids=["one mode", "two modes"])
def test_unsymmetric_noise_in_both_directions(weights):
    """Compared with the product distribution of every pair, because dp_accounting composes removal and addition separately."""
    mechanism = sn.LatticeNoise(weights, tail_ratio=0.5, sensitivity=2)
    exported = mechanism.privacy_loss().to_dp_accounting(1e-3).self_compose(2)
    k = np.arange(-18, 19)
    p = mechanism.pmf(k)
    for shift in (-2, -1, 1, 2):
        q = mechanism.pmf(k - shift)
        joint = product([(mp.mpf(a), mp.mpf(b)) for a, b in zip(p.tolist(), q.tolist(), strict=True)], 2)
        for eps in (0.0, 0.4, 1.3, 2.6):
            assert exported.get_delta_for_epsilon(eps) >= hockey_stick(joint, eps) - 1e-15


# ---------------------------------------------------------------- together with mechanisms of dp_accounting


@pytest.mark.parametrize(
    "mechanism",
    [sn.DiscreteStaircase(0.4, 3), sn.DiscreteGaussian(sigma2=9), sn.TruncatedLaplace(0.5, 1e-8)],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_with_mechanisms_of_dp_accounting(mechanism):
    interval, times = 1e-3, 2
    ours = mechanism.privacy_loss().to_dp_accounting(interval).self_compose(times)
    options = {"value_discretization_interval": interval}
    laplace = pld.from_laplace_mechanism(2.0, **options)
    gaussian = pld.from_gaussian_mechanism(3.0, **options)
    together = mechanism.compose(times) + sn.Laplace(0.5).privacy_loss() + sn.Gaussian(sigma=3).privacy_loss()
    # dp_accounting's losses are of densities, which differ from drawn values by less than 1e-9.
    eps = ours.compose(laplace).compose(gaussian).get_epsilon_for_delta(1e-6)
    low = together.eps_for_delta(1e-6, bounds=True)[0]
    high = together.eps_for_delta(1e-6)
    assert low * (1 - 1e-9) <= eps <= high + (times + 2) * interval


def test_with_random_batches():
    """Sampling lowers the cost, and the counts still cost."""
    counts = sn.DiscreteLaplace(0.25).privacy_loss()
    ours = counts.to_dp_accounting(1e-3)
    alone, sampled = (pld.from_gaussian_mechanism(1.5, sampling_prob=q, value_discretization_interval=1e-3) for q in (1.0, 0.02))
    eps = [one.get_epsilon_for_delta(1e-6) for one in (sampled, ours.compose(sampled), ours.compose(alone))]
    assert all(less < more for less, more in pairwise(eps))
    agree(eps[-1], counts + sn.Gaussian(sigma=1.5).privacy_loss(), 1e-6, 2e-3)


def test_two_intervals_do_not_compose():
    """dp_accounting itself refuses this."""
    loss = sn.Laplace(1).privacy_loss()
    with pytest.raises(ValueError, match="intervals are different"):
        loss.to_dp_accounting(1e-3).compose(loss.to_dp_accounting(2e-3))


@pytest.mark.parametrize("row", DIVIDED)
def test_partitions_keep_the_guarantee(row):
    """The loss of the mechanism for each of k values, composed there k times, keeps the guarantee of one value."""
    arguments, k, _ = examples.DIVIDED[row.name]
    mechanism = row.load()(**arguments)
    one = mechanism.for_partitions(k).privacy_loss()
    interval = largest(one) / 5000
    there = one.to_dp_accounting(interval).self_compose(k)
    promise = mechanism.guarantee(max_partitions_contributed=k)
    eps = promise.eps + k * interval
    assert there.get_delta_for_epsilon(eps) <= promise.delta * (1 + 1e-6) + 2e-15


def test_divergences_are_those_of_its_renyi_accountant():
    """The divergences are of densities, which differ from drawn values by less than 1e-9; both sides allow for that."""
    renyi = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant")
    event = pytest.importorskip("dp_accounting").LaplaceDpEvent(2.0)
    theirs = renyi.RdpAccountant().compose(event, 3)
    ours = sn.Laplace(0.5).compose(3)
    assert ours.rdp(theirs.orders) == pytest.approx(theirs.rdp, rel=1e-9)
    eps, order = renyi.compute_epsilon(theirs.orders, ours.rdp(theirs.orders), 1e-6)
    assert (eps, order) == pytest.approx(theirs.get_epsilon_and_optimal_order(1e-6))
    assert eps >= ours.eps_for_delta(1e-6)


# ---------------------------------------------------------------- arguments


@pytest.mark.parametrize("interval", [0, 0.0, -1e-4, math.nan, math.inf, -math.inf])
def test_interval_is_finite_and_positive(interval):
    with pytest.raises(sn.ParameterError, match=rf"^interval must be finite and greater than 0, got {interval}$"):
        sn.Laplace(1).privacy_loss().to_dp_accounting(interval)


@pytest.mark.parametrize("interval", ["1e-4", None, True, 1j, b""])
def test_interval_is_a_number(interval):
    with pytest.raises(sn.ParameterTypeError, match=r"^interval must .*got "):
        sn.Laplace(1).privacy_loss().to_dp_accounting(interval)


def test_interval_is_one_number():
    with pytest.raises(sn.ParameterError, match=r"^interval must be a single number, got "):
        sn.Laplace(1).privacy_loss().to_dp_accounting([1e-4, 1e-3])


@pytest.mark.parametrize("mechanism", [sn.Laplace(512), sn.Gaussian(sigma=3), sn.TruncatedLaplace(1, 1e-6)], ids=repr)
def test_a_grid_that_is_too_large_is_refused(mechanism):
    rule = r"^interval must be at least [\d.e-]+ for losses of up to [\d.]+, whose grid has at most 2\*\*20 steps, got 5e-324$"
    with pytest.raises(sn.ParameterError, match=rule):
        mechanism.privacy_loss().to_dp_accounting(5e-324)


@pytest.mark.slow
def test_the_least_interval_that_an_error_names_is_accepted():
    loss = sn.Laplace(512).privacy_loss()
    with pytest.raises(sn.ParameterError) as caught:
        loss.to_dp_accounting()
    least = float(str(caught.value).split()[5])
    assert loss.to_dp_accounting(least).get_delta_for_epsilon(511.0) >= loss.privacy_profile(511.0)
    with pytest.raises(sn.ParameterError):
        loss.to_dp_accounting(0.98 * least)


def test_parameters_are_scalar():
    with pytest.raises(
        sn.ParameterError,
        match=r"^to_dp_accounting must be of mechanisms with scalar parameters, got parameters of shape \(2,\)$",
    ):
        sn.Laplace([1, 2]).privacy_loss().to_dp_accounting()


def test_without_dp_accounting_the_error_names_the_extra():
    code = "import sys, stairnoise; sys.modules['dp_accounting'] = None; stairnoise.Laplace(1).privacy_loss().to_dp_accounting()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = "to_dp_accounting needs dp_accounting: pip install 'stairnoise[accounting]'"
    assert done.stderr.splitlines()[-1].endswith(f"MissingPackageError: {last}")
