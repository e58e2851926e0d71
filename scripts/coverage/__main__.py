"""Measures, writes docs/coverage.md, and fails for a line without an argument or a part below 95 %."""

from . import arguments, build, counts, lines, record, runs, tests

LEAST = 95.0


def main() -> None:
    build.llvm("llvm-cov")  # says what is missing before anything long
    programs, extension = build.build_programs(), build.build_extension()
    build.place(extension)
    rust, python = tests.of_rust(programs), tests.of_python()
    runs.perform([*rust, *python])
    ran = lines.of_product({**counts.rust_counts([*rust, *python], [*programs, extension]), **counts.python_counts(python)})
    argued, bare = arguments.find(ran)
    record.write(ran, argued, bare)
    bad = False
    for path, missing in bare.items():
        bad = True
        source, inside = lines.text(path), lines.functions(path)
        for line in missing:
            print(f"{path}:{line}: in {inside.get(line, '-')}: {source[line].strip()}")
    for name, prefix in record.PARTS.items():
        total, run, share = record.percent(ran, argued, prefix)
        bad |= share < LEAST
        print(f"{name}: {run} of {total} lines, {share:.2f} %")
    if bad:
        raise SystemExit("coverage: lines above have no argument in scripts/coverage/arguments.toml, or a part is below 95 %")


main()
