"""On the built site, every link and anchor has a target, nothing loads from elsewhere, and no API page is empty.

Evidence: the HTML, read by Python's parser.
"""

import json
import posixpath
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from public import NAMES

import stairnoise as sn
from stairnoise.registry import ROWS
from tests.combinations import looped

DOCS = Path(__file__).resolve().parents[2] / "docs"


class Page(HTMLParser):
    """Anchors, links, loaded files and formulas of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in ("script", "img", "iframe", "object", "source", "embed", "video") and (given.get("src") or given.get("data")):
            self.loaded.append(given.get("src") or given["data"])
        if tag == "link" and given.get("rel") not in ("index", "search", "next", "prev", "author", "canonical"):
            self.loaded.append(given["href"])


@cache
def parsed(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def pages(site: Path) -> list[Path]:
    return sorted(page for page in site.rglob("*.html") if "_static" not in page.parts)


def test_the_sections_are_there(site: Path) -> None:
    names = {page.relative_to(site).as_posix() for page in pages(site)}
    sections = ("tutorials/index", "how_to/index", "choose/index", "theory/index", "api/index", "trust/index")
    assert {f"{name}.html" for name in ("index", "start", "explore", "changelog", *sections)} <= names


def test_links_and_anchors(site: Path) -> None:
    missing, checked = [], 0
    for page in pages(site):
        name = page.relative_to(site).as_posix()
        for link in parsed(page).links:
            parts = urlsplit(link)
            if parts.scheme or link in ("#", ""):
                continue
            checked += 1
            folder = posixpath.dirname(name)
            target = site / posixpath.normpath(posixpath.join(folder, unquote(parts.path))) if parts.path else page
            anchor = unquote(parts.fragment) if target.suffix == ".html" else ""
            if not target.is_file() or (anchor and anchor not in parsed(target).ids):
                missing.append(f"{name}: {link}")
    print(f"{checked} links on {len(pages(site))} pages")
    assert missing == []
    assert checked > 5000


def test_nothing_comes_from_elsewhere(site: Path) -> None:
    from_elsewhere = {link for page in pages(site) for link in parsed(page).loaded if urlsplit(link).netloc}
    assert from_elsewhere == set()
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)\"']*", styles) == []


def test_types_and_errors_lead_to_what_they_are(site: Path) -> None:
    links = parsed(site / "api" / "generated" / "stairnoise.Staircase.html").links
    for name in ("SecureRng", "KeyedRng", "PrivacyLoss", "ParameterError", "LazyError"):
        assert f"stairnoise.{name}.html#stairnoise.{name}" in links, name
    assert "https://numpy.org/doc/stable/reference/generated/numpy.ndarray.html#numpy.ndarray" in links
    assert "https://docs.python.org/3/library/functions.html#float" in links


def test_a_paper_that_a_docstring_names_is_linked(site: Path) -> None:
    links = parsed(site / "api" / "generated" / "stairnoise.Staircase.html").links
    assert "https://arxiv.org/abs/1212.1186" in links
    for page in pages(site):
        for words in re.findall(r"<a\b.*?</a>|(arXiv:\d{4}\.\d+)", page.read_text(encoding="utf-8"), re.DOTALL):
            assert not words, page.name


def test_other_projects_names_are_used(site: Path) -> None:
    """Lists of names in docs/inventories have exactly the linked names."""
    linked = {link for page in pages(site) for link in parsed(page).links}
    for path in (DOCS / "inventories").glob("*.txt"):
        address, *lines = path.read_text(encoding="utf-8").splitlines()
        entries = [line.split() for line in lines]
        places = {address + (place[:-1] + name if place.endswith("$") else place) for name, _, place in entries}
        assert places - linked == set()


def test_the_left_column_lists_six_sections(site: Path) -> None:
    """The same ones on every page; the section of the page is open."""
    for page in pages(site):
        (column,) = re.findall(r'<nav class="bd-docs-nav bd-links".*?</nav>', page.read_text(encoding="utf-8"), re.DOTALL)
        names = re.findall(r'<li class="toctree-l1([^"]*)"><a [^>]*>\s*(.*?)\s*</a>', column, re.DOTALL)
        assert [name for _, name in names] == ["Start", "How-to", "Choose", "Theory", "API", "Trust"], page
        inside = page.relative_to(site).as_posix() not in ("index.html", "search.html", "genindex.html", "py-modindex.html")
        assert sum("current" in kind for kind, _ in names) == inside, page
        assert (column.count("<a ") > 6) == inside, page


def test_pages_are_not_called_files(site: Path) -> None:
    for page in pages(site):
        text = page.read_text(encoding="utf-8")
        assert re.findall(r'<a class="reference internal" href="[^"]*"><span class="[^"]*">[^<]*\.md</span>', text) == [], (
            page.name
        )


def test_fields_of_a_comparisons_rows_are_described(site: Path) -> None:
    text = (site / "api" / "generated" / "stairnoise.Comparison.html").read_text(encoding="utf-8")
    for field in sn.compare(1)[0]._fields:
        assert f'<span class="pre">{field}</span></code>: ' in text, field


def test_search_knows_greek_letters_by_name(site: Path) -> None:
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("{") : text.rindex("}") + 1])

    def found(terms: dict[str, Any], word: str) -> set[int]:
        return {terms[word]} if isinstance(terms[word], int) else set(terms[word])

    for kind in ("terms", "titleterms"):
        assert found(index[kind], "epsilon") >= found(index[kind], "ε") != set()
        assert found(index[kind], "delta") >= found(index[kind], "δ") != set()


def test_formulas_are_mathml(site: Path) -> None:
    """Each page of theory has at least one formula, and no page has TeX left."""
    theory = list((site / "theory").glob("*.html"))
    assert {row.name for row in ROWS} <= {page.stem for page in theory}
    for page in theory:
        assert ("math" in parsed(page).tags) is (page.stem != "index"), page.name
    assert "math" in parsed(site / "api" / "generated" / "stairnoise.Staircase.html").tags
    for page in pages(site):
        formulas = re.findall("<math.*?</math>", page.read_text(encoding="utf-8"), re.DOTALL)
        assert [formula for formula in formulas if "\\" in formula] == [], page.name


@looped("name", [name for name in NAMES if name != "stairnoise.__version__"])
def test_a_public_name_has_a_page_that_says_something(site: Path, name: str) -> None:
    kind = pytest.importorskip("members").PUBLIC[name]
    path = site / "api" / "generated" / f"{name}.html"
    text = path.read_text(encoding="utf-8")
    assert name in parsed(path).ids
    described = re.findall(r'<dt class="sig sig-object py" id="([^"]*)">.*?</dt>\s*<dd>(.*?)(?=</?dd|<dl)', text, re.DOTALL)
    assert described
    assert [member for member, words in described if not re.search(r"\w", re.sub("<[^>]*>", "", words))] == []
    for field in getattr(kind, "_fields", ()):
        assert f"<strong>{field}</strong>" in text, field
    for member in dir(kind):
        thing = getattr(kind, member, None)
        if not member.startswith("_") and "stairnoise" in str(getattr(thing, "__module__", "")):
            assert f"{name}.{member}" in parsed(path).ids, member
