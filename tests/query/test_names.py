"""Names of tables and columns: compared as the engine compares them; the name of the only table can be omitted.

Evidence: keyed noise, which is the same however a question spells its names; another question has other noise, and is
equal by chance with a probability below 1e-6.
"""

import sqlite3
from dataclasses import replace

import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.question import Question
from stairnoise.query.sources import open_source
from stairnoise.query.sources.postgresql import _by_name
from stairnoise.query.sources.source import _only
from stairnoise.query.statistics import Sum

EXACT = Question("Visits", ("City",), {"City": ("a", "b")}, (Sum("Spent", (0.0, 9.0)),), None, "Who", 2)
OTHER = replace(
    EXACT, table="VISITS", by=("city",), groups={"city": ("a", "b")}, statistics=(Sum("spent", (0.0, 9.0)),), person="who"
)
ROWS = [(who, "ab"[who % 2], who % 9) for who in range(40)]
KEYED = sn.KeyedRng(bytes(32), "r")


def test_names_are_compared_as_the_engine_does(engine):
    engine.table("Visits", {"Who": "integer", "City": "text", "Spent": "integer"}, ROWS)
    with engine.source() as source:
        if engine.name == "Spark":
            # Spark finds its views itself, so a question has their names in small letters.
            assert source.resolved(OTHER) == source.resolved(EXACT) == replace(EXACT, table="visits")
            return
        assert source.resolved(EXACT) == EXACT
        if engine.name == "PostgreSQL":
            for name, argument, named in (
                ("table", "table", "Visits"),
                ("by", "by", "City"),
                ("person", "person", "Who"),
                ("statistics", "column", "Spent"),
            ):
                question = replace(EXACT, **{name: getattr(OTHER, name)})
                with pytest.raises(sn.ParameterError, match=f"{argument} must .* did you mean '{named}'"):
                    source.resolved(question)
            return
        assert source.resolved(OTHER) == EXACT
        found, expected = (source.answers(one, order=bytes(32)) for one in (OTHER, EXACT))
        assert found.groups == expected.groups
        assert found.sums.tolist() == expected.sums.tolist()
    name = {"SQLite": "MAIN.visits", "DuckDB": "main.vISITS"}[engine.name]
    with engine.source() as source:
        assert source.columns(name) == ["Who", "City", "Spent"]


def test_other_letters_than_those_of_ascii_are_not_folded():
    con = sqlite3.connect(":memory:")
    con.execute('create table t ("É" text)')
    with pytest.raises(sn.ParameterError, match="by must name a column"):
        query.count(con, by="é", groups=["a"], row_is_person=True, eps=1)


def of_sqlite(path):
    con = sqlite3.connect(":memory:")
    con.execute("create table Visits (Id integer primary key autoincrement, Who integer, City text, Spent integer)")
    con.executemany("insert into Visits (Who, City, Spent) values (?, ?, ?)", ROWS)
    return con


def of_duckdb(path):
    con = pytest.importorskip("duckdb").connect()
    con.execute("create table Visits (Who integer, City text, Spent integer)")
    con.executemany("insert into Visits values (?, ?, ?)", ROWS)
    return con


def of_csv(path):
    pytest.importorskip("duckdb")
    (path / "Visits.csv").write_text("Who,City,Spent\n" + "".join(f"{who},{city},{spent}\n" for who, city, spent in ROWS))
    return path / "Visits.csv"


def of_parquet(path):
    pytest.importorskip("duckdb")
    pytest.importorskip("pandas").DataFrame(ROWS, columns=["Who", "City", "Spent"]).to_parquet(path / "Visits.parquet")
    return path / "Visits.parquet"


SOURCES = {"SQLite": of_sqlite, "DuckDB": of_duckdb, "CSV": of_csv, "Parquet": of_parquet}


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
def test_one_question_has_one_answer_however_it_names_things(tmp_path, make):
    """Omitting the name of the only table is the same question too; a ledger counts all spellings once."""
    source, ledger = make(tmp_path), sn.Ledger(tmp_path / "ledger.db", budget=0.05)
    types = {} if make in (of_sqlite, of_duckdb) else {"Spent": "integer"}
    options = {"bounds": (0, 9), "eps": 0.05, "rng": KEYED, "ledger": ledger}
    tables = [
        query.sum(
            source,
            *table,
            by=name("City"),
            groups={name("City"): ["a", "b"]},
            column=name("Spent"),
            person=name("Who"),
            types={name(key): kind for key, kind in types.items()},
            **options,
        )
        for table, name in ((("Visits",), str), (("visits",), str.lower), ((), str.upper), ((None,), str))
    ]
    assert [table.columns for table in tables] == [("City", "sum", "error_bound")] * 4
    assert [list(table) for table in tables] == [list(tables[0])] * 4
    assert ledger.total() == 0.05


def test_a_table_must_be_named_where_there_are_several_or_none(tmp_path):
    con = sqlite3.connect(":memory:")
    asked = {"row_is_person": True, "eps": 1}
    with pytest.raises(sn.ParameterError, match=r"table must be given .* but it has none"):
        query.count(con, **asked)
    for name in "abcdef":
        con.execute(f"create table {name} (x)")
        if name == "b":
            with pytest.raises(sn.ParameterError, match=r"exactly one, but it has 2: 'a', 'b'$"):
                query.count(con, **asked)
    with pytest.raises(sn.ParameterError, match=r"has 6: 'a', 'b', 'c', 'd', 'e', ...$"):
        query.count(con, **asked)


def test_the_only_table_of_postgresql_may_be_outside_of_the_search_path():
    assert _only(_by_name([("public", "t", True, 1)])) == "t"
    assert _only(_by_name([("other", "t", False, 1)])) == "other.t"
    with pytest.raises(sn.ParameterError, match=r"has 2: 'other.t', 't'"):
        _only(_by_name([("other", "t", False, 1), ("public", "t", True, 2)]))


@pytest.mark.parametrize("groups", [{"City": ["a"], "city": ["b"]}, {"town": ["a"]}])
def test_groups_of_other_columns_are_refused_before_the_data_are_opened(tmp_path, groups):
    """Only the data could reveal which of the two names is wrong, so the error proposes none."""
    with pytest.raises(sn.ParameterError, match="groups must") as caught:
        query.count(tmp_path / "nowhere.db", by="City", groups=groups, row_is_person=True, eps=1)
    assert "did you mean" not in str(caught.value)


def test_a_file_has_one_type_for_a_column(tmp_path):
    with (
        pytest.raises(sn.ParameterError, match="types must name every column once"),
        open_source(of_csv(tmp_path), query.reading.reading({"Spent": "integer", "spent": "real"}, None)),
    ):
        pass
