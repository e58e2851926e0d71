"""How the site changes links that were written for the forge.

Evidence: examples of each kind of link.
"""

import links
import pytest

DOCS, ROOT = links.DOCS, links.ROOT
FORGE = "https://github.com/stairnoise/stairnoise"


@pytest.mark.parametrize(
    ("written", "shown", "link", "expected"),
    [
        ("docs/scale.md", "docs/scale.md", "keyed.md#x", "keyed.md#x"),
        ("docs/scale.md", "docs/scale.md", "../rust/core/src/lib.rs", f"{FORGE}/blob/main/rust/core/src/lib.rs"),
        ("docs/scale.md", "docs/scale.md", "../benches/record/columns", f"{FORGE}/tree/main/benches/record/columns"),
        ("docs/scale.md", "docs/scale.md", "../README.md#measured", f"{FORGE}/blob/main/README.md#measured"),
        ("docs/scale.md", "docs/scale.md", "../SECURITY.md#time", "trust/security.md#time"),
        ("docs/coming_from/numpy.md", "docs/coming_from/numpy.md", "../../CHANGELOG.md", "../changelog.md"),
        ("CHANGELOG.md", "docs/changelog.md", "docs/query.md", "query.md"),
        ("CHANGELOG.md", "docs/changelog.md", "SECURITY.md", "trust/security.md"),
        ("SECURITY.md", "docs/trust/security.md", "docs/contract.md#1-words", "../contract.md#1-words"),
        ("docs/scale.md", "docs/scale.md", "https://example.org/a.md", "https://example.org/a.md"),
        ("docs/scale.md", "docs/scale.md", "#anchor", "#anchor"),
        ("docs/scale.md", "docs/scale.md", "no_such_page.md", "no_such_page.md"),
        ("docs/scale.md", "docs/scale.md", "../../../etc/passwd", "../../../etc/passwd"),
    ],
)
def test_a_link_leads_to_the_page_or_to_the_forge(written: str, shown: str, link: str, expected: str) -> None:
    assert links.for_site(f"a [text]({link}) b", ROOT / written, ROOT / shown) == f"a [text]({expected}) b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[which_epsilon.md](which_epsilon.md#compose)", "[which epsilon](which_epsilon.md#compose)"),
        ("[coming_from/numpy.md](coming_from/numpy.md)", "[numpy](coming_from/numpy.md)"),
        ("[SECURITY.md](../SECURITY.md)", "[security](trust/security.md)"),
        ("[benches/README.md](../benches/README.md)", f"[benches/README.md]({FORGE}/blob/main/benches/README.md)"),
        ("[1] and [the page](keyed.md)", "[1] and [the page](keyed.md)"),
        ("[no_such_page.md](no_such_page.md)", "[no_such_page.md](no_such_page.md)"),
    ],
)
def test_a_page_is_not_called_a_file(text: str, expected: str) -> None:
    assert links.for_site(text, DOCS / "README.md", DOCS / "README.md") == expected


def test_pages_that_are_taken_in_exist() -> None:
    for outside, inside in links.TAKEN_IN.items():
        assert (ROOT / outside).is_file()
        assert f"/{outside}\n```" in (DOCS / inside).read_text(encoding="utf-8")
