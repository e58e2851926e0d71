"""`make coverage`: which lines of the crate, the binding and the package the tests run.

cargo-llvm-cov counts lines of Rust, in the crate's tests and in an extension that the Python tests drive; coverage.py counts
lines of Python. The result is the table of docs/evidence/coverage.md. The command fails if a part is below 95 %, or if a file
has more lines that do not run than `coverage.toml` gives a reason for.
"""

import datetime
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from itertools import groupby
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "target" / "coverage"
PAGE, MARK = ROOT / "docs" / "evidence" / "coverage.md", "<!-- what follows is written by make coverage -->\n"
PARTS = {"core": "rust/core/src/", "binding": "rust/binding/src/", "package": "python/stairnoise/"}
MIN_PERCENT = 95.0

# Modules that are compiled only for tests. cargo-llvm-cov ignores `tests.rs` and folders `tests` by itself.
TEST_MODULES = r"/(edges|exhaustive|proof|testing)(\.rs$|/)"
# These tests loop for minutes or compare values with oracles, and run no lines that others do not.
NOT_RUST = ["--skip", "edges", "--skip", "exhaustive", "--skip", "proof"]
NOT_PYTHON = ["--ignore=tests/exactness", "--ignore=tests/oracles", "--ignore=tests/statistical"]
# These tests fail or hang while lines are counted: they check where the package is, search memory for keys (which counters copy
# elsewhere), wait for long work, fork while coverage.py holds its lock, or trace a child that has no memory left.
DESELECTED = [
    "tests/by_mechanism/test_multivariate_staircase_long.py::test_the_work_of_a_vector_does_not_grow_with_the_square_of_its_length",
    "tests/generators/test_keys_in_memory.py",
    "tests/generators/test_repeated_noise.py::test_fork_in_a_thread_while_others_draw",
    "tests/interface/test_installed.py::test_the_modules_are_where_they_should_be",
    "tests/process/test_interrupts.py::test_ctrl_c_ends[a large mechanism]",
    "tests/process/test_memory_limits.py",
]
PYTEST = ["pytest", "-q", "-p", "no:cacheprovider", "-n", "auto", "--maxprocesses", "4", "--dist", "worksteal"]

COVERAGE = [sys.executable, "-m", "coverage"]

Lines = dict[str, dict[int, bool]]  # for each file: whether each line ran


def run(*command: str | Path, **environment: str) -> None:
    print("coverage:", shlex.join(map(str, command)), flush=True)
    subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=True)


def output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def measure_rust() -> None:
    """Run the crate's tests, and build the extension; both count lines."""
    os.environ["PATH"] = f"{ROOT / 'target/tools/bin'}{os.pathsep}{os.environ['PATH']}"
    # Build as for a release, but without link-time optimisation, which takes minutes.
    os.environ.update(CARGO_TARGET_DIR=str(WORK), CARGO_PROFILE_DEV_OPT_LEVEL="2", CARGO_PROFILE_DEV_DEBUG_ASSERTIONS="false")
    os.environ.update(word.split("=", 1) for word in shlex.split(output("cargo", "llvm-cov", "show-env")))
    run("cargo", "llvm-cov", "clean", "--profraw-only")
    run("cargo", "test", "--locked", "-p", "stairnoise", "--all-features", "--lib", "--tests", "--", "-q", *NOT_RUST)
    run("cargo", "build", "--locked", "-p", "stairnoise-python")


def measure_python() -> None:
    """Run the Python tests on links to the sources, beside the extension that counts. The installed extension is not touched."""
    package = WORK / "site" / "stairnoise"
    shutil.rmtree(package, ignore_errors=True)
    package.mkdir(parents=True)
    for path in (ROOT / PARTS["package"]).iterdir():
        if path.suffix not in {".so", ".pyd"}:
            (package / path.name).symlink_to(path)
    [extension] = [path for path in (WORK / "debug").glob("*_native.*") if path.suffix in {".so", ".dylib", ".dll"}]
    shutil.copy2(extension, package / "_native.abi3.so")
    os.environ["COVERAGE_FILE"] = str(WORK / "python" / "lines")
    run(*COVERAGE, "erase")
    deselected = [f"--deselect={test}" for test in DESELECTED]
    run(*COVERAGE, "run", "-m", *PYTEST, *NOT_PYTHON, *deselected, PYTHONPATH=str(package.parent))
    run(*COVERAGE, "combine", "-q")


def lines() -> Lines:
    """Return the lines of both languages."""
    rust, python = WORK / "rust.lcov", WORK / "python.lcov"
    run("cargo", "llvm-cov", "report", "--lcov", "--ignore-filename-regex", TEST_MODULES, "--output-path", rust)
    run(*COVERAGE, "lcov", "-q", "-o", python)
    return lines_of(rust) | lines_of(python)


def lines_of(report: Path) -> Lines:
    """Read a report in lcov's format, without the tests at the end of a Rust file."""
    lines: Lines = {}
    for name, counts in re.findall(r"^SF:(.*)\n((?:(?!end_of_record).*\n)*)", report.read_text("utf-8"), re.M):
        source = ROOT / name
        end = re.split(r"#\[cfg\(.*\btest\b.*\)\]\n.*mod tests \{", source.read_text("utf-8"))[0].count("\n")
        pairs = [(int(line), count != "0") for line, count in re.findall(r"^DA:(\d+),(\d+)", counts, re.M)]
        lines[source.relative_to(ROOT).as_posix()] = {line: ran for line, ran in pairs if line <= end}
    return lines


def ranges(numbers: list[int]) -> str:
    """Return "3-5, 8" for [3, 4, 5, 8]."""
    runs = [[number for _, number in group] for _, group in groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])]
    return ", ".join(f"{one[0]}-{one[-1]}" if len(one) > 1 else str(one[0]) for one in runs)


def judged(lines: Lines) -> tuple[list[str], list[str]]:
    """Return the table of the page, and a line for each fault."""
    reasons = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    table, wrong = ["| part | lines | run | per cent |", "|---|---|---|---|"], []
    for name, prefix in PARTS.items():
        ran = [one for path, of in lines.items() if path.startswith(prefix) for one in of.values()]
        share = 100 * sum(ran) / len(ran)
        table.append(f"| {name} (`{prefix}`) | {len(ran)} | {sum(ran)} | {share:.2f} |")
        wrong += [f"{name}: {share:.2f} % of the lines run, less than {MIN_PERCENT:g} %"] * (share < MIN_PERCENT)
    for path, of in sorted(lines.items()):
        missing = sorted(line for line, one in of.items() if not one)
        most = next((number for end, (number, _) in reasons.items() if path.endswith(f"/{end}")), 0)
        wrong += [f"{path}: {ranges(missing)} do not run; {most} lines have a reason"] * (len(missing) > most)
    return table, wrong


def main() -> None:
    measure_rust()
    measure_python()
    table, wrong = judged(lines())
    compiler, date = output("rustc", "--version").split(" (")[0], datetime.date.today()
    made = f"Measured on {date} with {compiler} and Python {platform.python_version()}."
    PAGE.write_text("\n".join([PAGE.read_text("utf-8").split(MARK)[0] + MARK, made, "", *table, ""]), "utf-8")
    print("\n".join([*table, *wrong]))
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
