"""Groups that are not listed, through the whole path: which are shown, with which noise, and how large their errors are.

The probabilities follow the recursion of Desfontaines and others (2022), written here again. Seeds are fixed; false-alarm rates
are those of a fresh seed.
"""

import hashlib
import math

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import query
from tests.combinations import in_turn, rest_long
from tests.query.persons import visits
from tests.statistical.checks import check_distribution, check_share

EPS, DELTA = 1.0, 1e-3
ALPHA = 1e-6
CELLS = 60
SHOWN = [(1, 1), (5, 1), (8, 1), (8, 2), (12, 2)]
ASKED = {"by": "city", "row_is_person": True, "eps": EPS, "delta": DELTA}


def chances(eps, delta):
    """π(0), π(1), ... up to the first 1."""
    found = [0.0]
    while found[-1] < 1:
        before = found[-1]
        found.append(min(math.exp(eps) * before + delta, 1 - math.exp(-eps) * (1 - before - delta), 1.0))
    return np.array(found)


def seeds(n, name):
    start = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return [sn.SeededRng(start + number, allow_release=True) for number in range(n)]


@pytest.mark.parametrize(("people", "max_groups"), rest_long(SHOWN[::2], SHOWN))
def test_groups_are_shown_as_often_as_the_best_rule_shows_them(people, max_groups):
    """60 groups of each size, 40 releases."""
    con = visits({f"city {number:02}": people for number in range(CELLS)})
    who = {"row_is_person": False, "person": "who", "max_groups": max_groups}
    tables = [query.count(con, "visits", **ASKED | who, rng=rng) for rng in seeds(40, f"shown {people} {max_groups}")]
    probability = chances(EPS / max_groups, DELTA / max_groups)[people]
    check_share(sum(map(len, tables)), 40 * CELLS, float(probability), ALPHA)


def test_counts_of_groups_that_are_always_shown_have_the_noise_of_the_rule():
    """The noise is threshold - N, where N has the steps of π as probabilities: 6 000 draws."""
    pi = chances(EPS, DELTA)
    threshold = int(np.argmax(pi > 0.5))
    con = visits({f"city {number:02}": 100 for number in range(CELLS)})
    counts = [row[1] for rng in seeds(100, "noise") for row in query.count(con, "visits", **ASKED, rng=rng)]
    assert len(counts) == 100 * CELLS
    steps = np.diff(pi)
    found = np.bincount(threshold - (np.array(counts) - 100) - 1, minlength=steps.size)
    check_distribution(found, steps, ALPHA)


@pytest.mark.parametrize(
    ("people", "confidence"), rest_long(in_turn([2, 9, 60], [0.6, 0.95]), in_turn([2, 6, 9, 13, 20, 25, 60, 60], [0.6, 0.95]))
)
def test_bounds_hold_for_groups_of_every_size_among_those_that_are_shown(people, confidence):
    """Among shown groups of one size, at least `confidence` of the counts are within error_bound; small groups are the hardest.

    One-sided, 1e-9 each. The bound of large values is the smallest that the distribution allows.
    """
    pi = chances(EPS, DELTA)
    threshold = int(np.argmax(pi > 0.5))
    con = visits({f"city {number:02}": people for number in range(CELLS)})
    rows = [
        row
        for rng in seeds(60, f"bounds {people} {confidence}")
        for row in query.count(con, "visits", **ASKED, confidence=confidence, rng=rng)
    ]
    inside = sum(abs(count - people) <= bound for _, count, bound in rows)
    n = len(rows)
    assert n > 5
    assert inside >= confidence * n - 6 * math.sqrt(confidence * (1 - confidence) * n)
    if people == 60:
        sizes = np.abs(threshold - np.arange(1, pi.size))
        least = next(t for t in range(threshold) if np.diff(pi)[sizes > t].sum() <= 1 - confidence)
        assert {bound for *_, bound in rows} == {least}
    if people == 2:
        assert {bound for *_, bound in rows} == {max(threshold - 1, pi.size - 1 - threshold)}


@pytest.mark.parametrize(
    ("people", "confidence"), rest_long([(14, 0.6), (60, 0.95)], in_turn([6, 12, 14, 18, 60, 60], [0.6, 0.95]))
)
def test_people_in_many_groups_get_gaussian_noise_and_bounds_that_hold(people, confidence):
    """With ten groups a person, groups of every size are shown as often as defined, and within their bounds as often as stated.

    One-sided, 1e-9 each; 60 groups, 40 releases. The test sums the noise probabilities itself.
    """
    mechanism = sn.PartitionSelection(4.0, 0.01, 10)
    con = visits({f"city {number:02}": people for number in range(CELLS)})
    who = {"row_is_person": False, "person": "who", "max_groups": 10, "eps": 4.0, "delta": 0.01}
    tables = [
        query.count(con, "visits", **ASKED | who, confidence=confidence, rng=rng)
        for rng in seeds(40, f"ten {people} {confidence}")
    ]
    z = np.arange(-99, 100)
    p = np.exp(-z * z / (2 * mechanism.sigma2))
    p /= p.sum()
    check_share(sum(map(len, tables)), 40 * CELLS, float(p[people + z >= mechanism.threshold].sum()), ALPHA)
    inside = [abs(count - people) <= bound for table in tables for _, count, bound in table]
    n = len(inside)
    assert sum(inside) >= confidence * n - 6 * math.sqrt(confidence * (1 - confidence) * n)
    if people == 60:
        assert {bound for table in tables for *_, bound in table} == {next(t for t in z if p[abs(z) > t].sum() <= 1 - confidence)}


def test_notes_and_means_of_people_in_many_groups():
    con = visits({"a": 500, "b": 300})
    asked = ASKED | {"row_is_person": False, "person": "who", "max_groups": 10, "eps": 4.0, "delta": 0.01}
    table = query.mean(con, "visits", **asked, column="spent", bounds=(0, 10))
    assert [(row[0], row[5]) for row in table] == [("a", False), ("b", False)]
    assert table.about["mechanisms"][0]["draws"] == "PartitionSelection(eps=2.0, delta=0.01, max_partitions_contributed=10)"
    names = {}
    exec("\n".join(line.replace("selection.threshold", "found = selection.threshold") for line in table.about["check"]), names)
    made = sn.PartitionSelection(2.0, 0.01, 10)
    assert names["found"] == (made.threshold, None, made.sigma2, made.noise_std())


def test_sums_and_means_pay_for_the_choice_of_groups(tmp_path):
    """Half of ε selects the groups; for a mean, this half is the counts' share."""
    con = visits({"a": 200, "b": 300})
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=10, delta=0.5)
    summed = {**ASKED, "column": "spent", "bounds": (0, 10), "ledger": ledger}
    table = query.sum(con, "visits", **summed)
    drawn = [one["draws"] for one in table.about["mechanisms"]]
    assert drawn == [
        "PartitionSelection(eps=0.5, delta=0.001, max_partitions_contributed=1)",
        "DiscreteLaplace(eps=0.5, sensitivity=10)",
    ]
    assert [row[0] for row in table] == ["a", "b"]
    assert all(abs(row[1] - true) < 1000 for row, true in zip(table, (1400, 2100), strict=True))
    table = query.mean(con, "visits", **summed)
    assert [one["mechanism"] for one in table.about["mechanisms"]] == [
        "PartitionSelection(eps=0.5, delta=0.001, max_partitions_contributed=1)",
        "DiscreteLaplace(eps=0.5, sensitivity=5)",
    ]
    assert (table.eps, table.delta) == (1.0, 0.001)
    assert sum(row.eps for row in ledger.report()) == 2.0
    assert sum(row.delta for row in ledger.report()) == 0.002


def test_a_column_with_a_list_and_one_without():
    con = visits({"a": 100, "b": 100, "c": 100})
    con.execute("alter table visits add column kind text default 'x'")
    table = query.count(con, "visits", by=["city", "kind"], groups={"city": ["c", "a"]}, row_is_person=True, eps=1, delta=1e-6)
    assert [row[:2] for row in table] == [("c", "x"), ("a", "x")]
    assert table.about["groups"] == {"city": ["c", "a"], "kind": "chosen privately"}


REFUSED = {
    "no delta": ({"delta": None}, "must be listed, or delta given"),
    "a mechanism": ({"mechanism": "discrete_laplace"}, "mechanism must be left out"),
    "a key": ({"rng": sn.KeyedRng(bytes(32), "x")}, "partition selection has no keyed form"),
    "a delta that is too large": ({"delta": 0.75}, "delta"),
}


@pytest.mark.parametrize(("change", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(change, message):
    with pytest.raises(sn.ParameterError, match=message):
        query.count("nowhere.db", "visits", **ASKED | change)
