"""KeyedRng: what its noise depends on, which labels it takes, what it refuses, and that nothing shows its secret.

Evidence: equalities and inequalities of released numbers. Where two releases must differ, 60 rows of wide noise are equal by
chance with probability below 2**-100; where single rows are counted, the rate is stated.
"""

import copy
import datetime
import os
import pickle
import traceback
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from stairnoise._registry import BY_NAME, ROWS

SECRET = bytes(range(32))
ROWS_OF_ALL = 60
LABELS = [f"group {i}" for i in range(ROWS_OF_ALL)]
VALUES = np.arange(ROWS_OF_ALL) * 7 - 100
WIDE = sn.DiscreteLaplace(0.001)


def keyed(release: str = "r", **options: Any) -> sn.KeyedRng:
    return sn.KeyedRng(SECRET, release, **options)


def released(law: Any = WIDE, values: Any = VALUES, labels: Any = LABELS, statistic: str = "count", **options: Any) -> Any:
    return law.release(values, labels=labels, statistic=statistic, **{"rng": keyed()} | options)


def fetched() -> bytes:
    return SECRET


class Fetch:
    """A function that is counted, and may fail."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.calls = answer, 0

    def __call__(self) -> Any:
        self.calls += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


# What the noise depends on


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
    "law": lambda: released(sn.DiscreteStaircase(0.001, 1, r=1)),
    "eps": lambda: released(sn.DiscreteLaplace(np.nextafter(0.001, 1))),
    "partitions": lambda: released(sn.DiscreteLaplace(0.002), max_partitions_contributed=2),
    "label": lambda: released(labels=[label + " " for label in LABELS]),
    "type of label": lambda: released(labels=[label.encode() for label in LABELS]),
}


@pytest.mark.parametrize("field", OTHER)
def test_every_field_of_the_address_changes_the_noise(field: str) -> None:
    assert (OTHER[field]() == released()).mean() < 0.2


def test_another_value_has_other_noise() -> None:
    """Under bind="label" the noise is the same, which is what it is for."""
    assert ((released(values=VALUES + 1) - released()) == 1).mean() < 0.2
    rng = keyed(bind="label")
    assert np.array_equal(released(values=VALUES + 1, rng=rng) - released(rng=rng), np.ones(ROWS_OF_ALL))
    # 2**53 + 1 is no float64.
    assert released(values=2**53 + 1, labels="a") - (2**53 + 1) != released(values=2**53, labels="a") - 2**53


# For every parameter of every mechanism, values beside those of an example.
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
        {"alpha": 0.5, "theta": 1.0, "lam": 0.25, "n_parties": 10, "present": 4},
        {
            "alpha": (np.nextafter(0.5, 1),),
            "theta": (np.nextafter(1, 2),),
            "lam": (np.nextafter(0.25, 1),),
            "n_parties": (11,),
            "present": (5,),
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
        {"beta": 30.0, "a": 0.4, "n_parties": 10, "present": 9},
        {"beta": (np.nextafter(30, 31),), "a": (np.nextafter(0.4, 1),), "n_parties": (11,), "present": (10,)},
    ),
    "multi_scale_discrete_laplace": (
        {"eps": 0.3, "sensitivity": 9, "n_parties": 10, "present": 9},
        {"eps": (np.nextafter(0.3, 1),), "sensitivity": (10,), "n_parties": (11,), "present": (10,)},
    ),
    "discrete_gaussian": ({"sigma2": 1000.0}, {"sigma2": (np.nextafter(1000, 1001),)}),
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


def of_all(law: Any) -> Any:
    """The noise of 60 rows: the first two coordinates of vectors."""
    values = np.zeros((ROWS_OF_ALL, *law._value_shape))
    return released(law, values).reshape(ROWS_OF_ALL, -1)[:, :2]


@pytest.mark.parametrize("name", CHANGES)
def test_any_changed_parameter_of_any_mechanism_changes_the_noise(name: str) -> None:
    make, (arguments, changes) = BY_NAME[name].load(), CHANGES[name]
    assert arguments.keys() == changes.keys() == make(**arguments)._named_arguments().keys()
    before = of_all(make(**arguments))
    for parameter, others in changes.items():
        for other in others:
            after = of_all(make(**arguments | {parameter: other}))
            assert (before == after).mean() < 0.4, (parameter, other)


def test_every_mechanism_is_changed() -> None:
    assert CHANGES.keys() == {row.name for row in ROWS}


calibrated = sn.DiscreteGaussian.from_eps(1, 1e-6)
EQUAL = [
    (sn.Laplace(1, 2), sn.Laplace(np.float32(1), sensitivity=Decimal(2))),
    (sn.DiscreteLaplace(4).for_partitions(4), sn.DiscreteLaplace(1)),
    (sn.DiscreteStaircase(2, 5), sn.DiscreteStaircase(2, 5, r=sn.DiscreteStaircase(2, 5).r)),
    (sn.Arete(0.5, 1, 0.25, 4, 2), sn.Arete(0.5, 1, 0.25).share(2)),
    (sn.GeneralizedDiscreteLaplace(1.5, 0.4, 7, 7), sn.GeneralizedDiscreteLaplace(1.5, 0.4)),
    (sn.MultiScaleDiscreteLaplace(1, 3).share(2).share(5), sn.MultiScaleDiscreteLaplace(1, 3, 20, 2)),
    (calibrated, sn.DiscreteGaussian(calibrated.sigma2)),
    (sn.Gaussian(1, 1e-6).for_partitions(6), sn.Gaussian(1, 1e-6).for_partitions(2).for_partitions(3)),
    (sn.TruncatedLaplace(1, 1e-6, upper=20), pickle.loads(pickle.dumps(sn.TruncatedLaplace(1, 1e-6, 1, None, 20.0)))),
    (sn.MultivariateStaircase(1, dim=2), sn.MultivariateStaircase(1, dim=2, gamma=sn.MultivariateStaircase(1, dim=2).gamma)),
    (sn.MergedLaplace([1, 0.5], [2]), sn.MergedLaplace(np.array([1, 0.5]), (2.0,))),
]


@pytest.mark.parametrize(("one", "other"), EQUAL, ids=repr)
def test_equal_laws_made_in_different_ways_have_one_address(one: Any, other: Any) -> None:
    assert one._exact_parameters() == other._exact_parameters()
    assert np.array_equal(of_all(one), of_all(other))


def test_laws_that_differ_for_several_values_do_not_share_noise() -> None:
    """Equal for one value, and not for two: both have the same r, but "l1" has another one at half of eps."""
    eps = 0.5
    best = sn.DiscreteStaircase(eps, 1000)
    number = sn.DiscreteStaircase(eps, 1000, r=best.r)
    assert np.array_equal(released(best), released(number))
    assert (released(best, max_partitions_contributed=2) == released(number, max_partitions_contributed=2)).mean() < 0.2


# Labels


def test_one_label_whatever_its_width_or_library() -> None:
    numbers = np.arange(ROWS_OF_ALL)
    expected = released(labels=numbers.tolist())
    for dtype in ("int8", "uint8", "int32", "uint32", "int64", "uint64", ">i4", "object"):
        assert np.array_equal(released(labels=numbers.astype(dtype)), expected), dtype
    assert np.array_equal(released(labels=list(numbers.astype(np.int16))), expected)
    assert np.array_equal(released(labels=range(ROWS_OF_ALL)), expected)
    assert np.array_equal(released(labels=[Decimal(i) for i in range(ROWS_OF_ALL)]), expected)
    assert np.array_equal(released(labels=np.repeat(numbers, 2)[::2]), expected)
    texts = released()
    for labels in (np.array(LABELS), np.array(LABELS, object), list(map(np.str_, LABELS)), np.array(LABELS * 2)[:ROWS_OF_ALL]):
        assert np.array_equal(released(labels=labels), texts)
    dates = [datetime.date(2026, 1, 1) + datetime.timedelta(i) for i in range(ROWS_OF_ALL)]
    for labels in (np.array(dates, "M8[D]"), list(np.array(dates, "M8[D]")), np.array(dates, object), np.array(dates, ">M8[D]")):
        assert np.array_equal(released(labels=labels), released(labels=dates))
    holed = np.array([*dates[:-1], "NaT"], "M8[D]")
    for labels in (holed, list(holed)):
        assert np.array_equal(released(labels=labels), released(labels=[*dates[:-1], None]))
    data = [label.encode() for label in LABELS]
    for labels in (np.array(data), list(map(bytearray, data)), list(map(memoryview, data))):
        assert np.array_equal(released(labels=labels), released(labels=data))


def test_labels_of_different_kinds_differ() -> None:
    labels = [
        None,
        True,
        False,
        1,
        0,
        "1",
        b"1",
        "",
        b"",
        (),
        (None,),
        ("a", "b"),
        ("ab",),
        "ab",
        (("a",), "b"),
        "é",
        "e\u0301",
        2**70,
    ]
    labels += [datetime.date(1970, 1, 2), "1970-01-02", -(2**63), 2**63, (1, "1"), ("1", 1)]
    noise = released(sn.Laplace(1), np.zeros(len(labels)), labels)
    assert len(set(noise)) == len(labels)


def test_several_columns_are_tuples() -> None:
    years = np.arange(ROWS_OF_ALL) % 7
    expected = released(labels=list(zip(LABELS, years.tolist(), strict=True)))
    for labels in ((LABELS, years), [LABELS, years], (np.array(LABELS), years.tolist())):
        assert np.array_equal(released(labels=labels), expected)
    assert np.array_equal(released(labels=[(label,) for label in LABELS]), released(labels=[LABELS]))
    with pytest.raises(sn.ParameterError, match=r"labels must be columns of one length, got 2 columns of lengths \[3, 60\]"):
        released(labels=(LABELS, [1, 2, 3]))


def test_labels_of_pandas() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    index = [f"x{i}" for i in range(ROWS_OF_ALL)]
    holes = [None if i == 5 else label for i, label in enumerate(LABELS)]
    numbers = [None if i == 5 else i for i in range(ROWS_OF_ALL)]
    for labels, expected in [
        (pandas.Series(LABELS, index), LABELS),
        (pandas.Series(LABELS, dtype=object), LABELS),
        (pandas.Series(LABELS, dtype="string"), LABELS),
        (pandas.Series(LABELS, dtype="category"), LABELS),
        (pandas.Categorical(LABELS), LABELS),
        (pandas.Index(LABELS), LABELS),
        (pandas.Series(LABELS).array, LABELS),
        (pandas.CategoricalIndex(LABELS), LABELS),
        (pandas.Series(holes), holes),
        (pandas.Series(holes, dtype=object), holes),
        (pandas.Series([np.nan if label is None else label for label in holes], dtype=object), holes),
        (pandas.Series(holes, dtype="string"), holes),
        (pandas.Series(holes, dtype="category"), holes),
        (pandas.Series(numbers, dtype="Int32"), numbers),
        (pandas.Series(numbers, dtype="Int64").astype("category"), numbers),
        (pandas.Series(range(ROWS_OF_ALL), dtype="uint64"), list(range(ROWS_OF_ALL))),
        (pandas.RangeIndex(ROWS_OF_ALL), list(range(ROWS_OF_ALL))),
        (pandas.Series([i % 2 == 0 for i in range(2)]), [True, False]),
        (pandas.Series([True, None], dtype="boolean"), [True, None]),
        (
            pandas.MultiIndex.from_arrays([LABELS, [*numbers[:5], 7, *numbers[6:]]]),
            list(zip(LABELS, [*numbers[:5], 7, *numbers[6:]], strict=True)),
        ),
        (pandas.DataFrame({"a": holes, "b": range(ROWS_OF_ALL)}), list(zip(holes, range(ROWS_OF_ALL), strict=True))),
        ([pandas.NA, "a"], [None, "a"]),
        ([pandas.NaT, "a"], [None, "a"]),
    ]:
        values = VALUES[: len(expected)]
        assert np.array_equal(released(values=values, labels=labels), released(values=values, labels=expected)), type(labels)


def test_labels_of_pandas_that_are_refused() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for labels in (
        pandas.Series([1.0, 2.0]),
        pandas.Series([1.0, 2.0], dtype="Float64"),
        pandas.to_datetime(["2026-01-01", "2026-01-02"]),
        pandas.Series(pandas.to_datetime(["2026-01-01", "2026-01-02"]).tz_localize("UTC")),
        pandas.period_range("2026-01", periods=2, freq="M"),
        pandas.Series([1.5, "a"], dtype=object),
        pandas.Series([1.5, 2.5]).astype("category"),
        pandas.interval_range(0, 2),
    ):
        with pytest.raises(sn.ParameterTypeError, match=r"labels must be strings, integers, bools, dates, bytes, None or tuples"):
            released(values=[1, 2], labels=labels)


def test_labels_of_arrow() -> None:
    arrow = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    holes = [None if i == 5 else label for i, label in enumerate(LABELS)]
    numbers = [None if i == 5 else i for i in range(ROWS_OF_ALL)]
    dates = [None if i == 5 else datetime.date(2026, 1, 1) + datetime.timedelta(i) for i in range(ROWS_OF_ALL)]
    decimals = arrow.array([None if n is None else Decimal(n) for n in numbers], arrow.decimal128(10, 0))
    for labels, expected in [
        (arrow.array(LABELS), LABELS),
        (arrow.array(holes), holes),
        (arrow.array(["x", *holes, "y"])[1:-1], holes),
        (arrow.array(holes, arrow.large_string()), holes),
        (arrow.chunked_array([holes[:20], holes[20:50], [], holes[50:]]), holes),
        (arrow.chunked_array([arrow.array(["x", *holes])[1:]]), holes),
        (arrow.array(holes).dictionary_encode(), holes),
        (arrow.chunked_array([arrow.array(holes).dictionary_encode()]), holes),
        (arrow.DictionaryArray.from_arrays(arrow.array([0, None, 1], arrow.uint8()), arrow.array(["a", "b"])), ["a", None, "b"]),
        (arrow.array(numbers, arrow.int16()), numbers),
        (arrow.array(numbers, arrow.uint64()), numbers),
        (arrow.array(["x", *map(str, range(ROWS_OF_ALL))])[1:], list(map(str, range(ROWS_OF_ALL)))),
        (arrow.array(dates, arrow.date32()), dates),
        (decimals, numbers),
        (arrow.table({"a": holes, "b": numbers}), list(zip(holes, numbers, strict=True))),
        (arrow.array([b"a", None], arrow.binary()), [b"a", None]),
        (arrow.array([True, None]), [True, None]),
        (list(arrow.array(LABELS)), LABELS),
    ]:
        values = VALUES[: len(expected)]
        assert np.array_equal(released(values=values, labels=labels), released(values=values, labels=expected)), labels
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    for labels, expected in [
        (pandas.Series(holes, dtype="string[pyarrow]"), holes),
        (pandas.Series(numbers, dtype=pandas.ArrowDtype(arrow.int64())), numbers),
        (pandas.Series(holes, dtype=pandas.ArrowDtype(arrow.string())), holes),
    ]:
        assert np.array_equal(released(labels=labels), released(labels=expected)), labels.dtype
    for labels in (arrow.array([1.5]), arrow.array([datetime.datetime(2026, 1, 1)]), arrow.array([Decimal("1.5")])):
        with pytest.raises(sn.ParameterTypeError, match=r"^labels must be strings, integers"):
            released(values=[1], labels=labels)
    assert released(values=[], labels=arrow.array([], arrow.string())).shape == (0,)


def test_labels_of_polars() -> None:
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    holes = [None if i == 5 else label for i, label in enumerate(LABELS)]
    for labels, expected in [
        (polars.Series(holes), holes),
        (polars.Series(holes, dtype=polars.Categorical), holes),
        (polars.Series(range(ROWS_OF_ALL), dtype=polars.UInt8), list(range(ROWS_OF_ALL))),
        (polars.Series([datetime.date(2026, 1, 1), None]), [datetime.date(2026, 1, 1), None]),
        (polars.DataFrame({"a": holes, "b": list(range(ROWS_OF_ALL))}), list(zip(holes, range(ROWS_OF_ALL), strict=True))),
    ]:
        values = VALUES[: len(expected)]
        assert np.array_equal(released(values=values, labels=labels), released(values=values, labels=expected)), labels
    for labels in (polars.Series([1.5]), polars.Series([datetime.datetime(2026, 1, 1)])):
        with pytest.raises(sn.ParameterTypeError, match=r"^labels must be strings, integers"):
            released(values=[1], labels=labels)


def test_equal_labels_have_one_answer_and_one_value() -> None:
    twice = released(values=[5, 7, 5], labels=["a", "b", "a"])
    assert twice[0] == twice[2]
    for values, labels, row in [([5, 7, 6], ["a", "b", "a"], 2), ([1, 2], [None, None], 1), ([1, 2], [3, np.uint8(3)], 1)]:
        with pytest.raises(sn.ParameterError, match=rf"labels must have one value each, .* at index \({row},\)$"):
            released(values=values, labels=labels)
    for bind in ("value", "label"):
        with pytest.raises(sn.ParameterError, match="one value each"):
            released(values=[1, 2], labels=["a", "a"], rng=keyed(bind=bind))
    assert np.array_equal(*(released(sn.Laplace(1), [x, 0.5], ["a", "b"], rng=keyed(bind="label")) for x in (0.0, -0.0)))


# Outputs


def test_threads_change_no_bit() -> None:
    n = 5000
    values, labels = np.arange(n), np.arange(n) * 3
    for law in (WIDE, sn.Laplace(0.1), sn.DiscreteGaussian(50), sn.MultiScaleDiscreteLaplace(1, 3)):
        expected = released(law, values, labels, threads=1)
        assert np.array_equal(released(law, values, labels, threads=3), expected)
        assert np.array_equal(released(law, values, labels), expected)
    vectors = np.arange(3 * n).reshape(n, 3)
    law = sn.MultivariateStaircase(1, dim=3)
    assert np.array_equal(released(law, vectors, labels, threads=1), released(law, vectors, labels, threads=2))


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
    law, vectors = sn.MultivariateStaircase(1, dim=2), np.arange(8.0).reshape(4, 2)
    out = np.empty((4, 2), order="F")
    released(law, np.asfortranarray(vectors), list("abcd"), out=out)
    assert np.array_equal(out, released(law, vectors, list("abcd")))
    narrow = np.empty(ROWS_OF_ALL, np.int32)
    assert np.array_equal(released(values=VALUES + 2**31, out=narrow), np.clip(released(values=VALUES + 2**31), None, 2**31 - 1))


def test_shapes() -> None:
    assert released(values=[], labels=[]).shape == (0,)
    assert type(released(values=5, labels="a")) is int
    assert type(released(values=5.0, labels=("a", 1))) is float
    assert released(values=5, labels=["a"]) == released(values=5, labels="a") == released(values=[5], labels=["a"])[0]
    assert released(values=5, labels=[("a", 1)]) == released(values=5, labels=("a", 1))
    law = sn.MultivariateStaircase(1, dim=2)
    assert np.array_equal(released(law, [1, 2], "a"), released(law, [[1, 2]], ["a"])[0])


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    (
        {"values": [[1, 2]], "labels": [1, 2]},
        sn.ParameterError,
        r"values must have one dimension with labels, or none, got shape \(1, 2\)",
    ),
    ({"values": [1, 2], "labels": ["a"]}, sn.ParameterError, r"labels must be as many as the values, 2, got 1"),
    ({"values": 1, "labels": ["a", "b"]}, sn.ParameterError, r"labels must be as many as the values, 1, got 2"),
    (
        {"values": [1, 2], "labels": [[1, 2], [3, 4]], "law": sn.MultivariateStaircase(1, dim=3)},
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
        {"law": sn.Laplace([1, 2]), "values": [1, 2], "labels": [1, 2]},
        sn.ParameterError,
        r"rng must not be a KeyedRng .* shape \(2,\)",
    ),
    ({"law": sn.Arete.from_eps(2), "max_partitions_contributed": 2}, sn.ParameterError, r"max_partitions_contributed must be 1"),
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


@pytest.mark.parametrize(("options", "error", "text"), REFUSED, ids=lambda one: one if isinstance(one, str) else "")
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
        lambda: sn.Laplace([1, 2]).sample(rng=rng),
        lambda: WIDE.release(3, rng=rng),
        lambda: WIDE.release(VALUES, rng=rng, threads=1),
        lambda: sn.StaircaseSelection(1).select([1, 2], rng=rng),  # type: ignore[call-overload]
        lambda: sn.ExponentialMechanism(1).select([1, 2], rng=rng),  # type: ignore[call-overload]
        lambda: sn.PartitionSelection(1, 0.1).select([1, 2], rng=rng),  # type: ignore[call-overload]
        lambda: sn.PartitionSelection(1, 0.1).release([1, 2], rng=rng),  # type: ignore[call-overload]
    ):
        with pytest.raises(sn.ParameterTypeError, match=text):
            call()
    assert not {"spawn", "at", "reseed"} & set(dir(rng))


def test_l2_sensitivity() -> None:
    law = sn.DiscreteGaussian(100)
    assert np.array_equal(released(law, l2_sensitivity=3), released(law))
    with pytest.raises(sn.ParameterError, match="whole numbers with l2_sensitivity"):
        released(law, values=[0.5], labels=["a"], l2_sensitivity=3, rng=keyed(bind="label"))


# Secrets

BAD_SECRETS = [
    (b"short secret", sn.ParameterError, "secret must have 32 bytes, got 12"),
    (bytes(33), sn.ParameterError, "secret must have 32 bytes, got 33"),
    (
        "a secret of thirty-two characters",
        sn.ParameterTypeError,
        "secret must be 32 bytes, or a function .*, got a value of type str",
    ),
    (None, sn.ParameterTypeError, "secret must be 32 bytes, or a function .*, got a value of type NoneType"),
    (2**255, sn.ParameterTypeError, "secret must be 32 bytes, or a function .*, got a value of type int"),
]


@pytest.mark.parametrize(("secret", "error", "text"), BAD_SECRETS, ids=lambda one: type(one).__name__)
def test_a_bad_secret_is_refused_and_not_shown(secret: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        sn.KeyedRng(secret, "r")
    fetch = Fetch(secret)
    with pytest.raises(error, match=text) as later:
        released(rng=sn.KeyedRng(fetch, "r"))
    assert fetch.calls == 1
    for found in (caught, later):
        assert not shown(found.value, secret)


def shown(error: BaseException, secret: Any) -> list[str]:
    """Where a traceback's frames of this package hold the secret, and its text if that has it."""
    held = []
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if "stairnoise" in frame.f_code.co_filename.replace(os.sep, "/").split("python/")[-1].split("/")[0]:
            held += [
                f"{frame.f_code.co_name}.{name}"
                for name, value in frame.f_locals.items()
                if secret is not None and value is secret
            ]
    return held + ([str(error)] if str(secret) in str(error) and secret is not None else [])


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
def test_no_traceback_of_a_later_mistake_holds_the_secret(make: Any) -> None:
    secret = make(SECRET)
    for call in (
        lambda: sn.KeyedRng(secret, ""),
        lambda: sn.KeyedRng(secret, "r", bind="no"),
        lambda: sn.KeyedRng(secret, secret),
    ):  # type: ignore[arg-type]
        with pytest.raises((sn.ParameterError, sn.ParameterTypeError)) as caught:
            call()
        frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]
        values = [
            value for frame in frames for value in frame.f_locals.values() if isinstance(value, (bytes, bytearray, memoryview))
        ]
        # The third call gives it for a name too, which is an argument like others.
        assert all(value is secret for value in values)
        assert SECRET.hex() not in str(caught.value)


def test_the_callers_copy_stays_as_it_is() -> None:
    secret = bytearray(SECRET)
    rng = sn.KeyedRng(secret, "r")
    assert secret == SECRET
    secret[:] = bytes(32)
    assert np.array_equal(released(rng=rng), released())
    assert np.array_equal(released(rng=sn.KeyedRng(memoryview(SECRET), "r")), released())


def test_nothing_shows_the_secret() -> None:
    rng = keyed("households 2026-Q3", bind="label")
    assert repr(rng) == "KeyedRng(..., 'households 2026-Q3', bind='label')"
    assert (rng.release_name, rng.bind) == ("households 2026-Q3", "label")
    texts = [repr(rng), str(rng), repr(rng.__dask_tokenize__()), repr(rng._keys), repr(rng._identity)]
    assert not [text for text in texts if SECRET.hex() in text or repr(SECRET) in text]
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(sn.CopyError, match="cannot be copied or pickled: give it a function"):
            copied(rng)
    for held in (rng._keys,):
        with pytest.raises(TypeError):
            pickle.dumps(held)


def test_a_function_is_called_at_each_call_and_not_before() -> None:
    fetch = Fetch(SECRET)
    rng = sn.KeyedRng(fetch, "r")
    repr(rng), hash(rng), rng.__dask_tokenize__()
    assert fetch.calls == 0
    assert np.array_equal(released(rng=rng), released())
    assert rng.fingerprint(VALUES, LABELS) == keyed().fingerprint(VALUES, LABELS)
    assert fetch.calls == 2
    fetch.answer = bytes(32)
    assert (released(rng=rng) == released()).mean() < 0.2
    fetch.answer = KeyError("no such variable")
    with pytest.raises(KeyError, match="no such variable"):
        released(rng=rng)
    # What is refused for another reason does not ask for the secret.
    calls = fetch.calls
    with pytest.raises(sn.ParameterError):
        released(rng=rng, labels=["a"])
    assert fetch.calls == calls


def test_a_generator_of_a_function_is_pickled_without_the_secret() -> None:
    rng = sn.KeyedRng(fetched, "r", bind="label")
    data = pickle.dumps(rng)
    assert SECRET not in data
    again = pickle.loads(data)
    assert again == rng == copy.copy(rng)
    assert np.array_equal(released(rng=again), released(rng=keyed(bind="label")))


def test_equality_hash_and_the_name_of_a_task() -> None:
    same = [(keyed(), keyed()), (sn.KeyedRng(fetched, "r"), sn.KeyedRng(fetched, "r"))]
    for one, other in same:
        assert one == other
        assert hash(one) == hash(other)
        assert one.__dask_tokenize__() == other.__dask_tokenize__()
    different = [keyed(), keyed("s"), keyed(bind="label"), sn.KeyedRng(bytes(32), "r"), sn.KeyedRng(fetched, "r")]
    assert len(set(different)) == len({rng.__dask_tokenize__() for rng in different}) == 5
    assert keyed() != SECRET
    assert sn.KeyedRng(fetched, "r").__dask_tokenize__()[1] == f"{__name__}.fetched"


def test_it_does_not_change() -> None:
    for name in ("release_name", "bind"):
        with pytest.raises(AttributeError):
            setattr(keyed(), name, "other")


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"release": 5}, sn.ParameterTypeError, "release must be a string, got 5"),
        ({"release": b"\x01" * 32}, sn.ParameterTypeError, "release must be a string, got a value of type bytes"),
        ({"release": ""}, sn.ParameterError, "release must be a name, got an empty string"),
        ({"release": "\udfff"}, sn.ParameterError, "release must be text that UTF-8 can hold"),
        ({"bind": "values"}, sn.ParameterError, 'bind must be "value" or "label", got \'values\''),
        ({"bind": None}, sn.ParameterTypeError, 'bind must be "value" or "label", got None'),
    ],
)
def test_bad_names(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        sn.KeyedRng(**{"secret": SECRET, "release": "r"} | arguments)


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


def test_the_law_of_keyed_noise() -> None:
    """Chi-square of 200 000 keyed draws against the pmf, with a fixed secret; false alarms 1e-6."""
    stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
    law, n = sn.DiscreteLaplace(0.7), 200_000
    noise = released(law, np.zeros(n, int), np.arange(n))
    cells = np.arange(-12, 13)
    counts = np.array([(noise == i).sum() for i in cells])
    expected = law.pmf(cells) * n
    counts, expected = np.append(counts, n - counts.sum()), np.append(expected, n - expected.sum())
    assert expected.min() > 5
    assert stats.chisquare(counts, expected).pvalue > 1e-6


def test_noise_of_neighbouring_labels_and_values_is_not_correlated() -> None:
    """Correlations of 100 000 pairs; |r| sqrt(n) above 5 has probability 6e-7 each."""
    n = 100_000
    law = sn.Laplace(1)
    zero = released(law, np.zeros(n), np.arange(n))
    for other in (
        released(law, np.ones(n), np.arange(n)) - 1,
        released(law, np.zeros(n), np.arange(n) + n),
        released(law, np.zeros(n), np.arange(n), statistic="sum"),
        released(sn.Laplace(0.1), np.zeros(n), np.arange(n)),
        zero[np.r_[1:n, 0]],
    ):
        assert abs(np.corrcoef(zero, other)[0, 1]) * n**0.5 < 5
