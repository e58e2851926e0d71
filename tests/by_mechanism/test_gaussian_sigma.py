"""Gaussian noise of a given σ: its draws, its guarantee, and several values. Deterministic: no false alarms.

Evidence: exact rationals for σ and ρ, the (ε, δ) of normal noise by the oracle at 60 digits.
"""

import math
import pickle
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpmath import mp

import stairnoise as sn
from tests.combinations import looped
from tests.oracles import gaussian as oracle


def variance(mechanism: Any) -> Fraction:
    """Return the σ² of the draws."""
    return Fraction(mechanism._lattices.sigma2) * Fraction(4) ** mechanism._lattices.log2_granularity


def parameters(case: int) -> tuple[float, float]:
    """Draw a sensitivity from a wide range, and a σ that it allows."""
    choose = random.Random(f"sigma {case}")
    sensitivity = 2 ** choose.uniform(-400, 400)
    return sensitivity * 2 ** choose.uniform(-19.9, 32.9), sensitivity


@looped("case", range(30))
def test_what_is_drawn_has_the_sigma_that_was_given(case: int) -> None:
    sigma, sensitivity = parameters(case)
    mechanism = sn.Gaussian(sigma=sigma, sensitivity=sensitivity)
    assert 0 <= variance(mechanism) / Fraction(sigma) ** 2 - 1 < Fraction(1, 2**51)
    assert (mechanism.sigma, mechanism.sensitivity, mechanism.eps, mechanism.delta) == (sigma, sensitivity, None, None)
    assert mechanism.std() == pytest.approx(sigma, rel=1e-15)


@looped("case", range(30))
def test_rho_is_that_of_whole_steps_rounded_up(case: int) -> None:
    sigma, sensitivity = parameters(case)
    mechanism = sn.Gaussian(sigma=sigma, sensitivity=sensitivity)
    steps = math.ceil(Fraction(sensitivity) / Fraction(mechanism.granularity))
    exact = (steps * Fraction(mechanism.granularity)) ** 2 / (2 * variance(mechanism))
    assert exact <= mechanism.rho < exact * (1 + Fraction(1, 2**51))
    # Steps are at most 2**-20 Δ and 2**-32 σ, or 2**-10 Δ where σ is 2**33 Δ.
    ideal = Fraction(sensitivity) ** 2 / (2 * Fraction(sigma) ** 2)
    assert (
        1 - 2.0**-50
        <= exact / ideal
        < 1 + max(2.0**-30, min(2.0**-18, 2.0**-30 * sigma / sensitivity), 2.0**-41 * sigma / sensitivity)
    )
    assert mechanism.guarantee() == sn.Guarantee(None, None, mechanism.rho, sensitivity, 1)


@looped("case", range(30))
def test_k_values_keep_the_rho_of_one(case: int) -> None:
    sigma, sensitivity = parameters(case)
    k = random.Random(f"k {case}").choice([2, 3, 10, 1000, 2**20 + 1])
    mechanism = sn.Gaussian(sigma=sigma, sensitivity=sensitivity)
    if sigma * math.sqrt(k) >= 2.0**33 * sensitivity:
        with pytest.raises(sn.ParameterError, match=rf"^k must leave a lattice that fits, got {k}: sigma must be below 2\*\*34"):
            mechanism.for_partitions(k)
        return
    divided = mechanism.for_partitions(k)
    promise = divided.guarantee()
    assert promise == mechanism.guarantee(max_partitions_contributed=k)
    assert (promise.rho, promise.partitions) == (pytest.approx(mechanism.rho, rel=2.0**-18), k)
    assert promise.rho <= mechanism.rho
    # Exactly: k D²/σ² of the k values is at most the ratio of one value.
    one, many = mechanism._lattices, divided._lattices
    assert k * Fraction(many.steps) ** 2 / Fraction(many.sigma2) <= Fraction(one.steps) ** 2 / Fraction(one.sigma2)
    assert variance(divided) >= k * Fraction(sigma) ** 2
    assert divided.sigma == pytest.approx(math.sqrt(k) * sigma, rel=2e-3 if sigma > 1000 * sensitivity else 2.0**-18)
    assert mechanism.for_partitions(2) != mechanism
    assert mechanism.for_partitions(2).for_partitions(3) == mechanism.for_partitions(6)


@pytest.mark.parametrize("case", range(8))
def test_the_profile_is_that_of_normal_noise(case: int) -> None:
    choose = random.Random(case)
    sigma, eps = 2 ** choose.uniform(-3, 5), 2 ** choose.uniform(-5, 3)
    mechanism = sn.Gaussian(sigma=sigma)
    with mp.workdps(60):
        expected = float(oracle.profile(mp.mpf(eps), 1 / mp.mpf(sigma)))
    assert mechanism.privacy_profile(eps) == pytest.approx(expected, rel=1e-8)
    assert mechanism.privacy_loss().mean() == pytest.approx(mechanism.rho, rel=1e-15)


def test_composed_rounds_are_normal_noise_of_a_kth_of_the_variance() -> None:
    mechanism = sn.Gaussian(sigma=2.0)
    low, high = mechanism.compose(100).eps_for_delta(1e-6, bounds=True)
    expected = sn.Gaussian(sigma=0.2).privacy_loss().eps_for_delta(1e-6)
    assert low * (1 - 1e-9) <= expected <= high * (1 + 1e-9)
    assert high / low < 1.001


def test_the_calibrated_mechanism_of_the_same_sigma_draws_the_same() -> None:
    """A float64 σ gives the lattice σ² of this (ε, δ); half a step of σ gives another σ²."""
    calibrated = sn.Gaussian(1.0, 1e-6, sensitivity=1)
    same = sn.Gaussian(sigma=calibrated.sigma)
    assert same.granularity == calibrated.granularity
    assert same.rho == pytest.approx(calibrated.rho, rel=1e-15)
    assert same != calibrated


def test_text_pickle_and_equality() -> None:
    mechanism = sn.Gaussian(sigma=1.5, sensitivity=2)
    wide = mechanism.for_partitions(4)
    assert repr(mechanism) == "Gaussian(sigma=1.5, sensitivity=2.0)"
    assert repr(wide) == "Gaussian(sigma=1.5, sensitivity=2.0).for_partitions(4)"
    assert eval(repr(wide), {"Gaussian": sn.Gaussian}) == wide
    for one in (mechanism, wide):
        again = pickle.loads(pickle.dumps(one))
        assert again == one
        assert hash(again) == hash(one)
        assert again._lattices == one._lattices
    assert (
        len(
            {
                mechanism,
                wide,
                sn.Gaussian(sigma=1.5),
                sn.Gaussian(1.5, 0.5, sensitivity=1),
                sn.Gaussian(sigma=1.5, sensitivity=2.0),
            }
        )
        == 4
    )
    assert repr(mechanism.guarantee()) == (
        "Guarantee: one value that changes by at most 2.0 is 0.8889-zero-concentrated differentially private."
    )


def test_ledgers_count_it(tmp_path: Path) -> None:
    mechanism, wide = sn.Gaussian(sigma=2.0, sensitivity=1), sn.Gaussian(sigma=2.0, sensitivity=1).for_partitions(3)
    for path in ("first", "again"):
        ledger = sn.Ledger(tmp_path / path, budget=100, delta=1e-6, composed=True)
        for _ in range(9):
            ledger.spend(mechanism, data="people")
        ledger.spend(wide, data="people")
        # The values are read from the file.
        found = sn.Ledger(tmp_path / path).total()
    expected = (mechanism.compose(9) + wide.compose(3)).eps_for_delta(1e-6)
    assert found == pytest.approx(expected, rel=1e-6)


BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda: sn.Gaussian(), sn.ParameterTypeError, "eps must be given, or sigma or std instead of eps and delta, got None"),
    (
        lambda: sn.Gaussian(1, sensitivity=1),
        sn.ParameterTypeError,
        "delta must be given, or sigma or std instead of eps and delta, got None",
    ),
    (
        lambda: sn.Gaussian(delta=1e-6, sensitivity=1),
        sn.ParameterTypeError,
        "eps must be given, or sigma or std instead of eps and delta, got None",
    ),
    (lambda: sn.Gaussian(1, 1e-6, sigma=2), sn.ParameterError, "eps must be left out beside sigma, got 1"),
    (lambda: sn.Gaussian(delta=1e-6, sigma=2), sn.ParameterError, "delta must be left out beside sigma, got 1e-06"),
    (lambda: sn.Gaussian(sigma=0), sn.ParameterError, "sigma must be finite and greater than 0, got 0"),
    (lambda: sn.Gaussian(sigma=math.nan), sn.ParameterError, "sigma must be finite and greater than 0, got nan"),
    (lambda: sn.Gaussian(sigma=math.inf), sn.ParameterError, "sigma must be finite and greater than 0, got inf"),
    (lambda: sn.Gaussian(sigma="1"), sn.ParameterTypeError, "sigma must be a real number or an array of real numbers, got '1'"),
    (lambda: sn.Gaussian(sigma=1, sensitivity=-1), sn.ParameterError, "sensitivity must be finite and greater than 0, got -1"),
    (
        lambda: sn.Gaussian(sigma=2.0**-21),
        sn.ParameterError,
        "sigma must be at least 2**-20 times the sensitivity (std needs no sensitivity), "
        "got sigma 4.76837158203125e-07 and sensitivity 1.0",
    ),
    (
        lambda: sn.Gaussian(sigma=2.0**35),
        sn.ParameterError,
        "sigma must be below 2**34 times the sensitivity, rounded down to a power of two "
        "(std needs no sensitivity), got sigma 34359738368.0 and sensitivity 1.0",
    ),
    (
        lambda: sn.Gaussian(sigma=1e-320, sensitivity=1e-320),
        sn.ParameterError,
        "sensitivity must give a granularity from 2**-1074 to 2**960, got 1e-320 (granularity 2**-1096)",
    ),
    (
        lambda: sn.Gaussian(sigma=2**53 + 1),
        sn.ParameterError,
        "sigma must be exactly representable in float64, got 9007199254740993",
    ),
    (lambda: sn.DiscreteGaussian(), sn.ParameterTypeError, "sigma2 must be given, or sigma instead, got None"),
    (lambda: sn.DiscreteGaussian(4, sigma=2), sn.ParameterError, "sigma2 must be left out beside sigma, got 4"),
    (lambda: sn.DiscreteGaussian(sigma=0), sn.ParameterError, "sigma must be from 2**-10 to 2**45, got 0"),
    (lambda: sn.DiscreteGaussian(sigma=math.nan), sn.ParameterError, "sigma must be from 2**-10 to 2**45, got nan"),
]


@pytest.mark.parametrize(("call", "kind", "text"), BAD, ids=[text[:50] for _, _, text in BAD])
def test_what_is_refused_and_how(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value) == text


@pytest.mark.parametrize("sigma", [2.0**-10, 0.1, 0.7, 2.7, 1.1, 1.3, 3.0, 1 / 3, 1e9 + 1 / 3, 2.0**45])
def test_discrete_noise_of_a_sigma(sigma: float) -> None:
    mechanism = sn.DiscreteGaussian(sigma=sigma)
    exact = Fraction(sigma) ** 2
    assert Fraction(math.nextafter(mechanism.sigma2, 0)) < exact <= Fraction(mechanism.sigma2)
    assert mechanism == sn.DiscreteGaussian(mechanism.sigma2)
    assert mechanism.sigma == sigma
    assert sn.DiscreteGaussian(sigma=np.float32(0.1)).sigma2 >= Fraction(float(np.float32(0.1))) ** 2


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize(
    "mechanism",
    [sn.Gaussian(1, 1e-6, sensitivity=1), sn.Gaussian(sigma=2.5, sensitivity=1), sn.DiscreteGaussian(sigma=2.5)],
    ids=repr,
)
def test_releases_in_place(mechanism: Any, dtype: str) -> None:
    """Arrays are contiguous, strided and in another order, with as many values as a call stages, or a few."""
    if dtype == "int64" and not mechanism._integers:
        pytest.skip("integers are for mechanisms of integers")

    def seeded() -> Any:
        return sn.SeededRng(3, allow_release=True)

    true = np.arange(6000).reshape(60, 100).astype(dtype)
    expected = mechanism.release(true, rng=seeded())
    assert expected.dtype == dtype
    for rows in (2, 60):
        room = np.zeros((2 * rows, 300), dtype)
        for values in (np.empty((rows, 100), dtype), np.empty((rows, 100), dtype, "F"), room[::-2, 1::3]):
            values[...] = true[:rows]
            assert mechanism.release(values, out=values, rng=seeded()) is values
            np.testing.assert_array_equal(values, expected[:rows])
        # The memory between the elements is unchanged.
        assert np.count_nonzero(room) <= 100 * rows


def test_sample_and_the_command_line_take_it() -> None:
    noise = sn.sample(5, mechanism="gaussian", sigma=3, rng=sn.SeededRng(1))
    assert (noise == sn.Gaussian(sigma=3).sample(5, rng=sn.SeededRng(1))).all()
    whole = sn.sample(5, mechanism="discrete_gaussian", sigma=3, rng=sn.SeededRng(1))
    assert (whole == sn.DiscreteGaussian(9).sample(5, rng=sn.SeededRng(1))).all()
    with pytest.raises(sn.ParameterTypeError, match="delta must be given for the mechanism 'gaussian', got None"):
        sn.sample(5, mechanism="gaussian", eps=1)
    with pytest.raises(sn.ParameterError, match="eps must be left out beside sigma, got 1"):
        sn.sample(5, mechanism="gaussian", eps=1, sigma=3)
