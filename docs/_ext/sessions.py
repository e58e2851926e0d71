"""Colour indented blocks, which name no language: Python sessions and shell commands. Hide the line that keeps doctest from
taking the end of a fenced block for output. A long line of output, such as a guarantee, wraps; output in columns scrolls.
"""

import re
from typing import Any

from docutils import nodes

_LANGUAGES = {">>> ": "pycon", "$ ": "console"}


def _colour(app: Any, page: nodes.document) -> None:
    for block in [*page.findall(nodes.literal_block), *page.findall(nodes.doctest_block)]:
        if block.rawsource == (text := block.astext()):
            block.clear()
            block += nodes.Text(text.rstrip("\n"))
            block.rawsource = block.astext()
        for prompt, language in _LANGUAGES.items():
            if block.astext().startswith(prompt):
                block["language"] = language
        if breaks(block.astext()):
            block["classes"].append("breaks")


def breaks(session: str) -> bool:
    """Return whether the output of a Python session is text, without a table's columns."""
    output = re.findall(r"(?m)^(?!>>>|\.\.\.).*", session)
    return session.startswith(">>> ") and not any("  " in line for line in output)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-read", _colour)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
