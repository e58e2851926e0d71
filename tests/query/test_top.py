"""The groups with the most people: ε for one person however many groups they count in, and how small a selected group can be.

Evidence: exact probabilities of every possible answer, on every small table with and without one person; their sum over the
answers that break the bound; frequencies; the ledger.
"""

import itertools
import math
from functools import cache

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.plan import budget, planned
from stairnoise.query.question import question
from stairnoise.query.statistics import Top
from tests.query.persons import visits, visits_of
from tests.statistical.checks import check_distribution

CITIES = ["Bern", "Chur", "Thun"]
ASKED = {"by": "city", "groups": CITIES, "k": 2, "eps": 1, "row_is_person": True}
PEOPLE = {"Bern": 4, "Chur": 6, "Thun": 5}


def keyed(release="visits 2026-11"):
    return sn.KeyedRng(bytes(range(32)), release)


def plan_of(k, max_groups=2, eps=1.0):
    asked = question([Top(k=k)], "visits", "city", CITIES, person="who", max_groups=max_groups)
    return planned(asked, budget(eps, None, None, None, asked), [])


@cache
def answers_of(mechanism, k, counts):
    """Return the probability of every sequence of k groups: each is selected among the rest with 1/k of ε."""
    one = sn.PermuteAndFlip(mechanism.eps / k, mechanism.sensitivity, mechanism.monotonic)
    found = {}
    for order in itertools.permutations(range(len(counts)), k):
        chance, left = 1.0, list(range(len(counts)))
        for chosen in order:
            chance *= one.probabilities(scores=[counts[place] for place in left])[left.index(chosen)]
            left.remove(chosen)
        found[order] = chance
    return found


def people_of(max_groups):
    """All sets of groups in which one person can count."""
    return [set(groups) for many in range(max_groups + 1) for groups in itertools.combinations(range(len(CITIES)), many)]


def largest_loss(mechanism, k, max_groups):
    """Every table of up to three people, with and without one of them; a person in more groups is the engine's choice of some."""
    losses = [0.0]

    def chances(people):
        return answers_of(mechanism, k, tuple(sum(place in groups for groups in people) for place in range(len(CITIES))))

    for many in range(1, 4):
        for people in itertools.combinations_with_replacement(people_of(max_groups), many):
            with_person, without = chances(people), chances(people[1:])
            losses += [abs(math.log(with_person[order] / without[order])) for order in with_person]
    return max(losses)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("max_groups", [1, 2, 3])
def test_one_person_costs_eps_in_any_number_of_groups(k, max_groups):
    mechanism = plan_of(k, max_groups, 0.7).parts[0].mechanism
    assert largest_loss(mechanism, k, max_groups) <= 0.7 * (1 + 1e-12)


def test_the_test_of_privacy_sees_a_sensitivity_that_is_too_small():
    assert largest_loss(sn.PermuteAndFlip(0.7, 0.5, True), 2, 2) > 0.7 * 1.5
    # Scores that move in both directions need twice as much.
    assert largest_loss(sn.PermuteAndFlip(0.7, 1.0, False), 1, 1) < 0.7 * 0.6


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_bound_holds_with_its_probability(k):
    """In exact probabilities, for all differences of three counts up to 30; one less breaks it somewhere, for k = 1."""
    plan = plan_of(k)
    statistic, mechanism = plan.question.statistics[0], plan.parts[0].mechanism
    bound, breaks = statistic.shortfall(plan, 0.95), []
    steps = range(0, 31, 1 if k == 1 else 3)
    for counts in itertools.product(steps, steps, [30]):
        for limit in (bound, bound - 1):
            broken = sum(chance for order, chance in answers_of(mechanism, k, counts).items() if shortfall(counts, order) > limit)
            breaks.append((limit, broken))
    assert max(broken for limit, broken in breaks if limit == bound) <= 0.05
    if k == 1:
        assert max(broken for limit, broken in breaks if limit < bound) > 0.05


def shortfall(counts, order):
    """Return by how many people a group exceeds one that ranks above it."""
    rest = [*order, *(place for place in range(len(counts)) if place not in order)]
    return max(counts[low] - counts[high] for high, low in itertools.combinations(rest, 2) if high in order)


def test_answers_have_these_probabilities():
    """False alarm: 1e-6."""
    rng = sn.SeededRng(7, allow_release=True)
    con = visits(PEOPLE)
    expected = answers_of(sn.PermuteAndFlip(1.0, 1.0, True), 2, tuple(PEOPLE.values()))
    found = dict.fromkeys(expected, 0)
    for _ in range(500):
        table = query.top(con, **ASKED, rng=rng)
        found[tuple(CITIES.index(city) for city, _ in table)] += 1
    check_distribution(np.array(list(found.values())), np.array(list(expected.values())), 1e-6)


def test_a_table_of_labels_and_ranks():
    con = visits_of([("Bern", 1)] * 900 + [("Thun", 1)] * 500 + [("Chur", 2)] * 20)
    table = query.top(con, **ASKED)
    assert table.columns == table.headings == ("city", "rank")
    assert list(table) == [("Bern", 1), ("Thun", 2)]
    both = query.top(con, **ASKED | {"by": ["city", "spent"], "groups": {"city": CITIES, "spent": [1, 2]}, "k": 6})
    assert [row[:2] for row in both][:2] == [("Bern", 1), ("Thun", 1)]
    assert [row[2] for row in both] == [1, 2, 3, 4, 5, 6]
    assert table.to_dicts()[0] == {"city": "Bern", "rank": 1}
    about = table.about
    assert about["mechanisms"][0]["of"] == "the 2 groups with the most people, each selected with 1/2 of eps"
    assert "No group below has over 7 people more, with" in about["error_bound"]
    names = {"math": math}
    line, claim = about["check"][-1].split("; ")
    exec(line, names)
    assert eval(claim, names) is True
    with pytest.raises(sn.ParameterError, match="a top has only groups"):
        table.plot()


def test_a_key_gives_the_same_answer_and_any_other_question_another(tmp_path):
    con = visits(dict.fromkeys(cities := [f"c{place}" for place in range(40)], 3))
    asked = ASKED | {"groups": cities, "k": 10, "eps": 0.1}
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=9)
    first = query.top(con, **asked, rng=keyed(), ledger=ledger)
    assert first == query.top(con, **asked, rng=keyed(), ledger=ledger)
    assert ledger.total() == 0.1
    assert [(row.statistic[:3], row.mechanism) for row in ledger.report()] == [
        ("top", "PermuteAndFlip(eps=0.1, sensitivity=1.0, monotonic=True)")
    ]
    others = [
        query.top(con, **asked, rng=keyed("other")),
        query.top(con, **asked | {"eps": 0.2}, rng=keyed()),
        query.top(con, **asked | {"k": 11}, rng=keyed()),
        query.top(con, **asked, rng=keyed(), where="spent > 0"),
        query.top(visits(dict.fromkeys(cities, 4)), **asked, rng=keyed()),
    ]
    # Two answers of independent noise are equal with a probability of about 1e-15.
    assert len({tuple(row[0] for row in table)[:10] for table in [first, *others]}) == 6
    with pytest.raises(sn.LedgerError, match="other"):
        query.top(visits(dict.fromkeys(cities, 4)), **asked, rng=keyed(), ledger=ledger)


def test_the_key_of_the_noise_is_in_no_ledger(tmp_path, monkeypatch):
    keys, ledger = [], sn.Ledger(tmp_path / "ledger.db", budget=9)
    made = sn.SecureRng.from_key
    monkeypatch.setattr("stairnoise.query.statistics.statistic.SecureRng.from_key", lambda key: keys.append(key) or made(key))
    query.top(visits(PEOPLE), **ASKED, rng=keyed(), ledger=ledger)
    assert len(keys) == 1
    assert keys[0].hex() not in {row.fingerprint for row in ledger.report()}


REFUSED = {
    "more groups than there are": ({"k": 4}, "top must be at most the number of groups, 3, got 4"),
    "no group": ({"k": 0}, "k must be an integer from 1"),
    "groups that are not listed": ({"groups": None}, "groups of 'city' must be listed for a top"),
    "no column": ({"by": (), "groups": None}, "by must be given for a top"),
}


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, change, message):
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=1)
    with pytest.raises(sn.ParameterError, match=message):
        query.top(visits(PEOPLE), **ASKED | change, ledger=ledger)
    assert ledger.total() == 0


def test_a_statement_for_a_warehouse():
    asked = {name: value for name, value in ASKED.items() if name != "k"} | {"eps": 50}
    with pytest.warns(UserWarning, match="exact answers"):
        plan = query.compile("visits", dialect="bigquery", schema={"city": "STRING"}, **asked, top=1)
    assert list(query.finish(plan, [(0, 3), (2, 900)])) == [("Thun", 1)]
