"""The mechanism with which k releases together are (ε, δ)-differentially private: `calibrate`.

Every mechanism is a family with one parameter here, the ε that one release states. The ε of k releases together, at the given δ,
is that of its privacy loss (`PrivacyLoss.compose`), an upper bound where it is not exact. It grows with the parameter, and a
search finds where it reaches the given ε, from below. Two parameters are chosen by the cost:

- the first stair of a staircase, because the stair that is best for one release is not the best for many;
- how much of δ truncated noise spends on its ends. Every release spends 1/k of that part, and what is left pays for composition.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from stairnoise._candidates import CANDIDATES, Candidate, Setting
from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._native import largest_quotient
from stairnoise._parameters import Cost, count, one_of, positive, refuse, single
from stairnoise._types import Number
from stairnoise.accounting.privacy_loss import PrivacyLoss
from stairnoise.mechanism.distribution import root_moment
from stairnoise.mechanisms.staircase import many_releases
from stairnoise.registry import ROWS, Row

__all__ = ["calibrate"]

Made = TypeVar("Made")

MOMENT = {"l1": 1, "l2": 2}
MOST_RELEASES = 2**20
# How near to the given ε a search ends, from below.
_NEAR = 1e-5
# A bracket of the parameter that is no wider, relatively, ends a search: the noise itself has steps.
_NARROW = 1e-7
# Steps of a search; more than any has taken.
_MOST_STEPS = 60
# Least part of the given ε that the result must use: less means that no parameter between two others was tried.
_ENOUGH = 1 - 1e-3
# A first stair that is best for many releases replaces the best one for a single release if the cost falls by more than this.
_WORTHWHILE = 1e-5
# Fractions by which ε is lowered until rounding keeps the target: for Gaussian mechanisms, which get the ε of all releases, and
# for canonical noise, whose profile is steep at its ε.
_LESS = (0.0, 2.0**-40, 2.0**-30)
# Parts of δ that truncated noise may spend on its ends. A smaller part would make the bounds wider, by ln(1/part) noise scales.
# For more than a few releases the last part is the best one.
_PARTS, _FEW = (1.0, 0.5, 0.1), 16


class Target(NamedTuple):
    """`releases` releases together are (eps, delta)-differentially private."""

    eps: float
    delta: float
    releases: int
    sensitivity: float
    stated: bool
    """Whether the caller stated the sensitivity."""

    def kept_by(self, mechanism: Any) -> bool:
        """Whether the releases together spend at most ε, and at least 0.999 of it."""
        return _ENOUGH * self.eps <= _spent(self, mechanism, False) <= self.eps


@lru_cache(maxsize=16)
def _spent(target: Target, mechanism: Any, coarsely: bool) -> float:
    """Return the ε of the releases together, at this δ; `coarsely` an upper bound of it, in an eighth of the time."""
    # A mechanism that was not made for one sensitivity is asked about this one.
    asked = {"sensitivity": int(target.sensitivity) if mechanism._integers else target.sensitivity}
    loss: PrivacyLoss[float] = mechanism.privacy_loss(**asked if mechanism._any_sensitivity else {})
    if not target.delta:
        return target.releases * loss.eps
    composed = loss.compose(target.releases)
    return composed._coarse_eps(target.delta) if coarsely else float(composed.eps_for_delta(target.delta))


def calibrate(
    cls: type[Made], *, eps: Number, delta: Number = 0.0, releases: int = 1, sensitivity: Number | None = None, cost: Cost = "l1"
) -> Made:
    r"""Return the mechanism with which `releases` releases together are (ε, δ)-differentially private.

    The guarantee is that of the composed privacy loss: ``mechanism.compose(releases).eps_for_delta(delta)`` is at most `eps`.
    That holds also if earlier releases decide what is asked next [1]_. It is at least 0.999 `eps` too, so little of ε is
    wasted. Nothing depends on data, and the result is the same for the same arguments.

    - **Pure mechanisms** get a larger ε per release than ``eps/releases``, if δ > 0. With δ = 0 they get ``eps/releases``,
      rounded down. `Arete` is searched then too, because its ``from_eps`` leaves a part of ε unused.
    - **Staircases** also get the first stair (`gamma` or `r`) with the least cost for this number of releases. It can be narrower
      than the best one for a single release, or the widest.
    - **Gaussian mechanisms** get the least σ. The result is that of ``for_partitions(releases)``: its `eps` and `delta` are those
      of all releases together. Where rounding of the composed loss calls for it, this ε is below the one given, by about 1e-12.
    - **Truncated mechanisms** cannot use all of δ for composition: every release spends its own δ on the ends of the noise. A
      single release spends all of it. For several, that part is chosen by the cost, from all, a half and a tenth of δ, where
      the bound on the composed loss then proves ε; each release spends 1/k of it. For more than 16 it is a tenth.

    Parameters
    ----------
    cls : a class of mechanisms that add noise to one number
        Such as ``sn.Staircase`` or ``sn.DiscreteGaussian``. The mechanisms for noise in shares, and `MergedLaplace`, are made by
        their ``from_eps``, or with all shares present.
    eps : float
        ε > 0 of all releases together.
    delta : float, default 0.0
        δ of all releases together, at least 0 and less than 1. Mechanisms with a delta need more than 0.
    releases : int, default 1
        How many releases k, from 1 to 2**20; 2**14 for most mechanisms if δ > 0. They may be k partitions of one release, of
        which one person changes all.
    sensitivity : float or None
        Largest change of each value that one person can cause; an integer for a discrete mechanism. None is 1, and the
        mechanism then has no stated sensitivity.
    cost : {"l1", "l2"}, default "l1"
        What the first stair of a staircase makes least: E|X| or E X².

    Returns
    -------
    an instance of `cls`
        For a hundred releases it takes some 10 ms for staircases and Gaussian mechanisms, and some 50 ms for most others.
        `Skellam` takes a second, and `Arete`, whose probabilities are listed, a few seconds.

    Raises
    ------
    ParameterTypeError
        `cls` is not such a class, or a number is of another type.
    ParameterError
        A number is out of range or an array, `cost` is another word, or no mechanism of this class can be drawn and composed
        for these parameters. Or discrete truncated noise can only use less than 0.999 `eps`, because its bounds are whole
        numbers and δ is large against ε.

    See Also
    --------
    compare : all mechanisms calibrated like this, side by side.

    References
    ----------
    .. [1] Dwork, Rothblum and Vadhan, "Boosting and Differential Privacy", FOCS 2010; Zhu, Dong and Wang, "Optimal Accounting of
       Differential Privacy via Characteristic Function", AISTATS 2022, theorem 10: composed losses dominate adaptive releases.

    Examples
    --------
    >>> import stairnoise as sn
    >>> mechanism = sn.calibrate(sn.Laplace, eps=4, delta=1e-6, releases=100)
    >>> round(mechanism.eps, 4), round(mechanism.compose(100).eps_for_delta(1e-6), 3)
    (0.0866, 4.0)
    >>> sn.calibrate(sn.Laplace, eps=4, releases=64)
    Laplace(eps=0.0625)
    >>> sn.calibrate(sn.Gaussian, eps=4, delta=1e-6, releases=100).std() < mechanism.std()
    True
    """
    row = _row_of(cls)
    target = checked(eps, delta, releases, sensitivity)
    one_of(cost, "cost", ("l1", "l2"))
    needs_delta = "delta" in line(row, cost).compared.takes
    refuse("delta", delta, target.delta > 0 or not needs_delta, f"greater than 0 for a {row.class_name}")
    return calibrated(row, target, cost)  # type: ignore[no-any-return]


def checked(eps: object, delta: object, releases: object, sensitivity: object) -> Target:
    """Check the numbers of a target; the range of the sensitivity is for the mechanism to check."""
    budget, slack = positive(eps, "eps"), single(delta, "delta")
    change = 1.0 if sensitivity is None else single(sensitivity, "sensitivity")
    refuse("delta", delta, 0 <= slack < 1, "at least 0 and less than 1")
    number = count(releases, "releases", least=1, most=MOST_RELEASES)
    return Target(budget, slack, number, change, sensitivity is not None)


def calibrated(row: Row, target: Target, cost: str) -> Any:
    """Return the mechanism of a row of the registry that reaches the target with the least cost."""
    candidate = line(row, cost)
    setting = Setting(target.eps, target.sensitivity, target.delta or None, target.stated)
    candidate.make(setting)  # its own error about these parameters needs no other words
    try:
        mechanism = _found(candidate, setting, target, MOMENT[cost])
    except ParameterError as error:
        raise ParameterError(
            f"eps, delta and releases must leave a {row.class_name} that can be drawn and composed, "
            f"got {target.eps}, {target.delta} and {target.releases}: {error}"
        ) from None
    if not target.kept_by(mechanism):
        raise ParameterError(
            f"eps must be large enough against delta for a {row.class_name}, whose bounds are whole numbers, "
            f"to reach it to 0.1 %, got eps {target.eps} and delta {target.delta}"
        )
    return mechanism


def line(row: Row, cost: str) -> Candidate:
    """Return how `compare` makes a mechanism, with the shape for a cost if it has one."""
    lines = [CANDIDATES[compared.name] for compared in row.compared]
    return next((one for one in lines if cost in one.compared.fixed), lines[0])


def _row_of(cls: object) -> Row:
    if isinstance(cls, type):
        for row in ROWS:
            if row.compared and row.class_name == cls.__name__ and row.load() is cls:
                return row
    raise ParameterTypeError(f"cls must be a class of mechanisms that add noise to one number, got {received(cls)}")


def _found(candidate: Candidate, setting: Setting, target: Target, power: int) -> Any:
    needs_delta = "delta" in candidate.compared.takes
    if not needs_delta and not target.delta:
        return _raised(candidate, setting, target)
    if needs_delta and candidate.make(setting).privacy_profile(math.inf) == 0:
        return _shrunk(candidate, setting, target)
    parts = (1.0,) if target.releases == 1 else _PARTS if target.releases <= _FEW else _PARTS[-1:]
    ends = [largest_quotient(target.delta * part, target.releases) for part in parts] if needs_delta else [target.delta]
    tried = [(_raised(candidate, setting._replace(delta=end), target), end) for end in ends]
    tried.sort(key=lambda made: root_moment(made[0], power))
    mechanism, end = tried[0]
    if len(tried) > 1:
        # Ends that spend all of δ leave nothing for the rounding of a composed loss: if δ is small, no ε is then proven for it.
        mechanism, end = next((made for made in tried if target.kept_by(made[0])), tried[0])
    if not candidate.compared.fixed or (needs_delta and target.releases == 1):
        return mechanism
    stair = _stair(candidate, target, power)
    other = candidate._replace(compared=candidate.compared._replace(fixed=(stair,)))
    found = _raised(other, setting._replace(delta=end), target)
    better = root_moment(found, power) < root_moment(mechanism, power) * (1 - _WORTHWHILE) ** (1 / power)
    return found if better and target.kept_by(found) else mechanism


def _stair(candidate: Candidate, target: Target, power: int) -> float:
    """Return the first stair that is best for this number of releases."""
    budget = target.eps, target.delta, target.releases, power
    if candidate.row.kind == "discrete":
        return many_releases.best_r(*budget, int(target.sensitivity))
    return many_releases.best_gamma(*budget)


def _raised(candidate: Candidate, setting: Setting, target: Target) -> Any:
    """Return the mechanism with the largest ε per release; eps/k always suffices."""
    eps, delta, k = target[:3]
    start = guess = largest_quotient(eps, k)
    ends = k * (setting.delta or 0.0) if "delta" in candidate.compared.takes else 0.0
    if ends < delta * _ENOUGH:
        # Of all losses up to ε, the one that is always ε or -ε costs the most (Kairouz, Oh and Viswanath, ICML 2015).
        guess = max(guess, many_releases.near_largest_eps(eps, delta - ends, k, 1.0, 0.0) * (1 - _NEAR / 2))
    return search(lambda eps: candidate.make(setting._replace(eps=eps)), target, start, guess)


def _shrunk(candidate: Candidate, setting: Setting, target: Target) -> Any:
    """Return the mechanism that keeps (eps, delta) for all releases by itself, if need be for a slightly smaller ε.

    The bound on its composed loss can exceed the proven guarantee.
    """

    def make(eps: float) -> Any:
        return candidate.make(setting._replace(eps=eps)).for_partitions(target.releases)

    for less in _LESS:
        whole = make(target.eps * (1 - less))
        if (spent := _spent(target, whole, False)) <= target.eps:
            break
    if target.kept_by(whole):
        return whole
    start = target.eps * min(1.0, target.eps / spent) * _ENOUGH
    return search(make, target, start, start)


def search(make: Callable[[float], Any], target: Target, start: float, guess: float) -> Any:
    """Return the mechanism that spends at most the target's ε, and nearly all of it, from a start that spends no more.

    Coarse lattices lead the search from a guess, and the fine one decides where it ends.
    """
    made = lru_cache(maxsize=16)(make)
    led, _, power = _nearest(made, target, (guess, start), 1.0, coarsely=True)
    return _nearest(made, target, (led, start), power)[1]


def _nearest(
    make: Callable[[float], Any], target: Target, starts: Sequence[float], power: float, *, coarsely: bool = False
) -> tuple[float, Any, float]:
    """Return the largest parameter that spends at most ε, as nearly as a search gets to it, its mechanism, and the power.

    The search begins at the first start that spends no more. The ε of all releases nearly grows with a power of the
    parameter: secants end after few steps.
    """
    eps = target.eps
    high: tuple[float, float] | None = None
    for start in (*starts, *(starts[-1] * (1 - less) for less in _LESS[1:])):
        low = start, _spent(target, best := make(start), coarsely)
        if low[1] <= eps:
            break
        high = low
    for step in range(_MOST_STEPS):
        if low[1] >= eps * (1 - _NEAR) or (high is not None and high[0] <= low[0] * (1 + _NARROW)):
            break
        if high is None:
            # Where the power reaches the target, and farther each time.
            aimed = (eps * (1 - _NEAR / 2) / max(low[1], 0.5 * eps)) ** (1 / power)
            at = low[0] * min(max(aimed, 1 + _NEAR * 4**step), 2.0)
        else:
            at = _between(low, high, eps)
        mechanism = make(at)
        spent = _spent(target, mechanism, coarsely)
        if low[1] > 0 and spent < math.inf:
            power = min(max(_power(low, (at, spent)), 0.5), 2.0)
        if spent <= eps:
            low, best = (at, spent), mechanism
        else:
            high = at, spent
    return low[0], best, power


def _power(a: tuple[float, float], b: tuple[float, float]) -> float:
    return math.log(b[1] / a[1]) / math.log(b[0] / a[0])


def _between(low: tuple[float, float], high: tuple[float, float], eps: float) -> float:
    """Aim a little below where a power of the parameter through both ends is `eps`, but never near an end."""
    width, above = math.log(high[0] / low[0]), math.log(high[1] / max(low[1], eps / 1e3))
    part = math.log(eps * (1 - _NEAR / 2) / max(low[1], eps / 1e3)) / above
    return low[0] * math.exp(min(max(part, 0.001), 0.999) * width)


calibrate.__module__ = "stairnoise"
