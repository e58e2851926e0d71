"""The distributions as distributions of `scipy.stats`.

Every generic method calls the mechanism's own closed form, for arrays of arguments and of shapes. SciPy adds
location, scale and its own tools. Only `as_scipy` imports this module, because SciPy is optional.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rv_continuous, rv_discrete
from scipy.stats._distn_infrastructure import _ShapeInfo as ShapeInfo

from stairnoise._errors import ParameterError
from stairnoise.distributions.lattice_as_density import Spread
from stairnoise.registry import load
from stairnoise.rng import SeededRng

_SEED_BYTES = 16

_EPS = ShapeInfo("eps", False, (0, np.inf), (False, False))
_GAMMA = ShapeInfo("gamma", False, (0, 1), (False, True))
_SENSITIVITY = ShapeInfo("sensitivity", True, (1, np.inf), (True, False))
_R = ShapeInfo("r", True, (1, np.inf), (True, False))


def _asked(method: str) -> Any:
    """Return a method of one argument that the mechanism answers."""

    def answer(self: Any, argument: Any, *shapes: Any) -> Any:
        return getattr(self._distribution(*shapes), method)(argument)

    return answer


class Generic:
    """The methods that SciPy calls; the distribution with the given shapes answers them."""

    _infos: ClassVar[tuple[Any, ...]]

    if TYPE_CHECKING:
        name: str

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("shapes", ", ".join(info.name for info in self._infos))
        super().__init__(**settings)

    def _distribution(self, *shapes: Any) -> Any:
        """Make the mechanism of this name with these shape parameters, at scale 1."""
        return load(self.name)(**{info.name: shape for info, shape in zip(self._infos, shapes, strict=True)})  # type: ignore[arg-type]

    def _shape_info(self) -> list[Any]:
        return list(self._infos)

    def _argcheck(self, *shapes: Any) -> Any:
        if self._is_distribution(*shapes):
            return np.ones(np.broadcast(*shapes).shape, bool)
        return np.vectorize(self._is_distribution, otypes=[bool])(*shapes)

    def _is_distribution(self, *shapes: Any) -> bool:
        try:
            self._distribution(*shapes)
        except ParameterError:
            return False
        return True

    def std(self, *args: Any, **kwds: Any) -> Any:
        """Return the standard deviation, also where float64 does not hold the variance."""
        shapes, _, scale = self._parse_args(*args, **kwds)  # type: ignore[attr-defined]
        return np.where(np.greater(scale, 0), self._std_at_scale_1(*shapes) * scale, np.nan)[()]

    def _std_at_scale_1(self, *shapes: Any) -> Any:
        return super().std(*shapes)  # type: ignore[misc]

    _cdf, _sf, _logcdf, _logsf, _ppf, _isf = map(_asked, ("cdf", "sf", "logcdf", "logsf", "ppf", "isf"))

    # For scalar shapes SciPy asks for moments and entropy even if `_argcheck` refused them, and then
    # drops the answer.

    def _stats(self, *shapes: Any) -> Any:
        return self._distribution(*shapes).stats("mvsk") if self._is_distribution(*shapes) else (np.nan,) * 4

    def _munp(self, n: int, *shapes: Any) -> Any:
        if not self._is_distribution(*shapes):
            return np.nan
        distribution = self._distribution(*shapes)
        return distribution.mean() if n % 2 else distribution._distribution.closed_moment(int(n))

    def _entropy(self, *shapes: Any) -> Any:
        return self._distribution(*shapes).entropy() if self._is_distribution(*shapes) else np.nan

    def _rvs(self, *shapes: Any, size: tuple[int, ...], random_state: Any) -> NDArray[Any]:
        """Draw by the mechanism's own sampler, with a seed from SciPy's generator: for study, never for a release."""
        seed = int.from_bytes(random_state.bytes(_SEED_BYTES), "little")
        return self._distribution(*shapes).sample(size, rng=SeededRng(seed))  # type: ignore[no-any-return]


class Continuous(Generic, rv_continuous):
    """A distribution of real numbers; SciPy's scale is its sensitivity."""

    _pdf, _logpdf = map(_asked, ("pdf", "logpdf"))


class Discrete(Generic, rv_discrete):
    """A distribution of integers."""

    _pmf, _logpmf = map(_asked, ("pmf", "logpmf"))


class StaircaseGenerator(Continuous):
    """Staircase noise: shapes `eps` and `gamma`, scale the sensitivity."""

    _infos = (_EPS, _GAMMA)


class LaplaceGenerator(Continuous):
    """Laplace noise: shape `eps`, scale the sensitivity; the usual scale is sensitivity / `eps`."""

    _infos = (_EPS,)


class DiscreteStaircaseGenerator(Discrete):
    """Staircase noise on the integers: shapes `eps`, `sensitivity` and `r`."""

    _infos = (_EPS, _SENSITIVITY, _R)


class DiscreteLaplaceGenerator(Discrete):
    """Discrete Laplace noise: shapes `eps` and `sensitivity`."""

    _infos = (_EPS, _SENSITIVITY)


staircase = StaircaseGenerator(name="staircase")
laplace = LaplaceGenerator(name="laplace")
discrete_staircase = DiscreteStaircaseGenerator(name="discrete_staircase", a=-np.inf)
discrete_laplace = DiscreteLaplaceGenerator(name="discrete_laplace", a=-np.inf)


class OfOneDistribution(Generic):
    """The distribution of one distribution, without shapes."""

    _infos = ()

    def __init__(self, distribution: Any = None, **settings: Any) -> None:
        self._one = distribution
        super().__init__(**settings)

    def _updated_ctor_param(self) -> dict[str, Any]:
        return super()._updated_ctor_param() | {"distribution": self._one}  # type: ignore[misc, no-any-return]

    def _distribution(self) -> Any:
        return self._one

    def _std_at_scale_1(self) -> Any:
        return self._distribution().std()

    def _munp(self, n: int) -> Any:
        return self._distribution().moment(int(n))

    def _entropy(self) -> Any:
        return self._one.entropy()


class ContinuousOfOne(OfOneDistribution, Continuous):
    """One distribution of real numbers."""


class LatticeOfOne(ContinuousOfOne):
    """One distribution on a coarse lattice, each value spread over the step around it, because SciPy's densities have no
    steps.
    """

    def _distribution(self) -> Any:
        return Spread(self._one)

    def _rvs(self, *shapes: Any, size: tuple[int, ...], random_state: Any) -> NDArray[Any]:
        values = super()._rvs(*shapes, size=size, random_state=random_state)
        half = self._one.granularity / 2
        return np.asarray(values + random_state.uniform(-half, half, size))


class DiscreteOfOne(OfOneDistribution, Discrete):
    """One distribution of integers."""

    def __new__(cls, **settings: Any) -> DiscreteOfOne:
        # SciPy's __new__ accepts only its own settings, and makes another class for some of them.
        return object.__new__(cls)


def shaped(name: str, *shapes: Any, **scale: Any) -> Any:
    """Freeze the distribution of a mechanism with array parameters, found by the mechanism's name."""
    return {one.name: one for one in (staircase, laplace, discrete_staircase, discrete_laplace)}[name](*shapes, **scale)


def frozen(kind: Any, distribution: Any) -> Any:
    """Freeze one distribution as one of the three kinds above."""
    low, high = distribution.support()
    return kind(distribution=distribution, name=type(distribution).__name__, a=low, b=high)()
