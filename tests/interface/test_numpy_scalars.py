"""A NumPy scalar's kind is checked before its value is read, if the scalar is a parameter, a value, a label or a group.

Evidence: `item` returns an integer for a time in nanoseconds and a tuple for a record. Both must be refused; dates stay dates.
"""

import datetime
import sqlite3
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.question import _listed

DAY = datetime.date(2026, 1, 2)
MECHANISM = sn.DiscreteLaplace(1)
NO_VALUE = {
    "5 ns": np.timedelta64(5, "ns"),
    "5 days": np.timedelta64(5, "D"),
    "5": np.timedelta64(5),
    "a time in ns": np.datetime64(5, "ns"),
    "a time in us": np.datetime64(5, "us"),
    "a whole day in ns": np.datetime64("2026-01-02", "ns"),
    "a month": np.datetime64("2026-01", "M"),
    "two days": np.datetime64(1, "2D"),
    "a record": np.array([(1, 2)], "i8, i8")[0],
    "raw bytes": np.void(b"12345678"),
}


def table() -> sqlite3.Connection:
    con = sqlite3.connect(":memory:")
    con.execute("create table t (g integer, w integer)")
    return con


def by_key(labels: Any) -> Any:
    return MECHANISM.release([1], labels=labels, statistic="count", rng=sn.KeyedRng(bytes(32), "r"))


TAKE_A_SCALAR = {
    "a parameter": sn.Laplace,
    "a list of parameters": lambda x: sn.Laplace([x], sensitivity=1),
    "a whole parameter": lambda x: sn.DiscreteLaplace(1, x),
    "a value": MECHANISM.release,
    "a list of values": lambda x: MECHANISM.release([x]),
    "a size": MECHANISM.sample,
    "a point": MECHANISM.pmf,
    "a cost": lambda x: sn.StaircaseSelection(1, sensitivity=1).select([x, x]),
    "a seed": sn.SeededRng,
    "an index": sn.SecureRng().at,
    "a label": lambda x: by_key([x]),
    "a part of a label": lambda x: by_key([(x, 1)]),
    "an array of labels": lambda x: by_key(np.array([x], object)),
    "a group": lambda x: query.count(table(), "t", by="g", groups=[x], row_is_person=True, eps=1),
    "an edge": lambda x: query.count(table(), "t", bins={"w": [x, 9]}, row_is_person=True, eps=1),
    "a bound": lambda x: query.sum(table(), "t", by="g", groups=[1], column="w", bounds=(x, 9), row_is_person=True, eps=1),
    "a limit": lambda x: query.count(table(), "t", by="g", groups=[1], person="w", max_groups=x, eps=1),
}


@pytest.mark.parametrize("take", TAKE_A_SCALAR.values(), ids=TAKE_A_SCALAR)
def test_times_and_records_are_no_numbers(take: Any) -> None:
    for scalar in NO_VALUE.values():
        with pytest.raises(sn.StairnoiseError):
            take(scalar)


def test_an_error_does_not_show_a_time_as_a_number() -> None:
    with pytest.raises(sn.StairnoiseError, match=r"got a value of type timedelta64$"):
        sn.DiscreteLaplace(1, np.timedelta64(5, "ns"))


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        (np.int8(5), 5),
        (np.uint64(2**64 - 1), 2**64 - 1),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.datetime64(DAY), DAY),
    ],
    ids=repr,
)
def test_the_others_are_what_they_stand_for(scalar: Any, value: Any) -> None:
    assert by_key([scalar]) == by_key([value])
    assert _listed([scalar], "g") == (value,)
