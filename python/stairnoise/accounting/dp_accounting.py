"""Privacy losses in the form of Google's package dp_accounting."""

from __future__ import annotations

import math
from typing import Any

from stairnoise._errors import ParameterError, received
from stairnoise._optional import require
from stairnoise._parameters import single
from stairnoise.accounting import grid

# Twice as many probabilities take 20 MB, and dp_accounting some seconds to compose them.
_MOST_STEPS = 2**20
# An error rounds the least interval to three digits, and never down.
_ROUNDED_UP = 1.006


def distribution(loss: Any, interval: Any) -> Any:
    """Return dp_accounting's PrivacyLossDistribution of a loss with scalar parameters, from above."""
    step = single(interval, "interval")
    if not 0 < step < math.inf:
        raise ParameterError(f"interval must be finite and greater than 0, got {received(interval)}")
    top = loss.eps
    if math.isinf(top):
        top = loss.eps_for_delta(grid.cut(loss.privacy_profile(math.inf)))
    steps = grid.steps_to(top, step)
    if steps > _MOST_STEPS:
        least = f"{_ROUNDED_UP * top / _MOST_STEPS:.3g}"
        raise ParameterError(
            f"interval must be at least {least} for losses of up to {top:.6g}, whose grid has at most 2**20 steps, "
            f"got {received(interval)}"
        )
    pld = require("dp_accounting.pld.privacy_loss_distribution", "to_dp_accounting needs", "'stairnoise[accounting]'")
    masses, infinite = grid.on_multiples(loss.privacy_profile, steps, step)
    return pld.PrivacyLossDistribution.create_from_rounded_probability(masses, infinite, step, pessimistic_estimate=True)
