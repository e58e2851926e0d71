"""One word for one thing: docs/glossary.md has the terms of the pages, and no page uses a banned word.

Evidence: the text of every tracked page without its code. A term that a page defines in *italics* belongs in the glossary; a word
that is only stressed belongs in STRESSED, and a word that has confused readers in BANNED.
"""

import re
import subprocess
from pathlib import Path

import pytest

from tests.combinations import looped

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
LINES = GLOSSARY.read_text(encoding="utf-8").splitlines()
TERMS = [found.groups() for line in LINES if (found := re.fullmatch(r"- \[(.+?)\]\((\S+?)\): (.+)\.", line))]
# The first page explains its own terms; programs write the pages of records.
OWN_TERMS = {"docs/contract.md"}

# Words banned from pages, with their replacements.
BANNED = {
    r"\blaws?\b(?! of large numbers)": "mechanism, or distribution",
    r"\bcells?\b": "group, value, step or entry",
    r"\bnoise by key\b": "keyed release",
    r"\bin place of\b": "instead of",
    r"\bso (?:many|much) as\b": "as many as",
}
# Words in italics that are not our terms: stressed words, and names of other people's ideas.
STRESSED = {
    *("add or remove", "added or removed", "all", "column", "every", "finite", "groups", "less", "one", "people", "replaced"),
    *("not run", "smallest", "sum", "the same", "together", "what is drawn", "which"),
    *("deprecated", "fixed", "security", "forgetting", "work"),  # headings
    *("cactus", "dp-sgd", "poisson sampling", "privacy hazards", "tulap"),
}


def tracked() -> list[Path]:
    """Return all pages that Git tracks except benchmark records; if Git is missing, all pages in docs/ and the root."""
    try:
        done = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        found = {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")}
    else:
        found = {ROOT / name for name in done.stdout.splitlines()}
    return sorted(page for page in found if page.is_file() and not {"record", "_build"} & set(page.parts))


def prose(text: str) -> str:
    """Return a page's text, excluding code, file names of pictures and addresses of links."""
    text = re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^ {4}.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"``.*?``|`[^`]*`|\]\([^)]*\)|<!--.*?-->|\$[^$\n]*\$", "`", text, flags=re.DOTALL)


def banned(text: str) -> list[str]:
    """Return the banned words of a text with their replacements."""
    found = [(word[0], better) for pattern, better in BANNED.items() for word in re.finditer(pattern, text, re.IGNORECASE)]
    return [f"{word!r}: say {better}" for word, better in found]


def stressed(text: str) -> set[str]:
    """Return words in italics, but no whole sentences."""
    found = re.findall(r"(?<![*\w])\*(?![*\s])([^*\n`]+)(?<![.\s])\*(?![*\w])", text)
    return {words.casefold() for words in found if len(words.split()) <= 3 and len(words) > 1}


def occurs(term: str, text: str) -> bool:
    """Return whether a text has a term in any of its forms: fill, fills, filled."""
    stem = r"\s+".join(map(re.escape, term.removesuffix("e").removesuffix("s").split()))
    return re.search(rf"(?i)\b{stem}\w{{0,4}}\b", text) is not None


PAGES = {page.relative_to(ROOT).as_posix(): prose(page.read_text(encoding="utf-8")) for page in tracked()}
each_page = looped("name", list(PAGES))
each_term = looped(("term", "page", "meaning"), TERMS)


@each_page
def test_a_page_has_no_banned_word(name: str) -> None:
    assert banned(PAGES[name]) == []


@looped("name", [name for name in PAGES if name not in OWN_TERMS and not name.startswith("docs/evidence/")])
def test_a_term_in_italics_is_in_the_glossary(name: str) -> None:
    assert stressed(PAGES[name]) - {term.casefold() for term, *_ in TERMS} - STRESSED == set()


def test_every_stressed_word_is_somewhere() -> None:
    assert {words for text in PAGES.values() for words in stressed(text)} >= STRESSED


def test_the_glossary_is_a_sorted_list() -> None:
    assert len(TERMS) == sum(line.startswith("- ") for line in LINES) > 30
    names = [term.casefold() for term, *_ in TERMS]
    assert names == sorted(set(names))


@each_term
def test_a_term_has_one_sentence_and_a_page_that_uses_it(term: str, page: str, meaning: str) -> None:
    assert len(meaning.split()) <= 25
    name = (GLOSSARY.parent / page).resolve().relative_to(ROOT).as_posix()
    assert occurs(term, PAGES[name]), f"{name} has no {term}"


@each_term
def test_a_term_is_used_by_several_pages(term: str, page: str, meaning: str) -> None:
    """A term that only one page uses is explained on that page."""
    assert sum(occurs(term, text) for text in PAGES.values()) >= 3


@pytest.mark.parametrize("text", ["the law of X", "laws", "a cell of the histogram", "Noise by key", "in place of γ"])
def test_what_is_banned(text: str) -> None:
    assert len(banned(text)) == 1


@pytest.mark.parametrize("text", ["the law of large numbers", "a claw, lawful", "cellar", "`row.law`", "[a](law.md)"])
def test_what_is_not_banned(text: str) -> None:
    assert banned(prose(text)) == []


def test_what_is_in_italics() -> None:
    text = "the *step* of a *lattice point*, **bold**, 2 * 3 * 4, *A whole sentence in italics.*"
    assert stressed(text) == {"step", "lattice point"}
