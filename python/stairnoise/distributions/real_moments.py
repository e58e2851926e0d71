"""Absolute moments of real order of the Laplace and the staircase distributions: E|X|**p for every p > -1.

Functions of numbers or arrays that broadcast, relative error below 1e-12 for ``eps`` from 2**-40
to 700 and p to 64. Notation as in `stairnoise.distributions`, whose closed forms they equal at integer p.

References
----------
.. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186: the
   densities, equation 38 and the discrete setting.
.. [2] Olver and others, NIST Handbook of Mathematical Functions, 25.14: Lerch's transcendent Phi.
"""

from __future__ import annotations

import numpy as np

from stairnoise._parameters import Real
from stairnoise._types import Floats
from stairnoise.distributions.moments import central_mass, odds
from stairnoise.numerics.elementwise import in_chunks
from stairnoise.numerics.lerch import FEW_STAIRS, excess, gamma_function, outer_stairs, step_sum

# Elements at a time: every element takes some hundred terms.
_CHUNK = 1024


def staircase_abs_moment(p: Real, eps: Real, D: Real, gamma: Real) -> Floats:
    """E|X|**p of the continuous staircase.

    ``D**p (1-b) Phi(b, -p-1, gamma) / ((p+1) (gamma + c))`` with Lerch's Phi [2]_, which is the sum of
    ``b**m (gamma+m)**(p+1)``; integral of the density, stair by stair.
    """
    with np.errstate(all="ignore"):
        return in_chunks(_moment, _CHUNK, p, eps, D, gamma, np.inf)


def lattice_abs_moment(p: Real, eps: Real, D: Real, r: Real) -> Floats:
    """E|X|**p of the discrete staircase; D = r = 1 is the two-sided geometric distribution.

    inf for negative p, because P(X = 0) > 0.
    """
    with np.errstate(all="ignore"):
        moment = in_chunks(_moment, _CHUNK, np.maximum(p, 0.0), eps, D, (np.asarray(r) - 0.5) / D, D)
        return np.asarray(np.where(np.asarray(p) < 0, np.inf, moment))


def laplace_abs_moment(p: Real, eps: Real, D: Real) -> Floats:
    """E|X|**p of the Laplace distribution, ``Gamma(p+1) (D/eps)**p``."""
    with np.errstate(all="ignore"):
        return np.asarray(gamma_function(np.asarray(p) + 1.0) * (np.asarray(D) / eps) ** p)


def _moment(p: Floats, eps: Floats, D: Floats, gamma: Floats, steps: Floats) -> Floats:
    """E|X|**p with the central stair of half-width gamma D; `steps` to a stair, inf for a continuous distribution."""
    moment = np.ones_like(p)
    small = eps < FEW_STAIRS
    for method, where in ((_many_stairs, small & (p != 0)), (_few_stairs, ~small & (p != 0))):
        if np.any(where):
            moment[where] = method(p[where], eps[where], D[where], gamma[where], steps[where])
    return moment


def _many_stairs(p: Floats, eps: Floats, D: Floats, gamma: Floats, steps: Floats) -> Floats:
    total = gamma_function(p + 2) + excess(p + 1, eps, gamma, steps)
    weight = np.exp(eps * gamma) * -np.expm1(-eps) / eps / (eps * (gamma + odds(eps)))
    return np.asarray((D / eps) ** p * weight * total / (p + 1))


def _few_stairs(p: Floats, eps: Floats, D: Floats, gamma: Floats, steps: Floats) -> Floats:
    centre, beyond = central_mass(eps, gamma)
    step = -np.expm1(-eps)
    s = p + 1
    inner = np.where(np.isinf(steps), gamma**p, step_sum(s[:, None], gamma[:, None], steps[:, None])[:, 0] / gamma)
    outer = outer_stairs(s, eps, gamma, steps)
    # In two factors: the power of a large sensitivity may overflow where the moment does not.
    scale = D ** (p / 2)
    return np.asarray(scale * (step * (inner * centre + beyond * step * outer) / s) * scale)
