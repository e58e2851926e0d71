"""`pytest --quick`, which `make check` runs: one case of each fast test, and all tests of the files that changed."""

import subprocess
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent
# These folders always run. In the other folders only changed files run, unless a file changed that the folder is ABOUT.
QUICK = {"by_mechanism", "by_method", "exactness", "interface", "reference", "theory"}
ABOUT = {
    "attacks": ("rust/core/src/lattice/", "tests/attacks/"),
    "cli": ("python/stairnoise/cli/",),
    "compat": ("python/stairnoise/compat/", "tests/compat/"),
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
# All cases of more files than this take over a minute. Beyond this number, only one case of each of their tests runs.
IN_FULL_AT_MOST = 20

CHANGED = pytest.StashKey[set[str]]()
IN_FULL = pytest.StashKey[set[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="one case of each test that ends soon, and all tests of what changed")


def pytest_configure(config: pytest.Config) -> None:
    names = changed(TESTS.parent) if config.getoption("--quick") else set()
    files = {name for name in names if name.startswith("tests/")} | tests_named_like(names)
    config.stash[CHANGED] = names
    config.stash[IN_FULL] = files if len(files) <= IN_FULL_AT_MOST else set()


def changed(root: Path) -> set[str]:
    """Return the files that differ from the commit where this branch left main, committed or not; without Git, none.

    On main, compare with the last pushed commit, or with its parent if nothing was committed since.
    """

    def git(*command: str) -> str:
        done = subprocess.run(["git", *command], cwd=root, capture_output=True, text=True, check=False)
        return done.stdout if done.returncode == 0 else ""

    try:
        base = git("merge-base", "HEAD", "main@{upstream}") or git("merge-base", "HEAD", "main")
    except OSError:
        return set()
    if base in ("", git("rev-parse", "HEAD")):
        base = "HEAD~1"
    differing = git("diff", "--name-only", "--no-renames", "-z", base.strip())
    untracked = git("ls-files", "--others", "--exclude-standard", "-z")
    return {name for name in (differing + untracked).split("\0") if name}


def tests_named_like(names: set[str]) -> set[str]:
    """Return test files named after a changed file or folder, such as `test_skellam.py`."""
    parts = {Path(part).stem for name in names for part in Path(name).parts if not name.startswith("tests/")}
    files = {path.relative_to(TESTS.parent).as_posix(): path.stem for path in TESTS.glob("*/test_*.py")}
    return {name for name, stem in files.items() if stem.removeprefix("test_") in parts}


def is_in_full(path: Path, config: pytest.Config) -> bool:
    return path.relative_to(TESTS.parent).as_posix() in config.stash[IN_FULL]


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    if not config.getoption("--quick") or not collection_path.is_file() or TESTS not in collection_path.parents:
        return None
    folder = collection_path.relative_to(TESTS).parts[0]
    names = config.stash[CHANGED]
    about = any(name.startswith(ABOUT.get(folder, ())) for name in names)
    itself = collection_path.relative_to(TESTS.parent).as_posix() in names
    return None if folder in QUICK or about or itself or is_in_full(collection_path, config) else True


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Keep one case of each parametrization, because collecting all cases takes longer than the quick tests themselves."""
    if not metafunc.config.getoption("--quick") or is_in_full(metafunc.definition.path, metafunc.config):
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
        (left_out if again and not is_in_full(item.path, config) else kept).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)
