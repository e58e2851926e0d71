"""KeyedRng: the outputs of its releases, and the calls that it refuses.

Evidence: equalities of released numbers, and the texts of errors.
"""

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped
from tests.generators.keyed import ROWS_OF_ALL, VALUES, WIDE, keyed, released


def test_threads_change_no_bit() -> None:
    n = 5000
    values, labels = np.arange(n), np.arange(n) * 3
    for mechanism in (WIDE, sn.Laplace(0.1, sensitivity=1), sn.DiscreteGaussian(50), sn.MultiScaleDiscreteLaplace(1, 3)):
        expected = released(mechanism, values, labels, threads=1)
        assert np.array_equal(released(mechanism, values, labels, threads=3), expected)
        assert np.array_equal(released(mechanism, values, labels), expected)
    vectors = np.arange(3 * n).reshape(n, 3)
    mechanism = sn.MultivariateStaircase(1, dim=3, sensitivity=1)
    assert np.array_equal(released(mechanism, vectors, labels, threads=1), released(mechanism, vectors, labels, threads=2))


def test_out_of_every_layout() -> None:
    expected = released()
    room = np.zeros((ROWS_OF_ALL, 3), np.int64)
    for out in (
        np.empty(ROWS_OF_ALL, np.int64),
        room[:, 1],
        np.empty(ROWS_OF_ALL, np.int64)[::-1],
        np.empty(ROWS_OF_ALL, np.float32),
    ):
        assert released(out=out) is out
        assert np.array_equal(out, expected)
    assert not room[:, [0, 2]].any()
    same = VALUES.copy()
    released(values=same, out=same)
    assert np.array_equal(same, expected)
    overlapping = np.concatenate([VALUES, [0]])
    released(values=overlapping[:-1], out=overlapping[1:])
    assert np.array_equal(overlapping[1:], expected)
    mechanism, vectors = sn.MultivariateStaircase(1, dim=2, sensitivity=1), np.arange(8.0).reshape(4, 2)
    out = np.empty((4, 2), order="F")
    released(mechanism, np.asfortranarray(vectors), list("abcd"), out=out)
    assert np.array_equal(out, released(mechanism, vectors, list("abcd")))
    narrow = np.empty(ROWS_OF_ALL, np.int32)
    assert np.array_equal(released(values=VALUES + 2**31, out=narrow), np.clip(released(values=VALUES + 2**31), None, 2**31 - 1))


def test_shapes() -> None:
    assert released(values=[], labels=[]).shape == (0,)
    assert type(released(values=5, labels="a")) is int
    assert type(released(values=5.0, labels=("a", 1))) is float
    assert released(values=5, labels=["a"]) == released(values=5, labels="a") == released(values=[5], labels=["a"])[0]
    assert released(values=5, labels=[("a", 1)]) == released(values=5, labels=("a", 1))
    mechanism = sn.MultivariateStaircase(1, dim=2, sensitivity=1)
    assert np.array_equal(released(mechanism, [1, 2], "a"), released(mechanism, [[1, 2]], ["a"])[0])


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    (
        {"values": [[1, 2]], "labels": [1, 2]},
        sn.ParameterError,
        r"values must have one dimension with labels, or none, got shape \(1, 2\)",
    ),
    ({"values": [1, 2], "labels": ["a"]}, sn.ParameterError, r"labels must be as many as the values, 2, got 1"),
    ({"values": 1, "labels": ["a", "b"]}, sn.ParameterError, r"labels must be as many as the values, 1, got 2"),
    (
        {"values": [1, 2], "labels": [[1, 2], [3, 4]], "mechanism": sn.MultivariateStaircase(1, dim=3, sensitivity=1)},
        sn.ParameterError,
        r"last axis of length dim = 3",
    ),
    (
        {"values": [1.0, 2.5], "labels": [1, 2]},
        sn.ParameterError,
        r'values must be whole numbers with bind="value", .* at index \(1,\)',
    ),
    ({"values": 2.5, "labels": 1}, sn.ParameterError, r'values must be whole numbers with bind="value", got one that is not$'),
    ({"values": [1, np.nan], "labels": [1, 2]}, sn.ParameterError, r"values must be finite, got one that is not at index \(1,\)"),
    ({"values": [1, np.inf], "labels": [1, 2], "rng": keyed(bind="label")}, sn.ParameterError, r"values must be finite"),
    (
        {"values": [1, 1e300], "labels": [1, 2]},
        sn.ParameterError,
        r"values must be below 2\*\*126 times the granularity .* \(1,\)",
    ),
    ({"labels": None}, sn.ParameterTypeError, r"labels must be given in a release with a KeyedRng"),
    ({"statistic": None}, sn.ParameterTypeError, r"statistic must be given in a release with a KeyedRng"),
    ({"statistic": 5}, sn.ParameterTypeError, r"statistic must be a string, got 5"),
    ({"statistic": ""}, sn.ParameterError, r"statistic must be a name, got an empty string"),
    ({"statistic": "\ud800"}, sn.ParameterError, r"statistic must be text that UTF-8 can hold"),
    ({"rng": None}, sn.ParameterTypeError, r"rng must be a KeyedRng in a release with labels, got None"),
    ({"rng": None, "labels": None}, sn.ParameterTypeError, r"rng must be a KeyedRng in a release with a statistic, got None"),
    ({"rng": sn.SecureRng()}, sn.ParameterTypeError, r"rng must be a KeyedRng in a release with labels, got SecureRng\(\)"),
    (
        {"rng": sn.SeededRng(1, allow_release=True)},
        sn.ParameterTypeError,
        r"rng must be a KeyedRng in a release with labels, got a SeededRng",
    ),
    (
        {"mechanism": sn.Laplace([1, 2], sensitivity=1), "values": [1, 2], "labels": [1, 2]},
        sn.ParameterError,
        r"rng must not be a KeyedRng .* shape \(2,\)",
    ),
    (
        {"mechanism": sn.Arete.from_eps(2, 1), "max_partitions_contributed": 2},
        sn.ParameterError,
        r"max_partitions_contributed must be 1",
    ),
    ({"threads": 0}, sn.ParameterError, r"threads must be"),
    ({"out": np.empty(3)}, sn.ParameterError, r"out must have shape \(60,\)"),
    (
        {"values": [1], "labels": "a"},
        sn.ParameterTypeError,
        r"labels must be a sequence, an array, a column .*, got a value of type str",
    ),
    ({"values": [1], "labels": {"a"}}, sn.ParameterTypeError, r"labels must be a sequence, .* got a value of type set"),
    ({"values": [1], "labels": iter("a")}, sn.ParameterTypeError, r"labels must be a sequence"),
    ({"values": [1], "labels": [1.5]}, sn.ParameterTypeError, r"got a value of type float at index \(0,\); engines disagree"),
    ({"values": [1], "labels": [float("nan")]}, sn.ParameterTypeError, r"got a value of type float at index \(0,\)"),
    ({"values": [1], "labels": [np.float32(2)]}, sn.ParameterTypeError, r"got a value of type float32 at index \(0,\)"),
    ({"values": [1], "labels": [(1, (2, 3.0))]}, sn.ParameterTypeError, r"got a value of type float at index \(0,\)"),
    ({"values": [1, 2], "labels": [1, datetime.datetime(2026, 1, 1)]}, sn.ParameterTypeError, r"type datetime at index \(1,\)"),
    ({"values": [1], "labels": [datetime.time(3)]}, sn.ParameterTypeError, r"got a value of type time at index"),
    ({"values": [1], "labels": [Decimal("1.0")]}, sn.ParameterTypeError, r"got a value of type Decimal at index"),
    ({"values": [1], "labels": [Decimal("nan")]}, sn.ParameterTypeError, r"got a value of type Decimal at index"),
    ({"values": [1], "labels": [object()]}, sn.ParameterTypeError, r"got a value of type object at index"),
    ({"values": [1], "labels": [{"a": 1}]}, sn.ParameterTypeError, r"got a value of type dict at index"),
    ({"values": [1], "labels": np.array([1.0])}, sn.ParameterTypeError, r"got a column of dtype float64$"),
    (
        {"values": [1], "labels": np.array(["2026"], "M8[ns]")},
        sn.ParameterTypeError,
        r"dtype datetime64\[ns\]; engines disagree about times",
    ),
    ({"values": [1], "labels": np.array([1], "m8[D]")}, sn.ParameterTypeError, r"dtype timedelta64"),
    (
        {"values": [1], "labels": np.array([["a"]])},
        sn.ParameterError,
        r"labels must have one dimension, got an array of shape \(1, 1\)",
    ),
    ({"values": [1], "labels": np.ma.masked_array([1], [True])}, sn.ParameterTypeError, r"labels must not be a masked array"),
    (
        {"values": [1, 2], "labels": ["a", "\ud800"]},
        sn.ParameterError,
        r"labels must be text that UTF-8 can hold, .* at index \(1,\)",
    ),
    ({"values": [1, 2], "labels": np.array(["a", "\ud800"])}, sn.ParameterError, r"labels must be text that UTF-8 can hold"),
]


@looped(("options", "error", "text"), REFUSED)
def test_what_is_refused(options: dict[str, Any], error: type[Exception], text: str) -> None:
    out = options.pop("out", None)
    with pytest.raises(error, match=text):
        released(**options, out=out)


def test_nothing_is_written_where_a_row_is_refused() -> None:
    out = np.full(3, 9)
    for values, labels in [([1.0, 2, 0.5], "abc"), ([1, 2, 3], "aba"), ([1, 2, 1e300], "abc")]:
        with pytest.raises(sn.ParameterError):
            released(values=values, labels=list(labels), out=out)
    assert out.tolist() == [9, 9, 9]


def test_who_else_refuses_it() -> None:
    rng = keyed()
    text = r"the noise of a KeyedRng belongs to labels: use it in release\(values, labels=..., statistic=...\)"
    for call in (
        lambda: sn.sample(3, 1.0, rng=rng),  # type: ignore[call-overload]
        lambda: WIDE.sample(rng=rng),  # type: ignore[call-overload]
        lambda: sn.Laplace([1, 2], sensitivity=1).sample(rng=rng),
        lambda: WIDE.release(3, rng=rng),
        lambda: WIDE.release(VALUES, rng=rng, threads=1),
        lambda: sn.StaircaseSelection(1, sensitivity=1).select([1, 2], rng=rng),  # type: ignore[call-overload]
        lambda: sn.ExponentialMechanism(1, sensitivity=1).select([1, 2], rng=rng),  # type: ignore[call-overload]
        lambda: sn.PermuteAndFlip(1, sensitivity=1).top([1, 2], 2, rng=rng),  # type: ignore[call-overload]
        lambda: sn.PartitionSelection(1, 0.1).select([1, 2], rng=rng),  # type: ignore[call-overload]
        lambda: sn.PartitionSelection(1, 0.1).release([1, 2], rng=rng),  # type: ignore[call-overload]
    ):
        with pytest.raises(sn.ParameterTypeError, match=text):
            call()
    assert not {"spawn", "at", "reseed"} & set(dir(rng))


def test_l2_sensitivity() -> None:
    mechanism = sn.DiscreteGaussian(100)
    assert np.array_equal(released(mechanism, l2_sensitivity=3), released(mechanism))
    with pytest.raises(sn.ParameterError, match="whole numbers with l2_sensitivity"):
        released(mechanism, values=[0.5], labels=["a"], l2_sensitivity=3, rng=keyed(bind="label"))
