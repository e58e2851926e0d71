"""Stubs of the Rust extension, written by hand; tests compare them with the built module.

A method that draws consumes one fill number if it accepts its arguments, otherwise none. The
extension checks the ranges of parameters and raises ``stairnoise.ParameterError``.
"""

from collections.abc import Callable
from typing import Any, Literal, NoReturn, final

import numpy as np
from numpy.typing import NDArray

_Kind = Literal["staircase", "discrete_staircase", "laplace", "discrete_laplace"]
_Cost = Literal["l1", "l2"]
_Norm = Literal["l1", "l2", "linf"]

__all__ = [
    "MOST_THREADS",
    "ArrowArray",
    "BitSource",
    "Child",
    "Keys",
    "Labels",
    "Mechanism",
    "Named",
    "PartitionSelection",
    "Selection",
    "Stream",
    "__version__",
    "arete",
    "arrow_chunks",
    "check",
    "check_gaussians",
    "cpu_tier",
    "cpu_tiers",
    "describe",
    "discrete_canonical",
    "discrete_gaussian",
    "discrete_laplace",
    "discrete_staircase",
    "fill_gaussians",
    "fill_per_element",
    "frozen",
    "generalized_discrete_laplace",
    "laplace",
    "largest_quotient",
    "largest_quotients",
    "lattice_noise",
    "merged_laplace",
    "multi_scale_discrete_laplace",
    "multivariate_staircase",
    "randomized_response",
    "release_gaussians",
    "release_per_element",
    "same_memory",
    "skellam",
    "staircase",
    "truncated_discrete_staircase",
    "truncated_laplace",
    "truncated_staircase",
    "truncated_staircase_ends",
]

__version__: str
MOST_THREADS: int

class Named:
    """The base of a class that refuses a misspelt argument: `_known` has the names, `_unknown` makes the error's text."""

@final
class Stream:
    """A key, the number of the next fill and the index at which fills start."""

    @staticmethod
    def from_os() -> Stream: ...
    @staticmethod
    def from_key(key: bytearray) -> Stream: ...
    @staticmethod
    def from_seed(seed: int, allow_release: bool = False) -> Stream: ...
    def children(self, n: int) -> list[Child]: ...
    def at(self, index: int) -> Stream: ...
    def next_view(self, n: int) -> Stream: ...
    def after(self, first: int) -> Stream: ...
    def rekey_from_os(self) -> None: ...
    def rekey_from_seed(self, seed: int) -> None: ...
    def __reduce_ex__(self, protocol: object, /) -> NoReturn: ...
    @property
    def fill_count(self) -> int: ...
    @property
    def given(self) -> bool: ...
    @property
    def allow_release(self) -> bool: ...

@final
class Child:
    """A child of a stream; its first draw derives its key."""

    def stream(self) -> Stream: ...

@final
class BitSource:
    """A source of words for one object of NumPy's class `BitGenerator`."""

    @staticmethod
    def from_os() -> BitSource: ...
    @staticmethod
    def from_key(key: bytearray) -> BitSource: ...
    def spawn(self) -> BitSource: ...
    def install(self, capsule: object) -> None: ...
    def __reduce_ex__(self, protocol: object, /) -> NoReturn: ...
    @property
    def given(self) -> bool: ...

@final
class Keys:
    """The keys derived from a secret, one for each purpose."""

    @staticmethod
    def of(secret: bytearray) -> Keys: ...
    @property
    def identity(self) -> bytes: ...
    def release(
        self,
        mechanism: Mechanism,
        head: bytes,
        labels: Labels,
        values: NDArray[Any],
        out: NDArray[Any],
        *,
        bind_value: bool,
        width: int | None = None,
        threads: int = 0,
    ) -> None: ...
    def fingerprint(self, head: bytes, labels: Labels, values: NDArray[Any], *, width: int | None = None) -> bytes: ...

@final
class Labels:
    """The labels of the rows of a release."""

    @staticmethod
    def integers(numbers: NDArray[np.int64], missing: NDArray[np.bool_] | None = None) -> Labels: ...
    @staticmethod
    def dates(days: NDArray[np.int64], missing: NDArray[np.bool_] | None = None) -> Labels: ...
    @staticmethod
    def texts(
        offsets: NDArray[np.int32 | np.int64], data: NDArray[np.uint8], missing: NDArray[np.bool_] | None = None
    ) -> Labels: ...
    @staticmethod
    def code_points(characters: NDArray[np.uint32], width: int) -> Labels | None: ...
    @staticmethod
    def binaries(bytes: NDArray[np.uint8], width: int) -> Labels | None: ...
    @staticmethod
    def objects(list: list[Any], encode: Callable[[Any, int], bytes]) -> Labels: ...
    @staticmethod
    def tuples(columns: list[Labels]) -> Labels: ...
    def taken(self, places: NDArray[np.int64]) -> Labels: ...
    def places_among(self, known: Labels) -> NDArray[np.int64]: ...
    def first_besides(self, tag: int) -> int | None: ...
    def field(self, row: int) -> bytes: ...
    def __len__(self) -> int: ...

@final
class Mechanism:
    """A mechanism with scalar parameters, ready to draw; a function below makes it."""

    @property
    def granularity(self) -> float:
        """Lattice step g, a power of two; 1.0 for a mechanism of integers."""
    @property
    def sensitivity_steps(self) -> int:
        """The sensitivity in lattice steps, ceil(sensitivity / g); 0 for a mechanism without a sensitivity."""
    @property
    def lengths(self) -> list[int]:
        """The mechanism's own lengths in lattice steps: [r] of a staircase, [below, above] of a truncated mechanism, breakpoints,
        else [].
        """
    def draw_float(self, stream: Stream) -> float: ...
    def draw_int(self, stream: Stream) -> int: ...
    def fill(self, stream: Stream, out: NDArray[Any], threads: int = 0) -> None: ...
    def next_view(self, stream: Stream, n: int) -> Stream: ...
    def fast_sample(self, stream: Stream, n: int, whole: bool) -> NDArray[Any] | None: ...
    def fast_fill(self, stream: Stream, out: object, whole: bool) -> bool: ...
    def release(self, stream: Stream, values: NDArray[Any], out: NDArray[Any], threads: int = 0) -> None: ...
    def release_checked(self, stream: Stream, values: NDArray[Any], out: NDArray[Any], threads: int) -> None: ...
    def first_refused(self, values: NDArray[Any]) -> int | None: ...
    def release_modulo(
        self, stream: Stream, values: NDArray[np.int64], largest: int, out: NDArray[Any], threads: int = 0
    ) -> None: ...
    def release_column(
        self,
        stream: Stream,
        chunks: list[NDArray[Any]],
        nulls: NDArray[np.uint8] | None,
        out: NDArray[Any],
        kept: bool = False,
        threads: int = 0,
    ) -> None: ...
    def fast_release(self, stream: Stream, values: object, out: object) -> NDArray[Any] | float | None: ...
    def fast_release_whole(self, stream: Stream, values: object, out: object) -> NDArray[Any] | float | None: ...
    def fast_release_integers(self, stream: Stream, values: object, out: object) -> NDArray[Any] | int | None: ...

def arrow_chunks(
    capsule: object,
) -> tuple[str, list[tuple[NDArray[np.uint8], NDArray[np.uint8] | None, int]]]:
    """Return the numbers' type, and for every chunk the numbers' bytes, the bits of non-null values and how many bits to skip."""

@final
class ArrowArray:
    """Numbers with bits, 0 for null, which Polars takes without a copy."""

    def __new__(cls, numbers: NDArray[Any], valid: NDArray[np.uint8]) -> ArrowArray: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

@final
class Selection:
    """A mechanism that selects one of finitely many candidates; their costs lie along the last axis."""

    @staticmethod
    def staircase(eps: float, sensitivity: float, gamma: float, monotonic: bool) -> Selection: ...
    @staticmethod
    def exponential(eps: float, sensitivity: float, monotonic: bool) -> Selection: ...
    @staticmethod
    def permute_and_flip(eps: float, sensitivity: float, monotonic: bool) -> Selection: ...
    def checked(self, name: str, costs: NDArray[np.float64], scores: bool) -> tuple[NDArray[np.float64], int | None, bool]: ...
    def stairs(self, costs: NDArray[np.float64], out: NDArray[np.int64]) -> None: ...
    def select_one(self, stream: Stream, costs: object, scores: bool, integers: bool) -> int | None: ...
    def select(
        self,
        stream: Stream,
        costs: NDArray[np.float64],
        out: NDArray[np.int64],
        threads: int = 0,
        multiplicities: NDArray[np.float64] | None = None,
    ) -> None: ...
    def top(self, stream: Stream, costs: NDArray[np.float64], out: NDArray[np.int64], threads: int = 0) -> None: ...

@final
class PartitionSelection:
    """Selects the partitions to show by their counts of people."""

    @property
    def eps(self) -> float: ...
    @property
    def delta(self) -> float: ...
    @property
    def rising(self) -> int: ...
    @property
    def certain(self) -> int: ...
    @property
    def median(self) -> int: ...
    def __new__(cls, eps: float, delta: float, max_partitions_contributed: int) -> PartitionSelection: ...
    def select(self, stream: Stream, counts: NDArray[np.int64], out: NDArray[np.bool_], threads: int = 0) -> None: ...
    def release_one(self, stream: Stream, count: object) -> int | None: ...
    def release(self, stream: Stream, counts: NDArray[np.int64], out: NDArray[np.int64], threads: int = 0) -> None: ...

def staircase(eps: float, sensitivity: float, gamma: _Cost | float | None) -> Mechanism: ...
def discrete_staircase(eps: float, sensitivity: float, r: _Cost | float | None) -> Mechanism: ...
def laplace(eps: float, sensitivity: float) -> Mechanism: ...
def discrete_laplace(eps: float, sensitivity: float) -> Mechanism: ...
def truncated_laplace(eps: float, delta: float, sensitivity: float, lower: float | None, upper: float | None) -> Mechanism: ...
def truncated_staircase(
    eps: float, delta: float, sensitivity: float, gamma: float, lower: float | None, upper: float | None
) -> Mechanism: ...
def truncated_discrete_staircase(
    eps: float, delta: float, sensitivity: int, r: int, lower: int | None, upper: int | None
) -> Mechanism: ...
def truncated_staircase_ends(eps: float, delta: float, sensitivity: int, r: list[int]) -> list[int]: ...
def merged_laplace(eps: list[float], breakpoints: list[float], sensitivity: float) -> Mechanism: ...
def lattice_noise(weights: list[float], tail_ratio: float | None, granularity: float, sensitivity: float) -> Mechanism: ...
def discrete_canonical(eps: float, delta: float) -> Mechanism: ...
def discrete_gaussian(sigma2: float, log2_granularity: int = 0) -> Mechanism: ...
def arete(alpha: float, theta: float, lam: float, n_parties: int, present: int) -> Mechanism: ...
def generalized_discrete_laplace(beta: float, a: float, n_parties: int, present: int) -> Mechanism: ...
def multi_scale_discrete_laplace(eps: float, sensitivity: float, n_parties: int, present: int) -> Mechanism: ...
def randomized_response(eps: float, categories: int) -> Mechanism: ...
def skellam(mu: float, n_parties: int, present: int) -> Mechanism: ...
def multivariate_staircase(eps: float, sensitivity: float, dim: int, gamma: float, norm: _Norm) -> Mechanism: ...
def fill_per_element(
    kind: _Kind,
    eps: NDArray[np.float64],
    sensitivity: NDArray[np.float64],
    shape: _Cost | NDArray[np.float64] | None,
    stream: Stream,
    out: NDArray[Any],
    threads: int = 0,
) -> None: ...
def release_per_element(
    kind: _Kind,
    eps: NDArray[np.float64],
    sensitivity: NDArray[np.float64],
    shape: _Cost | NDArray[np.float64] | None,
    stream: Stream,
    values: NDArray[Any],
    out: NDArray[Any],
    k: int = 1,
    threads: int = 0,
) -> None: ...
def check(
    kind: _Kind,
    eps: NDArray[np.float64],
    sensitivity: NDArray[np.float64],
    shape: _Cost | NDArray[np.float64] | None,
    k: int = 1,
) -> None: ...
def describe(
    kind: _Kind,
    eps: NDArray[np.float64],
    sensitivity: NDArray[np.float64],
    shape: _Cost | NDArray[np.float64] | None,
    granularity: NDArray[np.float64],
    sensitivity_steps: NDArray[np.int64],
    r: NDArray[np.int64],
) -> None: ...
def check_gaussians(sigma2: NDArray[np.float64], log2_granularity: NDArray[np.int64]) -> None: ...
def fill_gaussians(
    sigma2: NDArray[np.float64],
    log2_granularity: NDArray[np.int64],
    stream: Stream,
    out: NDArray[Any],
    threads: int = 0,
) -> None: ...
def release_gaussians(
    sigma2: NDArray[np.float64],
    log2_granularity: NDArray[np.int64],
    stream: Stream,
    values: NDArray[Any],
    out: NDArray[Any],
    threads: int = 0,
) -> None: ...
def largest_quotient(eps: float, k: int) -> float: ...
def largest_quotients(eps: NDArray[np.float64], k: int, out: NDArray[np.float64]) -> None: ...
def frozen(name: str, array: NDArray[np.float64]) -> NDArray[np.float64]: ...
def same_memory(a: NDArray[Any], b: NDArray[Any]) -> bool: ...
def cpu_tier() -> str: ...
def cpu_tiers() -> list[str]: ...
