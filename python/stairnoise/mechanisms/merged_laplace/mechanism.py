"""The merged Laplace mechanism: its density falls exponentially, at one rate after another."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, SupportsFloat

import numpy as np

from stairnoise import _native
from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._parameters import flag, one_of, real, refuse, single
from stairnoise._types import Floats
from stairnoise.accounting.losses import runs
from stairnoise.distributions import slopes
from stairnoise.distributions.piecewise_exponential import Pieces, Side
from stairnoise.mechanism.continuous import ContinuousMechanism
from stairnoise.mechanism.guarantee import NAME, Change, Guarantee, group
from stairnoise.mechanism.immutable import Parameter
from stairnoise.mechanisms.merged_laplace.calibration import best_one_break
from stairnoise.numerics.rounding import rounded_down, rounded_up

# At larger ε the best centre is too narrow for the search.
_LARGEST_EPS = 40.0

_Numbers = Sequence[SupportsFloat] | Floats


class MergedLaplace(ContinuousMechanism):
    r"""Symmetric noise whose log-density falls at one rate near 0 and at others farther out.

    .. math:: \frac{d}{dx} \ln f(x) = -\frac{ε_j}{Δ}, \quad c_{j-1} < x < c_j

    for j = 1, …, n, with :math:`c_0 = 0` and :math:`c_n = ∞`; f is continuous and even. A release is differentially
    private with the pure ε that `pure_eps` computes: the largest loss over one sensitivity, which may differ from every
    :math:`ε_j`. `Laplace` with that ε has a smaller error in all examples of the source. At large ε, a steep centre
    narrower than Δ with flat tails beats `Laplace`, and `Staircase` is better still.

    Draws are exact on the lattice of multiples of ``granularity`` g. Between breakpoints, ln P(X = k g) falls by
    :math:`ε_j/D` per step, with :math:`D = ⌈Δ/g⌉`. Breakpoints are rounded to the lattice (``lattice_breakpoints``). A
    value takes two draws for all parameters. The distribution functions are those of the density with the breakpoints as
    given. E|X| and E X² of the noise drawn differ by less than 1e-9 relative if the largest rate is from 2**-20 to 2**20.

    Parameters
    ----------
    eps : sequence of float
        Rates ε_j > 0 from the centre outwards, in units of the reciprocal sensitivity: ε_j = Δ/λ_j for a scale λ_j.
    breakpoints : sequence of float
        Places where the rate changes, 0 < c_1 < c_2 < …, in units of the values; one fewer than `eps`.
    sensitivity : float or None
        Largest change Δ > 0 of the value that one person can cause. None is 1, for study: `release` requires that you state
        it.

    Raises
    ------
    ParameterTypeError
        A parameter is not a real number or a sequence of them.
    ParameterError
        A parameter is out of range, or float64 does not hold it exactly. Or the numbers of rates and breakpoints do not
        agree, breakpoints do not increase by at least the granularity, or the lattice would not fit 64-bit integers.

    References
    ----------
    .. [1] Mugunthan, Xiao and Kagal, "Utility-Enhancing Flexible Mechanisms for Differential Privacy", PSD 2020. The
       two-break column of its table uses a density that is not normalised.

    Examples
    --------
    >>> import stairnoise as sn
    >>> d = sn.MergedLaplace(eps=[0.2, 0.25, 0.5], breakpoints=[1, 3])
    >>> d
    MergedLaplace(eps=(0.2, 0.25, 0.5), breakpoints=(1.0, 3.0))
    >>> d.pure_eps(), round(d.abs_moment(1), 4), round(d.var(), 4)
    (0.5, 2.4699, 10.7427)
    >>> steep = sn.MergedLaplace(eps=[16, 4], breakpoints=[0.125])
    >>> steep.pure_eps()
    5.5
    """

    __slots__ = ("_breaks",)
    _partitions_rule = "leave rates that the lattice holds"
    _breaks: list[int]

    def __init__(self, eps: _Numbers, breakpoints: _Numbers, sensitivity: SupportsFloat | None = None) -> None:
        rates, ends = _numbers(eps, "eps"), _numbers(breakpoints, "breakpoints")
        width = 1.0 if sensitivity is None else single(sensitivity, "sensitivity")
        if len(rates) != len(ends) + 1:
            raise ParameterError(
                f"eps must have one entry more than breakpoints, got {len(rates)} of eps and {len(ends)} breakpoints"
            )
        mechanism = _native.merged_laplace(list(rates), list(ends), width)
        self._store(mechanism, {"eps": rates, "breakpoints": ends, "sensitivity": width}, stated=sensitivity is not None)
        object.__setattr__(self, "_breaks", mechanism.lengths)

    @classmethod
    def from_eps(
        cls, eps: SupportsFloat, sensitivity: SupportsFloat | None = None, cost: Literal["l1", "l2"] = "l1"
    ) -> MergedLaplace:
        """Return the mechanism with one breakpoint and the least cost for a pure ε.

        Parameters
        ----------
        eps : float
            Privacy parameter ε > 0, at most 40.
        sensitivity : float or None
            Largest change Δ > 0 of the value that one person can cause. None is 1, for study: `release` requires that you
            state it.
        cost : {"l1", "l2"}, default "l1"
            E|X| or E X².

        Returns
        -------
        MergedLaplace
            A steep centre narrower than Δ between flat tails, its cost within a relative 1e-6 of the least. If Laplace
            noise is better (for "l1", below ε of about 3.3), the result is Laplace noise, which has no breakpoint.

        Raises
        ------
        ParameterTypeError
            A parameter is not a real number, or `cost` is not a string.
        ParameterError
            A parameter is out of range or an array, or `cost` is another string.

        Examples
        --------
        >>> import stairnoise as sn
        >>> d = sn.MergedLaplace.from_eps(6)
        >>> d.pure_eps() <= 6, round(float(d.abs_moment(1)), 4)
        (True, 0.114)
        >>> round(float(sn.Laplace(6).abs_moment(1)), 4)
        0.1667
        """
        budget, width = single(eps, "eps"), 1.0 if sensitivity is None else single(sensitivity, "sensitivity")
        refuse("eps", eps, 0 < budget <= _LARGEST_EPS, f"greater than 0 and at most {_LARGEST_EPS:g}")
        one_of(cost, "cost", ("l1", "l2"))
        with np.errstate(all="ignore"):  # formulas may fail at a tiny ε, which the constructor refuses
            found = best_one_break(budget, 1 if cost == "l1" else 2)
        if found is None:
            return cls([budget], [], sensitivity)
        inner, outer, end = found
        mechanism = cls([inner, outer], [end * width], sensitivity)
        # Rounding may have increased the loss, mainly that of the breakpoint to the lattice.
        while (excess := mechanism.pure_eps() - budget) > 0:
            inner -= 2 * excess / end
            mechanism = cls([inner, outer], [end * width], sensitivity)
        return mechanism

    @property
    def rates(self) -> tuple[float, ...]:
        """Rates ε_j from the centre outwards; the ε of the guarantee, which `guarantee` states, may differ from all."""
        return tuple(self._parameters["eps"])

    @property
    def eps(self) -> tuple[float, ...]:
        """Another name for `rates`."""
        return self.rates

    breakpoints = Parameter[tuple[float, ...]]("Places where the rate changes.")
    sensitivity = Parameter[float]("Largest change Δ of one value that one person can cause.")

    @property
    def lattice_breakpoints(self) -> tuple[float, ...]:
        """Places where the rate changes in the distribution that is drawn."""
        return tuple(steps * self.granularity for steps in self._breaks)

    def pure_eps(self, *, lattice: bool = True) -> float:
        """Pure ε of one release: the largest privacy loss for a difference of at most one sensitivity.

        Parameters
        ----------
        lattice : bool, default True
            True: of the distribution that is drawn, on the multiples of ``granularity``. False: of the density.

        Returns
        -------
        float
            Computed in rational arithmetic from the finitely many candidates, and rounded up.

        Raises
        ------
        ParameterTypeError
            `lattice` is not a bool.
        """
        return rounded_up(self._largest_loss(flag(lattice, "lattice")))

    def _largest_loss(self, lattice: bool = True) -> Fraction:
        shift = Fraction(self._sensitivity_steps) if lattice else Fraction(self.sensitivity)
        breaks = self._breaks if lattice else self.breakpoints
        return slopes.largest_loss([Fraction(rate) / shift for rate in self.rates], [Fraction(c) for c in breaks], shift)

    def _functions(self) -> Pieces:
        outermost = self.rates[-1]
        unit = self.sensitivity / outermost
        side = Side([eps / outermost for eps in self.rates], [c / unit for c in self.breakpoints])
        return Pieces(side, side, unit)

    def _loss(self, sensitivity: Any) -> runs.Runs:
        return runs.Runs(("merged Laplace", self.rates, tuple(self._breaks)), self._slopes(), self._sensitivity_steps)

    def _slopes(self) -> slopes.Slopes:
        return slopes.Slopes(tuple(Fraction(eps) / self._sensitivity_steps for eps in self.rates), tuple(self._breaks))

    def _sum_bound(self, k: int, alpha: float) -> int:
        return slopes.error_bound(self._slopes(), k, alpha)

    def _promise(self, sensitivity: Any, k: int) -> Guarantee:
        self._keeping_guarantee(k, NAME)  # raises if no mechanism exists for k values
        return Guarantee(self.pure_eps(), 0.0, None, self.sensitivity, k)

    def _cost_of(self, change: Change) -> tuple[float | None, float | None, float | None]:
        return group(self._largest_loss(), 0.0, change.units(self._sensitivity_steps))

    def _divided_among(self, k: int) -> MergedLaplace:
        """Return the mechanism with rates divided by k, or slightly more, so that its loss is at most 1/k of this one's."""
        allowed = self._largest_loss() / k
        rates = [Fraction(eps) / k for eps in self.rates]
        while True:
            # The lattice may be another one, which moves the breakpoints by up to half a step.
            mechanism = MergedLaplace([rounded_down(rate) for rate in rates], self.breakpoints, self._stated_sensitivity)
            loss = mechanism._largest_loss()
            if loss <= allowed:
                return mechanism
            rates = [rate * allowed / loss for rate in rates]

    def _exact_parameters(self) -> dict[str, Any]:
        return {"eps": self.rates, "breaks": tuple(self._breaks), "sensitivity": self.sensitivity}

    def _kinks(self) -> tuple[float, ...]:
        return self.breakpoints

    @property
    def _pure_eps(self) -> float:
        return self.pure_eps()


def _numbers(values: object, name: str) -> tuple[float, ...]:
    if not isinstance(values, (list, tuple, np.ndarray)) or (isinstance(values, np.ndarray) and not values.ndim):
        raise ParameterTypeError(f"{name} must be a sequence of numbers, got {received(values)}")
    if len(values) == 0:
        return ()
    numbers = np.asarray(real(values, name))
    refuse(name, values, numbers.ndim == 1, "a sequence of numbers of one dimension")
    return tuple(numbers.tolist())
