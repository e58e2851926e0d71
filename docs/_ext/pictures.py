"""Pictures that are drawn when the site is built: `picture`, the plot of the mechanism on its line, and `chart`, what its code
draws after the examples above it on the page.
"""

import doctest
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import library
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import stairnoise as sn
from stairnoise.figures.style import house_style, load, new_figure, save

_FOLDER = Path("_build") / "pictures"


class Picture(SphinxDirective):
    """A figure of an expression's mechanism, with a caption that names the mechanism."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Draw the picture unless it exists, and return the figure."""
        expression = self.arguments[0]
        mechanism = eval(expression, {"sn": sn})
        library.note(self.env, __file__)
        name = _FOLDER / f"{library.digest(expression, Path(__file__).read_text(encoding='utf-8'))}.svg"
        path = Path(self.env.srcdir) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            draw(mechanism, path)
        kind = "Probabilities" if hasattr(mechanism, "pmf") else "Density"
        figure = nodes.figure()
        figure += nodes.image(uri=f"/{name.as_posix()}", alt=f"{kind} of {mechanism!r} where 99 % of the noise falls")
        figure += nodes.caption("", f"{kind} of ", nodes.literal("", expression))
        return [figure]


class Chart(SphinxDirective):
    """A figure of what a page's examples have released, with a caption."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Run the examples, draw the chart unless it exists, and return the figure."""
        library.note(self.env, __file__)
        code, [caption] = "\n".join(self.content), self.arguments
        above, _, _ = Path(self.env.doc2path(self.env.docname)).read_text(encoding="utf-8").partition(code)
        name = _FOLDER / f"{library.digest(above, code, Path(__file__).read_text(encoding='utf-8'))}.svg"
        path = Path(self.env.srcdir) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            pyplot = load("matplotlib.pyplot")
            pyplot.switch_backend("agg")
            known: dict[str, Any] = {}
            with redirect_stdout(None), house_style(), pyplot.rc_context({"figure.figsize": (5.2, 2.9)}):
                exec("".join(example.source for example in doctest.DocTestParser().get_examples(above)) + code, known)
            save(pyplot.gcf(), path)
            pyplot.close()
        figure = nodes.figure()
        figure += nodes.image(uri=f"/{name.as_posix()}", alt=caption)
        figure += nodes.caption("", caption)
        return [figure]


def draw(mechanism: Any, path: Path) -> None:
    """Write the library's picture of a mechanism, in the style of the figures; the caption serves as title."""
    with house_style():
        figure, [axes] = new_figure("", height=3.2)
        mechanism.plot(axes)
        axes.set_title("")
    save(figure, path)


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_directive("picture", Picture)
    app.add_directive("chart", Chart)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
