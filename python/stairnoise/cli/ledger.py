"""Command ``stairnoise ledger``: what has been spent, and what is left."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

import stairnoise
from stairnoise._digits import at_least, at_most
from stairnoise.cli.screen import cell, console, plain, print_rows


def ledger(file: Annotated[Path, typer.Argument(help="The ledger, as sn.Ledger makes it.", show_default=False)]) -> None:
    """Show the releases that a ledger has counted, what they cost, and what is left of the budget.

    For example: stairnoise ledger census.ledger
    """
    screen, ledger = console(), stairnoise.Ledger(file)
    rows = ledger.report()
    if rows:
        lines = [[_release(row), Text(_cost(row)), Text(at_most(row.total))] for row in rows]
        print_rows(screen, ["release", "cost", "total"], lines, texts=1)
        screen.print()
    level = f" at delta = {ledger.delta:g}" if ledger.delta else ""
    level += ", composed" if ledger.composed else ""
    screen.print(f"spent {at_most(ledger.total())} of {ledger.budget:g}{level}, left {at_least(ledger.remaining())}")


def _release(row: stairnoise.Spending) -> Text:
    """Return what was released, by which mechanism, and when."""
    names = [row.data, row.release, row.statistic, "keyed" if row.fingerprint else None]
    k = row.max_partitions_contributed
    values = f", {k} values of one person" if k > 1 else ""
    time = row.time.replace("T", " ").replace("+00:00", " UTC")
    return cell(", ".join(filter(None, names))).append(f"\n{plain(row.mechanism)}{values}\n{time}", style="dim")


def _cost(row: stairnoise.Spending) -> str:
    """Return ε, or ε and δ; a mechanism that only has a ρ counts by its privacy loss."""
    if row.refused:
        return "refused"
    if row.eps is None or row.delta is None:
        return "its loss"
    return at_most(row.eps) if row.delta == 0 else f"{at_most(row.eps)}, {at_most(row.delta)}"
