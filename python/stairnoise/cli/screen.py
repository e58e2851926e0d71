"""The console of all commands: text is shown as it is, and never cropped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stairnoise._plain import plain as plain

NOT_PRIVATE = "The column true is not private. Publish nothing of this screen."
# Wider than any line: outside of a terminal no line is folded.
_NO_END = 100_000
# Characters between two columns, and the smallest width of a folded column of texts.
_GAP, _LEAST_TEXT = 2, 10


Lines = Iterable[Sequence[Text]]


def console(*, stderr: bool = False) -> Console:
    """Return a console without markup, so that brackets in names and values stay.

    In a pipe or a file no line is folded, unless the environment variable COLUMNS sets a width.
    """
    made = Console(highlight=False, markup=False, emoji=False, stderr=stderr)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = _NO_END
    return made


def cell(text: str, style: str = "") -> Text:
    """Return text for a table or a line; text that is too long is folded."""
    return Text(plain(text), style=style, overflow="fold")


def print_facts(screen: Console, facts: Iterable[tuple[str, str]]) -> None:
    """Print names, what they stand for, and an empty line."""
    table = Table.grid(padding=(0, 3))
    for name, text in facts:
        table.add_row(name, cell(text))
    screen.print(table)
    screen.print()


def print_rows(
    screen: Console, headings: Sequence[str], rows: Lines, *, texts: int, footer: Sequence[str] = (), dim: int | None = None
) -> None:
    """Print a table. The first `texts` columns are texts, which can be folded; the others are numbers, which cannot.

    If the numbers do not fit beside each other, each row becomes a block with a line for each number.
    """
    rows = list(rows)
    whole = [[*map(Text, headings)], *rows, [*map(Text, footer or headings)]]
    widths = [max(line.cell_len for row in whole for line in row[at].split()) for at in range(len(headings))]
    least = sum(min(width, _LEAST_TEXT) for width in widths[:texts]) + sum(widths[texts:]) + _GAP * len(headings)
    if least > screen.width:
        _print_blocks(screen, headings, rows, texts, footer, dim)
        return
    table = Table(box=None, padding=(0, _GAP, 0, 0), show_footer=bool(footer))
    for at, heading in enumerate(headings):
        end = footer[at] if footer else ""
        kinds: Any = {"overflow": "fold"} if at < texts else {"justify": "right", "no_wrap": True, "min_width": widths[at]}
        table.add_column(Text(heading), end, style="dim" if at == dim else "", vertical="top", **kinds)
    for row in rows:
        table.add_row(*row)
    screen.print(table)


def _print_blocks(
    screen: Console, headings: Sequence[str], rows: list[Sequence[Text]], texts: int, footer: Sequence[str], dim: int | None
) -> None:
    """Print each row as the texts of its first columns, then a line for each number with its footer."""
    names = [" ".join(heading.split()) for heading in headings]
    for row in rows:
        screen.print(Text(", ").join(row[:texts]), style="bold", overflow="fold")
        for at in range(texts, len(row)):
            end = f" {footer[at]}" if footer and at != dim else ""
            screen.print(Text(f"  {names[at]}: ").append(row[at]).append(end), overflow="fold")
