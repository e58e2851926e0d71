"""A query is paid for before a row is read: what happens afterwards, an error included, may depend on the data.

Evidence: the ledger's content at the moment when the engine is asked for rows.
"""

import contextlib
import sqlite3

import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.sources import SourceError
from stairnoise.query.sources.csv_file import CSVFile
from stairnoise.query.sources.sqlite import SQLite
from tests.query.persons import visits

PEOPLE = {"Bern": 30, "Chur": 40}
ASKED = {"by": "city", "groups": list(PEOPLE), "row_is_person": True, "eps": 0.5}
MEAN = {**ASKED, "column": "spent", "bounds": (0, 10)}
STAYS = "nothing was drawn, and what the ledger has counted for it stays spent$"


def keyed(release="visits 2026-11"):
    return sn.KeyedRng(bytes(range(32)), release)


@pytest.fixture
def ledger(tmp_path):
    return sn.Ledger(tmp_path / "people.ledger", budget=1.0)


@pytest.fixture(params=["sqlite", "csv"])
def source(tmp_path, request):
    """The table from two kinds of source, each with the class whose `_rows` reads it."""
    if request.param == "sqlite":
        return visits(PEOPLE), SQLite
    lines = [f"{who},{city},7" for who, city in enumerate(city for city, n in PEOPLE.items() for _ in range(n))]
    (tmp_path / "visits.csv").write_text("\n".join(["who,city,spent", *lines]) + "\n")
    return tmp_path / "visits.csv", CSVFile


@contextlib.contextmanager
def reading(monkeypatch, kind, before):
    """Call a function whenever the rows of an answer are read."""
    rows = kind._rows

    def asked(self, *arguments):
        before()
        return rows(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(kind, "_rows", asked)
        yield


def fail():
    raise SourceError("source must be read")


@pytest.mark.parametrize("rng", [None, keyed()], ids=["fresh", "keyed"])
def test_a_release_is_paid_for_when_rows_are_read(monkeypatch, ledger, source, rng):
    seen = []
    with reading(monkeypatch, source[1], lambda: seen.append([row.fingerprint for row in ledger.report()])):
        types = {"spent": "integer"} if source[1] is CSVFile else None
        query.mean(source[0], "visits", **MEAN, types=types, rng=rng, ledger=ledger)
    assert seen == [[None]]
    assert [row.fingerprint is not None for row in ledger.report()] == [rng is not None]
    assert ledger.total() == 0.5


def test_a_release_beyond_the_budget_reads_nothing(monkeypatch, ledger, source):
    ledger.spend(sn.DiscreteLaplace(0.75), data="people")
    for rng in (None, keyed()):
        with reading(monkeypatch, source[1], lambda: pytest.fail("rows were read")), pytest.raises(sn.BudgetError):
            query.count(source[0], "visits", **ASKED, rng=rng, ledger=ledger)
    assert ledger.total() == 0.75


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"by": "town"}, "by must name a column"),
        ({"groups": ["Bern", 3]}, "groups of 'city'"),
        ({"where": "city = (select 1)"}, "where"),
        ({"where": "town = 3"}, "where"),
        ({"person": "whom", "row_is_person": False}, "person must name a column"),
    ],
)
def test_what_the_schema_refuses_reads_and_costs_nothing(monkeypatch, ledger, source, change, text):
    refused = pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=text)
    with reading(monkeypatch, source[1], lambda: pytest.fail("rows were read")), refused:
        query.count(source[0], "visits", **ASKED | change, ledger=ledger)
    assert ledger.report() == []


@pytest.mark.parametrize("rng", [None, keyed()], ids=["fresh", "keyed"])
def test_a_question_that_fails_when_rows_are_read_stays_paid_for(monkeypatch, ledger, source, rng):
    with reading(monkeypatch, source[1], fail), pytest.raises(SourceError, match=f"^source must be read; {STAYS}"):
        query.count(source[0], "visits", **ASKED, rng=rng, ledger=ledger)
    assert ledger.total() == 0.5
    with reading(monkeypatch, source[1], fail), pytest.raises(SourceError, match=r"^source must be read$"):
        query.count(source[0], "visits", **ASKED, rng=rng)


def test_a_row_without_an_answer_is_taken_by_whoever_asks_again(monkeypatch, ledger, source):
    """No noise was drawn for the failed question, so asking again is free even if the data have changed since."""
    with reading(monkeypatch, source[1], fail), contextlib.suppress(SourceError):
        query.count(visits({"Bern": 1}) if source[1] is SQLite else source[0], "visits", **ASKED, rng=keyed(), ledger=ledger)
    table = query.count(source[0], "visits", **ASKED, rng=keyed(), ledger=ledger)
    assert table == query.count(source[0], "visits", **ASKED, rng=keyed(), ledger=ledger)
    assert len(ledger.report()) == 1


def test_other_data_under_one_name_are_refused_and_recorded(tmp_path, ledger):
    """The refusal also comes at another path, and for another question about the same statistic, which stays paid for."""
    query.count(visits(PEOPLE), "visits", **ASKED, rng=keyed(), ledger=ledger)
    moved = tmp_path / "moved.db"
    with contextlib.closing(sqlite3.connect(moved)) as con:
        visits({**PEOPLE, "Bern": 31}).backup(con)
    for eps, total in ((0.5, 0.5), (0.25, 0.75)):
        with pytest.raises(sn.LedgerError, match=f"must be of one state of the data.*{STAYS}"):
            query.count(moved, "visits", **ASKED | {"eps": eps}, rng=keyed(), ledger=ledger)
        assert ledger.total() == total
    assert [row.refused for row in ledger.report()] == [False, True, False, True]


def test_the_same_data_at_another_path_are_a_repetition(tmp_path, ledger):
    moved = tmp_path / "moved.db"
    with contextlib.closing(sqlite3.connect(moved)) as con:
        visits(PEOPLE).backup(con)
    first = query.count(visits(PEOPLE), "visits", **ASKED, rng=keyed(), ledger=ledger)
    assert query.count(moved, "visits", **ASKED, rng=keyed(), ledger=ledger) == first
    assert ledger.total() == 0.5
