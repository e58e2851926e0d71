"""scripts/audit.sh fails on what it finds, and names what it did not ask (pretended tools)."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "audit.sh"

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the Makefile is for POSIX systems")

# Direct are aes and libc; the form of the lines is cargo's own.
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


def audit(folder: Path, offline: bool = False, pip_audit: str | None = "exit 0", **cargo: str) -> tuple[int, str]:
    folder = folder / "bin"
    folder.mkdir()
    tools = {"cargo": CARGO.format(**QUIET | cargo)} | ({} if pip_audit is None else {"pip-audit": pip_audit})
    for name, body in tools.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    for name in ("cat", "cut", "dirname", "grep", "mktemp", "rm", "sed", "sh", "sort", "tail"):
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    environment = {"PATH": str(folder)} | ({"OFFLINE": "1"} if offline else {})
    done = subprocess.run(["/bin/sh", str(SCRIPT)], env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


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
    """A direct dependency that is behind is one; another crate's is not, nor is a release that Cargo.toml does not allow."""
    assert audit(tmp_path, **change)[0] == status  # type: ignore[arg-type]
