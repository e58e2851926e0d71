"""Reads the counters that the tests left."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from .build import ROOT, WORK, llvm
from .runs import Run
from .tests import DATA, OPTIONS

Counts = dict[str, dict[int, int]]
"""Of every file, by its path in the repository: how often each of its lines ran."""


def python_counts(runs: Iterable[Run]) -> Counts:
    """Of every file of the package, from all the runs together."""
    command = [sys.executable, "-m", "coverage"]
    options = [f"--rcfile={OPTIONS}", f"--data-file={WORK / 'python' / DATA}"]
    folders = [str(run.folder) for run in runs]
    shutil.rmtree(WORK / "python", ignore_errors=True)
    (WORK / "python").mkdir()
    subprocess.run([*command, "combine", "-q", "--keep", *options, *folders], cwd=ROOT, check=True)
    subprocess.run([*command, "json", "-q", *options, "-o", str(WORK / "python" / "lines.json")], cwd=ROOT, check=True)
    files: Mapping[str, dict[str, list[int]]] = json.loads((WORK / "python" / "lines.json").read_text())["files"]
    counts: Counts = {}
    for name, found in files.items():
        path = (ROOT / name).resolve().relative_to(ROOT).as_posix()
        lines = counts.setdefault(path, {})
        lines.update(dict.fromkeys(found["missing_lines"], 0))
        lines.update(dict.fromkeys(found["executed_lines"], 1))
    return counts


def rust_counts(runs: Iterable[Run], objects: Iterable[Path]) -> Counts:
    """Of every file of the crate and the binding, from all the programs together."""
    merged = WORK / "merged.profdata"
    listing = WORK / "profiles.txt"
    listing.write_text("\n".join(str(path) for run in runs for path in run.folder.glob("*.profraw")))
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
