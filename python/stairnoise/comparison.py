"""Comparison of the mechanisms for one ε and one sensitivity, or for many releases with one total guarantee."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal, overload

import numpy as np

from stairnoise._candidates import Setting, chosen, chosen_rows
from stairnoise._comparison_rows import ComparisonRow, of_choices, of_numbers, of_releases, of_vectors
from stairnoise._errors import ParameterError, received
from stairnoise._optional import require
from stairnoise._parameters import Cost, RealLike, count, one_of, real, refuse, single
from stairnoise._plain import aligned
from stairnoise._recommendation import recommend, recommend_for_several
from stairnoise.calibration import MOMENT, MOST_RELEASES, checked
from stairnoise.mechanism.guarantee import NAME, partitions

Subject = Literal["number", "vector", "choice"]

_HEADINGS = {
    "number": ("E|X|", "E X²", "std"),
    "vector": ("E‖X‖", "E‖X‖²", "√E‖X‖²"),
    "choice": ("E error", "E error²", "√E error²"),
}
_MOST_DIMENSIONS = 100_000
_WIDTH = 80


@dataclass(frozen=True, repr=False)
class Comparison(Sequence[ComparisonRow]):
    """The result of `compare`: an immutable sequence of rows that prints as a table.

    Attributes
    ----------
    eps, sensitivity, delta, cost, releases, max_partitions_contributed
        Arguments of `compare`.
    subject : {"number", "vector", "choice"}
        What is released.
    notes : tuple of str
        Sentences that name the mechanisms that were left out, and the reason.

    Notes
    -----
    A row is a named tuple. ``table[0]`` is the one of least cost, and ``table["Laplace"]`` that of a mechanism.

    - ``name``: name of the class; for a staircase also the cost that its shape minimises.
    - ``mechanism``: the mechanism itself, as `for_partitions` returns it.
    - ``mean_abs``: E|X|, the expected error; for a vector the expected norm, for a choice the expected cost above the least.
    - ``std``: square root of E X², the standard deviation.
    - ``bound_95``: smallest t with P(|X| <= t) >= 0.95; an integer for a discrete mechanism.
    - ``p_zero``: P(X = 0), the probability of no error; None for a continuous mechanism.
    - ``ratio``: E|X| (cost "l1") or E X² ("l2"), divided by the same cost of Laplace noise of the same kind, or of the
      exponential mechanism; NaN if there is no such cost, or if it is 0 in float64.
    """

    eps: float
    sensitivity: float
    delta: float | None
    _stated: bool
    max_partitions_contributed: int
    cost: Cost
    subject: Subject
    _asked: tuple[Any, ...]
    _rows: tuple[ComparisonRow, ...] = field(compare=False)
    notes: tuple[str, ...] = ()
    releases: int | None = None

    @property
    def recommendation(self) -> str:
        """Which mechanism to choose for one release and for many, in a few sentences; all numbers are computed."""
        if self.releases is not None or self.max_partitions_contributed > 1:
            total = f"{self.eps:g}" if self.delta is None else f"({self.eps:g}, {self.delta:g})"
            return recommend_for_several(self, total, self.releases or 1, self.max_partitions_contributed, self.cost)
        return recommend(self, self.eps, self.cost) if self.subject == "number" else ""

    @property
    def headings(self) -> tuple[str, ...]:
        """Headings of the columns of the printed table."""
        first, second, root = _HEADINGS[self.subject]
        return "mechanism", first, root, "95 % bound", "P(0)", f"{first if self.cost == 'l1' else second} ratio"

    def texts(self) -> list[tuple[str, ...]]:
        """Return the texts of the printed table, row by row."""
        return [_row_texts(row) for row in self]

    def to_dicts(self) -> list[dict[str, str | float | None]]:
        """Return one dictionary for each row: its fields by name, except `mechanism`."""
        return [{name: value for name, value in row._asdict().items() if name != "mechanism"} for row in self]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame of the rows, indexed by mechanism.

        Raises
        ------
        ModuleNotFoundError
            pandas is not installed.
        """
        pandas = require("pandas", "to_frame needs", "pandas")
        return pandas.DataFrame(self.to_dicts()).set_index("name").astype(float)

    @overload
    def __getitem__(self, index: int | str) -> ComparisonRow: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[ComparisonRow, ...]: ...
    def __getitem__(self, index: int | str | slice) -> ComparisonRow | tuple[ComparisonRow, ...]:
        """Return a row by its number or by the name of its mechanism."""
        if not isinstance(index, str):
            return self._rows[index]
        by_name = {row.name: row for row in self._rows}
        if index in by_name:
            return by_name[index]
        raise KeyError(f"mechanism must be one of {', '.join(by_name)}, got {index!r}")

    def __iter__(self) -> Iterator[ComparisonRow]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __reduce__(self) -> tuple[Any, ...]:
        sensitivity = self.sensitivity if self._stated else None
        counts = self.releases, self.max_partitions_contributed
        return _compare_again, (self.eps, sensitivity, self.cost, self.delta, *counts, *self._asked)

    def __repr__(self) -> str:
        paragraphs = [aligned([self.headings, *self.texts()])]
        paragraphs += [textwrap.fill(text, _WIDTH) for text in (*self.notes, self.recommendation) if text]
        return "\n\n".join(paragraphs)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(text)}</th>" for text in self.headings)
        body = "".join(f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in texts)}</tr>" for texts in self.texts())
        notes = "".join(f"<p>{escape(text)}</p>" for text in (*self.notes, self.recommendation) if text)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def compare(
    eps: RealLike,
    sensitivity: RealLike | None = None,
    cost: Cost = "l1",
    *,
    delta: RealLike | None = None,
    releases: int | None = None,
    max_partitions_contributed: int = 1,
    mechanisms: Literal["all"] | Sequence[str] | None = None,
    dim: int | None = None,
    norm: Literal["l1", "l2", "linf"] = "l1",
    costs: RealLike | None = None,
) -> Comparison:
    """Compare mechanisms by the exact moments of their errors.

    With `releases` every mechanism is calibrated so that this many releases together are (ε, δ)-differentially private: the
    total guarantee is the same, and the errors are compared. Without it every mechanism has the same ε for one draw.

    Parameters
    ----------
    eps : float
        Privacy parameter ε > 0 of one draw, or of all `releases` together.
    sensitivity : float or None
        Largest change of the value that one person can cause. Discrete mechanisms need a whole number; otherwise they are
        left out, and the notes say so. None is 1, and the mechanisms then have no stated sensitivity.
    cost : {"l1", "l2"}, default "l1"
        Measure of error: E|X| or E X². The last column is the ratio of this cost to the cost of Laplace noise of the
        same kind.
    delta : float or None
        Privacy parameter δ, which the mechanisms without a pure guarantee need. Pure mechanisms use it only with
        `releases`, of which it is the δ together.
    releases : int or None
        How many releases k share ε and δ. Every mechanism is then the one that `calibrate` returns, and the rows are sorted
        by `cost`. A staircase has one row, with the first stair that is best for `cost` and k. None: one draw each.
    max_partitions_contributed : int, default 1
        How many values one person can change. All of them together have the guarantee, and the errors are those of one value.
    mechanisms : sequence of str, "all" or None
        Which to compare, by the names in the table. None: the staircase and Laplace mechanisms, and if `delta` is given
        those that need it. The others are for noise in shares (GeneralizedDiscreteLaplace and Arete, with the
        parameters that their ``from_eps`` finds, and MultiScaleDiscreteLaplace) or for study (MergedLaplace). With
        `releases` the names of classes are names too, and "all" takes a few seconds.
    dim : int or None
        Length of a released vector. Compares the mechanisms for vectors, by the norm of the noise.
    norm : {"l1", "l2", "linf"}, default "l1"
        For vectors: the norm in which `sensitivity` and the error are measured.
    costs : sequence of float or None
        Costs of candidates. Compares the mechanisms that select one candidate, by its cost above the least.
        `sensitivity` is then the sensitivity of the costs.

    Returns
    -------
    Comparison
        Sequence of `ComparisonRow`. ``print`` shows a table with a recommendation; `Comparison.to_dicts` and
        `Comparison.to_frame` convert it.

    Raises
    ------
    ParameterTypeError
        A parameter is not a number, `cost` is not a string, or `mechanisms` is not a sequence.
    ParameterError
        A parameter is out of range or an array, `cost` is another string, or a mechanism has another name. Or two of
        `dim`, `costs` and `releases` are given, or one of the first two with `max_partitions_contributed`.

    References
    ----------
    .. [1] Geng and Viswanath, "The Optimal Mechanism in Differential Privacy", arXiv:1212.1186.

    Examples
    --------
    >>> import stairnoise as sn
    >>> table = sn.compare(eps=4, sensitivity=0.5)
    >>> print(table)
    mechanism        E|X|     std  95 % bound  P(0)  E|X| ratio
    Staircase l1  0.06893  0.1351      0.3808     –      0.5514
    Staircase l2  0.07576  0.1275      0.3145     –      0.6061
    Laplace         0.125  0.1768      0.3745     –           1
    <BLANKLINE>
    Left out: DiscreteStaircase l1, DiscreteStaircase l2, DiscreteLaplace;
    sensitivity must be a whole number for a discrete mechanism, got 0.5
    <BLANKLINE>
    eps = 4: choose the staircase. The staircase's E|X| is 45 % below Laplace's. Its
    95 % bound is the larger one, though: 0.381 against 0.374. Over very many
    releases at the same variance the staircase composes better: its mean privacy
    loss is 2.87 per draw against 3.02.
    >>> round(table["Staircase l1"].std, 4)
    0.1351

    Which noise is least, if a hundred releases together may cost ε = 4?

    >>> mechanisms = ["Staircase", "Laplace", "Gaussian"]
    >>> table = sn.compare(eps=4, delta=1e-6, releases=100, mechanisms=mechanisms)
    >>> [row.name for row in table]
    ['Gaussian', 'Staircase', 'Laplace']
    >>> table["Laplace"].mechanism.compose(100).eps_for_delta(1e-6) <= 4
    True
    """
    number, stated = single(eps, "eps"), sensitivity is not None
    change = 1.0 if sensitivity is None else single(sensitivity, "sensitivity")
    one_of(cost, "cost", ("l1", "l2"))
    slack = None if delta is None else single(delta, "delta")
    refuse("delta", delta, slack is None or 0 < slack < 1, "greater than 0 and less than 1")
    setting = Setting(number, change, slack, stated, partitions(max_partitions_contributed, NAME))
    number_alone = dim is None and costs is None
    refuse("mechanisms", mechanisms, number_alone or mechanisms is None, "None for a vector or a choice")
    if dim is not None and costs is not None:
        raise ParameterError(f"costs must be None where dim is given, got dim {received(dim)}")
    refuse("releases", releases, number_alone or releases is None, "None for a vector or a choice")
    refuse(NAME, max_partitions_contributed, number_alone or setting.partitions == 1, "1 for a vector or a choice")
    power = MOMENT[cost]
    if dim is not None:
        length = count(dim, "dim", least=2, most=_MOST_DIMENSIONS)
        vectors = of_vectors(setting, length, norm, power)
        return Comparison(*setting, cost, "vector", (None, length, norm, None), tuple(vectors))
    if costs is not None:
        row = np.asarray(real(costs, "costs"), np.float64)
        if row.ndim != 1 or not row.size:
            raise ParameterError(f"costs must be a sequence of numbers, got an array of shape {row.shape}")
        selections = tuple(of_choices(setting, row, power))
        return Comparison(*setting, cost, "choice", (None, None, "l1", tuple(row.tolist())), selections)
    if releases is not None:
        target = checked(number, 0.0 if slack is None else slack, releases, sensitivity)
        values = count(max_partitions_contributed, NAME, least=1, most=MOST_RELEASES // target.releases)
        wanted = chosen_rows(mechanisms, slack)
        rows, notes = of_releases(target._replace(releases=target.releases * values), wanted, cost)
        names = tuple(row.class_name for row in wanted)
        return Comparison(*setting, cost, "number", (names, None, "l1", None), tuple(rows), tuple(notes), target.releases)
    candidates = chosen(mechanisms, setting.delta)
    rows, notes = of_numbers(setting, candidates, power)
    asked = (tuple(candidate.compared.name for candidate in candidates), None, "l1", None)
    return Comparison(*setting, cost, "number", asked, tuple(rows), tuple(notes))


def _compare_again(eps: float, sensitivity: float | None, cost: Cost, *rest: Any) -> Comparison:
    """Make a comparison again from the arguments that it keeps; pickles call this."""
    names = ("delta", "releases", NAME, "mechanisms", "dim", "norm", "costs")
    return compare(eps, sensitivity, cost, **dict(zip(names, rest, strict=True)))


for _public in (compare, Comparison, ComparisonRow):
    _public.__module__ = "stairnoise"


def _row_texts(row: ComparisonRow) -> tuple[str, ...]:
    bound = str(row.bound_95) if isinstance(row.bound_95, int) else f"{row.bound_95:.4g}"
    p_zero = "–" if row.p_zero is None else f"{row.p_zero:.4g}"
    return row.name, f"{row.mean_abs:.4g}", f"{row.std:.4g}", bound, p_zero, f"{row.ratio:.4g}"
