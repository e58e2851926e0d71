"""A question as one SQL statement, and its rows as answers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from stairnoise.query.answers import Answers
from stairnoise.query.question import Question


def quoted(name: str) -> str:
    """Return a name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def statement(question: Question) -> tuple[str, list[Any]]:
    """Return a statement whose rows are places in the lists of groups, and a count."""
    parameters: list[Any] = []
    codes = []
    for name in question.by:
        listed = question.groups[name]
        codes.append("case " + " ".join(f"when {quoted(name)} = ? then {place}" for place in range(len(listed))) + " end")
        parameters += listed
    places = ", ".join(str(place + 1) for place in range(len(codes)))
    text = f"select {', '.join([*codes, 'count(*)'])} from {quoted(question.table)}"
    return text + (f" group by {places}" if places else ""), parameters


def answers(question: Question, rows: list[tuple[Any, ...]]) -> Answers:
    """Return the answers that rows hold."""
    lists = [question.groups[name] for name in question.by]
    cells = list(itertools.product(*lists))
    counts = np.zeros([len(each) for each in lists], np.int64)
    for *codes, count in rows:
        if None not in codes:
            counts[tuple(codes)] = count
    return Answers(cells, counts.ravel(), None)
