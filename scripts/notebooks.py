"""The tutorials as notebooks: `python -m scripts.notebooks` writes them from the pages."""

import doctest
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "tutorials"
sys.path.append(str(ROOT / "docs" / "_ext"))

import links  # noqa: E402

_CHART = re.compile(r"^```\{chart\} [^\n]*\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


def pages() -> list[Path]:
    """Return the pages that the tutorials' table of contents names."""
    names = (FOLDER / "index.md").read_text(encoding="utf-8").split("```{toctree}\n")[1].split("```")[0].split()
    return [(FOLDER / f"{name}.md").resolve() for name in names]


def notebook(page: Path) -> dict[str, Any]:
    """Return a page as a notebook: text, and a cell of code up to each output."""
    text = links.for_site(page.read_text(encoding="utf-8"), page, FOLDER / page.name)
    found = [
        {"cell_type": kind, "id": f"cell-{place}", "metadata": {}, "source": source.splitlines(keepends=True)}
        | ({"execution_count": None, "outputs": []} if kind == "code" else {})
        for place, (kind, source) in enumerate(pieces(text))
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": found, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield each cell's kind and source."""
    code = ""
    for part in doctest.DocTestParser().parse(text):
        example = isinstance(part, doctest.Example)
        code += part.source if example else ""
        if code and (part.want if example else part.strip()):
            yield "code", code.rstrip()
            code = ""
        if not example:
            for place, piece in enumerate(_CHART.split(part)):
                if piece.strip():
                    yield "code" if place % 2 else "markdown", piece.strip("\n").rstrip()
    if code:
        yield "code", code.rstrip()


def as_json(page: Path) -> str:
    """Return the notebook's file."""
    return json.dumps(notebook(page), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    for page in pages():
        (FOLDER / f"{page.stem}.ipynb").write_text(as_json(page), encoding="utf-8")
