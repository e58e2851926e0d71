"""Links of the pages, and addresses of other sites that they and the sources name: how they are written. `make linkcheck` asks
whether anybody answers there, and needs the network.

Evidence: the text of every page and docstring, and the rules by examples of what they refuse.
"""

import re
from collections import defaultdict
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.combinations import looped

ROOT = Path(__file__).resolve().parents[2]
OUTSIDE = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benches/README.md")]
PAGES = [*OUTSIDE, *(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts)]
SOURCES = [*(ROOT / "python").rglob("*.py"), *(ROOT / "rust").rglob("*.rs")]

# Year and month, then four digits until 2014 and five digits since.
_MONTH = "(?:0[1-9]|1[0-2])"
ARXIV = rf"(?:(?:0[7-9]|1[0-4]){_MONTH}\.\d{{4}}|(?:1[5-9]|[2-9]\d){_MONTH}\.\d{{5}})"
DOI = r"10\.\d{4,9}/[A-Za-z0-9][A-Za-z0-9.()/:_-]*[A-Za-z0-9)]"
# `[text](address)`; a closing bracket belongs to an address only if the opening one does.
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((\w+:(?!:)(?:[^()]|\([^()]*\))*)\)")
BARE = re.compile(r"https?:[^\s<>\"'`|]*")


def addresses(text: str) -> list[str]:
    """Return every address in a text, stripped of brackets and punctuation that close a link or sentence."""
    found = [address for _, address in LINK.findall(text)]
    rest = LINK.sub(" ", text)
    return found + [address.rstrip(".,;:)]") for address in BARE.findall(rest)]


def fault(address: str) -> str | None:
    """Return what is wrong with an address, judged by its text."""
    parts = urlsplit(address)
    host, place = parts.hostname or "", parts.path.lstrip("/")
    if parts.scheme != "https":
        return "not https"
    if not re.fullmatch(r"(?:[a-z0-9-]+\.)+[a-z]{2,}", host):
        return "no host"
    if re.search(r"[\s<>\"\\^`{|}]|[^\x00-\x7f]", address) or "//" in parts.path:
        return "a character that has no place there"
    if address[-1] in ".,;:!?'" or any(address.count(a) != address.count(b) for a, b in ("()", "[]")):
        return "punctuation of the sentence around it"
    if host.endswith("arxiv.org") and not (host == "arxiv.org" and re.fullmatch(f"abs/{ARXIV}", place)):
        return "not arxiv.org/abs/ and a number"
    if host.endswith("doi.org") and not (host == "doi.org" and re.fullmatch(DOI, place)):
        return "not doi.org and a DOI"
    return None


def named(text: str) -> list[tuple[str, str]]:
    """Return the arXiv numbers and DOIs in the texts of links, each with its link's address."""
    pattern = r"arXiv:(\S*?)(?=[,.;)\s]*$|[,;\s])|doi:(\S+)"
    return [(a or d, address) for words, address in LINK.findall(text) for a, d in re.findall(pattern, words, re.IGNORECASE)]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://arxiv.org/abs/1212.1186", None),
        ("https://doi.org/10.6028/NIST.SP.800-226", None),
        ("https://example.org/a_(b)#c", None),
        ("http://example.org", "not https"),
        ("https:/example.org", "no host"),
        ("https://example", "no host"),
        ("https://example.org/a b", "a character that has no place there"),
        ("https://example.org//a", "a character that has no place there"),
        ("https://example.org/a.", "punctuation of the sentence around it"),
        ("https://example.org/a)", "punctuation of the sentence around it"),
        ("https://arxiv.org/pdf/1212.1186", "not arxiv.org/abs/ and a number"),
        ("https://arxiv.org/abs/1213.1186", "not arxiv.org/abs/ and a number"),
        ("https://arxiv.org/abs/1212.118", "not arxiv.org/abs/ and a number"),
        ("https://arxiv.org/abs/2004.0001", "not arxiv.org/abs/ and a number"),
        ("https://www.arxiv.org/abs/1212.1186", "not arxiv.org/abs/ and a number"),
        ("https://dx.doi.org/10.6028/NIST.SP.800-226", "not doi.org and a DOI"),
        ("https://doi.org/NIST.SP.800-226", "not doi.org and a DOI"),
    ],
)
def test_what_a_fault_is(address: str, expected: str | None) -> None:
    assert fault(address) == expected


def test_addresses_are_found() -> None:
    text = "See [a](https://a.org/b_(c)), <https://d.org>, https://e.org/f. And [g](h.md), (http://i.org)."
    assert addresses(text) == ["https://a.org/b_(c)", "https://d.org", "https://e.org/f", "http://i.org"]


pages = looped("page", PAGES)


@pages
def test_relative_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pages
def test_no_address_has_a_fault(page: Path) -> None:
    found = addresses(page.read_text(encoding="utf-8"))
    assert {address: what for address in found if (what := fault(address))} == {}


def test_no_address_of_a_source_has_a_fault() -> None:
    found = {address: path for path in SOURCES for address in addresses(path.read_text(encoding="utf-8"))}
    assert {address: (what, path) for address, path in found.items() if (what := fault(address))} == {}


def test_every_arxiv_number_is_one() -> None:
    for path in PAGES + SOURCES:
        for number in re.findall(r"arXiv[: ]\s*([\w./]*\w)", path.read_text(encoding="utf-8")):
            assert re.fullmatch(ARXIV, number), (path, number)


@pages
def test_a_paper_s_number_is_a_link_to_it(page: Path) -> None:
    """A number in a link's text is the number in its address, and every number has a link."""
    text = page.read_text(encoding="utf-8")
    for number, address in named(text):
        assert address in (f"https://arxiv.org/abs/{number}", f"https://doi.org/{number}")
    assert re.findall(r"arXiv:\d\S*", LINK.sub("", text)) == []


def test_a_paper_has_one_address() -> None:
    """A paper is known by its title, in quotation marks before the link."""
    places = defaultdict(set)
    for page in PAGES:
        text = " ".join(page.read_text(encoding="utf-8").split())
        for title, address in re.findall(r'"([^"]{15,}?),?"[^"\[\]]{0,60}\[arXiv:[^\]]*\]\(([^)]*)\)', text):
            places[re.sub(r"\W+", " ", title).casefold()].add(address)
    assert len(places) >= 8
    assert {title: found for title, found in places.items() if len(found) > 1} == {}
