"""The pages in docs/ are correct: every example runs, with every warning an error.

The examples of two pages run in `make test-long`. Examples in docstrings are run by tests/interface/test_exports.py.
"""

import doctest
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.combinations import looped

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted((page for page in DOCS.rglob("*.md") if "_build" not in page.parts), key=lambda page: page.name)
WIDTH = 76
# Libraries that one section needs; most are too large for the group `test`. If one is missing, the section is skipped.
OPTIONAL = {"autodp", "dp_accounting", "jax", "opendp", "sklearn", "torch"}
# Some pages, such as the contract, have no example to run.
WITH_EXAMPLES = {"distributions.md": 20}
# Packages that a page's examples need beyond those of every test; if one is missing, the page is skipped.
NEEDS = {
    "columns.md": ["pandas", "polars", "pyarrow"],
    "distributed_work.md": ["dask.dataframe", "pandas"],
    "engines.md": ["duckdb", "pandas", "polars", "pyarrow"],
    "one_person.md": ["duckdb", "pandas"],
    "query.md": ["pandas"],
    "questions.md": ["duckdb", "pandas"],
}

# The first composes 69 releases three times, which takes as long as all other pages together. The second runs the self-test, as
# tests/selftest does.
LONG = {"which_epsilon.md", "selftest.md"}


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.long] * (page.name in LONG)) for page in PAGES],
    ids=[page.relative_to(DOCS).as_posix() for page in PAGES],
)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in NEEDS.get(page.name, ()):
        pytest.importorskip(package)
    write_modules(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    text, skipped = without_absent(page.read_text(encoding="utf-8"))
    if OPTIONAL & imported(text):
        # These libraries start threads, after which other tests in the same process cannot fork.
        program = "import sys; from tests.pages.test_docs import run; print(*run(sys.stdin.read(), sys.argv[1]))"
        command = [sys.executable, "-W", "error", "-c", program, page.name]
        done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", cwd=DOCS.parent, check=False)
        assert done.returncode == 0, done.stderr
        *report, last = done.stdout.splitlines()
        print(*report, sep="\n")
        failed, attempted = map(int, last.split())
    else:
        failed, attempted = run(text, page.name)
    assert failed == 0
    assert attempted >= WITH_EXAMPLES.get(page.name, 0)
    assert attempted == len(re.findall(r"^ *>>> ", text, re.MULTILINE))
    if skipped:
        pytest.skip(f"the page ran except {', '.join(skipped)}")


def run(text: str, name: str) -> tuple[int, int]:
    """Run the examples of a text and print failures; return the numbers of failures and of examples."""
    examples = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, name, name, 0)
    with np.printoptions(precision=8, suppress=False, linewidth=75, legacy=False):
        done = doctest.DocTestRunner(Wrapped()).run(examples)
    return done.failed, done.attempted


class Wrapped(doctest.OutputChecker):
    """Accepts output whose lines of more than `WIDTH` letters the page wraps."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if any(len(line) > WIDTH for line in got.splitlines()):
            optionflags |= doctest.NORMALIZE_WHITESPACE
        return super().check_output(want, got, optionflags)


def code(text: str) -> Iterator[str]:
    """Yield the lines of a page's blocks of code."""
    fence = ""
    for line in text.splitlines():
        if found := re.match(r" *```(.*)", line):
            fence = "" if fence else found[1] or "text"
        elif line.startswith("    ") if not fence else not fence.startswith(("math", "{")):
            yield line if fence else line[4:]


@looped("page", [*PAGES, DOCS.parent / "README.md"])
def test_code_fits(page: Path) -> None:
    """A page that is 1280 pixels wide shows a line of this length."""
    assert [line for line in code(page.read_text(encoding="utf-8")) if len(line) > WIDTH] == []


def write_modules(folder: Path) -> None:
    """Write the modules that pages show, in blocks that begin with a comment with the file's name."""
    for page in PAGES:
        for name, code in re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
            (folder / name).write_text(code, encoding="utf-8")


def imported(text: str) -> set[str]:
    """Return the names of modules that examples import."""
    return set(re.findall(r"(?m)^ *>>> (?:import|from) (\w+)", text))


def without_absent(text: str) -> tuple[str, list[str]]:
    """Blank out sections that need a missing library; return the text and the sections left out."""
    kept, skipped = [], []
    for section in re.split(r"(?m)^(?=## )", text):
        absent = sorted(name for name in imported(section) & OPTIONAL if find_spec(name) is None)
        kept.append("\n" * section.count("\n") if absent else section)
        skipped += [f"'{section.splitlines()[0].strip('# ')}', which needs {' and '.join(absent)}"] if absent else []
    return "".join(kept), skipped


def test_pages_with_examples_exist() -> None:
    assert LONG | set(WITH_EXAMPLES) | set(NEEDS) <= {page.name for page in PAGES}
