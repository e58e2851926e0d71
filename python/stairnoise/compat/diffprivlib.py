"""diffprivlib's mechanisms with this package's noise.

Names, arguments, checks, ``bias`` and ``variance`` are diffprivlib's (0.6.6), because each class here is a subclass of its
namesake; so it is a ``DPMachine`` and works wherever diffprivlib's own does. This module imports diffprivlib, and nothing else in
the package does. `install` makes diffprivlib's tools and models use these classes.

A release is private as the mechanism of this package that draws it, with the ``epsilon``, ``delta`` and ``sensitivity`` that you
state: exact probabilities, and a secret key from the operating system. What diffprivlib does to the result (truncation, folding)
does not weaken this. If ``epsilon`` is infinite or the sensitivity is 0, no noise is needed, and diffprivlib's own code answers.
A `random_state` is for tests: whoever knows it can subtract the noise.

diffprivlib's other mechanisms are not here:

- ``Uniform``: no mechanism of this package has ε = 0.
- ``Vector``: no mechanism of this package has its density, which falls with the l2 norm of a vector.
- ``Bingham``: it draws a direction on a sphere.
- ``ExponentialCategorical``, ``ExponentialHierarchical``: their weights have half of ε, or all of it if sums of float64 are equal
  within a relative 1e-5; then ε is exceeded by as much.

Examples
--------
>>> from stairnoise.compat.diffprivlib import Laplace  # doctest: +SKIP
>>> mechanism = Laplace(epsilon=0.5, sensitivity=1)  # doctest: +SKIP
>>> noisy = mechanism.randomise(12.5)  # doctest: +SKIP
"""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from functools import lru_cache
from typing import Any

import numpy as np
from diffprivlib import mechanisms as theirs

import stairnoise as sn
from stairnoise.numerics.roots import bisection

__all__ = ["Geometric", "GeometricFolded", "GeometricTruncated", "Laplace", "LaplaceFolded", "LaplaceTruncated"]
__all__ += ["LaplaceBoundedDomain", "LaplaceBoundedNoise", "Snapping", "Staircase"]
__all__ += ["Gaussian", "GaussianAnalytic", "GaussianDiscrete"]
__all__ += ["Binary", "Exponential", "PermuteAndFlip", "install"]

# How many draws `LaplaceBoundedDomain` makes at once, at most.
_MOST_DRAWS = 2**16
# Exceeds what rounding does to the scale that it solves for.
_MARGIN = 1 + 2.0**-40


def install() -> None:
    """Make diffprivlib's tools and models draw this package's noise, in the whole process.

    Every name of ``__all__`` in ``diffprivlib.mechanisms`` and in the modules of ``diffprivlib.tools`` and ``diffprivlib.models``
    is replaced. A name that your own program imported from ``diffprivlib.mechanisms`` before is not. ``LogisticRegression`` and
    ``PCA`` keep diffprivlib's ``Vector`` and ``Bingham``. ``RandomForestClassifier`` seeds every tree with 31 bits of NumPy's
    generator, even if it has no `random_state`, so its noise can be found by trying: use ``DecisionTreeClassifier``.
    """
    for path, module in list(sys.modules.items()):
        if path == "diffprivlib.mechanisms" or path.startswith(("diffprivlib.models.", "diffprivlib.tools.")):
            for name in set(__all__) & vars(module).keys():
                setattr(module, name, globals()[name])


@lru_cache(1024)
def _made(kind: Any, **arguments: Any) -> Any:
    """Return a mechanism; diffprivlib's tools make one for every number."""
    return kind(**arguments)


class _Noise:
    """What the classes have in common, before their namesakes in the order of methods."""

    epsilon: float
    delta: float
    sensitivity: Any
    _rng: Any

    @property
    def _needs_none(self) -> bool:
        return math.isinf(self.epsilon) or self.sensitivity == 0

    @property
    def _generator(self) -> sn.SeededRng | None:
        """A seeded generator if there is a `random_state`; None is the secure one of the process."""
        # diffprivlib also has its own generators for "no random_state": of the operating system, or of NumPy for its staircase.
        if not isinstance(self._rng, np.random.RandomState):
            return None
        return sn.SeededRng(int.from_bytes(self._rng.bytes(16), "little"), allow_release=True)


class _Value(_Noise):
    """The noise of one number of a type, or of one label."""

    _type: Any = float
    _check_all: Any

    @abstractmethod
    def _noise(self) -> Any:
        """Return the mechanism of this package that draws."""

    def randomise(self, value: Any) -> Any:
        """Return the private value."""
        self._check_all(value)
        return self._type(value if self._needs_none else self._noise().release(self._type(value), rng=self._generator))


class Laplace(_Value, theirs.Laplace):
    """Noise of `stairnoise.Laplace` of ``epsilon - ln(1 - delta)``, which is (``epsilon``, ``delta``)-differentially private."""

    @property
    def _needs_none(self) -> bool:
        return super()._needs_none or self.delta == 1

    def _noise(self) -> Any:
        # Two roundings of float64 make no more of it than this.
        eps = math.nextafter(self.epsilon - math.log1p(-self.delta), 0) if self.delta else self.epsilon
        return _made(sn.Laplace, eps=eps, sensitivity=self.sensitivity)


class LaplaceTruncated(theirs.LaplaceTruncated, Laplace):
    """`Laplace`, then the nearest number between the bounds."""


class LaplaceFolded(theirs.LaplaceFolded, Laplace):
    """`Laplace`, then folded at the bounds."""


class LaplaceBoundedNoise(Laplace, theirs.LaplaceBoundedNoise):
    """Noise of `stairnoise.TruncatedLaplace`, which is (``epsilon``, ``delta``)-differentially private."""

    def _noise(self) -> Any:
        mechanism = _made(sn.TruncatedLaplace, eps=self.epsilon, delta=self.delta, sensitivity=self.sensitivity)
        self._noise_bound = mechanism.lattice_bounds[1]
        return mechanism


class LaplaceBoundedDomain(Laplace, theirs.LaplaceBoundedDomain):
    """Noise of `stairnoise.Laplace`, drawn again until the result is between the bounds.

    The scale is the least for which the result is (``epsilon``, ``delta``)-differentially private. The number of draws depends on
    the value, and so does the time.

    Notes
    -----
    Let x be the sensitivity and z the width of the domain, both divided by the scale. The largest loss is
    x + ln(1 + (1 - e^-x)(1 - e^(x - z))/(1 - e^-z)), between a value at a bound and the value at the sensitivity from it [1]_. On
    a lattice, the fraction is multiplied by a number below 1.

    References
    ----------
    .. [1] Holohan, Antonatos, Braghin and Mac Aonghusa, "The Bounded Laplace Mechanism in Differential Privacy", Journal of
       Privacy and Confidentiality 10(1), 2020.
    """

    _scale: Any

    @property
    def _change(self) -> float:
        return float(min(self.sensitivity, self.upper - self.lower))

    def _find_scale(self) -> float:
        if self._needs_none or self._change == 0:
            return 0.0
        budget = self.epsilon - math.log1p(-self.delta)
        # Numbers at the bounds are rounded to float64.
        width = float(self.upper - self.lower) + 2 * math.ulp(max(abs(self.lower), abs(self.upper)))

        def loss(scale: float) -> float:
            x, z = self._change / scale, width / scale
            return x + math.log1p(math.expm1(-x) * math.expm1(x - z) / -math.expm1(-z))

        # The loss is from x to 2 x.
        return _MARGIN * bisection(lambda scale: loss(scale) <= budget, self._change / budget, 2 * self._change / budget)

    def _noise(self) -> Any:
        return _made(sn.Laplace, eps=self._change / self._scale, sensitivity=self._change)

    def randomise(self, value: Any) -> float:
        """Return the private value."""
        self._check_all(value)
        if self._scale is None:
            self._scale = self._find_scale()
        inside = min(max(float(value), self.lower), self.upper)
        if self._scale == 0:
            return float(inside)
        generator, draws = self._generator, 1
        while True:
            noisy = self._noise().release(np.full(draws, inside), rng=generator)
            kept = noisy[(noisy >= self.lower) & (noisy <= self.upper)]
            if len(kept):
                return float(kept[0])
            draws = min(2 * draws, _MOST_DRAWS)


class Snapping(_Noise, theirs.Snapping):
    """`Laplace` of a value between the bounds, then rounded and truncated as in diffprivlib.

    `stairnoise.Laplace` alone has no need to be rounded: its own lattice keeps the low-order bits private.
    """

    def randomise(self, value: Any) -> float:
        """Return the private value."""
        self._check_all(value)
        if self._needs_none:
            return float(super().randomise(value))
        eps = self.effective_epsilon()
        inside = min(max(float(value), self.lower), self.upper)
        noisy = _made(sn.Laplace, eps=eps, sensitivity=self.sensitivity).release(inside, rng=self._generator)
        step = self._get_nearest_power_of_2(1 / eps)
        rounded = self._round_to_nearest_power_of_2(self._scale_and_offset_value(noisy), step)
        return float(self._reverse_scale_and_offset_value(self._truncate(rounded)))


class Staircase(Laplace, theirs.Staircase):
    """Noise of `stairnoise.Staircase` with this ``gamma``, which is ``epsilon``-differentially private."""

    def _noise(self) -> Any:
        # The noise of 0 and of 1 is the same.
        return _made(sn.Staircase, eps=self.epsilon, sensitivity=self.sensitivity, gamma=self.gamma or 1.0)


class Geometric(_Value, theirs.Geometric):
    """Noise of `stairnoise.DiscreteLaplace`, which is ``epsilon``-differentially private."""

    _type = int

    def _noise(self) -> Any:
        return _made(sn.DiscreteLaplace, eps=self.epsilon, sensitivity=self.sensitivity)


class GeometricTruncated(theirs.GeometricTruncated, Geometric):
    """`Geometric`, then the nearest integer between the bounds."""


class GeometricFolded(theirs.GeometricFolded, Geometric):
    """`Geometric`, then folded at the bounds."""


class Gaussian(_Value, theirs.Gaussian):
    """Noise of `stairnoise.Gaussian` with the σ of the classic formula, which is enough for every ``epsilon`` up to 1."""

    def _noise(self) -> Any:
        return _made(sn.Gaussian, sigma=float(self._scale), sensitivity=self.sensitivity)


class GaussianAnalytic(Gaussian, theirs.GaussianAnalytic):
    """Noise of `stairnoise.Gaussian`: the least σ that is (``epsilon``, ``delta``)-differentially private."""

    def _noise(self) -> Any:
        delta = min(self.delta, math.nextafter(1, 0))
        return _made(sn.Gaussian, eps=self.epsilon, delta=delta, sensitivity=self.sensitivity)

    def _find_scale(self) -> float:
        return 0.0 if self._needs_none else float(self._noise().sigma)


class GaussianDiscrete(_Value, theirs.GaussianDiscrete):
    """Noise of `stairnoise.DiscreteGaussian`, which is (``epsilon``, ``delta``)-differentially private."""

    _type = int

    def _noise(self) -> Any:
        delta = min(self.delta, math.nextafter(1, 0))
        return _made(sn.DiscreteGaussian.from_eps, eps=self.epsilon, delta=delta, sensitivity=self.sensitivity)

    def _find_scale(self) -> float:
        return 0.0 if self._needs_none else math.sqrt(self._noise().sigma2)


class Exponential(_Noise, theirs.Exponential):
    """Selection by `stairnoise.ExponentialMechanism`, which is ``epsilon``-differentially private.

    The logarithm of a ``measure`` is added to the utility in float64. Where the measure depends on the data, as in
    ``diffprivlib.tools.quantile``, ``epsilon`` holds up to this rounding. That function also draws the number between two values
    itself, in float64: `stairnoise.quantile` does not.
    """

    def _mechanism(self) -> Any:
        kind = sn.PermuteAndFlip if isinstance(self, theirs.PermuteAndFlip) else sn.ExponentialMechanism
        return _made(kind, eps=self.epsilon, sensitivity=self.sensitivity, monotonic=self.monotonic)

    def randomise(self, value: Any = None) -> Any:
        """Return the selected candidate."""
        self._check_all(value)
        if self._needs_none:
            return super().randomise(value)
        costs = -np.asarray(self.utility, np.float64)
        if self.measure:
            with np.errstate(divide="ignore"):
                costs -= (2 - self.monotonic) * self.sensitivity / self.epsilon * np.log(self.measure)
        chosen = self._mechanism().select(costs, rng=self._generator)
        return self.candidates[chosen] if self.candidates else chosen


class PermuteAndFlip(Exponential, theirs.PermuteAndFlip):
    """Selection by `stairnoise.PermuteAndFlip`, which is ``epsilon``-differentially private."""


class Binary(_Value, theirs.Binary):
    """`stairnoise.RandomizedResponse` of two labels, which is ``epsilon``-differentially private."""

    sensitivity = 1
    _type = str

    def _noise(self) -> Any:
        return _made(sn.RandomizedResponse, eps=self.epsilon, categories=(self.value0, self.value1))
