"""Marks that SciPy's own test modules use, which `test_scipy_own_checks` imports under this project's strict marks."""

import importlib.util
import re
from pathlib import Path

import pytest


def pytest_configure(config: pytest.Config) -> None:
    spec = importlib.util.find_spec("scipy")
    if spec is None or spec.origin is None:
        return
    modules = (Path(spec.origin).parent / "stats/tests").glob("test_*_basic.py")
    marks = {mark for module in modules for mark in re.findall(r"pytest\.mark\.(\w+)", module.read_text(encoding="utf-8"))}
    for mark in marks - {"parametrize", "skip", "skipif", "xfail", "usefixtures", "filterwarnings"}:
        config.addinivalue_line("markers", f"{mark}: SciPy's, with no meaning here")
