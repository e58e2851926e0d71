"""The public types: a correct program passes ``mypy --strict`` and pyright, and runs; each mistake in a wrong one is found."""

import importlib.util
import json
import os
import re
import runpy
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np
import pytest

import stairnoise
from stairnoise.registry import ROWS, Example, Row

HERE = Path(__file__).parent
typing_extensions = pytest.importorskip("typing_extensions")
pytest.importorskip("mypy")

EVERY_MECHANISM = "every_mechanism.py"
COLUMNS = ["columns.py"] * (importlib.util.find_spec("polars") is not None)
RIGHT = ["user_program.py", "returned.py", EVERY_MECHANISM, *COLUMNS]


def run(*command: str) -> str:
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, check=False, env=_environment())
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


Errors = dict[str, dict[int, str]]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The programs beside this file, and one that draws from every example of the registry, by a mechanism and by `sample`."""
    every_mechanism = tmp_path_factory.mktemp("typing") / EVERY_MECHANISM
    examples = [(row, example) for row in ROWS for example in (*row.examples, row.arrays) if example]
    made = [f"{_call(row, example)}.sample(3, rng=sn.SeededRng(1))\n" for row, example in examples]
    made += [f"{_sampled(row, example)}\n" for row, example in examples if not example.by]
    every_mechanism.write_text("import stairnoise as sn\n\n" + "".join(made), encoding="utf-8")
    return [*(HERE / name for name in ("user_program.py", "returned.py", *COLUMNS, "wrong_program.py")), every_mechanism]


def mypy(programs: list[Path]) -> Errors:
    """Return mypy's error codes by program and line."""
    text = run("mypy", "--strict", "--config-file=", "--no-error-summary", "--hide-error-context", *map(str, programs))
    found = re.findall(r"(\w+\.py):(\d+): error: .*\[([\w-]+)\]", text)
    assert text.count(": error: ") == len(found), text
    return {path.name: {int(line): code for name, line, code in found if name == path.name} for path in programs}


@pytest.fixture(scope="module")
def pyright(programs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Errors:
    """Return pyright's rules by program and line. basedpyright is the same checker, in a package that includes Node.js."""
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("needs pyright: pip install --group pyright")
    settings = {"typeCheckingMode": "strict", "include": [str(HERE)], "extraPaths": [str(_sources())]}
    config = tmp_path_factory.mktemp("pyright") / "pyrightconfig.json"
    config.write_text(json.dumps(settings), encoding="utf-8")
    text = run(*("basedpyright", "--outputjson", "--project", str(config), "--pythonpath", sys.executable, *map(str, programs)))
    report = json.loads(text)
    assert report["summary"]["filesAnalyzed"] == len(programs), text
    found = [one for one in report["generalDiagnostics"] if one["severity"] == "error"]
    return {
        path.name: {one["range"]["start"]["line"] + 1: one["rule"] for one in found if one["file"] == str(path)}
        for path in programs
    }


def _sources() -> Path:
    assert stairnoise.__file__ is not None
    return Path(stairnoise.__file__).parents[1]


def _environment() -> dict[str, str]:
    """Checkers find an installed package by its `py.typed`; for a checkout, they need the path."""
    installed = _sources() == Path(sysconfig.get_path("platlib"))
    return os.environ | ({} if installed else {"MYPYPATH": str(_sources())})


def _call(row: Row, example: Example) -> str:
    return ".".join(filter(None, ["sn", row.class_name, example.by])) + f"({_arguments(example)})"


def _sampled(row: Row, example: Example) -> str:
    return f"sn.sample(3, mechanism={row.name!r}, rng=sn.SeededRng(1), {_arguments(example)})"


def _arguments(example: Example) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in example.arguments.items())


@pytest.mark.parametrize("program", RIGHT)
def test_right_program_has_no_errors_in_pyright(program: str, pyright: Errors) -> None:
    assert pyright[program] == {}


def test_user_program_uses_every_public_name() -> None:
    """Exceptions: mechanisms (in `every_mechanism`), names of no use here, and errors that `raises` covers by their base."""
    text = (HERE / "user_program.py").read_text(encoding="utf-8")
    unused = {name for name in stairnoise.__all__ if f"sn.{name}" not in text}
    assert unused - {row.class_name for row in ROWS} == {"CopyError", "ParameterTypeError", "__version__"}


def test_user_program_runs() -> None:
    names = runpy.run_path(str(HERE / "user_program.py"))
    # CPython 3.14 and later compute annotations on request; format 1 returns them as values.
    annotations = names["__annotate__"](1) if "__annotate__" in names else names["__annotations__"]
    for name, promised in annotations.items():
        assert holds(names[name], promised), name


@pytest.mark.parametrize(("program", "least"), [("returned.py", 150), *((name, 5) for name in COLUMNS)])
def test_returned_types_are_true(program: str, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The type that checkers infer for an expression is the type of its value."""
    asked = []

    def ask(value: object, promised: Any) -> None:
        asked.append(promised)
        assert holds(value, promised), f"{value!r} is no {promised}"

    monkeypatch.setattr(typing_extensions, "assert_type", ask)
    runpy.run_path(str(HERE / program))
    assert len(asked) > least


def holds(value: object, promised: Any) -> bool:
    """Return whether a value has a type: an int is no float, and an array must have the dtype."""
    kind, arguments = get_origin(promised) or promised, get_args(promised)
    if promised is Any:
        return True
    if hasattr(kind, "__value__"):  # an alias from a `type` statement, such as NDArray in NumPy 2.5
        return holds(value, kind.__value__[arguments])
    if kind in (Union, UnionType):
        return any(holds(value, one) for one in arguments)
    if kind is np.ndarray:
        dtype = get_args(arguments[1])[0]
        return isinstance(value, np.ndarray) and value.ndim > 0 and (dtype is Any or value.dtype == dtype)
    if kind is tuple:
        return isinstance(value, tuple) and len(value) == len(arguments) and all(map(holds, value, arguments))
    if kind is list:
        return isinstance(value, list) and all(holds(item, arguments[0]) for item in value)
    return type(value) is kind if kind in (int, float) else isinstance(value, kind)


def wrong_lines() -> dict[int, str]:
    lines = (HERE / "wrong_program.py").read_text(encoding="utf-8").splitlines()
    return {i: line.split("  # ")[1] for i, line in enumerate(lines, start=1) if "  # " in line}


def test_right_programs_have_no_errors_and_the_wrong_one_has_that_of_each_line(programs: list[Path]) -> None:
    """One test, because each process of pytest that has one of several would run mypy."""
    assert len(wrong_lines()) > 30
    assert mypy(programs) == {"wrong_program.py": wrong_lines()} | {program: {} for program in RIGHT}


def test_pyright_refuses_each_line_of_the_wrong_program(pyright: Errors) -> None:
    assert pyright["wrong_program.py"].keys() == wrong_lines().keys()
