"""Runs the Rust tests and the Python tests with counters, and reads the counters."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / "target" / "coverage"
PROFILES = WORK / "profiles"
PACKAGE = ROOT / "python" / "stairnoise"

# The others compare laws with oracles and wheels with tools, for minutes, and run no other lines.
PYTHON_TESTS = ["tests/unit", "tests/packaging/test_docs.py", "tests/packaging/test_readme.py"]
# It searches memory for keys, which an extension with counters leaves elsewhere.
NOT_MEASURED = {"test_memory.py"}
PROCESSES = 4

# Without link-time optimisation, which takes minutes; the counters are the same. The other checks are those of a release.
SETTINGS = ["opt-level=2", "debug=false", "debug-assertions=false", "overflow-checks=true"]
PROFILE = [word for setting in SETTINGS for word in ("--config", f"profile.dev.{setting}")]

# Minutes of arithmetic on lines that other tests run too.
SKIPPED = ["--skip", "kernel::exhaustive", "--skip", "kernel::proof"]

Counts = dict[str, dict[int, int]]
"""Of every file, by its path in the repository: how often each of its lines ran."""


def llvm(tool: str) -> str:
    """The path of one of LLVM's tools, of the compiler's own version: no other reads its profiles for certain."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True).stdout.strip()
    for path in Path(sysroot).glob(f"lib/rustlib/*/bin/{tool}"):
        return str(path)
    raise SystemExit(f"coverage: {tool} is missing; install it by: rustup component add llvm-tools")


def instrumented() -> dict[str, str]:
    """The environment of a build that counts."""
    return {
        **os.environ,
        "RUSTC_WORKSPACE_WRAPPER": str(ROOT / "scripts" / "coverage" / "instrument.sh"),
        "CARGO_TARGET_DIR": str(WORK),
        # One file for a process: forked children write their own.
        "LLVM_PROFILE_FILE": str(PROFILES / "%p-%m.profraw"),
    }


def executables(command: list[str], kind: str) -> list[Path]:
    """What a cargo command builds, of this kind of target."""
    done = subprocess.run(
        [*command, "--message-format=json-render-diagnostics"],
        cwd=ROOT,
        env=instrumented(),
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    messages = [json.loads(line) for line in done.stdout.splitlines()]
    artifacts = [message for message in messages if message["reason"] == "compiler-artifact"]
    if kind == "cdylib":
        return [
            Path(name)
            for artifact in artifacts
            for name in artifact["filenames"]
            if "cdylib" in artifact["target"]["kind"] and Path(name).suffix in {".so", ".dylib", ".dll"}
        ]
    return [Path(artifact["executable"]) for artifact in artifacts if artifact["executable"] and artifact["profile"]["test"]]


def run_rust() -> list[Path]:
    """Builds and runs the crate's tests; the programs."""
    command = ["cargo", "test", "--locked", "-p", "stairnoise", "--all-features", "--lib", "--tests"]
    programs = executables([*command, "--no-run"], "test")
    for program in programs:
        subprocess.run([program, "-q", *SKIPPED], cwd=ROOT / "rust" / "core", env=instrumented(), check=True)
    return programs


def build_extension() -> Path:
    """The extension module, instrumented."""
    [library] = executables(["cargo", "build", "--locked", "-p", "stairnoise-python", *PROFILE], "cdylib")
    return library


def place(extension: Path) -> Path:
    """A folder from which the package is imported with this extension: its files are links to the sources."""
    site = WORK / "site"
    shutil.rmtree(site, ignore_errors=True)
    folder = site / "stairnoise"
    folder.mkdir(parents=True)
    for path in PACKAGE.iterdir():
        if not path.name.startswith(("_native.", "__pycache__")) or path.suffix == ".pyi":
            (folder / path.name).symlink_to(path)
    shutil.copy2(extension, folder / "_native.abi3.so")
    return site


def run_python(extension: Path) -> None:
    """The Python tests on that extension, child processes included; ends with an error if one fails, when all are done."""
    options = WORK / "coveragerc"
    options.write_text(
        "\n".join(
            [
                "[run]",
                f"source_dirs = {PACKAGE}",
                f"data_file = {WORK / 'python' / 'data'}",
                "parallel = true",
                "patch = subprocess, fork, _exit",
                "[report]",
                "exclude_also =",
                "    if TYPE_CHECKING:",
                "    @overload",
                "",
            ]
        )
    )
    shutil.rmtree(WORK / "python", ignore_errors=True)
    (WORK / "python").mkdir()
    environment = {**instrumented(), "PYTHONPATH": str(place(extension)), "STAIRNOISE_COVERAGE": "1"}
    command = [sys.executable, "-m", "coverage"]
    run = [*command, "run", f"--rcfile={options}", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "scripts.coverage.few"]
    running = [subprocess.Popen([*run, *files], cwd=ROOT, env=environment) for files in test_files()]
    failed = [process.args for process in running if process.wait()]
    subprocess.run([*command, "combine", "-q", f"--rcfile={options}"], cwd=ROOT, check=True)
    report = [*command, "json", "-q", f"--rcfile={options}", "-o", str(WORK / "python.json")]
    subprocess.run(report, cwd=ROOT, check=True)
    if failed:
        raise SystemExit(f"coverage: tests failed: {failed}")


def test_files() -> list[list[str]]:
    """The files of the Python tests in so many heaps of about one size."""
    paths = [path for name in PYTHON_TESTS for path in (sorted((ROOT / name).glob("test_*.py")) or [ROOT / name])]
    paths = [path for path in paths if path.name not in NOT_MEASURED]
    heaps: list[list[Path]] = [[] for _ in range(PROCESSES)]
    for path in sorted(paths, key=lambda path: path.stat().st_size, reverse=True):
        min(heaps, key=lambda heap: sum(path.stat().st_size for path in heap)).append(path)
    return [[path.relative_to(ROOT).as_posix() for path in heap] for heap in heaps]


def python_counts() -> Counts:
    """Of every file of the package."""
    files: Mapping[str, dict[str, list[int]]] = json.loads((WORK / "python.json").read_text())["files"]
    counts: Counts = {}
    for name, found in files.items():
        path = (ROOT / name).resolve().relative_to(ROOT).as_posix()
        lines = counts.setdefault(path, {})
        lines.update(dict.fromkeys(found["missing_lines"], 0))
        lines.update(dict.fromkeys(found["executed_lines"], 1))
    return counts


def rust_counts(objects: Iterable[Path]) -> Counts:
    """Of every file of the crate and the binding, from all the programs together."""
    merged = WORK / "merged.profdata"
    listing = WORK / "profiles.txt"
    listing.write_text("\n".join(str(path) for path in PROFILES.glob("*.profraw")))
    subprocess.run([llvm("llvm-profdata"), "merge", "-sparse", "-f", listing, "-o", merged], check=True)
    first, *others = objects
    command = [llvm("llvm-cov"), "export", "-format=lcov", f"-instr-profile={merged}", str(first)]
    for other in others:
        command += ["-object", str(other)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    counts: Counts = {}
    lines: dict[int, int] = {}
    for record in done.stdout.splitlines():
        kind, _, value = record.partition(":")
        if kind == "SF":
            path = Path(value)
            lines = counts.setdefault(path.relative_to(ROOT).as_posix(), {}) if path.is_relative_to(ROOT / "rust") else {}
        elif kind == "DA":
            line, count = value.split(",")[:2]
            lines[int(line)] = max(int(count), lines.get(int(line), 0))
    return counts
