"""stairnoise's calls, ready to be timed, and features that this build lacks."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

import numpy as np

import stairnoise as sn
from benches.mechanisms import CoreMechanism
from benches.timing import Draw, Run

CLASSES: dict[str, Callable[..., Any]] = {
    "staircase": sn.Staircase,
    "laplace": sn.Laplace,
    "discrete_laplace": sn.DiscreteLaplace,
    "discrete_staircase": sn.DiscreteStaircase,
}


def distribution(mechanism: CoreMechanism) -> Any:
    """Return stairnoise's object for `mechanism`."""
    shape = {"r": mechanism.cost} if mechanism.mechanism == "discrete_staircase" else {}
    return CLASSES[mechanism.mechanism](mechanism.eps, mechanism.sensitivity, **shape)


def dtype(mechanism: CoreMechanism) -> type[np.generic]:
    """Return the default dtype of the mechanism's draws."""
    return np.int64 if mechanism.discrete else np.float64


def into(mechanism: CoreMechanism, out: Any, **options: Any) -> Draw:
    """Return a draw that fills `out`."""
    d = distribution(mechanism)
    return lambda: d.sample(out=out, **options)


def bulk(mechanism: CoreMechanism, n: int) -> Run:
    """Return `n` values into an existing array."""
    return Run(into(mechanism, np.zeros(n, dtype=dtype(mechanism))), n)


def threads(count: int) -> dict[str, Any]:
    """Return the keyword for `count` threads; nothing if this build has only one."""
    return {"threads": count} if has_threads() else {}


def has_threads() -> bool:
    """Whether `sample` takes `threads`."""
    return "threads" in inspect.signature(sn.sample).parameters


def releases_on_threads() -> bool:
    """Whether `release` takes `threads`."""
    return "threads" in inspect.signature(sn.Laplace.release).parameters


def cores() -> int:
    """Return how many cores this process can use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def tiers() -> tuple[str, ...]:
    """Return the CPU tiers that can be forced here, slowest first."""
    return tuple(sn.cpu_tiers())


def absent() -> dict[str, str]:
    """Return the measurements that are left out, with the reason."""
    missing = {}
    if not has_threads():
        missing["more than one thread"] = "this stairnoise has no threads="
    elif cores() < 2:
        missing["more than one thread"] = "one core"
    if not releases_on_threads():
        missing["a release on several threads"] = "this stairnoise's release has no threads="
    return missing
