"""The mean of a column of bools is a share, whose bounds are 0 and 1; so are those of its sum.

Evidence: the people counted by hand, in every engine and kind of file and frame; people added or removed; the notes.
"""

import itertools
import sqlite3

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.question import Question
from stairnoise.query.sources.dialect import Dialect
from stairnoise.query.statistics import Mean, Sum
from tests.query.test_person import require_few_changes

# Of persons 1 to 5: 1 smokes in one of two rows, 2 in both, 3 and 4 never, and nobody knows about 5.
SMOKERS = [(1, True), (1, False), (2, True), (2, True), (3, False), (4, False), (4, None), (5, None)]
ASKED = {"column": "smoker", "person": "who", "eps": 1e9, "all_digits": True}


def asked(statistic, **others):
    return Question("t", (), {}, (statistic("smoker"),), **({"person": "who"} | others))


def made(engine, rows):
    engine.table("t", {"who": "integer", "smoker": "boolean"}, rows)


def test_a_person_counts_as_true_if_any_row_is_true(engine):
    made(engine, SMOKERS)
    share, total = engine.answers(asked(Mean)), engine.answers(asked(Sum))
    # Halves are the unit of a share, so that the noise is that of a change by 1/2.
    assert (share.counts.tolist(), share.sums.tolist(), share.units) == ([4], [[4]], (0.5,))
    assert (total.sums.tolist(), total.units) == ([[2]], (1.0,))
    rows = engine.answers(asked(Mean, person=None))
    assert (rows.counts.tolist(), rows.sums.tolist()) == ([6], [[6]])
    assert engine.answers(asked(Mean, where="smoker or not smoker")).sums.tolist() == [[4]]
    ((value, *_),) = query.mean(engine.data, "t", **ASKED)
    assert value == 0.5


@pytest.mark.parametrize("statistic", [Mean, Sum])
def test_one_person_moves_a_number_by_its_sensitivity(engine, statistic, monkeypatch):
    """All rows of one person, beside another person; a row that is true counting as 2 is noticed."""
    choices = [True, False, None]
    rows = [[], *([(1, one)] for one in choices), *([(1, one), (1, other)] for one, other in itertools.product(choices, choices))]

    def check(table):
        found = []
        for remaining in ([(2, True), *table], [(2, True)]):
            made(engine, remaining)
            with engine.source() as source:
                checked = source.checked(asked(statistic))
                found.append(source.answers(checked, order=bytes(32)))
        require_few_changes(checked.question, *found)

    for table in rows[:: 4 if engine.name == "Spark" else 1]:
        check(table)
    monkeypatch.setattr(Dialect, "truth", lambda *_: "4")
    monkeypatch.setattr("stairnoise.query.sources.statement._clipped", lambda value, _: value)
    with pytest.raises(AssertionError):
        check([(1, True)])


def test_the_notes_name_the_bounds():
    con = sqlite3.connect(":memory:")
    con.execute("create table t (who integer, smoker boolean)")
    con.executemany("insert into t values (?, ?)", SMOKERS)
    table = query.table(con, mean={"smoker": None}, sum={"smoker": None}, person="who", eps=1)
    assert [(one["bounds"], one["unit"]) for one in table.about["statistics"]] == [([0.0, 1.0], 0.5), ([0.0, 1.0], 1)]
    assert "sum of differences of smoker from 0.5" in [one["of"] for one in table.about["mechanisms"]]
    assert [one["sensitivity"] for one in table.about["mechanisms"]] == [1, 0.5, 1]
    assert 0 <= table[0][0] <= 1
    rng = sn.KeyedRng(bytes(32), "smokers")
    same = [query.mean(con, column="smoker", bounds=bounds, person="who", eps=1, rng=rng)[0] for bounds in (None, (0, 1))]
    assert same[0] == same[1]


@pytest.mark.parametrize("kind", ["csv", "parquet", "pandas", "polars", "arrow"])
def test_files_by_their_types_and_frames_by_the_question(tmp_path, kind):
    pytest.importorskip("duckdb")
    frame = pytest.importorskip("pandas").DataFrame(SMOKERS, columns=["who", "smoker"])
    types = {"smoker": "boolean"} if kind == "csv" else None
    if kind in ("csv", "parquet"):
        source = tmp_path / f"t.{kind}"
        frame["smoker"] = frame["smoker"].astype("boolean")
        getattr(frame, f"to_{kind}")(source, index=False)
    else:
        of = {"polars": "from_pandas", "arrow": "Table.from_pandas"}.get(kind)
        library = pytest.importorskip({"arrow": "pyarrow"}.get(kind, kind))
        source = frame if of is None else getattr(library, of)(frame) if kind == "polars" else library.Table.from_pandas(frame)
    for _ in range(2):
        ((value, *_),) = query.mean(source, **ASKED, types=types)
        assert value == 0.5
    if kind == "csv":
        with pytest.raises(sn.ParameterTypeError, match=r"bounds must be given for a mean.*--type smoker=boolean"):
            query.mean(source, **ASKED)


def test_the_dtype_of_a_frame_decides_nothing():
    pytest.importorskip("duckdb")
    pandas = pytest.importorskip("pandas")
    for values in ([True, False, False, True], [1, 0, 0, 1], [1.0, 0.0, 0.0, 1.0], ["true", "no", "F", "yes"], [1, 0, np.nan, 1]):
        frame = pandas.DataFrame({"smoker": values})
        ((value, *_),) = query.mean(frame, **ASKED | {"person": None, "row_is_person": True})
        assert abs(value - (0.5 if frame.smoker.notna().all() else 2 / 3)) < 1e-6
        with pytest.raises(sn.ParameterTypeError, match="bounds must be given for a mean"):
            query.mean(frame, **ASKED | {"person": None, "row_is_person": True}, types={"smoker": "real"})


@pytest.mark.parametrize(("ask", "kind"), [(query.mean, "mean"), (query.sum, "sum")])
def test_other_columns_need_bounds(ask, kind, tmp_path):
    con = sqlite3.connect(":memory:")
    con.execute("create table t (who integer, n integer)")
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=1)
    with pytest.raises(sn.ParameterTypeError, match=f"^bounds must be given for a {kind}: without limits .* got None") as caught:
        ask(con, column="n", person="who", eps=1, ledger=ledger)
    assert "make a view in which it has the type boolean" in str(caught.value)
    assert ledger.total() == 0


def test_statements_for_warehouses():
    schema = {"who": "BIGINT", "smoker": "BOOLEAN"}
    with pytest.warns(UserWarning, match="exact answers"):
        plan = query.compile("t", dialect="trino", schema=schema, mean={"smoker": None}, person="who", eps=1e9)
    assert 'case when "smoker" then 2 else 0 end' in plan.sql
    assert query.finish(plan, [(4, 4)])[0][0] == 0.5
