"""SQLGlot is asked what belongs together, and nothing that it does not tell in a known way is believed.

Evidence: trees of a made-up newer SQLGlot; the tests of conditions with the lowest and the highest version of the range.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stairnoise as sn
from stairnoise._optional import MissingPackageError
from stairnoise.query.condition import judge
from tests.query.test_conditions import judged

sqlglot = pytest.importorskip("sqlglot")

ROOT = Path(__file__).parents[2]
PARSED = [
    "age = 1 and ok or not ok",
    "age in (1, 2) and age not between 1 and -2",
    "race not like 'a' or race ilike 'b'",
    "lower(race) = 'x' and ok is not true and sex is null",
    "case age when 1 then 2 else 3 end + 4 * 5 - 6 is distinct from 7",
]


def nodes(where):
    """Return how many nodes SQLGlot finds."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        parse = sqlglot.parse_one
        patch.setattr(sqlglot, "parse_one", lambda *asked, **more: found.append(parse(*asked, **more)) or found[-1])
        judged(where)
    return len(list(found[0].walk()))


@pytest.mark.parametrize("where", PARSED)
def test_an_argument_that_is_not_listed_is_refused_at_every_node(where, monkeypatch):
    parse = sqlglot.parse_one
    for place in range(nodes(where)):

        def newer(*asked, place=place, **more):
            tree = parse(*asked, **more)
            list(tree.walk())[place].set("symmetric", True)
            return tree

        monkeypatch.setattr(sqlglot, "parse_one", newer)
        with pytest.raises(sn.ParameterError, match=r"this one has \w+ with symmetric$"):
            judged(where)


def test_a_node_that_is_not_listed_is_refused(monkeypatch):
    column = sqlglot.exp.column("0", quoted=True)
    monkeypatch.setattr(sqlglot, "parse_one", lambda *_, **__: sqlglot.exp.Xor(this=column, expression=column.copy()))
    with pytest.raises(sn.ParameterError, match="this one has Xor"):
        judged("ok")


@pytest.mark.parametrize("version", ["26.99.0", "27.28.1", "30.31.0", "31.0.0.dev1"])
def test_another_version_is_refused_by_name(version, monkeypatch):
    monkeypatch.setattr(sqlglot, "__version__", version)
    message = re.escape(f"sqlglot from 27.29 to 30.30, got {version}: pip install 'stairnoise[query]'")
    with pytest.raises(MissingPackageError, match=message):
        judged("ok")


def test_the_range_is_that_of_the_extra():
    (low, least), (high, most) = judge.VERSIONS
    ranges = re.findall(r'"sqlglot([^"]*)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert ranges == [f">={low}.{least},<{high}.{most + 1}"] * 2


def test_only_a_condition_needs_the_parser():
    program = """
import sqlite3, sys
sys.modules["sqlglot"] = None
import stairnoise._optional
from stairnoise import query
con = sqlite3.connect(":memory:")
con.execute("create table t (age integer)")
query.count(con, "t", row_is_person=True, eps=1)
try:
    query.count(con, "t", row_is_person=True, eps=1, where="age > 1")
except stairnoise._optional.MissingPackageError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "a condition needs sqlglot: pip install 'stairnoise[query]'\n"


@pytest.mark.long
def test_conditions_mean_the_same_with_the_lowest_version(tmp_path):
    """The highest version is the one that is installed."""
    assert tuple(map(int, sqlglot.__version__.split(".")[:2])) == judge.VERSIONS[1]
    lowest = ".".join(map(str, judge.VERSIONS[0]))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path), f"sqlglot=={lowest}.*"]
    if subprocess.run(pip, capture_output=True, check=False).returncode:
        pytest.skip(f"pip could not install sqlglot {lowest}: no network?")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    version = [sys.executable, "-c", "import sqlglot; print(sqlglot.__version__)"]
    assert subprocess.run(version, env=env, capture_output=True, text=True, check=True).stdout.startswith(lowest)
    files = [f"tests/query/test_{name}.py" for name in ("conditions", "condition_meaning", "condition_parser")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    run = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-5000:]
