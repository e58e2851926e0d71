"""The types that users see: a right program passes ``mypy --strict``, and runs; a wrong one does not."""

import os
import re
import runpy
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, get_args

import pytest

import stairnoise

HERE = Path(__file__).parent
pytest.importorskip("mypy")


def errors(program: Path) -> dict[int, str]:
    """Error codes by line."""
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--no-error-summary",
        "--hide-error-context",
        str(program),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())
    assert done.returncode in (0, 1), done.stderr
    found = re.findall(rf"{re.escape(program.name)}:(\d+): error: .*\[([\w-]+)\]", done.stdout)
    assert done.stdout.count(": error: ") == len(found), done.stdout
    return {int(line): code for line, code in found}


def _environment() -> dict[str, str]:
    """An installed package is found by its `py.typed`; the checkout's must be pointed at."""
    assert stairnoise.__file__ is not None
    folder = Path(stairnoise.__file__).parents[1]
    installed = folder == Path(sysconfig.get_path("platlib"))
    return os.environ | ({} if installed else {"MYPYPATH": str(folder)})


def test_user_program_has_no_errors() -> None:
    assert errors(HERE / "user_program.py") == {}


def test_user_program_uses_every_public_name() -> None:
    """But those that a program has no use for, or that `raises` covers with their base."""
    text = (HERE / "user_program.py").read_text(encoding="utf-8")
    unused = {name for name in stairnoise.__all__ if f"sn.{name}" not in text}
    assert unused == {"CopyError", "ParameterTypeError", "__version__"}


def test_user_program_runs() -> None:
    names = runpy.run_path(str(HERE / "user_program.py"))
    for name, kind in [("one", float), ("answer", int), ("bound", int), ("step", int), ("tiers", list)]:
        assert type(names[name]) is kind
    for name in (
        *("floats", "singles", "integers", "narrow", "filled", "many", "private"),
        *("truncated", "merged", "counted", "vectors", "shared", "chances", "chosen"),
    ):
        promised = names["__annotations__"][name]
        last = get_args(promised)[-1]  # dtype[...] of ndarray, or the scalar type itself where NDArray is a type alias
        dtype = next(iter(get_args(last)), last)
        if dtype is not Any:
            assert names[name].dtype == dtype, name


def test_wrong_program_has_the_error_of_each_line() -> None:
    program = HERE / "wrong_program.py"
    lines = program.read_text(encoding="utf-8").splitlines()
    expected = {i: line.split("# ")[1] for i, line in enumerate(lines, start=1) if "  # " in line}
    assert len(expected) > 10
    assert errors(program) == expected
