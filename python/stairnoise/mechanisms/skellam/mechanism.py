"""The Skellam mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple, overload

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError
from stairnoise._parameters import RealLike, count, real, refuse, single
from stairnoise._types import Floats, Number, Numeric
from stairnoise.mechanism.discrete import DiscreteMechanism
from stairnoise.mechanism.guarantee import NAME, Change, Guarantee, mapped
from stairnoise.mechanism.immutable import Parameter, setters
from stairnoise.mechanism.shares import Shares, parties
from stairnoise.mechanisms.skellam import calibration, distribution, loss
from stairnoise.numerics.rounding import rounded_up

# A sum over more probabilities would take seconds.
_MOST_SENSITIVITY = 2**20
_LARGEST_EPS = 2.0**20


class _Calibration(NamedTuple):
    """`partitions` values, each changed by at most the sensitivity, are (eps, delta)-differentially private together."""

    eps: float
    delta: float
    partitions: int


class Skellam(Shares[np.int64, int], DiscreteMechanism):
    r"""Skellam noise: Gaussian-like noise for counts that adds up exactly, for sums over many parties.

    X = N - N', where N and N' are independent Poisson variables of mean μ/2 each:

    .. math:: P(X = k) = e^{-μ} I_{|k|}(μ),

    with the modified Bessel function I. The variance is μ. Variances add up: the sum of n draws of μ/n is a draw of μ. Sums
    of discrete Gaussian draws are not discrete Gaussian.

    A release has no pure ε. It is (ε, ``privacy_profile(ε)``)-differentially private for every ε, and its Rényi divergence
    of order α is ``rdp(α)``. Both are those of the distribution itself; ``rdp_bound(α)`` is the bound of the paper [1]_.

    A mechanism made from `mu` states only the Rényi bound. ``release(values, max_partitions_contributed=k)`` draws with k·μ
    (rounded up), so k values together have the ``rdp_bound`` of one. A mechanism made by `from_eps` states its (ε, δ), and
    keeps it for the k values together.

    Parameters
    ----------
    mu : float
        Variance μ of the whole, from 2**-20 to 2**30.
    sensitivity : int or None
        Largest change Δ of the sum that one person can cause, from 1 to 2**20. The noise does not depend on it. None is 1, for
        study: `guarantee` requires that you state it.
    n_parties, present : int, default 1
        The noise is the sum of `present` out of `n_parties` equal shares; see `share`.

    Raises
    ------
    ParameterError, ParameterTypeError
        A parameter is not a single real number, or is out of range. Or μ of the share is below 2**-40.

    Notes
    -----
    Draws are exact: every integer has the probability above, for the float64 μ as it is. The first draw makes a table of
    about 10 √μ numbers: at μ = 1e6 that takes some 20 ms. Beyond μ = 2**24 a value is the sum of equal terms of at most 2**24,
    up to 64 of them.

    Distribution functions come from a list of probabilities down to about e^(-680), with a relative error below 1e-11.

    References
    ----------
    .. [1] Agarwal, Kairouz and Liu, "The Skellam Mechanism for Differentially Private Federated Learning", NeurIPS 2021,
       arXiv:2110.04995.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.Skellam(mu=100)
    >>> d.var(), d.error_bound(0.95)
    (100.0, 20)
    >>> round(d.rdp(8), 5), round(d.rdp_bound(8), 5)
    (0.03995, 0.04052)
    >>> party = d.share(n_parties=1000)
    >>> contributions = party.release([0, 1, 1, 0, 3])  # to be added up under encryption
    """

    __slots__ = ("_calibration",)
    _change_norm = "l2"
    _partitions_rule = "leave a mu from 2**-20 to 2**30"

    # What the mechanism was calibrated for; None if it was made from mu.
    _calibration: _Calibration | None

    def __init__(self, mu: RealLike, sensitivity: int | None = None, n_parties: int = 1, present: int = 1) -> None:
        self._keep(None, mu, sensitivity, n_parties, present)

    def _keep(self, calibrated: _Calibration | None, mu: RealLike, sensitivity: int | None, n_parties: int, present: int) -> None:
        """Check and store the parameters and the calibration; every constructor ends with this call."""
        parameters: dict[str, Any] = {
            "mu": single(mu, "mu"),
            "sensitivity": 1 if sensitivity is None else self._checked_sensitivity(sensitivity),
            **parties(n_parties, present),
        }
        native = _native.skellam(parameters["mu"], parameters["n_parties"], parameters["present"])
        _set_calibration(self, calibrated)
        self._store(native, parameters, stated=sensitivity is not None, noise_alone=calibrated is None)

    @classmethod
    def _calibrated(cls, parameters: tuple[Any, ...], *calibrated: Any) -> Skellam:
        mechanism = cls.__new__(cls)
        mechanism._keep(_Calibration(*calibrated) if calibrated else None, *parameters)
        return mechanism

    @classmethod
    def from_eps(cls, eps: RealLike, delta: RealLike, sensitivity: int | None = None) -> Skellam:
        """Return the mechanism of least μ for which one value is (ε, δ)-differentially private.

        The mechanism remembers its (ε, δ): ``for_partitions(k)``, and a release with ``max_partitions_contributed=k``,
        keep them for k values together.

        Parameters
        ----------
        eps : float
            ε > 0 of the sum of all shares, at most 2**20.
        delta : float
            Privacy parameter δ, from 2**-128 to 0.5.
        sensitivity : int or None
            Largest change of the sum that one person can cause, from 1 to 2**20. None is 1: `release` then takes integers
            only.

        Returns
        -------
        Skellam
            Its ``privacy_profile(eps)`` is at most `delta`, even with the rounding errors of both. μ has 16 significant
            bits: it is within a relative 2**-15 of the least, and at least 2**-20.

        Raises
        ------
        ParameterError, ParameterTypeError
            A parameter is out of range or of the wrong type, or no μ up to 2**30 is enough.

        Examples
        --------
        >>> import stairnoise as sn
        >>> d = sn.Skellam.from_eps(eps=1, delta=1e-6)
        >>> d.privacy_profile(1) <= 1e-6
        True
        """
        budget, slack = single(eps, "eps"), single(delta, "delta")
        shift = 1 if sensitivity is None else count(sensitivity, "sensitivity", least=1, most=_MOST_SENSITIVITY)
        refuse("eps", eps, 0 < budget <= _LARGEST_EPS, "greater than 0 and at most 2**20")
        _require_delta(slack, delta)
        mu = _found(calibration.least_mu(budget, slack, shift, 1), budget, slack, shift)
        return cls._calibrated((mu, sensitivity, 1, 1), budget, slack, 1)

    mu = Parameter[float]("Variance μ of the whole.")
    sensitivity = Parameter[int]("Largest change Δ of the sum that one person can cause.")

    @property
    def eps(self) -> float | None:
        """ε given to `from_eps`, for one value, or for k together after ``for_partitions(k)``; None if made from `mu`."""
        return None if self._calibration is None else self._calibration.eps

    @property
    def delta(self) -> float | None:
        """δ given to `from_eps`, for the same values as `eps`; None if made from `mu`."""
        return None if self._calibration is None else self._calibration.delta

    @overload
    def rdp_bound(  # type: ignore[overload-overlap]
        self, alpha: Number, sensitivity: Number | None = None, *, l2_sensitivity: Number | None = None
    ) -> float: ...
    @overload
    def rdp_bound(self, alpha: Numeric, sensitivity: Number | None = None, *, l2_sensitivity: Number | None = None) -> Floats: ...
    def rdp_bound(self, alpha: RealLike, sensitivity: Number | None = None, *, l2_sensitivity: Number | None = None) -> Any:
        r"""Bound on the Rényi divergence of order `alpha` in closed form, for one value or for many.

        .. math:: D_α ≤ \frac{αΔ_2^2}{2μ} + \min\left(\frac{(2α - 1)Δ_2^2 + 6Δ_1}{4μ^2}, \frac{3Δ_1}{2μ}\right)

        for integers α > 1 (theorem 3.5 of the paper). Between integers, (α - 1) D_α is convex in α, so it is at most the
        chord. ``rdp(alpha)`` has the divergence itself, for one value.

        Parameters
        ----------
        alpha : float or array of float
            Order, finite and greater than 1.
        sensitivity : int or None
            Δ₁: largest l1 norm of the change of any number of integers, each with its own noise. None: the sensitivity
            of the mechanism.
        l2_sensitivity : float or None
            Δ₂: largest l2 norm of the same change. None: Δ₁, as for one value.

        Returns
        -------
        float or ndarray
            In nats, for the shares present.

        Raises
        ------
        ParameterError, ParameterTypeError
            An argument is out of range or of the wrong type, or `l2_sensitivity` is above Δ₁.
        """
        order, change = real(alpha, "alpha"), self._sensitivity_or_default(sensitivity)
        refuse("alpha", alpha, np.greater(order, 1) & np.less(order, math.inf), "finite and greater than 1")
        norm = float(change) if l2_sensitivity is None else single(l2_sensitivity, "l2_sensitivity")
        refuse("l2_sensitivity", l2_sensitivity, 0 < norm <= change, f"greater than 0 and at most the l1 norm {change}")
        found = loss.rdp_bound(self.var(), np.asarray(order, np.float64), float(change), norm)
        return found if np.ndim(found) else float(found)

    def var(self) -> float:
        """E X², in closed form: μ of the shares present."""
        return float(self._exact_mu())

    def _checked_sensitivity(self, sensitivity: Any) -> int:
        return count(sensitivity, "sensitivity", least=1, most=_MOST_SENSITIVITY)

    def _functions(self) -> Any:
        return distribution.functions(self.var())

    def _loss(self, sensitivity: int) -> Any:
        return loss.SkellamLoss(self.var(), sensitivity)

    def _sum_bound(self, k: int, alpha: float) -> int:
        return distribution.sum_bound(self._exact_mu(), k, alpha)

    def _promise(self, sensitivity: int, k: int) -> Guarantee:
        mechanism = self._keeping_guarantee(k, NAME)
        if mechanism._calibration is None or sensitivity != self.sensitivity or self.present < self.n_parties:
            return Guarantee(None, None, None, sensitivity, k)
        eps, delta, number = mechanism._calibration
        return Guarantee(eps, delta, None, sensitivity, number)

    def privacy_map(self, d_in: Number, size: int = 1, *, integers: bool = False, delta: Number | None = None) -> Guarantee:
        """Return the (ε, δ) that a change by `d_in` costs, for one value or for several that are released in one call.

        See `AdditiveMechanism.privacy_map`. It is the cost of the shares present.

        Parameters
        ----------
        d_in : float
            Largest change, at least 0: of the value, or of several values together in the l2 norm.
        size : int, default 1
            How many values are released, from 1 to 2**53 - 1.
        integers : bool, default False
            Whether all values are integers, by type or by your word. Otherwise their rounding to integers is included.
        delta : float or None
            δ for which ε is stated, from 2**-128 to 0.5. None: the δ given to `from_eps`.

        Returns
        -------
        Guarantee
            ``eps``, rounded up, and ``delta``. Skellam noise has no ρ.

        Raises
        ------
        ParameterError, ParameterTypeError
            An argument is out of range, or the mechanism was made from `mu` and `delta` is missing.

        Notes
        -----
        For one value that moves by at most 2**20, ε is the least one for δ. For several values it follows from `rdp_bound`:
        n integers that change by Δ₂ in the l2 norm change by at most Δ₁ = min(√n Δ₂, Δ₂²) in the l1 norm.

        Examples
        --------
        >>> import stairnoise as sn
        >>> d = sn.Skellam(mu=100)
        >>> d.privacy_map(3, integers=True, delta=1e-6)
        Guarantee: one value that changes by at most 3.0 is (1.264, 1e-06)-differentially private.
        >>> round(d.privacy_map(3, size=9, integers=True, delta=1e-6).eps, 3)
        1.4
        """
        slack = self.delta if delta is None else single(delta, "delta")
        if slack is None:
            raise ParameterError("delta must be stated for a Skellam made from mu, got None")
        _require_delta(slack, slack if delta is None else delta)
        return mapped(self, d_in, size, integers, slack)

    def _cost_of(self, change: Change, delta: float) -> tuple[float, float, None]:  # type: ignore[override]
        squares = change.squares()
        if change.size == 1 and squares <= _MOST_SENSITIVITY**2:
            return calibration.least_eps(self.var(), delta, math.isqrt(squares)), delta, None
        # A move by an integer is at most its square.
        l1 = math.isqrt(squares * min(change.size, squares))
        norms = rounded_up(Fraction(l1)), rounded_up(Fraction(squares)) ** 0.5
        return calibration.bound_of_eps(self.var(), delta, *norms), delta, None

    def _laplace(self) -> Any:
        return None

    def _divided_among(self, k: int) -> Skellam:
        others = list(self._named_arguments().values())[1:]
        if self._calibration is None:
            return Skellam(rounded_up(Fraction(self.mu) * k), *others)
        eps, delta, before = self._calibration
        number = before * k
        mu = _found(calibration.least_mu(eps, delta, self.sensitivity, number), eps, delta, self.sensitivity)
        return Skellam._calibrated((mu, *others), eps, delta, number)

    def share(self, n_parties: int, present: int = 1) -> Skellam:
        share = super().share(n_parties, present)
        if self._calibration is None:
            return share
        return Skellam._calibrated(tuple(share._named_arguments().values()), *self._calibration)

    share.__doc__ = Shares.share.__doc__

    def _exact_parameters(self) -> dict[str, Any]:
        return {"mu": self.mu, "sensitivity": self.sensitivity, **self._exact_share()}

    def _exact_mu(self) -> Fraction:
        return Fraction(self.mu) * self.present / self.n_parties

    def __reduce__(self) -> tuple[Any, ...]:
        if self._calibration is None:
            return super().__reduce__()
        return self._calibrated, (tuple(self._named_arguments().values()), *self._calibration)

    def __repr__(self) -> str:
        if self._calibration is None:
            return super().__repr__()
        eps, delta, number = self._calibration
        wider = f".for_partitions({number})" if number > 1 else ""
        part = f".share({self.n_parties}, {self.present})" if self.n_parties > 1 else ""
        change = f", sensitivity={self.sensitivity}" if self._stated else ""
        return f"Skellam.from_eps(eps={eps!r}, delta={delta!r}{change}){wider}{part}"

    def _key(self) -> tuple[object, ...]:
        return *super()._key(), self._calibration


(_set_calibration,) = setters(Skellam, "_calibration")


def _require_delta(delta: float, given: object) -> None:
    refuse("delta", given, 2.0**-128 <= delta <= 0.5, "from 2**-128 to 0.5")


def _found(mu: float, eps: float, delta: float, sensitivity: int) -> float:
    if mu == math.inf:
        raise ParameterError(f"eps, delta and sensitivity must leave a mu up to 2**30, got {eps}, {delta} and {sensitivity}")
    return mu
