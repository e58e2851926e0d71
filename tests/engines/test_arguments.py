"""`stairnoise.engines` refuses wrong arguments before an engine gets anything; errors name the parameter and no data."""

import doctest
import sqlite3
import subprocess
import sys

import pytest

import stairnoise as sn
from stairnoise import engines
from tests.combinations import looped
from tests.engines.table import KEYED, MECHANISM, STATISTIC

pd = pytest.importorskip("pandas")

TEXT = {"label_type": "text"}


def sqlite(mechanism=MECHANISM, keyed=KEYED, statistic=STATISTIC, name="noisy", **options):
    engines.add_to_sqlite(sqlite3.connect(":memory:"), name, mechanism, keyed, statistic, **TEXT | options)


def duckdb(mechanism=MECHANISM, keyed=KEYED, statistic=STATISTIC, name="noisy", **options):
    con = pytest.importorskip("duckdb").connect()
    engines.add_to_duckdb(con, name, mechanism, keyed, statistic, **TEXT | options)


def polars(mechanism=MECHANISM, keyed=KEYED, statistic=STATISTIC, label="g", value="n", **options):
    pytest.importorskip("polars")
    engines.polars_expr(mechanism, keyed, label, value, statistic, **TEXT | options)


def frames(mechanism=MECHANISM, keyed=KEYED, statistic=STATISTIC, label="g", value="n", frame=None, **options):
    frame = pd.DataFrame({"g": ["a"], "n": [1]}) if frame is None else frame
    engines.release_part(frame, mechanism, keyed, label, value, statistic, **TEXT | options)


every = looped("call", [sqlite, duckdb, polars, frames])


@every
@looped("rng", [None, sn.SecureRng(), sn.SeededRng(1, allow_release=True), bytes(32), 5])
def test_there_is_no_unkeyed_function(call, rng):
    with pytest.raises(
        sn.ParameterTypeError, match="keyed must be a KeyedRng: an engine can compute a row several times"
    ) as caught:
        call(keyed=rng)
    assert repr(bytes(32)) not in str(caught.value)


@every
@looped(
    ("arguments", "text"),
    [
        ({"mechanism": sn.DiscreteLaplace}, "mechanism must be a mechanism that releases numbers"),
        ({"mechanism": sn.StaircaseSelection(1)}, "mechanism must be a mechanism that releases numbers"),
        ({"mechanism": None}, "mechanism must be a mechanism that releases numbers"),
        ({"mechanism": sn.MultivariateStaircase(1, dim=2)}, "mechanism must release single numbers"),
        ({"mechanism": sn.Laplace([1.0, 2.0], 1)}, "one mechanism for each"),
        ({"statistic": ""}, "statistic must be a name"),
        ({"statistic": None}, "statistic must be a string"),
        ({"max_partitions_contributed": 0}, "max_partitions_contributed must be"),
        ({"label_type": "VARCHAR"}, "label_type must be 'text', 'integer', .* or 'bytes', or a list of them, got 'VARCHAR'"),
        ({"label_type": ["text", 3]}, "label_type must be 'text', .*, or a list of them, got 3"),
        ({"label_type": None}, "label_type must be 'text', .*, or a list of them, got None"),
        ({"label_type": []}, "label_type must have at least one type, got none"),
    ],
)
def test_mechanism_statistic_and_partitions(call, arguments, text):
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=text):
        call(**arguments)


@pytest.mark.parametrize("call", [sqlite, duckdb])
def test_names_of_functions(call):
    for name, text in ((None, "name must be a string"), ("", "name must be a name")):
        with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=text):
            call(name=name)


def test_connections():
    con = pytest.importorskip("duckdb").connect()
    with pytest.raises(
        sn.ParameterTypeError, match="con must be a connection of sqlite3, got a value of type DuckDBPyConnection"
    ):
        engines.add_to_sqlite(con, "noisy", MECHANISM, KEYED, STATISTIC, **TEXT)
    for other in (sqlite3.connect(":memory:"), None):
        with pytest.raises(sn.ParameterTypeError, match="con must be a connection of DuckDB, got a value of type"):
            engines.add_to_duckdb(other, "noisy", MECHANISM, KEYED, STATISTIC, **TEXT)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"label": []}, "label must name at least one column"),
        ({"label": None}, "label must be the name of a column or an expression, got a value of type NoneType"),
        ({"label": ["g", 3]}, "label must be the name of a column or an expression, got a value of type int"),
        ({"value": 3}, "value must be the name of a column or an expression"),
    ],
)
def test_columns_of_polars(arguments, text):
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=text):
        polars(**arguments)


@pytest.mark.parametrize("library", ["pandas", "pyarrow", "polars"])
@pytest.mark.parametrize("name", ["x", "twice", 3, None, ["n"], slice(0, 1)], ids=str)
def test_names_of_columns(library, name):
    module = pytest.importorskip(library)
    columns = {"g": ["a"], "n": [1]}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    if library == "pandas":
        frame = pd.concat([frame, pd.DataFrame([[1, 2]], columns=["twice", "twice"])], axis=1)
    for argument in ("label", "value"):
        if (argument, name) != ("label", ["n"]):
            with pytest.raises(sn.ParameterError, match=f"{argument} must name one column of the frame"):
                frames(frame=frame, **{argument: name})
    with pytest.raises(sn.ParameterError, match="label must name at least one column"):
        frames(frame=frame, label=[])


@pytest.mark.parametrize(
    "frame", [[1, 2], {"g": ["a"], "n": [1]}, 7, iter([]), pd.Series([1])], ids=lambda value: type(value).__name__
)
def test_frames(frame):
    with pytest.raises(sn.ParameterTypeError, match="frame must be a DataFrame of pandas or Polars, or a Table or RecordBatch"):
        frames(frame=frame)


def test_lazy_frames():
    lazies = [pytest.importorskip("polars").LazyFrame({"g": ["a"], "n": [1]})]
    lazies.append(pytest.importorskip("dask.dataframe").from_pandas(pd.DataFrame({"g": ["a"], "n": [1]}), npartitions=1))
    for lazy in lazies:
        with pytest.raises(sn.LazyError, match="frame must be in memory"):
            frames(frame=lazy)


def test_nothing_is_imported_for_the_user():
    """Evidence: the modules of a new process."""
    code = (
        "import sys, stairnoise; before = 'stairnoise.engines' in sys.modules; import stairnoise.engines;"
        "print(before, *sorted({'pandas', 'polars', 'pyarrow', 'duckdb', 'dask', 'pyspark', 'sqlite3'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split() == ["False"]


def test_a_missing_package_is_named(monkeypatch):
    con = pytest.importorskip("duckdb").connect()
    monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match="polars_expr needs polars: pip install polars"):
        engines.polars_expr(MECHANISM, KEYED, "g", "n", STATISTIC, **TEXT)
    with pytest.raises(ModuleNotFoundError, match="add_to_duckdb needs pyarrow: pip install pyarrow"):
        engines.add_to_duckdb(con, "noisy", MECHANISM, KEYED, STATISTIC, **TEXT)


@pytest.mark.parametrize("name", engines.__all__)
def test_examples_run(name):
    """Evidence: the examples of the docstrings."""
    pytest.importorskip({"add_to_duckdb": "duckdb", "polars_expr": "polars"}.get(name, "pandas"))
    found = doctest.DocTestFinder().find(getattr(engines, name), name)
    assert found[0].examples
    assert doctest.DocTestRunner().run(found[0]).failed == 0


def test_the_public_names():
    assert engines.__all__ == ["add_to_duckdb", "add_to_sqlite", "polars_expr", "release_part"]
    assert all(getattr(engines, name).__module__.startswith("stairnoise.engines") for name in engines.__all__)
