"""A private table as a picture: a row for each group, with a dot for the value and a bar for its error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stairnoise._digits import at_most
from stairnoise._errors import ParameterError, meant, received
from stairnoise._plain import plain
from stairnoise.figures.style import axes_for, draw_bars, normalized, set_texts, shortened
from stairnoise.query.types import text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_table(table: Any, statistic: str | None, ax: Axes | None, style: dict[str, Any]) -> Axes:
    """Draw one statistic of a table; the method ``plot`` documents the arguments."""
    about = table.about
    columns = {one["columns"]["value"]: one["columns"] for one in about["statistics"] if "value" in one["columns"]}
    if not columns:
        raise ParameterError("the table must have numbers to draw: a top has only groups")
    name = next(iter(columns)) if statistic is None else statistic
    if name not in columns:
        listed = ", ".join(map(repr, columns))
        raise ParameterError(f"statistic must be one of the columns {listed}, got {received(name)}{meant(name, columns)}")
    rows, found = table.to_dicts(), columns[name]
    drawn = [(place, *_interval(row, found)) for place, row in enumerate(rows) if not row.get(_empty(found))]
    at, values, *bars = zip(*drawn, strict=True) if drawn else ((), ())
    names = [_label(row, about["by"], found) for row in rows]
    with axes_for(ax, len(rows)) as axes:
        set_texts(axes, "", ylabel=plain(", ".join(about["by"])))
        draw_bars(axes, at, values, bars or None, names, f"{plain(name)}\n{_meaning(about, found)}", **normalized(style))
    return axes


def _empty(columns: dict[str, str]) -> str:
    """Return the column that is True for a group that has no mean."""
    return columns.get("may_be_empty", "")


def _interval(row: dict[str, Any], columns: dict[str, str]) -> tuple[float, ...]:
    """Return a value, and the lengths of its bar below and above; a quantile has none."""
    value = row[columns["value"]]
    if "low" in columns:
        return value, value - row[columns["low"]], row[columns["high"]] - value
    return value, *([row[columns["error_bound"]]] * 2 if "error_bound" in columns else [])


def _meaning(about: dict[str, Any], columns: dict[str, str]) -> str:
    """Return how far the true values are."""
    chance = f"{100 * about['confidence']:.15g} %"
    if "error_bound" in columns:
        return f"bars: {chance} for the true value"
    bound = next(one["rank_bound"] for one in about["statistics"] if one["columns"] == columns)
    return f"within {at_most(bound)} people of the true one, in rank: {chance}"


def _label(row: dict[str, Any], by: list[str], columns: dict[str, str]) -> str:
    """Return the name of a group."""
    name = ", ".join("NULL" if row[column] is None else plain(text(row[column])) for column in by) or "all rows"
    name = shortened(name)
    return f"{name} (may be empty)" if row.get(_empty(columns)) else name
