"""`for_partitions`: its result is a value like every mechanism, is the mechanism of `release`, and refuses what `release`
refuses.

Evidence: drawn noise, and the guarantee that a mechanism was made for; for rounding and the l2 form direct
sums over all outcomes. Deterministic: no false alarms.
"""

import copy
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped

MECHANISMS = [
    sn.Laplace(1, 2),
    sn.Laplace(np.array([1.0, 2.0]), 2),
    sn.Staircase(3, 0.5, "l2"),
    sn.DiscreteLaplace(np.array([1.0, 2.0]), np.array([[3], [4]])),
    sn.DiscreteStaircase(2, 5),
    sn.Gaussian(1, 1e-6, 2),
    sn.DiscreteGaussian(7.5),
    sn.DiscreteGaussian.from_eps(1, 1e-6, 3),
    sn.TruncatedLaplace(1, 1e-3, lower=-900, sensitivity=1),
    sn.MergedLaplace([16, 4], [0.125], sensitivity=1),
    sn.MultiScaleDiscreteLaplace(5, 3).share(100, 50),
    sn.MultivariateStaircase(2, 1, 3),
]
NAMES = {name: getattr(sn, name) for name in sn.__all__ if name[0].isupper()} | {"array": np.array}


def seeded():
    return sn.SeededRng(12, allow_release=True)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_it_is_what_release_draws_from(mechanism):
    divided = mechanism.for_partitions(5)
    assert type(divided) is type(mechanism)
    assert divided != mechanism
    values = np.zeros((2, 4, *mechanism._parameter_shape, *mechanism._value_shape))
    whole = mechanism.release(values, max_partitions_contributed=5, rng=seeded())
    assert np.array_equal(whole, divided.release(values, rng=seeded()))
    assert not np.array_equal(whole, mechanism.release(values, rng=seeded()))


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_it_is_a_value(mechanism):
    divided = mechanism.for_partitions(5)
    for twin in (
        eval(repr(divided), dict(NAMES)),
        pickle.loads(pickle.dumps(divided)),
        copy.copy(divided),
        copy.deepcopy(divided),
        mechanism.for_partitions(5),
    ):
        assert twin == divided
        assert hash(twin) == hash(divided)
        assert repr(twin) == repr(divided)
    assert mechanism.for_partitions(4) != divided


@pytest.mark.parametrize(
    "mechanism", [mechanism for mechanism in MECHANISMS if not getattr(mechanism, "_parameter_shape", ())], ids=repr
)
def test_noise_grows_with_the_number_of_values(mechanism):
    spread = (
        (lambda mechanism: mechanism.expected_norm())
        if isinstance(mechanism, sn.MultivariateStaircase)
        else (lambda mechanism: mechanism.std())
    )
    widths = [spread(mechanism.for_partitions(k)) for k in (1, 2, 5, 40)]
    assert widths == sorted(widths)
    assert len(set(widths)) == 4


@pytest.mark.parametrize("mechanism", [sn.Gaussian(1, 1e-6, sensitivity=1), sn.DiscreteGaussian.from_eps(1, 1e-6)], ids=repr)
def test_numbers_of_values_multiply_where_delta_is_kept(mechanism):
    assert mechanism.for_partitions(2).for_partitions(3) == mechanism.for_partitions(6)
    divided = mechanism.for_partitions(6)
    assert (divided.eps, divided.delta, divided.sensitivity) == (mechanism.eps, mechanism.delta, mechanism.sensitivity)


def test_each_value_has_its_own_accounting():
    """Mechanisms that differ only in σ must not share a cached loss."""
    mechanism = sn.Gaussian(1, 1e-6, sensitivity=1)
    one, divided = mechanism.privacy_profile(1.0), mechanism.for_partitions(10).privacy_profile(1.0)
    assert divided < 1e-30 < one


@looped("mechanism", MECHANISMS)
@looped("k", [0, -1, 2**53])
def test_numbers_out_of_range_are_named(mechanism, k):
    with pytest.raises(sn.ParameterError, match=rf"^k must be an integer from 1 to 2\*\*53 - 1, got {k}$"):
        mechanism.for_partitions(k)
    with pytest.raises(sn.ParameterTypeError, match=r"^k must be an integer"):
        mechanism.for_partitions(1.5)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_numbers_too_large_for_a_lattice_are_named_as_the_caller_called_them(mechanism):
    most = 2**53 - 1
    if isinstance(mechanism, (sn.Gaussian, sn.DiscreteGaussian)):
        assert mechanism.for_partitions(most).std() > mechanism.std()
        return
    with pytest.raises(sn.ParameterError, match=rf"^k must leave .*, got {most}: "):
        mechanism.for_partitions(most)
    values = np.zeros((1, 3)) if isinstance(mechanism, sn.MultivariateStaircase) else np.zeros((2, 2))
    with pytest.raises(sn.ParameterError, match=rf"^max_partitions_contributed must leave .*, got {most}: "):
        mechanism.release(values, max_partitions_contributed=most, rng=seeded())


HARD = """
import time, stairnoise as sn
make = [lambda: sn.Gaussian(2, 1 - 1e-16), lambda: sn.Gaussian(2.0**-40, 0.4), lambda: sn.Gaussian(2.0**20, 1e-300),
        lambda: sn.DiscreteGaussian.from_eps(1, 1e-6), lambda: sn.DiscreteGaussian.from_eps(2.0**20, 1 - 2.0**-53),
        lambda: sn.DiscreteGaussian.from_eps(1, 5e-324, 2**20), lambda: sn.DiscreteGaussian.from_eps(400, 1e-300)]
for k in (2**53 - 1, 4096):
    for mechanism in make:
        try:
            mechanism().release([0.0], max_partitions_contributed=k)
        except sn.ParameterError:
            pass
"""


@pytest.mark.slow
def test_extreme_budgets_of_many_values_answer_or_refuse():
    """The time bound for fourteen releases is generous, and detects an endless search."""
    subprocess.run([sys.executable, "-c", HARD], check=True, timeout=60)


# ---------------------------------------------------------------- the discrete Gaussian mechanism and its guarantee


def test_a_mechanism_of_a_variance_promises_rho_only():
    mechanism = sn.DiscreteGaussian.from_eps(1, 1e-6, 3)
    bare = sn.DiscreteGaussian(mechanism.sigma2)
    assert bare != mechanism
    assert (bare.eps, bare.delta, bare.sensitivity) == (None, None, None)
    assert (mechanism.eps, mechanism.delta, mechanism.sensitivity) == (1.0, 1e-6, 3)
    assert mechanism.privacy_profile(1.0) == bare.privacy_profile(1.0, 3) <= 1e-6
    assert mechanism.rho() == bare.rho(3)
    assert bare.for_partitions(10).sigma2 == pytest.approx(10 * mechanism.sigma2, rel=1e-15)
    # At this (ε, δ), Gaussian tails add up to more than ρ allows, so σ² for the whole guarantee differs.
    assert mechanism.for_partitions(10).sigma2 != bare.for_partitions(10).sigma2


def test_release_with_an_l2_sensitivity_takes_whole_numbers_only():
    mechanism = sn.DiscreteGaussian(50)
    for values in ([1, 2, -3], [1.0, 2.0, -3.0], np.array([1, 2, -3], np.float32), 7, 7.0):
        with_bound = mechanism.release(values, l2_sensitivity=2.5, rng=seeded())
        without = mechanism.release(values, rng=seeded())
        assert np.array_equal(with_bound, without)
        assert np.asarray(with_bound).dtype == np.asarray(without).dtype
    assert mechanism.rho(l2_sensitivity=2.5) == 2.5**2 / 100
    out = np.full(3, 9.0)
    with pytest.raises(sn.ParameterError) as caught:
        mechanism.release([1.0, 123.456, 0.5], l2_sensitivity=1, out=out)
    assert str(caught.value) == "values must be whole numbers with l2_sensitivity, got one that is not at index (1,)"
    assert out.tolist() == [9.0] * 3
    with pytest.raises(sn.ParameterError, match=r"^values must be finite"):
        mechanism.release([1.0, math.nan], l2_sensitivity=1)
    with pytest.raises(sn.ParameterError, match=r"^values must be within int64, got one that is not at index \(1,\)$"):
        mechanism.release([1, 2**70], l2_sensitivity=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d, e: d.release([1], l2_sensitivity=0), "l2_sensitivity must be finite and greater than 0, got 0"),
        (lambda d, e: d.rho(l2_sensitivity=math.inf), "l2_sensitivity must be finite and greater than 0, got inf"),
        (lambda d, e: d.rho(1, l2_sensitivity=2), "l2_sensitivity must be left out beside sensitivity, got 2"),
        (
            lambda d, e: d.release([1], l2_sensitivity=1, max_partitions_contributed=2),
            "max_partitions_contributed must be 1 with l2_sensitivity, got 2",
        ),
        (
            lambda d, e: e.release([1], l2_sensitivity=1),
            "l2_sensitivity must be left out for a mechanism made by from_eps, which ",
        ),
    ],
)
def test_what_the_l2_form_refuses(call, message):
    with pytest.raises(sn.ParameterError) as caught:
        call(sn.DiscreteGaussian(4), sn.DiscreteGaussian.from_eps(1, 1e-6))
    assert str(caught.value).startswith(message)


def test_rounding_breaks_an_l2_bound_and_keeps_a_bound_of_each_value():
    """100 values from 0.45 to 0.55. ρ is the largest D(α)/α of the Rényi divergence, from sums over all outcomes of one value."""
    mechanism = sn.DiscreteGaussian(40)
    before, after = np.full(100, 0.45), np.full(100, 0.55)
    assert math.isclose(float(np.linalg.norm(after - before)), 1.0)
    k = np.arange(-100, 101)
    p, q = mechanism.pmf(k - round(0.45)), mechanism.pmf(k - round(0.55))
    alpha = 2.0
    divided = math.log(float(np.sum(p**alpha * q ** (1 - alpha)))) / (alpha - 1) / alpha
    assert 100 * divided == pytest.approx(100 * mechanism.rho(l2_sensitivity=1), rel=1e-9)
    # Rounding keeps a maximum change of 1 for each value, so all values together have the ρ of one value.
    wide = mechanism.for_partitions(100)
    k = np.arange(-1200, 1201)
    p, q = wide.pmf(k), wide.pmf(k - 1)
    divided = math.log(float(np.sum(p**alpha * q ** (1 - alpha)))) / (alpha - 1) / alpha
    assert 100 * divided <= mechanism.rho(1) * (1 + 1e-9)
    for values in (before, after):
        with pytest.raises(sn.ParameterError, match="whole numbers"):
            mechanism.release(values, l2_sensitivity=1)
