"""Formulas as MathML, which browsers draw themselves: no script, no font, no picture. Screen readers read it too."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    # A blank line separates formulas, as in Sphinx's directive.
    formulas = [part for part in node.astext().split("\n\n") if part.strip()]
    writer.body += [f'<div class="formula" tabindex="0">{convert(part, display="block")}</div>\n' for part in formulas]
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
