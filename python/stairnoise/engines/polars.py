"""Polars: an expression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stairnoise._errors import ParameterTypeError, outline
from stairnoise._optional import require
from stairnoise.columns import of_polars
from stairnoise.columns.reading import by_library
from stairnoise.engines.rows import KeyedRelease, LabelType
from stairnoise.keyed.rng import KeyedRng

if TYPE_CHECKING:
    import polars


def polars_expr(
    mechanism: Any,
    keyed: KeyedRng,
    label: Any,
    value: Any,
    statistic: str,
    *,
    label_type: LabelType | Sequence[LabelType],
    max_partitions_contributed: int = 1,
) -> polars.Expr:
    """Return a Polars expression that releases a column; it is computed where and as often as Polars likes.

    The expression is declared elementwise, which it is: the lazy and the streaming engine may split the rows, filter
    before it, or compute it twice, and the answers are the same.

    Parameters
    ----------
    mechanism : mechanism
        A mechanism for single numbers with scalar parameters, such as ``DiscreteLaplace(eps=1)``.
    keyed : KeyedRng
        If a function fetches its secret, that is called at each batch of rows.
    label : str, Expr, or list of them
        The column of labels. Several columns make tuples.
    value : str or Expr
        The column of true answers: integers, floats or decimals of scale 0. The expression has its name.
    statistic : str
        Public name of what the values are, such as "count".
    label_type : {"text", "integer", "boolean", "date", "bytes"}, or list of them
        Type of the label in every engine, or a type for each of several labels. "text" is also for categories.
    max_partitions_contributed : int, default 1
        How many values one person can change, as in `release` of the mechanism.

    Returns
    -------
    Expr
        Of Int64 if the mechanism is discrete, else of Float64. A null value stays null; a null label is the label None.
        If rows of one batch have equal labels and other values, computing it raises an error. Rows of two batches are
        not compared. A label of another type than declared raises an error too.

    Raises
    ------
    ParameterError, ParameterTypeError
        An argument is not allowed. There is no unkeyed expression: `keyed` must be a KeyedRng.
    ModuleNotFoundError
        Polars is not installed.

    Examples
    --------
    >>> import secrets
    >>> import polars as pl
    >>> import stairnoise as sn
    >>> from stairnoise.engines import polars_expr
    >>> keyed = sn.KeyedRng(secrets.token_bytes(32), "persons 2026-Q3")
    >>> counts = pl.LazyFrame({"city": ["Bern", "Bern",
    ...                                 "Chur"]}).group_by("city").len().sort("city")
    >>> private = counts.select("city", polars_expr(sn.DiscreteLaplace(eps=1), keyed,
    ...                                             "city", "len", "count", label_type="text"))
    >>> private.collect().equals(private.collect(engine="streaming"))
    True
    """
    release = KeyedRelease(mechanism, keyed, statistic, label_type, max_partitions_contributed)
    pl = require("polars", "polars_expr needs", "polars")
    labels = [_expr(pl, column, "label") for column in (label if isinstance(label, (list, tuple)) else [label])]
    release.require_types(labels)
    values = _expr(pl, value, "value")
    kind, dtype = (pl.Int64, "int64") if release.discrete else (pl.Float64, "float64")

    def function(rows: Any) -> Any:
        *names, answers = rows.struct.unnest().get_columns()
        column = by_library("values", answers, of_polars.column, answers)
        noisy = pl.Series(release.batch(column, names, dtype))
        if column.chunks.nulls is not None:
            noisy = noisy.set(pl.Series(column.chunks.nulls), None)
        return noisy.alias(rows.name)

    fields = [column.alias(str(place)) for place, column in enumerate([*labels, values])]
    found: polars.Expr = pl.struct(fields).map_batches(function, return_dtype=kind, is_elementwise=True)
    own = values.meta.output_name(raise_if_undetermined=False)
    return found if own is None else found.alias(own)


def _expr(pl: Any, column: Any, argument: str) -> Any:
    if isinstance(column, str):
        return pl.col(column)
    if isinstance(column, pl.Expr):
        return column
    raise ParameterTypeError(f"{argument} must be the name of a column or an expression, got {outline(column)}")
