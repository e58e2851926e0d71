"""The five commands of CONTRIBUTING's first change, read from the page.

Every run checks that each target of make and each path exists. `make test-long` runs the commands in a fresh clone, except the
last command, which would run this test.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCK = PAGE.partition("## Your first change")[2].partition("\n## ")[0]
COMMANDS = [re.split(r"\s+#", line.strip())[0] for line in re.findall(r"^    (\S.*)$", BLOCK, re.MULTILINE)]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def test_there_are_five_and_they_come_first() -> None:
    assert len(COMMANDS) == 5
    headings = [line for line in PAGE.splitlines() if line.startswith("## ")]
    assert headings[:3] == ["## The tree", "## A release, from Python to the kernel", "## Your first change"]
    assert COMMANDS[-1] == "make test"


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("make ")])
def test_targets_exist(command: str) -> None:
    done = subprocess.run([*command.split(), "--dry-run"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_paths_exist() -> None:
    paths = [word for command in COMMANDS for word in command.split() if word.startswith("tests/")]
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.long
def test_the_commands_work_in_a_fresh_clone(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    outside = {"VIRTUAL_ENV", "PYTHONPATH", "PYO3_PYTHON", "MAKEFLAGS", "MAKELEVEL"}
    environment = {name: value for name, value in os.environ.items() if name not in outside}
    for command in COMMANDS[:-1]:
        done = subprocess.run(command, shell=True, cwd=clone, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
