"""NumPy's Generator on the words of SecureBitGenerator, beside NumPy's own bit generators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from benches.timing import IN_CACHE, Run, side_by_side

OURS = "SecureBitGenerator"
PEERS: dict[str, Callable[[], Any]] = {"PCG64": lambda: np.random.PCG64(1), "Philox": lambda: np.random.Philox(1)}

Rng = np.random.Generator


def _into(method: str) -> Callable[[Rng], Callable[[], object]]:
    """Return a function that makes the draws of a method with `out`."""

    def draws(rng: Rng) -> Callable[[], object]:
        draw, out = getattr(rng, method), np.empty(IN_CACHE)
        return lambda: draw(out=out)

    return draws


def _mean(mean: float, std: float) -> Callable[[Any], None]:
    """Return a check that the mean of the draws is within 6 standard errors; chance fails it with probability 2e-9."""

    def check(drawn: Any) -> None:
        assert abs(np.mean(drawn) - mean) < 6 * std / np.size(drawn) ** 0.5

    return check


def _is_permutation(drawn: Any) -> None:
    assert np.array_equal(np.sort(drawn), np.arange(IN_CACHE))


def _is_scalar(drawn: Any) -> None:
    assert -10 < drawn < 1000


# For each work: the function that makes its draws, the values of a call, and the check of a call's result.
WORKS: dict[str, tuple[Callable[[Rng], Callable[[], object]], int, Callable[[Any], None]]] = {
    "random(out=)": (_into("random"), IN_CACHE, _mean(1 / 2, 12**-0.5)),
    "standard_normal(out=)": (_into("standard_normal"), IN_CACHE, _mean(0, 1)),
    "standard_exponential(out=)": (_into("standard_exponential"), IN_CACHE, _mean(1, 1)),
    "integers(1000, n)": (lambda rng: lambda: rng.integers(1000, size=IN_CACHE), IN_CACHE, _mean(499.5, 1000 / 12**0.5)),
    "permutation(n)": (lambda rng: lambda: rng.permutation(IN_CACHE), IN_CACHE, _is_permutation),
    "random()": (lambda rng: rng.random, 1, _is_scalar),
    "standard_normal()": (lambda rng: rng.standard_normal, 1, _is_scalar),
    "integers(1000)": (lambda rng: lambda: rng.integers(1000), 1, _is_scalar),
    "random(10)": (lambda rng: lambda: rng.random(10), 10, _mean(1 / 2, 1.0)),
}


def work(name: str) -> str:
    """Return the work's name among those of other benchmarks."""
    return f"Generator.{name}"


@pytest.mark.parametrize("name", WORKS)
def bench_bit_generator(benchmark: Any, name: str) -> None:
    """Time a method of NumPy's Generator on each bit generator, in turns."""
    draws, n, check = WORKS[name]
    beside = {peer: Run(draws(Rng(make())), n) for peer, make in PEERS.items()}
    run = Run(draws(Rng(sn.SecureBitGenerator())), n)
    check(side_by_side(benchmark, "bits", work(name), OURS, run, beside, least=11))
