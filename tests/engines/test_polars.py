"""Polars gives the answers that `release` of an array gives, in each of its engines and however it plans.

Evidence: equality; negative controls, in which an unkeyed expression fails the same check.
"""

import datetime
import io

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.engines import polars_expr
from tests.engines.table import (
    COUNTS,
    EXPECTED,
    KEYED,
    LABELS,
    MECHANISM,
    STATISTIC,
    THRESHOLD,
    above,
    answers,
    one_answer,
    persons,
    secret,
    unkeyed,
)

pl = pytest.importorskip("polars")


def counted():
    return pl.LazyFrame({"g": persons()}).group_by("g").len("n").with_columns(pl.col("n").cast(pl.Int64))


def keyed_expr(label_type="text"):
    return polars_expr(MECHANISM, KEYED, "g", "n", STATISTIC, label_type=label_type)


def unkeyed_expr():
    noise = unkeyed()
    return pl.col("n").map_batches(
        lambda values: pl.Series("n", noise(values.to_numpy())), return_dtype=pl.Int64, is_elementwise=True
    )


def pairs(expr):
    """Return a self-join, with the rows of null labels added from the frame because nulls match no partner."""
    frame = counted().with_columns(expr)
    joined = frame.drop_nulls("g").join(frame.drop_nulls("g").rename({"n": "again"}), on="g")
    return pl.concat([joined, frame.filter(pl.col("g").is_null()).with_columns(again="n")])


# Each function builds plans from an expression; the plans together have each label at least once.
PLANS = {
    "twice": lambda expr: [counted().with_columns(expr)] * 2,
    "two columns": lambda expr: [counted().with_columns(expr, again=expr)],
    "unnested": lambda expr: [counted().select("g", pl.struct(expr, again=expr).struct.unnest())],
    "concatenated": lambda expr: [pl.concat([counted().with_columns(expr)] * 2)],
    "joined": lambda expr: [pairs(expr)],
    "filtered": lambda expr: [(frame := counted().with_columns(expr)), frame.filter(pl.col("n") > 0)],
    "some labels": lambda expr: [(frame := counted().with_columns(expr)), frame.filter(pl.col("g").str.starts_with("city"))],
}
# Polars recognises these expressions as equal and computes them once, but a second run has other noise.
ONCE = {"two columns", "unnested", "concatenated", "joined"}
plans = pytest.mark.parametrize("plan", PLANS)
engines = pytest.mark.parametrize("engine", ["in memory", "streaming"])


def collected(frame, engine):
    return (frame.collect() if engine == "in memory" else frame.collect(engine="streaming")).rows()


def rows(plan, expr, engine):
    return [row for frame in PLANS[plan](expr) for row in collected(frame, engine)]


@plans
@engines
def test_every_plan_has_the_same_answers(plan, engine):
    assert one_answer(rows(plan, keyed_expr(), engine)) == EXPECTED


@plans
@engines
def test_an_unkeyed_expression_fails_the_same_check(plan, engine):
    expr = unkeyed_expr()
    found = rows(plan, expr, engine)
    if plan in ONCE:
        found += rows(plan, expr, engine)
    with pytest.raises(AssertionError, match="labels have several answers"):
        one_answer(found)


def test_an_unkeyed_expression_that_is_written_twice_has_two_answers():
    """Unkeyed expressions of two calls differ, while expressions of `polars_expr` agree."""
    noise = unkeyed()
    made = [pl.col("n").map_batches(lambda values: pl.Series(noise(values.to_numpy())), return_dtype=pl.Int64) for _ in range(2)]
    with pytest.raises(AssertionError, match="labels have several answers"):
        one_answer(counted().select("g", made[0], again=made[1]).collect().rows())
    assert one_answer(counted().select("g", keyed_expr(), again=keyed_expr()).collect().rows()) == EXPECTED


@engines
def test_what_is_filtered_is_what_is_shown(engine):
    released = counted().with_columns(keyed_expr())
    found = above(collected(released.filter(pl.col("n") > THRESHOLD), engine))
    assert found == {label: answer for label, answer in EXPECTED.items() if answer > THRESHOLD}


def test_a_frame_in_memory_and_collect_all():
    frame = counted().collect()
    released = frame.lazy().with_columns(keyed_expr())
    assert one_answer(frame.with_columns(keyed_expr()).rows()) == EXPECTED
    assert one_answer(row for one in pl.collect_all([released, released.reverse()]) for row in one.rows()) == EXPECTED


def test_in_the_aggregation_itself():
    expr = polars_expr(MECHANISM, KEYED, pl.col("g").first(), pl.len().cast(pl.Int64), STATISTIC, label_type="text")
    assert one_answer(pl.LazyFrame({"g": persons()}).group_by("g").agg(n=expr).collect().rows()) == EXPECTED


@engines
def test_rows_of_many_batches(engine):
    n = 150_000
    frame = pl.LazyFrame({"g": np.arange(n), "n": np.arange(n) % 1000})
    released = frame.with_columns(keyed_expr("integer")).sort("g")
    expected = MECHANISM.release(np.arange(n) % 1000, labels=np.arange(n), statistic=STATISTIC, rng=KEYED)
    assert np.array_equal([answer for _, answer in collected(released, engine)], expected)


@pytest.mark.parametrize("dtype", ["Int8", "UInt32", "Int64", "UInt64", "Float32", "Float64", "Decimal"])
@pytest.mark.parametrize("mechanism", [MECHANISM, sn.Laplace(0.1, sensitivity=1)], ids=["discrete", "continuous"])
def test_types_of_values(dtype, mechanism):
    kind = pl.Decimal(18, 0) if dtype == "Decimal" else getattr(pl, dtype)
    expr = polars_expr(mechanism, KEYED, "g", "n", STATISTIC, label_type="text")
    frame = counted().with_columns(pl.col("n").cast(kind)).with_columns(expr)
    assert frame.collect_schema()["n"] == frame.collect().schema["n"] == (pl.Int64 if mechanism is MECHANISM else pl.Float64)
    assert one_answer(frame.collect().rows()) == answers(mechanism)


@pytest.mark.parametrize(
    ("dtype", "label_type", "labels"),
    [
        ("Int64", "integer", [0, -1, 2**62, None]),
        ("UInt8", "integer", [0, 255, None]),
        ("Boolean", "boolean", [True, False, None]),
        ("Date", "date", [datetime.date(1969, 12, 31), datetime.date(2026, 11, 22), None]),
        ("Binary", "bytes", [b"", b"\0\xff", None]),
        ("Categorical", "text", ["Zürich", "a", None]),
    ],
)
def test_types_of_labels(dtype, label_type, labels):
    frame = pl.DataFrame({"g": pl.Series(labels, dtype=getattr(pl, dtype)), "n": [12] * len(labels)})
    assert one_answer(frame.select("g", keyed_expr(label_type)).rows()) == answers(labels=labels, values=[12] * len(labels))


def test_integers_that_no_float_holds():
    frame = pl.DataFrame({"g": ["a"], "n": [2**60 + 1]})
    assert one_answer(frame.with_columns(keyed_expr()).rows()) == answers(labels=["a"], values=[2**60 + 1])


def test_several_labels_are_a_tuple():
    day = datetime.date(2026, 1, 2)
    frame = pl.DataFrame({"g": LABELS, "n": COUNTS, "day": [day] * len(LABELS)})
    found = frame.select(
        "g", polars_expr(MECHANISM, KEYED, ["g", pl.col("day")], "n", STATISTIC, label_type=["text", "date"])
    ).rows()
    assert {(label, day): answer for label, answer in found} == answers(labels=[(label, day) for label in LABELS])


def test_null_is_no_answer_and_the_name_is_that_of_the_values():
    frame = pl.DataFrame({"g": ["Chur", "Chur", None], "n": [None, EXPECTED["Chur"], None]}, schema_overrides={"n": pl.Int64})
    found = frame.select(keyed_expr())
    assert found.columns == ["n"]
    assert [answer is None for answer in found["n"]] == [True, False, True]
    size = polars_expr(MECHANISM, KEYED, "g", pl.col("n").abs().alias("size"), STATISTIC, label_type="text")
    assert frame.select(size).columns == ["size"]
    assert frame.head(0).select(keyed_expr()).schema == {"n": pl.Int64}


@engines
def test_one_label_with_two_values_is_refused(engine):
    same = pl.LazyFrame({"g": ["a", "a"], "n": [12, 12]}).select("g", keyed_expr())
    assert one_answer(collected(same, engine)) == answers(labels=["a"], values=[12])
    other = pl.DataFrame({"g": ["a", "a"], "n": [12, 13]})
    with pytest.raises(Exception, match="labels must have one value each"):
        other.select(keyed_expr())


def test_a_plan_that_is_sent_elsewhere_holds_no_secret():
    """Polars serializes Python functions by cloudpickle, so the secret must stay out of them."""
    pytest.importorskip("cloudpickle")
    sent = pl.LazyFrame({"g": LABELS, "n": COUNTS}).with_columns(keyed_expr()).serialize()
    assert secret() not in sent
    assert one_answer(pl.LazyFrame.deserialize(io.BytesIO(sent)).collect().rows()) == EXPECTED
