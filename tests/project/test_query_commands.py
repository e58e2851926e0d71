"""The commands of docs/query.md and docs/questions.md run unchanged, one after the other, and write what the page shows."""

import csv
import doctest
import json
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from scripts import demo_database
from stairnoise.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "query.md").read_text(encoding="utf-8")
QUESTIONS = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
WRITTEN = re.findall(r"^    \$ ((?:.*\\\n)*.*)$", PAGE + QUESTIONS, re.MULTILINE)
COMMANDS = [shlex.split(text.replace("\\\n", " ")) for text in WRITTEN]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("query")
    demo_database.main(directory / "adult.db")
    rows = [(n % 300, ("Bern", "Chur", "Aarau")[n % 3], n % 250, f"{1 + n % 30:02}.11.2026", 18 + n % 80) for n in range(3000)]
    with (directory / "visits.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("visitor", "city", "spent", "day", "age"), *rows])
    (directory / "visits.key").write_bytes(bytes(range(32)))
    if find_spec("duckdb"):
        write_people(directory / "people.parquet")
    return directory


def write_people(path):
    """Write the frame of docs/questions.md."""
    import duckdb

    names = {}
    exec("\n".join(doctest.DocTestParser().get_examples(QUESTIONS)[place].source for place in (0, 2)), names)
    people = names["people"]
    assert len(people) == 2000
    duckdb.from_df(people).write_parquet(str(path))


def test_the_page_has_commands():
    assert len(COMMANDS) >= 7
    assert {command[0] for command in COMMANDS} == {"stairnoise"}


@pytest.mark.parametrize("command", COMMANDS, ids=range(1, len(COMMANDS) + 1))
def test_a_command_of_the_page_runs(capsys, monkeypatch, directory, command):
    if any(word.endswith((".csv", ".parquet")) for word in command[:3]):
        pytest.importorskip("duckdb")
    monkeypatch.chdir(directory)
    (directory / "private.csv").unlink(missing_ok=True)
    (directory / "private.csv.json").unlink(missing_ok=True)
    assert main(command[1:]) == 0, capsys.readouterr().err
    if "-o" in command:
        notes = json.loads((directory / "private.csv.json").read_text(encoding="utf-8"))
        assert notes["eps"] == 1
        shown = re.search(r"^    (marital_status,race.*)$", PAGE, re.MULTILINE)
        assert shown is not None
        assert (directory / "private.csv").read_text(encoding="utf-8").splitlines()[0] == shown[1]
