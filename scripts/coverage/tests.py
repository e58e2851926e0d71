"""The tests that are measured."""

import sys
from collections.abc import Iterable
from pathlib import Path

from .build import PACKAGE, ROOT, SITE, WORK
from .runs import RUNS, Run

# The others compare laws with oracles and wheels with tools, for minutes, and run no other lines.
PYTHON_TESTS = ["tests/unit", "tests/property/hostile", "tests/packaging/test_docs.py", "tests/packaging/test_readme.py"]
# It searches memory for keys, which an extension with counters leaves elsewhere.
NOT_MEASURED = {"test_memory.py"}

# Minutes of arithmetic on lines that other tests run too.
SKIPPED = ["--skip", "kernel::tests::exhaustive", "--skip", "kernel::tests::proof"]

INSTRUMENTS = ("scripts/coverage/build.py", "scripts/coverage/few.py", "scripts/coverage/instrument.sh")
READ_BY_RUST = ("Cargo.lock", "Cargo.toml", "rust/core", "rust/fuzz", "tests/vectors", *INSTRUMENTS)
READ_BY_PYTHON = (*READ_BY_RUST, "README.md", "benches", "docs", "pyproject.toml", "python", "rust", "tests")

OPTIONS = WORK / "coveragerc"
# coverage.py's files are named by this and a process.
DATA = "lines"


def of_rust(programs: Iterable[Path]) -> list[Run]:
    """Of the crate, by program."""
    # Cargo's names end in a digest of the compiler's options.
    return [
        Run(f"rust-{program.stem.rpartition('-')[0]}", (str(program), "-q", *SKIPPED), ROOT / "rust" / "core", READ_BY_RUST)
        for program in programs
    ]


def of_python() -> list[Run]:
    """Of the package, by file, the largest first; child processes are measured with them."""
    lines = ["[run]", f"source_dirs = {PACKAGE}", "parallel = true", "patch = subprocess, fork, _exit"]
    lines += ["[report]", "exclude_also =", "    if (_typing.)?TYPE_CHECKING:", "    @overload", ""]
    OPTIONS.write_text("\n".join(lines))
    paths = [path for name in PYTHON_TESTS for path in (sorted((ROOT / name).glob("test_*.py")) or [ROOT / name])]
    paths = [path for path in paths if path.name not in NOT_MEASURED]
    return [of_file(path) for path in sorted(paths, key=lambda path: path.stat().st_size, reverse=True)]


def of_file(path: Path) -> Run:
    """Of one file."""
    name, tests = f"python-{path.stem}", path.relative_to(ROOT).as_posix()
    command = [sys.executable, "-m", "coverage", "run", f"--rcfile={OPTIONS}", f"--data-file={RUNS / name / DATA}"]
    command += ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "scripts.coverage.few", tests]
    return Run(name, tuple(command), ROOT, (*READ_BY_PYTHON, tests), (("PYTHONPATH", str(SITE)),))
