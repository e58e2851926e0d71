"""What every command prints through: text that is shown as it is, and never cropped."""

from __future__ import annotations

import os
import unicodedata

from rich.console import Console
from rich.text import Text

# Wider than any line: what is not a terminal gets each line whole.
_NO_END = 100_000
# Characters that change the direction of the text after them.
_DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def console(*, stderr: bool = False) -> Console:
    """Return a console without markup: brackets in names, file names and cells are brackets.

    In a pipe or a file, lines are as long as they are, unless the environment variable COLUMNS says how wide they may be.
    """
    made = Console(highlight=False, markup=False, emoji=False, stderr=stderr)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = _NO_END
    return made


def plain(text: str) -> str:
    r"""Return text in which control characters are written as escapes, such as ``\x1b``.

    A terminal would obey them: they move, hide and rewrite what is on the screen.
    """
    return "".join(map(_shown, text))


def cell(text: str, style: str = "") -> Text:
    """Return text for a table or a line; where it is too long, it goes on below."""
    return Text(plain(text), style=style, overflow="fold")


def _shown(character: str) -> str:
    obeyed = unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") or character in _DIRECTIONS
    return repr(character)[1:-1] if obeyed else character
