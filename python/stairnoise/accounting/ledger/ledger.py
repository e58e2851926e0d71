"""The class `Ledger`."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, overload

from stairnoise._digits import as_typed
from stairnoise._errors import BudgetError, LedgerError, ParameterError
from stairnoise._native import __version__
from stairnoise._options import Required, TypedDict, Unpack
from stairnoise._parameters import flag, positive, refuse, refuse_type, single
from stairnoise._types import Number
from stairnoise.accounting.ledger import file, rows
from stairnoise.accounting.ledger.costs import Cost, cost_of, is_drawn_by_key, joint
from stairnoise.accounting.ledger.rows import Limits, Names, Row
from stairnoise.keyed.rng import KeyedRng
from stairnoise.keyed.rng import name as text
from stairnoise.rng import Rng

if TYPE_CHECKING:
    import sqlite3

    from stairnoise.mechanism.base import Mechanism
    from stairnoise.mechanism.guarantee import Guarantee
    from stairnoise.mechanism.selection import SelectionMechanism
    from stairnoise.mechanisms.partition_selection.mechanism import PartitionSelection

    Spendable = Mechanism | Guarantee | PartitionSelection | SelectionMechanism

    class _Names(TypedDict, total=False):
        data: Required[str]
        release: str | None
        rng: Rng | KeyedRng | None

    class _OfOne(_Names, total=False):
        statistic: str | None
        fingerprint: str | None
        max_partitions_contributed: int
        sensitivity: Number | None
        l2_sensitivity: Number | None

    class _OfSeveral(_Names, total=False):
        statistic: Sequence[str] | None
        fingerprint: Sequence[str] | None
        max_partitions_contributed: int | Sequence[int]
        sensitivity: Number | Sequence[Number | None] | None
        l2_sensitivity: Number | Sequence[Number | None] | None


_DIGITS = frozenset("0123456789abcdef")


class Spending(NamedTuple):
    """One row of a ledger: a release that was paid for. `Ledger.spend` and `Ledger.report` return them.

    Attributes
    ----------
    data : str
        Which data, as the caller named them.
    release : str or None
        Name of the release, if it has one.
    statistic : str or None
        Name of the statistic, if it has one.
    mechanism : str
        The mechanism with its parameters.
    max_partitions_contributed : int
        How many of the values one person can change.
    eps : float or None
        ε of the guarantee of this release alone. None for a mechanism that has only a ρ.
    delta : float or None
        δ of that guarantee.
    total : float
        ε of all releases up to and with this one, at the ledger's δ.
    fingerprint : str or None
        Keyed fingerprint of the rows. None for a fresh release, for a refused one, and for one whose data were never read.
    time : str
        When it was spent, in UTC.
    refused : bool
        Whether the release was refused, because its name stands for other rows. It was not drawn and costs nothing.
    """

    data: str
    release: str | None
    statistic: str | None
    mechanism: str
    max_partitions_contributed: int
    eps: float | None
    delta: float | None
    total: float
    fingerprint: str | None
    time: str
    refused: bool


Spending.__module__ = "stairnoise"


class Ledger:
    """A file that counts what the releases about a group of people cost, and refuses what would exceed their budget.

    ``spend`` writes the cost of a release to the file before its noise is drawn. Several processes of one machine may spend
    from one ledger; the file is locked while one of them does. What has been spent stays spent if a program then crashes.

    A ledger keeps honest programs within a budget. It is not access control: nothing stops a program that draws without
    spending, and nobody notices if an older copy of the file comes back.

    Parameters
    ----------
    path : str or path
        File of the ledger, an SQLite database on a local disk.
    budget : float or None
        ε > 0 that all releases together may cost. The file is made if it does not exist. If it exists, it must have this
        budget and this `delta`. None: open a ledger that exists, with the budget that it has.
    delta : float or None
        δ of the guarantee of all releases together, from 0 to below 1. None: 0, or with ``budget=None`` what the ledger has.
    composed : bool or None
        True: losses are composed at `delta`, because you fixed all mechanisms and their parameters in advance. None: False, or
        with ``budget=None`` what the ledger has.
    timeout : float, default 30.0
        Seconds to wait while another process has locked the file.

    Raises
    ------
    LedgerError
        The file cannot be opened or made, is not a ledger, is damaged, stayed locked, or has other limits.
    ParameterTypeError
        An argument has the wrong type.
    ParameterError
        A number is out of range or NaN, `delta` or `composed` is given without a budget, or `composed` without a `delta`.

    Notes
    -----
    The total is the sum of all ε, if all δ add up to at most `delta`. Both are sums of the decimals that were typed: ten times
    0.1 is 1. The float64 numbers that the mechanisms use can add up to a little more, by at most a 2**-51st. This is a privacy
    filter: earlier released numbers may decide anything, such as the next mechanism and its ε and δ [1]_.

    With ``composed=True`` the total is the lesser of that sum and of the composed `PrivacyLoss` at `delta`. A
    mechanism of which only ε and δ are known (a vector, a selection, a `Guarantee`) has no such loss. Then its ε is added to
    the composed ε of the others, and its δ is taken from the δ of the others. Losses compose if the mechanisms and their
    parameters were fixed in advance; earlier released numbers may decide what is asked, and when to stop.

    There is one budget for all rows, whatever their `data` are called. Make one ledger for each group of people that has no
    member in common with another one.

    References
    ----------
    .. [1] Rogers, Roth, Ullman and Vadhan, "Privacy Odometers and Filters: Pay-as-you-Go Composition", NeurIPS 2016.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import stairnoise as sn
    >>> directory = tempfile.TemporaryDirectory()
    >>> ledger = sn.Ledger(Path(directory.name, "census.ledger"), budget=1)
    >>> mechanism = sn.DiscreteLaplace(eps=0.75)
    >>> spent = ledger.spend(mechanism, data="census", statistic="count")
    >>> private = mechanism.release([120, 45])
    >>> ledger.total(), ledger.remaining()
    (0.75, 0.25)
    >>> ledger.spend(mechanism, data="census", statistic="sum")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    stairnoise.BudgetError: the budget of ... must not be exceeded: ...
    >>> directory.cleanup()
    """

    __slots__ = ("_limits", "_path", "_timeout")
    __module__ = "stairnoise"

    def __init__(
        self,
        path: str | os.PathLike[str],
        budget: Number | None = None,
        *,
        delta: Number | None = None,
        composed: bool | None = None,
        timeout: Number = 30.0,
    ) -> None:
        self._path = _file(path)
        self._timeout = single(timeout, "timeout")
        refuse("timeout", timeout, 0 <= self._timeout <= 10**6, "from 0 to 10**6 seconds")
        given = None if budget is None else positive(budget, "budget")
        level = None if delta is None else single(delta, "delta")
        refuse("delta", delta, level is None or 0 <= level < 1, "from 0 to 1, without 1")
        refuse("budget", budget, given is not None or level is None, "given with a delta")
        together = None if composed is None else flag(composed, "composed")
        refuse("budget", budget, given is not None or together is None, "given with composed")
        refuse("delta", delta, not together or bool(level), "greater than 0 to compose losses")
        self._limits = self._opened(None if given is None else Limits(given, level or 0.0, bool(together)))

    def _opened(self, asked: Limits | None) -> Limits:
        """Return the limits of the file; make the file first if it does not exist."""
        if asked is not None and not file.exists(self._path):
            file.create(self._path, (*asked, 0, _now(), __version__))
        with file.transaction(self._path, self._timeout) as connection:
            found, _ = rows.read(connection, self._path)
        if asked is not None and found != asked:
            raise LedgerError(f"{self._path} has {_named_limits(found)}, and cannot get others, got {_named_limits(asked)}")
        return found

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def budget(self) -> float:
        """ε that all releases together may cost."""
        return self._limits.budget

    @property
    def delta(self) -> float:
        """δ of the guarantee of all releases together."""
        return self._limits.delta

    @property
    def composed(self) -> bool:
        """Whether losses are composed, for mechanisms that were fixed in advance."""
        return bool(self._limits.composed)

    @overload
    def spend(self, mechanism: Spendable, **options: Unpack[_OfOne]) -> Spending: ...
    @overload
    def spend(self, mechanism: Sequence[Spendable], **options: Unpack[_OfSeveral]) -> list[Spending]: ...
    def spend(
        self,
        mechanism: Spendable | Sequence[Spendable],
        *,
        data: str,
        release: str | None = None,
        statistic: str | Sequence[str] | None = None,
        fingerprint: str | Sequence[str] | None = None,
        max_partitions_contributed: int | Sequence[int] = 1,
        sensitivity: Number | Sequence[Number | None] | None = None,
        l2_sensitivity: Number | Sequence[Number | None] | None = None,
        rng: Rng | KeyedRng | None = None,
    ) -> Spending | list[Spending]:
        """Write the cost of a release to the file; call it before the release draws noise.

        A release with a KeyedRng costs nothing if the ledger has a row for the same noise: the same secret, release,
        statistic, mechanism, `max_partitions_contributed`, labels and true answers. Every other release costs, even if it
        repeats an earlier question.

        Parameters
        ----------
        mechanism : mechanism, Guarantee, or list of them
            What the release draws with. A list is spent as a whole or not at all, such as the two mechanisms of a mean. A
            `Guarantee` stands for a release that another library makes.
        data : str
            Name of the data set, or of the people in it. Not empty.
        release : str or None
            Name of the release. It may be left out with a KeyedRng, which has the name.
        statistic : str, None, or list of str
            Name of what the values are, such as "count"; one for each mechanism of a list.
        fingerprint : str, None, or list of str; only with a KeyedRng
            What `KeyedRng.fingerprint` returns for the values and their labels, one for each mechanism of a list.
        max_partitions_contributed : int or list of int, default 1
            How many of the values one person can change, as in `release`. For a mechanism that selects, how many selections
            one person's data enter. 1 for a `PartitionSelection` and a `Guarantee`, which know it.
        sensitivity : int, float, None, or list of them
            As in `guarantee`: the largest change of one value, only for the mechanisms that were not made for one. It does not
            cover a vector whose change it bounds in a norm: several values that change by 1 can cost more than one that
            changes by their norm.
        l2_sensitivity : float, None, or list of them
            As in `DiscreteGaussian.release`, instead of `sensitivity`: one person changes any number of integers, by at most
            this in the l2 norm. It is counted as the worst change of integers of that norm.
        rng : KeyedRng, SecureRng or None
            The generator of the release. Only a KeyedRng changes what is written; it is refused for what draws nothing by
            key.

        Returns
        -------
        Spending, or a list of them
            The row that was written, or the row that paid for the same noise before.

        Raises
        ------
        BudgetError
            All releases together would cost more than the budget. The class is a LedgerError.
        LedgerError
            The release and statistic were spent with other rows or another secret, which the ledger records. Or the file is
            locked, cannot be written, is damaged, or the disk is full. No noise may be drawn after any error.
        ParameterError, ParameterTypeError
            An argument is not allowed. `mechanism` has array parameters, or states neither ε nor a privacy loss.
        """
        several = isinstance(mechanism, (list, tuple))
        mechanisms: list[Any] = list(mechanism) if several else [mechanism]  # type: ignore[arg-type]
        if not mechanisms:
            raise ParameterError("mechanism must be a mechanism or a list of at least one, got an empty list")
        partitions = _for_mechanisms(max_partitions_contributed, "max_partitions_contributed", len(mechanisms), several)
        sensitivities = _for_mechanisms(sensitivity, "sensitivity", len(mechanisms), several)
        norms = _for_mechanisms(l2_sensitivity, "l2_sensitivity", len(mechanisms), several)
        statistics = _names(statistic, "statistic", len(mechanisms), several)
        fingerprints = _names(fingerprint, "fingerprint", len(mechanisms), several)
        for one in mechanisms:
            rule = f"left out for a {type(one).__name__}, which draws nothing by key: each of its releases costs"
            refuse_type("rng", rng, not isinstance(rng, KeyedRng) or is_drawn_by_key(one), rule)
        costs = [cost_of(*one) for one in zip(mechanisms, partitions, sensitivities, norms, strict=True)]
        asked = [_named(data, release, name, mark, rng) for name, mark in zip(statistics, fingerprints, strict=True)]
        spent = [_spending(row) for _, row in self._spend(asked, costs)]
        return spent if several else spent[0]

    def _charge(
        self, parts: Sequence[tuple[Spendable, int]], eps: float, delta: float, data: str, statistic: str, rng: object
    ) -> list[tuple[int, Row]]:
        """Write the cost of a release whose true answers have not been read, and return its row with the row's number.

        The parts are mechanisms with their `max_partitions_contributed`. Together they cost at most `eps` and `delta`.

        A keyed release that has a row costs nothing. `_confirm` compares its true answers before anything is drawn, so a row
        without them has no noise yet, and whoever asks again takes it.
        """
        release, bind = (rng.release_name, rng.bind) if isinstance(rng, KeyedRng) else (None, None)
        cost = joint([cost_of(mechanism, k) for mechanism, k in parts], eps, delta)
        return self._spend([Names(data, release, statistic, None, bind)], [cost])

    def _confirm(self, paid: Sequence[tuple[int, Row]], fingerprints: Sequence[str]) -> None:
        """Record the fingerprints of true answers; refuse them if the name of the release has others."""
        with file.transaction(self._path, self._timeout, "write") as connection:
            known = self._read(connection)
            if any(known[number - 1 : number] == [] or not known[number - 1].has_noise_of(row) for number, row in paid):
                raise LedgerError(f"{self._path} has been replaced by a ledger without this release")
            marked = [row.marked(one) for (_, row), one in zip(paid, fingerprints, strict=True)]
            if (refused := _of_other_rows(connection, known, marked)) is None:
                for (number, _), one in zip(paid, fingerprints, strict=True):
                    rows.mark(connection, number, one)
        _require_no(refused)

    def _spend(self, asked: list[Names], costs: list[Cost]) -> list[tuple[int, Row]]:
        """Write all rows that are not paid for yet, or raise and write none; return the number and the row of each."""
        wanted = [Row(*one, 0.0, _now(), False) for one in zip(asked, costs, strict=True)]
        with file.transaction(self._path, self._timeout, "write") as connection:
            known = self._read(connection)
            if (refused := _of_other_rows(connection, known, wanted)) is None:
                paid = self._paid(connection, known, wanted)
        _require_no(refused)
        return paid

    def _paid(self, connection: sqlite3.Connection, known: list[Row], wanted: list[Row]) -> list[tuple[int, Row]]:
        """Find the rows that paid for the same noise, and write the others with their total."""
        book, places = list(known), []
        for row in wanted:
            places.append(next((place for place, one in enumerate(book) if one.has_noise_of(row)), len(book)))
            if places[-1] == len(book):
                book.append(row)
            elif row.names.fingerprint is not None:
                book[places[-1]] = book[places[-1]].marked(row.names.fingerprint)
                rows.mark(connection, places[-1] + 1, row.names.fingerprint)
        if new := book[len(known) :]:
            before, after = rows.last_total(known), rows.total_of(book, self._limits)
            if after > self.budget:
                self._refuse(before, after)
            book[len(known) :] = [row._replace(total=after) for row in new]
            rows.write(connection, book[len(known) :])
        return [(place + 1, book[place]) for place in places]

    def _read(self, connection: sqlite3.Connection) -> list[Row]:
        limits, known = rows.read(connection, self._path)
        if limits != self._limits:
            raise LedgerError(f"{self._path} has been replaced by a ledger of other limits")
        return known

    def _refuse(self, before: float, after: float) -> NoReturn:
        level = f" at delta = {self.delta}" if self.delta else ""
        would = f"it would be eps = {after}"
        if after == math.inf:
            # No eps is large enough.
            would = f"the deltas would exceed the ledger's, {self.delta}, or a mechanism states no eps and none is composed"
        raise BudgetError(
            f"the budget of {self._path} must not be exceeded: eps = {before} of {self.budget}{level} is spent, and with this "
            f"release {would}; nothing has been spent"
        )

    def total(self) -> float:
        """Return the ε of all releases together, at the ledger's δ.

        Returns
        -------
        float
            0.0 for a ledger without rows.

        Raises
        ------
        LedgerError
            The file cannot be read, or stayed locked.
        """
        with file.transaction(self._path, self._timeout) as connection:
            return rows.last_total(self._read(connection))

    def remaining(self) -> float:
        """Return what is left of the budget: its decimals less those of the total.

        Unless losses are composed, a mechanism with a pure ε of at most this always fits.

        Returns
        -------
        float

        Raises
        ------
        LedgerError
            The file cannot be read, or stayed locked.
        """
        return max(0.0, float(as_typed(self.budget) - as_typed(self.total())))

    def report(self) -> list[Spending]:
        """Return all rows, the oldest first; ``pandas.DataFrame(ledger.report())`` makes a table of them.

        Returns
        -------
        list of Spending

        Raises
        ------
        LedgerError
            The file cannot be read, or stayed locked.
        """
        with file.transaction(self._path, self._timeout) as connection:
            return [_spending(row) for row in self._read(connection)]

    def __repr__(self) -> str:
        level = f", delta={self.delta}" if self.delta else ""
        level += ", composed=True" if self.composed else ""
        return f"Ledger({str(self._path)!r}, budget={self.budget}{level})"


def _file(path: Any) -> Path:
    """Check the name of a file and return it with its directory."""
    refuse_type("path", path, isinstance(path, (str, os.PathLike)), "the name of a file")
    name = os.fspath(path)
    refuse_type("path", name, isinstance(name, str), "the name of a file as text")
    try:
        usable = bool(name) and b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        usable = False
    refuse("path", name, usable, "a name that files can have")
    return Path(os.path.abspath(name))  # noqa: PTH100 - Path.absolute keeps "..", which as_uri would not resolve


def _named_limits(limits: Limits) -> str:
    composed = ", composed" if limits.composed else ""
    return f"budget = {limits.budget} at delta = {limits.delta}{composed}"


def _for_mechanisms(value: Any, name: str, n: int, several: bool) -> list[Any]:
    """Return a value for each of `n` mechanisms: one for all of them, or one for each in a list."""
    if not (several and isinstance(value, (list, tuple))):
        return [value] * n
    if len(value) != n:
        raise ParameterError(f"{name} must be one for each mechanism, {n}, got {len(value)}")
    return list(value)


def _names(value: Any, name: str, n: int, several: bool) -> list[Any]:
    """Return a text or None for each of `n` mechanisms: several need a list, because each has its own."""
    refuse_type(name, value, n == 1 or not isinstance(value, str), f"a list with one for each mechanism, {n}")
    return _for_mechanisms(value, name, n, several)


def _named(data: object, release: object, statistic: object, fingerprint: object, rng: object) -> Names:
    """Check the names of one release; keyed ones need all of them."""
    people = text(data, "data")
    if not isinstance(rng, KeyedRng):
        refuse_type("rng", rng, fingerprint is None, "the KeyedRng of the release in a spending with a fingerprint")
        of, what = (one if one is None else text(one, name) for one, name in ((release, "release"), (statistic, "statistic")))
        return Names(people, of, what, None, None)
    same = release is None or text(release, "release") == rng.release_name
    refuse("release", release, same, f"left out, or the name of the KeyedRng, {rng.release_name!r}")
    for name, value in (("fingerprint", fingerprint), ("statistic", statistic)):
        refuse_type(name, value, value is not None, "given in a spending with a KeyedRng")
    mark = text(fingerprint, "fingerprint")
    is_one = len(mark) == 64 and _DIGITS.issuperset(mark)
    refuse("fingerprint", mark, is_one, "what fingerprint() of the KeyedRng returns")
    return Names(people, rng.release_name, text(statistic, "statistic"), mark, rng.bind)


def _of_other_rows(connection: sqlite3.Connection, known: list[Row], wanted: list[Row]) -> Row | None:
    """Return the first row that was wanted under a name that stands for other data, or None; write that it was refused."""
    refused = next((row for row in wanted if any(one.has_other_answers_than(row) for one in (*known, *wanted))), None)
    if refused is not None:
        # It costs nothing.
        names, cost = refused.names._replace(fingerprint=None), refused.cost._replace(exact=None, eps=0.0, delta=0.0)
        rows.write(connection, [Row(names, cost, rows.last_total(known), _now(), True)])
    return refused


def _require_no(refused: Row | None) -> None:
    if refused is not None:
        raise LedgerError(
            f"release {refused.names.release!r} must be of one state of the data: its statistic {refused.names.statistic!r} was "
            "spent with other rows or another secret; give the new state a name of its own; the ledger has recorded this refusal"
        )


def _spending(row: Row) -> Spending:
    known = row.names._asdict() | row.cost._asdict() | row._asdict()
    known |= {"max_partitions_contributed": row.cost.partitions, "refused": bool(row.refused)}
    return Spending(**{name: known[name] for name in Spending._fields})


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
