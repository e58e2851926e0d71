"""`privacy_map`: the cost of any change, of one value or of many, with the rounding to the lattice.

Evidence: all pairs of rounded values on a small grid, all shifts of two values with the probabilities of the library, exact
probabilities of vectors on small lattices, the guarantees of the mechanisms, exact formulas, and other accountants.
"""

import math
import pickle
from fractions import Fraction
from itertools import product
from types import SimpleNamespace
from typing import Any

import mpmath as mp
import numpy as np
import pytest

import stairnoise as sn
from stairnoise.mechanism.guarantee import Change, group
from stairnoise.registry import ROWS
from tests.combinations import looped

NUMBERS = [mechanism for row in ROWS if row.of_numbers for mechanism in row.mechanisms()]
# A Skellam of a mu needs a delta: test_skellam_….
MAPPED = [mechanism for mechanism in NUMBERS if not isinstance(mechanism, sn.Skellam)]
ORDERS: dict[str, Any] = {"l1": 1, "l2": 2, "linf": np.inf}
CONTINUOUS = [mechanism for mechanism in MAPPED if not mechanism._integers]


def moves(places: int, most: Fraction, power: int, *, whole: bool, g: Fraction) -> list[tuple[int, ...]]:
    """All moves in lattice steps of values on a fine grid, or of integers, which change by at most `most` in a norm."""
    unit = Fraction(1) if whole else min(g, most) / 16
    rounded = [math.floor(i * unit / g + Fraction(1, 2)) for i in range(math.ceil((g + most) / unit) + 1)]
    # Upwards is enough: the grid repeats after g, and a move downwards is one upwards from its end.
    one = {(end - start, rounded[end] - rounded[start]) for end in range(len(rounded)) for start in range(end + 1)}
    limit = (most / unit) ** power
    found = product([(d, m) for d, m in one if d**power <= limit], repeat=places)
    return [tuple(m for _, m in pairs) for pairs in found if sum(d**power for d, _ in pairs) <= limit]


@looped("whole", [False, True])
@looped("g", [Fraction(1), Fraction(1, 2), Fraction(2)])
@looped(("places", "most"), [(1, Fraction(5, 2)), (2, Fraction(1, 4)), (2, Fraction(9, 4)), (3, Fraction(1, 2))])
def test_no_values_move_further(places: int, most: Fraction, g: Fraction, whole: bool) -> None:
    change = Change(most, g, places, whole)
    for_l1, for_l2 = (moves(places, most, power, whole=whole, g=g) for power in (1, 2))
    steps, changed = change.steps()
    largest = max(map(sum, for_l1))
    assert largest == steps or (whole and g == 2 and largest <= steps)  # the bound is reached
    assert changed >= max(sum(m > 0 for m in move) for move in for_l1)
    squares = max(sum(m * m for m in move) for move in for_l2)
    assert squares <= change.squares() < (float(most / g) + math.sqrt(places)) ** 2 + 1
    if places == 1 or (whole and g <= 1):
        assert squares == change.squares() or whole
    for steps in (1, 2, 3, 4):
        assert max(sum(-(-m // steps) for m in move) for move in for_l1) <= change.units(steps)


def test_the_number_of_units_is_reached() -> None:
    assert Change(Fraction(5), Fraction(1), 2, True).units(3) == 2 + 1  # moves by 4 and by 1
    assert Change(Fraction(3), Fraction(1, 4), 4, True).units(4) == 3  # whole units only
    assert Change(Fraction(3), Fraction(1, 4), 4, False).units(4) == 4 + (15 - 4) // 4


def probabilities(mechanism: Any) -> Any:
    """Probabilities of -n, …, n, whose tails beyond do not matter; their logarithms stay finite."""
    reach = 60
    return np.asarray(mechanism.pmf(np.arange(-reach, reach + 1.0)))


DISCRETE = [
    sn.DiscreteLaplace(0.7),
    sn.DiscreteLaplace(1.0, 3),
    sn.DiscreteStaircase(1.0, 3, 2),
    sn.DiscreteStaircase(0.8, 2),
    sn.GeneralizedDiscreteLaplace(1.5, 0.4),
    sn.GeneralizedDiscreteLaplace(0.5, 0.9),
    sn.MultiScaleDiscreteLaplace(2.0, 2),
    sn.LatticeNoise([1, 2, 5, 2, 1], 0.5, sensitivity=2),
    sn.LatticeNoise([1, 20, 300, 4000, 300, 20, 1], sensitivity=1),
    sn.DiscreteCanonical(0.5, 0.01),
    sn.TruncatedDiscreteStaircase(0.8, 0.02, 2),
]


def delta_of(p: Any, eps: float, shift: tuple[int, int], back: bool) -> float:
    """The δ at ε of two values that move by a shift, from all pairs of outcomes."""
    pad = max(shift)
    wide = np.pad(p, pad)
    first, second = (np.pad(p, (pad + m, pad - m)) for m in shift)
    here, there = np.multiply.outer(wide, wide), np.multiply.outer(first, second)
    if back:
        here, there = there, here
    return float(np.maximum(here - math.exp(eps) * there, 0).sum())


@pytest.mark.parametrize("mechanism", DISCRETE, ids=repr)
def test_all_shifts_of_two_integers_are_within_the_map(mechanism: Any) -> None:
    p = probabilities(mechanism)
    # What lies beyond the listed probabilities counts as δ.
    cut = 4 * (1 - float(p.sum())) + 1e-13
    for d_in, whole in product((1, 2, 3), (True, False)):
        promise = mechanism.privacy_map(d_in, size=2, integers=whole)
        total = d_in if whole else d_in + 1
        for shift in [(a, b) for a in range(total + 1) for b in range(total + 1 - a) if whole or max(a, b) <= d_in]:
            for back in (False, True):
                assert delta_of(p, promise.eps, shift, back) <= promise.delta * (1 + 1e-9) + cut
        if isinstance(mechanism, sn.DiscreteLaplace):
            assert promise.eps == pytest.approx(total * mechanism.eps / mechanism.sensitivity, rel=1e-15)
            assert delta_of(p, promise.eps - 0.01, (total - 1, 1), False) > cut


@looped("whole", [True, False])
@looped(("sigma2", "d_in"), [(1.5, 1.0), (4.0, 2.0), (4.0, 2.5), (9.0, 3.0)])
def test_gaussian_divergences_of_two_integers(sigma2: float, d_in: float, whole: bool) -> None:
    mechanism = sn.DiscreteGaussian(sigma2)
    promise = mechanism.privacy_map(d_in, size=2, integers=whole)
    reached = 0.0
    for shift in set(moves(2, Fraction(d_in), 2, whole=whole, g=Fraction(1))):
        for order in (1.5, 2.0, 4.0):
            divergence = sum(mechanism.rdp(order, m) for m in shift if m)
            assert divergence <= order * promise.rho * (1 + 1e-12)
            reached = max(reached, divergence / order)
    assert promise.rho == reached or not (whole and d_in == int(d_in)) or reached == pytest.approx(promise.rho, rel=1e-9)


@looped("delta", [None, 1e-3, 1e-9])
def test_skellam_shifts_of_two_integers(delta: float | None) -> None:
    mechanism = sn.Skellam.from_eps(1.0, 0.02)
    p = probabilities(mechanism)
    for d_in, whole in product((1.0, math.sqrt(2), 2.5), (True, False)):
        promise = mechanism.privacy_map(d_in, size=2, integers=whole, delta=delta)
        assert (promise.delta, promise.norm) == (delta or 0.02, "l2")
        for shift in set(moves(2, Fraction(math.nextafter(d_in, 9)), 2, whole=whole, g=Fraction(1))):
            for back in (False, True):
                assert delta_of(p, promise.eps, shift, back) <= promise.delta * (1 + 1e-9) + 1e-13


@looped(("mu", "d_in", "delta"), [(100.0, 1, 1e-6), (0.3, 4, 2.0**-90), (2e5, 700, 1e-9), (2.0**-10, 30, 0.25)])
def test_skellam_states_the_least_eps_of_one_value(mu: float, d_in: int, delta: float) -> None:
    mechanism = sn.Skellam(mu)
    eps = mechanism.privacy_map(d_in, integers=True, delta=delta).eps
    accounted = mechanism.privacy_loss(sensitivity=d_in).eps_for_delta(delta)
    assert eps == pytest.approx(accounted, rel=1e-9)
    if mu > 1e3:
        return  # mpmath would take minutes
    with mp.workdps(40):
        of = {k: mp.exp(-mu) * mp.besseli(abs(k), mu) for k in range(-250, 250)}
        above, below = (
            mp.fsum(max(of[k] - mp.exp(e) * of[k - d_in], 0) for k in range(d_in - 250, 250)) for e in (eps, eps * (1 - 1e-8))
        )
    assert above <= delta < below


def test_skellam_bound_of_several_values() -> None:
    """It is the conversion of `rdp_bound` at its orders, with the l1 norm that integers can have."""
    mechanism, delta, alpha = sn.Skellam(50.0), 1e-7, np.arange(2.0, 200.0)
    for d_in, n, l1 in ((2, 3, 3), (2, 100, 4), (5, 7, 13), (1, 10, 1)):
        divergence = mechanism.rdp_bound(alpha, l1, l2_sensitivity=d_in)
        bounds = divergence + (alpha * np.log1p(-1 / alpha) - np.log(alpha - 1) - math.log(delta)) / (alpha - 1)
        eps = mechanism.privacy_map(d_in, n, integers=True, delta=delta).eps
        assert eps == pytest.approx(bounds.min(), rel=1e-8)
        assert eps > mechanism.privacy_map(d_in, integers=True, delta=delta).eps


@pytest.mark.slow
def test_skellam_of_partitions_and_of_shares() -> None:
    mechanism = sn.Skellam.from_eps(1, 1e-6, 2)
    assert mechanism.privacy_map(2).eps == pytest.approx(1, rel=1e-4)
    assert mechanism.privacy_map(2).eps <= 1
    assert mechanism.for_partitions(9).privacy_map(6, 9, integers=True).eps <= 1
    assert mechanism.share(4, 3).privacy_map(2) == sn.Skellam(mechanism.mu * 3 / 4).privacy_map(2, delta=1e-6)
    huge = sn.Skellam(2.0**30)
    assert huge.privacy_map(2**20, delta=1e-6).eps < huge.privacy_map(2**20 + 1, delta=1e-6).eps < 1.001 * 1036


def test_a_root_that_was_rounded_down_is_whole() -> None:
    assert math.sqrt(3) ** 2 < 3
    assert sn.DiscreteGaussian(0.5).privacy_map(math.sqrt(3), 3, integers=True).rho == 3
    assert sn.DiscreteGaussian(0.5).privacy_map(2.0**30, 3, integers=True).rho == 2.0**60


def weights_of_vectors(norm: str, eps: float, steps: int, r: int, reach: int) -> dict[tuple[int, int], float]:
    """Integrals of the density over the squares of lattice vectors, up to one factor.

    An edge of a stair divides no square of side 1/2 if the norm is linf, and no quarter between its diagonals if the norm is l1:
    one point of each is exact. If the norm is l2, a grid stands for the integral.
    """
    points = np.array(list(product((-0.25, 0.25), repeat=2)))
    if norm == "l1":
        points = np.concatenate([points + 0.15 * np.array(side) for side in ((1, 0), (-1, 0), (0, 1), (0, -1))])
    if norm == "l2":
        points = np.array(list(product(np.arange(16) / 16 - 15 / 32, repeat=2)))
    found = {}
    for vector in product(range(-reach, reach + 1), repeat=2):
        sizes = np.linalg.norm(np.array(vector) + points, ORDERS[norm], axis=1)
        stairs = np.where(sizes < r, 0, np.floor((sizes - r) / steps) + 1)
        found[vector] = float(np.exp(-eps * stairs).mean())
    return found


@looped("norm", ["l1", "l2", "linf"])
@looped(("d_in", "whole"), [(0.3, False), (1.0, False), (1.0, True), (2.25, False), (2.25, True), (3.0, True)])
def test_vectors_on_a_small_lattice(norm: str, d_in: float, *, whole: bool) -> None:
    """All moves of two coordinates, and all released vectors near; sometimes the bound is reached."""
    eps, steps, r, reach = 0.7, 3, 2, 9
    own = SimpleNamespace(norm=norm, eps=eps, dim=2, _sensitivity_steps=steps)
    bound, _, _ = sn.MultivariateStaircase._cost_of(own, Change(Fraction(d_in), Fraction(1), 1, whole))
    power = {"l1": 1, "l2": 2, "linf": 1}[norm]
    shifts = set(moves(2, Fraction(d_in), power, whole=whole, g=Fraction(1)))
    if norm == "linf":
        one = {move for (move,) in moves(1, Fraction(d_in), 1, whole=whole, g=Fraction(1))}
        shifts = set(product(one, repeat=2))
    weights = weights_of_vectors(norm, eps, steps, r, reach)
    largest = 0.0
    for a, b in {(sign * a, b) for a, b in shifts for sign in (1, -1)}:
        ratios = [math.log(w / weights[x + a, y + b]) for (x, y), w in weights.items() if (x + a, y + b) in weights]
        largest = max(largest, *map(abs, ratios))
    assert largest <= bound * (1 + 1e-12)
    assert norm == "l2" or bound <= largest * (1 + 1e-12) or bound - largest < eps


@looped("norm", ["l1", "l2", "linf"])
def test_densities_of_vectors_fall_no_further(norm: str) -> None:
    random = np.random.default_rng(5)
    for _ in range(30):
        dim, eps, delta = int(random.integers(1, 9)), float(random.uniform(0.05, 20)), float(random.uniform(0.01, 100))
        mechanism = sn.MultivariateStaircase(eps, delta, dim, float(random.uniform(0, 1)), norm)
        x = mechanism.sample(2000, rng=sn.SeededRng(1))
        shift = random.normal(size=(2000, dim)) * random.uniform(0, 3 * delta, (2000, 1))
        sizes = np.linalg.norm(shift, ORDERS[norm], axis=1)
        losses = np.abs(mechanism.logpdf(x) - mechanism.logpdf(x + shift))
        for size, loss in zip(sizes[:200], losses[:200], strict=True):
            assert loss <= mechanism.privacy_map(size).eps * (1 + 1e-9)
        # A move by all of Δ costs ε, and the least move too.
        own = mechanism.privacy_map(delta)
        assert own == mechanism.guarantee()
        assert mechanism.privacy_map(delta * 1e-9).eps == eps
        assert mechanism.privacy_map(0).eps == 0.0
        assert mechanism.privacy_map(delta * 1.001).eps == 2 * eps


PURE = [sn.Staircase(1.0, 1.0), sn.Staircase(6.0, 0.3, "l2"), sn.Laplace(0.3, 2.0), sn.Laplace(scale=3.0)]


@looped("mechanism", [*PURE, sn.MergedLaplace([0.2, 0.5, 1.0], [1.0, 3.0])])
@looped("d_in", [0.25, 0.3, 1.0, 1.625, 2.5, 7.0])
def test_densities_of_one_value_fall_no_further(mechanism: Any, d_in: float) -> None:
    """On a grid that is finer than the stairs; the bound is the largest ratio, except for several rates."""
    x = np.linspace(-20, 20, 40_001)
    ratio = np.abs(mechanism.logpdf(x) - mechanism.logpdf(x + d_in)).max()
    eps = mechanism.privacy_map(d_in).eps
    assert ratio <= eps * (1 + 1e-8)
    assert ratio >= eps * (1 - 1e-8) or mechanism not in PURE


@looped("mechanism", [sn.Laplace(0.7, 1.0), sn.Laplace(scale=2.5), sn.Gaussian(std=2.5), sn.Gaussian(sigma=2.5, sensitivity=1)])
@looped("k", [2, 5, 100])
def test_values_that_all_change_alike_have_the_guarantee_of_partitions(mechanism: Any, k: int) -> None:
    promise = mechanism.guarantee(1 if mechanism._stated is None else None, max_partitions_contributed=k)
    gaussian = promise.rho is not None
    found = mechanism.for_partitions(k).privacy_map(math.sqrt(k) if gaussian else k, size=k)
    assert (found.rho if gaussian else found.eps) == pytest.approx(promise.rho if gaussian else promise.eps, rel=1e-7)


@looped("mechanism", [mechanism for mechanism in MAPPED if mechanism._stated is not None])
def test_one_value_at_the_own_sensitivity_has_the_guarantee(mechanism: Any) -> None:
    promise, found = mechanism.guarantee(), mechanism.privacy_map(mechanism.sensitivity)
    assert (found.partitions, found.norm) == (1, None)
    if found.rho is not None:
        assert promise.rho <= found.rho * (1 + 1e-15)
        assert found.rho == pytest.approx(promise.rho, rel=1e-15)
    else:
        assert promise.eps <= found.eps <= promise.eps * (1 + 2e-6)
        assert found.delta == promise.delta


@looped("mechanism", [sn.Laplace(scale=2.5), sn.Gaussian(std=2.5)])
@looped("d_in", [1, 0.37, 1e-12])
def test_noise_alone_has_its_guarantee(mechanism: Any, d_in: float) -> None:
    assert mechanism.privacy_map(d_in) == mechanism.guarantee(d_in)


# The ε of Arete noise takes a second.
@looped("mechanism", [mechanism for mechanism in MAPPED if not isinstance(mechanism, sn.Arete)])
def test_costs_grow_with_the_change_and_with_the_number_of_values(mechanism: Any) -> None:
    def cost(d_in: float, size: int = 1, **options: Any) -> tuple[float, float]:
        promise = mechanism.privacy_map(d_in, size, **options)
        return (promise.rho, 0.0) if promise.rho is not None else (promise.eps, promise.delta)

    assert cost(0) == cost(0, 5) == cost(0.5, 5, integers=True) == (0.0, 0.0)
    for less, more in ((cost(1), cost(2)), (cost(2), cost(2, 3)), (cost(2, 3, integers=True), cost(2, 3))):
        assert less[0] <= more[0]
        assert less[1] <= more[1]
    assert pickle.loads(pickle.dumps(mechanism.privacy_map(2, 3))) == mechanism.privacy_map(2, 3)
    assert mechanism.privacy_map(2, 3) != mechanism.privacy_map(2)


def test_weights_of_a_model() -> None:
    """11.5 million values: rounding adds √n g to the clipping norm, about 3400 steps."""
    n, std, norm = 11_500_000, 1.5, 1.25
    mechanism = sn.Gaussian(std=std)
    rho = mechanism.privacy_map(norm, n).rho
    with mp.workdps(60):
        g = mp.mpf(mechanism.granularity)
        moved = mp.mpf(norm) + mp.sqrt(n) * g
        sigma2 = mp.mpf(mechanism._lattices.sigma2) * g * g
        truth = moved**2 / (2 * sigma2)
        assert truth * (1 - mp.mpf(2) ** -52) <= rho <= truth * (1 + mp.mpf(2) ** -51)
        assert rho > mp.mpf(norm) ** 2 / (2 * sigma2)
    laplace = sn.Laplace(scale=std)
    steps = math.ceil(Fraction(norm) / Fraction(laplace.granularity)) + n - 1
    exact = steps / (Fraction(std) / Fraction(laplace.granularity))
    assert exact <= Fraction(laplace.privacy_map(norm, n).eps) <= exact * (1 + Fraction(1, 2**52))


def test_changes_one_after_the_other() -> None:
    """The δ of t changes is the sum, computed exactly; it is rounded up, and at most 1."""
    for eps, delta, times in product((0.0, 2.0**-40, 0.1, 3.0), (1e-300, 1e-6, 0.3), (1, 2, 5, 200)):
        found = group(eps, delta, times)
        with mp.workdps(60):
            truth = mp.fsum(mp.exp(i * mp.mpf(eps)) for i in range(times)) * mp.mpf(delta)
            assert min(truth, 1) <= found[1] <= min(truth * (1 + mp.mpf(2) ** -36), 1)
        assert times * Fraction(eps) <= Fraction(found[0]) <= times * Fraction(eps) * (1 + Fraction(1, 2**52))
    assert group(100.0, 1e-300, 10**9) == (1e11, 1.0, None)
    assert group(1.0, 0.0, 10**9)[1] == 0.0


def test_texts() -> None:
    text = "Guarantee: 10 values that change by at most 2.0 together in the l1 norm are 2.0-differentially private together."
    assert repr(sn.DiscreteLaplace(1).privacy_map(2, 10, integers=True)) == text
    assert (
        repr(sn.DiscreteLaplace(1).privacy_map(2))
        == "Guarantee: one value that changes by at most 2.0 is 2.0-differentially private."
    )


def test_an_enormous_change_costs_infinitely_much() -> None:
    assert sn.Laplace(scale=1e-200).privacy_map(1e200).eps == math.inf
    assert sn.Gaussian(std=1e-200).privacy_map(1e200, 3).rho == math.inf
    assert sn.Skellam(4).privacy_map(1e308, 3, delta=1e-6).eps == math.inf
    assert sn.MultivariateStaircase(1, 1e-200).privacy_map(1e200).eps == math.inf


BAD = [
    (lambda: sn.Laplace(1).privacy_map(-1), sn.ParameterError, "d_in must be finite and at least 0, got -1"),
    (lambda: sn.Laplace(1).privacy_map(math.nan), sn.ParameterError, "d_in must be finite and at least 0, got nan"),
    (lambda: sn.Laplace(1).privacy_map([1, 2]), sn.ParameterError, "d_in must be a single number, got"),
    (lambda: sn.Laplace(1).privacy_map(1, 0), sn.ParameterError, "size must be an integer from 1 to 2**53 - 1, got 0"),
    (lambda: sn.Laplace(1).privacy_map(1, 2.0), sn.ParameterTypeError, "size must be an integer, got 2.0"),
    (lambda: sn.Laplace(1).privacy_map(1, integers=1), sn.ParameterTypeError, "integers must be True or False, got 1"),
    (lambda: sn.Laplace([1, 2]).privacy_map(1), sn.ParameterError, "must have a mechanism of single parameters, got shape (2,)"),
    (lambda: sn.Skellam(4).privacy_map(1), sn.ParameterError, "delta must be stated for a Skellam made from mu, got None"),
    (lambda: sn.Skellam(4).privacy_map(1, delta=0), sn.ParameterError, "delta must be from 2**-128 to 0.5, got 0"),
    (lambda: sn.MultivariateStaircase(1).privacy_map(-1), sn.ParameterError, "d_in must be finite and at least 0, got -1"),
    (lambda: sn.MultivariateStaircase(1).privacy_map([1, 2]), sn.ParameterError, "d_in must be a single number, got"),
    (
        lambda: sn.Arete(0.5, 1, 0.25).privacy_map(1e6),
        sn.ParameterError,
        "d_in must be a change for which privacy_eps is computed",
    ),
    (
        lambda: sn.Laplace(0.3).guarantee(sensitivity=2),
        sn.ParameterError,
        "which was made for one, got 2; privacy_map has the cost of another change",
    ),
]


@pytest.mark.parametrize(("call", "kind", "text"), BAD, ids=[text[:50] for _, _, text in BAD])
def test_what_is_refused_and_how(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)


@pytest.mark.long
def test_dp_accounting_agrees() -> None:
    """Google's accountant rounds up by its discretisation, 1e-3, and cuts off tails, so it has no ε for a δ of 0."""
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution", reason="dp_accounting is not installed")
    rdp = pytest.importorskip("dp_accounting.rdp")
    event = pytest.importorskip("dp_accounting")
    for scale, d_in in ((2.5, 1.0), (1.0, 3.0)):
        theirs = pld.from_laplace_mechanism(scale, sensitivity=d_in, value_discretization_interval=1e-3).get_epsilon_for_delta(
            1e-9
        )
        ours = sn.Laplace(scale=scale).privacy_map(d_in).eps
        assert theirs - 2e-3 <= ours <= theirs + 1e-6
        accountant = rdp.RdpAccountant(orders=[2, 8, 64])
        accountant.compose(event.GaussianDpEvent(scale / d_in))
        ours = sn.Gaussian(std=scale).privacy_map(d_in).rho
        assert np.allclose(accountant._rdp, np.array([2, 8, 64]) * ours, rtol=1e-12)


def test_an_opendp_measurement_is_one_call() -> None:
    dp = pytest.importorskip("opendp.prelude", reason="OpenDP is not installed")
    dp.enable_features("contrib", "honest-but-curious")
    mechanism = sn.Laplace(scale=2.0)
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=3), dp.l1_distance(T=float)
    ours = dp.m.make_user_measurement(
        *space, dp.max_divergence(), mechanism.release, lambda d_in: mechanism.privacy_map(d_in, 3).eps, TO="ExtrinsicObject"
    )
    theirs = dp.m.make_laplace(*space, scale=2.0)
    assert len(ours([1.0, 2.0, 3.0])) == 3
    assert ours.map(d_in=1.0) == pytest.approx(theirs.map(d_in=1.0), rel=1e-8)
