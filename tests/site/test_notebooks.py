"""Jupyter runs the tutorials' notebooks; tests/pages/test_notebooks.py compares them with their pages."""

from pathlib import Path

import pytest

from scripts import notebooks


@pytest.mark.long
@pytest.mark.parametrize("page", notebooks.pages(), ids=lambda page: page.stem)
def test_jupyter_runs_it(page: Path) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    found = nbformat.read(notebooks.FOLDER / f"{page.stem}.ipynb", as_version=4)
    nbformat.validate(found)
    nbclient.NotebookClient(found, timeout=600).execute()
