"""partitions.json: the mechanism of each value where one person changes k of them, and noise drawn from it."""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.oracles import (
    discrete_canonical,
    gaussian,
    infinitely_divisible,
    merged_laplace,
    partitions,
    release,
    segments,
    skellam,
    stream,
    truncated_discrete_staircase,
    truncated_laplace,
    truncated_staircase,
)
from tests.oracles.generate.encoding import decoded, encoded

COUNT = 6
CASES: tuple[tuple[str, list[Any], int], ...] = (
    ("truncated_laplace", [1.0, 1e-6, 1.0, None, None], 2),
    ("truncated_laplace", [1.0, 1e-6, 1.0, None, None], 7),
    ("truncated_laplace", [0.3, 0.1, 2.5, -70.0, None], 3),
    ("truncated_laplace", [2.0, 0.25, 1e-3, None, 0.0125], 5),
    ("truncated_laplace", [4.0, 1e-3, 1.0, -60.0, 50.0], 11),
    ("merged_laplace", [[1.0], [], 1.0], 3),
    ("merged_laplace", [[0.2, 0.25, 1 / 3], [1.0, 3.0], 1.0], 3),
    ("merged_laplace", [[5.0, 0.5, 1.0], [0.4, 1.7], 1.0], 7),
    ("merged_laplace", [[16.0, 4.0], [0.125], 1.0], 2),
    ("merged_laplace", [[16.0, 4.0], [1 / 3], 0.7], 100),
    ("multi_scale_discrete_laplace", [5.0, 3, 1, 1], 3),
    ("multi_scale_discrete_laplace", [5.0, 3, 100, 50], 7),
    ("discrete_gaussian", [100.0], 3),
    ("discrete_gaussian", [0.1], 10),
    ("discrete_gaussian", [2.0**70 + 2.0**20], 2**19 - 1),
    ("discrete_gaussian_from_eps", [20.0, 1e-3, 1], 10),
    ("discrete_gaussian_from_eps", [0.5, 1e-6, 1], 3),
    ("discrete_gaussian_from_eps", [10.0, 1e-12, 1], 10),
    ("discrete_gaussian_from_eps", [1.0, 1e-6, 1], 2),
    ("discrete_gaussian_from_eps", [1.0, 1e-6, 10], 7),
    ("discrete_gaussian_from_eps", [1.0, 1e-9, 1], 100),
    ("discrete_gaussian_from_eps", [8.0, 1e-5, 3], 40),
    ("discrete_gaussian_from_eps", [100.0, 1e-30, 1], 2),
    ("discrete_gaussian_from_eps", [1.0, 1 - 1e-12, 3], 10),
    ("discrete_gaussian_from_eps", [5e-324, 0.3, 1], 100),
    ("discrete_gaussian_from_eps", [1.0, 1e-6, 1], 4096),
    ("discrete_gaussian_from_eps", [1000.0, 1e-6, 1], 4097),
    ("discrete_gaussian_from_eps", [1.0, 1e-6, 1], 2**53 - 1),
    ("truncated_discrete_staircase", [1.0, 1e-6, 10, "l1", None, None], 3),
    ("truncated_discrete_staircase", [4.0, 0.5, 3, 2, 0, None], 7),
    ("truncated_staircase", [2.0, 1e-3, 1.0, "l2", None, None], 2),
    ("truncated_staircase", [8.0, 1e-6, 0.7, 0.125, None, 3.0], 5),
    ("skellam", [100.0, 2, 1, 1], 3),
    ("skellam", [0.1, 1, 7, 2], 10),
    ("skellam_from_eps", [1.0, 1e-6, 1], 1),
    ("skellam_from_eps", [1.0, 1e-6, 1], 10),
    ("skellam_from_eps", [8.0, 1e-3, 3], 2),
    ("skellam_from_eps", [0.5, 0.25, 2], 3),
    ("discrete_canonical", [1.0, 1e-6, 1], 3),
    ("discrete_canonical", [0.1, 0.5, 1], 7),
    ("discrete_canonical", [2.0, 0.0, 1], 2),
)


def entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """Inputs of an entry, completed by the oracle."""
    divided, log2_g, draw = _each(inputs["law"], decoded(inputs["arguments"]), inputs["partitions"])
    key = stream.seed_key(int(inputs["seed"]))
    return inputs | {"each": encoded(divided), "log2_g": log2_g, "values": [draw(key, index) for index in range(inputs["count"])]}


def entries() -> Iterator[dict[str, Any]]:
    for seed, (mechanism, arguments, k) in enumerate(CASES):
        yield entry({"law": mechanism, "arguments": encoded(arguments), "partitions": k, "seed": str(seed), "count": COUNT})


def _each(mechanism: str, arguments: list[Any], k: int) -> tuple[list[Any], int, Any]:
    """Arguments of the mechanism of each value, its lattice, and the noise at an index of fill 0."""
    if mechanism == "truncated_laplace":
        divided = [*partitions.truncated(arguments[0], arguments[1], k), *arguments[2:]]
        where, ends = truncated_laplace.mechanism(*divided)
        return divided, where.log2_g, lambda key, index: truncated_laplace.value(ends, key, 0, index)
    if mechanism == "discrete_canonical":
        divided = [*partitions.truncated(arguments[0], arguments[1], k), *arguments[2:]]
        _, canonical = discrete_canonical.mechanism(*divided)
        return divided, 0, lambda key, index: discrete_canonical.value(canonical, key, 0, index)
    if mechanism.startswith("truncated"):
        divided = [*partitions.truncated(arguments[0], arguments[1], k), *arguments[2:]]
        oracle = truncated_discrete_staircase if "discrete" in mechanism else truncated_staircase
        where, stairs = oracle.mechanism(*divided)
        return divided, where.log2_g, lambda key, index: oracle.value(stairs, key, 0, index)
    if mechanism == "merged_laplace":
        divided = [partitions.merged(*arguments, k), *arguments[1:]]
        where, found = merged_laplace.mechanism(*divided)
        return divided, where.log2_g, lambda key, index: segments.value(found, key, 0, index)
    if mechanism == "multi_scale_discrete_laplace":
        eps, sensitivity, n, present = arguments
        share, divided = Fraction(present, n), [release.share(eps, k), *arguments[1:]]
        return divided, 0, lambda key, index: infinitely_divisible.multi_scale(divided[0], sensitivity, share, key, 0, index)
    if mechanism.startswith("skellam"):
        calibrated = mechanism.endswith("from_eps")
        mu = partitions.skellam_mu(*arguments, k) if calibrated else _above(Fraction(arguments[0]) * k)
        divided = [mu, arguments[2], 1, 1] if calibrated else [mu, *arguments[1:]]
        _, terms = skellam.mechanism(*divided)
        return divided, 0, lambda key, index: skellam.value(terms, key, 0, index)
    sigma2 = partitions.gaussian_sigma2(*arguments, k) if mechanism.endswith("from_eps") else _above(Fraction(arguments[0]) * k)
    return [sigma2], 0, lambda key, index: gaussian.at(sigma2, key, 0, index).value


def _above(exact: Fraction) -> float:
    """Return the smallest float64 that is not below an exact number."""
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)
