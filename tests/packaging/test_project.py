"""The metadata of the installed package, and facts that several files of the project must agree on."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from benches import report

ROOT = Path(__file__).resolve().parents[2]
METADATA = importlib.metadata.metadata("stairnoise")

REQUIRED = [
    re.split(r"[^\w.\[\]-]", line)[0] for line in importlib.metadata.requires("stairnoise") or [] if "extra ==" not in line
]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_numpy_is_the_only_runtime_dependency() -> None:
    assert REQUIRED == ["numpy"]


def test_python_and_licence() -> None:
    assert METADATA["Requires-Python"] == ">=3.10"
    assert METADATA["License-Expression"] == "MIT OR Apache-2.0"
    assert sorted(METADATA.get_all("License-File") or []) == ["LICENSE-APACHE", "LICENSE-MIT"]


def test_extras() -> None:
    assert set(METADATA.get_all("Provides-Extra") or []) == {"cli", "plot", "scipy", "test", "lint", "bench", "dev"}


def test_one_version() -> None:
    """Crate, package and changelog name the same version."""
    version = re.search(r'^version = "(.+)"$', text("Cargo.toml"), re.MULTILINE)
    assert version is not None
    assert importlib.metadata.version("stairnoise") == version[1]


def test_changelog_has_a_place_for_the_next_change() -> None:
    assert "## [Unreleased]" in text("CHANGELOG.md")


def test_console_script() -> None:
    scripts = importlib.metadata.entry_points(group="console_scripts", name="stairnoise")
    assert [script.value for script in scripts] == ["stairnoise.cli:main"]


def test_types_are_shipped() -> None:
    assert (ROOT / "python/stairnoise/py.typed").is_file()
    assert (ROOT / "python/stairnoise/_native.pyi").is_file()


def test_ci_runs_make_test_and_nothing_else() -> None:
    lines = [line for line in text(".ci/run").splitlines() if line and not line.startswith("#")]
    assert lines == [
        "set -euo pipefail",
        'cd "$(dirname "${BASH_SOURCE[0]}")/.."',
        "exec make test",
    ]
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_make_alone_prints_help() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    done = subprocess.run([make, "-s", "-C", str(ROOT)], capture_output=True, text=True, check=True)
    names = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("  make ")}
    assert {"bench", "build", "clean", "demo", "help", "test", "test-long"} <= names


def test_import_costs_at_most_30_ms_after_numpy(tmp_path: Path) -> None:
    """The least of nine fresh processes: the first fills the bytecode cache, and a busy machine only adds."""
    code = "from time import perf_counter as t; import numpy; a = t(); import stairnoise; print(t() - a)"
    seconds = [float(report.python_with_cache(tmp_path, code)) for _ in range(9)]
    assert min(seconds) <= 0.030, f"import takes {min(seconds) * 1e3:.1f} ms"


def test_import_does_not_load_the_command_line() -> None:
    extras = {"typer", "rich", "click", "pydantic", "scipy", "matplotlib", "pandas"}
    code = f"import sys, stairnoise; print(sorted({extras} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "benches/README.md", "docs/figures.md"]
)
def test_relative_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []
