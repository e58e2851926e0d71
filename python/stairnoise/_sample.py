"""Noise in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import DTypeLike, NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._law import Cost, Law
from stairnoise._laws.discrete_laplace import DiscreteLaplace
from stairnoise._laws.discrete_staircase import DiscreteStaircase
from stairnoise._laws.laplace import Laplace
from stairnoise._laws.staircase import Staircase
from stairnoise._output import Size
from stairnoise._parameters import RealLike
from stairnoise.rng import Rng

if TYPE_CHECKING:
    from stairnoise._law.alone import Alone
    from stairnoise._laws.multivariate_staircase import MultivariateStaircase

Mechanism = Literal[
    "staircase",
    "discrete_staircase",
    "laplace",
    "discrete_laplace",
    "gaussian",
    "discrete_gaussian",
    "truncated_laplace",
    "merged_laplace",
    "multivariate_staircase",
    "generalized_discrete_laplace",
    "multi_scale_discrete_laplace",
    "arete",
]

LAWS: dict[str, type[Law[Any]]] = {
    "staircase": Staircase,
    "discrete_staircase": DiscreteStaircase,
    "laplace": Laplace,
    "discrete_laplace": DiscreteLaplace,
}
# Classes that are loaded when they are named.
FURTHER_LAWS = {
    "gaussian": "Gaussian",
    "discrete_gaussian": "DiscreteGaussian",
    "truncated_laplace": "TruncatedLaplace",
    "merged_laplace": "MergedLaplace",
    "multivariate_staircase": "MultivariateStaircase",
    "generalized_discrete_laplace": "GeneralizedDiscreteLaplace",
    "multi_scale_discrete_laplace": "MultiScaleDiscreteLaplace",
    "arete": "Arete",
}


def sample(
    n: Size | None,
    eps: RealLike | None = None,
    sensitivity: RealLike | None = None,
    *,
    mechanism: Mechanism = "staircase",
    gamma: Cost | RealLike | None = None,
    r: Cost | RealLike | None = None,
    rng: Rng | None = None,
    out: NDArray[Any] | None = None,
    dtype: DTypeLike | None = None,
    threads: int | None = None,
    **parameters: Any,
) -> Any:
    """Draw noise alone, for study; to protect data use ``release`` of a law.

    Parameters
    ----------
    n : int, tuple of int, or None
        Shape of the output. None: the shape of `out`, or without it that of the parameters. For
        "multivariate_staircase" how many vectors: the output has a last axis of length ``dim`` beside.
    eps : float or array of float
        Privacy parameter ε > 0 of one draw, for the laws that have one.
    sensitivity : float or array of float, default 1
        Largest change of the value that one person can cause, for the laws that have one; an integer for discrete laws.
    mechanism : str, default "staircase"
        Which law: the name of its class in small letters, such as "discrete_laplace" or "gaussian".
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
    **parameters
        Further parameters of the law by the names that its class gives them, such as ``delta`` for "gaussian". Parameters
        of the laws other than the staircases and the Laplace laws are single numbers.

    Returns
    -------
    float, int or ndarray
        A Python scalar when the parameters are scalars and neither `n` nor `out` is given.

    Raises
    ------
    ParameterError, ParameterTypeError
        Nothing has been drawn and `out` is untouched.
    TypeError
        No law has a parameter of that name.

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
    >>> sn.sample(4, mechanism="gaussian", eps=1, delta=1e-6).shape
    (4,)
    >>> sn.sample(4, mechanism="multivariate_staircase", eps=2, dim=3).shape
    (4, 3)
    """
    make, given = _named_law(mechanism, eps=eps, sensitivity=sensitivity, gamma=gamma, r=r, **parameters)
    law = make._for_one_call(given, out) if mechanism in LAWS else make(**given)
    return law._sample(n, rng, out, dtype, threads, size_name="n")


sample.__module__ = "stairnoise"


def make_law(mechanism: str, **parameters: Any) -> Law[Any] | Alone[Any] | MultivariateStaircase:
    """Build the law that `mechanism` names; a parameter of another law is refused, and None is none."""
    law, given = _named_law(mechanism, **parameters)
    return law(**given)  # type: ignore[no-any-return]


def _named_law(mechanism: str, **parameters: Any) -> tuple[Any, dict[str, Any]]:
    """Return the class that `mechanism` names, and what of `parameters` it is to be called with."""
    if not isinstance(mechanism, str):
        raise ParameterTypeError(f"mechanism must be {_names()}, got {received(mechanism)}")
    law = _class(mechanism)
    needed, allowed = _parameters_of(law)
    given = {name: value for name, value in parameters.items() if value is not None}
    for name, value in given.items():
        if name not in allowed:
            _require_known(name)
            raise ParameterError(f"{name} must be left out for the mechanism {mechanism!r}, got {received(value)}")
    # What is missing is the law's to refuse.
    return law, dict.fromkeys(needed) | given


def needed_parameters(mechanism: str) -> tuple[str, ...]:
    """Names of the parameters that the law has no default for."""
    return _parameters_of(_class(mechanism))[0]


def _class(mechanism: str) -> Any:
    if mechanism in LAWS:
        return LAWS[mechanism]
    if mechanism not in FURTHER_LAWS:
        raise ParameterError(f"mechanism must be {_names()}, got {received(mechanism)}")
    from importlib import import_module

    return getattr(import_module("stairnoise"), FURTHER_LAWS[mechanism])


def _parameters_of(law: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the parameters that must be given, and of all."""
    names = law.__init__.__code__.co_varnames[1 : law.__init__.__code__.co_argcount]
    return names[: len(names) - len(law.__init__.__defaults__ or ())], names


def _require_known(name: str) -> None:
    if not any(name in _parameters_of(_class(mechanism))[1] for mechanism in (*LAWS, *FURTHER_LAWS)):
        raise TypeError(f"sample() got an unexpected keyword argument {name!r}")


def _names() -> str:
    *names, last = map(repr, (*LAWS, *FURTHER_LAWS))
    return f"{', '.join(names)} or {last}"
