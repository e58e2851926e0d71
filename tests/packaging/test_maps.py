"""The docstring of a package of mathematics names every file in it."""

import ast
from pathlib import Path

import pytest

import stairnoise

ROOT = Path(stairnoise.__file__).parent
PACKAGES = [ROOT / name for name in ("accounting", "accounting/losses", "distributions", "numerics")]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_package_names_its_files(package: Path) -> None:
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text(encoding="utf-8")))
    inside = {path.stem for path in package.glob("*.py")} | {path.parent.name for path in package.glob("*/__init__.py")}
    assert text is not None
    assert {name for name in inside - {"__init__"} if f"`{name}`" not in text} == set()
