"""`Laplace(scale=...)`, `Laplace(std=...)` and `Gaussian(std=...)`: noise without a sensitivity of its own.

Evidence: the contract, section 8, which names the mechanisms of the same noise; and guarantees from the exact lattice steps.
"""

import math
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped

SCALES = [2.5, 1.0, 1e12, 1e-7, 0.1, 2.0**-1041, 2.0**990]


def laplace(scale: Any) -> tuple[Any, Any]:
    return sn.Laplace(scale=scale), sn.Laplace(1, scale)


def gaussian(std: Any) -> tuple[Any, Any]:
    return sn.Gaussian(std=std), sn.Gaussian(sigma=std, sensitivity=std)


def same_noise(one: Any, other: Any) -> None:
    seed = 5
    assert np.array_equal(one.sample((3, 2), rng=sn.SeededRng(seed)), other.sample((3, 2), rng=sn.SeededRng(seed)))
    rngs = [sn.SeededRng(seed, allow_release=True) for _ in range(2)]
    for k in (1, 3):
        released = [
            made.release(np.zeros((3, 2)), max_partitions_contributed=k, rng=rng)
            for made, rng in zip((one, other), rngs, strict=True)
        ]
        assert np.array_equal(*released)
    assert np.array_equal(one.granularity, other.granularity)
    assert np.array_equal(one.std(), other.std())


@looped("make", [laplace, gaussian])
@looped("scale", [*SCALES, [2.5, 1e12], 3])
def test_the_noise_is_that_of_the_contract(make: Any, scale: Any) -> None:
    one, other = make(scale)
    same_noise(one, other)
    same_noise(one.for_partitions(3).for_partitions(5), other.for_partitions(3).for_partitions(5))


@looped("make", [laplace, gaussian])
def test_keyed_noise_has_the_same_address(make: Any) -> None:
    found = [
        made.release(
            [0.0, 1.0], labels=["a", "b"], statistic="sum", max_partitions_contributed=k, rng=sn.KeyedRng(bytes(32), "r")
        )
        for made in make(2.5)
        for k in (1, 3)
    ]
    assert np.array_equal(found[:2], found[2:])


@looped("std", [1.0, 2.5, 0.1, 1e-300, 1e299, 2.0**-1040, 3.0])
def test_the_scale_of_a_standard_deviation_is_the_least(std: float) -> None:
    scale = sn.Laplace(std=std).scale
    assert 2 * Fraction(math.nextafter(scale, 0)) ** 2 < Fraction(std) ** 2 <= 2 * Fraction(scale) ** 2
    assert sn.Laplace(std=[std, 1.0]).scale.tolist() == [scale, sn.Laplace(std=1).scale]
    assert sn.Laplace(std=std) == sn.Laplace(scale=scale)


def test_the_scale_of_every_laplace_mechanism() -> None:
    assert sn.Laplace(0.5, 3).scale == 6.0
    assert sn.Laplace(scale=[1, 2]).for_partitions(4).scale.tolist() == [4.0, 8.0]
    assert sn.Laplace([1, 2], [[3], [4]]).scale.tolist() == [[3.0, 1.5], [4.0, 2.0]]


MECHANISMS = [
    sn.Laplace(scale=2.5),
    sn.Laplace(std=[1.0, 3.0]),
    sn.Laplace(scale=2.5).for_partitions(3).for_partitions(5),
    sn.Gaussian(std=2.5),
    sn.Gaussian(std=[1.0, 3.0]),
    sn.Gaussian(std=[1.0, 3.0]).for_partitions(4),
    sn.Gaussian(std=0.1).for_partitions(3).for_partitions(5),
]


@looped("mechanism", MECHANISMS)
def test_copies_pickles_and_texts(mechanism: Any) -> None:
    for again in (pickle.loads(pickle.dumps(mechanism)), eval(repr(mechanism), vars(sn) | {"array": np.array})):
        assert again == mechanism
        assert hash(again) == hash(mechanism)
        same_noise(again, mechanism)
    assert mechanism.eps is None is mechanism.sensitivity
    assert "sensitivity" not in repr(mechanism)
    assert len({repr(one) for one in MECHANISMS}) == len(set(MECHANISMS)) == len(MECHANISMS)


def test_a_scale_is_not_the_same_as_a_stated_sensitivity() -> None:
    assert sn.Laplace(scale=2) != sn.Laplace(1, 2)
    assert sn.Gaussian(std=2) != sn.Gaussian(sigma=2, sensitivity=2) != sn.Gaussian(sigma=2)


def laplace_eps(mechanism: Any, change: float, k: int) -> Fraction:
    """The loss of k values: that of ⌈Δ/g⌉ steps each, of which D lose ε."""
    g = Fraction(mechanism.for_partitions(k).granularity)
    eps = Fraction(1 if k == 1 else math.nextafter(1 / k, 0) if Fraction(1 / k) * k > 1 else 1 / k)
    return k * math.ceil(Fraction(change) / g) * eps / math.ceil(Fraction(5, 2) / g)


def gaussian_rho(mechanism: Any, change: float, k: int) -> Fraction:
    wide = mechanism.for_partitions(k)
    log2_granularity, sigma2, _ = wide._lattices
    return k * math.ceil(Fraction(change) / Fraction(2) ** log2_granularity) ** 2 / (2 * Fraction(sigma2))


@looped("k", [1, 3])
@looped("steps", [Fraction(1, 2), 1, Fraction(3, 2), 10, 2**20, 2**33, 2**50])
def test_a_guarantee_counts_whole_lattice_steps(steps: Fraction, k: int) -> None:
    for mechanism, exact in ((sn.Laplace(scale=2.5), laplace_eps), (sn.Gaussian(std=2.5), gaussian_rho)):
        change = float(steps) * mechanism.granularity
        promise = mechanism.guarantee(change, max_partitions_contributed=k)
        stated = promise.eps if promise.rho is None else promise.rho
        truth = exact(mechanism, change, k)
        assert truth <= Fraction(stated) <= truth * (1 + Fraction(1, 2**52))
        assert (promise.sensitivity, promise.partitions) == (change, k)
        arrays = type(mechanism)(**{name: [value, 7.0] for name, value in mechanism._named_arguments().items()})
        promises = arrays.guarantee(change, max_partitions_contributed=k)
        assert (promises.eps if promises.rho is None else promises.rho)[0] == stated


@looped("change", [1, 0.37, 6.0])
def test_losses_are_those_of_a_mechanism_made_for_the_change(change: float) -> None:
    """On lattices of both mechanisms, which differ: to the relative 1e-9 that the classes state."""
    for alone, made in (
        (sn.Laplace(scale=2.5), sn.Laplace(change / 2.5, change)),
        (sn.Gaussian(std=2.5), sn.Gaussian(sigma=2.5, sensitivity=change)),
        (sn.Laplace(scale=[2.5, 2.5]), sn.Laplace([change / 2.5] * 2, change)),
        (sn.Gaussian(std=[2.5, 2.5]), sn.Gaussian(sigma=[2.5, 2.5], sensitivity=change)),
    ):
        for order in (1.5, 8.0):
            assert alone.rdp(order, sensitivity=change) == pytest.approx(made.rdp(order), rel=1e-8)
        assert alone.privacy_profile(0.5, change) == pytest.approx(made.privacy_profile(0.5), rel=1e-7)
    density = sn.Laplace(scale=2.5).privacy_loss(lattice=False, sensitivity=change)
    assert density.eps == pytest.approx(change / 2.5, rel=1e-15)


def test_without_a_sensitivity_losses_are_for_a_change_by_1() -> None:
    assert sn.Laplace(scale=4).privacy_loss().eps == 0.25
    assert sn.Gaussian(std=4).rho == sn.Gaussian(std=4).guarantee(1).rho == 1 / 32


def test_a_ledger_pays_for_the_named_change(tmp_path: Path) -> None:
    ledger = sn.Ledger(tmp_path / "ledger", budget=100, delta=1e-6, composed=True)
    assert ledger.spend(sn.Laplace(scale=2), data="people", sensitivity=1).eps == 0.5
    for mechanism in (sn.Laplace(scale=2).for_partitions(3), sn.Gaussian(std=20), sn.Gaussian(std=20).for_partitions(2)):
        ledger.spend(mechanism, data="people", sensitivity=1.0, max_partitions_contributed=2)
    total = sn.Ledger(tmp_path / "ledger").total()
    assert 0.5 + 2 / 6 < total < 3
    with pytest.raises(sn.ParameterError, match=r"^sensitivity must be stated for a guarantee: pass sensitivity=\.\.\. with"):
        ledger.spend(sn.Gaussian(std=20), data="people")


def test_samples_and_their_arrays() -> None:
    for name, parameters in (("laplace", {"scale": 3.0}), ("laplace", {"std": 3.0}), ("gaussian", {"std": 3.0})):
        ((parameter, value),) = parameters.items()
        made = getattr(sn, name.capitalize())(**parameters)
        drawn = sn.sample(4, mechanism=name, rng=sn.SeededRng(1), **parameters)
        assert np.array_equal(drawn, made.sample(4, rng=sn.SeededRng(1)))
        many = np.full(4, value)
        assert np.array_equal(drawn, sn.sample(4, mechanism=name, rng=sn.SeededRng(1), **{parameter: many}))
        # The parameters may be the memory to fill.
        filled = sn.sample(mechanism=name, rng=sn.SeededRng(1), out=many, **{parameter: many})
        assert filled is many
        assert np.array_equal(drawn, many)


def test_the_limits_of_sigma_are_those_of_its_message() -> None:
    """σ is below 2**34 times the power of two at or below the sensitivity, and at least 2**-20 times the sensitivity."""
    for change in (1.0, 1.5, math.nextafter(2.0, 0)):
        assert sn.Gaussian(sigma=math.nextafter(2.0**34, 0), sensitivity=change).sigma < 2.0**34
        with pytest.raises(sn.ParameterError, match=r"below 2\*\*34 times the sensitivity, rounded down to a power of two"):
            sn.Gaussian(sigma=2.0**34, sensitivity=change)
    assert sn.Gaussian(sigma=2.0**34, sensitivity=2).sigma == 2.0**34
    assert sn.Gaussian(sigma=2.0**-20).sigma == 2.0**-20


LEFT_OUT = "sensitivity must be left out beside {}, which determines the noise, got 1"
LARGEST = "from 2**-1042 to below 2**993"
BAD = [
    (lambda: sn.Laplace(), sn.ParameterTypeError, "eps must be given, or scale or std instead, got None"),
    (lambda: sn.Laplace(1, scale=2), sn.ParameterError, "eps must be left out beside scale, got 1"),
    (lambda: sn.Laplace(1, std=2), sn.ParameterError, "eps must be left out beside std, got 1"),
    (lambda: sn.Laplace(scale=1, std=2), sn.ParameterError, "std must be left out beside scale, got 2"),
    (lambda: sn.Laplace(sensitivity=1, scale=2), sn.ParameterError, LEFT_OUT.format("scale")),
    (lambda: sn.Laplace(sensitivity=1, std=2), sn.ParameterError, LEFT_OUT.format("std")),
    (lambda: sn.Gaussian(sensitivity=1, std=2), sn.ParameterError, LEFT_OUT.format("std")),
    (lambda: sn.Gaussian(sigma=1, std=2), sn.ParameterError, "sigma must be left out beside std, got 1"),
    (lambda: sn.Gaussian(1, std=2), sn.ParameterError, "eps must be left out beside std, got 1"),
    (lambda: sn.Gaussian(delta=0.1, std=2), sn.ParameterError, "delta must be left out beside std, got 0.1"),
    (lambda: sn.Laplace(scale=0), sn.ParameterError, "scale must be from 2**-1041 to below 2**994, got 0"),
    (lambda: sn.Laplace(scale=math.nan), sn.ParameterError, "scale must be from 2**-1041 to below 2**994, got nan"),
    (lambda: sn.Laplace(scale=2.0**-1042), sn.ParameterError, f"scale must be from 2**-1041 to below 2**994, got {2.0**-1042}"),
    (lambda: sn.Laplace(scale=[1, 2.0**994]), sn.ParameterError, f"below 2**994, got {2.0**994} at index (1,)"),
    (lambda: sn.Laplace(scale="1"), sn.ParameterTypeError, "scale must be a real number or an array of real numbers, got '1'"),
    (lambda: sn.Laplace(std=-1), sn.ParameterError, "std must be from 2**-1040 to below 2**994, got -1"),
    (
        lambda: sn.Laplace(std=[1, math.inf]),
        sn.ParameterError,
        "std must be from 2**-1040 to below 2**994, got inf at index (1,)",
    ),
    (lambda: sn.Gaussian(std=0), sn.ParameterError, f"std must be {LARGEST}, got 0"),
    (lambda: sn.Gaussian(std=2.0**993), sn.ParameterError, f"std must be {LARGEST}, got {2.0**993}"),
    (lambda: sn.Gaussian(std=[1, math.nan]), sn.ParameterError, f"std must be {LARGEST}, got nan at index (1,)"),
    (lambda: sn.Gaussian(std=2**53 + 1), sn.ParameterError, "std must be exactly representable in float64"),
    (lambda: sn.Laplace(scale=1).guarantee(2**21), sn.ParameterError, "sensitivity must be at most 2**20 times the scale, got"),
    (lambda: sn.Gaussian(std=[1, 2]).guarantee(2**21), sn.ParameterError, "sensitivity must be at most 2**20 times the std, got"),
    (lambda: sn.Laplace(scale=1).guarantee([1, 2]), sn.ParameterError, "sensitivity must be a single number, got"),
    (lambda: sn.Laplace(scale=1).guarantee(-1), sn.ParameterError, "sensitivity must be finite and greater than 0, got -1"),
    (lambda: sn.Laplace(1, 1).guarantee(2), sn.ParameterError, "sensitivity must be left out for a Laplace, which was made for"),
    (lambda: sn.sample(3, mechanism="laplace"), sn.ParameterTypeError, "eps must be given for the mechanism 'laplace', got None"),
    (lambda: sn.sample(3, std=1), sn.ParameterError, "std must be left out for the mechanism 'staircase', got 1; it is for"),
]


@pytest.mark.parametrize(("call", "kind", "text"), BAD, ids=[text[:50] for _, _, text in BAD])
def test_what_is_refused_and_how(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value)
