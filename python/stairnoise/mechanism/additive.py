"""The base classes of all mechanisms, and the questions that a mechanism answers about itself.

The file of each mechanism answers them in this order:

1. its constructor, which ends in `_store`;
2. its parameters, as properties;
3. `_functions`, its distribution;
4. `_loss`, what a release reveals;
5. `_sum_bound`, the tail of a sum of draws;
6. `_edges`, where its density jumps;
7. `_promise`, its guarantee;
8. `_divided_among`, the mechanism that keeps this guarantee for several values;
9. `_exact_parameters`, by which keyed noise tells it from every other mechanism.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stairnoise._errors import ParameterTypeError
from stairnoise._types import AnyFloat, Default, Float, Value, Whole
from stairnoise.mechanism.accuracy import Intervals
from stairnoise.mechanism.cost import Costs
from stairnoise.mechanism.distribution import ContinuousDistribution, DiscreteDistribution
from stairnoise.mechanism.guarantee import Guaranteed
from stairnoise.mechanism.interop import Interop
from stairnoise.mechanism.plotting import Plotting
from stairnoise.mechanism.privacy import Privacy
from stairnoise.mechanism.release import Releasing
from stairnoise.mechanism.residues import Residues

if TYPE_CHECKING:
    from stairnoise import _native


class Mechanism(Releasing[Default, Value, AnyFloat], Guaranteed):
    """The base of all mechanisms that add noise to numbers or to vectors: they draw, release, and state a guarantee.

    It is for annotations and `isinstance`; construct a mechanism such as `Laplace`.
    """

    __module__ = "stairnoise"

    __slots__ = (
        "_distribution_made",
        "_draw",
        "_fast_release",
        "_given",
        "_hash",
        "_numbers",
        "_sampler",
        "_stated",
        "_takes_floats",
    )

    _given: dict[str, Any]
    # What `once` keeps, by the names of methods; not set until first used.
    _numbers: dict[str, Any]
    # What `_functions` returned; not set until first used.
    _distribution_made: Any
    # Not set until first used.
    _hash: int

    def __init__(self, *_: object) -> None:
        raise ParameterTypeError(f"{type(self).__name__} is a base class: construct a mechanism such as Laplace(eps=1)")

    def _store(
        self, native: _native.Law | None, given: dict[str, Any] | None, *, stated: bool, noise_alone: bool = False
    ) -> None:
        """Keep the extension's mechanism, and the arguments by name, in the constructor's order; every constructor ends with it.

        There is no such mechanism of array parameters, and no such names where the class keeps its arguments itself. `stated`
        says whether the caller stated a sensitivity; if not, that of `given` is 1. `noise_alone` says whether the parameters are
        those of the noise, so that no sensitivity can have been forgotten.
        """
        _set_given(self, given)
        _set_sampler(self, native)
        _set_stated(self, stated)
        _set_takes_floats(self, stated or noise_alone)
        if native is None or self._value_shape:
            _set_draw(self, None)
            _set_fast_release(self, None)
        else:
            whole = self._integers
            _set_draw(self, native.draw_int if whole else native.draw_float)
            _set_fast_release(self, native.release_usual if whole or stated or noise_alone else None)

    def _named_arguments(self) -> dict[str, Any]:
        given = self._given
        return given if self._stated or "sensitivity" not in given else {**given, "sensitivity": None}

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            found = super().__hash__()
        object.__setattr__(self, "_hash", found)
        return found

    def _repr_html_(self) -> str | None:
        """Return the table that a notebook shows, or None for the ``repr``."""
        from stairnoise._html import of_mechanism

        return of_mechanism(self)

    if TYPE_CHECKING:

        def _functions(self) -> Any:
            """Return density, survival function, their inverses and moments, in the form of the theory's `Tabulated`."""

        def _exact_parameters(self) -> dict[str, Any]:
            """Return numbers, words and tuples that define the mechanism that is drawn, the same however the mechanism was made.

            They are the same on every platform: parameters as given, and shapes in lattice steps (contract, section 13).
            """

    @property
    def _distribution(self) -> Any:
        try:
            return self._distribution_made
        except AttributeError:
            made = self._functions()
        object.__setattr__(self, "_distribution_made", made)
        return made


class AdditiveMechanism(
    Mechanism[Default, Value, AnyFloat],
    Intervals[Default, Value, AnyFloat],
    Costs[Default, Value, AnyFloat],
    Privacy[AnyFloat],
    Plotting,
    Interop,
):
    """The base of all mechanisms that add noise to single numbers: they also have a distribution and a privacy loss.

    It is for annotations and `isinstance`; construct a mechanism such as `Laplace`.
    """

    __slots__ = ()
    __module__ = "stairnoise"


class ContinuousMechanism(AdditiveMechanism[np.float64, Float, Float], ContinuousDistribution[Float]):
    """A mechanism of real numbers, drawn on the lattice of multiples of its granularity."""

    __slots__ = ()
    _integers = False
    _dtypes = ("float64", "float32")
    _release_dtypes = ("float64", "float32")

    @property
    def granularity(self) -> Float:
        """Lattice step g, a power of two: every draw is a multiple of it."""
        granularity: Float = self._sampler.granularity
        return granularity


class DiscreteMechanism(AdditiveMechanism[np.int64, Whole, Float], DiscreteDistribution[Whole, Float], Residues):
    """A mechanism of integers."""

    __slots__ = ()
    _integers = True
    _dtypes = ("int64", "int32", "float64")
    _release_dtypes = ("int64", "int32", "float64", "float32")

    @property
    def granularity(self) -> int:
        """Lattice step, which is 1: draws are integers."""
        return 1


# `object.__setattr__` goes through all base classes first, which takes longer than the assignment.
_set_given, _set_sampler, _set_draw, _set_fast_release, _set_stated, _set_takes_floats = (
    vars(Mechanism)[slot].__set__ for slot in ("_given", "_sampler", "_draw", "_fast_release", "_stated", "_takes_floats")
)
