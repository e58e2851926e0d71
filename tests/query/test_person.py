"""One person changes at most `max_groups` groups, and each number of theirs by at most the sensitivity of its mechanism.

Evidence: tables that Hypothesis chooses, with and without one person, on every engine; the answers of a plain program.
"""

import hashlib
import math
import secrets

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stairnoise as sn
from stairnoise.query.plan import budget, planned
from stairnoise.query.question import Question
from stairnoise.query.release import order_of
from stairnoise.query.sources.statement import statement
from stairnoise.query.statistics import Count, Mean, Sum
from tests.query.oracle import DIGESTS, answers_to

COLUMNS = {"who": "text", "g": "text", "h": "integer", "v": "bigint", "w": "double"}
LISTED = (("a", "b", None), (1, 2))
PEOPLE = ["p", "P", "é", ""]

values = st.one_of(st.none(), st.integers(-9, 9), st.sampled_from([2**40, -(2**62), 2**62]))
numbers = st.one_of(
    st.none(),
    st.floats(-9, 9),
    st.sampled_from([math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.1, 2.5, -0.0]),
)
# Few people in most of the groups, so that the limit on groups applies.
people = st.sampled_from([*PEOPLE, *PEOPLE, None])
row = st.tuples(people, st.sampled_from(["a", "b", None, None, "c"]), st.sampled_from([1, 2, 1, 2, 3, None]), values, numbers)
rows = st.lists(row, min_size=8, max_size=30) | st.lists(row, max_size=3)
BOUNDS = [(-3.0, 5.0), (0.0, 4.0), (2.0, 7.0), (-6.5, -0.25), (0.0, 2.0**33)]
bounds = st.sampled_from(BOUNDS)


COUNT = (Count(),)


def summed(kinds, most):
    """Statistics of columns, none of them twice."""
    one = st.tuples(st.sampled_from(kinds), st.sampled_from(["v", "w"]), bounds).map(lambda found: found[0](*found[1:]))
    return st.lists(one, min_size=1, max_size=most, unique_by=lambda statistic: statistic.name)


# What a question asks: one statistic, or several.
STATISTICS = {
    "count": st.just([Count()]),
    "sum": summed([Sum], 1),
    "sums": summed([Sum], 2),
    "several": st.tuples(st.sampled_from([[], [Count()]]), summed([Sum, Mean], 4)).map(lambda found: found[0] + found[1]),
}


def asked(person, max_groups, statistics=COUNT):
    groups = dict(zip(("g", "h"), LISTED, strict=True))
    return Question("people", ("g", "h"), groups, tuple(statistics), None, person, max_groups)


def expected(engine, table, question, units, key):
    people = [(row[0], row[1:3], row[3:]) for row in table]
    return answers_to(question, units, people, LISTED, "vw", key=key, digest=DIGESTS[engine.name])


def require_few_changes(question, with_person, without):
    """Require that one person changes few groups, each of their numbers by at most the sensitivity of its mechanism."""
    k = question.max_groups
    plan = planned(question, budget(1, None, None, None, question), with_person.units)
    assert with_person.units == without.units
    moved = np.zeros(len(with_person.groups), bool)
    for part in plan.parts:
        change = np.abs(part.true(with_person) - part.true(without))
        assert change.max() <= part.change == part.mechanism.sensitivity
        moved |= change > 0
    assert moved.sum() <= k


@pytest.mark.parametrize("examples", [3, pytest.param(100, marks=pytest.mark.long)])
@pytest.mark.parametrize("statistics", STATISTICS.values(), ids=STATISTICS)
def test_removing_a_person_changes_few_groups_by_little(engine, statistics, examples):
    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(rows, st.sampled_from(PEOPLE), st.integers(1, 3), statistics, st.binary(min_size=32, max_size=32))
    def check(table, person, max_groups, wanted, key):
        question = asked("who", max_groups, wanted)
        found = []
        for remaining in (table, [row for row in table if row[0] != person]):
            engine.table("people", COLUMNS, remaining)
            answer = engine.answers(question, key)
            found.append(answer)
            assert (answer.counts.tolist(), answer.sums.tolist()) == expected(engine, remaining, question, answer.units, key)
        require_few_changes(question, *found)

    check()


@pytest.mark.parametrize("examples", [4, pytest.param(30, marks=pytest.mark.long)])
@pytest.mark.parametrize("statistics", STATISTICS.values(), ids=STATISTICS)
def test_every_row_is_a_person(engine, statistics, examples):
    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(rows, statistics)
    def check(table, wanted):
        question = asked(None, 1, wanted)
        found = []
        for remaining in (table, table[1:]):
            engine.table("people", COLUMNS, remaining)
            answer = engine.answers(question)
            found.append(answer)
            assert (answer.counts.tolist(), answer.sums.tolist()) == expected(
                engine, remaining, question, answer.units, bytes(32)
            )
        require_few_changes(question, *found)

    check()


@pytest.mark.parametrize("limits", BOUNDS)
def test_the_sensitivity_is_what_one_person_can_reach(engine, limits):
    """Somebody far beyond a bound moves each number by its sensitivity, or by one unit less where bounds are no multiples."""
    question = asked("who", 1, [Count(), *(kind(column, limits) for kind in (Mean, Sum) for column in "vw")])
    found = []
    for value in (None, 2**62, -(2**62)):
        engine.table("people", COLUMNS, [] if value is None else [("p", "a", 1, value, float(value))])
        found.append(engine.answers(question))
    nobody, *extremes = found
    for somebody in extremes:
        require_few_changes(question, somebody, nobody)
    for part in planned(question, budget(1, None, None, None, question), nobody.units).parts:
        reached = max(np.abs(part.true(somebody) - part.true(nobody)).max() for somebody in extremes)
        assert reached >= part.change - (part.unit != 1)


WRONG = {
    "an order among all people": ("partition by p order by", "order by"),
    "a sum that is not clipped": ("case when v1 < 0 then 0 when v1 > 9 then 9 else v1 end as v1", "v1"),
}


@pytest.mark.parametrize(("right", "wrong"), WRONG.values(), ids=WRONG)
def test_a_wrong_statement_breaks_the_bounds(engine, monkeypatch, right, wrong):
    """The property above can fail: with each error in the statement, one of seven people changes the answers by too much."""
    question = asked("who", 1, [Count(), Sum("w", (0.0, 4.0)), Sum("v", (0.0, 9.0)), Mean("v", (0.0, 9.0))])
    table = [(str(who % 7), group, half, who % 9, 1.0) for who in range(14) for group in ("a", "b", None) for half in (1, 2)]

    def check():
        found = []
        for person in (None, *map(str, range(7))):
            engine.table("people", COLUMNS, [row for row in table if row[0] != person])
            found.append(engine.answers(question))
            require_few_changes(question, found[0], found[-1])

    check()

    def broken(*arguments):
        text, parameters = statement(*arguments)
        if right not in text:
            raise LookupError(right)
        return text.replace(right, wrong), parameters

    monkeypatch.setattr("stairnoise.query.sources.statement.statement", broken)
    with pytest.raises(AssertionError):
        check()


def test_a_person_without_limit_is_in_every_group_that_they_have(engine):
    engine.table("people", COLUMNS, [("p", group, 1, 1, 1.0) for group in "abcabc"] + [(None, "a", 1, 1, 1.0)])
    answer = engine.answers(asked("who", 9))
    assert answer.counts.tolist() == [1, 0, 1, 0, 0, 0]


def test_the_order_is_random_for_each_person(engine):
    """400 people with three groups each keep one. False alarms (a group below 80 or above 190): at most 1e-9."""
    table = [(str(person), group, 1, 1, 1.0) for person in range(400) for group in ("a", "b", None)]
    engine.table("people", COLUMNS, table)
    question = asked("who", 1)
    first, second = (engine.answers(question, hashlib.sha256(seed).digest()).counts for seed in (b"1", b"2"))
    for counts in (first, second):
        assert counts.sum() == 400
        assert counts[::2].min() > 80
        assert counts[::2].max() < 190
    assert first.tolist() != second.tolist()
    assert first.tolist() == engine.answers(question, hashlib.sha256(b"1").digest()).counts.tolist()


def test_the_order_is_new_for_each_answer(engine):
    """Two orders of 400 people agree in all three counts about once in a thousand times; four do not."""
    table = [(str(person), group, 1, 1, 1.0) for person in range(400) for group in ("a", "b", None)]
    engine.table("people", COLUMNS, table)
    question = asked("who", 1)
    with engine.source() as source:
        assert len({tuple(source.answers(question).counts.tolist()) for _ in range(4)}) > 1


def test_other_people_do_not_change_a_persons_groups(engine):
    """One person's chosen groups depend neither on other people nor on the order of rows."""
    own = [("p", group, number, 1, 1.0) for group in "ab" for number in (1, 2)]
    others = [("q", group, 1, 1, 1.0) for group in "ab" * 40]
    question = asked("who", 2)
    engine.table("people", COLUMNS, own)
    alone = engine.answers(question).counts
    engine.table("people", COLUMNS, others)
    without = engine.answers(question).counts
    engine.table("people", COLUMNS, [*others[:40], *own[::-1], *others[40:], *own])
    assert (engine.answers(question).counts - without).tolist() == alone.tolist()


def test_an_order_of_a_keyed_generator():
    secret = secrets.token_bytes(32)
    orders = {order_of(sn.KeyedRng(*one)) for one in [(secret, "a"), (secret, "b"), (bytes(32), "a"), (secret, "a")]}
    assert {len(order) for order in orders} == {32}
    assert len(orders) == 3
    assert secret not in orders


def test_found_groups_are_bounded_too(engine):
    """With partition selection, a person is in at most `max_groups` of the groups that the data have."""
    table = [(person, f"g{number}", 1, 1, 1.0) for person in ("p", "q") for number in range(6)]
    engine.table("people", COLUMNS, table)
    answer = engine.answers(Question("people", ("g",), {}, person="who", max_groups=2))
    assert answer.counts.sum() == 4
    assert set(answer.groups) <= {(f"g{number}",) for number in range(6)}
