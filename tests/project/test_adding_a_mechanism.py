"""CONTRIBUTING.md, "To add a mechanism": the files that it names exist, and every mechanism has its own in each place.

Evidence: the section's table, the registry, and the files.
"""

import json
import re
from pathlib import Path

import pytest

from stairnoise.registry import ROWS, Row

ROOT = Path(__file__).resolve().parents[2]
SECTION = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## To add a mechanism\n")[2].partition("\n## ")[0]
FILES = re.findall(r"^\| `([^`]+)` \|", SECTION, re.MULTILINE)
# The model that the section names.
MODEL = "truncated_laplace"
# Mechanisms that have a folder.
CORE = {"multivariate_staircase": "multivariate/mod.rs"}
TESTS = {"discrete_gaussian": "gaussian"}
EVERYWHERE = (
    "docs/contract.md",
    "docs/mechanisms.md",
    "python/stairnoise/__init__.py",
    "python/stairnoise/registry.py",
)

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_the_files_of_the_section_exist(name: str) -> None:
    assert (ROOT / name.replace("<mechanism>", MODEL)).is_file()


def test_the_section_names_every_place_that_is_tested() -> None:
    assert set(EVERYWHERE) <= set(FILES)
    assert len(FILES) == len(set(FILES)) == 19


@each_row
def test_a_mechanism_has_its_files(row: Row) -> None:
    assert (ROOT / "rust/core/src/mechanisms" / CORE.get(row.name, f"{row.name}.rs")).is_file()
    assert (ROOT / f"python/stairnoise/mechanisms/{row.name}/mechanism.py").is_file()
    assert (ROOT / f"tests/by_mechanism/test_{TESTS.get(row.name, row.name)}.py").is_file()


@each_row
@pytest.mark.parametrize("name", EVERYWHERE)
def test_a_mechanism_is_named_in_every_place(row: Row, name: str) -> None:
    assert re.search(rf"\b{row.class_name}\b", text(name))


@each_row
def test_a_mechanism_has_pages_theory_and_vectors(row: Row) -> None:
    own_pages = [
        path for path in (ROOT / "docs").glob("*.md") if path.name not in ("contract.md", "guarantees.md", "mechanisms.md")
    ]
    assert any(re.search(rf"\b{row.class_name}\b", path.read_text(encoding="utf-8")) for path in own_pages)
    mechanism = row.load()
    theory = re.compile(r"stairnoise\.(distributions|mechanisms\.\w+(\.| import .*)(distribution|stairs|loss))")
    assert any(theory.search(text(f"python/{kind.__module__.replace('.', '/')}.py")) for kind in _bases(row, mechanism))
    known = json.loads(text("python/stairnoise/data/known_answers.json"))
    assert row.class_name in {entry["law"] for kind in ("draws", "releases") for entry in known[kind]}


def _bases(row: Row, mechanism: type) -> list[type]:
    """The bases that have a file, and the mechanism itself, whose public module is not its file."""
    own = type("Own", (), {"__module__": row.module})
    return [own, *(base for base in mechanism.__mro__[1:] if base.__module__.startswith("stairnoise.mechanism"))]
