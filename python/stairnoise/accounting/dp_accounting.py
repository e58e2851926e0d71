"""Privacy losses in the form of Google's package dp_accounting: on the multiples of an interval, from above.

The profile δ is replaced by its chords, in exp(t), between the nodes 0, h, …, n h [1]_. The last node is not below the largest
loss, or what lies beyond it counts as an infinite loss. With P[j] the probability of the loss j h under the true centre,
two sums of positive terms give the profile of these nodes, as in `curve`::

    B[j] = P[j] + exp(-h) B[j+1]          A[n] = P[infinity],  A[j-1] = A[j] + (1 - exp(-h)) B[j]

B[j] is the least number for which A[j-1] >= δ((j-1) h) and P[j] >= 0. So rounding of δ may only raise the profile. Losses below
zero mirror those above: P[-j] = exp(-j h) P[j]. What is left is the probability of the loss 0.

If that is less than nothing by rounding, it is 0, and the sum of all probabilities exceeds 1 a little. The composed profile stays
above the true one, because the profile of two releases, ∫ δ(t - l) dP(l), grows with the profile of either [2]_. Below zero the
grid's profile is above the true one where it is above zero, as long as the probabilities do not add up to less than 1.

References
----------
.. [1] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi, "Connect the Dots: Tighter Discrete
   Approximations of Privacy Loss Distributions", PoPETs 2022(4).
.. [2] Zhu, Dong and Wang, "Optimal Accounting of Differential Privacy via Characteristic Function",
   AISTATS 2022, theorem 10.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from stairnoise._optional import require
from stairnoise._parameters import positive, refuse
from stairnoise._types import Floats

# Twice as many probabilities take 20 MB, and dp_accounting some seconds to compose them.
_MOST_STEPS = 2**20
# An error rounds the least interval to three digits, and never down.
_ROUNDED_UP = 1.006
# Relative error of a profile and of the sums below, from above: tests measure a thousandth of it.
_ROUNDING = 2.0**-30
# A probability that counts as none: an infinite loss of this probability, or a mirrored loss below it, changes no answer.
_NEGLIGIBLE = 2.0**-80
# Values of a profile that are computed in one call, some of which take a hundred numbers each.
_AT_ONCE = 2**14


def distribution(loss: Any, interval: Any) -> Any:
    """Return dp_accounting's PrivacyLossDistribution of a loss with scalar parameters, from above."""
    step = positive(interval, "interval")
    top = loss.eps
    if math.isinf(top):
        top = loss.eps_for_delta(cut(loss.privacy_profile(math.inf)))
    steps = steps_to(top, step)
    least = f"{_ROUNDED_UP * top / _MOST_STEPS:.3g}"
    rule = f"at least {least} for losses of up to {top:.6g}, whose grid has at most 2**20 steps"
    refuse("interval", interval, steps <= _MOST_STEPS, rule)
    pld = require("dp_accounting.pld.privacy_loss_distribution", "to_dp_accounting needs", "'stairnoise[accounting]'")
    masses, infinite = on_multiples(loss.privacy_profile, steps, step)
    return pld.PrivacyLossDistribution.create_from_rounded_probability(masses, infinite, step, pessimistic_estimate=True)


def cut(infinite: float) -> float:
    """Return a δ beyond whose ε the losses may count as infinite, which they are with probability `infinite`."""
    return min(infinite * (1 + _ROUNDING) + _NEGLIGIBLE, 1.0)


def steps_to(top: float, interval: float) -> int:
    """Least n for which n intervals, in exact numbers, are not below `top`."""
    return math.ceil(Fraction(top) / Fraction(interval))


def on_multiples(profile: Callable[[Floats], Floats], n: int, interval: float) -> tuple[dict[int, float], float]:
    """Return the probabilities of the losses j intervals, |j| <= n, by j and without zeros, and that of an infinite loss."""
    deltas = _raised(profile, n, interval)
    above = np.array(_masses(deltas, interval))
    mirrored = above * np.exp(-interval * np.arange(1.0, n + 1))
    mirrored[mirrored < _NEGLIGIBLE] = 0.0
    infinite = deltas[-1]
    masses = {j: mass for j, mass in zip(range(-n, 0), mirrored[::-1].tolist(), strict=True) if mass > 0}
    masses[0] = max(1 - math.fsum([infinite, *above.tolist(), *mirrored.tolist()]), 0.0)
    masses.update((j, mass) for j, mass in enumerate(above.tolist(), 1) if mass > 0)
    return masses, infinite


def _raised(profile: Callable[[Floats], Floats], n: int, interval: float) -> list[float]:
    """Return δ at the nodes, raised by its rounding error."""
    places = interval * np.arange(n + 1.0)
    # Below the exact nodes, so that δ is above; the last one is not below the largest loss.
    places[:-1] = np.nextafter(places[:-1], 0.0)
    deltas = np.concatenate([profile(places[i : i + _AT_ONCE]) for i in range(0, n + 1, _AT_ONCE)])
    return np.minimum(deltas * (1 + _ROUNDING), 1.0).tolist()  # type: ignore[no-any-return]


def _masses(deltas: list[float], interval: float) -> list[float]:
    """Return the probabilities of the nodes 1 to n."""
    falling, rising = math.exp(-interval), -math.expm1(-interval)
    A, B = deltas[-1], 0.0
    masses = []
    for delta in reversed(deltas[:-1]):
        carried = falling * B
        B = max((delta - A) / rising, carried)
        masses.append(B - carried)
        A += rising * B
    return masses[::-1]
