"""The timed mechanisms other than the four core ones, and the check of their draws.

The moments are written here from the literature; nothing here imports stairnoise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benches.mechanisms import STANDARD_ERRORS


@dataclass(frozen=True)
class Mechanism:
    """A mechanism: its class and arguments, and E X² and E X⁴ of the checked numbers."""

    name: str
    arguments: Mapping[str, Any]
    second: float
    fourth: float
    dim: int = 1
    checked: Callable[[NDArray[Any]], NDArray[Any]] = field(default=np.ravel)
    """The numbers with these moments: the values, or the norms of vectors."""
    dtype: type[np.generic] = np.float64

    @property
    def work(self) -> str:
        """The mechanism in words, as in records."""
        return f"{self.name}, {', '.join(f'{name}={_text(value)}' for name, value in self.arguments.items())}"

    def check(self, values: NDArray[Any]) -> None:
        """Raise AssertionError unless E X² is the mechanism's within standard errors."""
        x = np.asarray(self.checked(values), np.float64)
        assert x.size >= 1000, f"too few values to check: {x.size}"
        spread = math.sqrt((self.fourth - self.second**2) / x.size)
        errors = (float(np.mean(x**2)) - self.second) / spread
        assert abs(errors) <= STANDARD_ERRORS, f"{self.work}: E X² is {errors:+.1f} standard errors off"


def _text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _summed(probability: Callable[[NDArray[Any]], NDArray[Any]], x: NDArray[Any]) -> tuple[float, float]:
    """Return E X² and E X⁴ from unnormalised probabilities or a density on an even grid."""
    p = probability(x)
    p = p / p.sum()
    return float(np.sum(p * x**2)), float(np.sum(p * x**4))


def discrete_gaussian(sigma2: float) -> Mechanism:
    """P(k) ∝ exp(−k²/(2σ²)) (Canonne, Kamath and Steinke 2020, Definition 1)."""
    k = np.arange(-math.ceil(12 * math.sqrt(sigma2)) - 1, math.ceil(12 * math.sqrt(sigma2)) + 2)
    moments = _summed(lambda x: np.exp(-(x**2) / (2 * sigma2)), k.astype(float))
    return Mechanism("DiscreteGaussian", {"sigma2": sigma2}, *moments, dtype=np.int64)


def gaussian(eps: float, delta: float) -> Mechanism:
    """Return normal noise with the σ of Balle and Wang (2018), Theorem 8, at sensitivity 1."""

    def normal_cdf(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    low, high = 1e-3, 1e3
    for _ in range(200):
        s = (low + high) / 2
        found = normal_cdf(1 / (2 * s) - eps * s) - math.exp(eps) * normal_cdf(-1 / (2 * s) - eps * s)
        low, high = (s, high) if found > delta else (low, s)
    return Mechanism("Gaussian", {"eps": eps, "delta": delta}, high**2, 3 * high**4)


def truncated_laplace(eps: float, delta: float) -> Mechanism:
    """Laplace noise cut at B = ln(1 + (e^ε − 1)/(2δ))/ε, sensitivity 1."""
    end = math.log1p(math.expm1(eps) / (2 * delta)) / eps
    x = np.linspace(-end, end, 400_001)
    return Mechanism("TruncatedLaplace", {"eps": eps, "delta": delta}, *_summed(lambda x: np.exp(-eps * np.abs(x)), x))


def _stairs(eps: float, width: float, first: float, x: NDArray[Any]) -> NDArray[Any]:
    """Return the staircase's density or probabilities, unnormalised: steps of a `width` after one that ends at `first`."""
    return np.exp(-eps * np.where(np.abs(x) < first, 0, np.floor((np.abs(x) - first) / width) + 1))


def truncated_staircase(eps: float, delta: float) -> Mechanism:
    """Staircase noise with γ = 1/2 between −B and B, sensitivity 1: the last unit at an end has the mass δ."""
    x = (np.arange(400_000) + 0.5) / 10_000
    above = np.concatenate([[0.0], np.cumsum(_stairs(eps, 1, 0.5, x))])
    last = (above[10_000:] - above[:-10_000]) / (2 * above[10_000:])
    end = x[: 10_000 + int(np.argmax(last <= delta))]
    moments = _summed(lambda x: _stairs(eps, 1, 0.5, x), np.concatenate([-end[::-1], end]))
    return Mechanism("TruncatedStaircase", {"eps": eps, "delta": delta, "gamma": 0.5}, *moments)


def truncated_discrete_staircase(eps: float, delta: float, sensitivity: int, r: int) -> Mechanism:
    """Discrete staircase noise on −A … A: the last Δ integers at an end have at most the mass δ."""
    whole = _stairs(eps, sensitivity, r, np.arange(10_000))
    above = np.cumsum(whole) - whole[0] / 2
    last = (above[sensitivity:] - above[:-sensitivity]) / (2 * above[sensitivity:])
    most = sensitivity + int(np.argmax(last <= delta))
    moments = _summed(lambda x: _stairs(eps, sensitivity, r, x), np.arange(-most, most + 1).astype(float))
    arguments = {"eps": eps, "delta": delta, "sensitivity": sensitivity, "r": r}
    return Mechanism("TruncatedDiscreteStaircase", arguments, *moments, dtype=np.int64)


def lattice_noise(reach: int, ratio: float) -> Mechanism:
    """Weights reach + 1 − |k| up to |k| = reach, and the factor `ratio` from each integer beyond to the next."""

    def weight(x: NDArray[Any]) -> NDArray[Any]:
        beyond = np.maximum(np.abs(x) - reach, 0)
        return (reach + 1 - np.minimum(np.abs(x), reach)) * ratio**beyond

    end = reach + math.ceil(-100 / math.log(ratio))
    moments = _summed(weight, np.arange(-end, end + 1).astype(float))
    arguments = {"weights": weight(np.arange(-reach, reach + 1.0)).tolist(), "tail_ratio": ratio}
    return Mechanism("LatticeNoise", arguments, *moments, dtype=np.int64)


def discrete_canonical(eps: float, delta: float) -> Mechanism:
    """P(X >= k) = a_k: a_1 = (1 − δ)/(1 + e^ε), a_(k+1) = max(0, e^(−ε)·(a_k − δ)) (Awan and Ramasethu 2023)."""
    tails = [(1 - delta) / (1 + math.exp(eps))]
    while tails[-1] > delta:
        tails.append((tails[-1] - delta) * math.exp(-eps))
    side = -np.diff([*tails, 0.0])
    x = np.arange(-len(tails), len(tails) + 1.0)
    p = np.concatenate([side[::-1], [1 - 2 * tails[0]], side])
    moments = float(np.sum(p * x**2)), float(np.sum(p * x**4))
    return Mechanism("DiscreteCanonical", {"eps": eps, "delta": delta}, *moments, dtype=np.int64)


def merged_laplace(inner: float, outer: float, at: float) -> Mechanism:
    """Log-slope −`inner` up to `at`, −`outer` beyond, sensitivity 1."""
    x = np.linspace(-60 / outer, 60 / outer, 2_000_001)
    moments = _summed(lambda x: np.exp(-np.where(np.abs(x) < at, inner * np.abs(x), inner * at + outer * (np.abs(x) - at))), x)
    return Mechanism("MergedLaplace", {"eps": [inner, outer], "breakpoints": [at]}, *moments)


def multivariate_staircase(dim: int, norm: str) -> Mechanism:
    """Uniform in balls of radius m + γ with weights b^m (m + γ)^dim, ε = 2 and γ = 1/2; a uniform point has norm ρ·U^(1/dim)."""
    eps, gamma = 2.0, 0.5
    radius = np.arange(400) + gamma
    weights = np.exp(-eps * np.arange(400) + dim * np.log(radius))
    second, fourth = (float(np.sum(weights * radius**p) / weights.sum() * dim / (dim + p)) for p in (2, 4))
    order = {"l1": 1, "l2": 2, "linf": np.inf}[norm]
    return Mechanism(
        "MultivariateStaircase",
        {"eps": eps, "dim": dim, "gamma": gamma, "norm": norm},
        second,
        fourth,
        dim=dim,
        checked=lambda x: np.linalg.norm(x, order, axis=-1),
    )


def _fourth(second: float, fourth_cumulant: float) -> float:
    return 3 * second**2 + fourth_cumulant


def generalized_discrete_laplace(beta: float, a: float) -> Mechanism:
    """Difference of two NB(β, e^−a); cumulants are β times those of the discrete Laplace distribution (β = 1)."""
    x = math.exp(-a)
    second = beta * 2 * x / (1 - x) ** 2
    fourth_cumulant = beta * 2 * x * (1 + 4 * x + x**2) / (1 - x) ** 4
    return Mechanism(
        "GeneralizedDiscreteLaplace", {"beta": beta, "a": a}, second, _fourth(second, fourth_cumulant), dtype=np.int64
    )


def multi_scale_discrete_laplace(eps: float, sensitivity: int) -> Mechanism:
    """Σ i·X_i over i = 1 … Δ with discrete Laplace X_i."""
    x, scales = math.exp(-eps), np.arange(1, sensitivity + 1)
    second = 2 * x / (1 - x) ** 2 * float(np.sum(scales**2))
    fourth_cumulant = 2 * x * (1 + 4 * x + x**2) / (1 - x) ** 4 * float(np.sum(scales**4))
    arguments = {"eps": eps, "sensitivity": sensitivity}
    return Mechanism("MultiScaleDiscreteLaplace", arguments, second, _fourth(second, fourth_cumulant), dtype=np.int64)


def arete(alpha: float, theta: float, lam: float) -> Mechanism:
    """Difference of two Gamma(α, θ), plus Laplace(λ)."""
    second = 2 * alpha * theta**2 + 2 * lam**2
    fourth_cumulant = 12 * alpha * theta**4 + 12 * lam**4
    return Mechanism("Arete", {"alpha": alpha, "theta": theta, "lam": lam}, second, _fourth(second, fourth_cumulant))


def skellam(mu: float) -> Mechanism:
    """Difference of two Poisson variables of mean μ/2: every even cumulant is μ."""
    return Mechanism("Skellam", {"mu": mu}, mu, _fourth(mu, mu), dtype=np.int64)


DISCRETE_GAUSSIANS = tuple(map(discrete_gaussian, (1.0, 100.0, 1e6)))
SKELLAMS = tuple(map(skellam, (1.0, 100.0, 1e6)))
TRUNCATED_STAIRCASE = truncated_staircase(1.0, 1e-6)
TRUNCATED_DISCRETE_STAIRCASE = truncated_discrete_staircase(1.0, 1e-6, 10, 5)
MULTIVARIATE = tuple(multivariate_staircase(dim, norm) for norm in ("l1", "l2", "linf") for dim in (2, 10))

MECHANISMS = (
    *DISCRETE_GAUSSIANS,
    gaussian(1.0, 1e-6),
    truncated_laplace(1.0, 1e-6),
    TRUNCATED_STAIRCASE,
    TRUNCATED_DISCRETE_STAIRCASE,
    discrete_canonical(1.0, 1e-6),
    merged_laplace(3.0, 1.0, 0.5),
    lattice_noise(12, 0.75),
    *MULTIVARIATE,
    generalized_discrete_laplace(0.25, 0.5),
    multi_scale_discrete_laplace(4.0, 10),
    arete(0.3, 1.0, 0.3),
    *SKELLAMS,
)
