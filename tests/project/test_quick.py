"""`pytest --quick`, which `make check` runs: its selection is right, and every folder and path in its lists exists."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.quick import ABOUT, QUICK, changed

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent

TWO_TESTS = """
import pytest

@pytest.mark.parametrize("case", "ab")
def test_cases(case): pass

@pytest.mark.slow
def test_slow(): pass
"""


def test_every_folder_of_tests_is_named_once() -> None:
    folders = {path.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/test_*.py")}
    assert folders == QUICK | ABOUT.keys()
    assert QUICK & ABOUT.keys() == set()


def test_what_a_folder_is_about_exists() -> None:
    named = {name for names in ABOUT.values() for name in names}
    assert [name for name in sorted(named) if not list(ROOT.glob(name.rstrip("/") + "*"))] == []


def test_every_folder_of_tests_is_in_contributing() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [folder for folder in sorted(QUICK | ABOUT.keys()) if f"    tests/{folder}/ " not in page] == []


class Repository:
    """A repository with this project's selection and a few tests."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "--quiet", "--initial-branch=main")
        self.write("pyproject.toml", '[tool.pytest.ini_options]\npythonpath = ["."]\nmarkers = ["long", "slow"]\n')
        self.write("tests/__init__.py", "")
        self.write("tests/conftest.py", 'pytest_plugins = ["tests.quick"]\n')
        self.write("tests/quick.py", (TESTS / "quick.py").read_text(encoding="utf-8"))
        for name in ("theory/test_roots", "theory/test_grid", "query/test_sums", "cli/test_screen"):
            self.write(f"tests/{name}.py", TWO_TESTS)
        for name in ("numerics/roots", "query/sums", "rng"):
            self.write(f"python/stairnoise/{name}.py", "")
        self.commit()
        self.commit()

    def git(self, *command: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        who = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *who, *command], cwd=self.folder, env=environment, check=True, capture_output=True)

    def write(self, name: str, text: str = "# changed\n") -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=x")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return Repository(tmp_path)


def test_changed_since_the_branch_left_main(repository: Repository) -> None:
    assert changed(repository.folder) == set()
    repository.git("switch", "--quiet", "--create=mine")
    repository.write("python/stairnoise/numerics/roots.py")
    repository.commit()
    repository.write("python/stairnoise/query/sums.py")
    repository.commit()
    repository.write("python/stairnoise/rng.py")
    repository.write("python/stairnoise/new ä.py")
    mine = {f"python/stairnoise/{name}.py" for name in ("numerics/roots", "query/sums", "rng", "new ä")}
    assert changed(repository.folder) == mine
    # Commits that others add to main meanwhile are no changes of this branch.
    repository.git("stash", "--quiet", "--include-untracked")
    repository.git("switch", "--quiet", "main")
    repository.write("README.md")
    repository.commit()
    repository.git("switch", "--quiet", "mine")
    repository.git("stash", "pop", "--quiet")
    assert changed(repository.folder) == mine


def test_changed_on_main(repository: Repository, tmp_path: Path) -> None:
    """Compared with the last pushed commit; if there is no remote or nothing was committed since, with the commit before."""
    repository.write("README.md")
    repository.commit()
    assert changed(repository.folder) == {"README.md"}
    clone = Path(f"{tmp_path}-clone")
    repository.git("clone", "--quiet", ".", str(clone))
    assert changed(clone) == {"README.md"}
    repository.folder = clone
    for name in ("one", "two"):
        repository.write(name)
        repository.commit()
    assert changed(clone) == {"one", "two"}


def test_without_git_nothing_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert changed(tmp_path) == set()
    monkeypatch.setenv("PATH", "")
    assert changed(tmp_path) == set()


def selected(folder: Path) -> dict[str, list[str]]:
    command = [sys.executable, "-m", "pytest", "--quick", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        name, _, test = line.removeprefix("tests/").partition(".py::")
        if test:
            found.setdefault(name, []).append(test)
    return found


def test_what_is_selected(repository: Repository) -> None:
    """One case of each test in some folders runs; changed files, and files named like them, run in full."""
    one, all_of_it = ["test_cases[a]"], ["test_cases[a]", "test_cases[b]", "test_slow"]
    assert selected(repository.folder) == {"theory/test_grid": one, "theory/test_roots": one}
    repository.write("python/stairnoise/numerics/roots.py")
    repository.write("tests/cli/test_screen.py", TWO_TESTS + "\n")
    repository.commit()
    selection = {"theory/test_grid": one, "theory/test_roots": all_of_it, "cli/test_screen": all_of_it}
    assert selected(repository.folder) == selection
    # A file of the package, which the folder is ABOUT.
    repository.write("python/stairnoise/query/other.py")
    assert selected(repository.folder) == selection | {"query/test_sums": one}
