"""What every test may ask for, and the quick selection of `make check`."""

import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import stairnoise as sn

# pytest rewrites every assert, which takes half the time of a collection, and keeps the result where bytecode may be written.
sys.dont_write_bytecode = False

TESTS = Path(__file__).parent
# `--quick` looks into a folder that is not here only for the files that have changed.
QUICK = {"by_mechanism", "by_method", "exactness", "interface", "reference", "theory"}
# What a folder of tests is about, beside the folders above.
ABOUT = {
    "attacks": ("rust/core/src/lattice/", "tests/attacks/"),
    "cli": ("python/stairnoise/cli/",),
    "engines": ("python/stairnoise/columns/", "python/stairnoise/keyed/", "python/stairnoise/engines/", "tests/engines/"),
    "generators": ("python/stairnoise/keyed/", "python/stairnoise/rng.py", "rust/core/src/keyed/", "rust/core/src/stream/"),
    "ledger": ("python/stairnoise/accounting/ledger/", "tests/ledger/"),
    "oracles": ("tests/oracles/",),
    "packaging": ("Cargo.toml", "pyproject.toml", "packaging/", "scripts/"),
    "pages": ("README.md", "docs/"),
    "process": ("rust/binding/",),
    "project": (".ci/", ".github/", "Cargo", "CONTRIBUTING.md", "Makefile", "benches/", "pyproject.toml", "scripts/"),
    "property": ("python/stairnoise/_output.py", "python/stairnoise/_parameters.py", "tests/property/"),
    "query": ("python/stairnoise/query/", "python/stairnoise/cli/query", "tests/query/"),
    "selftest": ("python/stairnoise/_selftest/",),
    "site": ("docs/", "python/stairnoise/__init__.py", "tests/site/"),
    "statistical": ("rust/core/src/draw/", "rust/core/src/kernel/", "tests/statistical/"),
    "typing": ("python/stairnoise/__init__.py", "python/stairnoise/_native.pyi"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="one case of each test that is over at once; all of what has changed")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[CHANGED] = changed() if config.getoption("--quick") else set()


CHANGED = pytest.StashKey[set[str]]()


def changed() -> set[str]:
    """Names of the files that differ from the last commit; none where there is no Git."""
    try:
        done = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=all", "--no-renames"],
            cwd=TESTS.parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return set()
    return {line[3:].strip('"') for line in done.stdout.splitlines()}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if not config.getoption("--quick") or not collection_path.is_file():
        return None
    folder = collection_path.relative_to(TESTS).parts[0]
    about = any(name.startswith(ABOUT.get(folder, ())) for name in config.stash[CHANGED])
    return None if folder in QUICK or about or is_changed(collection_path, config) else True


def is_changed(path: Path, config: pytest.Config) -> bool:
    return path.relative_to(TESTS.parent).as_posix() in config.stash[CHANGED]


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Keep one case of each parametrization: making a test of every case takes longer than the quick tests themselves."""
    if not metafunc.config.getoption("--quick") or is_changed(metafunc.definition.path, metafunc.config):
        return
    parametrize = metafunc.parametrize

    def one_case(names: Any, cases: Any, *arguments: Any, ids: Any = None, **named: Any) -> None:
        cases = list(cases)
        place = next((i for i, case in enumerate(cases) if not marks(case) & {"long", "slow"}), 0)
        if ids is not None and not callable(ids):
            ids = list(islice(ids, place, place + 1))
        parametrize(names, cases[place : place + 1], *arguments, ids=ids, **named)

    metafunc.parametrize = one_case  # type: ignore[method-assign]


def marks(case: Any) -> set[str]:
    return {mark.name for mark in getattr(case, "marks", ())}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--quick"):
        return
    kept, left_out, seen = [], [], set()
    for item in items:
        test = (item.path, getattr(item, "originalname", item.name))
        again = test in seen or item.get_closest_marker("slow") is not None
        seen.add(test)
        (left_out if again and not is_changed(item.path, config) else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


@pytest.fixture
def rng() -> sn.SeededRng:
    """A seeded generator that ``release`` accepts."""
    return sn.SeededRng(20, allow_release=True)


@pytest.fixture
def mechanism(request: pytest.FixtureRequest) -> Any:
    """The mechanism of an example of the registry; see `tests/examples.py`."""
    row, example = request.param
    return row.make(example)
