"""Bounds found by a private histogram over powers of two.

Evidence: exact probabilities of the noise; the bounds of counts written out by hand; every engine; people added and removed.
"""

import json
import math
import random
from itertools import pairwise

import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.find_bounds import EDGES, outermost, threshold_of
from stairnoise.query.question import question
from tests.query.persons import visits_of
from tests.query.test_person import require_few_changes

ASKED = {"column": "v", "eps": 1e9}


def test_bins_are_all_powers_of_two():
    assert len(EDGES) == 402
    assert all(low < high for low, high in pairwise(EDGES))
    assert {math.frexp(abs(edge))[0] for edge in EDGES} == {0.5}
    assert [-edge for edge in reversed(EDGES)] == list(EDGES)


def test_the_threshold_is_the_least_that_all_empty_bins_keep_to():
    """Evidence: the distribution function, for every mechanism of counts and several ε."""
    for mechanism in (sn.DiscreteLaplace(1), sn.DiscreteLaplace(0.03), sn.DiscreteLaplace(4), sn.DiscreteStaircase(6, 1)):
        for confidence in (0.95, 0.999, 1 - 1e-9):
            threshold = threshold_of(mechanism, 401, confidence)

            def kept(limit, mechanism=mechanism):
                return 401 * math.log1p(-mechanism.sf(limit))

            assert kept(threshold) >= math.log(confidence) * (1 + 1e-9)
            assert kept(threshold - 1) < math.log(confidence)


def test_bounds_are_the_outer_ends_of_the_outermost_bins():
    zero = 200
    for counts, expected in (
        ({}, (None, None)),
        ({zero: 5, zero + 3: 4}, (None, None)),
        ({zero: 6}, (0, 0)),
        ({zero: 6, zero + 107: 9, zero + 108: 5}, (0, 2**7)),
        ({zero + 101: 6}, (1, 2)),
        ({zero - 101: 6, zero - 102: 7}, (-4, -1)),
        ({zero - 3: 6, zero: 6}, (-(2.0**-97), 0)),
        ({0: 6, 400: 6}, (-(2**100), 2**100)),
    ):
        assert outermost([counts.get(place, 0) for place in range(401)], 5) == expected


def test_every_engine(engine):
    """Bins hold their lower edge; a person counts in one of them."""
    rows = [(n, v) for n, v in enumerate([3, 64, 64, 127, -5, 0, None])]
    engine.table("t", {"who": "integer", "v": "double"}, rows)
    assert query.bounds(engine.data, "t", **ASKED, row_is_person=True).bounds == (-8, 128)
    assert query.bounds(engine.data, "t", **ASKED, person="who", where="v > 0").bounds == (2, 128)
    engine.table("t", {"who": "integer", "v": "integer"}, [(1, 1), (1, 300), (2, 0)])
    one = query.bounds(engine.data, "t", **ASKED, person="who")
    assert sum(count for _, count, _ in one.histogram) == 2
    assert query.bounds(engine.data, "t", **ASKED, person="who", max_groups=2).bounds == (0, 512)


def test_files_and_frames(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("duckdb")
    frame = pandas.DataFrame({"v": [0.25] * 3 + [40.0]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert query.bounds(frame, **ASKED, row_is_person=True).bounds == (0.25, 64)
    assert query.bounds(tmp_path / "t.csv", **ASKED, row_is_person=True, types={"v": "real"}).bounds == (0.25, 64)
    with pytest.raises(sn.ParameterError, match=r"^column must be of numbers; it is declared as text: .*--type v=real"):
        query.bounds(tmp_path / "t.csv", **ASKED, row_is_person=True)


def test_one_person_changes_few_bins_by_1(engine):
    """Random tables with and without each person: the histogram keeps to the sensitivity of its mechanism."""
    rng = random.Random(3)
    for seed in range(2):
        rows = [(rng.randrange(4), rng.choice([0, 1, -1, 0.3, 7, 1e30, 1e31, math.nan, None])) for _ in range(12)]
        max_groups = 1 + seed % 2
        asked = question([("count", None, None)], "t", (), None, bins={"v": EDGES}, person="who", max_groups=max_groups)
        answers = []
        for table in (rows, [row for row in rows if row[0] != 2]):
            engine.table("t", {"who": "integer", "v": "double"}, table)
            answers.append(engine.answers(asked))
        require_few_changes(asked, *answers)


def test_the_cost_is_that_of_a_count(tmp_path):
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=1)
    con, rng = visits_of([("Bern", 7)] * 300), sn.KeyedRng(bytes(32), "visits")
    asked = {"column": "spent", "row_is_person": True, "eps": 0.25, "ledger": ledger}
    first = query.bounds(con, **asked, rng=rng)
    assert first == query.bounds(con, **asked, rng=rng)
    assert ledger.total() == 0.25
    assert first.bounds == (4, 8)
    assert first.eps == 0.25
    nothing = query.bounds(con, **asked, where="spent > 7")
    assert (nothing.low, nothing.high, nothing.bounds) == (None, None, None)
    assert "no bounds were found. The cost stays spent" in nothing.about["bounds"]["meaning"]
    assert ledger.total() == 0.5
    with pytest.raises(sn.BudgetError):
        query.bounds(con, **asked | {"eps": 0.75})


def test_notes():
    made = query.bounds(visits_of([("Bern", 7)] * 300), column="spent", row_is_person=True, eps=1)
    assert repr(made) == "PrivateBounds(low=4.0, high=8.0, eps=1.0, threshold=12)"
    about = json.loads(json.dumps(made.about))
    assert about["bounds"]["threshold"] == 12
    assert about["protected"] == made.histogram.about["protected"]
    assert query.mean(visits_of([("Bern", 7)] * 300), column="spent", bounds=made.bounds, row_is_person=True, eps=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"column": "city"}, "column must be of numbers; it is declared as TEXT"),
        ({"column": "spend"}, "column must name a column of 'visits', got 'spend'; did you mean 'spent'"),
        ({"max_groups": 2}, "max_groups must be 1 with row_is_person"),
        ({"eps": 0}, "eps must be finite and greater than 0"),
        ({"confidence": 0.2}, "confidence must be from 0.5"),
    ],
)
def test_refused(change, message):
    with pytest.raises(sn.ParameterError, match=message):
        query.bounds(visits_of([("Bern", 7)]), "visits", **{"column": "spent", "row_is_person": True, "eps": 1} | change)


@pytest.mark.long
def test_bins_without_people_seldom_widen_the_bounds():
    """At 95 %, 20 in 400: more than 45 have a chance below 1e-6 for other seeds."""
    asked = {"column": "spent", "row_is_person": True, "eps": 1, "confidence": 0.95}
    rngs = [sn.SeededRng(seed, allow_release=True) for seed in range(400)]
    wide = sum(query.bounds(visits_of([]), **asked, rng=rng).bounds is not None for rng in rngs)
    assert 0 < wide <= 45
