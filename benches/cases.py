"""The timing of a mechanism's draws, releases and calls in two builds.

Workers of both builds import this, so it can only use names that are public in both.
"""

from __future__ import annotations

import importlib
import inspect
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import stairnoise as sn
from benches.timing import IN_CACHE, Draw

PAGE = 1 << 21
"""Buffers of both builds begin where a huge page can begin."""

KEY = bytes(range(32))


@dataclass(frozen=True)
class Case:
    """One thing to time: `make` returns the call, which makes `n` values."""

    work: str
    make: Callable[[], Draw]
    n: int = 1
    seeded: Callable[[], Any] | None = None
    """Draws values from a key, which must be equal in both builds."""
    main: bool = False
    """Whether the row has a target."""
    every_tier: bool = True
    """Whether it is timed under every instruction set, or only under the best."""
    mkl: tuple[str, float] | None = None
    """MKL's sampler of the same noise, or of the nearest, and its parameter."""


@dataclass(frozen=True)
class Noise:
    """A mechanism by its class and arguments."""

    name: str
    arguments: dict[str, Any] = field(hash=False)
    dtype: type[np.generic] = np.float64
    dim: int = 1

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={_text(value)}' for name, value in self.arguments.items())})"

    def mechanism(self) -> Any:
        """Return stairnoise's object."""
        return getattr(sn, self.name)(**self.arguments)

    def stated(self) -> Any:
        """Return stairnoise's object with a stated sensitivity, 1 unless given: releases and guarantees require one."""
        class_ = getattr(sn, self.name)
        default = {"sensitivity": 1} if "sensitivity" in inspect.signature(class_).parameters else {}
        return class_(**default | self.arguments)

    def shape(self, n: int) -> int | tuple[int, int]:
        """Return the shape of `n` numbers; vectors have at most `n` numbers together."""
        return n if self.dim == 1 else (n // self.dim, self.dim)

    @property
    def mkl(self) -> tuple[str, float] | None:
        """MKL's nearest sampler: Laplace noise for the staircases, normal noise for Gaussian noise; none for arrays."""
        a = self.arguments
        if any(isinstance(value, np.ndarray) for value in a.values()):
            return None
        if self.name in ("Staircase", "Laplace"):
            return "laplace", a.get("sensitivity", 1) / a["eps"]
        if self.name in ("DiscreteStaircase", "DiscreteLaplace"):
            return "geometric_difference", a["eps"] / a.get("sensitivity", 1)
        if self.name in ("Gaussian", "DiscreteGaussian"):
            return "gaussian", float(self.mechanism().std())
        return None


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.size} values"
    return f"{value:g}" if isinstance(value, float) else str(value)


def buffer(shape: Any, dtype: Any = np.float64, order: Any = "C") -> NDArray[Any]:
    """Return an array that begins at a multiple of 2 MiB, so that memory's alignment favours neither build."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + PAGE, np.uint8)
    return np.ndarray(shape, dtype, raw.data, -raw.ctypes.data % PAGE, order=order)


# ---------------------------------------------------------------- draws


def sampled(noise: Noise, out: Callable[[], NDArray[Any]], work: str = "sample into out", **facts: Any) -> Case:
    """Draw noise alone, into the array that `out` makes."""

    def make() -> Draw:
        mechanism, array = noise.mechanism(), out()
        return lambda: mechanism.sample(out=array)

    def seeded() -> Any:
        return noise.mechanism().sample(out=out(), rng=sn.SecureRng.from_key(KEY))

    return Case(f"{work}, {noise}", make, int(np.prod(out().shape)), seeded, mkl=noise.mkl, **facts)


def bulk(noise: Noise, **facts: Any) -> Case:
    """Draw noise alone, into an array that fits the cache."""
    return sampled(noise, lambda: buffer(noise.shape(IN_CACHE), noise.dtype), **facts)


def answers(noise: Noise, n: int) -> NDArray[Any]:
    """Return true answers, whole numbers below a thousand."""
    array = buffer(noise.shape(n), noise.dtype)
    array[...] = (np.arange(array.size) % 1000).reshape(array.shape)
    return array


def released(noise: Noise, n: int, *, into: bool, **facts: Any) -> Case:
    """Release `n` answers, into an existing array or a new one."""

    def options() -> dict[str, Any]:
        return {"out": buffer(noise.shape(n), noise.dtype)} if into else {}

    def make() -> Draw:
        mechanism, values, given = noise.stated(), answers(noise, n), options()
        return lambda: mechanism.release(values, **given)

    def seeded() -> Any:
        return noise.stated().release(answers(noise, n), rng=sn.SecureRng.from_key(KEY), **options())

    kind = np.dtype(noise.dtype).name
    where = "into out" if into else "into a new array"
    size = int(np.prod(noise.shape(n)))
    return Case(f"release of {kind}, {noise}, {where}, n={size}", make, size, seeded, mkl=noise.mkl, **facts)


def method_of(noise: Noise, method: str, *arguments: Any, **options: Any) -> Draw:
    """Return a call of a mechanism's method."""
    return partial(getattr(noise.stated(), method), *arguments, **options)


def small(noise: Noise, n: int, method: str, *, into: bool = False, **facts: Any) -> Case:
    """Return a case of `n` values at a call, which times mostly the call."""

    def make() -> Draw:
        given = {"out": buffer(noise.shape(n), noise.dtype)} if into else {}
        first = () if method == "sample" and into else (n if method == "sample" else answers(noise, n),)
        return method_of(noise, method, *first, **given)

    words = {"sample": "sample(out=)" if into else "sample(n)", "release": "release(out=)" if into else "release"}
    return Case(f"{words[method]}, n={n}, {noise}", make, **facts)


def digest(case: Case) -> int | None:
    """Return a sum over the values that the case draws from a key."""
    return None if case.seeded is None else zlib.crc32(np.ascontiguousarray(case.seeded()).tobytes())


def fill(case: Case) -> Draw:
    """Return the unit: NumPy writing as many values of eight bytes."""
    array = buffer(case.n)
    return lambda: array.fill(1.0)


def mkl(case: Case) -> tuple[Draw, str]:
    """Return MKL's noise of the same size, with the addition for a release, and the quickest generator."""
    samplers = importlib.import_module("benches.mkl")
    assert case.mkl is not None
    sampler, parameter = case.mkl
    out = buffer(case.n, np.int64 if sampler == "geometric_difference" else np.float64)
    draw, generator = getattr(samplers, sampler)(parameter, out)
    if not case.work.startswith("release"):
        return draw, generator
    values, sums = np.ones_like(out), np.ones_like(out)
    return lambda: np.add(values, draw(), out=sums), generator
