"""Noise in one call."""

from __future__ import annotations

from typing import Any, Literal

from numpy.typing import DTypeLike, NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._law import Cost, Law
from stairnoise._output import Size
from stairnoise._parameters import RealLike
from stairnoise.discrete_laplace import DiscreteLaplace
from stairnoise.discrete_staircase import DiscreteStaircase
from stairnoise.laplace import Laplace
from stairnoise.rng import Rng
from stairnoise.staircase import Staircase

Mechanism = Literal["staircase", "discrete_staircase", "laplace", "discrete_laplace"]

LAWS: dict[str, type[Law[Any]]] = {
    "staircase": Staircase,
    "discrete_staircase": DiscreteStaircase,
    "laplace": Laplace,
    "discrete_laplace": DiscreteLaplace,
}


def sample(
    n: Size | None,
    eps: RealLike,
    sensitivity: RealLike = 1,
    *,
    mechanism: Mechanism = "staircase",
    gamma: Cost | RealLike | None = None,
    r: Cost | RealLike | None = None,
    rng: Rng | None = None,
    out: NDArray[Any] | None = None,
    dtype: DTypeLike | None = None,
    threads: int | None = None,
) -> Any:
    """Draw noise alone, for study; to protect data use ``release`` of a law.

    Parameters
    ----------
    n : int, tuple of int, or None
        Shape of the output. None: the shape of `out`, or without it that of the parameters.
    eps : float or array of float
        Privacy parameter ε > 0 of one draw.
    sensitivity : float or array of float, default 1
        Largest change of the value that one person can cause; an integer for discrete laws.
    mechanism : {"staircase", "discrete_staircase", "laplace", "discrete_laplace"}
        Which law.
    gamma : {"l1", "l2"}, float or array of float
        Shape of the staircase, and only of it. Default "l1".
    r : {"l1", "l2"}, int or array of int
        Shape of the discrete staircase, and only of it. Default "l1".
    rng : SecureRng, SeededRng or None
        None: one secure generator for the whole process.
    out : ndarray or None
        Writable array to fill and return.
    dtype : dtype or None
        float64 (default) or float32 for continuous laws; int64 (default), int32 (saturating) or
        float64 for discrete ones.
    threads : int or None
        How many threads fill a long output; see ``sample`` of a law.

    Returns
    -------
    float, int or ndarray
        A Python scalar when the parameters are scalars and neither `n` nor `out` is given.

    Raises
    ------
    ParameterError, ParameterTypeError
        Nothing has been drawn and `out` is untouched.

    Examples
    --------
    >>> import numpy as np
    >>> import stairnoise as sn
    >>> sn.sample(5, eps=4).shape
    (5,)
    >>> eps = np.linspace(0.1, 4, 50)
    >>> noise = sn.sample((1000, 50), eps, mechanism="discrete_staircase", sensitivity=3)
    >>> noise.shape, noise.dtype.name
    ((1000, 50), 'int64')
    """
    law = make_law(mechanism, eps, sensitivity, gamma=gamma, r=r)
    return law._sample(n, rng, out, dtype, threads, size_name="n")


sample.__module__ = "stairnoise"


def make_law(
    mechanism: str,
    eps: RealLike,
    sensitivity: RealLike = 1,
    *,
    gamma: Cost | RealLike | None = None,
    r: Cost | RealLike | None = None,
) -> Law[Any]:
    """Build the law that `mechanism` names; a shape parameter of another law is refused."""
    if not isinstance(mechanism, str):
        raise ParameterTypeError(f"mechanism must be {_names()}, got {received(mechanism)}")
    if mechanism not in LAWS:
        raise ParameterError(f"mechanism must be {_names()}, got {received(mechanism)}")
    law = LAWS[mechanism]
    shapes = {"gamma": gamma, "r": r}
    given = {name: shape for name, shape in shapes.items() if shape is not None}
    for name in given:
        if name != law._spec_name:
            raise ParameterError(f"{name} must be left out for the mechanism {mechanism!r}, got {received(given[name])}")
    return law(eps, sensitivity, **given)  # type: ignore[call-arg]


def _names() -> str:
    *names, last = map(repr, LAWS)
    return f"{', '.join(names)} or {last}"
