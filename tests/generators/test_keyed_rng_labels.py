"""KeyedRng: which labels it accepts, and which labels are equal.

Evidence: equalities and inequalities of released numbers. If two releases must differ, 60 rows of wide noise are equal by
chance with probability below 2**-100.
"""

import datetime
from decimal import Decimal

import numpy as np
import pytest

import stairnoise as sn
from tests.generators.keyed import LABELS, ROWS_OF_ALL, VALUES, keyed, released


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
    noise = released(sn.Laplace(1, sensitivity=1), np.zeros(len(labels)), labels)
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


def test_texts_under_nulls_of_polars_are_not_read() -> None:
    """Polars keeps the bytes of a text that became null, and gives its length."""
    polars = pytest.importorskip("polars", reason="Polars is not installed")
    arrow = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    valid, ends, texts = bytes([0b101]), np.array([0, 3, 8, 10], np.int32), b"abcunderxy"
    column = arrow.Array.from_buffers(arrow.string(), 3, [arrow.py_buffer(one) for one in (valid, ends, texts)])
    assert np.array_equal(
        released(values=[1, 2, 3], labels=polars.from_arrow(column)), released(values=[1, 2, 3], labels=["abc", None, "xy"])
    )


def test_equal_labels_have_one_answer_and_one_value() -> None:
    twice = released(values=[5, 7, 5], labels=["a", "b", "a"])
    assert twice[0] == twice[2]
    for values, labels, row in [([5, 7, 6], ["a", "b", "a"], 2), ([1, 2], [None, None], 1), ([1, 2], [3, np.uint8(3)], 1)]:
        with pytest.raises(sn.ParameterError, match=rf"labels must have one value each, .* at index \({row},\)$"):
            released(values=values, labels=labels)
    for bind in ("value", "label"):
        with pytest.raises(sn.ParameterError, match="one value each"):
            released(values=[1, 2], labels=["a", "a"], rng=keyed(bind=bind))
    assert np.array_equal(
        *(released(sn.Laplace(1, sensitivity=1), [x, 0.5], ["a", "b"], rng=keyed(bind="label")) for x in (0.0, -0.0))
    )


@pytest.mark.parametrize(("n", "kinds"), [(300, 7), (9000, 40), (9000, 8900), (60_000, 50_000), (60_000, 1)])
def test_repeated_labels_of_many_rows_are_found(n: int, kinds: int) -> None:
    """Evidence: rows with equal labels by `numpy.unique`."""
    choose = np.random.default_rng(n + kinds)
    labels = choose.integers(0, kinds, n) - kinds // 2
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    values, earlier = labels * 3, first[inverse]
    whole = released(values=values, labels=labels, threads=3)
    assert np.array_equal(whole, whole[earlier])
    assert keyed().fingerprint(values, labels) == keyed().fingerprint(values[first], labels[first])
    for count in (1, 3, n // 2):
        other = values.copy()
        other[choose.choice(n, count, replace=False)] += 1
        refused = np.flatnonzero(other != other[earlier])
        assert len(refused) > 0 or kinds > n // 2
        for threads in (1, 2, 5):
            if len(refused) == 0:
                released(values=other, labels=labels, threads=threads)
                continue
            with pytest.raises(sn.ParameterError, match=rf"one value each, .* at index \({refused[0]},\)$"):
                released(values=other, labels=labels, threads=threads)
