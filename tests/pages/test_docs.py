"""The pages in docs/ say what is so: every example on them runs, with every warning an error, and every link leads somewhere.

Examples in docstrings are run by tests/interface/test_exports.py.
"""

import doctest
import re
from pathlib import Path

import numpy as np
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"), key=lambda page: page.name)
# The function's page has examples for each law; a page without any, such as the contract, has nothing to run.
WITH_EXAMPLES = {"distributions.md": 50}
# Packages that examples of a page need besides those of every test; without one of them the page is skipped.
NEEDS = {
    "distributed_work.md": ["dask.dataframe", "pandas"],
    "engines.md": ["duckdb", "pandas", "polars", "pyarrow"],
}

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@pages
def test_examples_run(page: Path) -> None:
    for package in NEEDS.get(page.name, ()):
        pytest.importorskip(package)
    with np.printoptions(precision=8, suppress=False, linewidth=75, legacy=False):
        done = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert done.failed == 0
    assert done.attempted >= WITH_EXAMPLES.get(page.name, 0)
    assert done.attempted == len(re.findall(r"^ *>>> ", page.read_text(encoding="utf-8"), re.MULTILINE))


@pages
def test_relative_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_pages_with_examples_exist() -> None:
    assert set(WITH_EXAMPLES) | set(NEEDS) <= {page.name for page in PAGES}
