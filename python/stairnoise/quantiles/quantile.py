"""Private medians and other quantiles of an array: `quantile`, `quantile_accuracy`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from stairnoise._errors import ParameterError, outline
from stairnoise._parameters import RealLike, confidence_level, count, flag, number_array, one_of, positive, refuse, single
from stairnoise._types import Floats
from stairnoise.columns.column import library
from stairnoise.columns.reading import by_library, reader
from stairnoise.mechanism.guarantee import Guarantee
from stairnoise.quantiles import tree
from stairnoise.quantiles.interval import ends
from stairnoise.quantiles.lattice import MOST_CANDIDATES, lattice
from stairnoise.quantiles.plan import Plan, ranked, shares_of
from stairnoise.quantiles.ranks import Accuracy, Neighbours
from stairnoise.rng import Rng

MechanismName = Literal["permute_and_flip", "exponential", "tree"]

_MOST_ROWS = 2**20


class Quantile(NamedTuple):
    """Private quantiles.

    Attributes
    ----------
    value : float or ndarray of float64
        The selected candidate, or one for each quantile, in the order of `q`.
    rank_bound : float
        The number of ranks between the candidate and the quantile is at most this, with the probability `confidence` for each
        quantile. It is computed from public numbers alone.
    people_needed : float
        If there may be fewer values than this, a result may lie outside all of them.
    guarantee : Guarantee
        What is promised to one person.
    low : float or None
        The lower end of the interval, if it was asked for; infinite where none can be given.
    high : float or None
        The upper end, likewise.
    """

    value: float | Floats
    rank_bound: float
    people_needed: float
    guarantee: Guarantee
    low: float | None = None
    high: float | None = None


def quantile(
    values: RealLike,
    q: float | Fraction | Sequence[float | Fraction],
    *,
    bounds: tuple[float, float] | None = None,
    step: float | None = None,
    candidates: RealLike | None = None,
    eps: float,
    neighbours: Neighbours = "add_remove",
    mechanism: MechanismName | None = None,
    rows_per_person: int = 1,
    interval: bool = False,
    confidence: float = 0.95,
    rng: Rng | None = None,
) -> Quantile:
    """Return private quantiles: of each, one of the public candidates, chosen by its distance from the quantile in ranks.

    Equal values are no difficulty: if half of the people are 18 years old, the median is 18. Without any values, every candidate
    can be the result.

    Parameters
    ----------
    values : array of float or int, or column of pandas, Polars or PyArrow
        Numbers of any shape, one for each row of a table, without nulls. Each counts as the nearest candidate.
    q : float, Fraction or Decimal, or a sequence of them
        From 0 to 1, as it is written: 0.1 is a tenth. 0.5 is the median. Several quantiles share `eps`.
    bounds : (float, float) or None
        The lowest and the highest candidate. Choose them without looking at the values.
    step : float or None
        Distance of candidates. None: 1 for an integer type, otherwise 1, 2 or 5 times the power of ten that gives at most 100 001
        candidates.
    candidates : array of float, or None
        Instead of `bounds` and `step`: at most 10**6 numbers in increasing order, such as a geometric grid for wide bounds.
    eps : float
        ε of the whole result.
    neighbours : {"add_remove", "replace"}
        Whether one person's rows are added or removed, or replaced by as many others. More than two quantiles need "add_remove",
        except with the tree.
    mechanism : {"permute_and_flip", "exponential", "tree"} or None
        What selects one quantile or two; more are selected by the exponential mechanism. "tree" reads all quantiles from private
        counts of up to 256 candidates. None: permute-and-flip, but the tree for 8 quantiles or more of so few candidates.
    rows_per_person : int, default 1
        The largest number of rows of one person.
    interval : bool, default False
        Whether to return an interval of values too, which takes half of `eps`; for a single quantile. It holds the quantile of
        the values, each moved to its candidate, and is wide: often more than 99 % of such intervals hold it.
    confidence : float, default 0.95
        Of ``rank_bound``, and of the interval.
    rng : SecureRng or None
        None: one secure generator for the whole process.

    Returns
    -------
    Quantile
        ``value``, ``rank_bound``, ``people_needed``, ``guarantee``, and ``low`` and ``high`` of an interval.

    Raises
    ------
    ParameterError, ParameterTypeError
        An argument is not allowed, or a value is null or NaN. Nothing has been drawn.

    Notes
    -----
    The cost of a candidate is the distance of q·n from the interval of the ranks that it covers, from #{x < c} to #{x ≤ c}. One
    row changes it by at most max(q, 1 - q), or by 1 if it is replaced. Permute-and-flip [1]_ selects a candidate by its cost.
    More than two quantiles are selected one after the other, the middle one first [2]_. The tree has the counts of candidates and
    of runs of 16 candidates, made consistent by least squares [3]_. With 121 candidates and ε = 1, nine quantiles of 2000 people
    are off by 0.6 ranks on average, instead of 1.0.

    At q = 1 all candidates above the largest value have the cost 0, and at q = 0 all below the smallest: wide bounds then give
    a number far from the data.

    References
    ----------
    .. [1] McKenna and Sheldon, "Permute-and-Flip: A New Mechanism for Differentially Private Selection", arXiv:2010.12603.
    .. [2] Kaplan, Schnapp and Stemmer, "Differentially Private Approximate Quantiles", ICML 2022, arXiv:2110.05429.
    .. [3] Hay, Rastogi, Miklau and Suciu, "Boosting the Accuracy of Differentially Private Histograms Through Consistency",
       VLDB 2010, arXiv:0904.0942.

    Examples
    --------
    >>> import stairnoise as sn
    >>> ages = [18] * 600 + list(range(20, 70)) * 8
    >>> found = sn.quantile(ages, 0.5, bounds=(0, 120), eps=1)
    >>> found.value, round(found.rank_bound, 1)
    (18.0, 7.1)
    >>> sn.quantile(ages, [0.25, 0.5, 0.75], bounds=(0, 120), eps=1).value.shape
    (3,)
    """
    plan, shares, alone = _plan(q, eps, neighbours, mechanism, rows_per_person)
    whole, wanted = Guarantee(plan.eps, 0.0, None, None), flag(interval, "interval")
    if wanted:
        refuse("interval", len(shares), len(shares) == 1, "left out for several quantiles")
        plan = plan.with_share(2)
    numbers = _values(values)
    points = lattice(bounds, step, candidates, whole=numbers.dtype.kind in "iu")
    among = len(points.points)
    plan = _fitting(plan, mechanism, among)
    level = confidence_level(single(confidence, "confidence"))
    expected = plan.accuracy(among, level)
    weighed = _weighed(points.nearest(numbers), alone=len(plan.ranks) == 1)
    chosen = plan.selected(*weighed, among, rng)
    found = points.points[[chosen[plan.ranks.index(int(share * plan.r))] for share in shares]]
    limits = ends(plan.with_share(2), *weighed, points.points, level, rng) if wanted else (None, None)
    return Quantile(float(found[0]) if alone else found, *expected, whole, *limits)


def quantile_accuracy(
    q: float | Fraction | Sequence[float | Fraction],
    candidates: int,
    *,
    eps: float,
    neighbours: Neighbours = "add_remove",
    mechanism: MechanismName | None = None,
    rows_per_person: int = 1,
    confidence: float = 0.95,
) -> Accuracy:
    """Return how accurate `quantile` will be, before there are any values.

    Parameters
    ----------
    q, eps, neighbours, mechanism, rows_per_person, confidence
        As for `quantile`.
    candidates : int
        How many candidates, up to 10**6.

    Returns
    -------
    Accuracy
        ``rank_bound`` and ``people_needed``.

    Raises
    ------
    ParameterError, ParameterTypeError
        An argument is not allowed.

    Examples
    --------
    >>> import stairnoise as sn
    >>> plan = sn.quantile_accuracy(0.5, 10_000, eps=1)
    >>> round(plan.rank_bound, 2), plan.people_needed
    (11.48, 23)
    """
    plan, _, _ = _plan(q, eps, neighbours, mechanism, rows_per_person)
    among = count(candidates, "candidates", least=1, most=MOST_CANDIDATES)
    return _fitting(plan, mechanism, among).accuracy(among, confidence_level(single(confidence, "confidence")))


for _public in (Accuracy, Quantile, quantile, quantile_accuracy):
    _public.__module__ = "stairnoise"


def _plan(q: Any, eps: object, neighbours: object, mechanism: object, rows: object) -> tuple[Plan, list[Fraction], bool]:
    """Return a plan, and the quantiles as they were typed."""
    shares, alone = shares_of(q)
    ranks, r = ranked(shares)
    between: Neighbours = one_of(neighbours, "neighbours", ("add_remove", "replace"))
    flips = mechanism is None or one_of(mechanism, "mechanism", get_args(MechanismName)) != "exponential"
    person = count(rows, "rows_per_person", least=1, most=_MOST_ROWS)
    return Plan(ranks, r, positive(eps, "eps"), person, between, flips), shares, alone


def _fitting(plan: Plan, mechanism: object, among: int) -> Plan:
    """Return a plan for so many candidates."""
    refuse("eps", plan.eps, plan.level > 0, f"large enough to be divided for {len(plan.ranks)} quantiles")
    if mechanism == "tree" and among > tree.MOST_CANDIDATES:
        raise ParameterError(f'mechanism must not be "tree" for more than {tree.MOST_CANDIDATES} candidates, got {among}')
    return plan.among(among) if mechanism is None else plan._replace(tree=mechanism == "tree")


def _weighed(places: NDArray[np.int64], *, alone: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return candidates with weights; for a single quantile each of them once, which takes a tenth of the time."""
    if not alone:
        return places, np.ones(len(places), np.int64)
    counts = np.bincount(places)
    distinct = np.flatnonzero(counts)
    return distinct, counts[distinct]


def _values(values: object) -> NDArray[Any]:
    found, nulls = library(values), None
    if found is None:
        numbers = number_array(values, "values").ravel()
        if numbers.dtype.kind == "O":
            # Integers beyond 64 bits.
            numbers = number_array(values, "values", rounding=True).ravel()
    else:
        package, form = found
        if form == "frame":
            raise ParameterError(f"values must be a single column, got {outline(values)}")
        chunks = by_library("values", values, reader(package).column, values).chunks
        numbers, nulls = np.concatenate(chunks.arrays), chunks.nulls
    missing = np.isnan(numbers) if numbers.dtype.kind == "f" else np.zeros(len(numbers), np.bool_)
    if nulls is not None:
        missing |= nulls
    if missing.any():
        raise ParameterError(
            f"values must be numbers, got one that is null or NaN at index {missing.argmax()}: leave such out before, as pandas' "
            "dropna does"
        )
    return numbers
