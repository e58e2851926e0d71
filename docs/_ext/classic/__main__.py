"""Write the classic figures to docs/figures."""

from pathlib import Path

from docs._ext.classic import FIGURES
from stairnoise.figures.style import save

if __name__ == "__main__":
    for name, figure in FIGURES.items():
        save(figure(), Path(__file__).resolve().parents[2] / "figures" / f"{name}.svg")
