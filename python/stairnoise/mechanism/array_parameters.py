"""The base of mechanisms that draw a value from one random word; their parameters may be arrays.

Each element of the output then has its own parameters. Scalar parameters make an ordinary mechanism.

They are two families, on a lattice of D = ⌈Δ/g⌉ steps to a sensitivity. A family has the constants of its distribution functions,
the tail of a sum of draws, and the privacy loss of one draw.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, overload

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError
from stairnoise._output import Shape
from stairnoise._parameters import Cost, Real, RealLike, argument, common_shape, lent, real, stair_shape
from stairnoise._types import AnyArray, Default, Float, Floats, Ints, Number, Numeric, Self, Value
from stairnoise.distributions.symmetric import Lattice
from stairnoise.mechanism.additive import AdditiveMechanism
from stairnoise.mechanism.distribution import plain
from stairnoise.mechanism.drawing import rows_from
from stairnoise.mechanism.eps_for_error import least_eps_for_error
from stairnoise.mechanism.guarantee import NAME, Change, group
from stairnoise.mechanism.immutable import setters
from stairnoise.mechanisms.laplace import loss as laplace_loss
from stairnoise.mechanisms.laplace import sums as laplace_sums
from stairnoise.mechanisms.staircase import distribution as staircase
from stairnoise.mechanisms.staircase import loss as staircase_loss
from stairnoise.mechanisms.staircase import sums as staircase_sums
from stairnoise.numerics.elementwise import evaluate, over_elements
from stairnoise.numerics.rounding import rounded_up


class Family(NamedTuple):
    """Functions of ε, D and the number r of points before the first fall."""

    constants: Callable[[Any, Any, Any], staircase.Stairs]
    """Constants of the distribution functions: those of a staircase."""
    sum_bound: Callable[[float, int, int, int, float], int]
    """With k and alpha: t in lattice steps with P(|S| > t) <= alpha for the sum S of k draws."""
    loss: Callable[[Any, Any, Any], Any]
    """The loss of one release at a difference of D steps."""


def _sum_bound(eps: float, steps: int, r: int, k: int, alpha: float) -> int:
    if steps == 1:
        return LAPLACE.sum_bound(eps, steps, r, k, alpha)
    return staircase_sums.error_bound(eps, steps, r, k, alpha)


def _loss(eps: Any, steps: Any, r: Any) -> Any:
    stair = np.asarray(r, np.int64)
    # The central stair is (2r - 1)/D wide. The difference from 1 is computed in integers, which loses no digits.
    gap = 2 * stair - 1 - np.asarray(steps, np.int64)
    return staircase_loss.Atoms(eps, (2 * stair - 1) / steps, gap / steps)


# Probabilities fall by e^(-ε/D) from one lattice point to the next: stairs of one point each.
LAPLACE = Family(
    lambda eps, steps, r: staircase.lattice(eps / steps, 1.0, 1.0),
    lambda eps, steps, r, k, alpha: laplace_sums.error_bound(eps / steps, k, alpha),
    lambda eps, steps, r: laplace_loss.Steps(eps, steps),
)
# Probabilities fall by e^(-ε) every D lattice points, the first time after r points.
STAIRCASE = Family(lambda eps, steps, r: staircase.lattice(eps, steps, r), _sum_bound, _loss)


Spec = Cost | Real | None

# A sensitivity so large that every r is allowed.
_WIDEST = 2.0**53
_BOUND = Lattice(staircase).error_bound


class ArrayParameters(AdditiveMechanism[Default, Value, Float]):
    """A mechanism of ε, a sensitivity and perhaps a shape, each a number or an array.

    Scalar parameters are kept as Python numbers, array parameters as read-only copies in the caller's
    shapes. A mechanism of scalars holds a native mechanism that is ready to draw.
    """

    __slots__ = ("_eps", "_lattice", "_parameter_shape", "_sensitivity", "_spec")

    # Name of the mechanism in the extension, and the function of that name.
    _native_name: ClassVar[Any]
    _make: ClassVar[Any]
    # Name of the shape parameter; the Laplace mechanisms have none.
    _spec_name: ClassVar[str | None] = None
    # Formulas of the mechanism on its lattice.
    _family: ClassVar[Family]

    if TYPE_CHECKING:

        @classmethod
        def _least_eps(cls, t: float, alpha: float, D: float, spec: Any) -> float | None:
            """Return the least ε with P(|X| > t) <= alpha; None or inf if there is none."""

    _eps: Real
    _sensitivity: Real
    _spec: Spec
    # Granularity and r, set at their first use.
    _lattice: tuple[Any, Any]

    @classmethod
    def _for_one_call(cls, arguments: dict[str, Any], out: object) -> Self:
        """Make a mechanism for one call, which reads the arrays of its `arguments` in place."""
        names = ("eps", "sensitivity", cls._spec_name)
        values: list[Any] = [
            arguments.get(name, default) for name, default in zip(names, (None, None, "l1"), strict=True) if name
        ]
        mechanism = cls.__new__(cls)
        mechanism._validate(*values, convert=partial(lent, out=out))
        return mechanism

    def _validate(
        self, eps: Any, sensitivity: Any, spec: Any = None, *, convert: Callable[..., Real] = real, noise_alone: bool = False
    ) -> None:
        """Check and store the parameters, for the constructor; `noise_alone` as for `_store`."""
        stated = sensitivity is not None and not noise_alone
        rate, change = convert(eps, "eps"), 1.0 if sensitivity is None else convert(sensitivity, "sensitivity")
        checked: Spec = None if self._spec_name is None else stair_shape(spec, self._spec_name, convert)
        _set_eps(self, rate)
        _set_sensitivity(self, change)
        _set_spec(self, checked)
        scalar = type(rate) is float and type(change) is float and not isinstance(checked, np.ndarray)
        self._check(() if scalar else self._common_shape(), stated, noise_alone)

    def _common_shape(self) -> Shape:
        parameters = {"eps": self._eps, "sensitivity": self._sensitivity}
        if self._spec_name and not isinstance(self._spec, str):
            parameters[self._spec_name] = self._spec  # type: ignore[assignment]
        return common_shape(parameters)

    @classmethod
    def _make_sampler(cls, eps: float, sensitivity: float, spec: Any) -> _native.Mechanism:
        """Return the extension's mechanism of scalar parameters."""
        mechanism: _native.Mechanism = (
            cls._make(eps, sensitivity) if cls._spec_name is None else cls._make(eps, sensitivity, spec)
        )
        return mechanism

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_native_name" in vars(cls):
            cls._make = staticmethod(getattr(_native, cls._native_name))

    def _check(self, shape: Shape, stated: bool, noise_alone: bool) -> None:
        """Let the extension check the numbers, and make its mechanism if they are scalars."""
        _set_shape(self, shape)
        if shape == ():
            sampler = self._make_sampler(self._eps, self._sensitivity, self._spec)  # type: ignore[arg-type]
            self._store(sampler, None, stated=stated, noise_alone=noise_alone)
            return
        if 0 in shape:
            self._check_alone()
        _native.check(self._native_name, *self._broadcast(shape))
        self._store(None, None, stated=stated, noise_alone=noise_alone)

    @property
    def sensitivity(self) -> Value | float:
        """Largest change Δ of one value that one person can cause."""
        return self._sensitivity  # type: ignore[return-value]

    def _lattice_step(self) -> Any:
        return self._granularity_and_r()[0]

    def _granularity_and_r(self) -> tuple[Any, Any]:
        """Return granularity and r; arrays of them for array parameters."""
        try:
            return self._lattice
        except AttributeError:
            granularity, _, r = self._describe()
        granularity.flags.writeable = False
        r.flags.writeable = False
        lattice = (granularity, r) if self._parameter_shape else (granularity.item(), r.item())
        object.__setattr__(self, "_lattice", lattice)
        return lattice

    def _check_alone(self) -> None:
        """Check each parameter alone, for a mechanism of empty shape, which has no elements to check."""
        cost: Spec = "l1" if self._spec_name else None
        _native.check(self._native_name, *_spread(self._eps, 1.0, cost, np.shape(self._eps)))
        _native.check(self._native_name, *_spread(1.0, self._sensitivity, cost, np.shape(self._sensitivity)))
        if not (self._spec is None or isinstance(self._spec, str)):
            sensitivity = self._sensitivity if np.size(self._sensitivity) else _WIDEST
            shape = np.broadcast_shapes(np.shape(sensitivity), np.shape(self._spec))
            _native.check(self._native_name, *_spread(1.0, sensitivity, self._spec, shape))

    @property
    def eps(self) -> Float | float:
        """Privacy parameter ε of one draw."""
        return self._eps  # type: ignore[return-value]

    def _arguments(self) -> tuple[Any, ...]:
        """Return the constructor's arguments."""
        stated = self._sensitivity if self._stated else None
        others = (stated,) if self._spec_name is None else (stated, self._spec)
        return self._eps, *(map(integers, others) if self._integers else others)

    def _broadcast(self, shape: Shape) -> tuple[AnyArray, AnyArray, Any]:
        return _spread(self._eps, self._sensitivity, self._spec, shape)

    def _named_arguments(self) -> dict[str, Any]:
        return dict(zip(("eps", "sensitivity", self._spec_name), self._arguments(), strict=False))  # type: ignore[arg-type]

    @overload
    @classmethod
    def eps_for_error(cls, t: Number, confidence: Number = 0.95, sensitivity: Number = 1) -> float: ...  # type: ignore[overload-overlap]
    @overload
    @classmethod
    def eps_for_error(cls, t: Numeric, confidence: Numeric = 0.95, sensitivity: Numeric = 1) -> Floats: ...
    @classmethod
    def eps_for_error(cls, t: RealLike, confidence: RealLike = 0.95, sensitivity: RealLike = 1) -> Any:
        """Least ε for which P(|X| <= t) >= confidence: the best privacy at a wanted accuracy.

        The inequality holds for every larger ε too. The lattice of a continuous mechanism changes with ε; the noise drawn
        at a larger ε keeps the inequality up to the difference that the class states.

        Parameters
        ----------
        t : float or array of float
            Largest error, positive. For a discrete mechanism it may be 0, and only its integer part counts.
        confidence : float or array of float, default 0.95
            Probability of no larger error, at least 0.5 and less than 1.
        sensitivity : float or array of float, default 1
            Largest change of the value that one person can cause; an integer for a discrete mechanism.

        Returns
        -------
        float or ndarray of float64
            Rounded up, so that the inequality holds for this float64. For a continuous mechanism it holds for the density
            and for the noise drawn. For a discrete mechanism, no smaller ε has P(|X| > t) <= (1 - confidence)(1 - 2e-12). For a
            continuous one, no ε has it that is smaller by more than the lattice changes, usually a relative 1e-9. Never
            less than the least ε that the mechanism accepts.

        Raises
        ------
        ParameterError
            `t` or `confidence` is out of range, no ε is large enough, or the shapes do not broadcast.

        Examples
        --------
        >>> import stairnoise as sn
        >>> eps = sn.Laplace.eps_for_error(t=10, confidence=0.95)
        >>> round(eps, 6), round(sn.Laplace(eps).error_bound(0.95), 6)
        (0.299573, 10.0)
        >>> eps = sn.DiscreteLaplace.eps_for_error(t=3, confidence=0.95)
        >>> round(eps, 4), sn.DiscreteLaplace(eps).error_bound(0.95)
        (0.8319, 3)
        """
        return least_eps_for_error(t, confidence, cls(1.0, sensitivity))

    # Drawing and releasing, with the parameters of each element

    def _fill(self, stream: _native.Stream, out: AnyArray, threads: int, first: int | None = None) -> None:
        if self._sampler is not None:
            super()._fill(stream, out, threads)
            return
        # The parameters were checked when the mechanism was made.
        eps, sensitivity, spec = (rows_from(first, one, out) for one in (self._eps, self._sensitivity, self._spec))
        _native.fill_per_element(self._native_name, *_spread(eps, sensitivity, spec, out.shape), stream, out, threads)

    def _add_noise(self, stream: _native.Stream, answers: AnyArray, out: AnyArray, k: int, threads: int) -> None:
        if self._sampler is not None:
            super()._add_noise(stream, answers, out, k, threads)
            return
        if k > 1:
            # Refuses a k for which some element has no mechanism, without an array of quotients.
            try:
                _native.check(self._native_name, *self._broadcast(self._parameter_shape), k)
            except ParameterError as error:
                raise ParameterError(f"{NAME} must {self._partitions_rule}, got {k}: {error}") from None
        _native.release_per_element(self._native_name, *self._broadcast(out.shape), stream, answers, out, k, threads)

    def _divided_among(self, k: int) -> Self:
        """Return the mechanism for eps/k, rounded down so that k releases stay within eps."""
        if isinstance(self._eps, float):
            share: Real = _native.largest_quotient(self._eps, k)
        else:
            share = np.empty(self._eps.shape)
            _native.largest_quotients(self._eps, k, share)
        return type(self)(share, *self._arguments()[1:])

    def _exact_parameters(self) -> dict[str, Any]:
        exact: dict[str, Any] = {"eps": self.eps, "sensitivity": self.sensitivity}
        return exact if self._spec_name is None else exact | {"r": self._sampler.lengths[0]}

    # The distribution, symmetric and for each element

    def _apply(self, function: str, value: object, name: str) -> Float | Floats:
        x = value if type(value) is float else argument(value, name)
        if self._parameter_shape:
            common_shape({name: x, "parameters": np.empty(self._parameter_shape)})
        try:
            distribution = self._distribution_made  # the property takes 40 ns more
        except AttributeError:
            distribution = self._distribution
        return distribution.at(function, x)  # type: ignore[no-any-return]

    def median(self) -> Float:
        """Return the median, which is 0 by symmetry."""
        return self.mean()

    @property
    def _unit(self) -> Any:
        return 1.0 if self._integers else self._sensitivity

    def _in_units(self) -> Any:
        eps, sensitivity, *shape = self._arguments()
        return type(self)(eps, sensitivity if self._integers else 1.0, *shape)._distribution

    def _skewness(self) -> Real:
        return self.mean()

    def _excess_kurtosis(self) -> Real:
        # Kurtosis does not depend on the scale.
        moment = self._in_units().closed_moment
        with np.errstate(all="ignore"):
            # Two divisions, because the square may underflow.
            kurtosis = np.asarray(moment(4)) / moment(2) / moment(2) - 3
        return plain(np.broadcast_to(kurtosis, self._parameter_shape).copy())

    def _expected_power(self, p: Real) -> Any:
        if isinstance(p, float) and p in (1.0, 2.0):
            return self.abs_moment(int(p))
        return self._distribution.real_moment(p)

    def _bounds_on_lattice(self, alpha: Floats, k: int) -> tuple[AnyArray, AnyArray]:
        eps, _, _ = self._broadcast(self._parameter_shape)
        granularity, steps, r = self._describe()
        if k == 1:
            with np.errstate(all="ignore"):
                constants = self._family.constants(eps, steps.astype(np.float64), r.astype(np.float64))
            return granularity, np.asarray(evaluate(_BOUND, alpha, constants)).astype(object)
        bound = self._family.sum_bound
        return granularity, over_elements(lambda eps, D, r, level: bound(eps, D, r, k, level), object, eps, steps, r, alpha)

    def _sum_bound(self, k: int, alpha: float) -> int:
        return int(self._bounds_on_lattice(np.array(alpha), k)[1].item())

    def _loss(self, sensitivity: Any) -> Any:
        eps, _, _ = self._broadcast(self._parameter_shape)
        _, steps, r = self._describe()
        return self._family.loss(eps, steps.astype(np.float64), r)

    def _cost_of(self, change: Change) -> tuple[float | None, float | None, float | None]:
        steps = self._sensitivity_steps
        if self._family is LAPLACE:
            return rounded_up(change.steps()[0] * Fraction(self._eps) / steps), 0.0, None  # type: ignore[arg-type]
        return group(self._eps, 0.0, change.units(steps))  # type: ignore[arg-type]

    def _frozen(self, scipy: Any) -> Any:
        shape = () if self._spec_name is None else (getattr(self, self._spec_name),)
        if self._integers:
            return scipy.shaped(self._native_name, self._eps, integers(self._sensitivity), *shape)
        # SciPy's scale.
        return scipy.shaped(self._native_name, self._eps, *shape, scale=self._sensitivity)

    def _describe(self) -> Any:
        """Return granularity, lattice steps to a sensitivity, and r of every element."""
        if self._sampler is not None:
            sampler = self._sampler
            return map(np.array, (sampler.granularity, sampler.sensitivity_steps, next(iter(sampler.lengths), 0)))
        return describe(self._native_name, *self._broadcast(self._parameter_shape))


def _spread(eps: Real, sensitivity: Real, spec: Spec, shape: Shape) -> tuple[AnyArray, AnyArray, Any]:
    """Broadcast the parameters to `shape`, as the extension requires."""
    all_specs = spec if spec is None or isinstance(spec, str) else np.broadcast_to(spec, shape)
    return np.broadcast_to(eps, shape), np.broadcast_to(sensitivity, shape), all_specs


def describe(kind: Any, eps: Floats, sensitivity: Floats, spec: Any) -> tuple[Floats, Ints, Ints]:
    """Return granularity, lattice steps to a sensitivity, and r for each element."""
    found = np.empty(eps.shape, np.float64), np.empty(eps.shape, np.int64), np.empty(eps.shape, np.int64)
    _native.describe(kind, eps, sensitivity, spec, *found)
    return found


def integers(value: Any) -> Any:
    """Convert floats to integers, after the extension has checked them; "l1", "l2" and None stay as they are."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return int(value)
    whole = value.astype(np.int64)
    whole.flags.writeable = False
    return whole


_set_eps, _set_sensitivity, _set_spec, _set_shape = setters(ArrayParameters, "_eps", "_sensitivity", "_spec", "_parameter_shape")
