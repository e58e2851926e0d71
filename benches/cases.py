"""What two builds are compared at, by name: every mechanism and method, in words that both builds know.

A worker of either build imports this, so only names that are public in both may be used; what one of them lacks is named absent.
"""

from __future__ import annotations

import importlib
import itertools
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import stairnoise as sn
from benches import ours
from benches.family import MECHANISMS
from benches.laws import LAWS, Law
from benches.timing import IN_CACHE, Draw

LARGE = 10**7
POINTS = 10**5
PAGE = 1 << 21
"""Buffers begin where a huge page can, in every build alike."""

KEY = bytes(range(32))


@dataclass(frozen=True)
class Case:
    """One thing to time: `make` returns the call, which makes `n` values."""

    work: str
    n: int
    make: Callable[[], Draw]
    seeded: Callable[[], Any] | None = None
    """The same values from a key: those of both builds must be the same."""
    main: bool = False
    """Whether the row has a target."""
    every_tier: bool = True
    """Whether it is timed under each instruction set, or under the best alone."""
    mkl: tuple[str, float] | None = None
    """MKL's sampler for the same, or the nearest, noise, and its parameter."""


@dataclass(frozen=True)
class Noise:
    """A mechanism by its class and arguments."""

    name: str
    arguments: dict[str, Any] = field(hash=False)
    dtype: type[np.generic] = np.float64
    dim: int = 1

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={_text(value)}' for name, value in self.arguments.items())})"

    def law(self) -> Any:
        """Return stairnoise's object."""
        return getattr(sn, self.name)(**self.arguments)

    def shape(self, n: int) -> int | tuple[int, int]:
        """Return the shape of `n` numbers: of vectors, as many as have no more."""
        return n if self.dim == 1 else (n // self.dim, self.dim)

    @property
    def mkl(self) -> tuple[str, float] | None:
        """MKL's nearest sampler: Laplace noise for the staircases, normal noise for Gaussian noise."""
        a = self.arguments
        if self.name in ("Staircase", "Laplace"):
            return "laplace", a.get("sensitivity", 1) / a["eps"]
        if self.name in ("DiscreteStaircase", "DiscreteLaplace"):
            return "geometric_difference", a["eps"] / a.get("sensitivity", 1)
        if self.name in ("Gaussian", "DiscreteGaussian"):
            return "gaussian", float(self.law().std())
        return None


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.size} values"
    return f"{value:g}" if isinstance(value, float) else str(value)


def buffer(shape: Any, dtype: Any = np.float64, order: Any = "C") -> NDArray[Any]:
    """Return an array that begins at a multiple of 2 MiB, so that no build is luckier with its memory than the other."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + PAGE, np.uint8)
    return np.ndarray(shape, dtype, raw.data, -raw.ctypes.data % PAGE, order=order)


# ---------------------------------------------------------------- draws


def _sample(noise: Noise, out: Callable[[], NDArray[Any]], work: str = "sample into out", **facts: Any) -> Case:
    def make() -> Draw:
        law, array = noise.law(), out()
        return lambda: law.sample(out=array)

    def seeded() -> Any:
        return noise.law().sample(out=out(), rng=sn.SecureRng.from_key(KEY))

    return Case(f"{work}, {noise}", int(np.prod(out().shape)), make, seeded, mkl=noise.mkl, **facts)


def _bulk(noise: Noise, **facts: Any) -> Case:
    return _sample(noise, lambda: buffer(noise.shape(IN_CACHE), noise.dtype), **facts)


def _answers(noise: Noise, n: int) -> NDArray[Any]:
    array = buffer(noise.shape(n), noise.dtype)
    array[...] = (np.arange(array.size) % 1000).reshape(array.shape)
    return array


def _release(noise: Noise, n: int, *, into: bool, **facts: Any) -> Case:
    def options() -> dict[str, Any]:
        return {"out": buffer(noise.shape(n), noise.dtype)} if into else {}

    def make() -> Draw:
        law, values, given = noise.law(), _answers(noise, n), options()
        return lambda: law.release(values, **given)

    def seeded() -> Any:
        return noise.law().release(_answers(noise, n), rng=sn.SecureRng.from_key(KEY), **options())

    kind = np.dtype(noise.dtype).name
    where = "into out" if into else "into a new array"
    size = int(np.prod(noise.shape(n)))
    return Case(f"release of {kind}, {noise}, {where}, n={size}", size, make, seeded, mkl=noise.mkl, **facts)


def _call(work: str, make: Callable[[], Draw], n: int = 1, **facts: Any) -> Case:
    return Case(work, n, make, **facts)


def _of(noise: Noise, method: str, *arguments: Any, **options: Any) -> Draw:
    return partial(getattr(noise.law(), method), *arguments, **options)


def _small(noise: Noise, n: int, method: str, *, into: bool = False, **facts: Any) -> Case:
    """`n` values at a call: the price of the call."""

    def make() -> Draw:
        given = {"out": buffer(noise.shape(n), noise.dtype)} if into else {}
        first = () if method == "sample" and into else (n if method == "sample" else _answers(noise, n),)
        return _of(noise, method, *first, **given)

    words = {"sample": "sample(out=)" if into else "sample(n)", "release": "release(out=)" if into else "release"}
    return _call(f"{words[method]}, n={n}, {noise}", make, **facts)


# ---------------------------------------------------------------- mechanisms

STAIRCASES = {eps: Noise("Staircase", {"eps": eps}) for eps in (1.0, 4.0)}
LAPLACES = {eps: Noise("Laplace", {"eps": eps}) for eps in (1.0, 4.0)}
COUNTINGS = {eps: Noise("DiscreteLaplace", {"eps": eps}, np.int64) for eps in (0.1, 1.0, 4.0)}
DISCRETE = {eps: Noise("DiscreteStaircase", {"eps": eps, "sensitivity": 10}, np.int64) for eps in (1.0, 4.0)}
GAUSSIANS = [Noise("DiscreteGaussian", {"sigma2": sigma2}, np.int64) for sigma2 in (1.0, 100.0, 1e6)]
GAUSSIANS.append(Noise("Gaussian", {"eps": 1.0, "delta": 1e-6}))
RELEASED = (COUNTINGS[1.0], STAIRCASES[4.0], LAPLACES[1.0])


def _noise(law: Law) -> Noise:
    name = "".join(word.capitalize() for word in law.mechanism.split("_"))
    arguments: dict[str, Any] = {"eps": law.eps}
    if law.sensitivity != 1:
        arguments["sensitivity"] = law.sensitivity
    if law.cost != "l1":
        arguments["r"] = law.cost
    return Noise(name, arguments, ours.dtype(law))


FURTHER = [Noise(m.name, dict(m.arguments), m.dtype, m.dim) for m in MECHANISMS]
EVERY = list({str(noise): noise for noise in [*map(_noise, LAWS), *FURTHER]}.values())
"""All that `make bench` draws in bulk: each class of the registry at least once."""

TYPICAL = {noise.name: noise for noise in reversed([*RELEASED, DISCRETE[1.0], *GAUSSIANS, *reversed(EVERY)])}
"""One of each class, for the methods."""

VARIED = {
    "Staircase": {"eps": 1.0},
    "Laplace": {"eps": 1.0},
    "DiscreteStaircase": {"eps": 1.0, "sensitivity": 10},
    "DiscreteLaplace": {"eps": 1.0},
    "Gaussian": {"eps": 1.0, "delta": 1e-6},
    "DiscreteGaussian": {"sigma2": 100.0},
    "TruncatedLaplace": {"eps": 1.0, "delta": 1e-6},
    "MergedLaplace": {"eps": [3.0, 1.0], "breakpoints": [0.5]},
    "MultivariateStaircase": {"eps": 2.0, "dim": 3},
    "GeneralizedDiscreteLaplace": {"a": 0.5, "beta": 0.25},
    "MultiScaleDiscreteLaplace": {"eps": 4.0, "sensitivity": 10},
    "Arete": {"alpha": 0.3, "theta": 1.0, "lam": 0.3},
    "StaircaseSelection": {"eps": 1.0},
    "ExponentialMechanism": {"eps": 1.0},
}
"""Arguments of a constructor; the first is another one at each call."""


def _constructor(name: str) -> Case:
    arguments = VARIED[name]
    first, *_ = arguments

    def make() -> Draw:
        class_, counter = getattr(sn, name), itertools.count(1)

        def construct() -> Any:
            factor = 1 + 1e-9 * next(counter)
            value = arguments[first]
            return class_(**arguments | {first: [x * factor for x in value] if isinstance(value, list) else value * factor})

        return construct

    text = ", ".join(f"{argument}={_text(value)}" for argument, value in arguments.items())
    return _call(f"constructing {name}({text}), each time another {first}", make, main=True)


# ---------------------------------------------------------------- methods

FUNCTIONS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "sf", "logcdf", "logsf", "norm_cdf", "norm_sf")
QUANTILES = ("ppf", "isf", "norm_ppf", "norm_isf")
OF_SENSITIVITY = {"sensitivity": 1}
"""What these methods take of a mechanism that was made for no sensitivity."""

CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    **{name: ((), {}) for name in ("mean", "median", "var", "std", "entropy", "support", "stats", "as_scipy", "pure_eps")},
    **{name: ((), {}) for name in ("expected_norm", "privacy_eps")},
    "moment": ((2,), {}),
    "abs_moment": ((1.0,), {}),
    "interval": ((0.95,), {}),
    "error_bound": ((0.05,), {}),
    "confidence_interval": ((3.0,), {}),
    "guarantee": ((), OF_SENSITIVITY),
    "privacy_loss": ((), OF_SENSITIVITY),
    "privacy_profile": ((0.5,), OF_SENSITIVITY),
    "rdp": ((2.0,), OF_SENSITIVITY),
    "tradeoff": ((0.1,), OF_SENSITIVITY),
    "compose": ((2,), OF_SENSITIVITY),
    "rho": ((1,), {}),
    "for_partitions": ((2,), {}),
    "share": ((10,), {}),
    "eps_for_error": ((1.0, 0.05), {}),
    "from_eps": ((1.0,), {}),
}
MADE_FOR_NO_SENSITIVITY = ("Arete", "DiscreteGaussian", "GeneralizedDiscreteLaplace")
OWN_ARGUMENTS: dict[tuple[str, str], tuple[Any, ...]] = {
    ("Gaussian", "eps_for_error"): (1.0, 0.05, 1e-6),
    ("DiscreteGaussian", "from_eps"): (1.0, 1e-6),
    ("Arete", "for_partitions"): (1,),
    ("GeneralizedDiscreteLaplace", "for_partitions"): (1,),
}
UNTIMED = ("plot",)
"""Methods that are not timed: their time is matplotlib's."""


def _points(noise: Noise, function: str, n: int | None) -> Case:
    def make() -> Draw:
        rng, law = np.random.default_rng(1), noise.law()
        if function in QUANTILES:
            x = rng.random(n)
        elif noise.dim > 1 and not function.startswith("norm"):
            x = np.asarray(law.sample(n, rng=sn.SeededRng(1)), np.float64)
        else:
            spread = float(np.max(law.std()))
            x = np.rint(rng.normal(0, spread, n)) if noise.dtype is np.int64 else np.abs(rng.normal(0, spread, n))
        return _of(noise, function, float(x) if np.ndim(x) == 0 else x)

    return _call(f"{function} of {n or 'one'} point{'s' * bool(n)}, {noise}", make, n or 1, every_tier=False)


def _method(noise: Noise, method: str) -> Case:
    arguments, options = CALLS[method]
    if options is OF_SENSITIVITY and noise.name not in MADE_FOR_NO_SENSITIVITY:
        options = {}
    arguments = OWN_ARGUMENTS.get((noise.name, method), arguments)
    return _call(f"{method}, {noise}", lambda: _of(noise, method, *arguments, **options), every_tier=False)


def _methods() -> Iterator[Case]:
    for noise in TYPICAL.values():
        has = partial(hasattr, getattr(sn, noise.name))
        for function in filter(has, (*FUNCTIONS, *QUANTILES)):
            yield _points(noise, function, None)
            yield _points(noise, function, POINTS)
        yield from (_method(noise, name) for name in filter(has, CALLS) if callable(getattr(getattr(sn, noise.name), name)))
        yield _call(f"sample(), {noise}", partial(_of, noise, "sample"), every_tier=False)
        yield _call(f"release of one value, {noise}", partial(_one_release, noise), every_tier=False)
        yield _small(noise, 10 * noise.dim, "release", every_tier=False)


def _one_release(noise: Noise) -> Draw:
    return _of(noise, "release", [0] * noise.dim if noise.dim > 1 else 5)


def _functions() -> Iterator[Case]:
    costs = np.linspace(0, 10, 1000)
    for name in ("StaircaseSelection", "ExponentialMechanism"):
        for method in ("select", "sample", "probabilities", "log_probabilities", "expected_cost"):
            noise = Noise(name, {"eps": 1.0})
            yield _call(f"{method} of {costs.size} candidates, {noise}", partial(_of, noise, method, costs), every_tier=False)
    calls: dict[str, Draw] = {
        "optimal_gamma(1)": lambda: sn.optimal_gamma(1.0),
        "optimal_r(1, 10)": lambda: sn.optimal_r(1.0, 10),
        "optimal_cost(1)": lambda: sn.optimal_cost(1.0),
        "expected_cost(Staircase(1), 'l2')": lambda: sn.expected_cost(sn.Staircase(1.0), "l2"),
        "compare(1)": lambda: sn.compare(1.0),
        "SecureRng()": lambda: sn.SecureRng(),
        "SecureRng.from_key": lambda: sn.SecureRng.from_key(KEY),
        "SeededRng(1)": lambda: sn.SeededRng(1),
        "SecureRng().spawn(2)": lambda: sn.SecureRng().spawn(2),
        "SecureRng().at(3)": lambda: sn.SecureRng().at(3),
        "SecureRng().reseed()": lambda: sn.SecureRng().reseed(),
        "cpu_tiers()": sn.cpu_tiers,
    }
    for work, call in calls.items():
        yield _call(work, lambda call=call: call, every_tier=False)  # type: ignore[misc]


# ---------------------------------------------------------------- the rows

IN_CACHE_RELEASES = [_release(noise, IN_CACHE, into=into, main=True) for noise in RELEASED for into in (False, True)]
LARGE_RELEASES = [_release(noise, LARGE, into=True, main=True) for noise in RELEASED]
SAMPLES = {
    str(noise): _bulk(noise, main=True)
    for noise in (*STAIRCASES.values(), *DISCRETE.values(), *LAPLACES.values(), *COUNTINGS.values(), *GAUSSIANS)
}
STRIDED = _sample(STAIRCASES[4.0], lambda: buffer(2 * IN_CACHE)[::2], "sample into out[::2]", main=True)
FORTRAN = _sample(
    STAIRCASES[4.0], lambda: buffer((2000, 2000), order="F"), "sample into a Fortran-ordered 2000 x 2000 array", main=True
)
SAMPLES_INTO = [_small(STAIRCASES[4.0], n, "sample", into=True, main=True) for n in (10, 1000)]
RELEASES_INTO = [_small(COUNTINGS[1.0], n, "release", into=True, main=True) for n in (10, 1000)]
ONE_RELEASE = _call(f"release(5), {COUNTINGS[1.0]}", partial(_one_release, COUNTINGS[1.0]), main=True)
ONE_CALL = _call("sn.sample(10, eps=1)", lambda: lambda: sn.sample(10, eps=1), main=True)
RESTS = [_small(STAIRCASES[4.0], n, "sample", main=True) for n in (63, 100, 1000)]
CONSTRUCTORS = {name: _constructor(name) for name in VARIED}

MAIN = [
    *IN_CACHE_RELEASES,
    *LARGE_RELEASES,
    *SAMPLES.values(),
    STRIDED,
    FORTRAN,
    *SAMPLES_INTO,
    *RELEASES_INTO,
    ONE_RELEASE,
    ONE_CALL,
    *RESTS,
    *CONSTRUCTORS.values(),
]


def _others() -> Iterator[Case]:
    for noise in EVERY:
        yield _bulk(noise)
        yield _release(noise, IN_CACHE, into=True)
    for noise in (STAIRCASES[4.0], LAPLACES[1.0], GAUSSIANS[-1]):
        yield _sample(noise, lambda: buffer(IN_CACHE, np.float32), "sample into float32")
    for noise in (COUNTINGS[1.0], DISCRETE[1.0], GAUSSIANS[1]):
        yield _sample(noise, lambda: buffer(IN_CACHE, np.int32), "sample into int32")
        yield _sample(noise, lambda: buffer(IN_CACHE), "sample into float64")
    eps = np.linspace(0.1, 4, IN_CACHE)
    for noise in (STAIRCASES[4.0], LAPLACES[1.0], COUNTINGS[1.0], DISCRETE[1.0]):
        own = Noise(noise.name, noise.arguments | {"eps": eps}, noise.dtype)
        yield _call(f"constructing {own}", partial(partial, own.law), IN_CACHE, every_tier=False)
        yield _bulk(own)
        yield _release(own, IN_CACHE, into=True)
    for noise in (STAIRCASES[4.0], LAPLACES[1.0], COUNTINGS[1.0], DISCRETE[1.0], GAUSSIANS[1]):
        for n in (1, 10, 64, 10_000):
            yield _small(noise, n, "sample")
    yield from _methods()
    yield from _functions()


CASES: dict[str, Case] = {}
for _case in [*MAIN, *_others()]:
    CASES.setdefault(_case.work, _case)


def digest(case: Case) -> int | None:
    """Return a sum over the values that the case draws from a key."""
    return None if case.seeded is None else zlib.crc32(np.ascontiguousarray(case.seeded()).tobytes())


def fill(case: Case) -> Draw:
    """Return the unit: NumPy writing as many values of eight bytes."""
    array = buffer(case.n)
    return lambda: array.fill(1.0)


def mkl(case: Case) -> tuple[Draw, str]:
    """Return MKL's noise of the same size, for a release with the addition to the answers, and the generator that is quickest."""
    samplers = importlib.import_module("benches.mkl")
    assert case.mkl is not None
    sampler, parameter = case.mkl
    out = buffer(case.n, np.int64 if sampler == "geometric_difference" else np.float64)
    draw, generator = getattr(samplers, sampler)(parameter, out)
    if not case.work.startswith("release"):
        return draw, generator
    answers, released = np.ones_like(out), np.ones_like(out)
    return lambda: np.add(answers, draw(), out=released), generator
