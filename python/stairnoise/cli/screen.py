"""What every command prints through: text that is shown as it is, and never cropped."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from stairnoise._plain import plain as plain

# Wider than any line: what is not a terminal gets each line whole.
_NO_END = 100_000
# Columns between two columns, and that a folded text keeps at least.
_GAP, _LEAST_TEXT = 2, 10


def console(*, stderr: bool = False) -> Console:
    """Return a console without markup: brackets in names, file names and cells are brackets.

    In a pipe or a file, lines are as long as they are, unless the environment variable COLUMNS says how wide they may be.
    """
    made = Console(highlight=False, markup=False, emoji=False, stderr=stderr)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = _NO_END
    return made


def cell(text: str, style: str = "") -> Text:
    """Return text for a table or a line; where it is too long, it goes on below."""
    return Text(plain(text), style=style, overflow="fold")


def print_rows(
    screen: Console,
    headings: Sequence[str],
    rows: Iterable[Sequence[Text]],
    *,
    texts: int,
    footer: Sequence[str] | None = None,
    dim: int | None = None,
) -> None:
    """Print a table whose first `texts` columns are texts, which may be folded, and the others numbers, which may not.

    Where the numbers do not fit beside each other, each row becomes a block with a line for each number.
    """
    rows = list(rows)
    whole = [[*map(Text, headings)], *rows, [*map(Text, footer or headings)]]
    widths = [max(line.cell_len for row in whole for line in row[at].split()) for at in range(len(headings))]
    least = sum(min(width, _LEAST_TEXT) for width in widths[:texts]) + sum(widths[texts:]) + _GAP * len(headings)
    if least > screen.width:
        _print_blocks(screen, headings, rows, texts, footer, dim)
        return
    table = Table(box=None, padding=(0, _GAP, 0, 0), show_footer=footer is not None)
    for at, heading in enumerate(headings):
        end = footer[at] if footer else ""
        if at < texts:
            table.add_column(Text(heading), end, overflow="fold", vertical="top")
        else:
            style = "dim" if at == dim else ""
            table.add_column(Text(heading), end, justify="right", style=style, no_wrap=True, min_width=widths[at], vertical="top")
    for row in rows:
        table.add_row(*row)
    screen.print(table)


def _print_blocks(
    screen: Console,
    headings: Sequence[str],
    rows: list[Sequence[Text]],
    texts: int,
    footer: Sequence[str] | None,
    dim: int | None,
) -> None:
    """Print each row as the texts of its first columns, and below a line for each number, with the footer behind it."""
    names = [" ".join(heading.split()) for heading in headings]
    for row in rows:
        screen.print(Text(", ").join(row[:texts]), style="bold", overflow="fold")
        for at in range(texts, len(row)):
            end = f" {footer[at]}" if footer and at != dim else ""
            screen.print(Text(f"  {names[at]}: ").append(row[at]).append(end), overflow="fold")
