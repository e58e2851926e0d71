"""scripts/test_taint.sh and scripts/test_time.sh name a missing tool, and then check nothing."""

from pathlib import Path

from tests.project.machine import Machine, needs_posix

pytestmark = needs_posix


def run(script: str, folder: Path, **tools: str) -> tuple[int, str]:
    """Run a script with only a shell and these fake tools on PATH."""
    machine = Machine(folder, "sh", "dirname")
    for name, body in tools.items():
        machine.install(name, body)
    status, output, errors = machine.run(script)
    return status, output + errors


def test_taint_without_rust(tmp_path: Path) -> None:
    assert run("test_taint.sh", tmp_path) == (0, "skipped: the taint check needs Rust; cargo was not found.\n")


def test_taint_without_valgrind(tmp_path: Path) -> None:
    status, text = run("test_taint.sh", tmp_path, cargo="exit 1")
    assert status == 0
    assert text == "skipped: the taint check needs Valgrind; valgrind was not found. On Debian or Ubuntu: apt install valgrind.\n"


def test_taint_on_another_architecture(tmp_path: Path) -> None:
    status, text = run("test_taint.sh", tmp_path, cargo="exit 1", valgrind="exit 1", uname="echo aarch64")
    assert status == 0
    assert text == "skipped: the taint check needs x86-64, which its client requests are written for.\n"


def test_a_failed_build_is_a_failure(tmp_path: Path) -> None:
    assert run("test_taint.sh", tmp_path, cargo="exit 3", valgrind="exit 1", uname="echo x86_64")[0] == 3


def test_time_without_rust(tmp_path: Path) -> None:
    assert run("test_time.sh", tmp_path) == (0, "skipped: the timing test needs Rust; cargo was not found.\n")
