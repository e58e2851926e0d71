"""No error that an engine passes on from a release shows a label or a true value.

Evidence: a text and a number that occur nowhere else, searched for in the whole traceback.
"""

import logging
import sqlite3
import sys
import traceback
from decimal import Decimal

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.columns.reading import by_library
from stairnoise.engines import add_to_duckdb, add_to_sqlite, polars_expr, release_part
from tests.engines.table import KEYED, MECHANISM, STATISTIC
from tests.interface.canaries import NUMBER, TEXT, leaks

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
pl = pytest.importorskip("polars")

# Labels, values, and the error's text.
REFUSED = {
    "two values": ([TEXT, TEXT], [NUMBER, NUMBER + 1], "labels must have one value each"),
    "a fraction": ([TEXT, "b"], [NUMBER + 0.5, 1.0], "values must be whole numbers"),
    "not a number": ([TEXT, "b"], [float("nan"), float(NUMBER)], "values must be finite"),
    "too large": ([TEXT, "b"], [NUMBER * 1e60, 1.0], "values must be"),
    "a label that is a float": ([NUMBER + 0.5, 1.0], [NUMBER, 1], "labels must be"),
    "a label of another type": ([NUMBER, NUMBER + 1], [NUMBER, 1], "labels must be of label_type='text', got"),
    "a value that is a text": (["a", "b"], [TEXT, "b"], "values must be"),
    "a value beyond int64": ([TEXT, "b"], [Decimal(NUMBER * 10**20), Decimal(1)], "values must be"),
}
refused = pytest.mark.parametrize("case", REFUSED)


def shown(error):
    return "".join(traceback.format_exception(error))


def check(case, error):
    text = shown(error)
    assert REFUSED[case][-1] in text
    assert not leaks(text), text


def table(case):
    labels, values = REFUSED[case][:2]
    return pa.table({"g": labels, "n": pa.array(values, pa.decimal128(38, 0)) if isinstance(values[0], Decimal) else values})


@refused
def test_duckdb(case):
    con = duckdb.connect()
    add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    con.register("t", table(case))
    with pytest.raises(duckdb.Error) as caught:
        con.execute("select noisy(g, n) from t").fetchall()
    check(case, caught.value)


# The lazy engine passes two rows one by one, so they are not compared.
@pytest.mark.parametrize(
    ("case", "engine"),
    [
        (case, engine)
        for case in REFUSED
        for engine in ("eager", "lazy", "streaming")
        if case != "two values" or engine == "eager"
    ],
)
def test_polars(case, engine, capfd):
    frame = pl.from_arrow(table(case))
    expr = polars_expr(MECHANISM, KEYED, "g", "n", STATISTIC, label_type="text")
    with pytest.raises(Exception) as caught:
        {
            "eager": lambda: frame.select(expr),
            "lazy": lambda: frame.lazy().select(expr).collect(),
            "streaming": lambda: frame.lazy().select(expr).collect(engine="streaming"),
        }[engine]()
    check(case, caught.value)
    assert not leaks("".join(capfd.readouterr()))


@refused
@pytest.mark.parametrize("library", ["pandas", "pandas, Arrow", "Arrow", "Polars"])
def test_frames(case, library):
    frame = table(case)
    if library == "Polars":
        frame = pl.from_arrow(frame)
    elif library != "Arrow":
        frame = frame.to_pandas(types_mapper=None if library == "pandas" else pd.ArrowDtype)
    with pytest.raises(sn.StairnoiseError) as caught:
        release_part(frame, MECHANISM, KEYED, "g", "n", STATISTIC, label_type="text")
    check(case, caught.value)


@refused
def test_dask(case, caplog):
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(table(case).to_pandas(), npartitions=1)
    with caplog.at_level(logging.DEBUG), pytest.raises(Exception) as caught:
        frame.map_partitions(release_part, MECHANISM, KEYED, "g", "n", STATISTIC, label_type="text").compute(
            scheduler="synchronous"
        )
    check(case, caught.value)
    assert not leaks(caplog.text)


@pytest.mark.parametrize("case", [case for case in REFUSED if case not in ("two values", "a value beyond int64")])
def test_sqlite(case, monkeypatch):
    """SQLite raises its own error, and prints ours only if a setting asks for it."""
    printed = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    con = sqlite3.connect(":memory:")
    add_to_sqlite(con, "noisy", MECHANISM, KEYED, STATISTIC, label_type="text")
    label, value = (column[0] for column in REFUSED[case][:2])
    sqlite3.enable_callback_tracebacks(True)
    try:
        with pytest.raises(sqlite3.OperationalError, match="user-defined function raised exception") as caught:
            # sqlite3 converts NaN to NULL.
            con.execute("select noisy(?, ?)", (label, np.inf if value != value else value)).fetchall()
    finally:
        sqlite3.enable_callback_tracebacks(False)
        con.close()
    assert not leaks(shown(caught.value))
    check(case, printed[0].exc_value)
    assert not leaks(str(printed[0].err_msg))


def test_an_error_of_another_library_is_not_passed_on():
    with pytest.raises(sn.ParameterTypeError, match="labels must be of a class that can be read and made again") as caught:
        by_library("labels", [TEXT], int, TEXT)
    assert not leaks(shown(caught.value))
