"""Add links automatically: from the first mention of a public name on a page, such as `Staircase` or `sn.compare(...)`, to its
page in the API, and from a paper's arXiv number in a docstring to the paper.
"""

import re
from typing import Any

from docutils import nodes
from members import PUBLIC
from sphinx.addnodes import pending_xref

_NO_LINK_IN = (nodes.reference, nodes.title, nodes.caption, pending_xref)
_NO_PAPER_IN = (nodes.reference, nodes.literal, nodes.literal_block)
_MENTION = re.compile(r"(?:sn\.)?(\w+(?:\.\w+)?)(?:\(.*\))?")
_PAPER = re.compile(r"arXiv:(\d{4}\.\d{4,5})")


def target(text: str) -> str | None:
    """Return the full name of a public object that the code names, or None."""
    found = _MENTION.fullmatch(text)
    name = f"stairnoise.{found[1]}" if found else ""
    owner, _, member = name.rpartition(".")
    if "._" in name or not (name in PUBLIC or (owner in PUBLIC and hasattr(PUBLIC[owner], member))):
        return None
    return name


def link_papers(page: nodes.document) -> None:
    """Replace each arXiv number by a link."""
    for text in [text for text in page.findall(nodes.Text) if not isinstance(text.parent, _NO_PAPER_IN)]:
        parts: list[nodes.Node] = [
            nodes.reference("", f"arXiv:{part}", refuri=f"https://arxiv.org/abs/{part}") if i % 2 else nodes.Text(part)
            for i, part in enumerate(_PAPER.split(text.astext()))
        ]
        if len(parts) > 1:
            text.parent.replace(text, parts)


def _link(app: Any, page: nodes.document) -> None:
    link_papers(page)
    if app.env.docname.startswith(("api/", "changelog")):
        return
    seen = set()
    for literal in list(page.findall(nodes.literal)):
        name = target(literal.astext())
        if name is None or name in seen or inside(literal, _NO_LINK_IN):
            continue
        seen.add(name)
        link = pending_xref("", refdomain="py", reftype="obj", reftarget=name, refdoc=app.env.docname, refexplicit=True)
        literal.replace_self(link)
        link += literal


def inside(node: nodes.Node, kinds: tuple[type[nodes.Node], ...]) -> bool:
    """Return whether a node is below one of these kinds."""
    return node.parent is not None and (isinstance(node.parent, kinds) or inside(node.parent, kinds))


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-read", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
