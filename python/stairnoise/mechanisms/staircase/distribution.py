"""Both staircase distributions: density, survival function and its inverse on the half line y >= 0.

One set of formulas serves both, because the discrete distribution is the continuous one rounded to the
nearest integer: with half-width ``w = gamma D`` of the central stair, or ``w = r - 1/2``,

    density   h(y) = b**J / t                         P(X = i)  = h(|i|)
    survival  S(y) = b**J ((J D + w - y) + D c) / t   P(X >= j) = S(j - 1/2),  j >= 1

where ``t = 2 (w + D c)``, ``b = exp(-eps)``, ``c = b/(1 - b)`` and J(y) is the number of edges
``w, w + D, w + 2 D, ...`` at or below y (math: Geng and Viswanath, arXiv:1212.1186, equation 38 and
its discrete analogue). The stair of y is determined in twice the working precision, so that a
float64 on an edge, or next to it, is on the right side.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from stairnoise._parameters import Real
from stairnoise.numerics.elementary import product, split
from stairnoise.numerics.elementwise import namespace

# Factors for a guess of the stair from below: the margin exceeds the three roundings of the guess, and no stair is smaller.
_DOWN = 1 - 2.0**-51
_UP = 1 + 2.0**-51
_LEAST_NORMAL = 2.0**-1022
_LEAST = 5e-324


class Stairs(NamedTuple):
    """Constants of one distribution; lengths in units of a power of two that leaves D in [1/2, 1)."""

    eps: Any
    scale: Any
    """The reciprocal of the unit."""
    D: Any
    D_high: Any
    D_low: Any
    """D = D_high + D_low, 26 bits each: their products with a stair number are exact."""
    w: Any
    w_low: Any
    """The half-width is w + w_low."""
    beyond: Any
    """D c: the weight of all stairs right of a point's own, as a length on its own stair."""
    total: Any
    """t."""
    log_height: Any
    """Logarithm of the density at 0, per unit of the caller."""
    share: Any
    """P(|X| > w)."""
    share_high: Any
    share_low: Any
    """The share is share_high - share_low: 1 - P(|X| < w) if that probability is small, otherwise share - 0."""
    drop: Any
    """1 - b."""
    steep: Any
    """Whether log and exp are as accurate as log1p and expm1, because the stairs fall fast and none is near 0."""
    excess: Any
    """t - 1 in the caller's unit, without cancellation, for a discrete distribution; -inf for a continuous one."""


def continuous(eps: Real, sensitivity: Real, gamma: Real) -> Stairs:
    """Make the constants of the continuous staircase."""
    xp = namespace(eps, sensitivity, gamma)
    D, scale = _normalised(xp, sensitivity)
    w, w_low = product(gamma, D)
    return _stairs(xp, eps, scale, D, w, w_low, -xp.inf)


def lattice(eps: Real, sensitivity: Real, r: Real) -> Stairs:
    """Make the constants of the discrete staircase; ``(eps, 1, 1)`` is the two-sided geometric distribution."""
    xp = namespace(eps, sensitivity, r)
    D, scale = _normalised(xp, sensitivity)
    w = r - 0.5
    w_low = (r - w) - 0.5
    return _stairs(xp, eps, scale, D, w * scale, w_low * scale, 2 * (r - 1))


def _stairs(xp: Any, eps: Any, scale: Any, D: Any, w: Any, w_low: Any, centre_excess: Any) -> Stairs:
    D_high, D_low = split(D)
    # 1/expm1(eps) would overflow at 710.
    drop = -xp.expm1(-eps)
    beyond = D * (xp.exp(-eps) / drop)
    total = 2 * (w + beyond)
    height = xp.divide(scale, total)
    log_height = xp.where(xp.isinf(height), xp.log(scale) - xp.log(total), xp.log(height))
    share = beyond / (w + beyond)
    return Stairs(
        eps=eps,
        scale=scale,
        D=D,
        D_high=D_high,
        D_low=D_low,
        w=w,
        w_low=w_low,
        beyond=beyond,
        total=total,
        log_height=log_height,
        share=share,
        share_high=xp.where(share > 0.5, 1.0, share),
        share_low=xp.where(share > 0.5, w / (w + beyond), 0.0),
        drop=drop,
        steep=(drop > 0.5) & (w > D / 512),
        excess=centre_excess + 2 * beyond / scale,
    )


def log_density(xp: Any, y: Any, k: Stairs) -> Any:
    """Ln h(y)."""
    J, _ = stair_of(xp, y * k.scale, k)
    return k.log_height - k.eps * J


def survival(xp: Any, y: Any, k: Stairs) -> Any:
    """S(y), 1/2 at y = 0."""
    J, rest = stair_of(xp, y * k.scale, k)
    # Half the exponent twice, as for the density, because a narrow centre makes the quotient large.
    root = xp.exp(k.eps * J * -0.5)
    return root * ((rest + k.beyond) / k.total) * root


def log_survival(xp: Any, y: Any, k: Stairs) -> Any:
    """Ln S(y)."""
    J, rest = stair_of(xp, y * k.scale, k)
    return xp.log((rest + k.beyond) / k.total) - k.eps * J


def survival_inverse(xp: Any, s: Any, k: Stairs) -> Any:
    """Return the y with S(y) = s, for 0 <= s <= 1/2.

    Survival falls by the factor b from each stair to the next and linearly on a stair.
    """
    q = 2 * s
    within = (k.w + k.beyond) * (1 - q)
    stairs, part = _descend(xp, xp.maximum(q, _LEAST_NORMAL), k)
    # With `not`, so that a NaN counts as tiny.
    tiny = not xp.min(q) >= _LEAST_NORMAL
    if tiny:
        fall = xp.log(xp.maximum(k.share, _LEAST)) - xp.log(xp.maximum(q, _LEAST))
        subnormal = xp.floor(fall / k.eps)
        stairs = xp.where(q < _LEAST_NORMAL, subnormal, stairs)
        part = xp.where(q < _LEAST_NORMAL, xp.expm1(subnormal * k.eps - fall) / -k.drop, part)
    outside = k.w + k.D * (stairs + xp.minimum(xp.maximum(part, 0.0), 1.0))
    y = xp.where(q >= k.share, within, outside) / k.scale
    return xp.where(q > 0, y, xp.inf) if tiny else y


def _descend(xp: Any, q: Any, k: Stairs) -> tuple[Any, Any]:
    """Return stairs and the part of the next from the centre's edge to the y with P(|X| > y) = q; 0 within the centre."""
    if xp.min(k.steep):
        # log and exp take half the time of log1p and expm1.
        fall = xp.log(xp.maximum(k.share / q, 1.0))
        stairs = xp.floor(fall / k.eps)
        return stairs, (1 - xp.exp(stairs * k.eps - fall)) / k.drop
    fall = xp.log1p(xp.maximum((k.share_high - q) - k.share_low, 0.0) / q)
    stairs = xp.floor(fall / k.eps)
    return stairs, xp.expm1(stairs * k.eps - fall) / -k.drop


def entropy(xp: Any, k: Stairs) -> Any:
    """Differential or Shannon entropy in nats: ``ln t + 2 eps D c (1 + c)/t`` in both settings."""
    c = k.beyond / k.D
    discrete = k.excess >= 0
    log_total = xp.where(discrete, xp.log1p(xp.where(discrete, k.excess, 0.0)), -k.log_height)
    return log_total + k.eps * k.beyond * 2 * (1 + c) / k.total


def _normalised(xp: Any, D: Any) -> tuple[Any, Any]:
    _, exponent = xp.frexp(D)
    # The reciprocal of a subnormal unit would overflow.
    scale = xp.ldexp(1.0, xp.minimum(-exponent, 1023))
    return D * scale, scale


def stair_of(xp: Any, y: Any, k: Stairs) -> tuple[Any, Any]:
    """Return the stair of y and its distance from the stair's right end, which is positive."""
    J = xp.maximum(xp.floor((y * _DOWN - k.w * _UP) / k.D) + 1, 0.0)
    rest = _rest(y, J, k)
    late = rest <= 0
    if xp.any(late):
        J = xp.where(late, J + 1, J)
        rest = _rest(y, J, k)
    # Beyond 2**53 stairs the rest is rounding errors, and at infinity NaN.
    return J, xp.fmax(rest, 0.0)


def _rest(y: Any, J: Any, k: Stairs) -> Any:
    """J D + w - y, with the product in two parts; the first difference is exact where it cancels."""
    edge = J * k.D
    edge_low = (J * k.D_high - edge) + J * k.D_low
    return ((edge - y) + k.w) + (edge_low + k.w_low)
