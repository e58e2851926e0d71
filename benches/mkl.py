"""Intel MKL's samplers by its C interface, which writes into an existing array (mkl_random's Python interface cannot).

Importing this fails if MKL is not installed. All of MKL's generators are tried, and the quickest is used.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import math
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benches.timing import Draw

GENERATORS = {
    "MCG31": 1,
    "R250": 2,
    "MRG32K3A": 3,
    "MCG59": 4,
    "WH": 5,
    "MT19937": 8,
    "MT2203": 9,
    "SFMT19937": 13,
    "NONDETERM": 14,
    "ARS5": 15,
    "PHILOX4X32X10": 16,
}
"""`VSL_BRNG_…` divided by 2²⁰ (mkl_vsl_defines.h): all generators that mkl_random offers."""

INVERSION = 0
GAUSSIAN_METHODS = (0, 1, 2)
"""Box and Muller's method with one value and with two, and inversion."""


def _load() -> Any:
    for file in importlib.metadata.files("mkl") or ():
        if file.name.startswith(("libmkl_rt.", "mkl_rt.")) and not file.name.endswith(".lib"):
            library = ctypes.CDLL(str(Path(str(file.locate())).resolve()))
            pointer, real, whole = ctypes.c_void_p, ctypes.c_double, ctypes.c_int
            library.vslNewStream.argtypes = [ctypes.POINTER(pointer), whole, ctypes.c_uint]
            library.vdRngLaplace.argtypes = [whole, pointer, whole, pointer, real, real]
            library.vdRngGaussian.argtypes = [whole, pointer, whole, pointer, real, real]
            library.viRngGeometric.argtypes = [whole, pointer, whole, pointer, real]
            return library
    raise ModuleNotFoundError("MKL's library is not among the files of its package", name="mkl")


LIBRARY = _load()


TRIAL = 1 << 16
"""The number of values in a generator's trial."""

Make = Callable[[ctypes.c_void_p, NDArray[Any]], list[Draw]]


def laplace(scale: float, out: NDArray[np.float64]) -> tuple[Draw, str]:
    """Return a draw of Laplace noise into `out`, and the generator that it uses."""

    def make(stream: ctypes.c_void_p, x: NDArray[Any]) -> list[Draw]:
        into, n = x.ctypes.data, x.size
        return [lambda: _done(x, LIBRARY.vdRngLaplace(INVERSION, stream, n, into, 0.0, scale))]

    return _quickest(make, out)


def gaussian(sigma: float, out: NDArray[np.float64]) -> tuple[Draw, str]:
    """Return a draw of normal noise into `out`, and the generator that it uses."""

    def make(stream: ctypes.c_void_p, x: NDArray[Any]) -> list[Draw]:
        into, n, sample = x.ctypes.data, x.size, LIBRARY.vdRngGaussian
        return [lambda m=method: _done(x, sample(m, stream, n, into, 0.0, sigma)) for method in GAUSSIAN_METHODS]  # type: ignore[misc]

    return _quickest(make, out)


def geometric_difference(a: float, out: NDArray[np.int64]) -> tuple[Draw, str]:
    """Return a draw of two-sided geometric noise of parameter e^−a into `out`, and the generator that it uses."""
    p = -math.expm1(-a)

    def make(stream: ctypes.c_void_p, x: NDArray[Any]) -> list[Draw]:
        n = x.size
        one, other = np.zeros((2, n), np.int32)

        def draw() -> NDArray[Any]:
            for half in (one, other):
                _done(half, LIBRARY.viRngGeometric(INVERSION, stream, n, half.ctypes.data, p))
            return np.subtract(one, other, out=x)

        return [draw]

    return _quickest(make, out)


def _done(out: NDArray[Any], status: int) -> NDArray[Any]:
    if status:
        raise RuntimeError(f"MKL's status is {status}")
    return out


def _quickest(make: Make, out: NDArray[Any]) -> tuple[Draw, str]:
    """Try every generator and every method on a part of `out`."""
    found = []
    for name, number in GENERATORS.items():
        stream = ctypes.c_void_p()
        if LIBRARY.vslNewStream(ctypes.byref(stream), number << 20, 1) == 0:  # otherwise this processor does not run it
            for method, draw in enumerate(make(stream, out[:TRIAL])):
                draw()
                found.append((min(timeit.repeat(draw, number=1, repeat=5)), name, method, stream))
    _, name, method, stream = min(found, key=lambda candidate: candidate[0])
    return make(stream, out)[method], name
