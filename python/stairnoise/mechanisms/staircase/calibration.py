"""The shapes with the least error, in closed form.

References
----------
.. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186.
"""

from __future__ import annotations

import numpy as np

from stairnoise._parameters import Real
from stairnoise._types import Floats

_TINY = float(np.finfo(np.float64).tiny)


def gamma_l1(eps: Real) -> Floats:
    """Shape with the least E|X|: ``1/(1 + exp(eps/2))`` [1]_."""
    root = np.exp(-np.asarray(eps) / 2)
    return np.asarray(np.maximum(root / (1 + root), _TINY))


def gamma_l2(eps: Real) -> Floats:
    """Shape with the least E X², the root of ``((1-b) gamma + b)**3 = b (1+b)/2``.

    The root ``(y - b)/(1 - b)`` with ``y**3 = b (1+b)/2`` would lose ``log10(1/eps)`` digits, so it is rationalised. It is
    computed from ``exp(-eps/3)``, which underflows only with the result.
    """
    root = np.exp(-np.asarray(eps) / 3)
    b = root**3
    k = np.cbrt((1 + b) / 2)
    gamma = root * (1 + 2 * b) / (2 * (k**2 + k * root**2 + root**4))
    return np.asarray(np.maximum(gamma, _TINY))
