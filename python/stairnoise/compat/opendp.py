"""A mechanism as a measurement of OpenDP.

OpenDP derives the sensitivity, composes, and counts the budget; the noise is this package's. The measurement is made by
``make_user_measurement``, so enable OpenDP's features ``"contrib"`` and ``"honest-but-curious"``. Register the constructor
once to use it in a ``Context``:

>>> import opendp.prelude as dp  # doctest: +SKIP
>>> import stairnoise as sn  # doctest: +SKIP
>>> from stairnoise.compat.opendp import measurement  # doctest: +SKIP
>>> dp.enable_features("contrib", "honest-but-curious")  # doctest: +SKIP
>>> dp.register(measurement, "stairnoise")  # doctest: +SKIP
>>> context.query().clamp((0, 100)).sum().stairnoise(sn.DiscreteStaircase(2, 100)).release()  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stairnoise._errors import ParameterError, ParameterTypeError, outline
from stairnoise._optional import require
from stairnoise.mechanism.additive import AdditiveMechanism
from stairnoise.mechanism.guarantee import MOST_PARTITIONS

if TYPE_CHECKING:
    from stairnoise.mechanisms.multivariate_staircase.mechanism import MultivariateStaircase

__all__ = ["measurement"]

_INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32")
_FLOATS = ("f32", "f64")
_DISTANCES = {"l1": "L1Distance", "l2": "L2Distance", "linf": "LInfDistance"}


def measurement(input_domain: Any, input_metric: Any, mechanism: AdditiveMechanism[Any, Any, Any] | MultivariateStaircase) -> Any:
    """Return a measurement that releases a number or a vector with a mechanism's noise.

    Its privacy map is `stairnoise.AdditiveMechanism.privacy_map`, which is rounded up and includes the rounding of values to the
    mechanism's lattice. It depends on the noise alone: OpenDP has the sensitivity, and the mechanism's own does not limit it.

    OpenDP cannot check a user's measurement, which it calls "honest but curious": that the map is true of the release is proven
    by this package, not by OpenDP. The release draws from the secure generator of the process.

    Parameters
    ----------
    input_domain : opendp.Domain
        ``dp.atom_domain``, or ``dp.vector_domain`` of it, of integers or of floats without nan. A vector of floats has a size,
        because each of its values is rounded.
    input_metric : opendp.Metric
        ``dp.absolute_distance`` for a number. For a vector ``dp.l2_distance`` if the mechanism is a `Gaussian`,
        `DiscreteGaussian` or `Skellam`, the distance of its own norm if it is a `MultivariateStaircase`, and
        ``dp.l1_distance`` otherwise.
    mechanism : AdditiveMechanism or MultivariateStaircase
        If it draws integers, the domain is of integers. A `Skellam` has the δ given to `from_eps`.

    Returns
    -------
    opendp.Measurement
        The output measure is ``zero_concentrated_divergence`` for the ρ of `Gaussian` and `DiscreteGaussian`, ``max_divergence``
        for a mechanism with an ε alone, and ``approximate(max_divergence)`` for one with a δ. The output is float, or int if the
        mechanism draws integers, or a list of them.

    Raises
    ------
    ParameterTypeError
        The mechanism has no `privacy_map`, or draws integers for a domain of floats.
    ParameterError
        The domain or the metric is another one, or the mechanism has array parameters.
    opendp.mod.OpenDPException
        A feature is not enabled, or domain and metric do not fit together.

    Examples
    --------
    >>> space = dp.atom_domain(T=int), dp.absolute_distance(T=int)  # doctest: +SKIP
    >>> measurement(*space, sn.DiscreteLaplace(0.5)).map(2)  # doctest: +SKIP
    1.0
    """
    if not hasattr(type(mechanism), "privacy_map"):
        raise ParameterTypeError(f"mechanism must add noise to numbers, got {outline(mechanism)}")
    dp = require("opendp.prelude", "measurement needs", "opendp")
    vector, kind, size = _space(input_domain)
    integers = kind in _INTEGERS
    if mechanism._integers and not integers:
        raise ParameterTypeError(f"input_domain must have integers for a {type(mechanism).__name__}, got {input_domain}")

    values: dict[str, Any] = {"integers": integers}
    if not mechanism._value_shape:
        values["size"] = size
    elif not vector or mechanism._value_shape != (size,):
        raise ParameterError(f"input_domain must have vectors of size {mechanism._value_shape[0]}, got {input_domain}")

    def cost(d_in: Any) -> Any:
        return mechanism.privacy_map(d_in, **values)

    promise = cost(1)
    origin = _DISTANCES[mechanism._change_norm] if vector else "AbsoluteDistance"
    # OpenDP writes one of them with its module.
    if str(getattr(input_metric.type, "origin", None)).rpartition("::")[2] != origin:
        raise ParameterError(f"input_metric must be an {origin} for a {type(mechanism).__name__}, got {input_metric}")

    if promise.rho is not None:
        measure, spent = dp.zero_concentrated_divergence(), lambda d_in: cost(d_in).rho
    elif promise.delta == 0:
        measure, spent = dp.max_divergence(), lambda d_in: cost(d_in).eps
    else:
        measure, spent = dp.approximate(dp.max_divergence()), lambda d_in: (cost(d_in).eps, cost(d_in).delta)

    dtype, drawn = (np.int64 if integers else np.float64), "i64" if mechanism._integers else "f64"
    limit = min(2.0**125 * mechanism.granularity, 2.0**62 if integers else np.finfo(np.float64).max)

    def release(answer: Any) -> Any:
        # OpenDP's numbers may be infinite, or larger than a release takes. Clipping them moves no two answers apart.
        inside = np.asarray(answer, dtype).clip(dtype(-limit), dtype(limit))
        return np.asarray(mechanism.release(inside)).tolist()

    # What the mechanism refuses to release, it refuses before there is data.
    mechanism.release(np.zeros(mechanism._value_shape, dtype))
    return dp.m.make_user_measurement(
        input_domain, input_metric, measure, release, spent, TO=f"Vec<{drawn}>" if vector else drawn
    )


def _space(domain: Any) -> tuple[bool, str, int]:
    """Return whether a domain has vectors, its kind of number, and how many numbers there are at most."""
    element = getattr(domain, "element_domain", domain)
    vector, kind = element is not domain, str(getattr(element, "carrier_type", None))
    if kind not in (*_INTEGERS, *_FLOATS) or str(element.type) != f"AtomDomain<{kind}>" or element.nan:
        raise ParameterError(f"input_domain must be an atom domain of integers or of floats without nan, got {domain}")
    size = domain.size if vector else 1
    if size is None and kind in _FLOATS:
        raise ParameterError(f"input_domain must have a size for floats, got {domain}")
    return vector, kind, MOST_PARTITIONS if size is None else size
