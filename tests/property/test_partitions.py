"""`for_partitions(k)` used k times is never worse than the declared guarantee of one value, for every mechanism.

Evidence: the mechanisms' own accounting (`compose`), and accounting that shares nothing with it: convolutions of privacy
losses in NumPy, sums in integers and mpmath (tests/oracles), largest ratios of densities. The declared guarantee is a curve:
δ(t) of randomised response for a pure ε; for (ε, δ), anything can happen with an added probability δ. Parameters are random
with fixed seeds; no noise is drawn, so there are no false alarms.
"""

import math
import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from numpy.typing import NDArray

import stairnoise as sn
from stairnoise.registry import ROWS, Row
from tests.combinations import looped, rest_long
from tests.examples import UNLISTED
from tests.oracles import gaussian as gaussian_oracle
from tests.oracles import partitions as oracle

# The rounding of float64 sums.
ROUNDING = 1 + 1e-9
CASES = [0, *(pytest.param(case, marks=pytest.mark.long) for case in range(1, 8))]


def eps_of(choose: random.Random) -> float:
    return 2 ** choose.uniform(-4, 4.5)


def delta_of(choose: random.Random) -> float:
    return 10 ** choose.uniform(-12, -0.5)


def merged(choose: random.Random) -> sn.MergedLaplace:
    rates = [eps_of(choose) for _ in range(choose.randrange(1, 5))]
    width = 2 ** choose.uniform(-5, 5)
    return sn.MergedLaplace(rates, np.cumsum([width * choose.expovariate(1) for _ in rates[1:]]).tolist(), width)


def example(row: Row, choose: random.Random) -> Any:
    return row.make(choose.choice(row.examples))


OWN: dict[type, Callable[[random.Random], Any]] = {
    sn.Laplace: lambda c: sn.Laplace(eps_of(c), 2 ** c.uniform(-5, 5)),
    sn.Staircase: lambda c: sn.Staircase(eps_of(c), 2 ** c.uniform(-5, 5), c.choice(["l1", "l2", c.uniform(0.01, 1)])),
    sn.DiscreteLaplace: lambda c: sn.DiscreteLaplace(eps_of(c), c.randrange(1, 12)),
    sn.DiscreteStaircase: lambda c: sn.DiscreteStaircase(eps_of(c), c.randrange(3, 12), c.choice(["l1", "l2", 1, 3])),
    sn.MultiScaleDiscreteLaplace: lambda c: sn.MultiScaleDiscreteLaplace(eps_of(c), c.randrange(1, 4)),
    sn.MultivariateStaircase: lambda c: sn.MultivariateStaircase(eps_of(c) + 1, 1.0, c.randrange(1, 9)),
    sn.TruncatedLaplace: lambda c: sn.TruncatedLaplace(eps_of(c), delta_of(c), 2 ** c.uniform(-5, 5)),
    sn.DiscreteCanonical: lambda c: sn.DiscreteCanonical(eps_of(c), delta_of(c)),
    sn.MergedLaplace: merged,
    sn.Gaussian: lambda c: sn.Gaussian(eps_of(c), delta_of(c), 2 ** c.uniform(-5, 5)),
    sn.DiscreteGaussian: lambda c: sn.DiscreteGaussian.from_eps(eps_of(c), delta_of(c), c.choice((1, 1, 2, 5))),
    sn.Skellam: lambda c: sn.Skellam.from_eps(eps_of(c), delta_of(c), c.choice((1, 1, 2, 5))),
    sn.GeneralizedDiscreteLaplace: lambda c: sn.GeneralizedDiscreteLaplace.from_eps(eps_of(c) + 0.1, c.randrange(1, 6)),
    sn.Arete: lambda c: sn.Arete.from_eps(c.uniform(1, 20), 1),
}
# The registry's other mechanisms are made from its examples.
MAKERS: dict[type, Callable[[random.Random], Any]] = {row.load(): partial(example, row) for row in ROWS} | OWN
UNDIVIDED = {sn.GeneralizedDiscreteLaplace, sn.Arete, sn.LatticeNoise}
OF_SUMS = {sn.Gaussian, sn.DiscreteGaussian, sn.Skellam}
NO_PROFILE = {sn.MultivariateStaircase}


def named(kind: type) -> str:
    return kind.__name__


def drawn(kind: type, case: object) -> tuple[Any, int]:
    choose = random.Random(f"{kind.__name__} {case}")
    return MAKERS[kind](choose), choose.randrange(2, 101)


def pure_eps(mechanism: Any) -> float:
    return float(mechanism.pure_eps() if isinstance(mechanism, sn.MergedLaplace) else mechanism.eps)


def declared(eps: float, delta: float, t: Any) -> Any:
    """Return the δ(t) that follows from (eps, delta)."""
    return delta + (1 - delta) * np.maximum(-np.expm1(t - eps), 0) / (1 + math.exp(-eps))


def levels(eps: float) -> NDArray[np.float64]:
    return np.concatenate([np.linspace(0, 1.05, 16), [1 - 1e-6, 1.0]]) * eps


def test_the_registry_has_every_mechanism() -> None:
    assert set(MAKERS) == {
        getattr(sn, name) for name in set(sn.__all__) - UNLISTED if hasattr(getattr(sn, name), "for_partitions")
    }
    assert set(MAKERS) == {getattr(sn, name) for name in set(sn.__all__) - UNLISTED if hasattr(getattr(sn, name), "release")} - {
        sn.PartitionSelection,
        sn.Spending,
    }


@pytest.mark.parametrize("kind", MAKERS, ids=named)
def test_one_value_is_the_mechanism_itself(kind: type) -> None:
    mechanism, k = drawn(kind, "one")
    assert mechanism.for_partitions(1) is mechanism
    if kind in UNDIVIDED:
        with pytest.raises(sn.ParameterError, match=rf"^k must be 1 for a mechanism given by .*, got {k}: "):
            mechanism.for_partitions(k)


@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind not in UNDIVIDED | OF_SUMS], ids=named)
def test_budgets_add_up_exactly(kind: type) -> None:
    """ε and δ of k values add up to the declared ones as rational numbers."""
    for case in range(3 if kind in NO_PROFILE else 40):
        mechanism, k = drawn(kind, case)
        divided = mechanism.for_partitions(k)
        if kind is sn.MergedLaplace:
            assert k * divided._largest_loss() <= mechanism._largest_loss()
        else:
            assert k * Fraction(divided.eps) <= Fraction(mechanism.eps)
        if kind is sn.DiscreteCanonical:
            assert k * Fraction(divided.delta) <= Fraction(mechanism.delta)
        if kind is sn.TruncatedLaplace:
            assert k * Fraction(divided.delta) <= Fraction(mechanism.delta)
            assert divided.achieved_delta <= divided.delta


@pytest.mark.parametrize("kind", [kind for kind in MAKERS if kind not in UNDIVIDED | NO_PROFILE], ids=named)
@pytest.mark.parametrize("case", CASES)
def test_own_accounting(kind: type, case: int) -> None:
    mechanism, k = drawn(kind, case)
    # Losses with an infinite part can take minutes to compose more often.
    k = min(k, 5) if kind in (sn.TruncatedLaplace, sn.DiscreteCanonical) else k
    divided = mechanism.for_partitions(k)
    if kind in OF_SUMS:
        loss = divided.privacy_loss() if kind is sn.Gaussian else divided.privacy_loss(sensitivity=mechanism.sensitivity)
        assert loss.compose(k).privacy_profile(mechanism.eps, bounds=True)[0] <= mechanism.delta * ROUNDING
        return
    eps, delta = pure_eps(mechanism), getattr(mechanism, "delta", 0.0)
    t = levels(eps)
    least = np.asarray(divided.compose(k).privacy_profile(t, bounds=True)[0])
    assert np.all(least <= declared(eps, delta, t) * ROUNDING + 1e-13)
    if kind is sn.TruncatedLaplace:
        # Compare also with the curve of one value, which is below the curve of (ε, δ) alone.
        assert np.all(least <= np.asarray(mechanism.privacy_profile(t)) * ROUNDING)


@looped("case", range(40))
def test_rho_of_mechanisms_of_a_variance(case: int) -> None:
    choose = random.Random(f"rho {case}")
    mechanism, k = sn.DiscreteGaussian(2 ** choose.uniform(-10, 40)), choose.randrange(2, 101)
    divided = mechanism.for_partitions(k)
    assert k * Fraction(1) / Fraction(divided.sigma2) <= 1 / Fraction(mechanism.sigma2)
    assert (divided.eps, divided.delta, divided.sensitivity) == (None, None, None)


# ---------------------------------------------------------------- independent accounting


def profile_of_losses(p: NDArray[np.float64], q: NDArray[np.float64], step: float, k: int, t: Any) -> Any:
    """Return δ of k releases with outcomes of probabilities p and q, whose finite losses are multiples of `step`."""
    shared = (p > 0) & (q > 0)
    infinite = -math.expm1(k * math.log1p(-float(p[~shared].sum()))) if np.any(~shared) else 0.0
    index = np.rint(np.log(p[shared] / q[shared]) / step).astype(int)
    mechanism = np.bincount(index - index.min(), p[shared])
    power = np.ones(1)
    for _ in range(k):
        power = np.convolve(power, mechanism)
    loss = (np.arange(power.size) + k * index.min()) * step
    return np.array([infinite + float(np.sum(power * -np.expm1(np.minimum(level - loss, 0.0)))) for level in t])


@pytest.mark.parametrize("kind", [sn.DiscreteLaplace, sn.DiscreteStaircase], ids=named)
@pytest.mark.parametrize("case", range(8))
def test_integer_mechanisms_by_convolution(kind: type, case: int) -> None:
    mechanism, k = drawn(kind, f"direct {case}")
    k = min(k, 30)
    divided = mechanism.for_partitions(k)
    D = divided.sensitivity
    k_values = np.arange(-int(60 * D / divided.eps) - D, int(60 * D / divided.eps) + 2 * D + 1)
    p, q = divided.pmf(k_values), divided.pmf(k_values - D)
    # The ratio is e^(-ε/D) from an integer to the next, or e^(-ε) from a step to the next.
    step = divided.eps / D if kind is sn.DiscreteLaplace else divided.eps
    t = levels(mechanism.eps)
    assert np.all(profile_of_losses(p, q, step, k, t) <= declared(mechanism.eps, 0.0, t) * ROUNDING + 1e-15)


@pytest.mark.parametrize("case", range(8))
def test_truncated_laplace_by_convolution(case: int) -> None:
    """The same distribution on a lattice of 16 steps to the sensitivity, truncated within the fine lattice's bounds."""
    mechanism, k = drawn(sn.TruncatedLaplace, f"direct {case}")
    k = min(k, 30)
    divided, D = mechanism.for_partitions(k), 16
    end = math.floor(divided.upper / mechanism.sensitivity * D)
    x = np.arange(-end - D, end + D + 1)
    weights = np.where(abs(x) <= end, np.exp(-divided.eps / D * abs(x)), 0.0)
    p = weights / weights.sum()
    q = np.concatenate([np.zeros(D), p[:-D]])
    t = levels(mechanism.eps)
    coarse = float(p[-2 * D : -D].sum())
    # Bounds rounded inwards leave a larger probability beyond them than the mechanism's own bounds.
    allowed = mechanism.delta * max(coarse / divided.delta, 1.0)
    assert np.all(profile_of_losses(p, q, divided.eps / D, k, t) <= declared(mechanism.eps, allowed, t) * ROUNDING)


@pytest.mark.parametrize("case", range(8))
def test_merged_laplace_by_ratios_of_the_density(case: int) -> None:
    mechanism, k = drawn(sn.MergedLaplace, f"direct {case}")
    divided = mechanism.for_partitions(k)
    corners = np.array([0.0, *divided.breakpoints])
    x = np.concatenate([corners, corners - mechanism.sensitivity, np.linspace(0, corners[-1] + mechanism.sensitivity, 500)])
    largest = float(np.max(divided.logpdf(x) - divided.logpdf(x + mechanism.sensitivity)))
    # The density's breakpoints are off the lattice by at most 2**-32 of the sensitivity.
    assert k * largest <= mechanism.pure_eps() * (1 + 1e-8)


FROM_THE_WILD = [
    (20.0, 1e-3, 1, 10),
    (0.5, 1e-6, 1, 3),
    (10.0, 1e-12, 1, 10),
    (1.0, 1e-6, 10, 7),
    (5.0, 0.9, 3, 12),
    (1e-3, 0.02, 1, 4),
]


@pytest.mark.parametrize(("eps", "delta", "shift", "k"), FROM_THE_WILD)
def test_discrete_gaussian_by_sums_of_all_outcomes(eps: float, delta: float, shift: int, k: int) -> None:
    divided = sn.DiscreteGaussian.from_eps(eps, delta, shift).for_partitions(k)
    with mp.workdps(50):
        for fewer in (1, k // 2, k):
            assert oracle.delta_of(Fraction(eps), shift, fewer, Fraction(divided.sigma2)) <= delta


@pytest.mark.parametrize("case", rest_long(range(6), range(15)))
def test_discrete_gaussian_of_any_parameters(case: int) -> None:
    mechanism, k = drawn(sn.DiscreteGaussian, f"direct {case}")
    k = min(k, 12)
    with mp.workdps(50):
        found = oracle.delta_of(Fraction(mechanism.eps), mechanism.sensitivity, k, Fraction(mechanism.for_partitions(k).sigma2))
        assert found <= mechanism.delta


@pytest.mark.parametrize("case", rest_long(range(6), range(15)))
def test_gaussian_by_the_normal_mechanism(case: int) -> None:
    """The sum of the noises has 2**32 steps and more to its σ: rounding the normal distribution changes δ by less than 1e-17 of
    it.
    """
    mechanism, k = drawn(sn.Gaussian, f"direct {case}")
    _, sigma2, steps = mechanism.for_partitions(k)._lattices
    with mp.workdps(60):
        assert sigma2 >= 2.0**64
        s = mp.sqrt(k) * steps / mp.sqrt(mp.mpf(sigma2))
        # By tests/oracles and docs/gaussian.md, the lattice costs at most this much, relatively and in ε.
        h = (
            k
            * ((mp.sqrt(2 * mp.log(2 * k / mp.mpf(mechanism.delta)) + 140) + steps / mp.sqrt(sigma2)) ** 2 + 3)
            / (24 * mp.mpf(sigma2))
        )
        assert gaussian_oracle.profile(mp.mpf(mechanism.eps) - h, s) <= mechanism.delta * (1 - h)
