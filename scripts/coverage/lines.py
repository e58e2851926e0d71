"""The lines that count."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from pathlib import Path

from .build import ROOT
from .counts import Counts

CFG_TEST = re.compile(r"\s*#\[cfg\((?:test|all\(test, .*\))\)\]")
MODULE = re.compile(r"\s*(?:pub(?:\(crate\))? )?mod (\w+);")
FUNCTION = {".rs": re.compile(r"( *).*\bfn (\w+)"), ".py": re.compile(r"( *)(?:async )?def (\w+)")}


def text(path: str) -> list[str]:
    """The lines of a source, from number 1 on."""
    return ["", *(ROOT / path).read_text(encoding="utf-8").splitlines()]


def of_product(counts: Counts) -> Counts:
    """Without what is compiled for tests only, and without the tests' own programs."""
    sources = {path: lines for path, lines in counts.items() if "/tests/" not in path}
    modules = {
        module for path in (ROOT / "rust").glob("*/src/**/*.rs") for module in test_modules(path.relative_to(ROOT).as_posix())
    }
    kept: Counts = {}
    for path, lines in sorted(sources.items()):
        if any(path == f"{module}.rs" or path.startswith(f"{module}/") for module in modules):
            continue
        skipped = set(test_lines(path)) if path.endswith(".rs") else set()
        kept[path] = {line: count for line, count in lines.items() if line not in skipped}
    return kept


def test_modules(path: str) -> Iterator[str]:
    """The paths, without their endings, of the modules that a file declares for tests only."""
    source = text(path)
    folder = Path(path).parent if Path(path).name in {"lib.rs", "mod.rs"} else Path(path).with_suffix("")
    for attribute, item in pairwise(source):
        module = MODULE.match(item)
        if CFG_TEST.match(attribute) and module:
            yield (folder / module[1]).as_posix()


def test_lines(path: str) -> Iterator[int]:
    """The lines of items that are for tests only; rustfmt has put their last brace under their first word."""
    source = text(path)
    for start, line in enumerate(source):
        if CFG_TEST.match(line):
            item = next(n for n in range(start + 1, len(source)) if not source[n].lstrip().startswith("#["))
            last = "" if source[item].endswith(";") else " " * (len(line) - len(line.lstrip())) + "}"
            end = next((n for n in range(item, len(source)) if last and source[n].startswith(last)), item)
            yield from range(start, end + 1)


def functions(path: str) -> dict[int, str]:
    """The name of the innermost function that each line is in, by the indentation."""
    pattern = FUNCTION[Path(path).suffix]
    names: dict[int, str] = {}
    open_: list[tuple[int, str]] = []
    for number, line in enumerate(text(path)):
        indent = len(line) - len(line.lstrip())
        start = pattern.match(line)
        if line.strip():
            closes = line.lstrip().startswith(("}", ")", "where"))
            open_ = [(depth, name) for depth, name in open_ if depth < indent or (closes and depth == indent)]
        if start and not line.lstrip().startswith(("//", "#")):
            open_.append((indent, start[2]))
        if open_:
            names[number] = open_[-1][1]
    return names


def ranges(lines: Iterable[int], measured: Iterable[int]) -> str:
    """``"3, 7-9"``: runs of lines, with nothing measured between them that is not one of them."""
    place = {line: i for i, line in enumerate(sorted(measured))}
    runs = [[line for _, line in run] for _, run in groupby(enumerate(sorted(lines)), key=lambda pair: place[pair[1]] - pair[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
