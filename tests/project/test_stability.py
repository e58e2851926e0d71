"""docs/stability.md is up to date: public names, deprecations, and versions of Python, NumPy and Rust.

Evidence: the metadata of the package and of the crate, the sources, and calls with every warning an error.
"""

import importlib.metadata
import re
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest

import stairnoise as sn

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/stability.md").read_text(encoding="utf-8")
PYTHON = sorted((ROOT / "python/stairnoise").rglob("*.py"))
RUST = sorted((ROOT / "rust").glob("*/src/**/*.rs"))

with warnings.catch_warnings():
    warnings.simplefilter("error")
    OLDER = {
        "MergedLaplace.pure_eps": sn.MergedLaplace(eps=[16, 4], breakpoints=[0.125]),
        "MultiScaleDiscreteLaplace.privacy_eps": sn.MultiScaleDiscreteLaplace(eps=5, sensitivity=3),
        "GeneralizedDiscreteLaplace.privacy_eps": sn.GeneralizedDiscreteLaplace(beta=1, a=1),
        "Arete.privacy_eps": sn.Arete(alpha=0.5, theta=1, lam=1),
        "Laplace.eps": sn.Laplace(eps=1),
        "Gaussian.eps": sn.Gaussian(eps=1, delta=1e-6),
        "Gaussian.delta": sn.Gaussian(eps=1, delta=1e-6),
        "Gaussian.rho": sn.Gaussian(sigma=3, sensitivity=1),
    }


def file(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def row(what: str) -> str:
    """Return the table row that begins with a text."""
    lines = [line for line in PAGE.splitlines() if line.startswith(f"| {what}")]
    assert len(lines) == 1
    return lines[0]


def test_the_oldest_python_is_that_of_the_metadata() -> None:
    oldest = importlib.metadata.metadata("stairnoise")["Requires-Python"]
    assert re.search(r"\| (3\.\d+) and newer", row("CPython"))[1] == oldest.removeprefix(">=")  # type: ignore[index]
    assert f'"{re.search(r"`(abi3-py3[0-9]+)`", row("CPython"))[1]}"' in file("rust/binding/Cargo.toml")  # type: ignore[index]
    assert sys.version_info >= tuple(map(int, oldest.removeprefix(">=").split(".")))


def test_the_oldest_numpy_and_rust() -> None:
    (numpy,) = [line for line in importlib.metadata.requires("stairnoise") or [] if "extra" not in line]
    assert f"| {numpy.removeprefix('numpy>=')} and newer |" in row("NumPy")
    rust = re.search(r'^rust-version = "(.+)"$', file("Cargo.toml"), re.MULTILINE)
    assert f"| {rust[1]} and newer |" in row("Rust")  # type: ignore[index]


def test_free_threaded_pythons_run_with_the_gil() -> None:
    asked = "#[pymodule(gil_used = true)]" in file("rust/binding/src/lib.rs")
    assert asked == ("importing it turns the GIL on" in row("free-threaded CPython"))


def test_platforms_are_those_of_the_classifiers_and_the_checks() -> None:
    systems = {
        line.split(" :: ")[-1]
        for line in importlib.metadata.metadata("stairnoise").get_all("Classifier") or []
        if "System" in line
    }
    assert systems == {"Linux", "MacOS", "Windows"}
    assert "x86_64-pc-windows-msvc aarch64-apple-darwin" in file("Makefile")
    assert "manylinux2014 (2.17)" in file("scripts/wheels.sh")
    assert "all tests" in row("Linux, x86-64, glibc 2.17")


def test_nothing_is_deprecated_while_the_page_says_so() -> None:
    """The first deprecation has to change the page."""
    python = [path.name for path in PYTHON if "DeprecationWarning" in path.read_text(encoding="utf-8")]
    rust = [path.name for path in RUST if re.search(r"#\[deprecated", path.read_text(encoding="utf-8"))]
    assert ("Nothing is deprecated" in PAGE) == (not python and not rust)


@pytest.mark.parametrize("name", OLDER)
def test_an_older_spelling_answers_without_a_warning(name: str) -> None:
    mechanism, spelling = OLDER[name], name.partition(".")[2]
    assert f"`{spelling}`" in PAGE or f"`{spelling}()`" in PAGE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        value = getattr(mechanism, spelling)
        number = value() if callable(value) else value
        promise = mechanism.guarantee(1 if mechanism._stated is None else None)
    assert number == {"delta": promise.delta, "rho": promise.rho}.get(spelling, promise.eps)


def test_every_public_name_is_there_without_a_warning() -> None:
    """A new process has imported nothing yet."""
    code = """
        import stairnoise, stairnoise.query, stairnoise.engines
        for module in (stairnoise, stairnoise.query, stairnoise.engines):
            print(sum(getattr(module, name) is not None for name in module.__all__), len(module.__all__))
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True
    )
    counts = [line.split() for line in done.stdout.splitlines()]
    assert len(counts) == 3
    assert all(there == named for there, named in counts)


def test_the_table_of_steps_is_on_one_page() -> None:
    step = "a public name or argument is removed"
    pages = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    pages += sorted((ROOT / "docs").rglob("*.md"))
    assert [page.name for page in pages if step in page.read_text(encoding="utf-8")] == ["stability.md"]
    assert "(docs/stability.md)" in file("CONTRIBUTING.md")
    assert "(docs/stability.md)" in file("CHANGELOG.md")
