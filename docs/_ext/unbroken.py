"""Keep a number on one line: 10 000 and 95 % get spaces where a browser does not break."""

import re
from typing import Any

from docutils import nodes

_SPACE = re.compile(r"(?:(?<=\b\d)|(?<=\b\d\d)|(?<=\b\d{3})) (?=\d{3}\b)|(?<=\d) (?=%)")


def _keep(_: Any, page: nodes.document) -> None:
    for text in list(page.findall(nodes.Text)):
        if isinstance(text.parent, nodes.FixedTextElement | nodes.literal | nodes.math | nodes.raw | nodes.comment):
            continue
        if (whole := kept(text)) != text:
            text.parent.replace(text, nodes.Text(whole))


def kept(text: str) -> str:
    """Return the text with no-break spaces inside its numbers."""
    return _SPACE.sub("\N{NO-BREAK SPACE}", text)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-read", _keep)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
