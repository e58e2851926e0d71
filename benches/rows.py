"""The rows of a comparison of two builds: every mechanism and method, by names that both builds know.

Workers of both builds import this. A row that one build lacks is absent.
"""

from __future__ import annotations

import itertools
import pickle
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import stairnoise as sn
from benches import ours
from benches.cases import KEY, Case, Noise, buffer, bulk, method_of, released, sampled, small
from benches.family import MECHANISMS
from benches.mechanisms import CORE_MECHANISMS, CoreMechanism
from benches.timing import IN_CACHE, Draw

LARGE = 10**7
POINTS = 10**5
SELECTIONS = 1000
"""At a call."""

# ---------------------------------------------------------------- mechanisms

STAIRCASES = {eps: Noise("Staircase", {"eps": eps}) for eps in (1.0, 4.0)}
LAPLACES = {eps: Noise("Laplace", {"eps": eps}) for eps in (1.0, 4.0)}
COUNTINGS = {eps: Noise("DiscreteLaplace", {"eps": eps}, np.int64) for eps in (0.1, 1.0, 4.0)}
DISCRETE = {eps: Noise("DiscreteStaircase", {"eps": eps, "sensitivity": 10}, np.int64) for eps in (1.0, 4.0)}
GAUSSIANS = [Noise("DiscreteGaussian", {"sigma2": sigma2}, np.int64) for sigma2 in (1.0, 100.0, 1e6)]
GAUSSIANS.append(Noise("Gaussian", {"eps": 1.0, "delta": 1e-6}))
OWN_VARIANCE = [
    Noise("DiscreteGaussian", {"sigma2": np.repeat(np.linspace(1, 100, 64), IN_CACHE // 64)}, np.int64),
    Noise("Gaussian", {"sigma": np.repeat(np.linspace(1, 10, 64), IN_CACHE // 64)}),
]
"""Arrays of parameters of Gaussian noise: 64 groups of values, each with its own."""
RELEASED = (COUNTINGS[1.0], STAIRCASES[4.0], LAPLACES[1.0])


def _noise(mechanism: CoreMechanism) -> Noise:
    name = "".join(word.capitalize() for word in mechanism.mechanism.split("_"))
    arguments: dict[str, Any] = {"eps": mechanism.eps}
    if mechanism.sensitivity != 1:
        arguments["sensitivity"] = mechanism.sensitivity
    if mechanism.cost != "l1":
        arguments["r"] = mechanism.cost
    return Noise(name, arguments, ours.dtype(mechanism))


OTHERS = [Noise(m.name, dict(m.arguments), m.dtype, m.dim) for m in MECHANISMS]
EVERY = list({str(noise): noise for noise in [*map(_noise, CORE_MECHANISMS), *OTHERS]}.values())
"""The noise that `make bench` draws in bulk: every class of the registry at least once."""

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
    "TruncatedStaircase": {"eps": 1.0, "delta": 1e-6},
    "TruncatedDiscreteStaircase": {"eps": 1.0, "delta": 1e-6, "sensitivity": 10},
    "DiscreteCanonical": {"eps": 1.0, "delta": 1e-6},
    "MergedLaplace": {"eps": [3.0, 1.0], "breakpoints": [0.5]},
    "LatticeNoise": {"tail_ratio": 0.5, "weights": [1.0, 2.0, 4.0, 2.0, 1.0]},
    "MultivariateStaircase": {"eps": 2.0, "dim": 3},
    "GeneralizedDiscreteLaplace": {"a": 0.5, "beta": 0.25},
    "MultiScaleDiscreteLaplace": {"eps": 4.0, "sensitivity": 10},
    "Arete": {"alpha": 0.3, "theta": 1.0, "lam": 0.3},
    "Skellam": {"mu": 100.0},
    "StaircaseSelection": {"eps": 1.0},
    "ExponentialMechanism": {"eps": 1.0},
    "PermuteAndFlip": {"eps": 1.0},
    "PartitionSelection": {"eps": 1.0, "delta": 1e-6},
}
"""Arguments of a constructor; the first argument changes at each call."""

MICROSECONDS = {"Gaussian": 100, "PartitionSelection": 300}
"""The maximum time of these constructors; the others have a millisecond."""

CHANGED_MECHANISMS = ("DiscreteGaussian", "Gaussian", "PartitionSelection", "PermuteAndFlip", "TruncatedLaplace")
"""Mechanisms whose values are others than those of commit efc073a0."""

CHANGED = re.compile(rf"\b({'|'.join(CHANGED_MECHANISMS)})\(")


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

    return Case(f"constructing {Noise(name, arguments)}, each time another {first}", make, main=True)


# ---------------------------------------------------------------- methods

FUNCTIONS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "sf", "logcdf", "logsf", "norm_cdf", "norm_sf")
QUANTILES = ("ppf", "isf", "norm_ppf", "norm_isf")
OF_SENSITIVITY = {"sensitivity": 1}
"""These methods need a sensitivity if the mechanism was made without one."""

CALLS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    **{name: ((), {}) for name in ("mean", "median", "var", "std", "entropy", "support", "stats", "as_scipy", "pure_eps")},
    **{name: ((), {}) for name in ("expected_norm", "privacy_eps")},
    "moment": ((2,), {}),
    "abs_moment": ((1.0,), {}),
    "interval": ((0.95,), {}),
    # Builds before the first release took 1 - confidence here; 0.5 means the same to all.
    "error_bound": ((0.5,), {}),
    "confidence_interval": ((3.0,), {}),
    "guarantee": ((), OF_SENSITIVITY),
    "privacy_loss": ((), OF_SENSITIVITY),
    "privacy_profile": ((0.5,), OF_SENSITIVITY),
    "rdp": ((2.0,), OF_SENSITIVITY),
    "tradeoff": ((0.1,), OF_SENSITIVITY),
    "release_modulo": ((np.arange(1000), 2**32), {}),
    "compose": ((2,), OF_SENSITIVITY),
    "rho": ((1,), {}),
    "rdp_bound": ((2.0,), {}),
    "for_partitions": ((2,), {}),
    "share": ((10,), {}),
    "eps_for_error": ((1.0, 0.5), {}),
    "from_eps": ((1.0,), {}),
    "from_pmf": (([1.0, 2.0, 1.0],), {}),
    "losses_by_shift": ((0.5,), {}),
}
MADE_FOR_NO_SENSITIVITY = ("Arete", "DiscreteGaussian", "GeneralizedDiscreteLaplace")
OWN_ARGUMENTS: dict[tuple[str, str], tuple[Any, ...]] = {
    ("DiscreteGaussian", "from_eps"): (1.0, 1e-6),
    ("Skellam", "from_eps"): (1.0, 1e-6),
    ("Arete", "from_eps"): (1.0, 1),
    ("GeneralizedDiscreteLaplace", "from_eps"): (1.0, 1),
    ("Arete", "for_partitions"): (1,),
    ("GeneralizedDiscreteLaplace", "for_partitions"): (1,),
    ("LatticeNoise", "for_partitions"): (1,),
}
OWN_OPTIONS = {("Gaussian", "eps_for_error"): {"delta": 1e-6}, ("DiscreteCanonical", "eps_for_error"): {"delta": 1e-6}}
UNTIMED = ("plot", "plot_error", "privacy_map", "sample_chunks")
"""Methods that are not timed: plots would time matplotlib, `sample_chunks` `sample`; the compared build has no `privacy_map`."""


def _points(noise: Noise, function: str, n: int | None) -> Case:
    def make() -> Draw:
        rng, mechanism = np.random.default_rng(1), noise.mechanism()
        if function in QUANTILES:
            x = rng.random(n)
        elif noise.dim > 1 and not function.startswith("norm"):
            x = np.asarray(mechanism.sample(n, rng=sn.SeededRng(1)), np.float64)
        else:
            spread = float(np.max(mechanism.std()))
            x = np.rint(rng.normal(0, spread, n)) if noise.dtype is np.int64 else np.abs(rng.normal(0, spread, n))
        return method_of(noise, function, float(x) if np.ndim(x) == 0 else x)

    return Case(f"{function} of {n or 'one'} point{'s' * bool(n)}, {noise}", make, n or 1, every_tier=False)


def _method(noise: Noise, method: str) -> Case:
    arguments, options = CALLS[method]
    if options is OF_SENSITIVITY and noise.name not in MADE_FOR_NO_SENSITIVITY:
        options = {}
    arguments = OWN_ARGUMENTS.get((noise.name, method), arguments)
    options = OWN_OPTIONS.get((noise.name, method), options)
    return Case(f"{method}, {noise}", lambda: method_of(noise, method, *arguments, **options), every_tier=False)


def _methods() -> Iterator[Case]:
    for noise in TYPICAL.values():
        class_ = getattr(sn, noise.name, None)
        has = partial(hasattr, class_)
        for function in filter(has, (*FUNCTIONS, *QUANTILES)):
            yield _points(noise, function, None)
            yield _points(noise, function, POINTS)
        yield from (_method(noise, name) for name in filter(has, CALLS) if callable(getattr(class_, name)))
        yield Case(f"sample(), {noise}", partial(method_of, noise, "sample"), every_tier=False)
        yield Case(f"release of one value, {noise}", partial(_one_release, noise), every_tier=False)
        yield small(noise, 10 * noise.dim, "release", every_tier=False)


def _one_release(noise: Noise) -> Draw:
    return method_of(noise, "release", [0] * noise.dim if noise.dim > 1 else 5)


def _selections(noise: Noise, candidates: int, rows: int) -> Case:
    def make() -> Draw:
        costs = np.tile(np.linspace(0, 10, candidates), (rows, 1))
        return method_of(noise, "select", costs, SELECTIONS, threads=1)

    row = "one row" if rows == 1 else f"{rows} rows"
    return Case(f"{SELECTIONS} selections from {row} of {candidates} candidates, {noise}", make, SELECTIONS)


def _functions() -> Iterator[Case]:
    costs = np.linspace(0, 10, 1000)
    for name in ("StaircaseSelection", "ExponentialMechanism", "PermuteAndFlip"):
        noise = Noise(name, {"eps": 1.0})
        for method in ("select", "sample", "probabilities", "log_probabilities", "expected_cost"):
            yield Case(
                f"{method} of {costs.size} candidates, {noise}", partial(method_of, noise, method, costs), every_tier=False
            )
        yield from (_selections(noise, n, rows) for n in (10, 1000) for rows in (1, SELECTIONS))
    groups = np.arange(IN_CACHE) % 40
    for eps in (1.0, 0.1):
        noise = Noise("PartitionSelection", {"eps": eps, "delta": 1e-6})
        for method in ("select", "release"):
            call = partial(method_of, noise, method, groups, threads=1)
            yield Case(f"{method} of {groups.size} groups, {noise}", call, groups.size)
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
        "Laplace of NumPy's floats": lambda: sn.Laplace(np.float64(1), np.float64(1)),
        "release of NumPy's float, Laplace": partial(sn.Laplace(1, 1).release, np.float64(1)),
        "release of a list of ten floats, Laplace": partial(sn.Laplace(1, 1).release, [1.0] * 10),
        "constructing Gaussian, the same each time": lambda: sn.Gaussian(1, 1e-6),
        "constructing Gaussian(sigma=2), the same each time": lambda: sn.Gaussian(sigma=2),
        "DiscreteGaussian.from_eps, the same each time": lambda: sn.DiscreteGaussian.from_eps(1, 1e-6),
        "unpickling Gaussian": partial(pickle.loads, pickle.dumps(sn.Gaussian(1, 1e-6))),
        "constructing PartitionSelection and one decision": lambda: sn.PartitionSelection(1, 1e-6).select(30),
        "one decision, PartitionSelection": partial(sn.PartitionSelection(1, 1e-6).select, 30),
        "probability of one count, PartitionSelection": partial(sn.PartitionSelection(1, 1e-6).probability, 30),
        "eps_for_delta of 100 releases, MultiScaleDiscreteLaplace": lambda: (
            sn.MultiScaleDiscreteLaplace(2, 3).compose(100).eps_for_delta(1e-6)
        ),
        "calibrate for 10 releases, Skellam": lambda: sn.calibrate(sn.Skellam, eps=1, delta=1e-6, releases=10),
        "compare for 100 releases": lambda: sn.compare(eps=1, delta=1e-6, releases=100),
    }
    for work, call in calls.items():
        yield Case(work, lambda call=call: call, every_tier=False)  # type: ignore[misc]


# ---------------------------------------------------------------- the rows

IN_CACHE_RELEASES = [released(noise, IN_CACHE, into=into, main=True) for noise in RELEASED for into in (False, True)]
LARGE_RELEASES = [released(noise, LARGE, into=True, main=True) for noise in RELEASED]
SAMPLES = {
    str(noise): bulk(noise, main=True)
    for noise in (*STAIRCASES.values(), *DISCRETE.values(), *LAPLACES.values(), *COUNTINGS.values(), *GAUSSIANS)
}
STRIDED = sampled(STAIRCASES[4.0], lambda: buffer(2 * IN_CACHE)[::2], "sample into out[::2]", main=True)
FORTRAN = sampled(
    STAIRCASES[4.0], lambda: buffer((2000, 2000), order="F"), "sample into a Fortran-ordered 2000 x 2000 array", main=True
)
SAMPLES_INTO = [small(STAIRCASES[4.0], n, "sample", into=True, main=True) for n in (10, 1000)]
RELEASES_INTO = [small(COUNTINGS[1.0], n, "release", into=True, main=True) for n in (10, 1000)]
ONE_RELEASE = Case(f"release(5), {COUNTINGS[1.0]}", partial(_one_release, COUNTINGS[1.0]), main=True)
ONE_CALL = Case("sn.sample(10, eps=1)", lambda: lambda: sn.sample(10, eps=1), main=True)
RESTS = [small(STAIRCASES[4.0], n, "sample", main=True) for n in (63, 100, 1000)]
CONSTRUCTORS = {name: _constructor(name) for name in VARIED}

HALVED = [bulk(noise, main=True) for noise in EVERY if noise.name in ("GeneralizedDiscreteLaplace", "MultiScaleDiscreteLaplace")]
HALVED += [bulk(noise, main=True) for noise in EVERY if noise.name == "Skellam" and noise.arguments["mu"] == 100]
OWN_PARAMETERS = [bulk(noise, main=True) for noise in OWN_VARIANCE]

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
    *HALVED,
    *OWN_PARAMETERS,
    *CONSTRUCTORS.values(),
]


def _others() -> Iterator[Case]:
    for noise in EVERY:
        yield bulk(noise)
        yield released(noise, IN_CACHE, into=True)
    for noise in (STAIRCASES[4.0], LAPLACES[1.0], GAUSSIANS[-1]):
        yield sampled(noise, lambda: buffer(IN_CACHE, np.float32), "sample into float32")
    for noise in (COUNTINGS[1.0], DISCRETE[1.0], GAUSSIANS[1]):
        yield sampled(noise, lambda: buffer(IN_CACHE, np.int32), "sample into int32")
        yield sampled(noise, lambda: buffer(IN_CACHE), "sample into float64")
    eps = np.linspace(0.1, 4, IN_CACHE)
    for noise in (STAIRCASES[4.0], LAPLACES[1.0], COUNTINGS[1.0], DISCRETE[1.0]):
        own = Noise(noise.name, noise.arguments | {"eps": eps}, noise.dtype)
        yield Case(f"constructing {own}", partial(partial, own.mechanism), IN_CACHE, every_tier=False)
        yield bulk(own)
        yield released(own, IN_CACHE, into=True)
    for own in OWN_VARIANCE:
        yield Case(f"constructing {own}", partial(partial, own.mechanism), IN_CACHE, every_tier=False)
        yield bulk(own)
        yield released(own, IN_CACHE, into=True)
    for noise in (STAIRCASES[4.0], LAPLACES[1.0], COUNTINGS[1.0], DISCRETE[1.0], GAUSSIANS[1]):
        for n in (1, 10, 64, 10_000):
            yield small(noise, n, "sample")
    yield from _methods()
    yield from _functions()


CASES: dict[str, Case] = {}
for _case in [*MAIN, *_others()]:
    CASES.setdefault(_case.work, _case)
