"""A frame and a table of Spark Connect are asked as those of a session in this process.

Evidence: random tables against a plain program, in a process of its own, because Connect starts another kind of session. Needs
pyspark with grpcio and its kin, and Java.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

NEEDED = ("pyspark", "grpc", "grpc_status", "google.rpc")
PROGRAM = """
import random
from dataclasses import replace
from pyspark.sql import SparkSession
from stairnoise.query.sources import open_source
from tests.query import test_spark as on_spark

spark = SparkSession.builder.remote("local[1]").config("spark.sql.shuffle.partitions", "1").getOrCreate()
assert "connect" in type(spark).__module__
rows = on_spark.random_tables(random.Random(11))
question = on_spark.asked(on_spark.STATISTICS["counts and sums"])
frame = on_spark.frame(spark, rows)
frame.createOrReplaceTempView("several")
for source, table in ((frame, None), (spark, "several")):
    with open_source(source) as opened:
        found = opened.answers(replace(question, table=table), order=bytes(32))
    assert (found.counts.tolist(), found.sums.tolist()) == on_spark.expected(rows, question, found.units)
print("equal")
"""


def installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def test_random_tables():
    missing = [name for name in NEEDED if not installed(name)]
    if missing or not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        pytest.skip(f"Spark Connect needs {', '.join(missing) or 'a Java runtime'}")
    root = Path(__file__).parents[2]
    ran = subprocess.run([sys.executable, "-c", PROGRAM], cwd=root, capture_output=True, text=True, timeout=300)
    assert ran.stdout.strip().endswith("equal"), ran.stderr[-2000:]
