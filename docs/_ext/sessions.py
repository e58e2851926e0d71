"""Colours of indented blocks, which name no language: a Python session, or commands of a shell."""

from typing import Any

from docutils import nodes

_LANGUAGES = {">>> ": "pycon", "$ ": "console"}


def _colour(app: Any, page: nodes.document) -> None:
    for block in page.findall(nodes.literal_block):
        for prompt, language in _LANGUAGES.items():
            if block.astext().startswith(prompt):
                block["language"] = language


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-read", _colour)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
