"""What pip does without cargo, as README.md describes it. The installed maturin is asked; nothing is downloaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("maturin")
ROOT = Path(__file__).resolve().parents[2]


def asked_for(path: Path, **environment: str) -> str:
    """Return the packages that a build needs beyond pyproject.toml's list, with this PATH."""
    code = "import maturin; print(maturin.get_requires_for_build_wheel())"
    variables = {key: value for key, value in os.environ.items() if key != "MATURIN_NO_INSTALL_RUST"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=variables | {"PATH": str(path)} | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_a_build_without_cargo_asks_for_the_package_that_downloads_rust(tmp_path: Path) -> None:
    assert asked_for(tmp_path) == "['puccinialin']"


def test_the_variable_in_the_readme_stops_that(tmp_path: Path) -> None:
    assert "`MATURIN_NO_INSTALL_RUST=1`" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert asked_for(tmp_path, MATURIN_NO_INSTALL_RUST="1") == "[]"


def test_a_cargo_is_used(tmp_path: Path) -> None:
    cargo = tmp_path / "cargo"
    cargo.touch(0o755)
    assert asked_for(tmp_path) == "[]"
