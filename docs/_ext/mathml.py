"""Formulas as MathML, which browsers draw themselves: no script, no font, no picture. Screen readers read it too."""

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

# The converter knows relations by their TeX names alone, a bar and a slash as operators between two terms, and no sign.
_RELATION = re.compile("<mi>([≤≥∈≈∝±])</mi>")
_TIGHT = re.compile('<mo(?: stretchy="false")?>(&#x0007C;|&#x0002F;)</mo>')
_SIGN = re.compile("(<mo[^>]*>(?:&#x00028;|&#x0002C;|&#x0003D;)</mo>)<mo>&#x02212;</mo>")


def _inline(writer: Any, node: nodes.math) -> None:
    writer.body.append(formula(node.astext(), "inline"))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.math_block) -> None:
    # A blank line separates formulas, as in Sphinx's directive. Of the theme's class for tables, what overflows is a tab stop.
    for text in filter(str.strip, node.astext().split("\n\n")):
        parts = "".join(formula(part, "block") for part in statements(text))
        writer.body.append(f'<div class="formula pst-scrollable-table-container">{parts}</div>\n')
    raise nodes.SkipNode


def formula(tex: str, display: str) -> str:
    """Return MathML with the space around operators that TeX leaves: x ≥ 0, but |x|/Δ, and no space after a sign."""
    mathml = _RELATION.sub(r"<mo>\1</mo>", convert(tex, display=display))
    mathml = _TIGHT.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', mathml)
    return _SIGN.sub(r'\1<mo form="prefix">&#x02212;</mo>', mathml)


def statements(tex: str) -> list[str]:
    r"""Return the parts between `\quad`s, which stand beside each other or, on a narrow screen, below each other."""
    parts = re.split(r"\\q?quad", tex)
    whole = all(part.count("{") == part.count("}") and part.count(r"\left") == part.count(r"\right") for part in parts)
    return parts if whole else [tex]


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
