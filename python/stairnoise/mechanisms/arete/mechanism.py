"""The Arete mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError
from stairnoise._parameters import positive, refuse, single
from stairnoise._types import Self
from stairnoise.accounting.losses import shifted
from stairnoise.distributions import infinitely_divisible
from stairnoise.mechanism.continuous import ContinuousMechanism
from stairnoise.mechanism.cost import CostFunction, lattice_cost
from stairnoise.mechanism.guarantee import NAME, partitions
from stairnoise.mechanism.immutable import Parameter, once
from stairnoise.mechanism.shares import Shares, parties

# Probabilities are listed up to this many times the larger scale.
_MOST_SCALES = 50


class Arete(Shares[np.float64, float], ContinuousMechanism):
    r"""Arete noise on a lattice: infinitely divisible noise for real-valued sums at large ε.

    The Arete distribution is that of Γ - Γ' + Λ. The gamma variables Γ and Γ' have shape α and scale θ, the Laplace
    variable Λ has scale λ, and all are independent. Draws come from a discretisation that stays infinitely divisible, on
    the multiples of a power of two g:

    .. math:: X = g (N - N' + L)

    N and N' are negative binomial with shape α and ratio e^(-g/θ). L is two-sided geometric with ratio e^(-g/λ). The larger
    of the two scales has 2**10 to 2**11 steps of g. All functions are those of X. Its variance is smaller than
    2αθ² + 2λ² by a relative (g/θ)²/12 to (g/λ)²/12.

    Parameters
    ----------
    alpha : float
        Shape α > 0.
    theta, lam : float
        Scales θ, λ > 0, within a factor of 2**12 of each other.
    n_parties, present : int, default 1
        The noise is the sum of `present` out of `n_parties` equal shares; see `share`.

    Raises
    ------
    ParameterError, ParameterTypeError
        A parameter is not a single real number, or is out of range.

    Notes
    -----
    The distribution is discrete: `cdf` and `sf` have a step at every multiple of g, and `ppf` and `isf` return such
    multiples. `pdf` is the probability of the lattice point nearest to x, divided by g. SciPy's continuous distributions
    have no steps, so `as_scipy` passes `pdf`: the density of X plus a uniform number from -g/2 to g/2.

    Distribution functions come from a list of probabilities. For the whole, the list goes down to about e^(-680), with a
    relative error below 1e-12. For a share, it goes down to e^(-200), with a relative error below 1e-9 down to e^(-50) and
    1e-6 at the end.

    References
    ----------
    .. [1] Pagh and Stausholm, "Infinitely Divisible Noise in the Low Privacy Regime", ALT 2022.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.Arete.from_eps(eps=12, sensitivity=1)
    >>> round(d.var(), 6), round(d.privacy_eps(1.0), 3)
    (0.016021, 8.03)
    >>> contribution = d.share(n_parties=100).release([0.25])
    """

    __slots__ = ()
    _partitions_rule = "be 1 for a mechanism given by its scales"

    def __init__(
        self, alpha: float, theta: float, lam: float, n_parties: int = 1, present: int = 1, sensitivity: float | None = None
    ) -> None:
        parameters: dict[str, Any] = {
            "alpha": single(alpha, "alpha"),
            "theta": single(theta, "theta"),
            "lam": single(lam, "lam"),
            **parties(n_parties, present),
        }
        self._store(_native.arete(*parameters.values()), parameters, stated=sensitivity is not None, noise_alone=True)
        # Checked after the scales, which bound the sensitivity.
        parameters["sensitivity"] = None if sensitivity is None else self._checked_sensitivity(sensitivity)

    alpha = Parameter[float]("Shape α of the gamma part of the whole.")
    theta = Parameter[float]("Scale θ of the gamma part.")
    lam = Parameter[float]("Scale λ of the Laplace part of the whole.")

    @classmethod
    def from_eps(cls, eps: float, sensitivity: float) -> Self:
        """Return the mechanism with Pagh and Stausholm's parameters: α = e^(-ε/4), θ = 4Δ/ε, λ = Δ e^(-ε/4).

        These parameters are conservative: the ε of the noise drawn, which `privacy_eps` returns, is smaller.

        Parameters
        ----------
        eps : float
            ε > 0, up to about 40; beyond, the scales are too far apart for one lattice.
        sensitivity : float
            Largest change Δ > 0 of the sum that one person can cause.

        Returns
        -------
        Arete

        Raises
        ------
        ParameterTypeError
            A parameter is not a real number.
        ParameterError
            A parameter is out of range or an array, or one lattice cannot hold the scales.
        """
        wanted, width = positive(eps, "eps"), positive(sensitivity, "sensitivity")
        small = math.exp(-wanted / 4)
        try:
            return cls(small, 4 * width / wanted, width * small, 1, 1, width)
        except ParameterError as error:
            raise ParameterError(
                f"eps and sensitivity must give scales that one lattice holds, got {wanted} and {width}: {error}"
            ) from None

    def privacy_eps(self, sensitivity: float | None = None, *, max_partitions_contributed: int = 1) -> float:
        """ε of differential privacy of the noise drawn, or of the shares present, for changes up to `sensitivity`.

        On the lattice, a change by Δ is one by ⌈Δ/g⌉ steps. The result is the largest loss where probabilities are listed,
        which is then the least possible ε. If a bound on the loss beyond the list is larger, the result is that bound.

        Parameters
        ----------
        sensitivity : float or None
            Largest change Δ > 0 of the sum that one person can cause. None: the mechanism's own, or 1.
        max_partitions_contributed : int, default 1
            How many values one person can change. Each has its own noise from this mechanism, which `release` does not
            divide: k values cost k times the ε of one, missing shares included.

        Returns
        -------
        float
            With a relative error below 1e-11, or below 1e-6 if shares are missing.

        Raises
        ------
        ParameterTypeError
            An argument is not a number of the right type.
        ParameterError
            `sensitivity` is not positive, or more than 50 times the larger scale. Or `max_partitions_contributed` is out of
            range.
        """
        gamma, laplace = self._terms()
        k = partitions(max_partitions_contributed, NAME)
        return k * infinitely_divisible.pure_eps_of_two(gamma, laplace, self._in_steps(self._sensitivity_or_default(sensitivity)))

    @property
    def _eps_error(self) -> Fraction:  # type: ignore[override]
        return Fraction(1, 10**6 if self.present < self.n_parties else 10**11)

    def _checked_sensitivity(self, sensitivity: Any) -> float:
        width = positive(sensitivity, "sensitivity")
        largest = max(self._parameters["theta"], self._parameters["lam"])
        if width > _MOST_SCALES * largest:
            refuse("sensitivity", width, False, f"at most {_MOST_SCALES} times the larger scale, {largest}")
        return width

    @once
    def std(self) -> float:
        """Square root of the variance, also where float64 does not hold the variance."""
        return self._step * math.sqrt(infinitely_divisible.variance(self._terms()))

    def _functions(self) -> Any:
        return infinitely_divisible.Spread(self._terms(), self.granularity)

    def _loss(self, sensitivity: float) -> Any:
        return shifted.two_terms(self._terms(), self._in_steps(sensitivity), self.privacy_eps(sensitivity))

    @property
    def _step(self) -> float:  # type: ignore[override]
        return float(self.granularity)

    def _terms(self) -> list[Any]:
        g, f = self.granularity, self._fraction
        return [infinitely_divisible.Term(1, self.alpha * f, g / self.theta), infinitely_divisible.Term(1, f, g / self.lam)]

    def _divided_among(self, k: int) -> Any:
        raise ParameterError("make it for a smaller eps")

    def _exact_parameters(self) -> dict[str, Any]:
        return {"alpha": self.alpha, "theta": self.theta, "lam": self.lam, **self._exact_share()}

    def _expected_cost(self, function: CostFunction) -> float:
        g: float = self.granularity
        return lattice_cost(function, self, g, lambda x: self.pdf(x) * g)

    def _frozen(self, scipy: Any) -> Any:
        return scipy.frozen(scipy.LatticeOfOne, self)
