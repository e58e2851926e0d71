"""No noise, on a mechanism's terms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError
from stairnoise._parameters import positive, require
from stairnoise._types import AnyArray, Self
from stairnoise.mechanism.base import Mechanism
from stairnoise.mechanism.guarantee import Guarantee


class NoNoise(Mechanism[np.int64, int, float]):
    """No noise at all, and no privacy: ε is infinite.

    It replaces a mechanism in a program whose results are to be compared with and without noise. It must be written out: no
    function chooses it, none knows it by a name, and a `Ledger`, a query and keyed releases refuse it.

    ``release`` returns the true answers in the shapes, dtypes and columns in which other mechanisms return noisy ones: integers
    as int64, float32 as float32, and other numbers as float64. It rounds nothing else, and checks its arguments as they do.
    ``sample`` returns zeros.

    Examples
    --------
    >>> import stairnoise as sn
    >>> sn.NoNoise().release([12, 40, 7])
    array([12, 40,  7])
    >>> sn.NoNoise().guarantee()
    Guarantee: one value, whatever it becomes, is inf-differentially private.
    """

    __slots__ = ()
    _integers = True
    _dtypes = ("int64", "int32", "float64", "float32")
    _release_dtypes = _dtypes
    _any_sensitivity = True
    _default_sensitivity = None

    def __init__(self) -> None:
        self._store(None, {}, stated=True)

    @property
    def eps(self) -> float:
        """ε, which is infinite."""
        return math.inf

    @property
    def exactness(self) -> str:
        """Return "none": there is no distribution."""
        return "none"

    def _checked_sensitivity(self, sensitivity: Any) -> float | None:
        return None if sensitivity is None else positive(sensitivity, "sensitivity")

    def _promise(self, sensitivity: Any, k: int) -> Guarantee:
        return Guarantee(math.inf, 0.0, None, sensitivity, k)

    def _divided_among(self, k: int) -> Self:
        return self

    def _fill(self, stream: _native.Stream, out: AnyArray, threads: int, first: int | None = None) -> None:
        stream.next_view(out.size)
        out.fill(0)

    def _add_noise(self, stream: _native.Stream, answers: AnyArray, out: AnyArray, k: int, threads: int) -> None:
        exact = self._representable(answers, out.dtype)
        # A fill, as of other mechanisms, so that the next call with this generator draws what it would after them.
        stream.next_view(out.size)
        out[...] = exact

    def _representable(self, answers: AnyArray, dtype: np.dtype[Any]) -> AnyArray:
        """Return the answers within the ends of the dtype; raise if they are not finite or not of its kind."""
        if answers.dtype.kind != "f":
            ends: Any = np.iinfo(dtype) if dtype.kind == "i" else np.iinfo(np.int64)
            return answers.clip(ends.min, ends.max)
        require("values", np.isfinite(answers), "finite")
        if dtype.kind == "i":
            raise ParameterError(f"out must have dtype float64 or float32 for values that are floats, got {dtype}")
        largest = np.finfo(dtype).max
        # As in other releases there is no -0.0, and numbers too large for float32 become its largest.
        return answers.clip(-largest, largest) + 0.0
