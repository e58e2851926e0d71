"""The Rust extension, by hand; tests compare it with the built module.

Every method that draws consumes one fill number when it accepts its arguments, and otherwise
nothing. Numeric facts about parameters are checked here and raise ``stairnoise.ParameterError``.
"""

from typing import Any, Literal, NoReturn, final

import numpy as np
from numpy.typing import NDArray

_Kind = Literal["staircase", "discrete_staircase", "laplace", "discrete_laplace"]
_Cost = Literal["l1", "l2"]

__all__ = [
    "Law",
    "Noise",
    "Stream",
    "__version__",
    "check",
    "cpu_tier",
    "cpu_tiers",
    "describe",
    "fill_each",
    "largest_quotient",
    "release_each",
]

__version__: str

@final
class Stream:
    """A key, the number of the next fill and the index at which fills start."""

    @staticmethod
    def from_os() -> Stream: ...
    @staticmethod
    def from_key(key: bytearray) -> Stream: ...
    @staticmethod
    def from_seed(seed: int) -> Stream: ...
    def spawn(self, n: int) -> list[Stream]: ...
    def at(self, index: int) -> Stream: ...
    def rekey_from_os(self) -> None: ...
    def rekey_from_seed(self, seed: int) -> None: ...
    def __reduce_ex__(self, protocol: object, /) -> NoReturn: ...
    @property
    def fill_count(self) -> int: ...
    @property
    def index(self) -> int: ...

@final
class Law:
    """One law with scalar parameters on its lattice, ready to draw."""

    def __new__(cls, kind: _Kind, eps: float, sensitivity: float, shape: _Cost | float | None) -> Law: ...
    @property
    def eps(self) -> float: ...
    @property
    def sensitivity(self) -> float: ...
    @property
    def granularity(self) -> float: ...
    @property
    def cells(self) -> int: ...
    @property
    def r(self) -> int: ...
    def draw_float(self, stream: Stream) -> float: ...
    def draw_int(self, stream: Stream) -> int: ...
    def fill(self, stream: Stream, out: NDArray[Any], threads: int = 0) -> None: ...
    def release(self, stream: Stream, values: NDArray[Any], out: NDArray[Any]) -> None: ...
    def release_short(self, stream: Stream, values: object, whole: bool) -> NDArray[Any] | None: ...

@final
class Noise:
    """A law of several draws for a value, with scalar parameters, ready to draw."""

    @property
    def granularity(self) -> float: ...
    def draw_float(self, stream: Stream) -> float: ...
    def draw_int(self, stream: Stream) -> int: ...
    def fill(self, stream: Stream, out: NDArray[Any], threads: int = 0) -> None: ...
    def release(self, stream: Stream, values: NDArray[Any], out: NDArray[Any]) -> None: ...
    def release_short(self, stream: Stream, values: object, whole: bool) -> NDArray[Any] | None: ...

def fill_each(
    kind: _Kind,
    eps: NDArray[np.float64],
    sensitivity: NDArray[np.float64],
    shape: _Cost | NDArray[np.float64] | None,
    stream: Stream,
    out: NDArray[Any],
    threads: int = 0,
) -> None: ...
def release_each(
    kind: _Kind,
    eps: NDArray[np.float64],
    sensitivity: NDArray[np.float64],
    shape: _Cost | NDArray[np.float64] | None,
    stream: Stream,
    values: NDArray[Any],
    out: NDArray[Any],
) -> None: ...
def check(
    kind: _Kind,
    eps: NDArray[np.float64],
    sensitivity: NDArray[np.float64],
    shape: _Cost | NDArray[np.float64] | None,
) -> None: ...
def describe(
    kind: _Kind,
    eps: NDArray[np.float64],
    sensitivity: NDArray[np.float64],
    shape: _Cost | NDArray[np.float64] | None,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]: ...
def largest_quotient(eps: float, k: int) -> float: ...
def cpu_tier() -> str: ...
def cpu_tiers() -> list[str]: ...
