"""Addresses of keyed releases, for labels and values that Hypothesis chooses: different ones have different bytes.

Evidence: a parser, written from docs/contract.md, reads every field back; an encoding that can be read back is injective. The
bytes are those that the extension and the package write.
"""

import datetime
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stairnoise.keyed import encoding
from stairnoise.keyed.labels import _encoded, label_column
from tests.oracles import keyed as oracle

EPOCH = datetime.date(1970, 1, 1)

texts = st.text(st.characters(codec="utf-8"))
scalars = st.one_of(st.none(), st.booleans(), st.integers(), texts, st.binary(max_size=40), st.dates())
labels = st.recursive(scalars, lambda parts: st.lists(parts, max_size=3).map(tuple), max_leaves=5)
whole = st.one_of(st.integers(), st.integers(-(2**1000), 2**1000).map(float))
numbers = st.one_of(whole, st.floats(allow_nan=False, allow_infinity=False))


def read(data: bytes) -> Iterator[Any]:
    """Return the fields in the bytes, as pairs of tag and content."""
    while data:
        tag, length = data[:1].decode(), int.from_bytes(data[1:9], "little")
        body, data = data[9 : 9 + length], data[9 + length :]
        assert len(body) == length
        if tag == "T":
            yield tag, tuple(read(body))
        elif tag in "ID":
            n = int.from_bytes(body, "little", signed=True)
            assert oracle.integer(n) == body, "an integer must have its shortest form"
            yield tag, n
        else:
            yield tag, body


def content(label: Any) -> Any:
    """Return the expected result of `read` for a label."""
    if label is None:
        return "N", b""
    if isinstance(label, tuple):
        return "T", tuple(map(content, label))
    if isinstance(label, bool):
        return "B", bytes([label])
    if isinstance(label, int):
        return "I", label
    if isinstance(label, str):
        return "S", label.encode()
    return ("Y", label) if isinstance(label, bytes) else ("D", (label - EPOCH).days)


@given(st.one_of(st.lists(kind, min_size=1, max_size=5) for kind in (labels, texts, st.text("\0a"))))
def test_labels_are_read_back(chosen: list[Any]) -> None:
    column = label_column(chosen, len(chosen))
    for row, label in enumerate(chosen):
        field = column.field(row)
        assert list(read(field)) == [content(label)]
        assert field == _encoded(label, row)


@given(labels, numbers, labels, numbers)
def test_different_rows_have_different_bytes(label: Any, value: Any, other_label: Any, other_value: Any) -> None:
    def row(label: Any, value: Any) -> bytes:
        return label_column([label], 1).field(0) + encoding.number(value)

    same = content(label) == content(other_label) and value == other_value
    assert (row(label, value) == row(other_label, other_value)) == same


@given(numbers)
def test_numbers_are_those_of_the_oracle(value: Any) -> None:
    assert encoding.number(value) == oracle.value(value)


@given(st.lists(st.one_of(st.none(), st.text(st.characters(codec="utf-8"))), max_size=20), st.integers(0, 20), st.data())
def test_texts_of_arrow_are_those_of_a_list(texts: list[str | None], cut: int, data: st.DataObject) -> None:
    arrow = pytest.importorskip("pyarrow", reason="PyArrow is not installed")
    column = arrow.array(texts, data.draw(st.sampled_from([arrow.string(), arrow.large_string()])))[cut:]
    found, expected = label_column(column, len(column)), label_column(texts[cut:], len(column))
    assert [found.field(row) for row in range(len(column))] == [expected.field(row) for row in range(len(column))]


@given(
    st.lists(st.text(st.characters(codec="utf-8"), max_size=12), min_size=1, max_size=20), st.sampled_from(["<U12", ">U12", "S"])
)
def test_arrays_of_texts_and_bytes_are_lists_of_them(texts: list[str], dtype: str) -> None:
    array = np.array([text.encode() if dtype == "S" else text for text in texts], dtype)[::2]
    found, expected = label_column(array, len(array)), label_column(array.tolist(), len(array))
    assert [found.field(row) for row in range(len(array))] == [expected.field(row) for row in range(len(array))]


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=20))
def test_arrays_of_integers_are_lists_of_them(integers: list[int]) -> None:
    found, expected = label_column(np.array(integers, np.int64), len(integers)), label_column(integers, len(integers))
    assert [found.field(row) for row in range(len(integers))] == [expected.field(row) for row in range(len(integers))]
