"""In a checkout, the tests import the checkout's package; elsewhere, as in scripts/test_installed.py, the installed one."""

import importlib.metadata
import sysconfig
from pathlib import Path

import pytest

import stairnoise
from stairnoise import _native

ROOT = Path(__file__).resolve().parents[2]
IN_A_CHECKOUT = (ROOT / "python" / "stairnoise").is_dir()
EXPECTED = ROOT / "python" if IN_A_CHECKOUT else Path(sysconfig.get_path("platlib"))


@pytest.mark.parametrize("module", [stairnoise, _native], ids=lambda module: module.__name__)
def test_the_modules_are_where_they_should_be(module):
    assert Path(module.__file__).resolve() == (EXPECTED / "stairnoise" / Path(module.__file__).name).resolve()


def test_types_are_beside_the_module():
    folder = Path(stairnoise.__file__).parent
    assert (folder / "py.typed").is_file()
    assert (folder / "_native.pyi").is_file()


def test_the_metadata_are_those_of_the_module():
    assert importlib.metadata.version("stairnoise") == stairnoise.__version__
    assert [name for name in importlib.metadata.requires("stairnoise") or [] if "extra ==" not in name] == ["numpy>=1.26"]
