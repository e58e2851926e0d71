"""The directive `picture`: what `plot` of the mechanism on its line draws, when the site is built."""

import hashlib
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import stairnoise as sn

_FOLDER = Path("_build") / "pictures"


class Picture(SphinxDirective):
    """A figure of the mechanism that an expression makes, with a caption that names it."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Draw the picture unless it is there, and return the figure."""
        expression = self.arguments[0]
        law = eval(expression, {"sn": sn})
        key = hashlib.sha256(f"{expression} {sn.__version__}".encode()).hexdigest()[:16]
        name = _FOLDER / f"{key}.svg"
        path = Path(self.env.srcdir) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            draw(law, path)
        kind = "Probabilities" if hasattr(law, "pmf") else "Density"
        figure = nodes.figure()
        figure += nodes.image(uri=f"/{name.as_posix()}", alt=f"{kind} of {law!r} where 99 % of the noise falls")
        figure += nodes.caption("", f"{kind} of ", nodes.literal("", expression))
        return [figure]


def draw(law: Any, path: Path) -> None:
    """Write the library's picture of a mechanism; the same mechanism gives the same file."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.hashsalt": "stairnoise", "svg.fonttype": "path"}):
        figure = Figure(figsize=(7, 3.6), layout="constrained")
        law.plot(figure.subplots())
        figure.savefig(path, metadata={"Date": None})


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
