"""`pytest --quick`, which `make check` runs, knows every folder of tests, and every path that it looks at is there."""

from pathlib import Path

from tests.conftest import ABOUT, QUICK

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent


def test_every_folder_of_tests_is_named_once() -> None:
    folders = {path.relative_to(TESTS).parts[0] for path in TESTS.glob("*/**/test_*.py")}
    assert folders == QUICK | ABOUT.keys()
    assert QUICK & ABOUT.keys() == set()


def test_what_a_folder_is_about_exists() -> None:
    named = {name for names in ABOUT.values() for name in names}
    assert [name for name in sorted(named) if not list(ROOT.glob(name.rstrip("/") + "*"))] == []


def test_every_folder_of_tests_is_in_contributing() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [folder for folder in sorted(QUICK | ABOUT.keys()) if f"    tests/{folder}/ " not in page] == []
