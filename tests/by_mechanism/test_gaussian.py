"""Gaussian and DiscreteGaussian: parameters, outputs, functions against mpmath at 60 digits. Deterministic: no false alarms."""

import itertools
import json
import math
import random
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import stairnoise as sn
from stairnoise.mechanisms.discrete_gaussian.distribution import DiscreteGaussianDistribution
from stairnoise.mechanisms.gaussian import calibration as gaussian_sigma
from stairnoise.numerics import normal
from stairnoise.numerics.fixed_point import fixed_point
from tests.combinations import looped, rest_long
from tests.oracles import gaussian as oracle

REFERENCE = Path(__file__).parents[3] / "shared" / "reference" / "values.json"
# σ for both methods of summation: few terms, and Euler and Maclaurin's formula from σ = 30.
SIGMA2 = (2.0**-20, 0.01, 0.3, 1.0, 2.7, 100.0, 899.0, 901.0, 40000.0)


@pytest.fixture(autouse=True)
def digits() -> Any:
    with mp.workdps(60):
        yield


@cache
def tails(sigma2: float) -> tuple[list[mp.mpf], list[mp.mpf]]:
    """Return P(X = k) and P(X >= k) for k = 0, 1, …, by summation."""
    with mp.workdps(60):
        weights = [mp.exp(-(mp.mpf(k) ** 2) / (2 * mp.mpf(sigma2))) for k in range(int(60 * math.sqrt(sigma2)) + 70)]
        total = weights[0] + 2 * mp.fsum(weights[1:])
        above, beyond = [], mp.mpf(0)
        for weight in reversed(weights):
            beyond += weight
            above.append(beyond / total)
        return [weight / total for weight in weights], above[::-1]


def relative(found: Any, expected: Any) -> float:
    """Return the largest relative error among values that are normal numbers in float64."""
    errors = [abs(mp.mpf(float(a)) / b - 1) for a, b in zip(found, expected, strict=True) if b > 1e-300]
    return float(max(errors, default=0))


# ---------------------------------------------------------------- parameters

BAD = [
    (lambda: sn.DiscreteGaussian(0), "sigma2 must be from 2**-20 to 2**90, got 0.0"),
    (lambda: sn.DiscreteGaussian(-1), "sigma2 must be from 2**-20 to 2**90, got -1.0"),
    (lambda: sn.DiscreteGaussian(math.nan), "sigma2 must be from 2**-20 to 2**90, got nan"),
    (lambda: sn.DiscreteGaussian(2.0**91), "sigma2 must be from 2**-20 to 2**90, got "),
    (lambda: sn.DiscreteGaussian(1).rho(0), "sensitivity must be finite and greater than 0, got 0"),
    (lambda: sn.DiscreteGaussian(1).rho(math.inf), "sensitivity must be finite and greater than 0, got inf"),
    (lambda: sn.DiscreteGaussian(1).privacy_profile([1.0, math.nan]), "eps must be a number, not NaN, got nan"),
    (lambda: sn.DiscreteGaussian(1).privacy_profile(1, 0), "sensitivity must be an integer from 1 to 2**62, got 0"),
    (lambda: sn.Gaussian(0, 1e-6, sensitivity=1), "eps must be from 2**-40 to 2**20 for Gaussian noise, got 0"),
    (lambda: sn.Gaussian(math.nan, 1e-6, sensitivity=1), "eps must be from 2**-40 to 2**20 for Gaussian noise, got nan"),
    (lambda: sn.Gaussian(math.inf, 1e-6, sensitivity=1), "eps must be from 2**-40 to 2**20 for Gaussian noise, got inf"),
    (lambda: sn.Gaussian(1, 0, sensitivity=1), "delta must be greater than 0 and less than 1, got 0"),
    (lambda: sn.Gaussian(1, 1.0, sensitivity=1), "delta must be greater than 0 and less than 1, got 1.0"),
    (lambda: sn.Gaussian(1, math.nan, sensitivity=1), "delta must be greater than 0 and less than 1, got nan"),
    (lambda: sn.Gaussian(1, 1e-6, 0), "sensitivity must be finite and greater than 0, got 0"),
    (lambda: sn.Gaussian(1, 1e-6, math.nan), "sensitivity must be finite and greater than 0, got nan"),
    (lambda: sn.Gaussian(1, 1e-6, 1e-320), "sensitivity must give a granularity from 2**-1074 to 2**960, got 1e-320"),
    (
        lambda: sn.Gaussian(2.0**-40, 1e-20, sensitivity=1),
        "eps and delta must give a standard deviation below 2**34 times the sensitivity, rounded down to a power of two, got ",
    ),
    (lambda: sn.Gaussian(1, 1e-6, sensitivity=1).privacy_profile(math.nan), "eps must be a number, not NaN, got nan"),
    (
        lambda: sn.Gaussian(1, 1e-6, sensitivity=1).release([1.0], max_partitions_contributed=0),
        "max_partitions_contributed must be an integer from 1",
    ),
    (
        lambda: sn.DiscreteGaussian(2.0**80).release([1], max_partitions_contributed=2**40),
        "max_partitions_contributed must leave a sigma2",
    ),
]


@looped(("call", "message"), BAD)
def test_what_is_refused_and_how(call: Any, message: str) -> None:
    with pytest.raises(sn.ParameterError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_text_is_no_number() -> None:
    with pytest.raises(sn.ParameterTypeError, match="sigma2 must be a real number"):
        sn.DiscreteGaussian("1")  # type: ignore[arg-type]
    with pytest.raises(sn.ParameterTypeError, match="delta must be a real number"):
        sn.Gaussian(1, True, sensitivity=1)


def test_properties() -> None:
    mechanism = sn.Gaussian(1, 1e-6, 2)
    assert (mechanism.eps, mechanism.delta, mechanism.sensitivity) == (1.0, 1e-6, 2.0)
    assert mechanism.granularity == 2.0**-29
    assert mechanism.exactness == sn.DiscreteGaussian(4).exactness == "lattice"
    assert sn.DiscreteGaussian(4).sigma2 == 4.0
    assert sn.DiscreteGaussian(4).granularity == 1
    assert sn.DiscreteGaussian(4).rho(3) == 9 / 8
    assert math.isclose(mechanism.rho, 4 / (2 * mechanism.sigma**2), rel_tol=1e-14)


def test_partitions_for_which_no_lattice_is_wide_enough() -> None:
    with pytest.raises(
        sn.ParameterError, match=r"^max_partitions_contributed must leave a lattice that fits, got 2147483648: eps and delta "
    ):
        sn.Gaussian(2.0**-20, 1e-12, sensitivity=1).release(1.0, max_partitions_contributed=2**31)


# ---------------------------------------------------------------- outputs


def test_dtypes() -> None:
    assert sn.DiscreteGaussian(3).sample(3).dtype == np.int64
    assert sn.DiscreteGaussian(2.0**80).sample(100, dtype=np.int32, rng=sn.SeededRng(1)).max() == 2**31 - 1
    assert sn.Gaussian(1, 1e-6, sensitivity=1).sample(3, dtype=np.float32).dtype == np.float32
    drawn = sn.Gaussian(1, 1e-6, sensitivity=1).sample(1000, rng=sn.SeededRng(1))
    assert np.array_equal(np.ldexp(drawn, 32), np.rint(np.ldexp(drawn, 32)))
    assert sn.DiscreteGaussian(3).release([1, 2]).dtype == np.int64
    assert sn.Gaussian(1, 1e-6, sensitivity=1).release([1, 2]).dtype == np.float64


# ---------------------------------------------------------------- calibration


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, 5])
def test_sigma_is_the_least_but_for_the_lattice(partitions: int) -> None:
    """Balle and Wang's δ by mpmath, at σ and at a σ smaller by the lattice's maximum cost, for parameters from wide ranges."""
    choose = random.Random(partitions)
    for _ in range(40):
        eps, delta = 2 ** choose.uniform(-20, 20), 10 ** choose.uniform(-15, -0.01)
        sensitivity = 10 ** choose.uniform(-30, 30)
        mechanism = sn.Gaussian(eps, delta, sensitivity).for_partitions(partitions)
        s = mp.sqrt(partitions) * mp.mpf(sensitivity) / mp.mpf(mechanism.sigma)
        assert oracle.profile(mp.mpf(eps), s) <= delta
        share = mechanism.sigma / sensitivity
        cost = max(1e-9, min(2.0**-19, 2.0**-31 * share), 2.0**-42 * share)
        assert oracle.profile(mp.mpf(eps), s * (1 + mp.mpf(cost))) > delta


@pytest.mark.parametrize(
    ("parameters", "partitions"),
    [
        ((1.0, 1e-6, 1.0), 1),
        ((2.0**-40, 0.3, 1.0), 1),
        ((2.0**-40, 1e-6, 1e-250), 1),
        ((2.0**20, 5e-324, 1e250), 1),
        ((18.0, 0.999999, 1.0), 2),
        ((0.05, 1 - 2.0**-20, 3.0), 10**6),
        ((1e-3, 1e-300, 7.0), 1000),
    ],
)
def test_sigma2_is_the_least_float(parameters: tuple[float, float, float], partitions: int) -> None:
    """B(ε - h, z) = δ(1 - h) of the contract by mpmath, whose z lies between those of σ² and of the float64 below."""
    eps, delta, _ = parameters
    mechanism = sn.Gaussian(*parameters).for_partitions(partitions)
    log2_g, sigma2, sensitivity_steps = mechanism._lattices
    assert (log2_g, sigma2, sensitivity_steps) == oracle.calibrate(*parameters, partitions)
    with mp.workdps(120):
        ideal = oracle.ratio(mp.mpf(eps), mp.mpf(delta))
        loss = lattice_loss(
            mp.mpf(parameters[2]) * mp.sqrt(partitions) / ideal / mp.mpf(2) ** log2_g, sensitivity_steps, delta, partitions
        )
        below, here = (
            oracle.profile(mp.mpf(eps) - loss, mp.sqrt(partitions) * sensitivity_steps / mp.sqrt(mp.mpf(x)))
            for x in (math.nextafter(sigma2, 0), sigma2)
        )
        assert here <= delta * (1 - loss) < below


def test_profiles_have_the_digits_that_are_claimed() -> None:
    """ln B by mpmath at 100 digits, for parameters from wide ranges and at 6, where Mills' ratio changes its formula."""
    choose = random.Random(3)
    places = [(2 ** choose.uniform(-40, 20), choose.uniform(-8, 40)) for _ in range(60)]
    places += [(2 ** choose.uniform(-6, 6), choose.uniform(5.5, 6.1)) for _ in range(60)]
    for (eps, near), (beyond, digits) in itertools.product(places, ((160, 1e-33), (128, 2.0**-80))):
        least = math.sqrt(near * near + 2 * eps) - near
        n = fixed_point(gaussian_sigma._bits(eps, least, beyond))
        s = n.of(least)
        with mp.workdps(100):
            expected = mp.log(oracle.profile(mp.mpf(eps), mp.ldexp(s, -n.bits)))
            error = mp.ldexp(gaussian_sigma.log_profile(n, n.of(eps), s), -n.bits) - expected
            assert abs(error) < digits, (eps, near, beyond)


@pytest.mark.parametrize(("eps", "partitions"), [(0.25, 1), (18.0, 1000)])
def test_certainty_where_the_profile_is_flat(eps: float, partitions: int) -> None:
    """Near δ = 1, the allowance of 1e-30 for errors changes σ² by some float64; the calibration adds no more."""
    mechanism, delta = sn.Gaussian(eps, 1 - 2.0**-53, sensitivity=1).for_partitions(partitions), 1 - 2.0**-53
    log2_g, sigma2, sensitivity_steps = mechanism._lattices
    with mp.workdps(120):
        ideal = oracle.ratio(mp.mpf(eps), mp.mpf(delta))
        loss = lattice_loss(mp.sqrt(partitions) / ideal / mp.mpf(2) ** log2_g, sensitivity_steps, delta, partitions)
        below, here = (
            oracle.profile(mp.mpf(eps) - loss, mp.sqrt(partitions) * sensitivity_steps / mp.sqrt(mp.mpf(x)))
            * (1 + mp.mpf("1e-30"))
            for x in (math.nextafter(sigma2, 0), sigma2)
        )
        assert here <= mp.mpf(delta) * (1 - loss) < below
    assert sigma2 > oracle.calibrate(eps, delta, 1.0, partitions)[1]


def test_sigma_grows_like_the_root_of_the_partitions() -> None:
    one = sn.Gaussian(1, 1e-6, sensitivity=1)
    for k in (4, 100, 10**6):
        assert math.isclose(one.for_partitions(k).sigma, math.sqrt(k) * one.sigma, rel_tol=1e-9)


def reference_sigmas() -> list[Any]:
    if not REFERENCE.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason="shared/reference is not beside this repository"))]
    values = json.loads(REFERENCE.read_text())["values"]
    return [value for value in values if value["quantity"] == "analytic_gaussian_sigma"]


@pytest.mark.parametrize("value", reference_sigmas())
def test_reference_sigma(value: Any) -> None:
    """Table B of the comparison of truncated Laplace noise has this σ, computed elsewhere at 22 digits or more."""
    parameters = value["params"]
    mechanism = sn.Gaussian(float(parameters["eps"]), float(parameters["delta"]), float(parameters.get("D", 1)))
    assert math.isclose(mechanism.sigma, float(value["value"]), rel_tol=1e-9)


# ---------------------------------------------------------------- privacy of the lattice


def exact_profile(sigma2: float, eps: float, shift: int) -> mp.mpf:
    """Return Σ max(0, P(X = k) - e^ε P(X = k + shift)), term by term, from the probabilities alone."""
    pmf, _ = tails(sigma2)

    def probability(k: int) -> mp.mpf:
        return pmf[abs(k)] if abs(k) < len(pmf) else mp.mpf(0)

    growth = mp.exp(mp.mpf(eps))
    return mp.fsum(max(mp.mpf(0), probability(k) - growth * probability(k + shift)) for k in range(-len(pmf), len(pmf)))


@pytest.mark.parametrize("sigma2", [0.3, 1.0, 2.7, 100.0, 899.0, 901.0, pytest.param(4000.0, marks=pytest.mark.long)])
def test_profile_is_the_sum_over_the_best_event(sigma2: float) -> None:
    mechanism = sn.DiscreteGaussian(sigma2)
    for shift in sorted({1, 2, math.ceil(math.sqrt(sigma2) / 3), math.ceil(3 * math.sqrt(sigma2))}):
        for eps in (0.0, 1e-6, 0.1, 1.0, 5.0):
            expected = exact_profile(sigma2, eps, shift)
            if expected > 1e-250:
                assert relative([mechanism.privacy_profile(eps, shift)], [expected]) < 1e-11, (shift, eps)


@pytest.mark.parametrize(("eps", "delta"), [(1.0, 1e-6), (0.01, 1e-9), (8.0, 1e-3), (2.0**-40, 1e-3), (1000.0, 1e-12)])
def test_lattice_mechanism_keeps_the_promise(eps: float, delta: float) -> None:
    """The profile at ε is at most δ, up to the error of its formula, and not much less."""
    mechanism = sn.Gaussian(eps, delta, sensitivity=1)
    assert 1 - 1e-8 < mechanism.privacy_profile(eps) / delta <= 1 + 1e-11
    more = mechanism.privacy_profile(np.array([eps, 2 * eps]))
    assert more[1] < more[0]


@pytest.mark.parametrize("sigma", [4.0, 20.0, 63.7])
@pytest.mark.parametrize("eps", [0.1, 1.0, 3.0])
def test_bound_between_lattice_and_normal_noise(sigma: float, eps: float) -> None:
    """The calibration relies on this bound, checked at a small σ, for a change of n steps and h = 1/(8σ²):

    δ of the lattice <= e^h B(ε - (K + n/σ)²/(24σ²) - h, n/σ) + 2 e^h (1 - Φ(K)).
    """
    for sensitivity_steps in (1, math.ceil(sigma / 2), math.ceil(sigma)):
        shift, width = mp.mpf(sensitivity_steps), mp.mpf(9)
        h = 1 / (8 * mp.mpf(sigma) ** 2)
        loss = (width + shift / sigma) ** 2 / (24 * mp.mpf(sigma) ** 2) + h
        bound = mp.exp(h) * (oracle.profile(eps - loss, shift / sigma) + 2 * mp.erfc(width / mp.sqrt(2)) / 2)
        exact = exact_profile(sigma * sigma, eps, sensitivity_steps)
        assert exact <= bound
        assert bound < exact + loss


def joint_profile(sigma: float, eps: float, shift: int) -> mp.mpf:
    """Return δ of two values with independent noise that both change by `shift`, summed over the pairs of results."""
    pmf = np.array([float(p) for p in tails(sigma * sigma)[0]])
    k = np.arange(-len(pmf) + 1, len(pmf) - shift)
    here, there = pmf[np.abs(k)], pmf[np.abs(k + shift)]
    return mp.mpf(float(np.sum(np.maximum(np.outer(here, here) - math.exp(eps) * np.outer(there, there), 0))))


@pytest.mark.slow
@pytest.mark.parametrize("partitions", [1, pytest.param(2, marks=pytest.mark.long)])
def test_calibration_would_hold_on_coarse_lattices(partitions: int) -> None:
    """The calibration's own rule holds at a σ where its allowance for the lattice is not negligible."""
    broken_without = []
    for sigma, eps, steps in itertools.product((4.0, 12.0, 40.5), (0.5, 1.0, 2.0), (20, 4, 1)):
        sensitivity_steps = math.ceil(sigma / steps)
        shift, delta = mp.sqrt(partitions) * sensitivity_steps / sigma, mp.mpf("1e-3")
        for _ in range(60):
            loss = lattice_loss(sigma, sensitivity_steps, delta, partitions)
            if loss >= min(1, eps):
                break
            delta = oracle.profile(eps - loss, shift) / (1 - loss)
        if loss < min(1, eps) and 1e-200 < delta < 1:
            exact = (
                exact_profile(sigma**2, eps, sensitivity_steps)
                if partitions == 1
                else joint_profile(sigma, eps, sensitivity_steps)
            )
            assert exact <= delta, (sigma, eps, sensitivity_steps)
            broken_without.append(oracle.profile(mp.mpf(eps), shift) < exact)
    assert any(broken_without)
    assert len(broken_without) > 12


def test_allowance_is_the_contracts() -> None:
    """The allowance is h of docs/contract.md, for any number of values."""
    for sigma, sensitivity_steps, delta, k in ((2.0**32, 2**32, 1e-6, 1), (2.0**43, 2**20, 5e-324, 1000), (40.5, 3, 0.5, 7)):
        width = mp.sqrt(2 * mp.log(2 * k / mp.mpf(delta)) + 140)
        expected = k * ((width + sensitivity_steps / mp.mpf(sigma)) ** 2 + 3) / (24 * mp.mpf(sigma) ** 2)
        assert abs(lattice_loss(sigma, sensitivity_steps, mp.mpf(delta), k) / expected - 1) < 1e-20


def lattice_loss(sigma: Any, sensitivity_steps: int, delta: Any, partitions: int) -> mp.mpf:
    n = fixed_point(300)
    log_delta = int(mp.ldexp(mp.log(mp.mpf(delta)), n.bits))
    return mp.ldexp(
        mp.mpf(gaussian_sigma._lattice_loss(n, int(mp.ldexp(sigma, n.bits)), sensitivity_steps, log_delta, partitions)), -n.bits
    )


@pytest.mark.parametrize("sigma", [1.0, 3.0, 10.5])
def test_probabilities_against_cells_of_normal_noise(sigma: float) -> None:
    """The bound follows from e^-(k²/24σ⁴) <= P(X = k)/P(normal within 1/2 of k) <= e^(1/8σ²), up to the normalisation."""
    pmf, _ = tails(sigma * sigma)
    for k in range(int(30 * sigma)):
        cell = (mp.erfc((k - 0.5) / (sigma * mp.sqrt(2))) - mp.erfc((k + 0.5) / (sigma * mp.sqrt(2)))) / 2
        ratio = pmf[k] / cell
        lost = 1 + 2.1 * mp.exp(-2 * mp.pi**2 * sigma**2)
        assert mp.exp(-(mp.mpf(k) ** 2) / (24 * mp.mpf(sigma) ** 4)) / lost <= ratio <= mp.exp(1 / (8 * mp.mpf(sigma) ** 2)), k


# ---------------------------------------------------------------- functions of the discrete mechanism


@pytest.mark.parametrize("sigma2", SIGMA2)
def test_probabilities(sigma2: float) -> None:
    mechanism, (pmf, above) = sn.DiscreteGaussian(sigma2), tails(sigma2)
    last = min(len(pmf) - 2, int(37 * math.sqrt(sigma2)) + 2)
    points = sorted(random.Random(1).sample(range(1, last + 1), min(last, 300)))
    x = np.array(points, float)
    assert relative(mechanism.pmf(x), [pmf[k] for k in points]) < 1e-12
    assert relative(mechanism.sf(x - 1), [above[k] for k in points]) < 1e-12
    assert relative(mechanism.cdf(-x), [above[k] for k in points]) < 1e-12
    assert relative(mechanism.cdf(x), [1 - above[k + 1] for k in points]) < 1e-12
    assert relative(mechanism.pmf([0.0]), pmf[:1]) < 1e-14
    assert np.array_equal(mechanism.pmf(-x), mechanism.pmf(x))
    assert np.allclose(mechanism.logsf(x), [float(mp.log(above[k + 1])) for k in points], rtol=1e-12)
    assert mechanism.pmf(0.5) == 0
    assert np.array_equal(mechanism.sf([2.0, 2.9]), mechanism.sf([2.0, 2.0]))


@pytest.mark.parametrize("sigma2", [*SIGMA2, 2.0**40, 2.0**64])
def test_quantiles_invert(sigma2: float) -> None:
    mechanism = sn.DiscreteGaussian(sigma2)
    q = np.concatenate([10.0 ** -np.arange(1, 300, 7), np.linspace(0.01, 0.99, 33)])
    # If neighbours differ by rounding only, a quantile can be off by as much.
    slack = 1e-11
    k = mechanism.isf(q)
    assert np.all(mechanism.sf(k) <= q * (1 + slack))
    assert np.all(mechanism.sf(k - 1) > q * (1 - slack))
    k = mechanism.ppf(q)
    assert np.all(mechanism.cdf(k) >= q * (1 - slack))
    assert np.all(mechanism.cdf(k - 1) < q * (1 + slack))
    for alpha in (1.0, 0.5, 0.05, 1e-12):
        t = mechanism._tail_bound(alpha)
        assert 2 * mechanism.sf(t) <= alpha * (1 + slack)
        assert t == 0 or 2 * mechanism.sf(t - 1) > alpha * (1 - slack)
    assert mechanism.ppf([0, 1]).tolist() == [-math.inf, math.inf]
    assert mechanism.isf([0, 1]).tolist() == [math.inf, -math.inf]
    assert np.isnan(mechanism.ppf([math.nan, -0.1, 1.1])).all()
    zeros = np.array([mechanism.ppf(0.5), mechanism.isf(0.5), mechanism.median()])
    assert not zeros.any()
    assert not np.signbit(zeros).any()


@pytest.mark.parametrize("sigma2", rest_long(SIGMA2[1:-1], SIGMA2[1:]))
def test_moments(sigma2: float) -> None:
    mechanism, (pmf, _) = sn.DiscreteGaussian(sigma2), tails(sigma2)

    def moment(p: float) -> mp.mpf:
        return 2 * mp.fsum(mp.mpf(k) ** p * pmf[k] for k in range(1, len(pmf)))

    for p in (0.01, 0.5, 1, 2, 3, 4, 7.5, 20):
        assert relative([mechanism.abs_moment(p)], [moment(p)]) < 1e-12, p
    assert relative([mechanism.var()], [moment(2)]) < 1e-12
    assert (mechanism.mean(), mechanism.moment(3), mechanism.median()) == (0, 0, 0)
    assert mechanism.abs_moment(-0.5) == math.inf
    entropy = -mp.fsum((2 if k else 1) * p * mp.log(p) for k, p in enumerate(pmf) if p > mp.mpf(10) ** -70)
    assert relative([mechanism.entropy()], [entropy]) < 1e-12


@pytest.mark.parametrize("p", [0.01, 0.5, 1.0, 1.5, 2.0, 3.0, 3.9])
def test_moments_of_wide_mechanisms(p: float) -> None:
    """Beyond sums, the integral with the kink's correction agrees with the same formula with more terms, by mpmath's zeta."""
    sigma2 = mp.mpf(1500) ** 2
    integral = (2 * sigma2) ** ((mp.mpf(p) + 1) / 2) * mp.gamma((mp.mpf(p) + 1) / 2)
    series = mp.fsum(mp.zeta(-mp.mpf(p) - 2 * j) * (-1 / (2 * sigma2)) ** j / mp.factorial(j) for j in range(6))
    expected = (integral + 2 * series) / mp.sqrt(2 * mp.pi * sigma2)
    assert relative([sn.DiscreteGaussian(1500.0**2).abs_moment(p)], [expected]) < 1e-13


@pytest.mark.parametrize("p", [63.5, 64])
def test_moments_beyond_float64(p: float) -> None:
    """σ**p alone is 1e864 here."""
    assert sn.DiscreteGaussian(1e27).abs_moment(p) == math.inf
    assert sn.Gaussian(1, 1e-6, 1e280).abs_moment(p) == math.inf


@pytest.mark.parametrize("mechanism", [sn.Gaussian(1, 1e-6, sensitivity=1), sn.DiscreteGaussian(0.3), sn.DiscreteGaussian(1e6)])
def test_support_and_the_moment_that_is_the_whole_probability(mechanism: Any) -> None:
    assert mechanism.support() == (-math.inf, math.inf)
    assert mechanism.abs_moment(0) == 1


@pytest.mark.parametrize("sigma", [2.0**20, 2.0**44])
def test_wide_mechanisms_are_normal_mechanisms(sigma: float) -> None:
    """If half a lattice step is counted, the mechanisms differ by at most (z² + 3)/(24σ²), and by the rounding of
    tails.
    """
    mechanism = sn.DiscreteGaussian(sigma * sigma)
    z = np.array([-8.0, -1.0, 0.0, 0.3, 5.0, 37.0])
    k = np.floor(z * sigma)
    expected = [mp.erfc((mp.mpf(x) + 0.5) / (sigma * mp.sqrt(2))) / 2 for x in k]
    assert relative(mechanism.sf(k), expected) < (37**2 + 3) / (24 * sigma**2) + 1e-12
    assert relative([mechanism.var()], [mp.mpf(sigma) ** 2]) < 1e-14


def test_far_tails_keep_their_logarithms() -> None:
    mechanism = DiscreteGaussianDistribution(100.0)
    k = np.array([1e3, 1e6, 1e9, 1e100])
    assert np.all(np.isfinite(mechanism.logsf(k)))
    assert np.all(mechanism.logsf(k) < -(k**2) / 201)
    assert mechanism.logsf(np.array([np.inf, -np.inf])).tolist() == [-math.inf, 0.0]
    assert np.isnan(mechanism.logsf(np.array([np.nan]))).all()


# ---------------------------------------------------------------- functions of the normal distribution


def test_mills_ratio() -> None:
    z = np.concatenate([np.linspace(0, 12, 60), np.geomspace(12, 200, 40)])
    exact = [mp.sqrt(mp.pi / 2) * mp.exp(mp.mpf(x) ** 2 / 2) * mp.erfc(mp.mpf(x) / mp.sqrt(2)) for x in z]
    assert relative(normal.mills(z), exact) < 1e-13


def test_normal_functions() -> None:
    mechanism = sn.Gaussian(1, 1e-6, sensitivity=1)
    sigma = mp.mpf(mechanism.sigma)
    x = np.array([-60.0, -10.0, -1.0, 0.0, 0.1, 3.0, 40.0, 150.0])
    tail = [mp.erfc(mp.mpf(y) / (sigma * mp.sqrt(2))) / 2 for y in x]
    assert relative(mechanism.sf(x), tail) < 1e-12
    assert relative(mechanism.cdf(-x), tail) < 1e-12
    assert np.allclose(mechanism.logsf(x), [float(mp.log(p)) for p in tail], rtol=1e-12, atol=0)
    density = [mp.npdf(mp.mpf(y), 0, sigma) for y in x]
    assert relative(mechanism.pdf(x), density) < 1e-12
    assert np.allclose(mechanism.logpdf(x), [float(mp.log(p)) for p in density], rtol=1e-13)
    q = np.array([1e-300, 1e-20, 0.025, 0.4, 0.5, 0.6, 0.999])
    assert np.allclose(mechanism.sf(mechanism.isf(q)), q, rtol=1e-11)
    assert np.allclose(mechanism.cdf(mechanism.ppf(q)), q, rtol=1e-11)
    assert (mechanism.ppf(0.5), math.copysign(1, mechanism.ppf(0.5))) == (0, 1)
    assert mechanism.ppf([0, 1]).tolist() == [-math.inf, math.inf]
    assert math.isclose(2 * mechanism.sf(mechanism.error_bound(0.95)), 0.05, rel_tol=1e-12)
    assert relative([mechanism.entropy()], [mp.log(sigma * mp.sqrt(2 * mp.pi * mp.e))]) < 1e-14
    assert (
        relative(
            [mechanism.abs_moment(1), mechanism.abs_moment(3.5)],
            [sigma * mp.sqrt(2 / mp.pi), mp.mpf(2) ** 1.75 * sigma**3.5 * mp.gamma(2.25) / mp.sqrt(mp.pi)],
        )
        < 1e-13
    )
    assert (mechanism.mean(), mechanism.moment(3), mechanism.median()) == (0, 0, 0)
    assert math.isclose(mechanism.std(), mechanism.sigma)
    mean, variance, skew, kurtosis = mechanism.stats("mvsk")
    assert (mean, skew, round(kurtosis, 12)) == (0, 0, 0)
    assert math.isclose(variance, mechanism.sigma**2)


def test_lattice_is_as_near_to_the_normal_mechanism_as_promised() -> None:
    """Half a lattice step times the density at 0 bounds the difference of the distribution functions."""
    for eps, delta in ((1.0, 1e-6), (2.0**20, 0.5), (2.0**-40, 1e-9), (1e-3, 0.9)):
        mechanism = sn.Gaussian(eps, delta, sensitivity=1)
        assert mechanism.granularity * mechanism.pdf(0.0) < 1e-10


def test_variance_of_partitions_is_rounded_up() -> None:
    mechanism = sn.DiscreteGaussian(0.1)
    for k in (2, 3, 7, 1000):
        assert Fraction(mechanism.for_partitions(k).sigma2) >= Fraction(0.1) * k
        assert mechanism.for_partitions(k).rho(math.sqrt(k)) <= mechanism.rho() * (1 + 1e-15)


@pytest.mark.parametrize("eps", [5e-324, 1e-300, 1e-15, 1e-12])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_least_sigma2_of_a_tiny_eps(eps, delta):
    """Compared with δ(0) of the Gaussian distribution, 2Φ(Δ/2σ) − 1 = Δ/(σ√2π) to a relative δ²; ε changes δ by at most ε."""
    shift = 3
    mechanism = sn.DiscreteGaussian.from_eps(eps, delta, shift)
    expected = (shift / (delta * math.sqrt(2 * math.pi))) ** 2
    assert mechanism.sigma2 == pytest.approx(expected, rel=2e-9 + delta**2 + 4 * eps / delta)
    assert mechanism.privacy_profile(eps, shift) <= delta


def test_the_bounds_on_sigma2_may_be_above_the_largest_one():
    """Pinsker's inequality requires more than 2**90 here, too much by π/2; 1/(2πδ²) is enough, to a relative δ²."""
    delta = 1.3e-14
    assert 1 / (2 * delta) ** 2 > 2.0**90
    mechanism = sn.DiscreteGaussian.from_eps(1e-300, delta)
    assert mechanism.sigma2 == pytest.approx(1 / (2 * math.pi * delta**2), rel=2e-9)
    assert mechanism.privacy_profile(1e-300) <= delta


@pytest.mark.parametrize(("eps", "delta"), [(1e-300, 1e-30), (5e-324, 5e-324)])
def test_an_eps_and_a_delta_beyond_every_sigma2_are_named(eps, delta):
    with pytest.raises(
        sn.ParameterError, match=r"^eps, delta and sensitivity must leave a sigma2 that fits 64-bit integers, got "
    ):
        sn.DiscreteGaussian.from_eps(eps, delta)


@pytest.mark.parametrize("mechanism", [sn.Gaussian(1.5, 1e-6, sensitivity=1), sn.DiscreteGaussian(4.0), sn.DiscreteGaussian(1e9)])
def test_functions_at_the_ends(mechanism):
    """Functions are 0 and 1 at infinity, and at numbers whose squares overflow."""
    far = np.array([math.inf, np.finfo(float).max, 2.0**1023, 1e200])
    assert mechanism.cdf(far).tolist() == mechanism.sf(-far).tolist() == [1.0] * 4
    assert mechanism.sf(far).tolist() == mechanism.cdf(-far).tolist() == [0.0] * 4
    assert mechanism.logcdf(far).tolist() == mechanism.logsf(-far).tolist() == [0.0] * 4
    assert mechanism.logsf(far).tolist() == mechanism.logcdf(-far).tolist() == [-math.inf] * 4
    assert np.isnan(
        [mechanism.cdf(math.nan), mechanism.sf(math.nan), mechanism.logcdf(math.nan), mechanism.logsf(math.nan)]
    ).all()
