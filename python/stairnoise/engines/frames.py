"""Frames: an expression of Polars, and parts that an engine hands over: Dask, Spark, Ray, Beam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from stairnoise._errors import ParameterError, ParameterTypeError, outline, received
from stairnoise._optional import require
from stairnoise.columns import of_polars
from stairnoise.columns.column import library, refuse_lazy
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


if TYPE_CHECKING:
    from stairnoise._types import Columns


def release_part(
    frame: Columns,
    mechanism: Any,
    keyed: KeyedRng,
    label: Any,
    value: Any,
    statistic: str,
    *,
    label_type: LabelType | Sequence[LabelType],
    max_partitions_contributed: int = 1,
) -> Columns:
    """Release a column of one part of a table, and return the part with the released column in its place.

    Parts can be computed in any order, several times and on any machine, and rows can be in other parts the next time:
    the answers are the same. Pass it to ``map_partitions`` of Dask, or call it for each part in ``mapInPandas`` and
    ``mapInArrow`` of Spark.

    Parameters
    ----------
    frame : DataFrame, Table or RecordBatch
        A part of a table, in memory, of pandas, Polars or PyArrow.
    mechanism : mechanism
        A mechanism for single numbers with scalar parameters, such as ``DiscreteLaplace(eps=1)``.
    keyed : KeyedRng
        If a function fetches its secret, that is called once for each part that has rows. Only such a KeyedRng can be
        pickled, which Spark and clusters of Dask need.
    label : name of a column, or list of them
        The column of labels. Several columns make tuples.
    value : name of a column
        The column of true answers: integers, floats or decimals of scale 0.
    statistic : str
        Public name of what the values are, such as "count".
    label_type : {"text", "integer", "boolean", "date", "bytes"}, or list of them
        Type of the label in every engine, or a type for each of several labels. A column of another type is refused: Dask,
        for one, makes texts of a column of Python objects, and files have dates as texts.
    max_partitions_contributed : int, default 1
        How many values one person can change, as in `release` of the mechanism.

    Returns
    -------
    frame of the same class
        With the same index, order and other columns. A discrete mechanism makes int64 of integers, other mechanisms make
        float64. A null value stays null; a label that is null is the label None.

    Raises
    ------
    ParameterError, ParameterTypeError
        An argument is not allowed, or equal labels in this part have other values. Rows of two parts are not compared.
        `keyed` must be a KeyedRng: there is no unkeyed function. No text holds a label or a value.

    Notes
    -----
    To infer types, Dask calls the function on made-up rows, which is harmless: their answers are thrown away. If only
    the workers can fetch the secret, pass ``meta=`` to ``map_partitions``.

    Examples
    --------
    >>> import secrets
    >>> import pandas as pd
    >>> import stairnoise as sn
    >>> from stairnoise.engines import release_part
    >>> keyed = sn.KeyedRng(secrets.token_bytes(32), "persons 2026-Q3")
    >>> counts = pd.DataFrame({"city": ["Bern", "Chur", "Thun"], "n": [120, 45, 0]})
    >>> whole, part = (release_part(frame, sn.DiscreteLaplace(eps=1),
    ...                             keyed, "city", "n", "count", label_type="text")
    ...                for frame in (counts, counts[1:]))
    >>> whole[1:].equals(part)
    True
    """
    release = KeyedRelease(mechanism, keyed, statistic, label_type, max_partitions_contributed)
    refuse_lazy(frame, "frame")
    found = library(frame)
    if found is None or found[1] != "frame":
        raise ParameterTypeError(
            f"frame must be a DataFrame of pandas or Polars, or a Table or RecordBatch of PyArrow, got {outline(frame)}"
        )
    labels = [_column(frame, column, "label") for column in (label if isinstance(label, list) else [label])]
    release.require_types(labels)
    _column(frame, value, "value")
    return release.frame(frame, value, labels)


def _column(frame: Any, name: Any, argument: str) -> Any:
    """Return the only column of that name."""
    try:
        found = frame[name]
    except Exception:  # of the library: KeyError, ColumnNotFoundError, TypeError
        found = None
    if found is None or library(found) is None or library(found)[1] != "column":  # type: ignore[index]
        raise ParameterError(f"{argument} must name one column of the frame, got {received(name)}")
    return found
