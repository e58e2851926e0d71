"""Count the instructions for a value on AArch64, part by part: the table of docs/evidence/aarch64.md.

    python scripts/instructions_aarch64.py

Builds the example `fill_once` as a release and runs it in an emulator that logs each stretch of code it enters. The counts of a
short fill are subtracted from those of a long one, which removes a fill's fixed cost. Needs the tools of `make test-aarch64`.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGET = "aarch64-unknown-linux-gnu"
LINKER = os.environ.get("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
EMULATOR = os.environ.get("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64").split()
CASES = [
    *(f"Staircase {eps} 1 fill" for eps in ("4", "1", "0.1")),
    *("DiscreteStaircase 4 1 fill", "DiscreteStaircase 1 10 fill", "Laplace 1 1 fill", "Laplace 4 1 fill"),
    *(f"DiscreteLaplace {eps} 1 fill" for eps in ("4", "1", "0.1", "0.01")),
    *(f"DiscreteGaussian {sigma2} 1 fill" for sigma2 in ("1", "1000000")),
    *("DiscreteLaplace 1 1 release", "Staircase 4 1 release", "Laplace 1 1 release"),
]
BLOCK, FEWER, MORE = 64, 1 << 13, (1 << 13) + (1 << 16)

# Patterns of mangled names; the first that matches counts. Kernels are compiled into `run_portable`.
PARTS = {
    "keystream": r"6cipher|3aes",
    "first level": r"run_portable\w*?8together9FillingBy",
    "second level": r"run_portable\w*?4fill9FillingBy",
    "addition": r"run_portable\w*?6Adding",
    "other kernels": r"run_portable",
    "rest": r"",
}
INSTRUCTION = re.compile(r"0x([0-9a-f]+):  [0-9a-f]{8}  +(.*)")
ENTERED = re.compile(r"Trace \d+: 0x[0-9a-f]+ \[[0-9a-f]+/([0-9a-f]+)/[0-9a-f]+/[0-9a-f]+\] (.*)")
VECTOR = re.compile(r"\b(v\d+\.|q\d+\b)")


def part_of(function: str) -> str:
    """Return the part of the work that a function does."""
    return next(part for part, name in PARTS.items() if re.search(name, function))


def count(log: Iterable[str]) -> Counter[str]:
    """Count the instructions of each part, its vector instructions as "vector PART", and calls of the second level as "calls"."""
    code: dict[int, list[str]] = {}
    entered: Counter[tuple[int, str]] = Counter()
    stretch: list[str] = []
    for line in log:
        if run := ENTERED.match(line):
            entered[int(run[1], 16), run[2]] += 1
        elif line.startswith("IN:"):
            stretch = []
        elif instruction := INSTRUCTION.match(line):
            if not stretch:
                code[int(instruction[1], 16)] = stretch
            stretch.append(instruction[2])
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    for (address, function), times in entered.items():
        part = part_of(function)
        counts[part] += times * len(code[address])
        counts[f"vector {part}"] += times * sum(map(bool, map(VECTOR.search, code[address])))
        first[function] = min(address, first.get(function, address))
    counts["calls"] = sum(entered[address, name] for name, address in first.items() if part_of(name) == "second level")
    return counts


def run(program: Path, case: str, n: int) -> Counter[str]:
    """Return the counts of one fill of `n` values."""
    command = [*EMULATOR, "-d", "in_asm,exec,nochain", str(program), *case.split(), str(n)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        counts = count(process.stderr or ())
    if process.returncode:
        sys.exit(f"{' '.join(command)}: exit status {process.returncode}")
    return counts


def row(case: str, counts: Counter[str], n: int) -> str:
    """Return a row of the table, from the counts of `n` values."""
    kernels = [part for part in PARTS if part not in ("keystream", "rest")]
    in_kernels = sum(counts[part] for part in kernels)
    vectors = sum(counts[f"vector {part}"] for part in kernels) / in_kernels
    on_second = counts["calls"] * BLOCK if counts["first level"] else n
    second = counts["second level"] / on_second if on_second else 0.0
    ours = [counts["keystream"] / n, counts["first level"] / n, second]
    others = [(counts["addition"] + counts["other kernels"]) / n, counts["rest"] / n, sum(counts[part] for part in PARTS) / n]
    entries = [f"{x:.1f}" if x else "" for x in (*ours, *others)]
    entries.insert(3, f"{on_second / n:.1%}" if second else "")
    return f"| {case} | {' | '.join(entries)} | {vectors:.0%} |"


def main() -> None:
    os.environ["CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER"] = LINKER
    os.environ["RUSTFLAGS"] = "-C symbol-mangling-version=v0"
    folder = ROOT / "target" / "instructions"
    build = ["cargo", "build", "--quiet", "--locked", "--release", "-p", "stairnoise", "--example", "fill_once"]
    subprocess.run([*build, "--target", TARGET, "--target-dir", folder], cwd=ROOT, check=True)
    loader = subprocess.run([LINKER, "-print-file-name=ld-linux-aarch64.so.1"], check=True, stdout=subprocess.PIPE, text=True)
    os.environ.setdefault("QEMU_LD_PREFIX", str(Path(loader.stdout.strip()).parents[1]))
    print("| work | keystream | first level | second level | values on it | other kernels | rest | all | vectors |")
    print("|---|" + "--:|" * 8)
    for case in CASES:
        fewer, more = (run(folder / TARGET / "release" / "examples" / "fill_once", case, n) for n in (FEWER, MORE))
        more.subtract(fewer)
        print(row(case, more, MORE - FEWER), flush=True)


if __name__ == "__main__":
    main()
