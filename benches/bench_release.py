"""The release of many answers, beside other packages that release, and on several threads."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from benches import ours
from benches.mechanisms import CoreMechanism, discrete_laplace, laplace, staircase
from benches.peers import reason_absent
from benches.timing import BULK, IN_CACHE, Draw, Run, fill, side_by_side

ONE_BY_ONE = 10**4
"""The number of answers for a package that takes one at a call, or a list."""

COUNTS, NUMBERS = discrete_laplace(1), laplace(1)
MECHANISMS = (COUNTS, staircase(4), NUMBERS)
SIZES = (BULK, min(BULK, IN_CACHE))
NOISE = "noise alone"
GRID = 2.0**-20
"""NumPy's answers are rounded to multiples of this."""


def work(mechanism: CoreMechanism) -> str:
    return f"release of {np.dtype(ours.dtype(mechanism)).name}, {mechanism.work}"


def answers(mechanism: CoreMechanism, n: int) -> NDArray[Any]:
    """Return true answers, whole numbers below a thousand."""
    return (np.arange(n) % 1000).astype(ours.dtype(mechanism))


def mine(mechanism: CoreMechanism, n: int, **threads: int) -> Run:
    """Return stairnoise's release into an existing array."""
    d, values, out = ours.distribution(mechanism), answers(mechanism, n), np.zeros(n, ours.dtype(mechanism))
    return Run(lambda: d.release(values, out=out, **threads), n)


@dataclass(frozen=True)
class Releasing:
    """Another package's release."""

    name: str
    make: Callable[[CoreMechanism, int], Draw]
    package: str = "numpy"
    most: int = BULK
    exact: bool = True
    """Whether its noise has the mechanism's distribution; rounded noise has only about its spread."""
    note: str = ""
    secure: bool = False
    """Whether it releases by an exact mechanism with a secure generator, as stairnoise does."""


def _numpy(mechanism: CoreMechanism, n: int) -> Draw:
    """Round and add: Laplace noise rounded for counts, answers rounded to a grid for numbers."""
    rng, values, scale = np.random.default_rng(1), answers(mechanism, n), mechanism.sensitivity / mechanism.eps
    out = np.zeros_like(values)
    if mechanism.discrete:

        def count() -> NDArray[Any]:
            noise = rng.laplace(0, scale, n)
            return np.add(values, np.rint(noise, out=noise), out=out, casting="unsafe")

        return count

    def number() -> NDArray[Any]:
        np.rint(np.divide(values, GRID, out=out), out=out)
        np.multiply(out, GRID, out=out)
        return np.add(out, rng.laplace(0, scale, n), out=out)

    return number


def _opendp(mechanism: CoreMechanism, n: int) -> Draw:
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    atom = dp.atom_domain(T=int) if mechanism.discrete else dp.atom_domain(T=float, nan=False)
    metric = dp.l1_distance(T=int if mechanism.discrete else float)
    measurement = dp.m.make_laplace(dp.vector_domain(atom), metric, scale=mechanism.sensitivity / mechanism.eps)
    values = answers(mechanism, n).tolist()
    return lambda: measurement(values)


def _diffprivlib(made: CoreMechanism, n: int) -> Draw:
    mechanisms = importlib.import_module("diffprivlib.mechanisms")
    mechanism: Any = (mechanisms.Geometric if made.discrete else mechanisms.Laplace)(
        epsilon=made.eps, sensitivity=made.sensitivity
    )
    values = answers(made, n).tolist()
    return lambda: [mechanism.randomise(value) for value in values]


def _pydp(made: CoreMechanism, n: int) -> Draw:
    module = importlib.import_module("pydp.algorithms.numerical_mechanisms")
    mechanism = module.LaplaceMechanism(epsilon=made.eps, sensitivity=made.sensitivity)
    values = answers(made, n).tolist()
    return lambda: [mechanism.add_noise(value) for value in values]


OTHERS = (
    Releasing("NumPy, round + add", _numpy, exact=False, note="64-bit floats, not a secure generator; allocates the noise"),
    Releasing("OpenDP laplace", _opendp, "opendp", ONE_BY_ONE, note="exact and secure; lists", secure=True),
    Releasing("diffprivlib", _diffprivlib, "diffprivlib", ONE_BY_ONE, note="secure generator, 64-bit floats; one call per value"),
    Releasing("PyDP", _pydp, "pydp", ONE_BY_ONE, exact=False, note="secure generator, on a grid; one call per value"),
)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=work)
@pytest.mark.parametrize("n", SIZES)
def bench_release(benchmark: Any, mechanism: CoreMechanism, n: int) -> None:
    """Time stairnoise's release beside its noise alone; the difference is the cost of the addition."""
    run = mine(mechanism, n, **one_thread())
    beside = {"fill": fill(n), NOISE: ours.bulk(mechanism, n)}
    drawn = side_by_side(benchmark, "release", work(mechanism), "stairnoise", run, beside)
    mechanism.check(np.asarray(drawn) - answers(mechanism, n))


def one_thread() -> dict[str, int]:
    """Return the keyword for one thread, if this build's release has it."""
    return {"threads": 1} if ours.releases_on_threads() else {}


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=work)
@pytest.mark.parametrize("threads", range(2, ours.cores() + 1))
def bench_threads(benchmark: Any, mechanism: CoreMechanism, threads: int) -> None:
    """Time a release on several threads, with one thread between its rounds."""
    if not ours.releases_on_threads():
        pytest.skip("absent: this stairnoise's release has no threads=")
    run, beside = mine(mechanism, BULK, threads=threads), {"fill": fill(), work(mechanism): mine(mechanism, BULK, threads=1)}
    drawn = side_by_side(benchmark, "release", work(mechanism), f"stairnoise, {threads} threads", run, beside)
    mechanism.check(np.asarray(drawn) - answers(mechanism, BULK))


OTHER_CASES = [
    pytest.param(mechanism, other, n, id=f"{work(mechanism)}-{other.name}-{n}")
    for mechanism in (COUNTS, NUMBERS)
    for other in OTHERS
    for n in dict.fromkeys(min(n, other.most) for n in SIZES)
]


@pytest.mark.parametrize(("mechanism", "other", "n"), OTHER_CASES)
def bench_other(benchmark: Any, mechanism: CoreMechanism, other: Releasing, n: int) -> None:
    """Time another package's release of the same answers."""
    if reason := reason_absent(other.package):
        pytest.skip(f"peer absent: {reason}")
    size = BULK if n == other.most < BULK else n  # a package for single answers runs at its own size, stairnoise in bulk
    beside = {"fill": fill(size), work(mechanism): mine(mechanism, size, **one_thread())}
    drawn = side_by_side(benchmark, "release", work(mechanism), other.name, Run(other.make(mechanism, n), n), beside)
    noise = np.asarray(drawn, np.float64) - answers(mechanism, n)
    if other.exact:
        mechanism.check(noise)
    else:
        assert noise.std() == pytest.approx(math.sqrt(mechanism.second_moment), rel=0.15)
