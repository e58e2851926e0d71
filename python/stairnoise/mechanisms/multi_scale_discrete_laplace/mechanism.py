"""The multi-scale discrete Laplace mechanism."""

from __future__ import annotations

from typing import Any

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError
from stairnoise._parameters import count, single
from stairnoise.accounting.losses import shifted as shifted_losses
from stairnoise.distributions import infinitely_divisible
from stairnoise.mechanism.discrete import DiscreteMechanism
from stairnoise.mechanism.guarantee import NAME
from stairnoise.mechanism.immutable import Parameter, once
from stairnoise.mechanism.shares import Shares, parties

_MOST_SENSITIVITY = 2**53 - 1
# Most outcomes listed for a privacy loss, over all changes. They take some hundred megabytes and some seconds.
_MOST_OUTCOMES = 2**22


class MultiScaleDiscreteLaplace(Shares[np.int64, int], DiscreteMechanism):
    r"""Multi-scale discrete Laplace noise: infinitely divisible, and ε-private for every integer change up to Δ.

    .. math:: X = \sum_{m=1}^{Δ} m X_m

    The X_m are independent and two-sided geometric, with P(X_m = k) proportional to e^(-ε|k|). X_m alone hides a change
    by m. The variance is Δ(Δ+1)(2Δ+1)/6 / (cosh ε - 1). As ε grows it approaches the variance of the discrete staircase
    with r = 1. A value takes Δ draws.

    Parameters
    ----------
    eps : float
        Privacy parameter ε of the whole, from 2**-11 to 2**10.
    sensitivity : int or None
        Largest change Δ of the sum that one person can cause, from 1 to 2**16. None is 1: `release` then takes integers
        only.
    n_parties, present : int, default 1
        The noise is the sum of `present` out of `n_parties` equal shares; see `share`.

    Raises
    ------
    ParameterError, ParameterTypeError
        A parameter is not a single real number, is out of range, or is not an integer where one is required.

    Notes
    -----
    Draws are exact. Distribution functions come from a list of probabilities. For the whole, the list goes down to about
    e^(-680), with a relative error below 1e-12. For a share, it goes down to e^(-200), with a relative error below 1e-9
    down to e^(-50) and 1e-6 at the end.

    References
    ----------
    .. [1] Harrison and Manurangsi, "Infinitely Divisible Noise for Differential Privacy: Nearly Optimal Error in the
       High ε Regime", FORC 2025, arXiv:2504.05202.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.MultiScaleDiscreteLaplace(eps=5, sensitivity=3)
    >>> round(d.var(), 5), round(sn.DiscreteStaircase(5, 3, r=1).var(), 5)
    (0.19123, 0.18812)
    >>> d.share(n_parties=1000).n_parties
    1000
    """

    __slots__ = ()
    _partitions_rule = "leave an eps that the mechanism can have"

    def __init__(self, eps: float, sensitivity: int | None = None, n_parties: int = 1, present: int = 1) -> None:
        parameters: dict[str, Any] = {
            "eps": single(eps, "eps"),
            "sensitivity": 1.0 if sensitivity is None else single(sensitivity, "sensitivity"),
            **parties(n_parties, present),
        }
        noise = _native.multi_scale_discrete_laplace(*parameters.values())
        self._store(noise, parameters | {"sensitivity": int(parameters["sensitivity"])}, stated=sensitivity is not None)

    eps = Parameter[float]("Privacy parameter ε of the whole.")
    sensitivity = Parameter[int]("Largest change Δ of the sum that one person can cause.")

    def privacy_eps(self, sensitivity: int | None = None, *, max_partitions_contributed: int = 1) -> float:
        """ε of differential privacy of this noise, or of the shares present, for changes up to `sensitivity`.

        The term of scale m hides a change by m ≤ Δ, with the ε of that term for a change by 1. A larger change counts as
        the least number of changes by at most Δ that add up to it. For the whole the result is exact at multiples of Δ.
        For other changes, and if shares are missing, it is an upper bound.

        Parameters
        ----------
        sensitivity : int or None
            None: the mechanism's own, for which the whole has its `eps`.
        max_partitions_contributed : int, default 1
            How many values one person can change. The result then covers all of them together, each released by
            ``release(values, max_partitions_contributed=k)`` with the same shares present. Missing shares add to the loss
            of every value; unlike `eps`, that addition is not divided by k.

        Returns
        -------
        float

        Raises
        ------
        ParameterError, ParameterTypeError
            An argument is out of range or not an integer.

        Examples
        --------
        >>> import stairnoise as sn
        >>> half = sn.MultiScaleDiscreteLaplace(eps=5, sensitivity=3).share(100, present=50)
        >>> [round(half.privacy_eps(max_partitions_contributed=k), 2) for k in (1, 50)]
        [5.69, 30.3]
        """
        one = self._keeping_guarantee(max_partitions_contributed, NAME)
        if one is not self:
            return max_partitions_contributed * one.privacy_eps(sensitivity)
        if sensitivity is None:
            return self._eps_for_own_sensitivity()
        change: int = self._sensitivity_or_default(sensitivity)
        return -(-change // self.sensitivity) * self._eps_for_own_sensitivity()

    @once
    def _eps_for_own_sensitivity(self) -> float:
        return infinitely_divisible.pure_eps(self._fraction, self.eps, 1)

    def _falls_from_its_mode(self) -> bool:
        return self.sensitivity == 1

    def _checked_sensitivity(self, sensitivity: Any) -> int:
        return count(sensitivity, "sensitivity", least=1, most=_MOST_SENSITIVITY)

    def _loss(self, sensitivity: int) -> Any:
        terms = self._terms()
        if shifted_losses.outcomes_of_all_shifts(terms, sensitivity) > _MOST_OUTCOMES:
            raise ParameterError(
                f"sensitivity must be small enough to list the probabilities for every smaller change, got {sensitivity}: "
                "only privacy_eps is known"
            )
        return shifted_losses.all_shifts(terms, sensitivity, self.privacy_eps(sensitivity))

    def _exact_parameters(self) -> dict[str, Any]:
        return {"eps": self.eps, "sensitivity": self.sensitivity, **self._exact_share()}

    def _terms(self) -> list[Any]:
        return [infinitely_divisible.Term(m, self._fraction, self.eps) for m in range(1, self.sensitivity + 1)]
