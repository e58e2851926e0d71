"""scripts/try_wheel.py finds a wheel's interpreter, compares drawn values, and names wheels that it could not run.

The interpreters are fake; `make wheels` runs those of scripts/other_pythons.sh.
"""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
OWN, MUSL, ARM, ARM_MUSL, WINDOWS = (
    f"stairnoise-1-cp310-abi3-{platform}.whl"
    for platform in (
        "manylinux_2_17_x86_64.manylinux2014_x86_64",
        "musllinux_1_2_x86_64",
        "manylinux_2_17_aarch64.manylinux2014_aarch64",
        "musllinux_1_2_aarch64",
        "win_amd64",
    )
)


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """Run the script on a machine with every interpreter."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import try_wheel  # type: ignore[import-not-found]

    monkeypatch.setattr(try_wheel, "PYTHONS", tmp_path)
    for name in ("aarch64/python", "musl/python", "aarch64-musl/python"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    return try_wheel


def test_the_interpreter_is_that_of_the_platform(tried: ModuleType, tmp_path: Path) -> None:
    assert tried.interpreter(MUSL).python == tmp_path / "musl/python"
    assert tried.interpreter(ARM).python == tmp_path / "aarch64/python"
    assert tried.interpreter(ARM_MUSL).python == tmp_path / "aarch64-musl/python"
    assert tried.interpreter(WINDOWS) is None
    assert tried.interpreter(OWN) is None
    (tmp_path / "musl/python").unlink()
    assert tried.interpreter(MUSL) is None


@pytest.mark.parametrize(
    ("values", "golden", "status"),
    [
        ("5a portable\nTrue 3 4 x86_64 portable", "...\n3 passed", 0),
        ("5b portable\nTrue 3 4 x86_64 portable", "...\n3 passed", 1),
        ("5a portable\nFalse 3 4 x86_64 portable", "...\n3 passed", 1),
        ("exit 139: ", "...\n3 passed", 1),
        ("5a portable\nTrue 3 4 x86_64 portable", "exit 1: F..", 1),
    ],
    ids=["equal", "other values", "a failed self-test", "a crash", "another golden value"],
)
def test_what_was_drawn_is_compared(
    tried: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    values: str,
    golden: str,
    status: int,
) -> None:
    def run(python: Path, *arguments: str, **_: str) -> str:
        if python.parts[-3:] == ("venv", "bin", "python"):
            return "5a avx2\nTrue 3 4 x86_64 portable avx2"
        return golden if "pytest" in arguments else values

    monkeypatch.setattr(tried, "run", run)
    monkeypatch.setattr(tried, "unpack", lambda *_: None)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: None)
    monkeypatch.setattr(sys, "argv", ["try_wheel.py", OWN, OWN, MUSL, WINDOWS])
    assert tried.main() == status
    lines = capsys.readouterr().out.splitlines()
    assert ("  WRONG" in lines) == (values != "5a portable\nTrue 3 4 x86_64 portable")
    said = "WRONG: exit 1: F.." if golden.startswith("exit") else "3 passed"
    assert f"  tests/exactness/test_golden.py: {said}" in lines
    assert lines[-1] == f"NOT RUN, because there is no interpreter for it: {WINDOWS}"
