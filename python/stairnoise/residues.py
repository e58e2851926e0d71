"""Sums modulo m: `centered_residue` reads what secure aggregation returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterTypeError, got
from stairnoise._parameters import RealLike, number_array
from stairnoise.mechanism.discrete import checked_modulus

if TYPE_CHECKING:
    from stairnoise._types import Integer, Integers

__all__ = ["centered_residue"]

_WRAP = 2**64


@overload
def centered_residue(values: Integer, modulus: int) -> int: ...
@overload
def centered_residue(values: Integers, modulus: int) -> NDArray[np.int64]: ...
def centered_residue(values: RealLike, modulus: int) -> Any:
    """Return the integer nearest to 0 that is equal to each value modulo m: it reads a sum modulo m.

    A sum of noisy answers of `release_modulo` is read correctly if it is at least -m/2 and less than m/2. Otherwise the
    result is off by a multiple of m. Papers on secure aggregation call this map modular clipping [1]_.

    Parameters
    ----------
    values : int or array of int
        Sums, reduced modulo m or not. They are reduced first.
    modulus : int
        The modulus m, from 2 to 2**64.

    Returns
    -------
    int or ndarray of int64
        From ``-(m // 2)`` to ``(m - 1) // 2``. For an even m, m/2 becomes -m/2.

    Raises
    ------
    ParameterTypeError
        A value or the modulus is not an integer. Floats are refused, because they may have been rounded.
    ParameterError
        The modulus is out of range.

    Notes
    -----
    Sums of uint64 arrays in NumPy wrap at 2**64. That is right for moduli that divide 2**64, and for sums below 2**64. For
    any other modulus add ``(total + residues) % m``, which is exact in uint64 for a modulus up to 2**63.

    References
    ----------
    .. [1] Kairouz, Liu and Steinke, "The Distributed Discrete Gaussian Mechanism for Federated Learning with Secure
       Aggregation", ICML 2021, arXiv:2102.06387.

    Examples
    --------
    >>> import numpy as np
    >>> import stairnoise as sn
    >>> sn.centered_residue([0, 1, 3, 4, 6], 7)
    array([ 0,  1,  3, -3, -1])
    >>> residues = np.array([[5, 2**32 - 7], [1, 2]], np.uint64)
    >>> sn.centered_residue(residues.sum(axis=0), 2**32)
    array([ 6, -5])
    """
    m = checked_modulus(modulus)
    array = number_array(values, "values")
    if array.dtype.kind == "f":
        raise ParameterTypeError(f"values must be integers, got {got('values', values, array)}")
    residues = _residues(array, m)
    # In two's complement a result that wraps modulo 2**64 is right as int64.
    above = residues > np.uint64((m - 1) // 2)
    centered = np.subtract(residues, np.uint64(m % _WRAP), out=residues, where=above).view(np.int64)
    return centered if centered.ndim else centered.item()


def _residues(array: NDArray[Any], m: int) -> NDArray[np.uint64]:
    """Return the values modulo m in a new array."""
    if array.dtype.kind == "O":
        return np.array([int(value) % m for value in array.flat], np.uint64).reshape(array.shape)
    if array.dtype.kind == "u":
        residues = array.astype(np.uint64)
        return residues if m == _WRAP else np.asarray(residues % np.uint64(m))
    integers = array.astype(np.int64)
    if m < 2**63:
        return np.asarray(integers % np.int64(m)).view(np.uint64)
    # Adding m once brings each of them into range.
    residues = integers.view(np.uint64)
    np.add(residues, np.uint64(m % _WRAP), out=residues, where=integers < 0)
    return residues


centered_residue.__module__ = "stairnoise"
