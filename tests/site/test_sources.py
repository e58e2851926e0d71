"""The sources of the site are complete: every law has its page, and every public name its place.

Evidence: the registry, `stairnoise.__all__` and the files. The formulas themselves are executed by tests/pages/test_docs.py.
"""

import re
from pathlib import Path

import pytest

import stairnoise as sn
from stairnoise._registry import ROWS, Row

DOCS = Path(__file__).resolve().parents[2] / "docs"
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


@each_row
def test_a_law_has_a_page_of_theory(row: Row) -> None:
    """Formula, its check against pdf or pmf, figure, guarantee and source, in this order."""
    text = (DOCS / "theory" / f"{row.name}.md").read_text(encoding="utf-8")
    assert re.findall("^## (.*)$", text, re.MULTILINE) == ["Formula", "Figure", "Guarantee", "Source"]
    _, formula, figure, guarantee, source = re.split("^## .*$", text, flags=re.MULTILINE)
    assert "```math\n" in formula
    assert re.search(rf">>> law = sn\.{row.class_name}\(", formula)
    assert re.search(r"law\.(pdf|pmf)\(", formula)
    assert f"```{{picture}} sn.{row.class_name}" in figure or "](../figures/" in figure
    assert re.search(r">>> print\(.*\.guarantee\(.*\)\)\n    Guarantee: ", guarantee)
    assert re.search(r"\b(19|20)\d\d\b|arXiv:", source)
    assert f"`{row.class_name}` in the API" in source


def test_every_public_name_has_a_place_in_the_api() -> None:
    text = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    listed = re.findall(r"^   (\w+)$", text, re.MULTILINE) + re.findall(r"^\.\. py:data:: stairnoise\.(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(sn.__all__)


def test_every_page_is_in_a_toctree() -> None:
    """Sphinx says so too, but only where it is installed."""
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md") if "_build" not in page.parts}
    found = {"index"}
    for page in DOCS.rglob("*.md"):
        for tree in re.findall(
            r"^```\{toctree\}\n:hidden:\n\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            found |= {(page.parent / name).resolve().relative_to(DOCS).as_posix() for name in tree.split()}
    assert pages - found == set()
    assert found - pages == {"api/index"}


def test_inventories_are_lists_of_names() -> None:
    lists = sorted((DOCS / "inventories").glob("*.txt"))
    assert [path.stem for path in lists] == ["numpy", "python", "scipy"]
    for path in lists:
        address, *lines = path.read_text(encoding="utf-8").splitlines()
        assert re.fullmatch(r"https://\S+/", address)
        assert lines == sorted(lines)
        assert all(re.fullmatch(r"\S+ \w+:\w+ \S+", line) for line in lines)
