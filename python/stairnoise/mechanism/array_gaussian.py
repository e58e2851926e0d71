"""Array parameters of Gaussian noise: every element has σ² and a lattice of its own.

Scalar parameters make an ordinary mechanism. Noise of array parameters is drawn from the arrays. Everything else is computed once
for each different element, by its mechanism of scalar parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError, place
from stairnoise._output import Shape
from stairnoise._parameters import Real, argument, common_shape
from stairnoise._types import AnyArray, Default, Float, Floats, Places, Self, Value
from stairnoise.accounting.losses import elements as elements_of_losses
from stairnoise.distributions.elements import Elements
from stairnoise.mechanism.additive import AdditiveMechanism
from stairnoise.mechanism.cost import CostFunction
from stairnoise.mechanism.drawing import rows_from
from stairnoise.mechanism.guarantee import NAME
from stairnoise.mechanisms.discrete_gaussian import loss as discrete_gaussian_loss
from stairnoise.numerics.elementwise import over_elements

if TYPE_CHECKING:
    from stairnoise.accounting.losses.loss import Part
    from stairnoise.mechanisms.gaussian.calibration import Calibration

Found = TypeVar("Found")


class GaussianArrays(AdditiveMechanism[Default, Value, Float]):
    """A mechanism of Gaussian noise on a lattice, whose parameters may be arrays."""

    __slots__ = ("_lattices",)

    # σ² in lattice steps, log2 of the step, and the sensitivity in steps: arrays of one shape for array parameters.
    _lattices: Calibration

    if TYPE_CHECKING:

        def _element(self, index: tuple[int, ...]) -> Any:
            """Return the mechanism of the element's scalar parameters."""

    @classmethod
    def _for_one_call(cls, arguments: dict[str, Any], out: object) -> Self:
        """Make a mechanism for one call. The arguments are copied, because `out` may share their memory."""
        del out
        return cls(**arguments)

    @property
    def _parameter_shape(self) -> Shape:  # type: ignore[override]
        return () if self._sampler is not None else self._lattices.sigma2.shape

    def _store_arrays(self, lattices: Calibration, parameters: dict[str, Any], *, stated: bool, noise_alone: bool) -> None:
        """Store array parameters, as `_store` does for scalars."""
        _native.check_gaussians(lattices.sigma2, lattices.log2_granularity)
        object.__setattr__(self, "_lattices", lattices)
        self._store(None, parameters, stated=stated, noise_alone=noise_alone)

    # Drawing and releasing

    def _fill(self, stream: _native.Stream, out: AnyArray, threads: int, first: int | None = None) -> None:
        if self._sampler is not None:
            super()._fill(stream, out, threads)
            return
        log2_granularity, sigma2 = (np.broadcast_to(rows_from(first, one, out), out.shape) for one in self._lattices[:2])
        _native.fill_gaussians(sigma2, log2_granularity, stream, out, threads)

    def _add_noise(self, stream: _native.Stream, answers: AnyArray, out: AnyArray, k: int, threads: int) -> None:
        if self._sampler is not None:
            super()._add_noise(stream, answers, out, k, threads)
            return
        mechanism = self if k == 1 else self._keeping_guarantee(k, NAME)
        log2_granularity, sigma2 = (np.broadcast_to(one, out.shape) for one in mechanism._lattices[:2])
        _native.release_gaussians(sigma2, log2_granularity, stream, answers, out, threads)

    # Different elements

    def _different(self) -> tuple[list[Any], Places]:
        """Return the mechanisms of the different elements, and for every element the index of its mechanism."""
        places, which = _combinations(self._parameter_shape, *self._lattices)
        return [self._element(index) for index in zip(*(axis.tolist() for axis in places), strict=True)], which

    def _of_elements(self, answer: Callable[[Any], Any]) -> Any:
        """Return `answer` of every element; a float if the parameters are scalars."""
        if self._parameter_shape == ():
            return answer(self)
        mechanisms, which = self._different()
        return np.array([answer(mechanism) for mechanism in mechanisms], np.float64)[which]

    # The distribution

    def _functions_of_elements(self) -> Elements:
        """Return `_functions` of array parameters."""
        mechanisms, which = self._different()
        return Elements([mechanism._functions() for mechanism in mechanisms], which)

    def _apply(self, function: str, value: object, name: str) -> Float | Floats:
        if self._parameter_shape == ():
            return super()._apply(function, value, name)
        x = argument(value, name)
        common_shape({name: x, "parameters": np.empty(self._parameter_shape)})
        distribution: Elements = self._distribution
        with np.errstate(all="ignore"):
            return self._plain(distribution.at(function, x))

    # In a lambda, `super()` is that of the lambda's argument.

    def _skewness(self) -> Real:
        return self._of_elements(lambda mechanism: super()._skewness())  # type: ignore[no-any-return]

    def _excess_kurtosis(self) -> Real:
        return self._of_elements(lambda mechanism: super()._excess_kurtosis())  # type: ignore[no-any-return]

    def _expected_power(self, p: Real) -> Any:
        if self._parameter_shape == () or isinstance(p, float):
            return super()._expected_power(p)
        shape = np.broadcast_shapes(p.shape, self._parameter_shape)
        powers, found = np.broadcast_to(p, shape), np.empty(shape)
        for power in np.unique(p):
            found = np.where(powers == power, self.abs_moment(float(power)), found)
        return found

    def _expected_cost(self, function: CostFunction) -> Any:
        return self._of_elements(lambda mechanism: super()._expected_cost(function))

    def _bounds_on_lattice(self, alpha: Floats, k: int) -> tuple[AnyArray, AnyArray]:
        if self._parameter_shape == ():
            return super()._bounds_on_lattice(alpha, k)
        mechanisms, which = self._different()
        bounds = over_elements(
            lambda i, level: mechanisms[i]._bounds_on_lattice(np.array(level), k)[1].item(), object, which, alpha
        )
        return np.ldexp(1.0, self._lattices.log2_granularity), bounds

    def _loss_of_elements(self, sensitivity: Any) -> Part:
        """Return `_loss` of array parameters; `sensitivity` is a number, or an array with one for each element."""
        parameters = self._lattices.sigma2, np.asarray(sensitivity, np.float64)
        losses, which = for_different(discrete_gaussian_loss.LatticeGaussian, self._parameter_shape, *parameters)
        return elements_of_losses.ElementLosses(losses, which)

    def _frozen(self, scipy: Any) -> Any:
        if self._parameter_shape == ():
            return super()._frozen(scipy)
        raise ParameterError(f"as_scipy must have scalar parameters, got parameters of shape {self._parameter_shape}")


def _combinations(shape: Shape, *parameters: Any) -> tuple[tuple[Places, ...], Places]:
    """Return the places of the first element with each combination of parameters, and for every element its combination."""
    code = np.zeros(shape, np.int64)
    for parameter in parameters:
        values, number = np.unique(parameter, return_inverse=True)
        code = code * values.size + np.broadcast_to(number.reshape(np.shape(parameter)), shape)
    _, first, which = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return np.unravel_index(first[order], shape), np.argsort(order)[which].reshape(shape)


def for_different(make: Callable[..., Found], shape: Shape, *parameters: Any) -> tuple[list[Found], Places]:
    """Call `make` once for each different element; return its results, and the index of every element's result.

    A `ParameterError` names the index of the first such element.
    """
    places, which = _combinations(shape, *parameters)
    found: list[Found] = []
    for arguments in zip(*(np.broadcast_to(parameter, shape)[places].tolist() for parameter in parameters), strict=True):
        try:
            found.append(make(*arguments))
        except ParameterError as error:
            raise ParameterError(f"{error}{place(tuple(int(axis[len(found)]) for axis in places))}") from None
    return found, which


def numbers_for_different(make: Callable[..., float], shape: Shape, *parameters: Any) -> Real:
    """Return the results of `for_different` as a read-only array, or for scalar parameters the number."""
    if shape == ():
        return make(*(one if type(one) is float else np.asarray(one).item() for one in parameters))
    found, which = for_different(make, shape, *parameters)
    numbers = np.array(found, np.float64)[which]
    numbers.flags.writeable = False
    return numbers
