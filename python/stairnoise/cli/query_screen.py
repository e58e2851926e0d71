"""Screen of ``stairnoise query``: the private table, and what is said about it."""

from __future__ import annotations

import math
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from stairnoise.query.files import Output
from stairnoise.query.noise import scaled
from stairnoise.query.release import Outcome
from stairnoise.query.texts import decimals, number

# A spreadsheet takes a text that begins with one of these for a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


# Spaces between columns, and the least letters of a column of groups.
_GAP = 2
_LEAST_WIDTH = 12
_AS_TEXT = "import the columns into a spreadsheet as text, or it runs them as formulas."
_NOT_PRIVATE = "The column true is not private: whoever sees it needs no noise. Publish nothing of this screen."


def print_release(console: Console, outcome: Outcome, file: Output | None, *, show_true: bool, ledger: Any) -> None:
    """Print the rows, or where they were written, and what is and is not protected."""
    if file is None:
        _print_rows(console, outcome, show_true)
    else:
        _print_written(console, outcome, file)
    console.print()
    about = outcome.table.about
    said = [about["protected"], about["error_bound"].replace("error_bound", "±"), _mechanisms(about)]
    said += [f"{each[:1].upper()}{each[1:]}." for each in about["post_processing"]]
    if ledger is not None:
        said.append(f"Ledger: eps = {ledger.total():g} of {ledger.budget:g} is spent.")
    for each in [*said, about["not_protected"]]:
        console.print(Text(each))
    if show_true:
        console.print(Text(_NOT_PRIVATE, "bold red"))


def _print_rows(console: Console, outcome: Outcome, show_true: bool) -> None:
    """Print a table, or where that does not fit a few lines for each row."""
    table, groups = outcome.table, len(outcome.plan.question.by)
    headings, rows = table.headings, table.texts()
    if show_true:
        true = _true(outcome)
        headings = (*headings, "true")
        rows = [(*cells, number(true[row[:groups]], decimals(row[groups + 1]))) for row, cells in zip(table, rows, strict=True)]
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    least = [min(width, _LEAST_WIDTH) if place < groups else width for place, width in enumerate(widths)]
    if sum(least) + _GAP * (len(least) - 1) > console.width:
        for cells in rows:
            console.print(Text(", ".join(cells[:groups]) or "all"))
            numbers = [f"{name} {cell}" for name, cell in zip(headings[groups:], cells[groups:], strict=True)]
            console.print(Padding(Text(", ".join(numbers)), (0, 0, 0, _GAP)))
        return
    grid = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False)
    for place, name in enumerate(headings):
        style = {"overflow": "fold"} if place < groups else {"justify": "right", "no_wrap": True}
        grid.add_column(Text(name), style="dim" if place >= len(table.headings) else None, **style)
    for cells in rows:
        grid.add_row(*map(Text, cells))
    console.print(grid)


def _true(outcome: Outcome) -> dict[tuple[object, ...], int | float]:
    """Return the true value of each cell; the mean of nobody is NaN."""
    answers, plan = outcome.answers, outcome.plan
    sums = answers.counts if answers.sums is None else answers.sums
    found: dict[tuple[object, ...], int | float] = {}
    for cell, count, total in zip(answers.cells, answers.counts.tolist(), sums.tolist(), strict=True):
        if plan.statistic == "mean":
            found[cell] = float(total * plan.unit / count) if count else math.nan
        else:
            found[cell] = total if plan.statistic == "count" else scaled(total, plan.unit)
    return found


def _mechanisms(about: dict[str, Any]) -> str:
    laws = [f"{each['draws']}, k = {each['k']}, sensitivity {each['sensitivity']}" for each in about["mechanisms"]]
    if len(laws) > 1:
        laws = [f"{law}, for the {each['of']}" for law, each in zip(laws, about["mechanisms"], strict=True)]
    return f"Mechanism: {'; '.join(laws)}. The noise is {about['noise']}."


def _print_written(console: Console, outcome: Outcome, file: Output) -> None:
    rows = len(outcome.table)
    console.print(Text(f"written to {file.path}: {rows} {'row' if rows == 1 else 'rows'}"), soft_wrap=True)
    if file.notes:
        console.print(Text(f"and to {file.notes}: what they are, and how to check them"), soft_wrap=True)
    by = len(outcome.plan.question.by)
    formulas = sum(any(isinstance(cell, str) and cell.startswith(_FORMULAS) for cell in row[:by]) for row in outcome.table)
    if formulas:
        console.print(Text(f"{formulas} rows have a group that begins with = + - or @: {_AS_TEXT}"))
