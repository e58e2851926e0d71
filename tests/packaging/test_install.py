"""The source distribution, installed by a user's command in a fresh environment, gives the package and NumPy only."""

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

TRY = """
import numpy as np
import stairnoise as sn

assert "site-packages" in sn.__file__, sn.__file__
x = sn.sample(1000, eps=4)
assert x.shape == (1000,) and x.dtype == np.float64
counts = sn.DiscreteLaplace(1.0).release(np.array([10, 20, 30]))
assert counts.dtype == np.int64
"""


def run(*command: object, **extra: str) -> str:
    clean = {k: v for k, v in os.environ.items() if k not in {"VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYO3_PYTHON"}}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env=clean | extra,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "maturin", "sdist", "--out", out)
    (archive,) = out.glob("stairnoise-*.tar.gz")
    return archive


def test_the_source_distribution_holds_what_a_build_needs(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "Cargo.lock",
        "Cargo.toml",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "PKG-INFO",
        "README.md",
        "pyproject.toml",
        "python/stairnoise/__init__.py",
        "python/stairnoise/py.typed",
        "rust/binding/src/lib.rs",
        "rust/core/src/lib.rs",
    } <= names
    assert not [name for name in names if name.endswith((".so", ".pyd", ".pyc"))]


@pytest.mark.long
@pytest.mark.parametrize(("source", "profile"), [("tree", "quick"), ("sdist", "quick"), ("sdist", "source")])
def test_pip_install_into_a_fresh_environment(source: str, profile: str, sdist: Path, tmp_path: Path) -> None:
    """What pip builds takes a minute; the quick profile builds the same code."""
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    # A separate build directory, kept between runs, leaves the one of `make build` untouched.
    target = ROOT / "target" / "packaging"
    what = ROOT if source == "tree" else sdist
    arguments = f"--profile {profile}"
    run(python, "-m", "pip", "install", "--quiet", what, CARGO_TARGET_DIR=str(target), MATURIN_PEP517_ARGS=arguments)
    installed = {line.split("==")[0] for line in run(python, "-m", "pip", "freeze").split("\n") if line}
    assert {name.split(" @")[0] for name in installed} == {"numpy", "stairnoise"}
    run(python, "-I", "-W", "error", "-c", TRY)
    # The extra is not installed, and the command names it.
    done = subprocess.run([python.with_name("stairnoise")], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "pip install typer rich" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.long
def test_make_demo_from_a_bare_checkout(tmp_path: Path) -> None:
    """All jobs run from a copy with no build products, under a path with a space; a second run installs and builds nothing."""
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    products = shutil.ignore_patterns(".git", ".venv", "target", "*.so", "__pycache__", ".*_cache", ".hypothesis")
    checkout = tmp_path / "bare checkout"
    shutil.copytree(ROOT, checkout, ignore=products)
    first = run("make", "-C", checkout, "demo", CI="true")
    for word in ("maturin develop", "E|X|", "Married-civ-spouse", "marital_status,race,count,error_bound"):
        assert word in first
    second = run("make", "-C", checkout, "demo", CI="true")
    assert "maturin" not in second
    assert "Married-civ-spouse" in second
