"""Mechanisms given by a list of probabilities. Evidence: equality with the closed forms of a mechanism that has both."""

from __future__ import annotations

import math

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.distributions.tabulated import Tabulated

MECHANISM = sn.DiscreteLaplace(0.3)
FAR = 2000


@pytest.fixture(params=[1.0, 0.25])
def listed(request):
    k = np.arange(-FAR, FAR + 1)
    return Tabulated(-FAR, MECHANISM.logpmf(k), request.param), request.param


@pytest.mark.parametrize("name", ["pmf", "logpmf", "cdf", "sf", "logcdf", "logsf"])
def test_functions_of_x(listed, name):
    table, step = listed
    x = np.array([-1500.0, -40.0, -3.5, -1.0, 0.0, 0.2, 1.0, 7.0, 1000.0, math.nan])
    assert getattr(table, name)(x * step) == pytest.approx(getattr(MECHANISM, name)(x), rel=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", ["ppf", "isf"])
def test_quantiles(listed, name):
    table, step = listed
    q = np.array([0.0, 1e-200, 1e-9, 0.123, 0.5, 0.9, 1 - 1e-9, 1.0, -0.1, 1.1, math.nan])
    assert getattr(table, name)(q) / step == pytest.approx(getattr(MECHANISM, name)(q), nan_ok=True)


def test_quantiles_invert_the_cdf(listed):
    table, step = listed
    x = np.arange(-300, 90) * step
    assert np.array_equal(table.ppf(table.cdf(x)), x)
    assert np.array_equal(table.isf(table.sf(-x)), -x)


def test_moments_and_bounds(listed):
    table, step = listed
    assert table.mean() == 0
    assert table.moment(3) == 0
    assert table.var() == pytest.approx(MECHANISM.var() * step**2, rel=1e-12)
    assert table.moment(4) == pytest.approx(MECHANISM.moment(4) * step**4, rel=1e-12)
    for p in (0, 0.5, 1, 3):
        assert table.abs_moment(p) == pytest.approx(MECHANISM.abs_moment(p) * step**p, rel=1e-12)
    assert table.abs_moment(-0.5) == math.inf
    assert table.entropy() == pytest.approx(MECHANISM.entropy(), rel=1e-12)
    alpha = np.array([1e-100, 0.01, 0.05, 0.5, 0.9, 1.0])
    assert np.array_equal(table.error_bound(alpha) / step, MECHANISM._tail_bound(alpha))
    assert table.support() == (-math.inf, math.inf)


def test_a_lopsided_bounded_mechanism():
    mechanism = Tabulated(-1, np.log([0.5, 0.125, 0.125, 0.25]), bounded=True)
    assert mechanism.support() == (-1, 2)
    assert (mechanism.mean(), mechanism.var(), mechanism.moment(2)) == pytest.approx((0.125, 1.609375, 1.625), rel=1e-15)
    assert mechanism.ppf(np.array([0.0, 0.5, 0.51, 1.0])).tolist() == [-1, -1, 0, 2]
    assert mechanism.cdf(np.array([-2, -1, 2, 5])).tolist() == [0, 0.5, 1, 1]
    assert mechanism.error_bound(np.array([0.2, 0.25, 0.8])).tolist() == [2, 1, 1]
