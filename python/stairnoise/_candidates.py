"""The mechanisms that `compare` sets side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal, NamedTuple

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._law import Law
from stairnoise._law.alone import Alone
from stairnoise._laws.discrete_laplace import DiscreteLaplace
from stairnoise._laws.discrete_staircase import DiscreteStaircase
from stairnoise._laws.laplace import Laplace
from stairnoise._laws.staircase import Staircase

AnyLaw = Law[Any] | Alone[Any]


class Setting(NamedTuple):
    """What every mechanism is asked for."""

    eps: float
    sensitivity: float
    delta: float | None = None

    def budget(self) -> tuple[float, float, float]:
        """Return eps, delta and sensitivity, for a mechanism that has no pure guarantee."""
        if self.delta is None:
            raise ParameterError("delta must be given for a mechanism that has no pure guarantee, got None")
        return self.eps, self.delta, self.sensitivity

    @property
    def change(self) -> int:
        """The sensitivity, for a law of integers."""
        if not self.sensitivity.is_integer():
            raise ParameterError(f"sensitivity must be a whole number for a discrete law, got {self.sensitivity}")
        return int(self.sensitivity)


class Candidate(NamedTuple):
    """A mechanism to compare: what to call it, how to make it, and which candidate it is measured against."""

    name: str
    make: Callable[[Setting], AnyLaw]
    baseline: str
    when: Literal["always", "delta", "named"] = "always"
    """Whether it is compared always, where a delta is given, or where it is named."""


def _lazily(name: str, make: Callable[[Any, Setting], AnyLaw]) -> Callable[[Setting], AnyLaw]:
    """Load the class of a mechanism when it is first compared."""
    return lambda setting: make(getattr(import_module("stairnoise"), name), setting)


# A further mechanism is one more line.
CANDIDATES: tuple[Candidate, ...] = (
    Candidate("Staircase l1", lambda s: Staircase(s.eps, s.sensitivity, "l1"), "Laplace"),
    Candidate("Staircase l2", lambda s: Staircase(s.eps, s.sensitivity, "l2"), "Laplace"),
    Candidate("Laplace", lambda s: Laplace(s.eps, s.sensitivity), "Laplace"),
    Candidate("MergedLaplace", _lazily("MergedLaplace", lambda law, s: law.from_eps(s.eps, s.sensitivity)), "Laplace", "named"),
    Candidate("Arete", _lazily("Arete", lambda law, s: law.from_eps(s.eps, s.sensitivity)), "Laplace", "named"),
    Candidate("TruncatedLaplace", _lazily("TruncatedLaplace", lambda law, s: law(*s.budget())), "Laplace", "delta"),
    Candidate("Gaussian", _lazily("Gaussian", lambda law, s: law(*s.budget())), "Laplace", "delta"),
    Candidate("DiscreteStaircase l1", lambda s: DiscreteStaircase(s.eps, s.sensitivity, "l1"), "DiscreteLaplace"),
    Candidate("DiscreteStaircase l2", lambda s: DiscreteStaircase(s.eps, s.sensitivity, "l2"), "DiscreteLaplace"),
    Candidate("DiscreteLaplace", lambda s: DiscreteLaplace(s.eps, s.sensitivity), "DiscreteLaplace"),
    Candidate(
        "GeneralizedDiscreteLaplace",
        _lazily("GeneralizedDiscreteLaplace", lambda law, s: law.from_eps(s.eps, s.change)),
        "DiscreteLaplace",
        "named",
    ),
    Candidate(
        "MultiScaleDiscreteLaplace",
        _lazily("MultiScaleDiscreteLaplace", lambda law, s: law(s.eps, s.change)),
        "DiscreteLaplace",
        "named",
    ),
    Candidate(
        "DiscreteGaussian",
        _lazily("DiscreteGaussian", lambda law, s: law.from_eps(*s.budget()[:2], s.change)),
        "DiscreteLaplace",
        "delta",
    ),
)


def chosen(mechanisms: Literal["all"] | Sequence[str] | None, delta: float | None) -> tuple[Candidate, ...]:
    """Return the candidates that are asked for: by name, "all" of them, or for None those that suit most releases."""
    if mechanisms is None:
        return tuple(c for c in CANDIDATES if c.when == "always" or (c.when == "delta" and delta is not None))
    if isinstance(mechanisms, str) and mechanisms == "all":
        return CANDIDATES
    if isinstance(mechanisms, (str, bytes, bytearray, memoryview, range)) or not isinstance(mechanisms, Sequence):
        raise ParameterTypeError(f'mechanisms must be None, "all" or a sequence of names, got {received(mechanisms)}')
    if not mechanisms:
        raise ParameterError(f"mechanisms must have at least one name, got {received(mechanisms)}")
    known = {candidate.name: candidate for candidate in CANDIDATES}
    names: tuple[object, ...] = tuple(mechanisms)
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise ParameterError(f"mechanisms must be out of {', '.join(known)}, got {received(name)}")
    return tuple(known[name] for name in dict.fromkeys(mechanisms))
