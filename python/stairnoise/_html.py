"""HTML tables of a mechanism and of a privacy loss, for notebooks.

The HTML has no scripts and no styles, so the notebook's own colours apply, light or dark. Every text is escaped.
A function here returns None if a table would take too long or fail; the notebook then shows the ``repr``.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from stairnoise._digits import at_most
from stairnoise.accounting import models
from stairnoise.registry import ROWS

Rows = Iterator[tuple[str, str]]

_LONGEST = 200
_CONFIDENCE = 0.95
_DELTAS = (1e-6, 1e-9)
_EPSILONS = (0.1, 1.0)
# With up to this many losses on a lattice, ε and δ take less than half a second.
_MOST_LOSSES = 2**16


def of_mechanism(mechanism: Any) -> str | None:
    """Return the table of a mechanism with scalar parameters: its parameters, guarantee, granularity and errors."""
    single = getattr(mechanism, "_parameter_shape", ()) == ()
    return _table(type(mechanism).__name__, _mechanism_rows(mechanism)) if single else None


def of_loss(loss: Any) -> str | None:
    """Return the table of a privacy loss: its releases, its pure ε, and ε and δ at a few values."""
    return _table("PrivacyLoss", _loss_rows(loss)) if loss._shape == () else None


def _mechanism_rows(mechanism: Any) -> Rows:
    arguments = mechanism._shown_arguments()
    yield from ((name, repr(value)) for name, value in arguments.items() if value is not None)
    row = next(row for row in ROWS if row.class_name == type(mechanism).__name__)
    vectors = row.kind == "vector"
    # For shares, ε and quantiles come from lists of probabilities, which can take minutes to compute.
    quick = row.group != "shares"
    if quick and mechanism._stated is not None:
        yield "guarantee", repr(mechanism.guarantee()).removeprefix("Guarantee: ")
    if "granularity" not in arguments:
        yield "granularity", f"{mechanism.granularity:.6g}"
    if row.kind == "category":
        yield "kept", f"with probability {mechanism.keep_probability:.4g}"
        return
    yield "standard deviation" + (" of a coordinate" if vectors else ""), f"{mechanism.std():.4g}"
    if quick:
        bound = at_most(mechanism.error_bound(_CONFIDENCE))
        yield f"{100 * _CONFIDENCE:g} % of the noise", f"has a norm of at most {bound}" if vectors else f"is within ±{bound}"


def _loss_rows(loss: Any) -> Rows:
    yield "releases", str(loss.releases)
    yield from ((f"{k} ×", name) for name, (_, k) in zip(loss._names, loss._parts, strict=True))
    yield "pure ε", _number(loss.eps)
    if _is_quick(loss):
        yield from ((f"ε at δ = {delta:g}", _number(loss.eps_for_delta(delta))) for delta in _DELTAS)
        yield from ((f"δ at ε = {eps:g}", at_most(min(1.0, loss.privacy_profile(eps)))) for eps in _EPSILONS)


def _is_quick(loss: Any) -> bool:
    """Return whether ε and δ take less than half a second; they take longer if many losses must be listed first."""
    if loss._single is not None:
        return True
    step = models.exact_step(loss._parts)
    return step is None or float(loss.eps) <= _MOST_LOSSES * step


def _table(caption: str, rows: Rows) -> str | None:
    # Displaying an object must not fail, even if a formula fails for its parameters.
    try:
        lines = [f'<tr><th scope="row">{_cell(name)}</th><td>{_cell(text)}</td></tr>' for name, text in rows]
    except Exception:
        return None
    return "\n".join([f"<table><caption>{_cell(caption)}</caption><tbody>", *lines, "</tbody></table>"])


def _cell(text: str) -> str:
    return escape(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def _number(value: float) -> str:
    """Write an ε, rounded up; an infinite ε becomes "none"."""
    return "none" if value == float("inf") else at_most(value)
