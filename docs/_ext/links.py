"""Adapt the pages' links, which are written for the forge, to the site.

A link to a file that the site lacks, such as a source file, leads to the forge. A page outside docs/, such as CHANGELOG.md, is
included in a page of the site, and links to it lead to that page. A link whose text is a file's name, such as which_epsilon.md,
reads "which epsilon", because the site's readers see no files.
"""

import os
import re
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent
REPOSITORY = dict(url.split(", ") for url in metadata("stairnoise").get_all("Project-URL") or [])["Repository"]

# Pages outside docs/, and the pages of the site that include them.
TAKEN_IN = {"CHANGELOG.md": "changelog.md", "SECURITY.md": "trust/security.md"}

_LINK = re.compile(r"(?:\[(?P<file>[\w./-]+\.md))?\]\((?!\w+:|#)(?P<path>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")
_INCLUDE = re.compile(r"^```\{include\} (\S+)\n```$", re.MULTILINE)


def for_site(text: str, written: Path, shown: Path) -> str:
    """Return the text of the file `written` with links for the page `shown`; both are below `ROOT`."""

    def replaced(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(written.parent / link["path"]))
        if not target.is_relative_to(ROOT) or not target.exists():
            return link[0]
        anchor, text = link["anchor"] or "", "[" + link["file"] if link["file"] else ""
        name = target.relative_to(ROOT).as_posix()
        if name in TAKEN_IN:
            target = DOCS / TAKEN_IN[name]
        elif not target.is_relative_to(DOCS) or target.is_dir():
            return f"{text}]({REPOSITORY}/{'tree' if target.is_dir() else 'blob'}/main/{name}{anchor})"
        if text:
            text = "[" + Path(link["file"]).stem.lower().replace("_", " ")
        return f"{text}]({os.path.relpath(target, shown.parent)}{anchor})"

    return _LINK.sub(replaced, text)


def _read(app: Any, name: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(name))
    if page.suffix != ".md":
        return

    def included(found: re.Match[str]) -> str:
        other = Path(os.path.normpath(page.parent / found[1]))
        app.env.note_dependency(str(other))
        return for_site(other.read_text(encoding="utf-8"), other, page)

    source[0] = _INCLUDE.sub(included, for_site(source[0], page, page))


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
