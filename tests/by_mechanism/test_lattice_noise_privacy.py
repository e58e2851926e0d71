"""LatticeNoise: its privacy over every shift, by the definitions in rational numbers, and by another library's accounting."""

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped, rest_long

# Length of a listed tail in nepers; the rest has a probability below 1e-17.
NEPERS = 40


def probabilities(mechanism: sn.LatticeNoise) -> dict[int, Fraction]:
    """Return P(X = kg) by k; a tail is listed until it is negligible."""
    weights, m = list(map(Fraction, mechanism.weights.tolist())), len(mechanism.weights) // 2
    found = dict(zip(range(-m, m + 1), weights, strict=True))
    total = sum(weights)
    if mechanism.tail_ratio is not None:
        ratio = Fraction(mechanism.tail_ratio)
        for j in range(1, math.ceil(-NEPERS / math.log(mechanism.tail_ratio)) + 1):
            found[m + j], found[-m - j] = weights[-1] * ratio**j, weights[0] * ratio**j
        total += (weights[0] + weights[-1]) * ratio / (1 - ratio)
    return {k: weight / total for k, weight in found.items() if weight}


def shifts(mechanism: sn.LatticeNoise) -> list[int]:
    sensitivity_steps = round(mechanism.sensitivity / mechanism.granularity)
    return [sign * s for s in range(1, sensitivity_steps + 1) for sign in (1, -1)]


def end_of(mechanism: sn.LatticeNoise, p: dict[int, Fraction]) -> int:
    """Return the point beyond which the list ends although the tail does not."""
    return max(map(abs, p)) - (0 if mechanism.tail_ratio is None else max(map(abs, shifts(mechanism))))


def delta(mechanism: sn.LatticeNoise, eps: float) -> float:
    """Return the largest Σ (P(k) − e^ε P(k − s))₊."""
    p = probabilities(mechanism)
    end, power = end_of(mechanism, p), Fraction(math.exp(eps))
    return float(max(sum(max(0, p[k] - power * p.get(k - s, 0)) for k in p if abs(k) <= end) for s in shifts(mechanism)))


def pure_eps(mechanism: sn.LatticeNoise) -> float:
    """Return the largest finite ln P(k)/P(k − s)."""
    p = probabilities(mechanism)
    end = end_of(mechanism, p)
    ratios = [p[k] / p[k - s] for s in shifts(mechanism) for k in p if abs(k) <= end and k - s in p]
    return math.log(max(ratios)) if ratios else 0.0


def renyi(mechanism: sn.LatticeNoise, alpha: float) -> float:
    p = {k: float(x) for k, x in probabilities(mechanism).items()}
    end, worst = end_of(mechanism, probabilities(mechanism)), 0.0
    for s in shifts(mechanism):
        pairs = [(p[k], p.get(k - s, 0.0)) for k in p if abs(k) <= end]
        if alpha >= 1 and any(q == 0 for _, q in pairs):
            return math.inf
        both = [(math.log(x), math.log(q)) for x, q in pairs if q > 0]
        if alpha == 1:
            found = math.fsum(math.exp(x) * (x - q) for x, q in both)
        else:
            moment = math.fsum(math.exp(alpha * x + (1 - alpha) * q) for x, q in both)
            found = math.log(moment) / (alpha - 1) if moment else math.inf
        worst = max(worst, found)
    return worst


def random_mechanism(choose: random.Random) -> sn.LatticeNoise:
    m, sensitivity_steps = choose.randrange(1, 6), choose.randrange(1, 4)
    kinds = (
        lambda: 0.0,
        choose.random,
        lambda: choose.random() * 10.0 ** choose.randrange(-8, 3),
        lambda: float(choose.randrange(4)),
    )
    weights = [choose.choice(kinds)() for _ in range(2 * m + 1)]
    ratio = choose.choice((None, None, 0.5, 0.125, 0.75))
    if choose.random() < 0.3:
        weights = [*weights[: m + 1], *weights[:m][::-1]]
    if ratio is not None or sum(weight > 0 for weight in weights) < 2:
        weights[0], weights[-1] = weights[0] or 1.0, weights[-1] or 0.25
    step = choose.choice((1.0, 1.0, 0.5))
    return sn.LatticeNoise(weights, ratio, step, sensitivity_steps * step)


@pytest.mark.parametrize("seed", rest_long(range(15), range(60)))
def test_every_measure_is_the_worst_over_every_shift(seed: int) -> None:
    """Evidence: sums in rational numbers, over random mechanisms with holes, tails and no symmetry."""
    mechanism = random_mechanism(random.Random(seed))
    losses = mechanism.losses_by_shift(0.0)
    assert mechanism.eps == pytest.approx(pure_eps(mechanism), rel=1e-13, abs=1e-15)
    infinite = delta(mechanism, 700.0) if mechanism.eps < 600 else mechanism.delta
    assert mechanism.delta == pytest.approx(infinite, rel=1e-13, abs=1e-15)
    assert (mechanism.privacy_loss().eps == mechanism.eps) == (mechanism.delta == 0)
    for eps in (0.0, 0.25, 1.0, mechanism.eps / 2, mechanism.eps):
        exact = delta(mechanism, eps)
        assert mechanism.privacy_profile(eps) == pytest.approx(exact, rel=1e-12, abs=1e-14)
        listed = mechanism.losses_by_shift(eps).delta
        assert listed.max() == pytest.approx(exact, rel=1e-12, abs=1e-14)
    for alpha in (0.5, 1.0, 2.0, 8.0):
        exact = renyi(mechanism, alpha)
        found = mechanism.rdp(alpha)
        assert found == exact or found == pytest.approx(exact, rel=1e-10, abs=1e-13)
        assert mechanism.losses_by_shift(0.0, alpha).rdp.max() == found
    assert losses.eps.max() == (math.inf if mechanism.delta else mechanism.eps)


@looped("seed", range(20))
def test_bounds_are_on_the_safe_side_of_the_exact_numbers(seed: int) -> None:
    """Evidence: for mechanisms without tails, exact rational sums with e^ε from below and from above, to 50 digits."""
    from decimal import Decimal, localcontext

    mechanism = random_mechanism(random.Random(1000 + seed))
    if mechanism.tail_ratio is not None:
        mechanism = sn.LatticeNoise(mechanism.weights, None, float(mechanism.granularity), float(mechanism.sensitivity))
    p = probabilities(mechanism)
    for eps in (0.0, 0.1, 1.0, 3.0):
        with localcontext() as context:
            context.prec = 50
            power = Fraction(Decimal(eps).exp())
        for change, found in zip(*mechanism.losses_by_shift(eps)[::2], strict=True):
            s = round(change / mechanism.granularity)
            exact = sum(max(0, p[k] - power * p.get(k - s, 0)) for k in p)
            assert exact - Fraction(1, 10**45) <= Fraction(found)
            assert found <= float(exact) * (1 + 2e-16) + 1e-44


def test_a_mechanism_for_one_shift_is_a_comb_for_the_others() -> None:
    """Evidence: by hand. Weights that keep ε = 1 at a change of 4 lose 138 at a change of 1, or everything."""
    base = [math.exp(-abs(k)) for k in range(-5, 6)]
    weights = np.full(41, 1e-60)
    weights[::4] = base
    weights[1::4] = weights[2::4] = weights[3::4] = 1e-60 * np.array(base[:-1])
    mechanism = sn.LatticeNoise(weights, sensitivity=4)
    eps = mechanism.losses_by_shift(1.5).eps
    finite = [mechanism._loss(None).pairs[i].top for i in range(len(eps))]
    assert finite[0] > 100
    assert mechanism.eps > 100
    assert mechanism.privacy_profile(10.0) > 0.99
    assert mechanism.losses_by_shift(1.5).delta[-1] < 0.01
    comb = sn.LatticeNoise([1, 0, 0, 2, 0, 0, 1], sensitivity=3)
    assert comb.losses_by_shift(1.0).delta.tolist() == [1.0, 1.0, 0.25]
    assert comb.guarantee().delta == 1.0
    assert comb.privacy_profile(0.0) == comb.compose(3).privacy_profile(5.0) == 1.0


@pytest.mark.parametrize("seed", [0, 2, 5, 7, 11, 13])
def test_composition_dominates_every_choice_of_shifts(seed: int) -> None:
    """Evidence: brute force over three releases with different shifts; bounds enclose the worst case."""
    choose = random.Random(seed)
    mechanism = random_mechanism(choose)
    p = {k: float(x) for k, x in probabilities(mechanism).items()}
    end = end_of(mechanism, probabilities(mechanism))

    def losses(s: int) -> dict[float, float]:
        found: dict[float, float] = {}
        for k, x in p.items():
            if abs(k) <= end:
                loss = math.inf if k - s not in p else round(math.log(x) - math.log(p[k - s]), 12)
                found[loss] = found.get(loss, 0.0) + x
        return found

    def summed(a: dict[float, float], b: dict[float, float]) -> dict[float, float]:
        found: dict[float, float] = {}
        for x, mass in a.items():
            for y, other in b.items():
                found[round(x + y, 10)] = found.get(round(x + y, 10), 0.0) + mass * other
        return found

    one = {s: losses(s) for s in shifts(mechanism)}
    for _ in range(4):
        chosen = [choose.choice(list(one)) for _ in range(2)]
        total = summed(one[chosen[0]], one[chosen[1]])
        for eps in (0.5, 2.0):
            delta = sum(mass * -math.expm1(eps - loss) for loss, mass in total.items() if loss > eps)
            low, high = mechanism.compose(2).privacy_profile(eps, bounds=True)
            assert delta <= high * (1 + 1e-8) + 1e-13
            assert low <= high


def test_composed_bounds_are_near() -> None:
    """Evidence: the product distribution of one shift, the worst for a mechanism that falls from its mode."""
    mechanism = sn.LatticeNoise([1, 3, 9, 3, 1], 1 / 3)
    low, high = mechanism.compose(5).privacy_profile(2.0, bounds=True)
    assert low <= high <= low * 1.01


def test_another_library_s_accounting() -> None:
    """Evidence: dp-accounting's pessimistic losses of the list, for each shift."""
    accounting: Any = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    mechanism = sn.LatticeNoise([1, 0.5, 3, 8, 5, 2, 0.5], sensitivity=2)
    p = {k: float(x) for k, x in probabilities(mechanism).items()}
    for eps in (0.5, 1.0):
        found = []
        for s in (1, 2, -1, -2):
            moved = {k + s: math.log(x) for k, x in p.items()}
            loss = accounting.from_two_probability_mass_functions(
                {k: math.log(x) for k, x in p.items()}, moved, value_discretization_interval=1e-5
            )
            found.append(loss.get_delta_for_epsilon(eps))
        assert mechanism.privacy_profile(eps) == pytest.approx(max(found), rel=1e-4)


def test_known_mechanisms_by_their_probabilities() -> None:
    """Evidence: closed forms of the mechanisms whose probabilities these are."""
    stairs = sn.TruncatedDiscreteStaircase(1, 1e-3, 5, "l2")
    k = np.arange(stairs.lower, stairs.upper + 1)
    mechanism = sn.LatticeNoise(stairs.pmf(k), sensitivity=5)
    assert mechanism.privacy_profile(1.0) == pytest.approx(stairs.achieved_delta, rel=1e-9)
    assert mechanism.privacy_profile(0.5) == pytest.approx(stairs.privacy_profile(0.5), rel=1e-12)
    laplace = sn.DiscreteLaplace(0.5, 3)
    mechanism = sn.LatticeNoise(laplace.pmf(np.arange(-20, 21)), math.exp(-0.5 / 3), sensitivity=3)
    assert mechanism.eps == pytest.approx(0.5, rel=1e-12)
    assert mechanism.var() == pytest.approx(laplace.var(), rel=1e-12)
    assert mechanism.rdp(3.0) == pytest.approx(laplace.rdp(3.0), rel=1e-10)
    gauss = sn.DiscreteGaussian(4)
    mechanism = sn.LatticeNoise(gauss.pmf(np.arange(-40, 41)), sensitivity=2)
    assert mechanism.privacy_profile(1.0) == pytest.approx(gauss.privacy_profile(1.0, 2), rel=1e-9)
    assert mechanism.compose(10).eps_for_delta(1e-5) == pytest.approx(gauss.compose(10, 2).eps_for_delta(1e-5), rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((-1.0,), "eps must be finite and at least 0, got -1.0"),
        ((math.nan,), "eps must be finite and at least 0, got nan"),
        ((math.inf,), "eps must be finite and at least 0, got inf"),
        (([1.0],), "eps must be a single number"),
        ((1.0, 0.0), "alpha must be finite and greater than 0, got 0.0"),
        ((1.0, math.inf), "alpha must be finite and greater than 0, got inf"),
    ],
)
def test_what_is_asked_of_the_shifts(arguments: tuple[Any, ...], text: str) -> None:
    with pytest.raises(sn.ParameterError) as caught:
        sn.LatticeNoise([1, 2, 1]).losses_by_shift(*arguments)
    assert str(caught.value).startswith(text)
