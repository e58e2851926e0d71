"""The least ε that reaches a wanted accuracy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stairnoise._errors import ParameterError
from stairnoise._parameters import Real, RealLike, argument, common_shape, confidence_level, refuse
from stairnoise.mechanism.cost import elementwise
from stairnoise.mechanisms.staircase import least_eps

LEAST_EPS = 2.0**-40
_LEAST_NORMAL = 2.0**-1022
# In lattice steps: float64 can hold this error, and no draw is larger.
_FARTHEST = 2.0**1000


def least_eps_for_error(t: RealLike, confidence: RealLike, example: Any) -> Real:
    """Return the least ε for mechanisms that have the sensitivity and the shape of the example."""
    discrete, spec, name = example._integers, example._spec, example._spec_name
    limit = argument(t, "t")
    allowed = ((limit >= 0) if discrete else (limit > 0)) & (limit < math.inf)
    refuse("t", limit, allowed, "finite and at least 0" if discrete else "finite and greater than 0")
    alpha = 1 - confidence_level(confidence)
    parameters = np.empty(example._parameter_shape) if example._parameter_shape else 0.0
    shape = common_shape({"t": limit, "confidence": alpha, "parameters": parameters})
    fixed = 0.0 if spec is None or isinstance(spec, str) else spec
    if spec is not None and not isinstance(spec, str):
        # For a smaller shape the closed forms lose their digits.
        refuse(str(name), spec, np.asarray(spec) >= _LEAST_NORMAL, "at least 2**-1022 here")

    def least(limit: float, alpha: float, D: float, shape: float) -> float:
        one: float | None = type(example)._least_eps(limit, alpha, D, spec if isinstance(spec, str) else shape)
        if one is None or math.isinf(one):
            others = name or "sensitivity"
            raise ParameterError(f"t must be an error that some eps keeps below with this confidence and {others}, got {limit}")
        return one

    found: Real = elementwise(least, shape, np.floor(limit) if discrete else limit, alpha, example._sensitivity, fixed)
    return found


def raised_for_lattice(kind: Any, t: float, alpha: float, D: float, spec: Any, found: float | None) -> float | None:
    """Raise the ε that suffices for the density until noise drawn on the lattice meets the bound t too."""

    def may_exceed(eps: float) -> bool:
        mechanism = kind._make_sampler(eps, D, spec)
        constants = kind._family.constants(eps, float(mechanism.sensitivity_steps), float(next(iter(mechanism.lengths), 0)))
        return least_eps.exceeds(math.floor(min(t / mechanism.granularity, _FARTHEST)) + 0.5, constants, alpha)

    return least_eps.raised(may_exceed, found)


def least_eps_of_integers(D: float) -> float:
    """Return the least ε for which 64-bit integers can hold the tail."""
    return max(LEAST_EPS, D / (2.0**54 - D) * (1 + 2.0**-50))
