"""A user gets with stairnoise only NumPy and the crates that deny.toml argues for, under licences that deny.toml allows.

Evidence: cargo's own resolution of Cargo.lock. `make audit` asks cargo-deny the same questions, and for advisories.
"""

import importlib.metadata
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The crates in our manifests, except optional ones and those for development.
DIRECT = {
    "stairnoise": {"aes", "getrandom", "hmac", "libc", "sha2", "zeroize"},
    "stairnoise-python": {"numpy", "pyo3", "stairnoise", "zeroize"},
}


@pytest.fixture(scope="module")
def policy() -> Any:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 cannot read TOML")
    return tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))


def crates(package: str, *options: str) -> dict[str, str]:
    """Return the licence of every crate compiled for the package on any platform, by name."""
    cargo = shutil.which("cargo")
    if cargo is None:
        pytest.skip("cargo is not installed")
    what = ["--package", package, "--edges", "normal,build", "--target", "all", *options]
    how = ["--prefix", "none", "--format", "{p}|{l}|"]
    done = subprocess.run([cargo, "tree", "--locked", *what, *how], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line.split("|") for line in done.stdout.splitlines()]
    return {name.split()[0]: licence for name, licence, _ in lines}


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Return whether an SPDX expression offers an allowed licence; a slash is the old form of OR."""
    words = re.findall(r"\(|\)|[^\s()]+(?: WITH [^\s()]+)?", expression.replace("/", " OR "))
    python = {"(": "(", ")": ")", "AND": "and", "OR": "or"}
    return bool(eval(" ".join(python.get(word, str(word in allowed)) for word in words), {}))


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("(GPL-3.0-only OR MIT) AND Unicode-3.0", False),
        ("Apache-2.0 WITH LLVM-exception", False),
        ("", False),
    ],
)
def test_licence_expressions_are_read(expression: str, verdict: bool) -> None:
    assert (is_allowed(expression, {"MIT", "Apache-2.0"}) if expression else False) is verdict


def test_numpy_is_the_only_runtime_dependency_of_the_package() -> None:
    required = [line for line in importlib.metadata.requires("stairnoise") or [] if "extra ==" not in line]
    assert required == ["numpy>=1.26"]


@pytest.mark.parametrize("package", DIRECT)
def test_direct_dependencies_are_these(package: str) -> None:
    assert set(crates(package, "--depth", "1")) - {package} == DIRECT[package]


def test_every_crate_is_argued_for_and_every_argument_has_a_crate(policy: Any) -> None:
    argued = {entry["crate"]: entry["reason"] for entry in policy["bans"]["allow"]}
    assert set(crates("stairnoise-python")) == set(argued)
    assert all(argued.values())


def test_every_licence_is_allowed_and_every_allowed_one_is_used(policy: Any) -> None:
    licences = set(crates("stairnoise-python").values())
    allowed = set(policy["licenses"]["allow"])
    assert {licence for licence in licences if not licence or not is_allowed(licence, allowed)} == set()
    assert {name for name in allowed if not any(name in licence for licence in licences)} == set()


def test_every_crate_comes_from_the_public_registry() -> None:
    sources = re.findall(r'^source = "(.*)"$', (ROOT / "Cargo.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(sources) == {"registry+https://github.com/rust-lang/crates.io-index"}
