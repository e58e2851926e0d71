"""Write formulas as MathML, which browsers draw without script, font or picture. Screen readers read MathML too."""

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

# The converter knows signs only by their TeX names, and spaces them as a browser does.
_BAR = '<mo stretchy="false" lspace="0" rspace="0">'
_THIN = '<mspace width="0.167em"/>'
_NAME = "<mi>[A-Za-z]{2,}</mi>"
_RULES = {
    "<mi>([≤≥∈≈∝±·])</mi>": r"<mo>\1</mo>",
    "<mi>([⌊⌋⌈⌉])</mi>": r'<mo stretchy="false">\1</mo>',
    "<mi>…</mi>": '<mo lspace="0.167em" rspace="0.167em">…</mo>',
    # A prime stands beside its letter, because a raised one is hard to see.
    "<msup>(<mi>.</mi>)<mi>(&#x02032;)</mi></msup>": rf"<mrow>\1{_BAR}\2</mo></mrow>",
    "<msubsup>(<mi>.</mi>)(<mi>.</mi>)<mi>(&#x02032;)</mi></msubsup>": rf"<mrow><msub>\1\2</msub>{_BAR}\3</mo></mrow>",
    # The converter takes a bar and a slash for operators between two terms.
    '<m(?:i|o|o stretchy="false")>(&#x0007C;|&#x0002F;|‖)</m[io]>': rf"{_BAR}\1</mo>",
    # After a bracket or a relation, − and ± are signs.
    "(<mo[^>]*>(?:&#x00028;|&#x0002C;|&#x0003[CDE];|[≤≥⌊])</mo>)<mo>(&#x02212;|±)</mo>": r'\1<mo form="prefix">\2</mo>',
    # A thin space separates a name of several letters from a factor before it, and from a letter, number or fraction after it.
    r'<mrow>((?:<mi mathvariant="normal">\w</mi>)+)</mrow>': lambda found: f"<mi>{re.sub('<[^>]*>', '', found[1])}</mi>",
    "<mo[^>]*>(max|min|Pr)</mo>": r"<mi>\1</mi>",
    rf"(</m(?:i|n|row|su[bp]|subsup|frac|sqrt)>|&#x00029;</mo>)(?=(?:<msub>)?{_NAME})": rf"\1{_THIN}",
    rf"((?<!<msub>)(?<!<munder>){_NAME}|<msub>{_NAME}<mn>\d+</mn></msub>)(?=<m[infs])": rf"\1{_THIN}",
}


def _inline(writer: Any, node: nodes.math) -> None:
    before, after, drawn = node.get("before", ""), node.get("after", ""), formula(node.astext(), "inline")
    writer.body.append(f'<span class="kept">{before}{drawn}{after}</span>' if before or after else drawn)
    raise nodes.SkipNode


def _keep(_: Any, tree: nodes.document, __: str) -> None:
    """Move brackets and commas beside a formula into it, because a browser would break the line before or after them."""
    for node in list(tree.findall(nodes.math)):
        siblings, place = node.parent, node.parent.index(node)
        for side, beside, pattern in (("before", place - 1, r"\(+$"), ("after", place + 1, r"^[),.:;]+")):
            text = siblings[beside] if 0 <= beside < len(siblings) else None
            if isinstance(text, nodes.Text) and (found := re.search(pattern, text)):
                node[side] = found[0]
                siblings[beside] = nodes.Text(re.sub(pattern, "", text))


def _block(writer: Any, node: nodes.math_block) -> None:
    # A blank line separates formulas, as in Sphinx's directive. The theme makes overflowing elements of its table class tab
    # stops.
    for text in filter(str.strip, node.astext().split("\n\n")):
        parts = "".join(formula(part, "block") for part in statements(text))
        writer.body.append(f'<div class="formula pst-scrollable-table-container">{parts}</div>\n')
    raise nodes.SkipNode


def formula(tex: str, display: str) -> str:
    """Return MathML with TeX's space around operators: x ≥ 0 and 2 ln x, but |x|/Δ, and no space after a sign."""
    mathml: str = convert(tex, display=display)
    for pattern, replacement in _RULES.items():
        mathml = re.sub(pattern, replacement, mathml)
    return mathml


def statements(tex: str) -> list[str]:
    r"""Return the parts between `\quad`s, which stand side by side or, on a narrow screen, one below another."""
    parts = re.split(r"\\q?quad", tex)
    whole = all(part.count("{") == part.count("}") and part.count(r"\left") == part.count(r"\right") for part in parts)
    return parts if whole else [tex]


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    app.connect("doctree-resolved", _keep)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
