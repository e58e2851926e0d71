"""One release from beginning to end: check, spend, read, draw, and describe the result."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from stairnoise._errors import LedgerError, ParameterError, ParameterTypeError, StairnoiseError, check, received
from stairnoise._parameters import confidence_level, flag, single
from stairnoise.accounting.ledger import ledger as ledgers
from stairnoise.keyed.rng import KeyedRng
from stairnoise.query.address import is_address, without_secrets
from stairnoise.query.answers import Answers
from stairnoise.query.plan import Plan, address, budget, planned, released
from stairnoise.query.private_table import PrivateTable
from stairnoise.query.question import Asked, Question, question
from stairnoise.query.sources import Source, open_source
from stairnoise.query.sources.statement import Checked
from stairnoise.query.statement import statement
from stairnoise.query.statistics.numbers import Total
from stairnoise.query.statistics.statistic import Shown
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
        statistics: Sequence[Asked],
        table: object,
        *,
        eps: object,
        delta: object = None,
        mechanism: object = None,
        shares: object = None,
        rng: object,
        confidence: object,
        nonnegative: object = False,
        all_digits: object = False,
        ledger: Any,
        **asked: object,
    ) -> None:
        self._question = question(statistics, table, **asked)
        self._budget = budget(eps, delta, mechanism, shares, self._question)
        self._rng = _generator(rng, self._question)
        self._shown = Shown(_confidence(confidence), _nonnegative(nonnegative, self._question), flag(all_digits, "all_digits"))
        if ledger is not None and not isinstance(ledger, ledgers.Ledger):
            raise ParameterTypeError(f"ledger must be a Ledger or None, got {received(ledger)}")
        self.ledger = ledger
        self.state: State = "asking"

    def run(self, source: Any, *, groups_as_texts: bool = False) -> Outcome:
        """Check the question against the schema, spend the budget, read the data, draw the noise, in this order.

        Once the budget is spent, everything that follows may depend on the data, errors included. Groups of a command line are
        texts, which are read by the types of their columns.
        """
        with open_source(source, self._question.reading) as opened:
            asked = self.prepare(opened, _place(source), groups_as_texts=groups_as_texts)
            return self.finish(lambda: opened.answers(asked, order=self.order))

    def prepare(self, opened: Source, place: str, *, groups_as_texts: bool = False) -> Checked:
        """Check the question against the schema, and spend the budget."""
        self._question = opened.resolved(self._question)
        if groups_as_texts:
            self._read_groups(opened)
        asked = opened.checked(self._question)
        # A source knows the bounds of bools.
        self._question = replace(self._question, statistics=asked.question.statistics)
        self._plan = planned(self._question, self._budget, [units.unit for units in asked.units], asked.lattices)
        self._schema, self._types = opened.schema(asked), opened.types(asked)
        self.state = "spending"
        self._paid = self._spend(self._plan, f"{place}: {self._question.table}")
        self.state = "reading"
        return asked

    def finish(self, read: Callable[[], Answers]) -> Outcome:
        """Read the data, and draw the noise."""
        plan = self._plan
        try:
            answers = read()
            self._confirm(plan, self._paid, answers)
        except StairnoiseError as error:
            if self.ledger is None:
                raise
            raise type(error)(f"{error}; nothing was drawn, and what the ledger has counted for it stays spent") from None
        self.state = "drawing"
        rows = released(plan, answers, self._rng, self._shown)
        about = statement(plan, rows, self._schema, self._budget, self._shown, self._rng, self._spent())
        names = (*self._question.by, *(column.name for column in rows.columns))
        numbers = zip(*(column.values for column in rows.columns), strict=True)
        tuples = tuple((*group, *values) for group, values in zip(rows.groups, numbers, strict=True))
        types = (*self._types, *(column.type for column in rows.columns))
        table = PrivateTable(names, tuples, self._budget.eps, self._budget.delta or 0.0, about, types)
        return Outcome(table, plan, answers)

    @property
    def order(self) -> bytes | None:
        """The key by which `Source.answers` chooses a person's groups."""
        return order_of(self._rng)

    def _read_groups(self, opened: Source) -> None:
        table, texts = self._question.table, cast("Mapping[str, tuple[str | None, ...]]", self._question.groups)
        groups = {name: opened.read_groups(table, name, texts[name]) for name in texts if name not in self._question.groupings}
        self._question = replace(self._question, groups={**self._question.groups, **groups})

    def _spend(self, plan: Plan, data: str) -> Any:
        """Write the cost into the ledger, which refuses more than its budget, and return the ledger's rows."""
        if self.ledger is None:
            return None
        parts = plan.parts
        statistic = address(self._question, parts[0] if len(parts) == 1 else None)
        costs = [part.cost for part in parts]
        return self.ledger._charge(costs, self._budget.eps, self._budget.delta or 0.0, data, statistic, self._rng)

    def _spent(self) -> tuple[float, float] | None:
        """Return ε and δ of all releases in the ledger. A keyed release has the same notes each time, whatever was spent since.

        A ledger that cannot be read now must not cost the table, which is paid for.
        """
        if self.ledger is None or isinstance(self._rng, KeyedRng):
            return None
        try:
            return self.ledger.total(), self.ledger.delta
        except LedgerError:
            return None

    def _confirm(self, plan: Plan, paid: Any, answers: Answers) -> None:
        """Let the ledger refuse a keyed release if its name was used for other data."""
        if self.ledger is None or not isinstance(self._rng, KeyedRng):
            return
        true, labels = zip(*(part.confirmed(answers) for part in plan.parts), strict=True)
        whole = [
            ((part.name,) if len(true) > 1 else ()) + label for part, own in zip(plan.parts, labels, strict=True) for label in own
        ]
        self.ledger._confirm(paid, [self._rng.fingerprint(np.concatenate(true), whole)])


class Outcome(NamedTuple):
    """A private table, and the true answers, which are shown only for teaching."""

    table: PrivateTable
    plan: Plan
    answers: Answers


def _generator(rng: object, asked: Question) -> object:
    if not isinstance(rng, KeyedRng):
        release_stream(rng)  # type: ignore[arg-type]
    elif asked.unlisted:
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
    check(number <= _LARGEST_CONFIDENCE, "confidence must be at most 1 - 2**-52", number)
    return number


def _nonnegative(nonnegative: object, asked: Question) -> bool:
    """Check a rule of post-processing: it must not move a value away from the true one."""
    wanted = flag(nonnegative, "nonnegative")
    totals = [one for one in asked.statistics if isinstance(one, Total)]
    if wanted and not totals:
        raise ParameterError("nonnegative must be left out without counts and sums: others stay between their bounds, got True")
    for low in (one.bounds[0] for one in totals if one.bounds is not None):
        check(not wanted or low >= 0, f"nonnegative must be left out for sums with a negative lower bound, {low:g}, got True")
    return wanted


def _place(source: object) -> str:
    """Return the ledger's name for where the data are, without a password."""
    if isinstance(source, os.PathLike):
        source = os.fspath(source)
    if not isinstance(source, str):
        return type(source).__module__.partition(".")[0].lstrip("_")
    return without_secrets(source) if is_address(source) else str(Path(source).resolve())
