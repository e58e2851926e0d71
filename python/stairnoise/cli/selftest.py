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
from stairnoise.cli.screen import console, plain, print_facts

_FAILED = 1


def selftest(
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON and nothing else.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the report to this file, as JSON.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print every check, and the machine.")] = False,
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
        print_report(console(), report, output, verbose=verbose)
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


def print_report(console: Console, report: SelftestReport, output: Path | None = None, *, verbose: bool = False) -> None:
    """Print a table of the subjects, or of all checks with the facts of the run; then the failures, and the verdict."""
    if verbose:
        print_facts(console, _facts(report))
    console.print(_table(report) if verbose else _summary(report))
    for check in report.failures:
        console.print()
        console.print(Text(f"{check.subject}, {check.name}: {check.detail}", overflow="fold"))
    console.print()
    if output is not None:
        console.print(plain(f"written to {output}"), soft_wrap=True)
    console.print(Text(report.summary(), style="bold" if report.passed else "bold red"))


def _facts(report: SelftestReport) -> list[tuple[str, str]]:
    machine = report.machine
    sets = ", ".join(machine["instruction_sets"])
    return [
        ("stairnoise", f"{machine['stairnoise']}, Python {machine['python']}, NumPy {machine['numpy']}"),
        ("file", machine["extension"]),
        ("SHA-256", machine["extension_sha256"]),
        ("platform", machine["platform"]),
        ("processor", f"{machine['cpu']}, {machine['processors']} in use"),
        ("instructions", f"{sets}; in use: {machine['instruction_set']}"),
        ("date", f"{report.started}, {report.seconds:.0f} seconds"),
    ]


def _empty(*headings: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column(headings[0], overflow="fold")
    for heading in headings[1:]:
        table.add_column(heading, justify="right", no_wrap=True, vertical="bottom")
    return table


def _result(passed: bool) -> Text:
    return Text("ok", style="green") if passed else Text("FAILED", style="bold red")


def _summary(report: SelftestReport) -> Table:
    table = _empty("subject", "checks", "failed", "values", "result")
    for subject in report.subjects:
        checks = [check for check in report.checks if check.subject == subject]
        failed = sum(not check.passed for check in checks)
        numbers = (len(checks), failed, sum(check.values for check in checks))
        table.add_row(subject, *(f"{number:,}" for number in numbers), _result(not failed))
    return table


def _table(report: SelftestReport) -> Table:
    table, subject = _empty("check", "values", "mismatches", "result"), ""
    for of, name, *numbers, result in report.rows():
        if of != subject:
            table.add_row(Text(of, style="bold"))
            subject = of
        table.add_row(Padding(Text(name), (0, 0, 0, 2)), *numbers, _result(result == "ok"))
    return table
