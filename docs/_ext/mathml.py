"""Formulas as MathML, which browsers draw themselves: no script, no font, no picture. Screen readers read it too."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    # A blank line separates formulas, as in Sphinx's directive. Of the theme's class for tables, what overflows is a tab stop.
    for formula in filter(str.strip, node.astext().split("\n\n")):
        parts = "".join(convert(part, display="block") for part in statements(formula))
        writer.body.append(f'<div class="formula pst-scrollable-table-container">{parts}</div>\n')
    raise nodes.SkipNode


def statements(formula: str) -> list[str]:
    r"""Return the parts between `\qquad`, which stand beside each other or, on a narrow screen, below each other."""
    parts = formula.split(r"\qquad")
    whole = all(part.count("{") == part.count("}") and part.count(r"\left") == part.count(r"\right") for part in parts)
    return parts if whole else [formula]


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
