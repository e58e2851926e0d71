"""Screen of ``stairnoise query``: the private table, and the notes about it."""

from __future__ import annotations

import sys
from json import dumps
from typing import Any

from rich.console import Console
from rich.text import Text

from stairnoise._digits import at_most, decimals, fixed
from stairnoise.cli.screen import NOT_PRIVATE, cell, plain, print_rows
from stairnoise.query.find_bounds import PrivateBounds
from stairnoise.query.groupings import Bins
from stairnoise.query.private_table import Output
from stairnoise.query.question import Question
from stairnoise.query.release import Outcome
from stairnoise.query.types import number

# A spreadsheet reads a text that begins with one of these as a formula.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_MORE = "Notes: --explain, --json"


def print_release(screen: Console, outcome: Outcome, file: Output | None, *, show_true: bool, explain: bool, ledger: Any) -> None:
    """Print the rows, and at most four lines about them, or where they were written; `explain` prints all notes instead."""
    if show_true:
        screen.print(cell(NOT_PRIVATE, "bold red"))
    if not len(outcome.table):
        screen.print("No group is shown: all groups are too small, or there is none.")
    if file is None:
        _print_table(screen, outcome, show_true)
    else:
        _print_written(screen, outcome, file)
    screen.print()
    about, question = outcome.table.about, outcome.plan.question
    sign = "±" if file is None else "error_bound"
    if not explain:
        accuracy = _accuracy(about, sign) if len(outcome.table) else ""
        _print_summary(screen, about, question, accuracy, ledger, "" if file else _MORE)
        return
    said = []
    if len(about["statistics"]) > 1 or any(isinstance(one, Bins) for one in question.groupings.values()):
        said.append(f"Counted: {about['counted']}.")
    said += [f"{step[:1].upper()}{step[1:]}." for step in about["post_processing"]]
    _print_notes(screen, about, about["error_bound"].replace("error_bound", sign), said, ledger)


def print_bounds(screen: Console, found: PrivateBounds, outcome: Outcome, *, json: bool, explain: bool, ledger: Any) -> None:
    """Print bounds that were found, as options of the next question."""
    if json:
        print(dumps(found.about, ensure_ascii=False, indent=2))
        return
    meaning = found.about["bounds"]["meaning"]
    if found.bounds is not None:
        low, high = (fixed(end, decimals(end)) for end in found.bounds)
        (column,) = outcome.plan.question.by
        screen.print(plain(f"--bounds {column}={low},{high}"), soft_wrap=True)
        screen.print()
    if explain:
        _print_notes(screen, found.about, meaning, [], ledger)
    else:
        accuracy = meaning if found.bounds is None else "Few people are beyond these bounds."
        _print_summary(screen, found.about, outcome.plan.question, accuracy, ledger, _MORE)


def _print_summary(screen: Console, about: dict[str, Any], question: Question, accuracy: str, ledger: Any, more: str) -> None:
    """Print up to three sentences. Each has at most 80 characters, if its numbers are short."""
    cost = f"eps = {about['eps']:g}" + (f", delta = {about['delta']:g}" if about["delta"] else "")
    groups = "1 group" if question.max_groups == 1 else f"up to {question.max_groups} groups"
    who = "one row, which is one person" if question.person is None else f"one person, in {groups}"
    if more:
        more += "; each run spends eps." if ledger is None else "."
    last = " ".join(filter(None, (_spent(ledger), more)))
    for sentence in filter(None, (f"Protected at {cost}: {who}.", accuracy, last)):
        screen.print(cell(sentence))


def _accuracy(about: dict[str, Any], sign: str) -> str:
    """Return how far the true values are."""
    often = f"in at least {100 * about['confidence']:.15g} % of releases"
    ranks = [one["rank_bound"] for one in about["statistics"] if "rank_bound" in one]
    bounded = any("error_bound" in one["columns"] for one in about["statistics"])
    if ranks and bounded:
        return f"Each {sign} holds {often} (quantiles: {at_most(max(ranks))} ranks)."
    if ranks:
        return f"Each quantile is within {at_most(max(ranks))} people in rank {often}."
    return f"Each true value is within its {sign} {often}." if bounded else about["error_bound"]


def _spent(ledger: Any) -> str:
    return "" if ledger is None else f"Ledger: eps = {at_most(ledger.total())} of {ledger.budget:g} is spent."


def _print_notes(screen: Console, about: dict[str, Any], accuracy: str, said: list[str], ledger: Any) -> None:
    said = [about["protected"], about["best_guess"], accuracy, _mechanisms(about), *said, _spent(ledger), about["not_protected"]]
    for sentence in filter(None, said):
        screen.print(cell(sentence))


def _print_table(screen: Console, outcome: Outcome, show_true: bool) -> None:
    table, groups = outcome.table, len(outcome.plan.question.by)
    headings, rows = table.headings, table.texts()
    if len(table.about["statistics"]) > 1:
        headings = (*headings[:groups], *(heading.replace("_", "\n") for heading in headings[groups:]))
    if show_true:
        true, columns = _true(outcome), [next(iter(one["columns"].values())) for one in table.about["statistics"]]
        headings += ("true",) if len(columns) == 1 else tuple(f"true\n{plain(name)}" for name in columns)
        rows = [
            (*shown, *(number(value, table.places(row, name)) for value, name in zip(true[row[:groups]], columns, strict=True)))
            for row, shown in zip(table, rows, strict=True)
        ]
    lines = [[Text(text, overflow="fold") for text in row] for row in rows]
    print_rows(screen, headings, lines, texts=groups, dim=len(table.headings) if show_true else None)


def _true(outcome: Outcome) -> dict[tuple[object, ...], list[int | float]]:
    """Return the true values of each group."""
    answers, plan = outcome.answers, outcome.plan
    columns = [statistic.truths(plan, answers) for statistic in plan.question.statistics]
    return {group: list(values) for group, *values in zip(answers.groups, *columns, strict=True)}


def _mechanisms(about: dict[str, Any]) -> str:
    of = ", for the {of}" if len(about["mechanisms"]) > 1 else ""
    mechanisms = [f"{{draws}}, k = {{k}}, sensitivity {{sensitivity}}{of}".format(**part) for part in about["mechanisms"]]
    return f"Mechanism: {'; '.join(mechanisms)}. The noise is {about['noise']}."


def _print_written(screen: Console, outcome: Outcome, file: Output) -> None:
    rows = len(outcome.table)
    written = plain(f"written to {file.path}: {rows} {'row' if rows == 1 else 'rows'}")
    notes = [plain(f"notes to {file.notes.name}")] if file.notes else []
    one = ", and ".join([written, *notes])
    # Divided here, because a path that is longer than a line stays whole.
    divided = Text(written).cell_len <= screen.width < Text(one).cell_len
    screen.print("\n".join([written, *notes]) if divided else one, soft_wrap=True)
    by = len(outcome.plan.question.by)
    formulas = sum(any(isinstance(value, str) and value.startswith(_FORMULAS) for value in row[:by]) for row in outcome.table)
    if formulas:
        note = f"note: {formulas} rows have a group that begins with = + - or @:"
        print(note, "import the columns into a spreadsheet as text, or it runs them as formulas", file=sys.stderr)
