"""The page docs/coverage.md."""

import datetime
import platform
import subprocess
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from . import few
from .arguments import Argument
from .build import ROOT
from .counts import Counts
from .lines import ranges, text
from .tests import PYTHON_TESTS

PAGE = ROOT / "docs" / "coverage.md"
PARTS = {"core": "rust/core/src/", "binding": "rust/binding/src/", "package": "python/stairnoise/"}

Argued = dict[str, dict[int, Argument]]


def percent(counts: Counts, argued: Argued, prefix: str) -> tuple[int, int, float]:
    """Lines that count, those that ran, and the latter in per cent of the former."""
    total = run = 0
    for path, lines in counts.items():
        if path.startswith(prefix):
            elsewhere = {line for line, why in argued.get(path, {}).items() if why.elsewhere}
            total += len(lines.keys() - elsewhere)
            run += sum(count > 0 for count in lines.values())
    return total, run, 100.0 * run / total


def processor() -> str:
    """Its name."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.processor())


def write(counts: Counts, argued: Argued, bare: dict[str, list[int]]) -> None:
    """Writes it."""
    PAGE.write_text("\n".join(page(counts, argued, bare)) + "\n", encoding="utf-8")


def page(counts: Counts, argued: Argued, bare: dict[str, list[int]]) -> Iterator[str]:
    """Its lines."""
    compiler = subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()
    yield "# Lines that the tests run"
    yield ""
    today = datetime.date.today().isoformat()
    yield f"Written by `make coverage` on {today} ({processor()}, {compiler}, Python {platform.python_version()})."
    yield "A line without an argument below, or less than 95 % of a part, makes it fail."
    yield ""
    yield "Counted: the crate's own tests with all features, then the Python tests on an extension that counts too, with"
    yield "their child processes, in " + ", ".join(f"`{path}`" for path in PYTHON_TESTS) + "."
    yield f"Of the cases of a parametrised test {few.LEAST} are run, and the others until the test has taken {few.SECONDS:g} s;"
    yield "of the crate's tests not those that are proofs or exhaustive. Code that is compiled for tests only is not among"
    yield "the lines."
    yield ""
    yield "| part | lines | run | per cent | not run | run elsewhere |"
    yield "|---|---|---|---|---|---|"
    for name, prefix in PARTS.items():
        total, run, share = percent(counts, argued, prefix)
        elsewhere = sum(why.elsewhere for path, lines in argued.items() if path.startswith(prefix) for why in lines.values())
        yield f"| {name} (`{prefix}`) | {total} | {run} | {share:.2f} | {total - run} | {elsewhere} |"
    yield ""
    yield from reasons(counts, argued, elsewhere=True)
    yield from reasons(counts, argued, elsewhere=False)
    if bare:
        yield "## Not run, without an argument"
        yield ""
        yield "| lines | first of them |"
        yield "|---|---|"
        for path, lines in bare.items():
            first = text(path)[lines[0]].strip().replace("|", "\\|")
            yield f"| `{path}` {ranges(lines, counts[path])} | `{first}` |"
        yield ""
    yield "## Every file"
    yield ""
    yield "| file | lines | run | per cent |"
    yield "|---|---|---|---|"
    for path, lines in counts.items():
        if lines:
            total, run, share = percent({path: lines}, argued, path) if has_any(lines, argued.get(path, {})) else (0, 0, 100.0)
            yield f"| `{path}` | {total} | {run} | {share:.1f} |"


def has_any(lines: dict[int, int], argued: dict[int, Argument]) -> bool:
    """Whether any line of a file counts."""
    return any(not (line in argued and argued[line].elsewhere) for line in lines)


def reasons(counts: Counts, argued: Argued, elsewhere: bool) -> Iterator[str]:
    """The lines with their arguments."""
    title = "Not in the total: run elsewhere" if elsewhere else "Not run, and why"
    yield f"## {title}"
    yield ""
    yield "| lines | first of them | why |"
    yield "|---|---|---|"
    for path, lines in argued.items():
        source = text(path)
        chosen = [(line, why.reason) for line, why in sorted(lines.items()) if why.elsewhere == elsewhere]
        for reason, group in groupby(sorted(chosen, key=lambda pair: pair[1]), key=lambda pair: pair[1]):
            numbers = [line for line, _ in group]
            first = source[numbers[0]].strip().replace("|", "\\|")
            yield f"| `{path}` {ranges(numbers, counts[path])} | `{first}` | {reason} |"
    yield ""
