"""Release checks when there is no earlier release to compare with, or no environment (with fake tools)."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.project.machine import Machine, needs_posix

ROOT = Path(__file__).resolve().parents[2]

pytestmark = needs_posix


def test_nothing_broke_since_a_release_that_was_not(tmp_path: Path) -> None:
    """The first release has no predecessor: `make semver` says so and succeeds."""
    machine = Machine(tmp_path, "dirname", "sh")
    machine.install("git", "exit 128")
    status, text, _ = machine.run("semver.sh")
    assert (status, text[:9]) == (0, "NOT RUN: ")
    machine.install("cargo", 'echo "cargo $*"')
    machine.install("cargo-semver-checks", "")
    status, text, _ = machine.run("semver.sh", "1234abc")
    assert status == 0
    assert "--baseline-rev 1234abc " in text


def test_the_oldest_rust_needs_no_environment(tmp_path: Path) -> None:
    """A clone has no .venv, and pyo3 would stop at the Makefile's missing interpreter unless the target disables the look-up."""
    if shutil.which("make") is None:
        pytest.skip("make is missing")
    (tmp_path / "clone" / "scripts").mkdir(parents=True)
    for name in ("Makefile", "Cargo.toml"):
        shutil.copy(ROOT / name, tmp_path / "clone")
    machine = Machine(tmp_path, "awk", "find", "make", "sed", "sh")
    machine.install("rustup", "")
    machine.install("cargo", 'echo "$PYO3_NO_PYTHON $*"')
    (tmp_path / "clone" / "scripts" / "check_tools.sh").write_text("#!/bin/sh\n")
    (tmp_path / "clone" / "scripts" / "check_tools.sh").chmod(0o755)
    done = subprocess.run(
        ["make", "--silent", "check-msrv"],
        cwd=tmp_path / "clone",
        env={"PATH": str(machine.bin)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.match(r"1 \+1\.\d+ check --locked --workspace ", done.stdout), done.stdout
