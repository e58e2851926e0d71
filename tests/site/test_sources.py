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


THEORY = sorted(page for page in (DOCS / "theory").glob("*.md") if page.stem != "index")
SELECTION = ("ExponentialMechanism", "StaircaseSelection", "PermuteAndFlip", "PartitionSelection")


def parts(page: Path) -> list[str]:
    """Formula, figure, guarantee and source of a page of theory."""
    return re.split("^## .*$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("page", THEORY, ids=lambda page: page.stem)
def test_a_page_of_theory_is_complete(page: Path) -> None:
    """Formula and its check in Python, figure, guarantee and source, in this order; a picture has words for who cannot see it."""
    assert re.findall("^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE) == ["Formula", "Figure", "Guarantee", "Source"]
    formula, figure, guarantee, source = parts(page)
    assert "```math\n" in formula
    assert "\n    >>> " in formula
    assert re.search(r"^```\{picture\} sn\.\w+", figure, re.MULTILINE) or re.search(
        r"!\[.{40,}\]\(\.\./figures/\w+\.svg\)", figure
    )
    assert re.search(r"print\(.*\.guarantee\(.*\)\)\n    Guarantee: ", guarantee)
    assert re.search(r"\b(19|20)\d\d\b|arXiv:", source)
    assert re.search(r"^More: \[", source, re.MULTILINE)


@each_row
def test_a_law_has_a_page_of_theory(row: Row) -> None:
    """The formula is that of the law, compared with its pdf or pmf."""
    formula, figure, _, source = parts(DOCS / "theory" / f"{row.name}.md")
    assert re.search(rf">>> law = sn\.{row.class_name}\(", formula)
    assert re.search(r"law\.(pdf|pmf)\(", formula)
    assert f"```{{picture}} sn.{row.class_name}" in figure or "](../figures/" in figure
    assert f"`{row.class_name}` in the API" in source


def test_the_page_on_selection_is_about_every_mechanism_that_selects() -> None:
    formula, figure, guarantee, source = parts(DOCS / "theory" / "selection.md")
    for name in SELECTION:
        assert f"sn.{name}(" in formula
        assert f"`{name}`" in source
    assert all(f"sn.{name}" in guarantee for name in SELECTION[:3])
    assert "selection.svg" in figure


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
