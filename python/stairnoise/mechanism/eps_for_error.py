"""The least ε that reaches a wanted accuracy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from stairnoise._errors import ParameterError
from stairnoise._output import Shape
from stairnoise._parameters import Real, RealLike, argument, common_shape, confidence_level
from stairnoise.mechanism.accuracy import refuse
from stairnoise.mechanism.cost import each

if TYPE_CHECKING:
    from stairnoise import _native
    from stairnoise._types import Array, Floats, Number
    from stairnoise.mechanism.on_lattice import Family

LEAST_EPS = 2.0**-40
_LEAST_NORMAL = 2.0**-1022
# In lattice steps: float64 holds such an error, and no draw is larger.
_FARTHEST = 2.0**1000


class EpsForError:
    """A mechanism that finds its ε from a wanted error."""

    __slots__ = ()

    if TYPE_CHECKING:
        _integers: ClassVar[bool]
        _spec_name: ClassVar[str | None]
        _family: ClassVar[Family]
        _parameter_shape: Shape
        _sensitivity: Real
        _spec: Any

        @classmethod
        def _make_sampler(cls, eps: float, sensitivity: float, spec: Any) -> _native.Law: ...

        @classmethod
        def _least_eps(cls, t: float, alpha: float, D: float, spec: Any) -> float | None:
            """Return the least ε with P(|X| > t) <= alpha; None or inf if there is none."""

    @overload
    @classmethod
    def eps_for_error(cls, t: Number, confidence: Number = 0.95, sensitivity: Number = 1) -> float: ...  # type: ignore[overload-overlap]
    @overload
    @classmethod
    def eps_for_error(cls, t: Number | Array, confidence: Number | Array = 0.95, sensitivity: Number | Array = 1) -> Floats: ...
    @overload
    @classmethod
    def eps_for_error(cls, t: RealLike, confidence: RealLike = 0.95, sensitivity: RealLike = 1) -> Real: ...
    @classmethod
    def eps_for_error(cls, t: RealLike, confidence: RealLike = 0.95, sensitivity: RealLike = 1) -> Any:
        """Least ε for which P(|X| <= t) >= confidence: the best privacy at a wanted accuracy.

        The inequality holds for every larger ε too. The lattice of a continuous mechanism changes with ε; the noise drawn
        at a larger ε keeps the inequality up to the difference that the class states.

        Parameters
        ----------
        t : float or array of float
            Largest error, positive. For a discrete mechanism it may be 0, and only its integer part counts.
        confidence : float or array of float, default 0.95
            Probability of no larger error, at least 0.5 and less than 1.
        sensitivity : float or array of float, default 1
            Largest change of the value that one person can cause; an integer for a discrete mechanism.

        Returns
        -------
        float or ndarray of float64
            Rounded up, so that the inequality holds for this float64. For a continuous mechanism it holds for the density
            and for the noise drawn. For a discrete mechanism, no smaller ε has P(|X| > t) <= (1 - confidence)(1 - 2e-12). For a
            continuous one, no ε has it that is smaller by more than the lattice changes, usually a relative 1e-9. Never
            less than the least ε that the mechanism accepts.

        Raises
        ------
        ParameterError
            `t` or `confidence` is out of range, no ε is large enough, or the shapes do not broadcast.

        Examples
        --------
        >>> import stairnoise as sn
        >>> eps = sn.Laplace.eps_for_error(t=10, confidence=0.95)
        >>> round(eps, 6), round(sn.Laplace(eps).error_bound(0.95), 6)
        (0.299573, 10.0)
        >>> eps = sn.DiscreteLaplace.eps_for_error(t=3, confidence=0.95)
        >>> round(eps, 4), sn.DiscreteLaplace(eps).error_bound(0.95)
        (0.8319, 3)
        """
        return cls._eps_for_error(t, confidence, cls(1.0, sensitivity))  # type: ignore[call-arg]

    @classmethod
    def _eps_for_error(cls, t: RealLike, confidence: RealLike, example: EpsForError) -> Real:
        discrete = cls._integers
        limit = argument(t, "t")
        allowed = ((limit >= 0) if discrete else (limit > 0)) & (limit < math.inf)
        refuse("t", limit, allowed, "finite and at least 0" if discrete else "finite and greater than 0")
        alpha = 1 - confidence_level(confidence)
        parameters = np.empty(example._parameter_shape) if example._parameter_shape else 0.0
        shape = common_shape({"t": limit, "confidence": alpha, "parameters": parameters})
        spec = example._spec
        fixed = 0.0 if spec is None or isinstance(spec, str) else spec
        if spec is not None and not isinstance(spec, str):
            # A smaller shape serves no purpose, and the closed forms lose their digits there.
            refuse(str(cls._spec_name), spec, np.asarray(spec) >= _LEAST_NORMAL, "at least 2**-1022 here")

        def least(limit: float, alpha: float, D: float, shape: float) -> float:
            one = cls._least_eps(limit, alpha, D, spec if isinstance(spec, str) else shape)
            if one is None or math.isinf(one):
                name = cls._spec_name or "sensitivity"
                raise ParameterError(f"t must be an error that some eps keeps below with this confidence and {name}, got {limit}")
            return one

        found: Real = each(least, shape, np.floor(limit) if discrete else limit, alpha, example._sensitivity, fixed)
        return found

    @classmethod
    def _raised_to_what_is_drawn(cls, t: float, alpha: float, D: float, spec: Any, found: float | None) -> float | None:
        """Raise the ε that suffices for the density until noise drawn on the lattice meets the bound t too."""
        from stairnoise.mechanisms.staircase import least_eps

        return least_eps.raised(lambda eps: cls._may_be_drawn_beyond(t, alpha, eps, D, spec), found)

    @classmethod
    def _may_be_drawn_beyond(cls, t: float, alpha: float, eps: float, D: float, spec: Any) -> bool:
        from stairnoise.mechanisms.staircase import least_eps

        mechanism = cls._make_sampler(eps, D, spec)
        constants = cls._family.constants(eps, float(mechanism.cells), float(next(iter(mechanism.lengths), 0)))
        return least_eps.exceeds(math.floor(min(t / mechanism.granularity, _FARTHEST)) + 0.5, constants, alpha)


def least_eps_of_integers(D: float) -> float:
    """Return the least ε for which 64-bit integers hold the tail."""
    return max(LEAST_EPS, D / (2.0**54 - D) * (1 + 2.0**-50))
