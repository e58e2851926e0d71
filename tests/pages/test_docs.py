"""The pages in docs/ say what is so: every example on them runs, with every warning an error, and every link leads somewhere.

Examples in docstrings are run by tests/interface/test_exports.py.
"""

import doctest
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"), key=lambda page: page.name)
# Libraries that are too large for the extra `test`. A section that imports one of them is skipped without it.
OPTIONAL = {"jax", "torch"}
# The function's page has examples for each law; a page without any, such as the contract, has nothing to run.
WITH_EXAMPLES = {"distributions.md": 50}

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@pages
def test_examples_run(page: Path) -> None:
    text, skipped = without_absent(page.read_text(encoding="utf-8"))
    runner = doctest.DocTestRunner()
    with np.printoptions(precision=8, suppress=False, linewidth=75, legacy=False):
        done = runner.run(doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, page.name, str(page), 0))
    assert done.failed == 0
    assert done.attempted >= WITH_EXAMPLES.get(page.name, 0)
    assert done.attempted == len(re.findall(r"^ *>>> ", text, re.MULTILINE))
    if skipped:
        pytest.skip(f"all of the page ran but {', '.join(skipped)}")


def without_absent(text: str) -> tuple[str, list[str]]:
    """Blank out the sections that need a library which is not installed; return the text and what was left out."""
    kept, skipped = [], []
    for section in re.split(r"(?m)^(?=## )", text):
        imported = set(re.findall(r"(?m)^ *>>> (?:import|from) (\w+)", section))
        absent = sorted(name for name in imported & OPTIONAL if find_spec(name) is None)
        kept.append("\n" * section.count("\n") if absent else section)
        skipped += [f"'{section.splitlines()[0].strip('# ')}', which needs {' and '.join(absent)}"] if absent else []
    return "".join(kept), skipped


@pages
def test_relative_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_pages_with_examples_exist() -> None:
    assert set(WITH_EXAMPLES) <= {page.name for page in PAGES}
