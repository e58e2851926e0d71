"""KeyedRng: what its noise depends on, the distribution of the noise, and fingerprints.

Evidence: equalities and inequalities of released numbers. If two releases must differ, 60 rows of wide noise are equal by chance
with probability below 2**-100; tests that count single rows state their rate.
"""

import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.registry import BY_NAME
from tests.generators.keyed import LABELS, ROWS_OF_ALL, VALUES, keyed, released


def test_noise_does_not_depend_on_order_or_parts_or_type_of_values() -> None:
    whole = released()
    order = np.random.default_rng(1).permutation(ROWS_OF_ALL)
    shuffled = released(values=VALUES[order], labels=[LABELS[i] for i in order])
    assert np.array_equal(shuffled, whole[order])
    assert [released(values=int(value), labels=label) for value, label in zip(VALUES, LABELS, strict=True)] == whole.tolist()
    for dtype in ("int16", "int32", "float32", "float64", ">i8"):
        assert np.array_equal(released(values=VALUES.astype(dtype)), whole), dtype
    assert released(values=VALUES.astype(float)).dtype == np.float64
    assert np.array_equal(released(values=VALUES.tolist(), labels=tuple(LABELS)), whole)


OTHER: dict[str, Callable[[], Any]] = {
    "secret": lambda: released(rng=sn.KeyedRng(bytes(32), "r")),
    "release": lambda: released(rng=keyed("r2")),
    "statistic": lambda: released(statistic="sum"),
    "swapped names": lambda: released(statistic="r", rng=keyed("count")),
    "bind": lambda: released(rng=keyed(bind="label")),
    "mechanism": lambda: released(sn.DiscreteStaircase(0.001, 1, r=1)),
    "eps": lambda: released(sn.DiscreteLaplace(np.nextafter(0.001, 1))),
    "partitions": lambda: released(sn.DiscreteLaplace(0.002), max_partitions_contributed=2),
    "label": lambda: released(labels=[label + " " for label in LABELS]),
    "type of label": lambda: released(labels=[label.encode() for label in LABELS]),
}


@pytest.mark.parametrize("field", OTHER)
def test_every_field_of_the_address_changes_the_noise(field: str) -> None:
    assert (OTHER[field]() == released()).mean() < 0.2


def test_another_value_has_other_noise() -> None:
    """With bind="label", another value has the same noise, by design."""
    assert ((released(values=VALUES + 1) - released()) == 1).mean() < 0.2
    rng = keyed(bind="label")
    assert np.array_equal(released(values=VALUES + 1, rng=rng) - released(rng=rng), np.ones(ROWS_OF_ALL))
    # 2**53 + 1 is no float64.
    assert released(values=2**53 + 1, labels="a") - (2**53 + 1) != released(values=2**53, labels="a") - 2**53


# For every parameter of some mechanisms, values other than the example's.
CHANGES: dict[str, tuple[dict[str, Any], dict[str, tuple[Any, ...]]]] = {
    "staircase": (
        {"eps": 1.0, "sensitivity": 1.0, "gamma": 0.25},
        {"eps": (np.nextafter(1, 2),), "sensitivity": (2.0, np.nextafter(1, 2)), "gamma": ("l1", "l2", 0.25 + 2**-30)},
    ),
    "discrete_staircase": (
        {"eps": 0.1, "sensitivity": 5, "r": 2},
        {"eps": (np.nextafter(0.1, 1),), "sensitivity": (6,), "r": (3, 5)},
    ),
    "laplace": ({"eps": 1.0, "sensitivity": 1.0}, {"eps": (np.nextafter(1, 2),), "sensitivity": (np.nextafter(1, 2),)}),
    "discrete_laplace": ({"eps": 0.1, "sensitivity": 1}, {"eps": (np.nextafter(0.1, 1),), "sensitivity": (2,)}),
    "merged_laplace": (
        {"eps": [0.2, 0.5, 1.0], "breakpoints": [1.0, 3.0], "sensitivity": 1.0},
        {
            "eps": ([0.2, 0.5, np.nextafter(1, 2)], [np.nextafter(0.2, 1), 0.5, 1.0]),
            "breakpoints": ([1.0, 3.0 + 2**-30], [1.0 + 2**-30, 3.0]),
            "sensitivity": (np.nextafter(1, 2),),
        },
    ),
    "arete": (
        {"alpha": 0.5, "theta": 1.0, "lam": 0.25, "n_parties": 10, "present": 4, "sensitivity": None},
        {
            "alpha": (np.nextafter(0.5, 1),),
            "theta": (np.nextafter(1, 2),),
            "lam": (np.nextafter(0.25, 1),),
            "n_parties": (11,),
            "present": (5,),
            "sensitivity": (),
        },
    ),
    "truncated_laplace": (
        {"eps": 1.0, "delta": 1e-6, "sensitivity": 1.0, "lower": -30.0, "upper": 40.0},
        {
            "eps": (np.nextafter(1, 2),),
            "delta": (np.nextafter(1e-6, 1),),
            "sensitivity": (np.nextafter(1, 2),),
            "lower": (None, -31.0, -30.0 - 2**-20),
            "upper": (None, 41.0, 40.0 + 2**-20),
        },
    ),
    "gaussian": (
        {"eps": 1.0, "delta": 1e-6, "sensitivity": 1.0},
        {"eps": (np.nextafter(1, 2),), "delta": (np.nextafter(1e-6, 1),), "sensitivity": (np.nextafter(1, 2),)},
    ),
    "generalized_discrete_laplace": (
        {"beta": 30.0, "a": 0.4, "n_parties": 10, "present": 9, "sensitivity": None},
        {
            "beta": (np.nextafter(30, 31),),
            "a": (np.nextafter(0.4, 1),),
            "n_parties": (11,),
            "present": (10,),
            "sensitivity": (),
        },
    ),
    "multi_scale_discrete_laplace": (
        {"eps": 0.3, "sensitivity": 9, "n_parties": 10, "present": 9},
        {"eps": (np.nextafter(0.3, 1),), "sensitivity": (10,), "n_parties": (11,), "present": (10,)},
    ),
    "lattice_noise": (
        {"weights": [1.0] * 99, "tail_ratio": 0.875, "granularity": 1.0, "sensitivity": 1},
        {
            "weights": ([1.0] * 98 + [np.nextafter(1, 2)],),
            "tail_ratio": (None, np.nextafter(0.875, 1)),
            "granularity": (0.5,),
            "sensitivity": (2,),
        },
    ),
    "skellam": (
        {"mu": 1000.0, "sensitivity": 1, "n_parties": 10, "present": 9},
        {"mu": (np.nextafter(1000, 1001),), "sensitivity": (2,), "n_parties": (11,), "present": (10,)},
    ),
    "discrete_canonical": (
        {"eps": 1.0, "delta": 0.1, "sensitivity": 1},
        {"eps": (np.nextafter(1, 2),), "delta": (0.1 + 1e-9, 0.0), "sensitivity": ()},
    ),
    "discrete_gaussian": ({"sigma2": 1000.0}, {"sigma2": (np.nextafter(1000, 1001),)}),
    "truncated_staircase": (
        {"eps": 1.0, "delta": 0.1, "sensitivity": 1.0, "gamma": 0.5, "lower": None, "upper": None},
        {
            "eps": (np.nextafter(1, 2),),
            "delta": (0.1 + 1e-9,),
            "sensitivity": (np.nextafter(1, 2),),
            "gamma": ("l1", "l2", 0.5 + 2**-24),
            "lower": (0.0, -0.5),
            "upper": (0.0, -0.5),
        },
    ),
    "truncated_discrete_staircase": (
        {"eps": 1.0, "delta": 0.1, "sensitivity": 10**6, "r": 500_000, "lower": None, "upper": None},
        {
            "eps": (np.nextafter(1, 2),),
            "delta": (0.1 + 1e-9,),
            "sensitivity": (10**6 + 1,),
            "r": ("l1", "l2", 500_001),
            "lower": (0, -1),
            "upper": (0, 1),
        },
    ),
    "multivariate_staircase": (
        {"eps": 1.0, "sensitivity": 1.0, "dim": 3, "gamma": 0.5, "norm": "l1"},
        {
            "eps": (np.nextafter(1, 2),),
            "sensitivity": (np.nextafter(1, 2),),
            "gamma": ("l1", "l2", 0.5 + 2**-24),
            "norm": ("l2", "linf"),
            "dim": (2, 4),
        },
    ),
}


def changes_of(name: str) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
    """Return the changes above; for other mechanisms, replace each parameter of the last example by the next larger number."""
    if name in CHANGES:
        return CHANGES[name]
    arguments = BY_NAME[name].examples[-1].arguments
    return arguments, {
        key: (value + 1 if type(value) is int else np.nextafter(value, np.inf),) for key, value in arguments.items()
    }


def of_all(mechanism: Any) -> Any:
    """Return the noise of 60 rows; for vectors, the first two coordinates."""
    values = np.zeros((ROWS_OF_ALL, *mechanism._value_shape), int if mechanism._integers else float)
    return released(mechanism, values).reshape(ROWS_OF_ALL, -1)[:, :2]


@pytest.mark.parametrize("name", BY_NAME)
def test_any_changed_parameter_of_any_mechanism_changes_the_noise(name: str) -> None:
    make, (arguments, changes) = BY_NAME[name].load(), changes_of(name)
    assert arguments.keys() == changes.keys() == make(**arguments)._named_arguments().keys()
    before = of_all(make(**arguments))
    for parameter, others in changes.items():
        for other in others:
            after = of_all(make(**arguments | {parameter: other}))
            assert (before == after).mean() < 0.4, (parameter, other)


calibrated = sn.DiscreteGaussian.from_eps(1, 1e-6, 1)
EQUAL = [
    (sn.Laplace(1, 2), sn.Laplace(np.float32(1), sensitivity=Decimal(2))),
    (sn.DiscreteLaplace(4, sensitivity=1).for_partitions(4), sn.DiscreteLaplace(1, sensitivity=1)),
    (sn.DiscreteStaircase(2, 5), sn.DiscreteStaircase(2, 5, r=sn.DiscreteStaircase(2, 5).r)),
    (sn.Arete(0.5, 1, 0.25, 4, 2), sn.Arete(0.5, 1, 0.25).share(2)),
    (sn.GeneralizedDiscreteLaplace(1.5, 0.4, 7, 7), sn.GeneralizedDiscreteLaplace(1.5, 0.4)),
    (sn.MultiScaleDiscreteLaplace(1, 3).share(2).share(5), sn.MultiScaleDiscreteLaplace(1, 3, 20, 2)),
    (calibrated, sn.DiscreteGaussian(calibrated.sigma2)),
    (sn.LatticeNoise([0.5, 0.75, 0.25]), sn.LatticeNoise.from_pmf([0, 2, 3, 1, 0])),
    (sn.LatticeNoise([1, 3, 1], 0.5, 0.25, 0.5), sn.LatticeNoise([0.125, 0.375, 0.125], 0.5, 0.25, 0.5)),
    (sn.Gaussian(1, 1e-6, 1).for_partitions(6), sn.Gaussian(1, 1e-6, 1).for_partitions(2).for_partitions(3)),
    (sn.TruncatedDiscreteStaircase(1, 1e-6, 10), sn.TruncatedDiscreteStaircase(1, 1e-6, 10, lower=-1000)),
    (sn.TruncatedLaplace(1, 1e-6, 1, upper=20), pickle.loads(pickle.dumps(sn.TruncatedLaplace(1, 1e-6, 1, None, 20.0)))),
    (sn.MultivariateStaircase(1, 1, 2), sn.MultivariateStaircase(1, 1, 2, sn.MultivariateStaircase(1, 1, 2).gamma)),
    (sn.MergedLaplace([1, 0.5], [2], 1), sn.MergedLaplace(np.array([1, 0.5]), (2.0,), 1)),
]


@pytest.mark.parametrize(("one", "other"), EQUAL, ids=repr)
def test_equal_mechanisms_made_in_different_ways_have_one_address(one: Any, other: Any) -> None:
    assert one._exact_parameters() == other._exact_parameters()
    assert np.array_equal(of_all(one), of_all(other))


def test_mechanisms_that_differ_for_several_values_do_not_share_noise() -> None:
    """The two are equal for one value but not for two: both have the same r, but "l1" chooses another r at half of eps."""
    eps = 0.5
    best = sn.DiscreteStaircase(eps, 1000)
    number = sn.DiscreteStaircase(eps, 1000, r=best.r)
    assert np.array_equal(released(best), released(number))
    assert (released(best, max_partitions_contributed=2) == released(number, max_partitions_contributed=2)).mean() < 0.2


# Fingerprints


def test_fingerprints() -> None:
    one = keyed().fingerprint(VALUES, LABELS)
    assert len(bytes.fromhex(one)) == 32
    assert keyed().fingerprint(VALUES[::-1], LABELS[::-1]) == one
    assert keyed(bind="label").fingerprint(VALUES.astype(float), np.array(LABELS)) == one
    assert keyed().fingerprint(np.tile(VALUES, 2), LABELS * 2) == one
    changed = VALUES.copy()
    changed[7] += 1
    swapped = VALUES.copy()
    swapped[[3, 4]] = swapped[[4, 3]]
    others = [
        keyed().fingerprint(changed, LABELS),
        keyed().fingerprint(swapped, LABELS),
        keyed().fingerprint(VALUES[1:], LABELS[1:]),
        keyed().fingerprint(VALUES, [*LABELS[1:], "x"]),
        keyed("r2").fingerprint(VALUES, LABELS),
        sn.KeyedRng(bytes(32), "r").fingerprint(VALUES, LABELS),
        keyed().fingerprint([], []),
    ]
    assert len({one, *others}) == 8
    assert keyed().fingerprint(3, "a") == keyed().fingerprint([3.0], ["a"])
    assert keyed().fingerprint([[1, 2], [3, 4]], ["a", "b"]) != keyed().fingerprint([[1, 2], [3, 5]], ["a", "b"])
    for values, labels in [([1, np.nan], [1, 2]), ([1, 2], [1, 1]), ([1, 2], [1]), (np.empty((2, 0)), [1, 2])]:
        with pytest.raises(sn.ParameterError):
            keyed().fingerprint(values, labels)


# Statistics


def test_the_mechanism_of_keyed_noise() -> None:
    """Chi-square of 200 000 keyed draws against the pmf, with a fixed secret. False alarms: 1e-6."""
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    mechanism, n = sn.DiscreteLaplace(0.7), 200_000
    noise = released(mechanism, np.zeros(n, int), np.arange(n))
    integers = np.arange(-12, 13)
    counts = np.array([(noise == i).sum() for i in integers])
    expected = mechanism.pmf(integers) * n
    counts, expected = np.append(counts, n - counts.sum()), np.append(expected, n - expected.sum())
    assert expected.min() > 5
    assert stats.chisquare(counts, expected).pvalue > 1e-6


N = 100_000
PLACES = np.arange(N)
ONE = sn.Laplace(1, sensitivity=1)
# The noise of as many rows, each list of which differs from the first in one thing only.
OF_ROWS: dict[str, Callable[[], Any]] = {
    "values": lambda: released(ONE, np.ones(N), PLACES) - 1,
    "labels": lambda: released(ONE, np.zeros(N), PLACES + N),
    "neighbours": lambda: released(ONE, np.zeros(N), PLACES + 1),
    "texts": lambda: released(ONE, np.zeros(N), PLACES.astype(str)),
    "bytes": lambda: released(ONE, np.zeros(N), PLACES.astype("S")),
    "statistic": lambda: released(ONE, np.zeros(N), PLACES, statistic="sum"),
    "release": lambda: released(ONE, np.zeros(N), PLACES, rng=keyed("r2")),
    "bind": lambda: released(ONE, np.zeros(N), PLACES, rng=keyed(bind="label")),
    "partitions": lambda: released(sn.Laplace(2, sensitivity=1), np.zeros(N), PLACES, max_partitions_contributed=2),
    "eps": lambda: released(sn.Laplace(0.1, sensitivity=1), np.zeros(N), PLACES),
    "next eps": lambda: released(sn.Laplace(np.nextafter(1, 2), sensitivity=1), np.zeros(N), PLACES),
    "sensitivity": lambda: released(sn.Laplace(1, sensitivity=2), np.zeros(N), PLACES),
    "mechanism": lambda: released(sn.Staircase(1, sensitivity=1), np.zeros(N), PLACES),
    "discrete": lambda: released(sn.DiscreteLaplace(0.001, sensitivity=1), np.zeros(N, int), PLACES),
}


@pytest.mark.parametrize("other", OF_ROWS)
def test_noise_of_addresses_that_differ_in_one_thing_is_independent(other: str) -> None:
    """Chi-square of eighths of two lists of noise, with a fixed secret. False alarms: 1e-7 each.

    A word that two rows share puts them into equal eighths, whatever ε is.
    """
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    eighths = [8 * np.argsort(np.argsort(noise)) // N for noise in (released(ONE, np.zeros(N), PLACES), OF_ROWS[other]())]
    counts = np.bincount(8 * eighths[0] + eighths[1], minlength=64)
    # Eighths have as many rows each, which takes 15 degrees of freedom.
    assert stats.chi2.sf(((counts - N / 64) ** 2 / (N / 64)).sum(), 49) > 1e-7


HOSTILE: list[Any] = [
    *("", "\0", "\0\0", "a", "a\0", "\0a", "a\0b", "ab", "a" * 7, "a" * 8, "a" * 9, "a" * 16, "a" * 100_000, "a" * 100_001),
    *("é", "e\u0301", "\ufeffa", "数", "\U0001f600", "1", "01", "None", "True", "b'a'"),
    *(b"", b"\0", b"a", b"a\0", b"1", "é".encode(), b"\x49" + bytes(8), "I" + "\0" * 8),
    *(0, 1, -1, 255, 256, 2**8 - 2**63, 2**63 - 1, 2**63, -(2**63), 2**64, 2**200, True, False, None),
    *((), ("a",), ("a", "b"), ("ab",), ("a", ("b",)), (("a",), "b"), (None,), (1,), ("1",), ((),)),
]


def test_noise_of_labels_that_look_alike_differs() -> None:
    """Two of these numbers are equal by chance with a probability below 2**-20 for all pairs, with a fixed secret."""
    alone = [released(ONE, 0.0, [label]) for label in HOSTILE]
    assert len(set(alone)) == len(HOSTILE)
    assert released(ONE, np.zeros(len(HOSTILE)), HOSTILE).tolist() == alone
    assert released(ONE, np.zeros(len(HOSTILE)), [(label,) for label in HOSTILE]).tolist() != alone
