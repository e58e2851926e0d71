"""The generalized discrete Laplace mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError
from stairnoise._parameters import count, single
from stairnoise._types import Self
from stairnoise.accounting.losses import shifted
from stairnoise.distributions import infinitely_divisible
from stairnoise.mechanism.discrete import DiscreteMechanism
from stairnoise.mechanism.guarantee import NAME, partitions
from stairnoise.mechanism.immutable import Parameter
from stairnoise.mechanism.shares import Shares, parties
from stairnoise.mechanisms.generalized_discrete_laplace import calibration

# The extension's limit on a.
_LEAST_RATE = 2.0**-11
# A sum over more probabilities would take seconds.
_MOST_SENSITIVITY = 2**20


class GeneralizedDiscreteLaplace(Shares[np.int64, int], DiscreteMechanism):
    r"""Generalized discrete Laplace noise: infinitely divisible noise for sums over many parties.

    X = N - N', where N and N' are independent and negative binomial with shape β:

    .. math:: P(N = k) = \frac{β(β+1) \cdots (β+k-1)}{k!} e^{-ak} (1 - e^{-a})^β.

    Shapes add up: the sum of n draws of shape β/n has shape β. β = 1 gives the discrete Laplace distribution with
    ε/Δ = a. The variance is β/(cosh a - 1).

    Parameters
    ----------
    beta : float
        Shape β > 0; values above 1 increase the variance and gain nothing.
    a : float
        Decay a of the tail per integer, from 2**-11 to 2**10.
    n_parties, present : int, default 1
        The noise is the sum of `present` out of `n_parties` equal shares; see `share`.

    Raises
    ------
    ParameterError, ParameterTypeError
        A parameter is not a single real number, or is out of range. Or β of the share is below 2**-40, or so large that
        β ln(1/(1 - e^(-a))) is above 40.

    Notes
    -----
    Draws are exact: every integer has the probability above, for the float64 parameters as they are. Distribution
    functions come from a list of probabilities down to about e^(-680), with a relative error below 1e-12.

    References
    ----------
    .. [1] Harrison and Manurangsi, "Infinitely Divisible Noise for Differential Privacy: Nearly Optimal Error in the
       High ε Regime", FORC 2025, arXiv:2504.05202.
    .. [2] Goryczka and Xiong, "A Comprehensive Comparison of Multiparty Secure Additions with Differential Privacy",
       IEEE Transactions on Dependable and Secure Computing 14(5), 2017 (shares of discrete Laplace noise).

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.GeneralizedDiscreteLaplace.from_eps(eps=5, sensitivity=3)
    >>> round(d.beta, 5), round(d.a, 5), round(d.var(), 5)
    (0.22283, 0.90987, 0.50267)
    >>> round(d.privacy_eps(3), 6)
    5.0
    >>> party = d.share(n_parties=1000)
    >>> contributions = party.release([0, 1, 1, 0, 3])  # to be added up under encryption
    """

    __slots__ = ()
    _partitions_rule = "be 1 for a mechanism given by beta and a"

    def __init__(self, beta: float, a: float, n_parties: int = 1, present: int = 1, sensitivity: int | None = None) -> None:
        parameters: dict[str, Any] = {"beta": single(beta, "beta"), "a": single(a, "a"), **parties(n_parties, present)}
        native = _native.generalized_discrete_laplace(*parameters.values())
        parameters["sensitivity"] = None if sensitivity is None else self._checked_sensitivity(sensitivity)
        self._store(native, parameters, stated=sensitivity is not None, noise_alone=True)

    beta = Parameter[float]("Shape β of the whole.")
    a = Parameter[float]("Decay of the tail per integer.")

    @classmethod
    def from_eps(cls, eps: float, sensitivity: int, a: float | None = None) -> Self:
        """Return the mechanism of least variance that is eps-differentially private for an integer sensitivity.

        It uses the exact ε, not the bound behind the choice β = Δ e^(2-ε), a = 2/Δ. At small ε/Δ the best choice is the
        discrete Laplace distribution, β = 1.

        Parameters
        ----------
        eps : float
            ε > 0 of the sum of all shares; eps/sensitivity from 2**-11 to 2**10.
        sensitivity : int
            Largest change of the sum that one person can cause, from 1 to 2**20.
        a : float or None
            None: the best one. A number must be from 2**-11 to eps/sensitivity, and gives the least β that is private.

        Returns
        -------
        GeneralizedDiscreteLaplace

        Raises
        ------
        ParameterError, ParameterTypeError
            A parameter is out of range or of the wrong type.

        Notes
        -----
        `beta` is a relative 2**-36 above the root, many times its computation error. So the exact ε is not above `eps`.
        """
        wanted, steps = single(eps, "eps"), count(sensitivity, "sensitivity", least=1, most=_MOST_SENSITIVITY)
        if not _LEAST_RATE * steps <= wanted <= steps / _LEAST_RATE / 2:
            raise ParameterError(f"eps must be from 2**-11 to 2**10 times the sensitivity, got {wanted} for sensitivity {steps}")
        most = _native.largest_quotient(wanted, steps)
        if a is None:
            found = calibration.best_for_eps(wanted, steps, _LEAST_RATE, most)
        else:
            rate = single(a, "a")
            if not _LEAST_RATE <= rate <= most:
                raise ParameterError(f"a must be from 2**-11 to eps/sensitivity, got {rate} for {most}")
            found = calibration.private_shape(wanted, steps, rate), rate
        try:
            return cls(*found, sensitivity=steps)
        except ParameterError as error:
            rule = "leave a shape that a table holds"
            raise ParameterError(f"eps and sensitivity must {rule}, got {wanted} and {steps}: {error}") from None

    def privacy_eps(self, sensitivity: int | None = None, *, max_partitions_contributed: int = 1) -> float:
        """Least ε of differential privacy of this noise, or of the shares present, for changes up to `sensitivity`.

        It is ln P(0)/P(Δ) if the shape is at most 1. Otherwise it is aΔ, which the loss approaches in the tail.

        Parameters
        ----------
        sensitivity : int or None
            Largest change Δ of the sum that one person can cause, from 1 to 2**20. None: the mechanism's own, or 1.
        max_partitions_contributed : int, default 1
            How many values one person can change. Each has its own noise from this mechanism, which `release` does not
            divide: k values cost k times the ε of one, missing shares included.

        Returns
        -------
        float
            With a relative error below 1e-12.

        Raises
        ------
        ParameterError, ParameterTypeError
            An argument is out of range or not an integer.
        """
        steps = self._sensitivity_or_default(sensitivity)
        k = partitions(max_partitions_contributed, NAME)
        return k * infinitely_divisible.pure_eps(self.beta * self._fraction, self.a, steps)

    def _checked_sensitivity(self, sensitivity: Any) -> int:
        return count(sensitivity, "sensitivity", least=1, most=_MOST_SENSITIVITY)

    def _loss(self, sensitivity: int) -> Any:
        return shifted.one_term(self._terms()[0], sensitivity, self.privacy_eps(sensitivity))

    def _divided_among(self, k: int) -> Any:
        raise ParameterError(f"make it by from_eps(eps/{k}, sensitivity)")

    def _exact_parameters(self) -> dict[str, Any]:
        return {"beta": self.beta, "a": self.a, **self._exact_share()}

    def _terms(self) -> list[Any]:
        return [infinitely_divisible.Term(1, self.beta * self._fraction, self.a)]
