"""Keyed queries: the same question about the same data returns the same table for free; every other question has other noise."""

import datetime
import sqlite3

import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.plan import address, budget, planned
from stairnoise.query.question import Question
from stairnoise.query.statistics import Count, Mean, Sum
from tests.query.persons import visits

CITIES = [f"city {number}" for number in range(60)]
PEOPLE = dict.fromkeys(CITIES, 5)
ASKED = {"by": "city", "groups": CITIES, "row_is_person": True, "eps": 0.5}


def keyed(release="visits 2026-11", secret=bytes(range(32))):
    return sn.KeyedRng(secret, release)


def values(table):
    return [row[1] for row in table]


def test_the_same_question_has_the_same_table(tmp_path):
    """The tables are equal bit for bit, also from another connection, from a file, and with the rows in another order."""
    first = query.count(visits(PEOPLE), "visits", **ASKED, rng=keyed())
    backwards = visits(dict(reversed(PEOPLE.items())))
    file = sqlite3.connect(tmp_path / "visits.db")
    backwards.backup(file)
    file.close()
    assert first == query.count(backwards, "visits", **ASKED, rng=keyed())
    assert first == query.count(tmp_path / "visits.db", "visits", **ASKED, rng=keyed())
    assert first == query.count(tmp_path / "visits.db", "visits", **ASKED | {"eps": 0.5}, rng=keyed())


OTHERS = {
    "another release": ({"rng": keyed("visits 2026-12")}, {}),
    "another secret": ({"rng": keyed(secret=bytes(32))}, {}),
    "another eps": ({"eps": 0.51}, {}),
    "another condition": ({"where": "spent > 0"}, {}),
    "another list": ({"groups": [*CITIES, "more"]}, {}),
    "another mechanism": ({"mechanism": "discrete_gaussian", "delta": 1e-6}, {}),
    "people by a column": ({"row_is_person": False, "person": "who"}, {}),
    "other data": ({}, dict.fromkeys(CITIES, 6)),
}


@pytest.mark.parametrize(("change", "people"), OTHERS.values(), ids=OTHERS)
def test_every_other_question_has_other_noise(change, people):
    """60 noises of ε = 0.5; two independent tables would be equal with a probability below 1e-36."""
    first = values(query.count(visits(PEOPLE), "visits", **ASKED, rng=keyed()))
    other = values(query.count(visits(PEOPLE | people), "visits", **({**ASKED, "rng": keyed()} | change)))[: len(CITIES)]
    noise = [count - 5 for count in first]
    assert noise != [count - {**PEOPLE, **people}[city] for city, count in zip(CITIES, other, strict=True)]


def test_addresses_tell_questions_apart_whose_lists_look_alike():
    """Under one release name, two questions with the same address would share their noise."""
    day = datetime.date(2026, 11, 23)
    lists = [
        (1,),
        ("1",),
        (1, 2),
        ("1, 2",),
        (True,),
        (None,),
        ("None",),
        (day,),
        (day.isoformat(),),
        (day.replace(day=24),),
        (1.0,),
    ]
    asked = [Question("t", ("g",), {"g": one}) for one in lists]
    asked += [
        Question("t", (), {}),
        Question("t", (), {}, (Sum("x", (0, 1)),)),
        Question("t", (), {}, (Sum("x", (0, 2)),)),
    ]
    asked += [Question("t", (), {}, (Mean("x", (0, 1)),)), Question("t", (), {}, where="g = 1")]
    asked += [Question("t", (), {}, (Count(), *one)) for one in ((Sum("x", (0, 1)),), (Mean("x", (0, 1)),), (Sum("x", (0, 2)),))]
    parts = [planned(question, budget(1, None, None, None, question), [1.0, 1.0]).parts for question in asked]
    found = [address(question, part) for question, those in zip(asked, parts, strict=True) for part in those]
    # What a ledger calls several parts together.
    found += [address(question) for question, those in zip(asked, parts, strict=True) if len(those) > 1]
    assert len(set(found)) == len(found)


def test_the_sum_and_the_count_of_a_mean_have_other_noise_than_alone():
    """A mean's sum and count have ε/2, which is another address. If statistics shared noise, the mean would reveal it."""
    con = visits(PEOPLE)
    summed = ASKED | {"column": "spent", "bounds": (0, 14)}
    alone = values(query.sum(con, "visits", **summed, rng=keyed()))
    halved = values(query.sum(con, "visits", **summed | {"eps": 0.25}, rng=keyed()))
    mean = values(query.mean(con, "visits", **summed, rng=keyed()))
    assert len({tuple(alone), tuple(halved), tuple(mean)}) == 3


def test_a_person_in_many_groups_counts_in_the_same_ones_each_time():
    """If groups were drawn afresh, a repetition would return another table and reveal more of the data."""
    con = sqlite3.connect(":memory:")
    con.execute("create table visits (who integer, city text)")
    con.executemany("insert into visits values (?, ?)", [(who, city) for who in range(50) for city in CITIES[:10]])
    asked = {"by": "city", "groups": CITIES[:10], "person": "who", "max_groups": 2, "eps": 200.0}
    first, second = (values(query.count(con, "visits", **asked, rng=keyed())) for _ in range(2))
    assert first == second
    assert sum(first) == 100
    fresh = {tuple(values(query.count(con, "visits", **asked))) for _ in range(3)}
    assert len(fresh) > 1


def test_only_a_keyed_repetition_costs_nothing(tmp_path):
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=2.0)
    con = visits(PEOPLE)
    for spent in (0.5, 0.5, 0.5):
        query.count(con, "visits", **ASKED, rng=keyed(), ledger=ledger)
        assert ledger.total() == spent
    for spent in (1.0, 1.5):
        query.count(con, "visits", **ASKED, ledger=ledger)
        assert ledger.total() == spent
    query.mean(con, "visits", **ASKED, column="spent", bounds=(0, 9), rng=keyed(), ledger=ledger)
    assert ledger.total() == 2.0
    with pytest.raises(sn.BudgetError):
        query.count(con, "visits", **ASKED, ledger=ledger)
    query.mean(con, "visits", **ASKED, column="spent", bounds=(0, 9), rng=keyed(), ledger=ledger)
    assert ledger.total() == 2.0
    assert [row.fingerprint is None for row in ledger.report()] == [False, True, True, False]


def test_a_release_name_used_again_for_other_data_is_refused_and_costs_nothing(tmp_path):
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=2.0)
    query.count(visits(PEOPLE), "visits", **ASKED, rng=keyed(), ledger=ledger)
    with pytest.raises(sn.LedgerError, match="must be of one state of the data") as caught:
        query.count(visits(PEOPLE | {"city 7": 6}), "visits", **ASKED, rng=keyed(), ledger=ledger)
    assert "city 7" not in str(caught.value)
    assert ledger.total() == 0.5


def test_noise_is_drawn_after_the_budget_was_spent(tmp_path, monkeypatch):
    """Nothing is released if the ledger cannot be written."""
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=2.0)
    monkeypatch.setattr(sn.DiscreteLaplace, "release", lambda *_, **__: pytest.fail("noise before the budget"))
    (tmp_path / "ledger.db").unlink()
    with pytest.raises(sn.LedgerError):
        query.count(visits(PEOPLE), "visits", **ASKED, ledger=ledger)
