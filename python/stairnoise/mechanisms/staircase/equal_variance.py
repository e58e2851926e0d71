"""Laplace and staircase noise of the same variance, compared by their mean privacy losses.

At the same ε a staircase has the larger privacy loss and the smaller variance. The loss of k releases tends to k times the mean
loss of one.
"""

from __future__ import annotations

import math

import numpy as np

from stairnoise.distributions.moments import staircase_abs_moment
from stairnoise.mechanisms.staircase.calibration import gamma_l2
from stairnoise.mechanisms.staircase.loss import Atoms
from stairnoise.numerics.roots import bisection

# A staircase with Laplace's variance has more than (ln ε)/ε times Laplace's ε.
_LEAST_SHARE = 2.0**-40


def mean_losses(eps: float) -> tuple[float, float]:
    """Return the mean privacy losses of the staircase of least variance and of Laplace noise, both of the variance 2/eps²."""

    def narrow(log_eps: float) -> bool:
        one = math.exp(log_eps)
        return float(staircase_abs_moment(2, one, 1.0, gamma_l2(one))) <= 2 / eps**2

    most = math.log(eps)
    same = math.exp(bisection(narrow, most + math.log(_LEAST_SHARE), most))
    width = 2 * gamma_l2(same)
    staircase = Atoms(np.array(same), width, width - 1)
    return float(staircase.mean()), eps + math.expm1(-eps)
