"""Moments of noise whose variance is outside float64's range: a moment is a power of the scale times the moment of scale 1.

Evidence: the same mechanism at another scale, by powers of two, and closed forms.
"""

import math
import warnings
from itertools import product

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.registry import ROWS
from tests.combinations import in_turn, rest_long

# The names of parameters that are lengths.
LENGTHS = ("sensitivity", "lower", "upper", "breakpoints", "theta", "lam", "scale", "std")
CONTINUOUS = [
    (row, example) for row in ROWS if row.kind in ("continuous", "vector") for example in (*row.examples, row.arrays) if example
]
# 1.4e160 and 8.3e-171, and a scale whose fourth power is too small.
# Moments of a share of Arete's noise are slow to compute.
SOME = [(row, example) for row, example in CONTINUOUS if row.name != "arete" or "n_parties" not in example.arguments]
SCALES = (2.0**532, 2.0**-565, 2.0**-300)
each_scaled_example = pytest.mark.parametrize(
    ("row", "example", "scale"),
    rest_long(*([(*one, scale) for one, scale in both] for both in (in_turn(SOME, SCALES), product(CONTINUOUS, SCALES)))),
    ids=lambda value: getattr(value, "name", None),
)


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def scaled(row, example, scale):
    """Return an example's mechanism with all lengths multiplied by a scale."""
    alone = row.make(example)._stated is None
    arguments = ({} if alone else {"sensitivity": 1.0}) | example.arguments
    for name in LENGTHS:
        if arguments.get(name) is not None:
            arguments[name] = (np.asarray(arguments[name]) * scale).tolist()
    return row.make(example._replace(arguments=arguments))


def same(found, expected):
    assert np.all(np.isfinite(found))
    assert np.allclose(found, expected, rtol=1e-12, atol=0)


@each_scaled_example
def test_the_scale_is_a_factor(row, example, scale):
    mechanism, one = scaled(row, example, scale), scaled(row, example, 1.0)
    same(np.divide(mechanism.std(), scale), one.std())
    same(np.divide(mechanism.mean(), scale), one.mean())
    assert not np.any(np.isnan(mechanism.var()))
    assert np.all(np.equal(mechanism.var(), 0 if scale == 2.0**-565 else math.inf) | (scale == 2.0**-300))
    if not row.of_numbers:
        same(mechanism.expected_norm(1) / scale, one.expected_norm(1))
        same(mechanism.expected_norm(1.5) / scale**1.5, one.expected_norm(1.5))
        return
    same(np.divide(mechanism.abs_moment(1), scale), one.abs_moment(1))
    same(np.divide(mechanism.abs_moment(0.5), scale**0.5), one.abs_moment(0.5))
    same(np.divide(mechanism.abs_moment(1.5), scale**1.5), one.abs_moment(1.5))
    for moments in "sk":
        assert np.allclose(mechanism.stats(moments), one.stats(moments), rtol=1e-9, atol=1e-9)
    for order in (3, 4, 63, 64):
        found = mechanism.moment(order)
        assert np.all(np.isin(found, [0.0, math.inf]) | (np.abs(found) < 1e-200))
        assert not np.any(np.signbit(np.where(found == 0, found, 0.0)))


@each_scaled_example
def test_scipys_standard_deviation(row, example, scale):
    """A vector mechanism has none; one with array parameters has it if SciPy has these as shapes."""
    pytest.importorskip("scipy")
    if row.of_numbers and (row.name != "gaussian" or example is not row.arrays):
        frozen, one = (scaled(row, example, size).as_scipy() for size in (scale, 1.0))
        same(np.divide(frozen.std(), scale), one.std())
        assert one.std() == pytest.approx(np.sqrt(one.var()), rel=1e-12)


def test_the_standard_deviations_of_the_closed_forms():
    assert sn.Laplace(1, 1e160).std() == pytest.approx(2**0.5 * 1e160, rel=1e-15)
    assert sn.Laplace(1, 1e-170).std() == pytest.approx(2**0.5 * 1e-170, rel=1e-15)
    assert sn.Laplace(1, [1e160, 1, 1e-170]).std() == pytest.approx([2**0.5 * 1e160, 2**0.5, 2**0.5 * 1e-170], rel=1e-15)
    assert sn.Gaussian(sigma=1e-170, sensitivity=1e-170).std() == pytest.approx(1e-170, rel=1e-12)


@pytest.mark.parametrize(
    ("arguments", "scale"),
    [
        ({"delta": 1e-6, "mechanisms": "all"}, 2.0**532),
        pytest.param({"delta": 1e-6, "mechanisms": "all"}, 2.0**-565, marks=pytest.mark.long),
        ({"cost": "l2", "delta": 1e-6}, 2.0**532),
        pytest.param({"cost": "l2", "delta": 1e-6, "releases": 10}, 2.0**-565, marks=pytest.mark.long),
        ({"cost": "l2", "dim": 3, "norm": "l1"}, 2.0**532),
        ({"cost": "l2", "costs": [0, 1, 3]}, 2.0**-565),
    ],
    ids=str,
)
def test_compare_at_another_scale(arguments, scale):
    """The rows and ratios of continuous mechanisms, and the recommendation, scale."""
    costs = {"costs": [cost * scale for cost in arguments["costs"]]} if "costs" in arguments else {}
    found, expected = sn.compare(1.0, scale, **arguments | costs), sn.compare(1.0, 1.0, **arguments)
    names = [row.name for row in found]
    assert names == [row.name for row in expected if row.name in names]
    assert len(names) >= 3
    for row in found:
        one = expected[row.name]
        same([row.mean_abs / scale, row.std / scale, row.ratio], [one.mean_abs, one.std, one.ratio])
    assert "inf" not in str(found)
    assert "nan" not in str(found)


def test_calibration_chooses_the_same_stair_at_every_scale():
    one = sn.calibrate(sn.Staircase, eps=4, delta=1e-6, releases=100, cost="l2")
    for scale in (2.0**532, 2.0**-565):
        mechanism = sn.calibrate(sn.Staircase, eps=4, delta=1e-6, releases=100, cost="l2", sensitivity=scale)
        assert (mechanism.eps, mechanism.gamma) == (one.eps, one.gamma)
