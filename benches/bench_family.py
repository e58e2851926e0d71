"""The mechanisms other than the four core ones, in bulk; the discrete Gaussian distribution beside its peers."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stairnoise as sn
from benches.family import DISCRETE_GAUSSIANS, MECHANISMS, Mechanism
from benches.peers import reason_absent
from benches.timing import BULK, Draw, Run, fill, side_by_side

VECTORS = BULK // 10
OPENDP_VALUES = 1000


def ours(mechanism: Mechanism) -> Run:
    """Return stairnoise filling an existing array, on one thread."""
    made: Any = getattr(sn, mechanism.name)(**mechanism.arguments)
    if mechanism.dim > 1:
        vectors = np.zeros((VECTORS, mechanism.dim))
        return Run(lambda: made.sample(out=vectors, threads=1), vectors.size)
    out = np.zeros(BULK, mechanism.dtype)
    return Run(lambda: made.sample(out=out, threads=1), BULK)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.work)
def bench_mechanism(benchmark: Any, mechanism: Mechanism) -> None:
    """Time one mechanism, per coordinate if it draws vectors, and check its draws."""
    drawn = side_by_side(benchmark, "family", mechanism.work, "stairnoise", ours(mechanism), {"fill": fill()})
    mechanism.check(np.asarray(drawn))


def _numpy_rounded(sigma2: float) -> Run:
    rng, sigma = np.random.default_rng(1), math.sqrt(sigma2)
    noise, out = np.zeros(BULK), np.zeros(BULK, np.int64)

    def draw() -> NDArray[np.int64]:
        rng.standard_normal(out=noise)
        np.multiply(noise, sigma, out=noise)
        np.copyto(out, np.rint(noise, out=noise), casting="unsafe")
        return out

    return Run(draw, BULK)


def _opendp(sigma2: float) -> Run:
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    measurement = dp.m.make_gaussian(*space, scale=math.sqrt(sigma2))
    draw: Draw = lambda: measurement([0] * OPENDP_VALUES)  # noqa: E731
    return Run(draw, OPENDP_VALUES)


@pytest.mark.parametrize("mechanism", DISCRETE_GAUSSIANS, ids=lambda mechanism: mechanism.work)
@pytest.mark.parametrize("peer", ["NumPy normal, rounded", "OpenDP gaussian, integers"])
def bench_discrete_gaussian_peer(benchmark: Any, mechanism: Mechanism, peer: str) -> None:
    """Time other ways to draw such integers: rounded normal noise, which is another mechanism, and OpenDP's exact one."""
    opendp = peer.startswith("OpenDP")
    if opendp and (reason := reason_absent("opendp")):
        pytest.skip(f"peer absent: {reason}")
    run = (_opendp if opendp else _numpy_rounded)(mechanism.arguments["sigma2"])
    beside = {"fill": fill(), mechanism.work: ours(mechanism)}
    drawn = np.asarray(side_by_side(benchmark, "family", mechanism.work, peer, run, beside))
    if opendp:
        mechanism.check(drawn)
    else:
        assert drawn.std() == pytest.approx(math.sqrt(mechanism.second), rel=0.1)
