"""The base of all mechanisms that add noise: what they draw, how they release, and what they promise.

A public method is a function of the file that stands before its name in the class. The private methods here are what mechanisms
answer differently.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._types import AnyFloat, Default, Generic, Value
from stairnoise.mechanism import drawing, guarantee, partitions, release
from stairnoise.mechanism.immutable import Immutable

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from stairnoise import _native
    from stairnoise._output import Shape
    from stairnoise.mechanism.guarantee import Guarantee


class Mechanism(Immutable, Generic[Default, Value, AnyFloat]):
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

    # Whether a value is an integer, and the dtypes of noise and of releases.
    _integers: ClassVar[bool]
    _dtypes: ClassVar[tuple[str, ...]]
    _release_dtypes: ClassVar[tuple[str, ...]]
    # () for scalar parameters.
    _parameter_shape: Shape = ()
    # Shape of one value: () for a number, (d,) for a vector.
    _value_shape: Shape = ()
    # Continues "k must …" where no mechanism keeps the guarantee for k values.
    _partitions_rule: ClassVar[str] = "leave an eps that the lattice holds"
    # Whether the mechanism can be asked about any sensitivity; then it has `_checked_sensitivity`.
    _any_sensitivity: ClassVar[bool] = False

    # The constructor's arguments by name, in its order; None where the class keeps them itself.
    _given: dict[str, Any]
    # The extension's mechanism; None if parameters are arrays.
    _sampler: Any
    # Draws one number; None if parameters are arrays or values are vectors.
    _draw: Any
    # Releases a number or a plain array; None if parameters are arrays, values vectors, or a sensitivity must be stated first.
    _fast_release: Any
    # Whether a sensitivity was stated; and whether it was, or the mechanism was made from its noise alone.
    _stated: bool
    _takes_floats: bool
    # Not set until first used: what `once` keeps by the names of methods, what `_functions` returned, and the hash.
    _numbers: dict[str, Any]
    _distribution_made: Any
    _hash: int

    sample = drawing.sample
    sample_chunks = drawing.sample_chunks
    release = release.release
    for_partitions = partitions.for_partitions
    guarantee = guarantee.guarantee

    if TYPE_CHECKING:

        @property
        def eps(self) -> Any: ...
        @property
        def sensitivity(self) -> Any: ...
        @property
        def granularity(self) -> Any: ...

        def _functions(self) -> Any:
            """Return density, survival function, their inverses and moments, in the form of the theory's `Tabulated`."""

        def _divided_among(self, k: int) -> Self:
            """Return the mechanism for `k` >= 2 values; its errors say why there is none."""

        def _checked_sensitivity(self, sensitivity: Any) -> Any:
            """Return the sensitivity as the type that the mechanism needs, or raise."""

        def _exact_parameters(self) -> dict[str, Any]:
            """Return numbers, words and tuples that define the mechanism that is drawn, the same however the mechanism was made.

            They are the same on every platform: parameters as given, and shapes in lattice steps (contract, section 13).
            """

    # Made

    def __init__(self, *_: object) -> None:
        raise ParameterTypeError(f"{type(self).__name__} is a base class: construct a mechanism such as Laplace(eps=1)")

    def _store(
        self, native: _native.Mechanism | None, given: dict[str, Any] | None, *, stated: bool, noise_alone: bool = False
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
            _set_fast_release(self, native.fast_release if whole or stated or noise_alone else None)

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

    @property
    def _distribution(self) -> Any:
        try:
            return self._distribution_made
        except AttributeError:
            made = self._functions()
        object.__setattr__(self, "_distribution_made", made)
        return made

    # Drawn and released

    @property
    def exactness(self) -> str:
        """Return "lattice" if every multiple of `granularity` has exactly its stated probability, otherwise a bound."""
        return "lattice"

    def _fill(self, stream: _native.Stream, out: NDArray[Any], threads: int) -> None:
        self._sampler.fill(stream, out, threads)

    def _fill_part(self, stream: _native.Stream, out: NDArray[Any], threads: int, first: int) -> None:
        """Fill `out`, the rows of an output from number `first` on."""
        self._fill(stream, out, threads)

    def _next_view(self, stream: _native.Stream, values: int) -> _native.Stream:
        """Take the stream's next fill and return a view that draws it in parts."""
        return self._sampler.next_view(stream, values)  # type: ignore[no-any-return]

    def _add_noise(self, stream: _native.Stream, answers: NDArray[Any], out: NDArray[Any], k: int, threads: int) -> None:
        """Write the noisy answers; one person changes k of them."""
        mechanism = self if k == 1 else self._keeping_guarantee(k, partitions.NAME)
        mechanism._sampler.release(stream, answers, out, threads)

    # Promised

    def _promise(self, sensitivity: Any, k: int) -> Guarantee:
        """Return the guarantee of k values; `sensitivity` as `_asked_sensitivity` returns it."""
        self._keeping_guarantee(k, partitions.NAME)  # raises if no mechanism exists for k values
        return guarantee.Guarantee(self.eps, 0.0, None, self.sensitivity, k)

    def _keeping_guarantee(self, k: Any, name: str) -> Self:
        """Return the mechanism for `k` values; `name` is what errors call `k`."""
        number = partitions.partitions(k, name)
        if number == 1:
            return self
        try:
            return self._divided_among(number)
        except ParameterError as error:
            raise self._no_mechanism(number, name, error) from None

    def _no_mechanism(self, k: int, name: str, reason: ParameterError) -> ParameterError:
        return ParameterError(f"{name} must {self._partitions_rule}, got {k}: {reason}")

    def _asked_sensitivity(self, asked: Any) -> Any:
        """Check and return the sensitivity asked about; return None for a mechanism that was made for a fixed one."""
        if self._any_sensitivity:
            return self._checked_sensitivity(self._default_sensitivity if asked is None else asked)
        if asked is not None:
            name = type(self).__name__
            raise ParameterError(f"sensitivity must be left out for a {name}, which was made for one, got {received(asked)}")
        return None

    @property
    def _default_sensitivity(self) -> Any:
        """The sensitivity that a mechanism of any sensitivity is asked about by default."""
        return 1

    @property
    def _is_noise_alone(self) -> bool:
        """Whether the mechanism was made from its noise alone, without a sensitivity."""
        return self._takes_floats and not self._stated

    @property
    def _stated_sensitivity(self) -> Any:
        """The sensitivity as a constructor takes it."""
        return self.sensitivity if self._stated else None


# `object.__setattr__` goes through all base classes first, which takes longer than the assignment.
_set_given, _set_sampler, _set_draw, _set_fast_release, _set_stated, _set_takes_floats = (
    vars(Mechanism)[slot].__set__ for slot in ("_given", "_sampler", "_draw", "_fast_release", "_stated", "_takes_floats")
)
