"""Spark gives the answers that `release` of an array gives, also if a task fails after it has drawn.

Evidence: equality; a negative control, in which unkeyed noise fails the same check. Needs pyspark and Java; about a minute.
"""

import datetime
import importlib.util
import os
import shutil
import sys
import time
from decimal import Decimal
from pathlib import Path

import pytest

import stairnoise as sn
from stairnoise.engines import release_part
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
)

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.skipif(not (os.environ.get("JAVA_HOME") or shutil.which("java")), reason="Spark needs a Java runtime"),
    # Spark and Py4J leave these warnings.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    # Workers import the functions of this file by name.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    path = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *([path] if path else [])])
    options = {
        # Two threads; a task is tried four times.
        "spark.master": "local[2,4]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
    if path is None:
        del os.environ["PYTHONPATH"]
    else:
        os.environ["PYTHONPATH"] = path


def keyed_part(part):
    return release_part(part, MECHANISM, KEYED, "g", "n", STATISTIC, label_type="text")


def unkeyed_part(part):
    """Add fresh noise to an Arrow batch or a pandas frame, as any unkeyed function does."""
    frame = part if isinstance(part, pd.DataFrame) else part.to_pandas()
    frame = frame.assign(n=MECHANISM.release(frame["n"].to_numpy(), rng=sn.SecureRng()))
    return frame if isinstance(part, pd.DataFrame) else type(part).from_pandas(frame, schema=part.schema)


class Parts:
    """The function for `mapInPandas` and `mapInArrow`; if `fails` is set, each task's first attempt fails after its last draw."""

    def __init__(self, release, notes, fails):
        self.release, self.notes, self.fails = release, notes, fails

    def __call__(self, parts):
        from pyspark import TaskContext

        attempt = TaskContext.get().attemptNumber()
        for part in parts:
            released = self.release(part)
            table = released if isinstance(released, pd.DataFrame) else released.to_pandas()
            pairs = [(None if pd.isna(label) else label, answer) for label, answer in table[["g", "n"]].itertuples(index=False)]
            (Path(self.notes) / f"{os.getpid()}-{time.time_ns()}-{attempt}").write_text(repr(pairs), encoding="utf-8")
            yield released
        if self.fails and attempt == 0:
            raise RuntimeError("the first attempt fails after it has drawn")


def counted(spark):
    return (
        spark.createDataFrame([(label,) for label in persons()], "g string").groupBy("g").count().withColumnRenamed("count", "n")
    )


def collected(frame):
    return [tuple(row) for row in frame.collect()]


def drawn(notes):
    """Return every pair of label and answer that any attempt drew."""
    return [pair for note in Path(notes).iterdir() for pair in eval(note.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("how", ["mapInPandas", "mapInArrow"])
@pytest.mark.parametrize("fails", [False, True], ids=["", "fails after drawing"])
def test_every_attempt_and_partitioning_has_the_same_answers(spark, tmp_path, how, fails):
    parts = Parts(keyed_part, str(tmp_path), fails)
    for frame in (counted(spark), counted(spark).repartition(5), counted(spark).coalesce(1)):
        released = getattr(frame, how)(parts, frame.schema)
        assert one_answer(collected(released)) == EXPECTED
    assert one_answer(drawn(tmp_path)) == EXPECTED
    attempts = {note.name.rpartition("-")[2] for note in tmp_path.iterdir()}
    assert attempts == ({"0", "1"} if fails else {"0"})


@pytest.mark.parametrize("how", ["mapInPandas", "mapInArrow"])
def test_unkeyed_noise_fails_the_same_check(spark, tmp_path, how):
    """All 40 answers are the same twice with probability below 1e-50."""
    frame = counted(spark)
    found = collected(getattr(frame, how)(Parts(unkeyed_part, str(tmp_path), True), frame.schema))
    assert len(one_answer(found)) == len(LABELS), "the collected frame has one answer a label"
    with pytest.raises(AssertionError, match="labels have several answers"):
        one_answer(drawn(tmp_path))


def test_a_lazy_frame_that_is_collected_twice_joined_and_filtered(spark):
    frame = counted(spark)
    released = frame.mapInArrow(lambda parts: map(keyed_part, parts), frame.schema)
    again = released.withColumnsRenamed({"g": "h", "n": "again"})
    assert one_answer(collected(released) + collected(released)) == EXPECTED
    joined = released.join(again, released.g.eqNullSafe(again.h)).select("g", "n", "again")
    assert one_answer(collected(joined)) == EXPECTED
    kept = {label: answer for label, answer in EXPECTED.items() if answer > THRESHOLD}
    assert above(collected(released.where(f"n > {THRESHOLD}"))) == kept


def test_pandas_udf(spark):
    from pyspark.sql.functions import pandas_udf

    @pandas_udf("long")
    def noisy(labels: pd.Series, values: pd.Series) -> pd.Series:
        return release_part(pd.DataFrame({"g": labels, "n": values}), MECHANISM, KEYED, "g", "n", STATISTIC, label_type="text")[
            "n"
        ]

    frame = counted(spark).select("g", noisy("g", "n").alias("n"))
    assert one_answer(collected(frame) + collected(frame)) == EXPECTED
    assert above(collected(frame.where(f"n > {THRESHOLD}"))) == {
        label: answer for label, answer in EXPECTED.items() if answer > THRESHOLD
    }


def test_nulls_of_arrow_stay(spark):
    frame = spark.createDataFrame(list(zip(LABELS, [None, *COUNTS[1:]], strict=True)), "g string, n long")
    found = one_answer(collected(frame.mapInArrow(lambda parts: map(keyed_part, parts), frame.schema)))
    assert found == EXPECTED | {LABELS[0]: None}


def test_an_error_on_a_worker_shows_no_data(spark):
    from tests.interface.canaries import NUMBER, TEXT, leaks

    frame = spark.createDataFrame([(TEXT, NUMBER), (TEXT, NUMBER + 1)], "g string, n long").coalesce(1)
    for how in ("mapInPandas", "mapInArrow"):
        with pytest.raises(Exception, match="labels must have one value each") as caught:
            getattr(frame, how)(lambda parts: map(keyed_part, parts), frame.schema).collect()
        assert not leaks(str(caught.value))


@pytest.mark.parametrize("how", ["mapInPandas", "mapInArrow"])
@pytest.mark.parametrize(
    ("kind", "label_type", "labels"),
    [
        ("string", "text", ["", "2026-01-02", "true", None]),
        ("long", "integer", [0, 1, -(2**63)]),
        ("decimal(38, 0)", "integer", [Decimal(0), Decimal(2**63 - 1), None]),
        ("boolean", "boolean", [True, False, None]),
        ("date", "date", [datetime.date(1969, 12, 31), datetime.date(2026, 1, 2), None]),
        ("binary", "bytes", [b"", b"\0\xff", None]),
    ],
)
def test_types_of_labels(spark, how, kind, label_type, labels):
    frame = spark.createDataFrame([(label, 12) for label in labels], f"g {kind}, n long").coalesce(1)

    def released(parts):
        return (release_part(part, MECHANISM, KEYED, "g", "n", STATISTIC, label_type=label_type) for part in parts)

    found = [row.n for row in getattr(frame, how)(released, frame.schema).collect()]
    assert found == list(answers(labels=labels, values=[12] * len(labels)).values())


@pytest.mark.parametrize("how", ["mapInPandas", "mapInArrow"])
@pytest.mark.parametrize(
    ("kind", "label"), [("string", "2026-01-02"), ("timestamp", datetime.datetime(2026, 1, 2)), ("long", 20455), ("double", 1.0)]
)
def test_a_column_of_another_type_is_refused(spark, how, kind, label):
    frame = spark.createDataFrame([(label, 12)], f"g {kind}, n long")

    def released(parts):
        return (release_part(part, MECHANISM, KEYED, "g", "n", STATISTIC, label_type="date") for part in parts)

    with pytest.raises(Exception, match="labels must be"):
        getattr(frame, how)(released, frame.schema).collect()
