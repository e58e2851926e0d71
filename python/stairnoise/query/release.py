"""One release from beginning to end: check, spend, read, draw, and describe the result."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from stairnoise._errors import ParameterError, ParameterTypeError, StairnoiseError, received
from stairnoise._parameters import confidence_level, flag, single
from stairnoise.accounting.ledger import ledger as ledgers
from stairnoise.keyed.rng import KeyedRng
from stairnoise.query.address import is_address, without_secrets
from stairnoise.query.answers import Answers
from stairnoise.query.mechanism import budget
from stairnoise.query.noise import Plan, address, planned, released
from stairnoise.query.question import Question, Statistic, question
from stairnoise.query.sources import Source, open_source
from stairnoise.query.statement import statement
from stairnoise.query.table import PrivateTable
from stairnoise.rng import release_stream

# How far a release has come. Before "spending" nothing is spent, and before "drawing" there is no noise.
State = Literal["asking", "spending", "reading", "drawing"]

# Beyond this, float64 rounds the confidence of each half of a mean, 1 - (1 - confidence)/2, to 1.
_LARGEST_CONFIDENCE = 1 - 2.0**-52
_ORDER_LABEL = "order of each person's groups"


class Release:
    """A question with its budget; all arguments are checked before the data are opened."""

    def __init__(
        self,
        statistic: Statistic,
        table: object,
        *,
        eps: object,
        delta: object,
        mechanism: object,
        rng: object,
        confidence: object,
        nonnegative: object,
        all_digits: object,
        ledger: Any,
        **asked: object,
    ) -> None:
        self._question = question(statistic, table, **asked)
        self._budget = budget(eps, delta, mechanism, self._question)
        self._rng = _generator(rng, self._question)
        self._confidence = _confidence(confidence)
        self._nonnegative = _nonnegative(nonnegative, self._question)
        self._all_digits = flag(all_digits, "all_digits")
        self.ledger = _ledger(ledger)
        self.state: State = "asking"

    def run(self, source: Any, *, groups_as_texts: bool = False) -> Outcome:
        """Check the question against the schema, spend the budget, read the data, draw the noise, in this order.

        Once the budget is spent, everything that follows may depend on the data, errors included. Groups of a command line are
        texts, which are read by the types of their columns.
        """
        with open_source(source, self._question.reading) as opened:
            self._question = opened.resolved(self._question)
            if groups_as_texts:
                self._read_groups(opened)
            asked = opened.checked(self._question)
            plan = planned(self._question, self._budget, asked.unit)
            schema, types = opened.schema(asked), opened.types(asked)
            self.state = "spending"
            paid = self._spend(plan, _name(source, self._question.table))
            self.state = "reading"
            try:
                answers = opened.answers(asked, order=order_of(self._rng))
                self._confirm(plan, paid, answers)
            except StairnoiseError as error:
                if self.ledger is None:
                    raise
                raise type(error)(f"{error}; nothing was drawn, and what the ledger has counted for it stays spent") from None
        self.state = "drawing"
        rows = released(plan, answers, self._rng, self._confidence, nonnegative=self._nonnegative, all_digits=self._all_digits)
        about = statement(plan, rows, schema, self._budget, self._confidence, self._rng, nonnegative=self._nonnegative)
        names = _names(self._question.by, list(rows.columns))
        numbers = zip(*rows.columns.values(), strict=True)
        tuples = tuple((*group, *values) for group, values in zip(rows.groups, numbers, strict=True))
        types += [plan.type(name) for name in rows.columns]
        table = PrivateTable(names, tuples, self._budget.eps, self._budget.delta or 0.0, about, tuple(types))
        return Outcome(table, plan, answers)

    def _read_groups(self, opened: Source) -> None:
        table, texts = self._question.table, cast("Mapping[str, tuple[str | None, ...]]", self._question.groups)
        groups = {name: opened.read_groups(table, name, texts[name]) for name in texts}
        self._question = replace(self._question, groups=groups)

    def _spend(self, plan: Plan, data: str) -> Any:
        """Write the cost into the ledger, which refuses more than its budget, and return the ledger's rows."""
        if self.ledger is None:
            return None
        parts = plan.parts
        statistics = [address(self._question, part.of) for part in parts]
        return self.ledger._charge([part.cost for part in parts], data, statistics, [part.k for part in parts], self._rng)

    def _confirm(self, plan: Plan, paid: Any, answers: Answers) -> None:
        """Let the ledger refuse a keyed release if its name was used for other data."""
        if self.ledger is not None and isinstance(self._rng, KeyedRng):
            marks = [self._rng.fingerprint(part.true(answers), answers.labels) for part in plan.parts]
            self.ledger._confirm(paid, marks)


class Outcome(NamedTuple):
    """A private table, and the true answers, which are shown only for teaching."""

    table: PrivateTable
    plan: Plan
    answers: Answers


def _generator(rng: object, asked: Question) -> object:
    if not isinstance(rng, KeyedRng):
        release_stream(rng)  # type: ignore[arg-type]
    elif any(name not in asked.groups for name in asked.by):
        raise ParameterError("rng must not be a KeyedRng for groups that are not listed: partition selection has no keyed form")
    elif rng.bind != "value":
        raise ParameterError(
            'rng must be a KeyedRng with bind="value" for a query: otherwise two releases show by how much the data changed, '
            f"got {received(rng)}"
        )
    return rng


def order_of(rng: object) -> bytes | None:
    """Return the key by which `Source.answers` chooses a person's groups: that of a KeyedRng, or None for a new one.

    The guarantee does not rest on it: at most `max_groups` groups of a person count in any order. It must not depend on the data,
    so that another person's rows do not change which groups count.
    """
    return bytes.fromhex(rng.fingerprint([0], [_ORDER_LABEL])) if isinstance(rng, KeyedRng) else None


def _confidence(confidence: object) -> float:
    number = single(confidence, "confidence")
    confidence_level(number)
    if number > _LARGEST_CONFIDENCE:
        raise ParameterError(f"confidence must be at most 1 - 2**-52, got {received(number)}")
    return number


def _nonnegative(nonnegative: object, asked: Question) -> bool:
    """Check a rule of post-processing: it must not move a value away from the true one."""
    wanted = flag(nonnegative, "nonnegative")
    if wanted and asked.statistic == "mean":
        raise ParameterError("nonnegative must be left out for means, which stay between their bounds, got True")
    if wanted and asked.bounds is not None and asked.bounds[0] < 0:
        raise ParameterError(f"nonnegative must be left out for sums with a negative lower bound, {asked.bounds[0]:g}, got True")
    return wanted


def _ledger(ledger: object) -> Any:
    if ledger is not None and not isinstance(ledger, ledgers.Ledger):
        raise ParameterTypeError(f"ledger must be a Ledger or None, got {received(ledger)}")
    return ledger


def _name(source: object, table: str | None) -> str:
    """Return the ledger's name for the data: where they are, without a password, and the table."""
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    if not isinstance(source, str):
        return f"{type(source).__module__}: {table}"
    if is_address(source):
        return f"{without_secrets(source)}: {table}"
    return f"{Path(source).resolve()}: {table}"


def _names(by: tuple[str, ...], columns: list[str]) -> tuple[str, ...]:
    """Return the names of all columns, each of them unique."""
    names = list(by)
    for name in columns:
        while name in names:
            name = f"private_{name}"
        names.append(name)
    return tuple(names)
