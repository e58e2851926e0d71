"""An interval that holds a quantile, whatever the values are: its two ends are selected as quantiles are.

The lower end belongs to the rank q·n - t. Below the candidates there is "no limit", which counts as t values, so that the rank is
q·n, and some candidate or "no limit" has the cost 0. An end above a quantile has at least q·n values below it, and the t besides:
its cost is at least t. For t a bound on the cost of what is selected, that happens as rarely as the bound fails, for any number
of values. One person changes the costs by as much as those of the quantile, but in both directions also for q = 0 and q = 1.

The upper end is the lower one of the values in reverse.
"""

from __future__ import annotations

import math

import numpy as np

from stairnoise._types import Floats
from stairnoise.mechanisms.exponential_mechanism.mechanism import ExponentialMechanism
from stairnoise.mechanisms.permute_and_flip.mechanism import PermuteAndFlip
from stairnoise.quantiles.plan import Plan
from stairnoise.quantiles.ranks import Target, Weights, Whole, bound
from stairnoise.rng import Rng


def ends(plan: Plan, candidates: Whole, weights: Whole, points: Floats, level: float, rng: Rng | None) -> tuple[float, float]:
    """Return the two ends for the only quantile of a plan, whose ε is that of each end; ±inf is "no limit"."""
    padded, (p,), r = np.array([-math.inf, *points, math.inf]), plan.ranks, plan.r
    low = _lower(plan, Target(p, r), candidates, weights, len(points), level, rng)
    mirrored = len(points) - 1 - candidates[::-1]
    high = _lower(plan, Target(r - p, r), mirrored, weights[::-1], len(points), level, rng)
    return float(padded[low]), float(padded[-1 - high])


def _lower(plan: Plan, target: Target, candidates: Whole, weights: Whole, among: int, level: float, rng: Rng | None) -> int:
    """Return 0 for no limit, or the place of a candidate plus 1."""
    costs, mechanism = lower_costs(plan, target, candidates, weights, among, level)
    return int(mechanism.select(costs, rng=rng))


def lower_costs(
    plan: Plan, target: Target, candidates: Whole, weights: Whole, among: int, level: float
) -> tuple[Floats, PermuteAndFlip | ExponentialMechanism]:
    """Return the costs of no limit and of all candidates, and what selects one of them."""
    sensitivity = target.sensitivity(plan.neighbours, plan.person)
    rate = plan.eps / sensitivity / 2 * target.r
    # An end fails as rarely as half of the interval may.
    t = math.ceil(min(bound(rate, among + 1, (1 - level) / 2, flips=plan.flips), 2.0**53))
    whole = Weights(np.concatenate(([0], candidates + 1)), np.concatenate(([t], weights)), 0, among)
    _, sizes, costs = whole.runs(target, besides=t)
    mechanism = PermuteAndFlip if plan.flips else ExponentialMechanism
    return np.repeat(costs, sizes), mechanism(plan.eps, float(sensitivity))
