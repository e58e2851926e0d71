"""scripts/audit.sh fails on any finding, and names the checks that it skipped (with fake tools)."""

from pathlib import Path

import pytest

from tests.project.machine import Machine, needs_posix

pytestmark = needs_posix

# aes and libc are direct dependencies; the lines have cargo's own format.
CARGO = """
case "$*" in
deny\\ --version) {deny} ;;
deny\\ fetch*) {fetch} ;;
deny*) {check} ;;
update*) printf '%s\\n' {update} >&2 ;;
tree*) printf 'aes v0.9.4\\nlibc v0.2.191\\n' ;;
esac
"""
QUIET = {"deny": "exit 0", "fetch": "exit 0", "check": "exit 0", "update": "'note: nothing'"}


# In pip-audit's environment, a pip that installs nothing is enough.
PYTHON = """
case "$*" in
*pip_audit\\ --version) ;;
*pip_audit*) {pip_audit} ;;
*pip\\ install*) {pip}
;;
esac
"""


def audit(
    folder: Path, offline: bool = False, pip_audit: str | None = "exit 0", pip: str = "exit 0", **cargo: str
) -> tuple[int, str]:
    machine = Machine(folder, "cat", "cut", "dirname", "grep", "mktemp", "rm", "sed", "sh", "sort", "tail")
    machine.install("cargo", CARGO.format(**QUIET | cargo))
    if pip_audit is not None:
        (folder / "audit" / "bin").mkdir(parents=True)
        python = folder / "audit" / "bin" / "python"
        python.write_text("#!/bin/sh\n" + PYTHON.format(pip_audit=pip_audit, pip=pip))
        python.chmod(0o755)
    status, output, _ = machine.run("audit.sh", TOOLS=str(folder), **({"OFFLINE": "1"} if offline else {}))
    return status, output


def test_all_asked_and_nothing_found(tmp_path: Path) -> None:
    status, text = audit(tmp_path)
    assert status == 0
    assert "not run" not in text.lower()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"deny": "exit 101"}, "cargo install --locked cargo-deny"),
        ({"fetch": "exit 1"}, "advisory-db was not reached"),
        ({"pip_audit": None}, "pip install pip-audit"),
        ({"pip": "echo no such group >&2; exit 1"}, "pip could not choose any"),
        ({"pip_audit": "echo 'six  Dependency not found on PyPI and could not be audited: six (1.17.0)'"}, "advisories of 1 of "),
        ({"pip_audit": "echo no connection; exit 1"}, "advisories of Python packages: no connection"),
        ({"offline": True}, "advisories of crates: OFFLINE is set\n  advisories of Python packages: OFFLINE is set\n"),
    ],
)
def test_what_was_not_asked_is_named_last(tmp_path: Path, change: dict[str, str], reason: str) -> None:
    status, text = audit(tmp_path, **change)  # type: ignore[arg-type]
    assert status == 0
    assert reason in text.partition("\nNOT RUN:\n")[2]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"check": "exit 1"}, 1),
        ({"pip_audit": "echo 'Found 1 known vulnerability in 1 package'; exit 1"}, 1),
        ({"update": "'    Updating aes v0.9.3 -> v0.9.4'"}, 1),
        ({"update": "'    Updating typenum v1.20.0 -> v1.20.1'"}, 0),
        ({"update": "'   Unchanged aes v0.9.4 (available: v0.10.0)'"}, 0),
    ],
)
def test_what_is_found_is_a_failure(tmp_path: Path, change: dict[str, str], status: int) -> None:
    """An outdated direct dependency is a finding; an outdated indirect one, or a release that Cargo.toml excludes, is not."""
    assert audit(tmp_path, **change)[0] == status  # type: ignore[arg-type]
