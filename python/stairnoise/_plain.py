"""Text for a terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

# Characters that change the direction of the text after them.
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def plain(text: str) -> str:
    r"""Return text with control characters written as escapes, such as ``\x1b``.

    A terminal would obey them: they can move, hide and rewrite text on the screen.
    """
    return "".join(map(_shown, text))


def _shown(character: str) -> str:
    obeyed = unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _DIRECTIONS
    return repr(character)[1:-1] if obeyed else character


def aligned(lines: Sequence[tuple[str, ...]], *, left: int = 1) -> str:
    """Return lines of texts in columns; the first `left` columns are aligned on the left, the others on the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    align = [str.ljust] * left + [str.rjust] * (len(widths) - left)
    rows = ("  ".join(put(text, width) for put, text, width in zip(align, line, widths, strict=True)) for line in lines)
    return "\n".join(row.rstrip() for row in rows)
