"""Several statistics in one table: their shares of one ε and δ add up to no more, and the people are counted once.

Evidence: exact fractions; dp_accounting, which composes what every mechanism draws for one person in k groups; the ledger; the
distribution of each number's noise; rows at an ε without noise.
"""

import math
import random
from fractions import Fraction
from functools import reduce
from itertools import product
from operator import add

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.plan import budget
from stairnoise.query.question import question
from stairnoise.query.sources.sqlite import SQLite
from tests.combinations import in_turn, rest_long
from tests.query.persons import visits, visits_of
from tests.statistical.checks import check_distribution

CITIES = ["Bern", "Chur", "Thun"]
PEOPLE = {"Bern": 30, "Chur": 40}
ONE = {"by": "city", "groups": CITIES, "row_is_person": True}
MANY = {"count": True, "mean": {"spent": (0, 10)}, "sum": {"who": (0, 99), "spent": (0, 20)}}
ASKED = ONE | MANY | {"eps": 1}
PARTS = ("count", "mean_spent", "sum_who", "sum_spent")


MECHANISMS = ["discrete_laplace", "discrete_gaussian"]


def keyed(release="visits 2026-11"):
    return sn.KeyedRng(bytes(range(32)), release)


def drawn(table):
    """The mechanism of each part, as the notes have it, with the number of groups for which it draws."""
    return [(eval(f"sn.{one['draws']}", {"sn": sn}), one["k"]) for one in table.about["mechanisms"]]


def numbers_of(size, seed):
    rng = random.Random(seed)
    return {name: rng.choice([1, 2, 3, 0.1, rng.uniform(1e-3, 1e3)]) for name in PARTS[:size]}


LISTED = {"g": ("a", "b")}


@pytest.mark.parametrize(
    ("groups", "mechanism"),
    [(LISTED, None), (LISTED, "discrete_gaussian"), (LISTED, "truncated_discrete_staircase"), ({}, None)],
    ids=["pure", "Gaussian", "truncated", "chosen groups"],
)
def test_shares_never_add_up_to_more_than_the_budget(groups, mechanism):
    """Random budgets and shares, in exact fractions; at most a 2**-50th is lost."""
    rng = random.Random(5)
    delta = 1e-6 if mechanism or not groups else None
    for seed in range(500 if mechanism is None and groups else 30):
        statistics = [("count", None, None), ("mean", "spent", (0, 1)), ("sum", "who", (0, 1)), ("sum", "spent", (0, 1))]
        asked = question(statistics[: 2 + seed % 3], "t", ("g",), groups, person="p", max_groups=2)
        eps, shares = rng.uniform(0.01, 9), numbers_of(2 + seed % 3, seed)
        spent = budget(eps, delta, mechanism, shares, asked)
        given = Fraction(0), Fraction(0)
        for one, share in zip(asked.measured, spent.shares, strict=True):
            made = spent.selection(share, 2) if one.column is None and not groups else spent.for_numbers(share, 1, 2)
            parts = made.guarantee() if one.column is None and not groups else made.guarantee(max_partitions_contributed=2)
            given = given[0] + Fraction(parts.eps), given[1] + Fraction(parts.delta)
            assert math.isclose(parts.eps, eps * shares[one.name] / sum(shares.values()), rel_tol=1e-12)
        for total, whole in zip(given, (eps, delta or 0.0), strict=True):
            assert Fraction(whole) * (1 - Fraction(1, 2**50)) <= total <= Fraction(whole)


@pytest.mark.parametrize(("mechanism", "seed"), rest_long(in_turn(MECHANISMS, range(3)), product(MECHANISMS, range(12))))
def test_all_parts_together_cost_what_the_table_states(mechanism, seed):
    """dp_accounting composes the noise that is drawn, k times for each part, with that part's sensitivity.

    Its losses are rounded up to multiples of the interval: the sum of n losses by at most n intervals. Pure losses use all of ε.
    """
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    rng = random.Random(seed)
    delta = 1e-5 if mechanism == "discrete_gaussian" else None
    who = {"row_is_person": False, "person": "who", "max_groups": rng.choice([1, 2, 3])}
    eps, shares = rng.uniform(0.5, 3), {name: rng.uniform(1, 4) for name in PARTS}
    table = query.table(visits(PEOPLE), **ASKED | who | {"eps": eps, "delta": delta}, shares=shares, mechanism=mechanism)
    interval, losses = 1e-3, []
    grid = {"value_discretization_interval": interval}
    for (made, k), change in zip(drawn(table), (1, 5, 99, 20), strict=True):
        assert k == who["max_groups"]
        if delta is None:
            loss = pld.from_discrete_laplace_mechanism(
                made.eps / made.sensitivity, change, value_discretization_interval=interval
            )
        else:
            loss = pld.from_discrete_gaussian_mechanism(math.sqrt(made.sigma2), change, **grid)
        losses += [loss] * k
    whole = reduce(lambda one, other: one.compose(other), losses)
    assert whole.get_delta_for_epsilon(eps + len(losses) * interval) <= (delta or 0) + 1e-11
    if delta is None:
        assert whole.get_epsilon_for_delta(0) >= eps * (1 - 1e-9)


def test_the_parts_of_a_table_are_those_of_the_librarys_accounting():
    who = {"row_is_person": False, "person": "who", "max_groups": 3}
    table = query.table(visits(PEOPLE), **ASKED | who, mechanism="discrete_laplace")
    loss = reduce(add, [made.privacy_loss().compose(k) for made, k in drawn(table)])
    assert math.isclose(loss.eps, 1, rel_tol=1e-12)


def test_each_number_has_the_noise_of_its_share():
    """2 000 groups, shares 2, 1, 1: noise is geometric at ε times its share over the sensitivity. False alarms: 1e-6 each."""
    cities = [f"city {number}" for number in range(2000)]
    con = visits_of([(city, 3) for city in cities])
    asked = {"by": "city", "groups": cities, "row_is_person": True, "eps": 2, "mechanism": "discrete_laplace", "all_digits": True}
    asked |= {"count": True, "sum": {"spent": (0, 3)}, "mean": {"spent": (0, 20)}, "shares": {"count": 2}}
    table = query.table(con, **asked, rng=sn.SeededRng(11, allow_release=True))
    frame = {name: np.array([row[place] for row in table]) for place, name in enumerate(table.columns)}
    for noise, rate in ((frame["count"] - 1, 1.0), (frame["sum_spent"] - 3, 0.5 / 3)):
        steps = np.arange(-80, 81)
        weights = (1 - math.exp(-rate)) / (1 + math.exp(-rate)) * np.exp(-rate * np.abs(steps))
        found = np.bincount(np.clip(noise, -80, 80) + 80, minlength=161)
        check_distribution(found, weights / weights.sum(), 1e-6)
    # The sum behind a mean is its difference from the centre times the count of the same row: a whole number, 3 - 10 on average.
    sums = (frame["mean_spent"] - 10) * np.maximum(frame["count"], 1)
    inside = (frame["mean_spent"] > 0) & (frame["mean_spent"] < 20)
    assert inside.sum() > 200
    assert np.abs(sums - np.round(sums))[inside].max() < 1e-9


def test_people_are_counted_once(monkeypatch):
    """Four parts draw four times, and the engine is asked once."""
    calls = []
    release, rows = sn.DiscreteLaplace.release, SQLite._rows
    monkeypatch.setattr(sn.DiscreteLaplace, "release", lambda *one, **more: calls.append("draw") or release(*one, **more))
    monkeypatch.setattr(SQLite, "_rows", lambda *one: calls.append("ask") or rows(*one))
    means = {"spent": (0, 10), "who": (0, 100)}
    query.table(visits(PEOPLE), **ASKED | {"mean": means, "sum": {"spent": (0, 20)}})
    assert calls == ["ask", *["draw"] * 4]


def test_one_statistic_is_the_same_question_as_alone(tmp_path):
    """The tables of `count`, `sum` and `mean` are those of `table`, and a keyed repetition costs nothing."""
    ledger, con = sn.Ledger(tmp_path / "ledger.db", budget=9), visits(PEOPLE)
    asked = ONE | {"eps": 1, "rng": keyed(), "ledger": ledger}
    one = {"column": "spent", "bounds": (0, 10)}
    for alone, together in (
        (query.count(con, **asked), {"count": True}),
        (query.sum(con, **asked, **one), {"sum": {"spent": (0, 10)}}),
        (query.mean(con, **asked, **one), {"mean": {"spent": (0, 10)}}),
    ):
        spent = ledger.total()
        table = query.table(con, **asked, **together)
        assert (list(table), table.columns, table.about) == (list(alone), alone.columns, alone.about)
        assert ledger.total() == spent


def test_rows_without_a_number():
    """At ε = 10⁴ there is no noise. With means, a row counts if it has both numbers; without, a null adds nothing to its sum."""
    con = visits_of([("Bern", 7), ("Bern", None), ("Chur", 9)])
    con.execute("alter table visits add column age integer")
    con.execute("update visits set age = 40 + who where city = 'Bern'")
    asked = ONE | {"eps": 1e4}
    table = query.table(con, **asked, count=True, sum={"spent": (2, 8), "age": (50, 60)})
    assert [(row[0], row[1], row[3], row[5]) for row in table] == [("Bern", 2, 7, 100), ("Chur", 1, 8, 0), ("Thun", 0, 0, 0)]
    assert table.about["counted"] == "all rows"
    table = query.table(con, **asked, count=True, mean={"spent": (2, 8), "age": (0, 99)}, sum={"who": (0, 9)})
    assert [(row[0], row[1], row[3], row[7], row[11]) for row in table][:2] == [("Bern", 1, 7, 40, 0), ("Chur", 0, 5, 49, 0)]
    assert table.about["counted"] == "rows with a number in spent and age"
    assert [row[-1] for row in table] == [False, True, True]
    table = query.table(con, **asked, sum={"spent": (2, 8), "age": (0, 60)})
    assert table.about["counted"] == "rows with a number in spent or age"


COLUMNS = (
    *("city", "count", "count_error_bound"),
    *("mean_spent", "mean_spent_error_bound", "mean_spent_low", "mean_spent_high"),
    *("sum_who", "sum_who_error_bound", "sum_spent", "sum_spent_error_bound", "may_be_empty"),
)


def test_columns_and_notes(tmp_path):
    table = query.table(visits(PEOPLE), **ASKED, shares={"count": 2, "sum_who": 0.5})
    assert table.columns == COLUMNS
    assert table.headings[:7] == ("city", "count", "±", "mean_spent", "±", "low", "high")
    assert [(one["of"], one["share"]) for one in table.about["mechanisms"]] == [
        ("count", "4/9"),
        ("sum of differences of spent from 5", "2/9"),
        ("sum of who", "1/9"),
        ("sum of spent", "2/9"),
    ]
    assert table.about["statistics"][1] == {
        "statistic": "mean",
        "column": "spent",
        "bounds": [0, 10],
        "unit": 1,
        "columns": dict(zip(("value", "error_bound", "low", "high", "may_be_empty"), (*COLUMNS[3:7], COLUMNS[-1]), strict=True)),
    }
    means = query.table(visits(PEOPLE), **ONE, eps=1, mean={"spent": (0, 9), "who": (0, 9)}).about["statistics"]
    assert [one["columns"]["may_be_empty"] for one in means] == ["may_be_empty"] * 2
    for library in ("pandas", "polars"):
        pytest.importorskip(library)
        assert tuple(getattr(table, f"to_{library}")().columns) == COLUMNS
    table.write(tmp_path / "t.csv")
    assert (tmp_path / "t.csv.json").exists()


def test_the_check_in_the_notes_gives_every_bound():
    table = query.table(visits(PEOPLE), **ASKED, all_digits=True)
    first, *lines = table.about["check"]
    names: dict[str, object] = {}
    exec(first, names)
    # The count has a line for itself and one for the means, which need another confidence.
    assert [line.partition("  # ")[2] for line in lines] == [
        *("count", "count"),
        *("sum of differences of spent from 5", "sum of who", "sum of spent"),
    ]
    found = [eval(line, names)[1] for line in lines]
    assert found[1] > found[0]
    for place, bound in ((2, found[0]), (8, found[3]), (10, found[4])):
        assert {row[place] for row in table} == {bound}


def test_names_that_clash():
    con = visits_of([])
    con.execute("create table t (count integer, mean_x_low integer, x integer, x_low integer)")
    groups = {"count": [1], "mean_x_low": [2]}
    asked = {"by": ["count", "mean_x_low"], "groups": groups, "row_is_person": True, "eps": 1}
    table = query.table(con, "t", **asked, count=True, mean={"x": (0, 1), "x_low": (0, 1)})
    assert len(set(table.columns)) == len(table.columns) == 2 + 2 + 4 + 4 + 1
    assert [name for name in table.columns if name.startswith("private_")] == [
        "private_count",
        "private_mean_x_low",
        "private_private_mean_x_low",
    ]


def test_negative_counts_and_sums_become_0_and_means_stay():
    cities = [f"city {number}" for number in range(300)]
    asked = ASKED | {"groups": cities, "eps": 0.4}
    plain, table = (
        query.table(visits(PEOPLE), **asked, nonnegative=wanted, rng=sn.SeededRng(5, allow_release=True))
        for wanted in (False, True)
    )
    of_means = slice(3, 7)
    assert [row[of_means] for row in table] == [row[of_means] for row in plain]
    for place in (1, 7, 9):
        assert min(row[place] for row in plain) < 0
        assert [row[place] for row in table] == [max(row[place], 0) for row in plain]


def test_groups_are_chosen_once(tmp_path):
    """The count that chooses groups is the count of the table and of its means; it takes its share of ε and all of δ."""
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=9, delta=1e-3)
    con = visits({"a": 300, "b": 400, "c": 1})
    asked = {"by": "city", "row_is_person": True, "eps": 4, "delta": 1e-6, "ledger": ledger}
    shares = {"count": 2, "mean_spent": 4, "sum_who": 1, "sum_spent": 1}
    table = query.table(con, **asked, **MANY, shares=shares, confidence=1 - 1e-9)
    assert [row[0] for row in table] == ["a", "b"]
    (selection, _), *others = drawn(table)
    assert (selection.eps, selection.delta) == (1, 1e-6)
    assert [made.eps for made, _ in others] == [2, 0.5, 0.5]
    assert all(abs(count - true) <= bound for (_, count, bound, *_), true in zip(table, (300, 400), strict=True))
    assert [row[-1] for row in table] == [False, False]
    (row,) = ledger.report()
    assert (row.eps, row.delta) == (4, 1e-6)
    without = query.table(con, **asked, sum={"who": (0, 99), "spent": (0, 20)})
    assert without.columns == ("city", *COLUMNS[7:11])
    assert [one["share"] for one in without.about["mechanisms"]] == ["1/3"] * 3


def test_one_row_of_the_ledger_pays_for_all_before_rows_are_read(monkeypatch, tmp_path):
    ledger, seen = sn.Ledger(tmp_path / "ledger.db", budget=1.5), []
    rows = SQLite._rows
    monkeypatch.setattr(SQLite, "_rows", lambda *one: seen.append(ledger.total()) or rows(*one))
    first = query.table(visits(PEOPLE), **ASKED, rng=keyed(), ledger=ledger)
    assert seen == [1]
    (row,) = ledger.report()
    assert (row.eps, row.delta, row.max_partitions_contributed) == (1, 0, 4)
    assert row.statistic.startswith("count, mean_spent, sum_who, sum_spent from visits by city (question ")
    assert first == query.table(visits(PEOPLE), **ASKED, rng=keyed(), ledger=ledger)
    assert ledger.total() == 1
    with pytest.raises(sn.LedgerError, match="must be of one state of the data"):
        query.table(visits(PEOPLE | {"Chur": 41}), **ASKED, rng=keyed(), ledger=ledger)
    for change in ({"rng": None}, {"shares": {"count": 2}}, {"sum": {}}):
        with pytest.raises(sn.BudgetError):
            query.table(visits(PEOPLE), **ASKED | {"rng": keyed(), "ledger": ledger} | change)
    assert (ledger.total(), len(seen)) == (1, 3)


def test_keyed_tables_of_other_questions_have_other_noise():
    cities = [f"city {number}" for number in range(60)]
    asked = ASKED | {"groups": cities, "rng": keyed()}
    changes = ({}, {"sum": {"who": (0, 99)}, "shares": {"count": 1.5}}, {"mean": {"spent": (0, 11)}}, {"where": "who >= 0"})
    counts = [tuple(row[1] for row in query.table(visits(PEOPLE), **asked | change)) for change in changes]
    assert len(set(counts)) == len(changes)


def test_a_composed_ledger_composes_the_parts_of_a_table(tmp_path):
    """The parts have Gaussian noise, whose composed losses are less than the sum of their ε."""
    gaussian = ASKED | {"mechanism": "discrete_gaussian", "delta": 1e-6, "max_groups": 2, "person": "who", "row_is_person": False}
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=9, delta=1e-5, composed=True)
    table = query.table(visits(PEOPLE), **gaussian, ledger=ledger)
    loss = reduce(add, [made.privacy_loss().compose(k) for made, k in drawn(table)])
    assert math.isclose(ledger.total(), loss.eps_for_delta(1e-5), rel_tol=1e-6)
    assert ledger.total() < 0.7
    assert sn.Ledger(tmp_path / "ledger.db").total() == ledger.total()


REFUSED = {
    "nothing": ({"count": False, "mean": None, "sum": {}}, "count, mean, sum, median or quantile must be given"),
    "a list of columns": ({"mean": ["spent"]}, "mean must be a dict from columns to bounds, got a value of type list"),
    "a column that is none": ({"sum": {3: (0, 1)}}, "sum must be a string, got 3"),
    "no bounds": ({"sum": {"spent": None}}, "bounds of 'spent' must be given for a sum"),
    "bounds the wrong way": ({"mean": {"spent": (1, 0)}}, "bounds of 'spent' must be finite, and the lower one must come first"),
    "one column twice": ({"sum": {"spent": (0, 1), "Spent": (0, 2)}}, "sum must name every column once, got 'spent' twice"),
    "shares in a list": ({"shares": [1, 2]}, "shares must be a dict from names to numbers"),
    "a share of nothing": (
        {"shares": {"mean_spend": 1}},
        "shares must be of 'count', .*got one of 'mean_spend'; did you mean",
    ),
    "a share of 0": ({"shares": {"count": 0}}, "shares of 'count' must be finite and greater than 0, got 0"),
    "a share that is too small": ({"shares": {"count": 1e-300}}, "eps must leave noise that fits 64-bit integers, got 1"),
    "counts only": ({"mechanism": "discrete_canonical", "delta": 1e-6}, "'discrete_canonical' is for counts, got a mean"),
    "a negative bound": ({"sum": {"spent": (-1, 1)}, "nonnegative": True}, "negative lower bound, -1"),
    "an unknown column": ({"sum": {"spend": (0, 1)}}, "sum must name a column of 'visits', got 'spend'; did you mean 'spent'"),
    "a text to average": ({"mean": {"city": (0, 1)}}, "mean must be of numbers; 'city' is declared as TEXT"),
}


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, change, message):
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=1)
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=message):
        query.table(visits(PEOPLE), **ASKED | {"ledger": ledger} | change)
    assert ledger.total() == 0
