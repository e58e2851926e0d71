"""Measures, writes docs/coverage.md, and fails for a line without an argument or a part below 95 %."""

import shutil
import sys

from . import arguments, lines, record, tests

LEAST = 95.0


def main() -> None:
    tests.llvm("llvm-cov")
    if "--again" not in sys.argv:  # judges what the last run counted
        shutil.rmtree(tests.PROFILES, ignore_errors=True)
        tests.run_rust()
        tests.run_python(tests.build_extension())
    command = ["cargo", "test", "--locked", "-p", "stairnoise", "--all-features", "--lib", "--tests", "--no-run"]
    objects = [*tests.executables(command, "test"), tests.build_extension()]
    counts = lines.of_product({**tests.rust_counts(objects), **tests.python_counts()})
    argued, bare = arguments.find(counts)
    record.write(counts, argued, bare)
    bad = False
    for path, missing in bare.items():
        bad = True
        source, inside = lines.text(path), lines.functions(path)
        for line in missing:
            print(f"{path}:{line}: in {inside.get(line, '-')}: {source[line].strip()}")
    for name, prefix in record.PARTS.items():
        total, run, share = record.percent(counts, argued, prefix)
        bad |= share < LEAST
        print(f"{name}: {run} of {total} lines, {share:.2f} %")
    if bad:
        raise SystemExit("coverage: lines above have no argument in scripts/coverage/arguments.toml, or a part is below 95 %")


main()
