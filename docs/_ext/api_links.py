"""The first mention of a public name on a page, such as `Staircase` or `sn.compare(...)`, leads to its page in the API."""

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref

import stairnoise as sn

_NO_LINK_IN = (nodes.reference, nodes.title, nodes.caption, pending_xref)
_MENTION = re.compile(r"(?:sn\.)?(\w+(?:\.\w+)?)(?:\(.*\))?")


def target(text: str) -> str | None:
    """Return the full name of the public object that a piece of code names, or None."""
    found = _MENTION.fullmatch(text)
    name, _, member = found[1].partition(".") if found else ("", "", "")
    if name not in sn.__all__ or name.startswith("_") or not hasattr(getattr(sn, name), member or "__doc__"):
        return None
    return f"stairnoise.{name}.{member}" if member else f"stairnoise.{name}"


def _link(app: Any, page: nodes.document) -> None:
    if app.env.docname.startswith(("api/", "changelog")):
        return
    seen = set()
    for literal in list(page.findall(nodes.literal)):
        name = target(literal.astext())
        if (
            name is None
            or name in seen
            or isinstance(literal.parent, (nodes.reference, nodes.title, nodes.caption, pending_xref))
        ):
            continue
        seen.add(name)
        link = pending_xref("", refdomain="py", reftype="obj", reftarget=name, refdoc=app.env.docname, refexplicit=True)
        literal.replace_self(link)
        link += literal


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("doctree-read", _link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
