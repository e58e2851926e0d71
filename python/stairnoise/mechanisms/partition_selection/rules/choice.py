"""The choice between the two rules."""

from __future__ import annotations

from stairnoise.mechanisms.partition_selection import calibration as partition_selection_calibration
from stairnoise.mechanisms.partition_selection.rules import gaussian_threshold
from stairnoise.mechanisms.partition_selection.rules.rule import Rule
from stairnoise.mechanisms.partition_selection.rules.truncated_geometric import TruncatedGeometric


def best_rule(eps: float, delta: float, k: int) -> Rule:
    """Return the rule with the smaller threshold; if both are equal, the truncated geometric rule."""
    geometric = TruncatedGeometric(eps, delta, k)
    # For one group per person this rule is the best of all.
    if k == 1:
        return geometric
    found = partition_selection_calibration.least_threshold(eps, delta, k, geometric.threshold)
    return geometric if found is None else gaussian_threshold.GaussianThreshold(eps, k, found)
