"""Quantiles: the database counts people at candidates, one person moves costs by little, and candidates are selected by costs.

Evidence: a plain program; tables that Hypothesis chooses, with and without one person, on every engine; exact probabilities;
wrong statements, which fail.
"""

import itertools
import json
import math
import sqlite3
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stairnoise as sn
from stairnoise import query
from stairnoise.quantiles.ranks import Target, Weights
from stairnoise.query.plan import budget, planned
from stairnoise.query.question import Question, question
from stairnoise.query.sources import open_source
from stairnoise.query.sources.statement import histogram
from stairnoise.query.statistics import Count, Median, Quantile, Sum
from tests.query.oracle import DIGESTS, histograms
from tests.query.persons import visits_of
from tests.query.test_person import COLUMNS, LISTED, PEOPLE, rows

W = 720_720
LATTICES = [((-3.0, 5.0), 1.0), ((0.0, 4.0), 0.5), ((-6.5, -0.25), 0.25), ((2.0, 7.0), 2.0), ((-1e9, 2.0**40), 2.0**35)]


@st.composite
def quantiles(draw):
    """Quantiles of one or two columns, perhaps beside a count and a sum."""
    found = draw(st.sampled_from([[], [Count()], [Sum("v", (0.0, 4.0))]]))
    for column in draw(st.sampled_from(["v", "w", "vw"])):
        bounds, step = draw(st.sampled_from(LATTICES))
        shares = draw(st.lists(st.sampled_from([Fraction(k, 10) for k in range(11)]), min_size=1, max_size=3, unique=True))
        found = [*found, *(Quantile(column, bounds, q, step) for q in shares)]
    return found


def asked(person, max_groups, statistics):
    return Question("people", ("g", "h"), dict(zip(("g", "h"), LISTED, strict=True)), tuple(statistics), None, person, max_groups)


def found(engine, table, wanted, key=bytes(32)):
    """Return the weights of each group at its candidates, for each column, and the candidates."""
    engine.table("people", COLUMNS, table)
    with engine.source() as source:
        checked = source.checked(wanted)
        answers = source.answers(checked, order=key)
    return answers.histograms, checked.lattices


def as_dicts(histogram):
    return [dict(zip(candidates.tolist(), weights.tolist(), strict=True)) for candidates, weights in histogram]


def require_the_plain_program(engine, table, wanted, answers, lattices, key):
    people = [(row[0], row[1:3], row[3:]) for row in table]
    for own, ranks, lattice in zip(answers, wanted.ranked, lattices, strict=True):
        assert as_dicts(own) == histograms(
            people,
            LISTED,
            "vw".index(ranks.column),
            lattice.points.tolist(),
            max_groups=None if wanted.person is None else wanted.max_groups,
            key=key,
            digest=DIGESTS[engine.name],
            person=1 if wanted.person is None else W,
        )


def require_few_changes(wanted, lattices, here, there):
    """Require that one person changes few groups, and in each the costs of all candidates by at most the sensitivity."""
    plan = planned(wanted, budget(1, None, None, None, wanted), [1.0], lattices)
    for part in plan.parts[len(wanted.numbers) :]:
        moved = 0
        for one, other in zip(here[part.place], there[part.place], strict=True):
            # What a tree of counts needs.
            sizes = [np.bincount(*own[:1], weights=own[1], minlength=len(part.lattice.points)) for own in (one, other)]
            assert np.abs(np.subtract(*sizes)).sum() <= part.plan.person
            changed = [costs(part, own) for own in (one, other)]
            for rank, before, after in zip(part.plan.ranks, *changed, strict=True):
                target = Target(rank, part.plan.r)
                assert np.abs(before - after).max() <= target.sensitivity("add_remove", part.plan.person)
            moved += any((before != after).any() for before, after in zip(*changed, strict=True))
        assert moved <= wanted.max_groups


def costs(part, own):
    """Return the costs of all candidates for each quantile of a group."""
    weights = Weights(*own, 0, len(part.lattice.points) - 1)
    runs = [weights.runs(Target(rank, part.plan.r)) for rank in part.plan.ranks]
    return [np.repeat(found, sizes) for _, sizes, found in runs]


@pytest.mark.parametrize("examples", [4, pytest.param(100, marks=pytest.mark.long)])
def test_removing_a_person_changes_costs_by_little(engine, examples):
    @settings(max_examples=engine.few(examples), deadline=None, derandomize=True, database=None)
    @given(rows, st.sampled_from(PEOPLE), st.integers(1, 3), quantiles(), st.binary(min_size=32, max_size=32))
    def check(table, person, max_groups, wanted, key):
        wanted = asked("who", max_groups, wanted)
        both = []
        for remaining in (table, [row for row in table if row[0] != person]):
            answers, lattices = found(engine, remaining, wanted, key)
            require_the_plain_program(engine, remaining, wanted, answers, lattices, key)
            both.append(answers)
        require_few_changes(wanted, lattices, *both)

    check()


@pytest.mark.parametrize("examples", [3, pytest.param(30, marks=pytest.mark.long)])
def test_every_row_is_a_person(engine, examples):
    @settings(max_examples=engine.few(examples), deadline=None, derandomize=True, database=None)
    @given(rows, quantiles())
    def check(table, wanted):
        wanted = asked(None, 1, wanted)
        both = []
        for remaining in (table, table[1:]):
            answers, lattices = found(engine, remaining, wanted)
            require_the_plain_program(engine, remaining, wanted, answers, lattices, bytes(32))
            both.append(answers)
        require_few_changes(wanted, lattices, *both)

    check()


WRONG = {
    "an order among all people": ("dense_rank() over (partition by p order by", "dense_rank() over (order by"),
    "a rank for each row": ("dense_rank()", "row_number()"),
    "weights without a person's order": (
        "rows between unbounded preceding and",
        "rows between current row and",
    ),
    "a weight for each row": ("as weight, dense_rank()", f"+ {W} * (n - 1) as weight, dense_rank()"),
}


@pytest.mark.parametrize(("right", "wrong"), WRONG.values(), ids=WRONG)
def test_a_wrong_statement_breaks_the_bounds(engine, monkeypatch, right, wrong):
    """The properties above can fail, for tables where people have several rows in each group."""
    wanted = asked("who", 1, [Median("w", (0.0, 9.0), Fraction(1, 2), 1.0)])
    table = [(str(who % 31), group, 1, 1, float(who % 3)) for who in range(93) for group in ("a", "b", None)]
    # 17 rows of one person share 720 720 units with a rest.
    table += [("0", group, 1, 1, 2.0) for group in ("a", "b", None)] * 14

    def check():
        both = []
        for remaining in (table, [row for row in table if row[0] != "0"]):
            answers, lattices = found(engine, remaining, wanted)
            require_the_plain_program(engine, remaining, wanted, answers, lattices, bytes(32))
            both.append(answers)
        require_few_changes(wanted, lattices, *both)

    check()

    def broken(*arguments):
        text, parameters = histogram(*arguments)
        if right not in text:
            raise LookupError(right)
        return text.replace(right, wrong), parameters

    monkeypatch.setattr("stairnoise.query.sources.statement.histogram", broken)
    with pytest.raises(AssertionError):
        check()


# Values


KINDS = {
    "SQLite": {"bigint": int, "double": float, "": float},
    "DuckDB": {"bigint": int, "hugeint": int, "float": float, "double": float, "decimal(38,3)": Decimal, "utinyint": abs},
    "PostgreSQL": {"bigint": int, "double": float, "real": float, "numeric": Decimal, "numeric(20,3)": Decimal},
    "Spark": {"bigint": int, "float": float, "double": float, "decimal(38,3)": Decimal},
}
NUMBERS = [0, 1, 2, 3, -1, 2.5, 0.5, 1.75, 6, 100, -100, -0.0]
HOSTILE = {int: [2**63 - 1, -(2**63)], float: [math.inf, -math.inf, 1e308, -1e308, 5e-324, -5e-324], Decimal: [10**16, -(10**16)]}


def test_every_type_and_value(engine):
    """The candidates are 0, 0.5, ..., 5 and 0, 1, ..., 5; nothing fails, and null and NaN are left out."""
    for kind, of in KINDS[engine.name].items():
        values = [of(value) for value in NUMBERS if of not in (int, abs) or value == int(value)]
        values = [abs(value) for value in values] if of is abs else [*values, *HOSTILE[of]]
        if kind == "float" or kind == "real":
            values = [value for value in values if (not 0 < abs(value) < 1e-40 and abs(value) < 1e39) or math.isinf(value)]
        if of is abs:
            values = [int(value) for value in values]
        others = [None, *([math.nan] if of is float and engine.name != "SQLite" else [])]
        engine.table("t", {"v": kind}, [(value,) for value in [*values, *others]])
        for step in (0.5, 1.0):
            wanted = Question("t", (), {}, (Median("v", (0.0, 5.0), Fraction(1, 2), step),))
            with engine.source() as source:
                ((own,),) = source.answers(wanted).histograms
            points = np.arange(0, 5 + step, step).tolist()
            plain = [(None, (), (Fraction(value) if abs(value) < math.inf else value,)) for value in values]
            assert as_dicts([own]) == histograms(plain, [], 0, points), kind


@pytest.mark.parametrize("engine", ["PostgreSQL"], indirect=True)
def test_numerics_beyond_a_double(engine):
    values = [Decimal("1e400"), Decimal("-1e400"), Decimal("1e-400"), Decimal("NaN"), Decimal("Infinity"), Decimal("-Infinity")]
    engine.table("t", {"v": "numeric"}, [(value,) for value in [*values, Decimal("1.26"), None]])
    with engine.source() as source:
        ((own,),) = source.answers(Question("t", (), {}, (Median("v", (-1.0, 4.0), Fraction(1, 2), 0.1),))).histograms
    assert as_dicts([own]) == [{0: 2, 10: 1, 23: 1, 50: 2}]


@pytest.mark.parametrize(
    ("bounds", "step"),
    [((0.0, 1.0), 0.1), ((1e15, 1e15 + 2), 0.25), ((-(2.0**100), 2.0**100), None), ((0.0, 2.0**-90), None), ((3.0, 4.0), 7.0)],
)
def test_every_value_is_near_its_candidate(engine, bounds, step):
    """Candidates themselves, halves between them, and values far away, in steps that binary numbers do not hold."""
    wanted = Question("t", (), {}, (Median("v", bounds, Fraction(1, 2), step),))
    engine.table("t", {"v": "double"}, [])
    with engine.source() as source:
        (lattice,) = source.checked(wanted).lattices
    points = lattice.points
    for place in sorted({0, len(points) // 3, len(points) - 1}):
        value = float(points[place])
        engine.table("t", {"v": "double"}, [(value,), (value + float(lattice.step) / 5,), (value - float(lattice.step) / 5,)])
        with engine.source() as source:
            ((own,),) = source.answers(wanted).histograms
        assert as_dicts([own]) == [{place: 3}]


# A release


CITIES = ["Bern", "Chur", "Thun"]
ROWS = [("Bern", number) for number in range(60)] + [("Chur", 18)] * 90
ONE = {"by": "city", "groups": CITIES, "row_is_person": True}
OF = {"column": "spent", "bounds": (0, 100)}


def keyed(release="visits 2026-11"):
    return sn.KeyedRng(bytes(range(32)), release)


def test_at_a_large_eps_the_true_quantiles_come_out():
    table = query.quantile(visits_of(ROWS), **ONE, **OF, q=[0.25, 0.5, 0.9], eps=1e4)
    assert table.columns == ("city", "quantile_spent_0.25", "quantile_spent_0.5", "quantile_spent_0.9")
    # Of 60 different values each quantile is between two of them.
    assert table[0][1] in (14, 15)
    assert table[1] == ("Chur", 18, 18, 18)
    assert query.median(visits_of(ROWS), **ONE, **OF, eps=1e4)[1] == ("Chur", 18)
    steps = query.median(visits_of(ROWS), **ONE, **OF, step=0.5, eps=1e4)
    assert steps[1] == ("Chur", 18.0)
    assert steps.texts()[1] == ("Chur", "18.0")


def test_many_quantiles_of_few_candidates_are_read_from_a_tree():
    con = sqlite3.connect(":memory:")
    con.execute("create table t (who integer, age integer)")
    con.executemany("insert into t values (?, ?)", [(row // 2, row % 100) for row in range(4000)])
    asked = {"column": "age", "q": [n / 10 for n in range(1, 10)], "bounds": (0, 120), "person": "who"}
    # 9 and 10 are both first deciles.
    exact = query.quantile(con, **asked, eps=1e6)[0]
    assert all(value in (10 * n + 9, 10 * n + 10) for n, value in enumerate(exact))
    (mechanism,) = query.quantile(con, **asked, eps=1).about["mechanisms"]
    assert mechanism["draws"] == "DiscreteLaplace(eps=0.5, sensitivity=1) for counts, and again for runs"
    same = [query.quantile(con, **asked, eps=1, rng=sn.KeyedRng(bytes(32), "ages"))[0] for _ in range(2)]
    assert same[0] == same[1]


def test_persons_have_one_vote_each():
    """One person with a hundred rows of 90, and two with one row of 10: the median of people is 10."""
    con = visits_of([("Bern", 90)] * 100 + [("Bern", 10)] * 2)
    con.execute("update visits set who = 0 where spent = 90")
    asked = {"by": "city", "groups": ["Bern"], **OF, "eps": 1e4}
    of_people = query.median(con, **asked, person="who")
    assert of_people[0] == ("Bern", 10)
    assert of_people.about["counted"] == "rows with a number in spent, which share one vote of their person in each group"
    assert query.median(con, **asked, row_is_person=True)[0] == ("Bern", 90)


def test_the_distribution_of_a_median():
    """Evidence: exact probabilities of permute-and-flip at ε/K; chi-square for 600 groups of five people."""
    cities = [f"city {number}" for number in range(600)]
    con = visits_of([(city, spent) for city in cities for spent in (0, 1, 1, 3, 4)])
    asked = {"by": "city", "groups": cities, "column": "spent", "bounds": (0, 4), "person": "who", "max_groups": 3, "eps": 6}
    table = query.median(con, **asked, rng=sn.SeededRng(3, allow_release=True))
    costs = Target(1, 2).costs(np.array([0, 1, 3, 3, 4]), np.array([1, 3, 3, 4, 5]), 5)
    expected = 600 * sn.PermuteAndFlip(2.0, 1.0).probabilities(costs)
    found = np.bincount([row[1] for row in table], minlength=5)
    # 4 degrees of freedom: a false alarm of other seeds has a chance of 1e-6.
    assert ((found - expected) ** 2 / expected).sum() < 33.4


def joint(counts, plan):
    """The probabilities of all results of two groups."""
    target = Target(1, 2)
    made = sn.PermuteAndFlip(plan.eps, float(target.sensitivity("add_remove", plan.person)))
    chances = []
    for own in counts:
        upto, weights = plan.person * np.cumsum(own), plan.person * np.array(own)
        chances.append(made.probabilities(target.costs(upto - weights, upto, int(upto[-1]))))
    return np.multiply.outer(*chances)


@pytest.mark.parametrize("wrong", [False, True])
def test_a_person_in_two_groups_is_protected(wrong):
    """Evidence: exhaustive, for up to four people at three candidates in each of two groups; without K the loss is too large."""
    asked = question([("median", "v", (0, 2), 0.5, 1)], "t", ("g",), {"g": ("a", "b")}, person="who", max_groups=2)
    with open_source(visits_of([])) as source:
        lattice = source.checked(Question("visits", (), {}, (Median("spent", (0.0, 2.0), Fraction(1, 2), 1.0),))).lattices
    (part,) = planned(asked, budget(1, None, None, None, asked), [], lattice).parts
    plan = part.plan._replace(eps=part.eps) if wrong else part.plan
    worst, data = 0.0, [own for own in itertools.product(range(5), repeat=3) if sum(own) <= 4]
    people = {own: joint([own, own], plan) for own in data}
    for own in data:
        here = joint([own, own], plan)
        for at in range(3):
            other = tuple(count + (place == at) for place, count in enumerate(own))
            there = people.get(other)
            there = joint([other, other], plan) if there is None else there
            worst = max(worst, np.abs(np.log(here / there)).max())
    assert (worst > 1 + 1e-9) == wrong
    assert worst > 0.5


def test_the_budget_and_its_notes(tmp_path):
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=3)
    asked = {"by": "city", "groups": CITIES, "person": "who", "max_groups": 3, "eps": 1.5, "ledger": ledger}
    table = query.table(
        visits_of(ROWS),
        **asked,
        count=True,
        median={"spent": (0, 100)},
        quantile={("who", (0.25, 0.5, 0.75)): (0, 99)},
        steps={"who": 3},
        shares={"median_spent": 3},
    )
    assert table.columns == (
        *("city", "count", "count_error_bound"),
        *("median_spent", "quantile_who_0.25", "quantile_who_0.5", "quantile_who_0.75"),
    )
    parts = table.about["mechanisms"]
    assert [(part["of"], part["share"], part["k"]) for part in parts] == [
        ("count", "1/5", 3),
        ("median of spent", "3/5", 3),
        ("quantiles 0.25, 0.5, 0.75 of who", "1/5", 3),
    ]
    names = {"PermuteAndFlip": sn.PermuteAndFlip, "ExponentialMechanism": lambda eps: eps}
    eps = [eval(part["draws"].split(" at ")[0], names) for part in parts[1:]]
    assert 3 * eps[0].eps <= 0.9
    assert math.isclose(3 * eps[0].eps, 0.9)
    assert eps[0].sensitivity == 0.5
    assert 2 * 3 * eps[1] <= 0.3
    assert math.isclose(2 * 3 * eps[1], 0.3)
    (row,) = ledger.report()
    assert (row.eps, row.delta, row.total) == (1.5, 0, 1.5)
    assert row.statistic.startswith(
        "count, median_spent, quantile_who_0.25, quantile_who_0.5, quantile_who_0.75 from visits by city"
    )
    first, *lines = table.about["check"]
    exec(first, names)
    for line, one in zip(lines[1:], [table.about["statistics"][place] for place in (1, 2)], strict=True):
        assert eval(line, names).rank_bound == one["rank_bound"]
        assert eval(line, names).people_needed == one["people_needed"]
    assert "Each private median of spent is within " in table.about["error_bound"]


def test_one_median_costs_its_eps(tmp_path):
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=3)
    query.median(visits_of(ROWS), by="city", groups=CITIES, person="who", max_groups=3, **OF, eps=0.7, ledger=ledger)
    (row,) = ledger.report()
    assert (row.eps, row.delta, row.max_partitions_contributed) == (0.7, 0, 3)
    assert row.statistic.startswith("median_spent from visits by city (question ")
    assert row.mechanism.startswith("PermuteAndFlip(eps=0.23333333")


def test_deltas_are_of_the_other_parts():
    asked = {"count": True, "median": {"spent": (0, 100)}, "mechanism": "discrete_gaussian", "delta": 1e-6}
    (count, _) = query.table(visits_of(ROWS), **ONE, **asked, eps=1).about["mechanisms"]
    alone = query.count(visits_of(ROWS), **ONE, mechanism="discrete_gaussian", delta=1e-6, eps=0.5).about["mechanisms"][0]
    assert count["mechanism"] == alone["mechanism"]


def test_unlisted_groups_are_chosen_first():
    con = visits_of([("big", 7)] * 500 + [("small", 9)] + [("large", 40)] * 400)
    table = query.median(con, by="city", row_is_person=True, **OF, eps=8, delta=1e-6)
    assert list(table) == [("big", 7), ("large", 40)]
    assert table.about["mechanisms"][0]["of"] == "count, and which groups are shown"
    several = query.table(con, by="city", row_is_person=True, eps=1e4, delta=1e-6, count=True, median={"spent": (0, 100)})
    assert [(row[0], row[1], row[3]) for row in several] == [("big", 500, 7), ("large", 400, 40)]


def test_rows_without_a_number_are_left_out_of_their_quantile_only():
    con = visits_of([("Bern", 7), ("Bern", None), ("Bern", None), ("Chur", None)])
    table = query.table(con, **ONE, eps=1e4, count=True, median={"spent": (0, 10)})
    assert [row[1] for row in table] == [3, 1, 0]
    assert table[0][3] == 7
    assert table.about["counted"] == "all rows; for quantiles, rows with a number in their column"
    assert query.median(con, **ONE, column="spent", bounds=(0, 10), eps=1).about["counted"] == "rows with a number in spent"


def test_empty_groups_have_any_candidate():
    for q, n in ((0.5, 1000), ([0.4, 0.6], 60)):
        asked = {"by": "city", "groups": [f"city {number}" for number in range(n)], "row_is_person": True, "eps": 9}
        asked |= {"column": "spent", "bounds": (0, 3)}
        table = query.quantile(visits_of([]), **asked, q=q, rng=sn.SeededRng(1, allow_release=True))
        counts = np.bincount([row[-1] for row in table], minlength=4)
        # A false alarm has a chance below 1e-6: six standard deviations.
        assert counts.min() > (1 if isinstance(q, list) else 160)


def test_values_beyond_the_data_at_the_ends():
    said = query.quantile(visits_of(ROWS), **ONE, **OF, q=[0, 1], eps=1).about["error_bound"]
    assert "anywhere below the smallest or above the largest value, so wide bounds" in said


# Keys


def test_keyed_quantiles_are_the_same_for_the_same_question_and_data(tmp_path):
    duckdb, pandas = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    con = visits_of(ROWS)
    frame = pandas.read_sql("select * from visits", con)
    duck = duckdb.connect()
    duck.execute("create table visits as select who, city, spent from frame order by who desc")
    for asked in (OF | {"q": 0.5}, OF | {"q": [0.1, 0.5]}):
        own = [
            list(query.quantile(source, "visits", **ONE, **asked, step=1, eps=0.02, rng=keyed()))
            for source in (con, duck, frame, frame[::-1], con)
        ]
        assert own == [own[0]] * len(own)
        fresh = [list(query.quantile(con, **ONE, **asked, step=1, eps=0.02)) for _ in range(4)]
        assert any(one != own[0] for one in fresh)


CHANGES = {
    "another release": {"rng": keyed("visits 2026-12")},
    "another eps": {"eps": 0.011},
    "another quantile": {"q": 0.51},
    "another step": {"step": 2},
    "other bounds": {"bounds": (0, 101)},
    "another condition": {"where": "spent >= 0"},
    "people by a column": {"row_is_person": False, "person": "who"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_other_question_has_other_noise(change):
    """40 groups of the same people: results of two questions are equal by chance with a probability far below 1e-9."""
    cities = [f"city {number}" for number in range(40)]
    con = visits_of([(city, 50) for city in cities])
    asked = ONE | OF | {"q": 0.5, "groups": cities, "eps": 0.01, "rng": keyed()}
    first, other = ([row[1] for row in query.quantile(con, **asked | one)] for one in ({}, change))
    assert len(set(first)) > 10, "every group has noise of its own"
    assert sum(one == two for one, two in zip(first, other, strict=True)) < 10


def test_other_data_have_independent_noise():
    cities = [f"city {number}" for number in range(40)]
    asked = ONE | OF | {"groups": cities, "eps": 0.01, "rng": keyed()}

    def medians(people):
        return [row[1] for row in query.median(visits_of([(city, 50) for city in cities for _ in range(people)]), **asked)]

    assert sum(one == two for one, two in zip(medians(1), medians(2), strict=True)) < 10


def test_keys_of_generators_are_no_fingerprints_of_a_ledger(tmp_path, monkeypatch):
    """The keys are secret, and a ledger's fingerprints are not."""
    keys, real = [], sn.SecureRng.from_key
    monkeypatch.setattr(sn.SecureRng, "from_key", lambda key: keys.append(key.hex()) or real(key))
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=9)
    for groups in ({"by": (), "groups": None}, {"by": "city", "groups": CITIES}):
        query.quantile(visits_of(ROWS), **ONE | groups, **OF, q=[0.5, 0.9], eps=1, rng=keyed(), ledger=ledger)
    marks = {row.fingerprint for row in ledger.report()}
    assert len(set(keys)) == 4
    assert None not in marks
    assert marks.isdisjoint(keys)


def test_a_keyed_repetition_costs_nothing_and_other_data_are_refused(tmp_path):
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=1)
    asked = ONE | {"count": True, "median": {"spent": (0, 100)}, "eps": 1, "rng": keyed(), "ledger": ledger}
    assert query.table(visits_of(ROWS), **asked) == query.table(visits_of(ROWS[::-1]), **asked)
    assert ledger.total() == 1
    with pytest.raises(sn.LedgerError, match="must be of one state of the data"):
        query.table(visits_of([*ROWS[1:], ("Bern", 3)]), **asked)
    asked = ONE | OF | {"eps": 1, "rng": keyed("july"), "ledger": sn.Ledger(tmp_path / "other.db", budget=1)}
    query.median(visits_of(ROWS), **asked)
    with pytest.raises(sn.LedgerError, match="must be of one state of the data"):
        query.median(visits_of([*ROWS[1:], ("Bern", 3)]), **asked)


# What users see


def test_pictures_have_a_dot_and_no_bar():
    pyplot = pytest.importorskip("matplotlib.figure")
    table = query.table(visits_of(ROWS), **ONE, eps=1, count=True, median={"spent": (0, 100)})
    ax = table.plot("median_spent", ax=pyplot.Figure().subplots())
    dots, _, bars = ax.containers[0]
    assert tuple(dots.get_xdata()) == tuple(row[3] for row in table)
    assert bars == ()
    assert "people of the true one, in rank: 95 %" in ax.get_xlabel()


def test_types_and_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = query.table(
        visits_of(ROWS), **ONE, eps=1, median={"spent": (0, 100)}, quantile={("who", 0.9): (0, 99)}, steps={"who": 0.5}
    )
    frame = table.to_pandas()
    assert [str(dtype) for dtype in frame.dtypes[1:]] == ["int64", "float64"]
    assert isinstance(frame, pandas.DataFrame)
    table.write(tmp_path / "t.csv")
    one = json.loads((tmp_path / "t.csv.json").read_text())["statistics"][1]
    assert one.pop("rank_bound") > 1
    assert one == {
        "statistic": "quantile",
        "column": "who",
        "bounds": [0, 99],
        "q": "0.9",
        "step": 0.5,
        "candidates": 199,
        "people_needed": one["people_needed"],
        "columns": {"value": "quantile_who_0.9"},
    }


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_take_quantiles(tmp_path, suffix):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("duckdb")
    frame, path = pandas.DataFrame(ROWS, columns=["city", "spent"]), tmp_path / f"visits.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    table = query.table(path, **ONE, eps=1e5, count=True, median={"spent": (0, 100)}, types={"spent": "integer"})
    assert table[1] == ("Chur", 90, table[1][2], 18)


def test_candidates_beyond_64_bits_are_floats():
    pytest.importorskip("pandas")
    table = query.median(visits_of(ROWS), **ONE, column="spent", bounds=(0, 2.0**70), eps=1)
    assert [type(row[1]) for row in table] == [float] * 3
    assert str(table.to_pandas()["median"].dtype) == "float64"
    said = query.median(visits_of(ROWS), **ONE, column="spent", bounds=(0, 3), step=3, eps=1).about["error_bound"]
    assert "Values count as the nearest of 0, 3." in said


def test_frames_take_quantiles():
    pandas, polars, duckdb = map(pytest.importorskip, ("pandas", "polars", "duckdb"))
    frame = pandas.DataFrame(ROWS, columns=["city", "spent"])
    con = duckdb.connect()
    con.register("held", frame)
    sources = [frame, polars.from_pandas(frame), polars.from_pandas(frame).lazy(), con.sql("select * from held")]
    for source in sources:
        table = query.table(source, **ONE, eps=1e5, count=True, median={"spent": (0, 100)}, types={"spent": "integer"})
        assert table[1] == ("Chur", 90, table[1][2], 18)


REFUSED = {
    "no bounds": ({"bounds": None}, "bounds must be given, chosen without looking at the values"),
    "bounds the wrong way": ({"bounds": (3, 1)}, "bounds must be finite, and the lower one must come first"),
    "bounds next to each other": (
        {"bounds": (1, math.nextafter(1, 2)), "step": 1e-17},
        "bounds must be farther apart than numbers",
    ),
    "bounds beyond all": ({"bounds": (0, 1e40)}, r"bounds must be at most 2\*\*100 in size"),
    "a percentile": ({"q": 50}, "q must be from 0 to 1, got 50: for percentile 50 write 0.5"),
    "no quantile": ({"q": []}, "q must have 1 to 1000 quantiles, got 0"),
    "one twice": ({"q": [0.5, 0.50]}, "q must list every quantile once"),
    "a text": ({"q": "half"}, "q must be a number from 0 to 1"),
    "a step of 0": ({"step": 0}, "step must be finite and greater than 0, got 0"),
    "a step that is too fine": ({"step": 1e-9}, "step must give at most 1000000 candidates"),
    "texts": ({"column": "city"}, "column must be of numbers; 'city' is declared as TEXT"),
    "an unknown column": ({"column": "spend"}, "column must name a column of 'visits', got 'spend'; did you mean 'spent'"),
    "a small eps": ({"eps": 5e-324, "person": "who", "row_is_person": False, "max_groups": 3}, "eps must be"),
}


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, change, message):
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=1)
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=message):
        query.quantile(visits_of(ROWS), **ONE | OF | {"q": 0.5, "eps": 1, "ledger": ledger} | change)
    assert ledger.total() == 0


SEVERAL = {
    "a list": ({"quantile": ["spent"]}, "quantile must be a dict from pairs of a column and a quantile to bounds"),
    "a column alone": ({"quantile": {"spent": (0, 1)}}, "quantile must have keys of a column and a quantile"),
    "a list of medians": ({"median": ["spent"]}, "median must be a dict from columns to bounds"),
    "two lattices": (
        {"median": {"spent": (0, 1)}, "quantile": {("spent", 0.9): (0, 2)}},
        "quantiles of 'spent' must have one spelling and the same bounds",
    ),
    "two spellings": (
        {"median": {"spent": (0, 1)}, "quantile": {("Spent", 0.9): (0, 1)}},
        "quantiles of 'spent' must have one spelling and the same bounds",
    ),
    "a step of 0": (
        {"median": {"spent": (0, 1)}, "count": True, "steps": {"spent": 0}},
        "step of 'spent' must be finite and greater",
    ),
    "a step of another column": ({"median": {"spent": (0, 1)}, "steps": {"who": 1}}, "steps must be of columns of medians"),
    "the same twice": (
        {"quantile": {("spent", 0.5): (0, 1), ("spent", (0.5, 0.9)): (0, 1)}},
        "quantile must name every column once",
    ),
    "a mechanism": ({"median": {"spent": (0, 1)}, "mechanism": "discrete_laplace"}, "mechanism must be left out for quantiles"),
    "a delta": ({"median": {"spent": (0, 1)}, "delta": 1e-6}, "delta must be left out"),
    "a share of one of several": (
        {"median": {"spent": (0, 1)}, "quantile": {("spent", 0.9): (0, 1)}, "shares": {"median_spent": 1}},
        "shares must be of 'quantile_spent'",
    ),
    "nonnegative": ({"median": {"spent": (0, 1)}, "nonnegative": True}, "nonnegative must be left out"),
}


@pytest.mark.parametrize(("change", "message"), SEVERAL.values(), ids=SEVERAL)
def test_tables_that_are_refused(change, message):
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=message):
        query.table(visits_of(ROWS), **ONE, eps=1, **change)
