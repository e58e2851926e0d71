"""scripts/check_tools.sh prints one clear line and exits with 1 if a tool is missing or too old."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.project.machine import SCRIPTS, Machine, needs_posix

ROOT = SCRIPTS.parent

pytestmark = needs_posix


class Complete(Machine):
    """A machine with every needed tool."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "env", "grep", "sh")
        self.install("python3", python("3.10.0"))
        self.install("rustc", "echo 'rustc 1.89.0 (29483883e 2025-08-04)'")
        self.install("cargo", "echo 'cargo 1.89.0 (c24e10642 2025-06-23)'")
        self.install("cc", "exit 0")

    def check(self, *arguments: str, **extra: str) -> tuple[int, str]:
        status, output, errors = self.run("check_tools.sh", *arguments, **extra)
        assert output == ""
        return status, errors


def python(version: str, *, venv: bool = True) -> str:
    """Return a fake interpreter's script, which answers the two questions of check_tools.sh."""
    return f'case "$2" in *version_info*) echo {version} ;; *ensurepip*) exit {0 if venv else 1} ;; esac'


@pytest.fixture
def machine(tmp_path: Path) -> Complete:
    return Complete(tmp_path)


def test_says_nothing_when_all_is_there(machine: Complete) -> None:
    assert machine.check("python3") == (0, "")


@pytest.mark.parametrize("version", ["1.89.0", "1.90.0-nightly", "1.100.1", "2.0.0"])
def test_accepts_rust(machine: Complete, version: str) -> None:
    machine.install("rustc", f"echo 'rustc {version} (0123456789 2026-01-01)'")
    assert machine.check("python3") == (0, "")


@pytest.mark.parametrize("version", ["3.10.14", "3.13.0", "4.0.0"])
def test_accepts_python(machine: Complete, version: str) -> None:
    machine.install("python3", python(version))
    assert machine.check("python3") == (0, "")


@pytest.mark.parametrize("version", ["1.70.0", "1.88.9", "0.99.0"])
def test_old_rust(machine: Complete, version: str) -> None:
    machine.install("rustc", f"echo 'rustc {version} (90c541806 2023-05-31)'")
    line = f"stairnoise needs Rust 1.89 or newer; found {version}. Install it from https://rustup.rs\n"
    assert machine.check("python3") == (1, line)


def test_old_cargo(machine: Complete) -> None:
    machine.install("cargo", "echo 'cargo 1.70.0 (ec8a8a0ca 2023-04-25)'")
    line = "stairnoise needs Rust 1.89 or newer; found 1.70.0. Install it from https://rustup.rs\n"
    assert machine.check("python3") == (1, line)


@pytest.mark.parametrize("tool", ["rustc", "cargo"])
def test_missing_rust(machine: Complete, tool: str) -> None:
    machine.remove(tool)
    line = f"stairnoise needs Rust 1.89 or newer; {tool} was not found. Install it from https://rustup.rs\n"
    assert machine.check("python3") == (1, line)


def test_rust_that_does_not_start(machine: Complete) -> None:
    machine.install("rustc", "echo 'error: no default toolchain' >&2; exit 1")
    line = "stairnoise needs Rust 1.89 or newer; found a rustc that does not start. Install it from https://rustup.rs\n"
    assert machine.check("python3") == (1, line)


def test_rust_that_says_no_version(machine: Complete) -> None:
    machine.install("rustc", "echo 'rustc unknown'")
    status, said = machine.check("python3")
    assert status == 1
    assert said.startswith("stairnoise needs Rust 1.89 or newer; found unknown.")


ADVICE = "Install it from https://www.python.org, or name one: make PYTHON=/path/to/python3."


@pytest.mark.parametrize("version", ["3.9.18", "3.6.15", "2.7.18"])
def test_old_python(machine: Complete, version: str) -> None:
    machine.install("python3", python(version))
    line = f"stairnoise needs Python 3.10 or newer; found {version}. {ADVICE}\n"
    assert machine.check("python3") == (1, line)


def test_missing_python(machine: Complete) -> None:
    line = f"stairnoise needs Python 3.10 or newer; python3.99 was not found. {ADVICE}\n"
    assert machine.check("python3.99") == (1, line)


def test_python_without_venv(machine: Complete) -> None:
    machine.install("python3", python("3.12.1", venv=False))
    line = (
        "stairnoise needs Python's venv and ensurepip modules; python3 3.12.1 has none. "
        "On Debian or Ubuntu: apt install python3-venv.\n"
    )
    assert machine.check("python3") == (1, line)


def test_missing_linker(machine: Complete) -> None:
    machine.remove("cc")
    status, said = machine.check("python3")
    assert status == 1
    assert said.startswith("stairnoise needs a C linker; cc was not found.")
    assert said.count("\n") == 1


def test_a_configured_linker_stands_in_for_cc(machine: Complete) -> None:
    machine.remove("cc")
    assert machine.check("python3", CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER="lld") == (0, "")


def test_the_newest_rust_needed_is_the_manifest_s() -> None:
    manifest = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    script = (SCRIPTS / "check_tools.sh").read_text(encoding="utf-8")
    needed = script.partition("need_rust=")[2].split()[0]
    assert f'rust-version = "{needed}"' in manifest


def test_make_stops_at_a_missing_tool(machine: Complete) -> None:
    """Users of make see the line before anything is installed."""
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    machine.install("rustc", "echo 'rustc 1.70.0 (90c541806 2023-05-31)'")
    for tool in ("awk", "find"):
        (machine.bin / tool).symlink_to(str(shutil.which(tool)))
    done = subprocess.run(
        [make, "-C", str(ROOT), "tools"],
        env={"PATH": str(machine.bin)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    line = "stairnoise needs Rust 1.89 or newer; found 1.70.0. Install it from https://rustup.rs"
    assert done.stderr.splitlines()[0] == line
    assert len(done.stderr.splitlines()) == 2  # make adds the second line
