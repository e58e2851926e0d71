"""Command ``stairnoise selftest``: its options, the progress bar, and the report on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Column, Table
from rich.text import Text

import stairnoise
from stairnoise._errors import ParameterError
from stairnoise._selftest import SelftestReport
from stairnoise.cli.screen import cell, console, plain

_FAILED = 1


def selftest(
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON and nothing else.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the report to this file, as JSON.")] = None,
) -> None:
    """Test this installation: known answers, random words, generators, instruction sets.

    It takes less than a minute. The exit code is 1 if a check failed.
    """
    if output is not None:
        if output.suffix.lower() != ".json":
            raise ParameterError(f"output must end in .json, got {str(output)!r}")
        output.open("ab").close()  # fails now, before the work, if the file cannot be written
    report = _run()
    if output is not None:
        report.save(output)
    if json:
        print(report.to_json(), end="")
    else:
        print_report(console(), report, output)
    if not report.passed:
        raise typer.Exit(_FAILED)


def _run() -> SelftestReport:
    screen = console(stderr=True)
    # The name of a check gets the rest of the line: without this limit a long name would displace bar and count.
    columns = (
        BarColumn(min(20, screen.width // 4)),
        MofNCompleteColumn(table_column=Column(no_wrap=True, min_width=len("999/999"))),
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
    )
    with Progress(*columns, console=screen, transient=True, expand=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def show(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=plain(name), refresh=True)

        return stairnoise.selftest(progress=show)


def print_report(console: Console, report: SelftestReport, output: Path | None = None) -> None:
    """Print the facts of the run, a table of the checks by subject, the failures, and the verdict."""
    facts = Table.grid(padding=(0, 3))
    for name, text in _facts(report, output):
        facts.add_row(name, cell(text))
    console.print(facts)
    console.print()
    console.print(_table(report))
    for check in report.failures:
        console.print()
        console.print(Text(f"{check.subject}, {check.name}: {check.detail}", overflow="fold"))
    console.print()
    console.print(Text(report.summary(), style="bold" if report.passed else "bold red"))


def _facts(report: SelftestReport, output: Path | None) -> list[tuple[str, str]]:
    machine = report.machine
    sets = ", ".join(machine["instruction_sets"])
    facts = [
        ("stairnoise", f"{machine['stairnoise']}, Python {machine['python']}, NumPy {machine['numpy']}"),
        ("file", machine["extension"]),
        ("SHA-256", machine["extension_sha256"]),
        ("platform", machine["platform"]),
        ("processor", f"{machine['cpu']}, {machine['processors']} in use"),
        ("instructions", f"{sets}; in use: {machine['instruction_set']}"),
        ("date", f"{report.started}, {report.seconds:.0f} seconds"),
    ]
    return [*facts, ("written to", str(output))] if output is not None else facts


def _table(report: SelftestReport) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("check", overflow="fold")
    for heading in ("values", "mismatches", "result"):
        table.add_column(heading, justify="right", no_wrap=True, vertical="bottom")
    subject = ""
    for of, name, *numbers, result in report.rows():
        if of != subject:
            table.add_row(Text(of, style="bold"))
            subject = of
        table.add_row(Padding(Text(name), (0, 0, 0, 2)), *numbers, Text(result, style="green" if result == "ok" else "bold red"))
    return table
