"""The code blocks in docs/engines.md and docs/distributed_work.md that need more than the packages of the tests.

Evidence: each block runs unchanged, and its own assertions hold. A block is skipped by name if pyspark with Java, Ray or
Beam is missing.
"""

import importlib.util
import os
import re
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages.test_docs import write_modules

DOCS = Path(__file__).resolve().parents[2] / "docs"
# Packages and commands that a block needs, by the heading above the block.
NEEDS = {
    "Spark": ("pyspark", "pandas", "pyarrow", "java"),
    "Ray": ("ray", "pyarrow"),
    "Beam": ("apache_beam", "pandas"),
}

# Names that a block can use: a session, a mechanism and a key, and a place to write to.
BEFORE = """
import os, sys
import stairnoise as sn
from release_secret import fetch
from stairnoise.engines import release_part

keyed, mechanism = sn.KeyedRng(fetch, "persons 2026-Q3"), sn.DiscreteLaplace(eps=1)
output = "released.txt"
"""
SPARK = """
from pyspark.sql import SparkSession

spark = (
    SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.memory", "1g").getOrCreate()
)
"""
AFTER = {
    "Beam": "assert len(open(output).readlines()) == 3",
}


def blocks():
    for page in ("engines.md", "distributed_work.md"):
        parts = re.split(r"^#+ (.*)$", (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
        for heading, text in zip(parts[1::2], parts[2::2], strict=True):
            for number, code in enumerate(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)):
                yield pytest.param(heading, code, id=f"{heading} {number + 1}")


def missing(heading):
    for name in NEEDS[heading]:
        if name == "java":
            found = bool(os.environ.get("JAVA_HOME") or shutil.which("java"))
        else:
            found = importlib.util.find_spec(name) is not None
        if not found:
            return name
    return None


def test_every_block_has_its_needs():
    headings = {parameter.values[0] for parameter in blocks()}
    assert headings == set(NEEDS)


@pytest.mark.long
@pytest.mark.parametrize(("heading", "code"), list(blocks()))
def test_block_runs(heading, code, tmp_path):
    if (name := missing(heading)) is not None:
        pytest.skip(f"{name} is missing")
    before = BEFORE + (SPARK if "Spark" in heading else "")
    script = tmp_path / "recipe.py"
    script.write_text("\n".join([before, code, AFTER.get(heading, "")]), encoding="utf-8")
    write_modules(tmp_path)
    environment = os.environ | {"RELEASE_SECRET": secrets.token_hex(32), "PYSPARK_PYTHON": sys.executable}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment |= {"RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run([sys.executable, script], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
