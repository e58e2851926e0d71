"""The mechanisms that are tested, with parameters that take every way through the samplers."""

from __future__ import annotations

from functools import cache
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

import stairnoise as sn
from stairnoise._selftest.events import Floats


class Divided(NamedTuple):
    """A law that is released to people who change `partitions` values each, and the law of that noise."""

    law: Any
    partitions: int
    noise: Any


class Choice(NamedTuple):
    """A mechanism that selects, and the costs of its candidates."""

    mechanism: Any
    costs: Floats


@cache
def laws() -> tuple[Any, ...]:
    """Return laws of numbers: each class, and what its sampler does differently for other parameters."""
    return (
        sn.Staircase(1.0),
        sn.Staircase(6.0, 0.3, "l2"),
        sn.Staircase(0.05, 10.0, 0.25),
        sn.Laplace(1.0),
        sn.Laplace(0.01, 3.0),
        sn.DiscreteStaircase(1.0, 5),
        sn.DiscreteStaircase(0.3, 100, 30),
        sn.DiscreteStaircase(2.0),
        sn.DiscreteLaplace(1.0),
        sn.DiscreteLaplace(0.1, 3),
        sn.Gaussian(1.0, 1e-6),
        sn.DiscreteGaussian(0.25),
        sn.DiscreteGaussian(150.0),
        sn.TruncatedLaplace(1.0, 1e-6),
        sn.TruncatedLaplace(0.5, 1e-3, 1.0, upper=20.0),
        sn.MergedLaplace([0.2, 0.5, 1.0], [1.0, 3.0]),
        sn.GeneralizedDiscreteLaplace(1.5, 0.4),
        sn.GeneralizedDiscreteLaplace(1.5, 0.4).share(10),
        sn.MultiScaleDiscreteLaplace(1.0, 3),
        sn.MultiScaleDiscreteLaplace(1.0, 3).share(5, 4),
        sn.Arete(0.5, 1.0, 0.25),
        sn.Arete(0.5, 1.0, 0.25).share(10),
    )


@cache
def divided() -> tuple[Divided, ...]:
    """Return laws that ``max_partitions_contributed`` widens."""
    return (
        Divided(sn.Staircase(4.0), 4, sn.Staircase(1.0)),
        Divided(sn.Laplace(4.0), 4, sn.Laplace(1.0)),
        Divided(sn.DiscreteStaircase(4.0, 5), 4, sn.DiscreteStaircase(1.0, 5)),
        Divided(sn.DiscreteLaplace(4.0), 4, sn.DiscreteLaplace(1.0)),
        Divided(sn.DiscreteGaussian(8.0), 3, sn.DiscreteGaussian(24.0)),
    )


@cache
def arrays() -> tuple[tuple[Any, tuple[Any, ...]], ...]:
    """Return laws with arrays of parameters, and the laws that their elements are."""
    eps, widths = (0.1, 1.0, 6.0), (1.0, 2.0, 5.0)
    whole = tuple(map(int, widths))
    return (
        (sn.Staircase(eps, widths), tuple(map(sn.Staircase, eps, widths))),
        (sn.Laplace(eps, widths), tuple(map(sn.Laplace, eps, widths))),
        (sn.DiscreteStaircase(eps, whole), tuple(map(sn.DiscreteStaircase, eps, whole))),
        (sn.DiscreteLaplace(eps, whole), tuple(map(sn.DiscreteLaplace, eps, whole))),
    )


@cache
def vectors() -> tuple[Any, ...]:
    """Return laws of vectors: each norm."""
    return (
        sn.MultivariateStaircase(1.0, 1.0, 2, norm="l1"),
        sn.MultivariateStaircase(4.0, 1.0, 3, norm="l1"),
        sn.MultivariateStaircase(1.0, 1.0, 2, norm="l2"),
        sn.MultivariateStaircase(4.0, 1.0, 3, norm="l2"),
        sn.MultivariateStaircase(2.0, 1.0, 3, norm="linf"),
    )


@cache
def choices() -> tuple[Choice, ...]:
    """Return mechanisms that select, with costs on and beside the edges of stairs."""
    costs = np.array([0.0, 0.25, 0.5, 1.0, 1.5, 1.5, 2.25, 4.0])
    many = np.arange(300) % 37 / 8
    return (
        Choice(sn.StaircaseSelection(1.0), costs),
        Choice(sn.StaircaseSelection(2.0, 0.5, 0.25, monotonic=True), costs),
        Choice(sn.StaircaseSelection(0.5), many),
        Choice(sn.ExponentialMechanism(1.0), costs),
        Choice(sn.ExponentialMechanism(2.0, 0.5, monotonic=True), costs),
        Choice(sn.ExponentialMechanism(0.5), many),
    )


def short(law: Any) -> str:
    """Return the law's text without arguments that are left at their defaults."""
    defaults = {name: parameter.default for name, parameter in signature(type(law)).parameters.items()}
    arguments = ((name, _plain(value), defaults[name]) for name, value in law._named_arguments().items())
    given = (f"{name}={_text(value)}" for name, value, default in arguments if value != default)
    return f"{type(law).__name__}({', '.join(given)})"


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _text(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_text, value))}]"
    return repr(int(value) if isinstance(value, float) and value.is_integer() else value)
