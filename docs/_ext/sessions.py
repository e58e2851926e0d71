"""Colours of indented blocks, which name no language: a Python session, or commands of a shell. The line without which doctest
would take the end of a fenced block for output is not shown. A long line of output, such as a guarantee, breaks where the
screen ends; output in columns scrolls.
"""

import re
from typing import Any

from docutils import nodes

_LANGUAGES = {">>> ": "pycon", "$ ": "console"}


def _colour(app: Any, page: nodes.document) -> None:
    for block in page.findall(nodes.literal_block):
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
    """Tell whether the output of a Python session is text, and no table with columns."""
    output = re.findall(r"(?m)^(?!>>>|\.\.\.).*", session)
    return session.startswith(">>> ") and not any("  " in line for line in output)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-read", _colour)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
