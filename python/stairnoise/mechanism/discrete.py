"""The base class of mechanisms of integers."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, ParameterTypeError, got
from stairnoise._options import ModuloOptions, Unpack
from stairnoise._output import released_array
from stairnoise._parameters import Real, RealLike, count, laid_out, refuse, true_values
from stairnoise._types import Float, Floats, Integer, Integers, Memory, Out, Whole, number_or_array
from stairnoise.mechanism import cost
from stairnoise.mechanism.additive import AdditiveMechanism
from stairnoise.mechanism.drawing import threads_asked
from stairnoise.mechanism.guarantee import NAME
from stairnoise.rng import Rng, release_stream

_LARGEST_INT64 = 2**63 - 1
# Dtypes of residues, and the largest modulus of each.
_MODULI = {"uint64": 2**64, "int64": 2**63, "uint32": 2**32}


def checked_modulus(modulus: object) -> int:
    """Check a modulus."""
    return count(modulus, "modulus", least=2, most=2**64)


class DiscreteMechanism(AdditiveMechanism[np.int64, Whole, Float]):
    """A mechanism of integers."""

    __slots__ = ()
    _integers = True
    _dtypes = ("int64", "int32", "float64")
    _release_dtypes = ("int64", "int32", "float64", "float32")

    @number_or_array
    def pmf(self, k: RealLike) -> Float | Floats:
        """Probability of the integer k; 0 if k is not an integer.

        Parameters
        ----------
        k : int, float or array of them
            Any number; broadcasts against the parameters.

        Returns
        -------
        float or ndarray of float64
        """
        return self._apply("pmf", k, "k")

    @number_or_array
    def logpmf(self, k: RealLike) -> Float | Floats:
        """Natural logarithm of `pmf`, finite where `pmf` underflows; -inf if k is not an integer."""
        return self._apply("logpmf", k, "k")

    @property
    def granularity(self) -> int:
        """Lattice step, which is 1: draws are integers."""
        return 1

    @overload
    def release_modulo(self, values: RealLike, modulus: int, *, out: Out, **options: Unpack[ModuloOptions]) -> Out: ...
    @overload
    def release_modulo(self, values: Integer, modulus: int, *, out: None = None, **options: Unpack[ModuloOptions]) -> int: ...
    @overload
    def release_modulo(
        self, values: Integers, modulus: int, *, out: None = None, **options: Unpack[ModuloOptions]
    ) -> NDArray[np.uint64]: ...
    @overload
    def release_modulo(
        self, values: RealLike, modulus: int, *, out: None = None, **options: Unpack[ModuloOptions]
    ) -> int | NDArray[np.uint64]: ...
    def release_modulo(
        self,
        values: RealLike,
        modulus: int,
        *,
        max_partitions_contributed: int = 1,
        rng: Rng | None = None,
        out: Memory | None = None,
        threads: int | None = None,
    ) -> Any:
        """Add noise to true answers and return the sums modulo m, as secure aggregation adds them up.

        Each result is (answer + noise) mod m, from 0 to m - 1. The sum is exact: unlike that of `release` it does not
        saturate at the ends of int64. So the results of several parties add up modulo m to the sum of their answers and
        of all their noise, modulo m. `centered_residue` reads that sum.

        The guarantee is that of `release`, because a residue is a function of the noisy answer [1]_. Neighbouring
        answers are compared as integers: reduction modulo m never makes their difference larger. For a mechanism of
        `share` the guarantee is that of the sum of all shares. One party's own residue is almost unprotected.

        Parameters
        ----------
        values : int, or array of int
            True answers, within int64. Floats are refused even if they are whole: round them first, so that the
            sensitivity of the sum is known. Columns are read as arrays.
        modulus : int
            The modulus m of the protocol, from 2 to 2**64.
        max_partitions_contributed : int, default 1
            How many of the values one person can change, as in `release`.
        rng : SecureRng or None
            None: one secure generator for the whole process. A SeededRng is refused unless it was made with
            ``allow_release=True``.
        out : ndarray or other writable memory, or None
            Array to fill and return, or memory as for `sample`; it may be `values` itself. Its dtype is uint64; or
            int64 for a modulus up to 2**63; or uint32 for one up to 2**32.
        threads : int or None
            How many threads release a long array, as in `sample`. The results do not depend on it.

        Returns
        -------
        int or ndarray of uint64
            In the shape of `values`; `out` if it was given. A zero-dimensional result is a Python int.

        Raises
        ------
        ParameterTypeError
            A value is not an integer, or an argument has a wrong type.
        ParameterError
            A value is outside int64, or an argument is not allowed. Or the mechanism has array parameters, or a
            granularity other than 1. Nothing has been drawn and `out` is untouched.

        Notes
        -----
        A total can be read if its magnitude, noise included, is below m/2. Let true totals be at most B in magnitude, and
        ``whole`` be the mechanism of all shares together. Then the modulus ``2 * (B + whole.error_bound(confidence)) + 1``, or
        a larger modulus, misreads a total with a probability of at most 1 - confidence.

        References
        ----------
        .. [1] Dwork and Roth, "The Algorithmic Foundations of Differential Privacy", 2014, proposition 2.1
           (post-processing).
        .. [2] Kairouz, Liu and Steinke, "The Distributed Discrete Gaussian Mechanism for Federated Learning with Secure
           Aggregation", ICML 2021, arXiv:2102.06387.

        Examples
        --------
        >>> import stairnoise as sn
        >>> whole = sn.Skellam.from_eps(eps=1, delta=1e-6)
        >>> party = whole.share(n_parties=100)
        >>> m = 2**32
        >>> residues = [party.release_modulo(answer, m) for answer in range(100)]
        >>> total = sn.centered_residue(sum(residues), m)
        >>> abs(total - sum(range(100))) < whole.error_bound(1 - 1e-12)
        True
        """
        stream = release_stream(rng)
        m, workers = checked_modulus(modulus), threads_asked(threads)
        wider = self._keeping_guarantee(max_partitions_contributed, NAME)
        if self._parameter_shape:
            raise ParameterError(
                f"release_modulo must have a mechanism of single parameters, got parameters of shape {self._parameter_shape}"
            )
        if not self._integers:
            refuse("granularity", wider._sampler.granularity, False, "1 for release_modulo")
        answers, _ = true_values(values)
        if answers.dtype.kind != "i":
            raise ParameterTypeError(f"values must be integers, got {got('values', values, answers)}")
        allowed = tuple(dtype for dtype, most in _MODULI.items() if m <= most)
        residues = released_array(answers.shape, out, "uint64", allowed)
        if out is not None:
            answers = laid_out(answers, residues)
        wider._sampler.release_modulo(stream, answers, m - 1, residues, workers)
        if out is not None:
            return out
        return residues.item() if residues.shape == () else residues

    def _tail_bound(self, alpha: Real) -> Any:
        bound: Any = super()._tail_bound(alpha)
        if type(bound) is float:
            return int(bound) if bound < _LARGEST_INT64 else _LARGEST_INT64
        saturated = bound >= _LARGEST_INT64
        whole = np.where(saturated, 0.0, bound).astype(np.int64)
        return np.where(saturated, _LARGEST_INT64, whole)

    def _expected_cost(self, function: cost.CostFunction) -> Any:
        return cost.lattice_cost(function, self, 1.0, self.pmf)
