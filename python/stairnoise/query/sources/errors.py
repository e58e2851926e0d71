"""The error of a source."""

from __future__ import annotations

from stairnoise._errors import StairnoiseError


class SourceError(StairnoiseError):
    """A source that cannot be read: missing, locked, not a database, or an error inside the engine.

    What an engine says about a failed statement is not repeated, because it may hold data.
    """

    __module__ = "stairnoise.query"
