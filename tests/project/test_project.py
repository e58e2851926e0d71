"""The metadata of the installed package, and facts that several files of the project must agree on."""

import ast
import importlib.metadata
import io
import os
import re
import shutil
import subprocess
import sys
import textwrap
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
METADATA = importlib.metadata.metadata("stairnoise")

REQUIRED = [
    re.split(r"[^\w.\[\]-]", line)[0] for line in importlib.metadata.requires("stairnoise") or [] if "extra ==" not in line
]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_numpy_is_the_only_runtime_dependency() -> None:
    assert REQUIRED == ["numpy"]


def test_python_and_licence() -> None:
    assert METADATA["Requires-Python"] == ">=3.10"
    assert METADATA["License-Expression"] == "MIT OR Apache-2.0"
    assert sorted(METADATA.get_all("License-File") or []) == ["LICENSE-APACHE", "LICENSE-MIT"]


EXTRAS = "accounting cli jupyter plot postgresql query scipy spark"


def test_extras_are_for_users_and_groups_for_developers() -> None:
    assert set(METADATA.get_all("Provides-Extra") or []) == set(EXTRAS.split())
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 cannot read TOML")
    groups = tomllib.loads(text("pyproject.toml"))["dependency-groups"]
    expected = "bench build dev docs freethreaded lint peers pyright spark systems test"
    assert set(groups) == set(expected.split())


def test_every_group_that_is_installed_anywhere_exists() -> None:
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 cannot read TOML")
    groups = tomllib.loads(text("pyproject.toml"))["dependency-groups"]
    names = ["Makefile", "CONTRIBUTING.md", *(f"scripts/{path.name}" for path in (ROOT / "scripts").glob("*.*"))]
    named = {group for name in names for group in re.findall(r'--group"?,? "?([a-z]+)\b', text(name))}
    assert named == set(groups)


def test_files_whose_lines_need_not_run_exist() -> None:
    """Evidence: the names in the list of coverage, each the end of a path."""
    names = re.findall(r'^"([^"]+)" = \[', text("scripts/coverage.toml"), re.MULTILINE)
    paths = [f"/{path.as_posix()}" for folder in ("python", "rust") for path in (ROOT / folder).rglob("*.[pr][ys]")]
    assert len(names) > 40
    assert [name for name in names if not any(path.endswith(f"/{name}") for path in paths)] == []


def urls() -> dict[str, str]:
    """The project's addresses by their labels."""
    return dict(line.split(", ", 1) for line in METADATA.get_all("Project-URL") or [])


def test_project_urls_lead_to_one_repository() -> None:
    found = urls()
    assert set(found) == {"Homepage", "Documentation", "Repository", "Issues", "Changelog", "Security"}
    repository = found["Repository"]
    assert f'repository = "{repository}"' in text("Cargo.toml")
    assert all(url.startswith(repository) for url in found.values())
    pages = [url.partition("/blob/main/")[2] for url in found.values() if "/blob/" in url]
    assert len(pages) == 3
    assert [page for page in pages if not (ROOT / page).is_file()] == []


def test_classifiers_are_those_of_the_index() -> None:
    found = METADATA.get_all("Classifier") or []
    assert found == sorted(found)
    assert len(found) == len(set(found))
    known = pytest.importorskip("trove_classifiers", reason="trove-classifiers is not installed").classifiers
    assert set(found) <= known


def test_links_of_the_readme_lead_somewhere_from_the_index_too() -> None:
    """The package index shows README.md alone, so links name the repository and an existing file."""
    repository = urls()["Repository"]
    files = repository.replace("github.com", "raw.githubusercontent.com") + "/main/"
    prefix = re.compile(f"{re.escape(repository)}/(?:blob|tree)/main/|{re.escape(files)}")
    links = re.findall(r"\]\(([^)]+)\)", text("README.md"))
    assert [link for link in links if not re.match(r"https://|#|mailto:", link)] == []
    here = [prefix.sub("", link).partition("#")[0] for link in links if prefix.match(link)]
    assert len(here) >= 20
    assert [path for path in here if not (ROOT / path).exists()] == []
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text("README.md"))
    assert [link for link in pictures if not link.startswith(files)] == []


def test_one_version() -> None:
    """Crate, package, changelog and citation name the same version."""
    version = re.search(r'^version = "(.+)"$', text("Cargo.toml"), re.MULTILINE)
    assert version is not None
    assert importlib.metadata.version("stairnoise") == version[1]
    assert f"\nversion: {version[1]}\n" in text("CITATION.cff")


def test_the_citation_is_one() -> None:
    pytest.importorskip("check_jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format", "CITATION.cff"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


def test_changelog_has_a_place_for_the_next_change() -> None:
    assert "## [Unreleased]" in text("CHANGELOG.md")


def test_console_script() -> None:
    scripts = importlib.metadata.entry_points(group="console_scripts", name="stairnoise")
    assert [script.value for script in scripts] == ["stairnoise.cli:main"]


def test_types_are_shipped() -> None:
    assert (ROOT / "python/stairnoise/py.typed").is_file()
    assert (ROOT / "python/stairnoise/_native.pyi").is_file()


def test_ci_runs_make_test_and_nothing_else() -> None:
    lines = [line for line in text(".ci/run").splitlines() if line and not line.startswith("#")]
    assert lines == [
        "set -euo pipefail",
        'cd "$(dirname "${BASH_SOURCE[0]}")/.."',
        "export CARGO_INCREMENTAL=0",
        "exec make test",
    ]
    assert os.access(ROOT / ".ci/run", os.X_OK)


def test_make_alone_prints_help() -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    done = subprocess.run([make, "-s", "-C", str(ROOT)], capture_output=True, text=True, check=True)
    names = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("  make ")}
    assert {"bench", "build", "clean", "demo", "help", "test", "test-long"} <= names


def test_import_loads_little_beside_numpy() -> None:
    """The cost of an import is counted in modules, because times vary on a busy machine; `make bench` measures the time.

    30 modules of 150 kB take 7.5 ms. A standard-library module such as `fractions` adds 4 ms, so functions import such modules
    on demand.
    """
    code = """
        import sys, numpy
        before = set(sys.modules)
        import stairnoise
        new = {name: sys.modules[name] for name in sys.modules.keys() - before}
        own = [module.__file__ for name, module in new.items() if name.partition(".")[0] == "stairnoise"]
        others = {name for name in new if name.partition(".")[0] not in ("stairnoise", "numpy")}
        print(sorted(others), len(own), sum(len(open(path, "rb").read()) for path in own if path.endswith(".py")))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    others, modules, characters = re.fullmatch(r"(\[.*\]) (\d+) (\d+)\n", done.stdout).groups()  # type: ignore[union-attr]
    assert others in ("[]", "['__future__']")
    assert int(modules) <= 40
    assert int(characters) <= 200_000


def test_few_imports_stand_in_functions() -> None:
    """Packages load their modules on demand (`stairnoise._lazy`), so that a file's imports are at its top."""
    found = []
    for path in sorted((ROOT / "python").rglob("*.py")):
        functions = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)]
        inside = {node for function in functions for node in ast.walk(function) if isinstance(node, (ast.Import, ast.ImportFrom))}
        found += [f"{path.name}:{node.lineno}" for node in inside]
    assert len(found) <= 20, found


def test_import_does_not_load_the_command_line() -> None:
    extras = {"typer", "rich", "click", "pydantic", "scipy", "matplotlib", "pandas", "dp_accounting"}
    code = f"import sys, stairnoise; print(sorted({extras} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "benches/README.md", "docs/figures.md"])
def test_relative_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []


def test_no_identifier_has_a_name_that_says_nothing() -> None:
    """The names by which readers were misled: other words say what is counted, repeated or ordinary."""
    files = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not files:
        pytest.skip("needs Git")
    found = []
    words = re.compile(r"\b(?:cells|each|usual|laws?)\b")
    for name, content in ((name, text(name)) for name in files):
        for token in tokenize.generate_tokens(io.StringIO(content).readline) if words.search(content) else ():
            if token.type == tokenize.NAME and words.fullmatch(token.string):
                found.append(f"{name}: {token.line.strip()}")
    # Rich calls its module so.
    assert found == ["tests/cli/test_screen.py: from rich.cells import cell_len"]
