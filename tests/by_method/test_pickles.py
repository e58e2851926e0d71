"""Pickles of calibrated mechanisms, and calibrations that are kept. Evidence: mechanisms made from the same parameters."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.mechanisms.discrete_gaussian import calibration as discrete_gaussian
from stairnoise.mechanisms.gaussian import calibration as gaussian

CALIBRATED = {
    "gaussian": lambda: sn.Gaussian(0.7, 1e-7, sensitivity=3),
    "gaussian of partitions": lambda: sn.Gaussian(0.7, 1e-7, sensitivity=3).for_partitions(5),
    "discrete gaussian": lambda: sn.DiscreteGaussian.from_eps(0.7, 1e-7, 3),
    "discrete gaussian of partitions": lambda: sn.DiscreteGaussian.from_eps(0.7, 1e-7, 3).for_partitions(5),
    "discrete gaussian of arrays": lambda: sn.DiscreteGaussian.from_eps([0.7, 0.9], 1e-7, 3),
    "partition selection": lambda: sn.PartitionSelection(0.7, 1e-7, 20),
}
calibrated = pytest.mark.parametrize("make", CALIBRATED.values(), ids=CALIBRATED)


def with_less_noise(value):
    """Return a pickle's arguments with a σ² that is too small by a ten thousandth."""
    if isinstance(value, tuple):
        return tuple(map(with_less_noise, value))
    return value * (1 - 1e-4) if isinstance(value, (float, np.ndarray)) else value


def altered(mechanism, version):
    """Return the mechanism's maker, and its pickle's arguments with less noise and with this version."""
    maker, arguments = mechanism.__reduce__()
    place = 0 if type(mechanism) is sn.DiscreteGaussian else len(arguments) - 2
    changed = [*arguments[:-1], version]
    changed[place] = with_less_noise(changed[place])
    return maker, changed


def noise_of(mechanism):
    return np.asarray(mechanism.sigma2).tolist(), getattr(mechanism, "threshold", None)


@calibrated
def test_a_pickle_with_less_noise_is_refused(make):
    maker, arguments = altered(make(), sn.__version__)
    for _ in range(2):
        with pytest.raises(sn.ParameterError, match="of a pickle must be enough for its eps and delta, got "):
            maker(*arguments)


@calibrated
def test_another_version_calibrates_anew(make):
    maker, arguments = altered(make(), "0.0.1")
    assert maker(*arguments) == make()
    assert noise_of(maker(*arguments)) == noise_of(make())


@pytest.mark.parametrize("sigma2", [float("nan"), float("inf"), 0.0, -1.0, 1e-300])
def test_no_number_at_all_is_refused(sigma2):
    maker, arguments = sn.Gaussian(1, 1e-6).__reduce__()
    *others, (log2_granularity, enough, steps), version = arguments
    for found in ((log2_granularity, sigma2, steps), (log2_granularity, enough, steps - 1), (10**9, enough, steps)):
        with pytest.raises(sn.ParameterError, match="calibration of a pickle must be enough"):
            maker(*others, found, version)
    maker, arguments = sn.DiscreteGaussian.from_eps(1, 1e-6).__reduce__()
    with pytest.raises(sn.ParameterError, match="calibration of a pickle must be enough"):
        maker(sigma2, *arguments[1:])


@calibrated
def test_a_pickle_needs_no_calibration(make, monkeypatch):
    pickled, expected = pickle.dumps(make()), noise_of(make())
    for module, name in ((gaussian, "calibrate"), (discrete_gaussian, "least_sigma2"), (discrete_gaussian, "partitions_sigma2")):
        monkeypatch.setattr(module, name, None)
    assert noise_of(pickle.loads(pickled)) == expected


@calibrated
def test_a_copy_is_the_mechanism(make):
    mechanism = make()
    assert copy.copy(mechanism) is copy.deepcopy(mechanism) is mechanism


def test_a_calibration_is_kept_for_the_same_numbers_of_any_type():
    before = gaussian.calibrate.cache_info()
    made = [sn.Gaussian(eps, 1e-6 + 1e-15) for eps in (1, 1.0, np.float32(1), np.int8(1))]
    after = gaussian.calibrate.cache_info()
    assert (after.misses - before.misses, after.hits - before.hits) == (1, 3)
    assert len(set(made)) == 1
    assert all(type(one.eps) is float for one in made)
    for eps in (True, "1", None):
        with pytest.raises(sn.ParameterTypeError):
            sn.Gaussian(eps, 1e-6 + 1e-15)


def test_errors_are_not_kept():
    for _ in range(2):
        with pytest.raises(sn.ParameterError, match="eps and delta must give a standard deviation below"):
            sn.Gaussian(2.0**-40, 1e-300)


def test_threads_find_the_same():
    def make(i):
        return noise_of(sn.Gaussian(1 + i % 7 / 8, 3e-6)), noise_of(sn.PartitionSelection(1 + i % 7 / 8, 3e-6, 4))

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(make, range(70)))
    assert found == found[:7] * 10
