"""The site's sources are complete: every mechanism has its page, and every public name its place.

Evidence: the registry, `stairnoise.__all__` and the files. The formulas themselves are executed by tests/pages/test_docs.py.
"""

import operator
import re
from pathlib import Path

import pytest
from public import NAMES

import stairnoise as sn
from stairnoise import engines as engines
from stairnoise import query as query
from stairnoise.registry import ROWS, Row
from tests.combinations import looped

DOCS = Path(__file__).resolve().parents[2] / "docs"
each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


PAGES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
THEORY = sorted(page for page in (DOCS / "theory").glob("*.md") if page.stem != "index")
SELECTION = ("ExponentialMechanism", "StaircaseSelection", "PermuteAndFlip", "PartitionSelection")


# Symbols, such as 2kε or σ²; numbers, such as 10⁻⁶ or ½; and signs that combine them into a formula.
SYMBOL = r"(?<![\w`\\])\d*[A-Za-zΓΔΘΛΣΦα-ωℓ][\u2032⁰¹²³⁴-⁹⁻₀-₉ᵢⱼₙᵖ]*(?![\w`])"
NUMBER = r"\d[\d.⁰¹²³⁴-⁹⁻½]*"
FORMULA = re.compile(
    "|".join(
        (
            r"[√∑∫∝⌊⌋⌈⌉]|[A-Za-zα-ω)]\^|\^[A-Za-zα-ω(]|\b[A-Za-zα-ω]_\w|·[A-Za-z]|<su[bp]>",
            r"(?<![\w`.])[A-Za-zα-ωΓΔΘΛΣΦ][\u2032₀-₉ᵢⱼₙ]*\(|\b(?:ln|log|exp)[ (][^a-z]|\bE [A-Z]\b|[|‖]\w[|‖]|\\\|",
            rf"(?:{SYMBOL}|\)) ?[+−·×/] ?(?:{SYMBOL}|{NUMBER}|\()",
            rf"{NUMBER} ?[+−·×/] ?{SYMBOL}",
            rf"{SYMBOL} [=<>≤≥≈∈] −?{SYMBOL}",
        )
    )
)


def prose(page: Path) -> str:
    """Return a page's paragraphs, lists and tables, excluding code, headings, pictures and addresses of links."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^(?: {4}|#).*$", "", text, flags=re.MULTILINE)
    return re.sub(r"``.*?``|`[^`]*`|!\[[^]]*\]|\]\([^)]*\)|<!--.*?-->|I/O", "`", text)


def parts(page: Path) -> list[str]:
    """Find formula, figure, guarantee and source on a page of theory."""
    return re.split("^## .*$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


@pytest.mark.parametrize("page", THEORY, ids=lambda page: page.stem)
def test_a_page_of_theory_is_complete(page: Path) -> None:
    """Formula and its check in Python, figure, guarantee and source, in this order; a picture has an alternative text."""
    assert re.findall("^## (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE) == ["Formula", "Figure", "Guarantee", "Source"]
    formula, figure, guarantee, source = parts(page)
    assert "```math\n" in formula
    assert "\n    >>> " in formula
    # A mechanism that has no density to draw has a table, printed by its code.
    drawn = r"^```\{picture\} sn\.\w+|!\[.{40,}\]\(\.\./figures/\w+\.svg\)|^    (>>>|\.\.\.) .*print\("
    assert re.search(drawn, figure, re.MULTILINE)
    assert re.search(r"print\(.*\.guarantee\(.*\)\)\n    Guarantee: ", guarantee)
    assert re.search(r"\b(19|20)\d\d\b|arXiv:", source)
    assert re.search(r"^More: \[", source, re.MULTILINE)


@each_row
def test_a_mechanism_has_a_page_of_theory(row: Row) -> None:
    """The page compares its formula with the pdf or pmf, or with the probability of a kept category."""
    formula, figure, _, source = parts(DOCS / "theory" / f"{row.name}.md")
    assert re.search(rf">>> noise = sn\.{row.class_name}\(", formula)
    assert re.search(r"noise\.(pdf|pmf)\(|noise\.keep_probability", formula)
    assert f"```{{picture}} sn.{row.class_name}" in figure or "](../figures/" in figure or row.kind == "category"
    assert f"`{row.class_name}` in the API" in source


def test_the_page_on_selection_is_about_every_mechanism_that_selects() -> None:
    formula, figure, guarantee, source = parts(DOCS / "theory" / "selection.md")
    for name in SELECTION:
        assert f"sn.{name}(" in formula
        assert f"`{name}`" in source
    assert all(f"sn.{name}" in guarantee for name in SELECTION[:3])
    assert "selection.svg" in figure


def test_every_public_name_has_a_place_in_the_api() -> None:
    """A new module with an `__all__` is not forgotten either."""
    text, module, listed = (DOCS / "api" / "index.rst").read_text(encoding="utf-8"), "", []
    for named, names, constant in re.findall(r"currentmodule:: (\S+)|nosignatures:\n\n((?:   \w+\n)+)|py:data:: (\S+)", text):
        module = named or module
        listed += [f"{module}.{name}" for name in names.split()] + [constant] * bool(constant)
    assert sorted(listed) == sorted(NAMES)


def test_every_picture_has_a_place_in_the_api() -> None:
    """`stairnoise.figures` has no public names; functions and methods of other names call it."""
    assert [name for name in NAMES if name.startswith("stairnoise.figures")] == []
    public = [name.removeprefix("stairnoise.") for name in NAMES if ".compat." not in name]
    kinds = {name: kind for name in public if isinstance(kind := operator.attrgetter(name)(sn), type)}
    members = [f"{name}.{member}" for name, kind in kinds.items() for member in vars(kind)]
    drawn = {name for name in (*public, *members) if name.rpartition(".")[2].startswith("plot")}
    section = (DOCS / "api" / "index.rst").read_text(encoding="utf-8").partition("\nPictures\n")[2].partition("\nEngines\n")[0]
    assert set(re.findall(r"[\w.]*\bplot\w*", section)) == drawn


def test_every_page_is_in_a_toctree() -> None:
    """Sphinx would also report a missing page, but only where it is installed."""
    pages = {page.relative_to(DOCS).with_suffix("").as_posix() for page in DOCS.rglob("*.md") if "_build" not in page.parts}
    found = {"index"}
    for page in DOCS.rglob("*.md"):
        for tree in re.findall(
            r"^```\{toctree\}\n(?::\w+:.*\n\n)?(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
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


@looped("page", PAGES)
def test_a_formula_is_no_text(page: Path) -> None:
    """A rule of CONTRIBUTING.md: the forge renders $…$ between spaces or punctuation, unless Markdown escapes a sign in it."""
    text = prose(page)
    assert FORMULA.findall(re.sub(r"\$[^$\n]*\$", "`", text)) == []
    assert re.sub(r"(?<![^\s(])\$(?! )(?:[^$\n\\*]|\\[A-Za-z])*(?<! )\$(?![^\s),.:;])", "", text).count("$") == 0


@pytest.mark.parametrize(
    "text", ["m = ε/k", "P(X > 1)", "b = c", "√k", "E|X|", "e^(−ε)", "k·ε", "n + 1", "1 − δ", "a_k", "ln 2", "⌈Δ/g⌉"]
)
def test_what_a_formula_is(text: str) -> None:
    assert FORMULA.search(f"so {text}, always")


@pytest.mark.parametrize(
    "text", ["ε = 4", "0 < p < 1", "σ² and εᵢ", "2⁶³ − 1", "n = 10⁷", "(ε, δ)-private", "2kε", "−m … m", "value(s)", "ε → 0"]
)
def test_what_no_formula_is(text: str) -> None:
    assert not FORMULA.search(f"so {text}, always")
