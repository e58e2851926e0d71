"""The multi-scale discrete Laplace law."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stairnoise import _native
from stairnoise._errors import ParameterError
from stairnoise._law.law import DiscreteLaw
from stairnoise._law.partitions import NAME
from stairnoise._law.shares import Shares, parties
from stairnoise._parameters import count, single

if TYPE_CHECKING:
    from typing_extensions import Self

_MOST_SENSITIVITY = 2**53 - 1
# Listed for a privacy loss, over all changes: a few hundred megabytes, some seconds.
_MOST_OUTCOMES = 2**22


class MultiScaleDiscreteLaplace(Shares, DiscreteLaw):
    r"""Multi-scale discrete Laplace noise: infinitely divisible, and ε-private for every integer change up to Δ.

    .. math:: X = \sum_{m=1}^{Δ} m X_m

    with independent two-sided geometric X_m, P(X_m = k) proportional to e^(-ε|k|): a change by m is hidden by X_m
    alone. Its variance, Δ(Δ+1)(2Δ+1)/6 / (cosh ε - 1), tends to that of the discrete staircase with r = 1 as ε grows. A
    value takes Δ draws.

    Parameters
    ----------
    eps : float
        Privacy parameter ε of the whole, from 2**-11 to 2**10.
    sensitivity : int, default 1
        Largest change Δ of the sum that one person can cause, from 1 to 2**16.
    n_parties, present : int, default 1
        The law of the sum of `present` of `n_parties` equal shares; see `share`.

    Raises
    ------
    ParameterError, ParameterTypeError
        A parameter is not a single real number, out of range, or not an integer where one is due.

    Notes
    -----
    Draws are exact. Distribution functions are from a list of probabilities down to about e^(-680), with a relative
    error below 1e-12; those of a share down to e^(-200), below 1e-9 down to e^(-50) and 1e-6 at the end.

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
    _partitions_rule = "leave an eps that the law can have"
    __module__ = "stairnoise"

    def __init__(self, eps: float, sensitivity: int = 1, n_parties: int = 1, present: int = 1) -> None:
        given: dict[str, Any] = {
            "eps": single(eps, "eps"),
            "sensitivity": single(sensitivity, "sensitivity"),
            **parties(n_parties, present),
        }
        noise = _native.multi_scale_discrete_laplace(*given.values())
        self._store(noise, given | {"sensitivity": int(given["sensitivity"])})

    @property
    def eps(self) -> float:
        """Privacy parameter ε of the whole."""
        eps: float = self._given["eps"]
        return eps

    @property
    def sensitivity(self) -> int:
        """Largest change Δ of the sum that one person can cause."""
        sensitivity: int = self._given["sensitivity"]
        return sensitivity

    def privacy_eps(self, sensitivity: int | None = None, *, max_partitions_contributed: int = 1) -> float:
        """ε of which this law, or this many shares, is differentially private under shifts up to `sensitivity`.

        A shift by m ≤ Δ is hidden by the term of scale m: the ε of that term under a shift by 1, and for larger shifts
        as often as Δ is needed to make them up. For the whole this is exact at multiples of Δ; for other shifts, and
        where shares are missing, it is an upper bound.

        Parameters
        ----------
        sensitivity : int or None
            None: the law's own, where the whole has the law's `eps`.
        max_partitions_contributed : int, default 1
            How many values one person can change. The result is then that of all of them together, each released as
            ``release(values, max_partitions_contributed=k)`` does it, with the same shares present. What missing shares
            add to the loss is paid by every value: it is not divided by k as `eps` is.

        Returns
        -------
        float

        Examples
        --------
        >>> import stairnoise as sn
        >>> half = sn.MultiScaleDiscreteLaplace(eps=5, sensitivity=3).share(100, present=50)
        >>> round(half.privacy_eps(), 2), round(half.privacy_eps(max_partitions_contributed=50), 2)
        (5.69, 30.3)
        """
        from stairnoise._theory.laws import infinitely_divisible as theory

        each = self._keeping_guarantee(max_partitions_contributed, NAME)
        if each is not self:
            return max_partitions_contributed * each.privacy_eps(sensitivity)
        cells = self.sensitivity
        asked = cells if sensitivity is None else self._checked_sensitivity(sensitivity)
        return -(-asked // cells) * theory.pure_eps(self._fraction, self.eps, 1)

    def _falls_from_its_mode(self) -> bool:
        return self.sensitivity == 1

    @property
    def _default_sensitivity(self) -> int:
        return self.sensitivity

    def _checked_sensitivity(self, sensitivity: Any) -> int:
        return count(sensitivity, "sensitivity", least=1, most=_MOST_SENSITIVITY)

    def _functions(self) -> Any:
        from stairnoise._theory.laws import infinitely_divisible as theory

        return theory.Differences(self._terms())

    def _loss(self, sensitivity: int) -> Any:
        from stairnoise._theory.privacy import shifted

        terms = self._terms()
        if shifted.outcomes_of_all_shifts(terms, sensitivity) > _MOST_OUTCOMES:
            raise ParameterError(
                f"sensitivity must be small enough to list the probabilities for every smaller change, got {sensitivity}: "
                "only privacy_eps is known"
            )
        return shifted.all_shifts(terms, sensitivity, self.privacy_eps(sensitivity))

    def _divided_among(self, k: int) -> Self:
        others = {name: value for name, value in self._given.items() if name != "eps"}
        return type(self)(_native.largest_quotient(self.eps, k), **others)

    def _terms(self) -> list[Any]:
        from stairnoise._theory.laws.infinitely_divisible import Term

        return [Term(m, self._fraction, self.eps) for m in range(1, self.sensitivity + 1)]
