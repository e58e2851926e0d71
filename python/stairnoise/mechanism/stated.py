"""The error for a sensitivity that nobody stated.

Constructors have the default None. The distribution is then that of sensitivity 1, for study.
"""

from __future__ import annotations

from stairnoise._errors import ParameterError


def unstated(mechanism: object, purpose: str, remedy: str | None = None, beside: str = "") -> ParameterError:
    """Return the error that this purpose needs a stated sensitivity."""
    made_by = repr(mechanism).partition("(")[0]
    return ParameterError(
        f"sensitivity must be stated for {purpose}: {remedy or f'write {made_by}(..., sensitivity=...)'} "
        f"with the largest change of a true answer by one person, got None{beside}"
    )
