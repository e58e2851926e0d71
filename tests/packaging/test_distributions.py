"""packaging/ agrees with pyproject.toml and Cargo.toml, and states that nobody has built with it."""

import importlib.metadata
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "packaging"
METADATA = importlib.metadata.metadata("stairnoise")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def recipe() -> Any:
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load(text("packaging/conda-forge/recipe.yaml"))


@pytest.mark.parametrize("name", ["README.md", "conda-forge/recipe.yaml", "debian/control", "debian/rules", "debian/changelog"])
def test_it_says_that_it_is_untried(name: str) -> None:
    assert "untried" in (FOLDER / name).read_text(encoding="utf-8").lower()


def test_the_recipe_is_of_this_version(recipe: Any) -> None:
    assert recipe["context"]["version"] == METADATA["Version"]
    assert f"({METADATA['Version']}-1)" in text("packaging/debian/changelog")


def test_the_recipe_needs_what_the_package_needs(recipe: Any) -> None:
    plain = [line for line in METADATA.get_all("Requires-Dist") or [] if "extra ==" not in line]
    assert recipe["requirements"]["run"] == [
        f"python {METADATA['Requires-Python']}",
        *(line.replace(">=", " >=") for line in plain),
    ]
    (maturin,) = re.findall(r'^requires = \["maturin(.*)"\]$', text("pyproject.toml"), re.MULTILINE)
    assert f"maturin {maturin}" in recipe["requirements"]["host"]
    about = recipe["about"]
    assert (about["summary"], about["license"]) == (METADATA["Summary"], METADATA["License-Expression"])
    assert about["repository"] in METADATA.get_all("Project-URL")[0]
    assert {"LICENSE-APACHE", "LICENSE-MIT"} <= set(about["license_file"])


def test_debian_needs_what_the_package_needs() -> None:
    control = text("packaging/debian/control")
    rust = re.search(r'^rust-version = "(.+)"$', text("Cargo.toml"), re.MULTILINE)
    (maturin,) = re.findall(r'^requires = \["maturin>=([\d.]+)', text("pyproject.toml"), re.MULTILINE)
    assert rust is not None
    assert f"cargo (>= {rust[1]}), rustc (>= {rust[1]})" in control
    assert f"python3-maturin (>= {maturin})" in control
    assert control.count("python3-numpy (>= 1:1.26)") == 2


def test_links_of_the_page_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (FOLDER / link).exists()] == []
