"""The mechanisms that `compare` compares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from stairnoise._errors import ParameterError, meant, received
from stairnoise._parameters import refuse, refuse_type
from stairnoise.mechanism.guarantee import NAME
from stairnoise.registry import ROWS, Compared, Row


class Setting(NamedTuple):
    """The ε, sensitivity and δ for which mechanisms are compared."""

    eps: float
    sensitivity: float
    delta: float | None = None
    # Whether the caller stated the sensitivity.
    stated: bool = True
    # How many values one person can change; all of them together have the guarantee.
    partitions: int = 1

    def argument(self, name: str) -> float | None:
        """Return ε, δ, the sensitivity, or the "change", the sensitivity of a discrete mechanism; None if not stated."""
        if name in ("sensitivity", "change") and not self.stated:
            return None
        if name == "delta" and self.delta is None:
            raise ParameterError("delta must be given for a mechanism that has no pure guarantee, got None")
        return getattr(self, name)  # type: ignore[no-any-return]

    @property
    def change(self) -> int:
        """The sensitivity as an integer, for a discrete mechanism."""
        refuse("sensitivity", self.sensitivity, self.sensitivity.is_integer(), "a whole number for a discrete mechanism")
        return int(self.sensitivity)


class Candidate(NamedTuple):
    """A mechanism to compare, and how it is compared."""

    row: Row
    compared: Compared

    def make(self, setting: Setting) -> Any:
        """Return the mechanism for this setting, or raise if there is none."""
        if self.compared.given and not setting.stated:
            raise ParameterError("sensitivity must be stated for a mechanism made from its noise alone, got None")
        mechanism = self.row.load()
        make = getattr(mechanism, self.compared.by) if self.compared.by else mechanism
        made = make(*map(setting.argument, self.compared.takes), *self.compared.fixed)
        return made._keeping_guarantee(setting.partitions, NAME)


# Continuous mechanisms, then discrete ones.
CANDIDATES = {one.name: Candidate(row, one) for row in sorted(ROWS, key=lambda row: row.kind) for one in row.compared}


Mechanisms = Literal["all"] | Sequence[str] | None


def chosen(mechanisms: Mechanisms, delta: float | None, *, by_class: bool = False) -> tuple[Candidate, ...]:
    """Return the named candidates, "all" of them, or for None those that suit most releases."""
    if mechanisms is None:
        wanted = ("always",) if delta is None else ("always", "delta")
        return tuple(candidate for candidate in CANDIDATES.values() if candidate.compared.when in wanted)
    if isinstance(mechanisms, str) and mechanisms == "all":
        return tuple(CANDIDATES.values())
    known = {candidate.row.class_name: candidate for candidate in CANDIDATES.values()} if by_class else {}
    return tuple((known | CANDIDATES)[name] for name in _names(mechanisms, known | CANDIDATES))


def chosen_rows(mechanisms: Mechanisms, delta: float | None) -> tuple[Row, ...]:
    """Return the registry's rows of the candidates that `chosen` returns; here names of classes are allowed too."""
    return tuple({candidate.row.name: candidate.row for candidate in chosen(mechanisms, delta, by_class=True)}.values())


def _names(mechanisms: Any, known: Mapping[str, object]) -> tuple[str, ...]:
    """Check a sequence of names, and return it without repetitions."""
    named = isinstance(mechanisms, Sequence) and not isinstance(mechanisms, (str, bytes, bytearray, memoryview, range))
    refuse_type("mechanisms", mechanisms, named, 'None, "all" or a sequence of names')
    if not mechanisms:
        raise ParameterError(f"mechanisms must have at least one name, got {received(mechanisms)}")
    for name in mechanisms:
        if not isinstance(name, str) or name not in known:
            raise ParameterError(f"mechanisms must be out of {', '.join(known)}, got {received(name)}{meant(name, known)}")
    return tuple(dict.fromkeys(mechanisms))
