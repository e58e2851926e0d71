"""The tutorials' notebooks are their pages, and run."""

import json
from pathlib import Path
from typing import Any

import pytest

from scripts import notebooks

PAGES = notebooks.pages()
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def file(page: Path) -> Path:
    return notebooks.FOLDER / f"{page.stem}.ipynb"


@each_page
def test_it_is_the_page(page: Path) -> None:
    assert file(page).read_text(encoding="utf-8") == notebooks.as_json(page), "make figures writes it"


def test_a_cell_ends_at_an_output_and_a_chart_is_one() -> None:
    text = "Text\n\n    >>> x = 1\n    >>> x\n    1\n    >>> y = 2\n\n```{chart} Caption.\nplot(x)\n```\nMore\n"
    found = [("markdown", "Text"), ("code", "x = 1\nx"), ("code", "y = 2"), ("code", "plot(x)"), ("markdown", "More")]
    assert list(notebooks.pieces(text)) == found


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent == notebooks.FOLDER], ids=lambda page: page.stem)
def test_its_code_runs_and_draws(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    known: dict[str, Any] = {}
    for cell in json.loads(file(page).read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), known)
    assert pyplot.get_fignums()
    pyplot.close("all")
