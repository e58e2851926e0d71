"""Why a line is not run by the tests that are measured."""

import sys
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from .counts import Counts
from .lines import functions, text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = Path(__file__).with_name("arguments.toml")


@dataclass(frozen=True)
class Argument:
    """For the lines of a function of a file, or for those of one text, or both; `*` in all three stands for anything."""

    file: str
    reason: str
    function: str = ""
    line: str = ""
    # Run elsewhere, on what this machine lacks: such lines are not in the total.
    elsewhere: bool = False

    def holds(self, path: str, function: str, line: str) -> bool:
        """Whether it is about this line."""
        return (
            fnmatchcase(path, self.file)
            and fnmatchcase(function, self.function or "*")
            and fnmatchcase(line.strip(), self.line or "*")
        )


def read() -> list[Argument]:
    """All of them."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    arguments = [Argument(**entry) for entry in table.get("argument", [])]
    for argument in arguments:
        if not (argument.function or argument.line):
            raise SystemExit(f"coverage: an argument for all of {argument.file} is none")
    return arguments


def find(counts: Counts) -> tuple[dict[str, dict[int, Argument]], dict[str, list[int]]]:
    """The arguments for the lines that did not run, and the lines that have none."""
    arguments = read()
    argued: dict[str, dict[int, Argument]] = {}
    bare: dict[str, list[int]] = {}
    used = set()
    for path, lines in counts.items():
        missing = sorted(line for line, count in lines.items() if count == 0)
        if not missing:
            continue
        source, inside = text(path), functions(path)
        for line in missing:
            found = next((one for one in arguments if one.holds(path, inside.get(line, ""), source[line])), None)
            if found:
                used.add(found)
                argued.setdefault(path, {})[line] = found
            else:
                bare.setdefault(path, []).append(line)
    for argument in set(arguments) - used:
        print(f"coverage: every line did run that is argued as: {argument}", file=sys.stderr)
    return argued, bare
