"""The rehearsal runs every command of the release list that needs no forge, and its page has the outcome of each."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.project.machine import needs_posix

ROOT = Path(__file__).resolve().parents[2]
LIST = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Release\n")[2].partition("\n## ")[0]
PAGE = (ROOT / "docs" / "evidence" / "release_rehearsal.md").read_text(encoding="utf-8")
SCRIPT = (ROOT / "scripts" / "rehearse_release.sh").read_text(encoding="utf-8")
STEPS = re.search(r"^all='(.*)'$", SCRIPT, re.MULTILINE)[1].split()  # type: ignore[index]


def test_every_command_of_the_list_is_a_step_in_its_order() -> None:
    asked = [name for name in re.findall(r"`make ([\w-]+)", LIST) if name != "rehearse"]
    assert len(asked) > 6
    assert [name for name in STEPS if name in asked] == asked
    assert set(STEPS) - set(asked) == {"version", "crate", "readme", "index"}


def test_the_page_has_every_step_once_in_its_order() -> None:
    rows = re.findall(r"^\| ([\w-]+) \| (.+) \| (.+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert [name for name, *_ in rows][1:] == STEPS
    for name, commit, when, lasted, result in rows[1:]:
        if result.startswith(("passed", "FAILED")):
            assert re.fullmatch(r"[0-9a-f]{8}", commit), name
            assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", when), name
            assert re.fullmatch(r"\d+ s", lasted), name
        else:
            assert result.startswith("not run: "), name


MAKEFILE = """
test-avx512:
check-msrv:
	@test ! -e broken
semver:
	@echo 'NOT RUN: there is no release'
audit:
	@printf '\\nNOT RUN:\\n  advisories\\n'
wheels:
	@test "$(TESTS)" = tests/exactness
"""


class Project:
    """A repository with the script and a Makefile of five steps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "rehearse_release.sh", folder / "scripts")
        (folder / "Makefile").write_text(MAKEFILE)
        (folder / ".gitignore").write_text("target\n")
        self.git("init", "--quiet")
        self.commit()

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
        subprocess.run(["git", *identity, *arguments], cwd=self.folder, check=True)

    def commit(self) -> None:
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "A change")

    def rehearse(self, *steps: str, **extra: str) -> tuple[int, list[list[str]]]:
        environment = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL", "TESTS"}}
        command = ["/bin/sh", "scripts/rehearse_release.sh", "1.2.3", *steps]
        done = subprocess.run(command, cwd=self.folder, env=environment | extra, stdout=subprocess.PIPE, text=True, check=False)
        rows = [[part.strip() for part in line.split("|")[1:-1]] for line in done.stdout.splitlines() if line.startswith("|")]
        return done.returncode, rows


@pytest.fixture
def project(tmp_path: Path) -> Project:
    if not all(shutil.which(tool) for tool in ("git", "make", "rustc")):
        pytest.skip("git, make or rustc is missing")
    return Project(tmp_path)


@needs_posix
def test_each_step_has_a_row_that_says_what_became_of_it(project: Project) -> None:
    (project.folder / "broken").touch()
    project.commit()
    status, rows = project.rehearse("test-avx512", "check-msrv", "semver", "audit", "wheels", TESTS="tests/exactness")
    assert status == 1
    assert [(name, said) for name, *_, said in rows] == [
        ("test-avx512", "passed, with TESTS='tests/exactness'"),
        ("check-msrv", "FAILED (2)"),
        ("semver", "not run: there is no release"),
        ("audit", "passed, with questions that were not asked"),
        ("wheels", "passed, with TESTS='tests/exactness'"),
    ]
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=project.folder, capture_output=True, text=True, check=True).stdout[
        :8
    ]
    assert all(row[1] == commit and re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", row[2]) for row in rows)
    project.rehearse("semver")
    kept = (project.folder / "target" / "rehearsal" / "rows").read_text().splitlines()
    assert [line.split()[1] for line in kept if line.startswith("|")] == [name for name, *_ in rows] + ["semver"]


@needs_posix
def test_the_clone_stays_until_there_is_a_newer_commit(project: Project) -> None:
    assert project.rehearse("check-msrv")[0] == 0
    clone = project.folder / "target" / "rehearsal" / "stairnoise"
    kept = clone / "kept"
    kept.touch()
    assert project.rehearse("check-msrv")[0] == 0
    assert kept.exists()
    (project.folder / "broken").touch()
    assert project.rehearse("check-msrv")[0] == 0, "uncommitted files are not part of the rehearsal"
    project.commit()
    assert project.rehearse("check-msrv")[0] == 1
    assert not kept.exists()
