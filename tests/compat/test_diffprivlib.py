"""diffprivlib's mechanisms with our noise are diffprivlib's, draw what our mechanisms draw, and keep the ε and δ that they state.

Evidence: equality with our mechanisms' releases of the same seed; the profile of each noise against the stated δ; the largest
loss of the bounded domain on its lattice, with 60 digits. False alarms: each of two counts of 4000 draws is 6.2 standard
deviations off with a probability below 1e-9. diffprivlib's own tests run in scripts/test_systems.sh.
"""

import math
import pickle
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pytest

import stairnoise as sn

mpmath = pytest.importorskip("mpmath")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # diffprivlib 0.6.6 uses names that its dependencies call deprecated
    theirs = pytest.importorskip("diffprivlib")
    from stairnoise.compat import diffprivlib as ours

BOUNDS = {"lower": -1, "upper": 9}
REAL = {"epsilon": 0.7, "sensitivity": 2.0}
MADE = {
    "Binary": {"epsilon": 0.7, "value0": "no", "value1": "yes"},
    "Exponential": {**REAL, "utility": [0.0, 3.0, 2.5]},
    "Gaussian": {**REAL, "delta": 1e-5},
    "GaussianAnalytic": {**REAL, "delta": 1e-5},
    "GaussianDiscrete": {"epsilon": 0.7, "delta": 1e-5, "sensitivity": 2},
    "Geometric": {"epsilon": 0.7, "sensitivity": 2},
    "GeometricFolded": {"epsilon": 0.7, "sensitivity": 2, **BOUNDS},
    "GeometricTruncated": {"epsilon": 0.7, "sensitivity": 2, **BOUNDS},
    "Laplace": {**REAL, "delta": 0.01},
    "LaplaceBoundedDomain": {**REAL, **BOUNDS},
    "LaplaceBoundedNoise": {**REAL, "delta": 1e-5},
    "LaplaceFolded": {**REAL, **BOUNDS},
    "LaplaceTruncated": {**REAL, **BOUNDS},
    "PermuteAndFlip": {**REAL, "utility": [0.0, 3.0, 2.5]},
    "Snapping": {**REAL, **BOUNDS},
    "Staircase": {**REAL, "gamma": 0.25},
}
VALUES = {"Binary": "yes", "Exponential": None, "PermuteAndFlip": None}
ADDITIVE = ["Gaussian", "GaussianAnalytic", "GaussianDiscrete", "Laplace", "LaplaceBoundedNoise", "Staircase"]


def made(name, **others):
    return getattr(ours, name)(**MADE[name], **others)


def test_every_mechanism_is_tested():
    assert sorted([*MADE, "install"]) == sorted(ours.__all__)


@pytest.mark.parametrize("name", MADE)
def test_it_is_diffprivlib_s_own_kind(name):
    mechanism = made(name)
    assert isinstance(mechanism, theirs.mechanisms.DPMachine)
    assert isinstance(mechanism, getattr(theirs.mechanisms, name))
    assert repr(mechanism).startswith(f"stairnoise.compat.diffprivlib.{name}(epsilon=0.7")
    value = VALUES.get(name, 5)
    # Without a state the secure generator draws, also from a copy and a pickle.
    for one in (mechanism, mechanism.copy()):
        assert one._generator is None
        one.randomise(value)
    first, second = (made(name, random_state=7) for _ in range(2))
    assert [first.randomise(value) for _ in range(5)] == [second.randomise(value) for _ in range(5)]
    again = pickle.loads(pickle.dumps(made(name, random_state=7)))
    assert again.randomise(value) == made(name, random_state=7).randomise(value)


@pytest.mark.parametrize("name", ADDITIVE)
def test_it_draws_what_our_mechanism_draws(name):
    state = np.random.RandomState(3)
    seed = int.from_bytes(np.random.RandomState(3).bytes(16), "little")
    mechanism = made(name, random_state=state)
    assert mechanism.randomise(5) == mechanism._noise().release(5, rng=sn.SeededRng(seed, allow_release=True))


@pytest.mark.parametrize(
    ("name", "others"),
    [
        *(
            ("Gaussian", {"epsilon": eps, "delta": delta})
            for eps in (1.0, 0.9, 0.3, 1e-3)
            for delta in (1 - 2**-53, 0.5, 1e-3, 1e-12)
        ),
        *(("Laplace", {"epsilon": eps, "delta": delta}) for eps in (1.0, 1e-3) for delta in (0.0, 0.7, 1e-3, 1e-12)),
        *(("GaussianAnalytic", {"epsilon": eps, "delta": delta}) for eps in (3.0, 0.3) for delta in (0.7, 1e-12)),
        ("GaussianDiscrete", {"epsilon": 3.0, "delta": 4.00902e-10, "sensitivity": 1}),
        ("LaplaceBoundedNoise", {}),
        ("Staircase", {"gamma": 0.0}),
    ],
)
def test_noise_keeps_what_is_stated(name, others):
    mechanism = getattr(ours, name)(**{**MADE[name], **others})
    noise = mechanism._noise()
    sensitivity = {"sensitivity": mechanism.sensitivity} if name == "GaussianDiscrete" else {}
    assert noise.privacy_profile(mechanism.epsilon, **sensitivity) <= mechanism.delta


@pytest.mark.parametrize("delta", [0.0, 1e-12, 0.3, 0.999])
def test_laplace_noise_spends_all_of_eps_and_delta(delta):
    eps = ours.Laplace(epsilon=0.7, delta=delta, sensitivity=1)._noise().eps
    with mpmath.workdps(60):
        most = mpmath.mpf(0.7) - mpmath.log1p(-mpmath.mpf(delta))
        assert most * (1 - mpmath.mpf(2) ** -51) < eps <= most


def test_a_gamma_of_0_is_the_noise_of_1():
    zero, one = (ours.Staircase(epsilon=1, sensitivity=2, gamma=gamma)._noise() for gamma in (0, 1))
    assert zero == one


@pytest.mark.parametrize(
    ("epsilon", "delta", "sensitivity", "lower", "upper"),
    [
        (1, 0, 1, 0, 1),
        (1, 0, 1, 0, 10),
        (0.01, 0, 2, -3, 3),
        (5, 0, 1e-9, 0, 1),
        (1, 0.1, 3, 0, 4),
        (1e-4, 0, 7, 1e9, 1e9 + 1e-3),
    ],
)
def test_the_bounded_domain_keeps_its_eps_on_the_lattice(epsilon, delta, sensitivity, lower, upper):
    mechanism = ours.LaplaceBoundedDomain(epsilon=epsilon, delta=delta, sensitivity=sensitivity, lower=lower, upper=upper)
    assert lower <= mechanism.randomise(lower) <= upper
    noise = mechanism._noise()
    g = noise.granularity
    changed = math.ceil(min(sensitivity, upper - lower) / g)
    # All multiples of g that float64 rounds into the domain.
    last = math.floor((Fraction(upper) - Fraction(lower) + Fraction(math.ulp(max(abs(lower), abs(upper))))) / Fraction(g))
    with mpmath.workdps(60):
        rate = mpmath.mpf(noise.eps) / math.ceil(noise.sensitivity / g)

        def total(place):
            return 1 + mpmath.exp(-rate) - mpmath.exp(-rate * (place + 1)) - mpmath.exp(-rate * (last - place + 1))

        moved = min(changed, last)
        loss = rate * moved + mpmath.log(total(moved) / total(0))
        budget = epsilon - mpmath.log1p(-mpmath.mpf(delta))
        # 1e9 and 1e9 + 0.001 have few float64 numbers between them, so the noise there is for a wider domain.
        assert (0.999 if lower < 1e9 else 0.9) * budget < loss <= budget


def test_the_bounded_domain_is_the_distribution_between_the_bounds():
    mechanism = ours.LaplaceBoundedDomain(epsilon=1, sensitivity=1, lower=0, upper=3)
    draws = np.array([mechanism.randomise(0.5) for _ in range(4000)])
    b = mechanism._scale
    below, between = 1 - math.exp(-0.5 / b), 2 - math.exp(-0.5 / b) - math.exp(-2.5 / b)
    p = below / between
    assert abs((draws < 0.5).sum() - 4000 * p) < 6.2 * math.sqrt(4000 * p * (1 - p))


def test_a_measure_weighs_candidates():
    mechanism = ours.Exponential(epsilon=1, sensitivity=1, utility=[0.0, 0.0, 0.0], measure=[1.0, 3.0, 0.0], random_state=1)
    chosen = np.array([mechanism.randomise() for _ in range(4000)])
    assert not (chosen == 2).any()
    assert abs((chosen == 1).sum() - 3000) < 6.2 * math.sqrt(4000 * 3 / 16)


def test_no_noise_is_needed():
    for name, value in (("Laplace", 5.0), ("Geometric", 5), ("GaussianAnalytic", 5.0), ("Snapping", 5.0), ("Binary", "yes")):
        mechanism = getattr(ours, name)(**{**MADE[name], "epsilon": math.inf})
        assert mechanism.randomise(value) == value
    assert ours.Laplace(epsilon=0, delta=1, sensitivity=1).randomise(5) == 5
    assert ours.LaplaceBoundedDomain(epsilon=1, sensitivity=0, lower=0, upper=9).randomise(5) == 5


@pytest.mark.parametrize("name", sorted(set(MADE) - {"Binary", "Exponential", "PermuteAndFlip"}))
def test_what_is_no_number_is_refused(name):
    with pytest.raises((sn.ParameterError, TypeError)):
        made(name).randomise(math.nan)


INSTALLED = """
import warnings

warnings.simplefilter("ignore")
import sys

import stairnoise.compat

assert not {"diffprivlib", "opendp", "pydp"} & set(sys.modules)

import diffprivlib
import numpy as np
from stairnoise.compat.diffprivlib import install

install()
install()
loaded = [module for path, module in sys.modules.items() if path.startswith(("diffprivlib.models.", "diffprivlib.tools."))]
names = {name for module in loaded for name in vars(module) if hasattr(getattr(diffprivlib.mechanisms, name, None), "randomise")}
drawn = {name for name in names if getattr(diffprivlib.mechanisms, name).__module__ == "stairnoise.compat.diffprivlib"}
assert names - drawn == {"Bingham", "Vector"}, names - drawn
assert all(getattr(module, name, None) in (None, getattr(diffprivlib.mechanisms, name)) for module in loaded for name in drawn)

ages = np.arange(1000) % 90
accountant = diffprivlib.BudgetAccountant(epsilon=4).set_default()
assert abs(diffprivlib.tools.mean(ages, epsilon=1, bounds=(0, 100)) - ages.mean()) < 2.5
assert abs(diffprivlib.tools.histogram(ages, epsilon=1, bins=9, range=(0, 90))[0] - np.histogram(ages, 9)[0]).max() < 25
assert abs(diffprivlib.tools.quantile(ages, 0.5, epsilon=1, bounds=(0, 100)) - 44) < 6
model = diffprivlib.models.GaussianNB(epsilon=1, bounds=(0, 100))
model.fit(ages[:, None], ages > 45)
assert accountant.total()[0] == 4
"""


def test_tools_and_models_draw_our_noise():
    done = subprocess.run([sys.executable, "-c", INSTALLED], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
