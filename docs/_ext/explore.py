"""The page Explore: the directive `explorer` writes its controls, one setting's table and picture, and the numbers of all
settings as JSON, which explore.js shows.
"""

import json
from html import escape
from itertools import zip_longest
from pathlib import Path
from typing import Any

import explore_numbers
import library
from docutils import nodes
from explore_numbers import CURVES, DELTA, EPS, HEIGHT, RELEASES, SENSITIVITY, WIDTH, key, numbers
from sphinx.util.docutils import SphinxDirective

KINDS = {"real": "a real number", "integer": "a count or another integer"}
DEFAULT = ("real", 4, 1, None, 1)
SLIDERS = {
    "eps": ("ε of all releases together", EPS),
    "sensitivity": ("Sensitivity Δ", SENSITIVITY),
    "delta": ("δ of all releases together", DELTA),
    "releases": ("Releases", RELEASES),
}
COLUMNS = ("mechanism", "mean error", "standard deviation", "95 % bound", "chance of 0", "ratio")
_LINES = ("solid", "dashed", "dotted")
assert len(_LINES) == CURVES


def html(views_by_key: dict[str, Any]) -> str:
    """Return controls, picture, table and numbers."""
    view = views_by_key[key(*DEFAULT)]
    controls = _kinds() + "".join(
        _slider(name, *slider, default) for (name, slider), default in zip(SLIDERS.items(), DEFAULT[1:], strict=True)
    )
    data = json.dumps(_shared(views_by_key), ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<form id="explore-form" class="explore" hidden>{controls}</form>\n'
        "<noscript><p>The controls need JavaScript. You see one setting: "
        f"{_setting(*DEFAULT)}.</p></noscript>\n"
        f'<p id="explore-says" aria-live="polite">{escape(view["says"])}</p>\n'
        f"{_picture(view)}\n{_table(view)}\n"
        f'<p id="explore-notes">{escape(view["notes"])}</p>\n'
        f'<p>In Python: <code id="explore-asks">{escape(_asks(view, *DEFAULT[1:]))}</code></p>\n'
        f'<script type="application/json" id="explore-views">{data}</script>\n'
    )


def _shared(views_by_key: dict[str, Any]) -> dict[str, Any]:
    """Return the views with numbers for curves and sentences, and the list that these count, because many views share them."""
    texts: dict[str, int] = {}
    views = {
        name: {
            **view,
            **{name: texts.setdefault(view[name], len(texts)) for name in ("says", "notes")},
            "curves": {mechanism: texts.setdefault(half, len(texts)) for mechanism, half in view["curves"].items()},
        }
        for name, view in views_by_key.items()
    }
    return {"views": views, "texts": list(texts)}


def _setting(kind: str, eps: float, sensitivity: float, delta: float | None, releases: int) -> str:
    return f"{KINDS[kind]}, ε = {eps}, Δ = {sensitivity}, δ = {delta or 0:g}, {releases} releases"


def _asks(view: dict[str, Any], eps: float, sensitivity: float, delta: float | None, releases: int) -> str:
    """Return the call that computes a setting's numbers, as explore.js writes it."""
    names = ", ".join(f'"{row[0]}"' for row in view["rows"])
    return f"sn.compare({eps}, {sensitivity}, delta={delta}, releases={releases}, mechanisms=[{names}])"


def _path(half: str) -> str:
    """Return a symmetric curve as an SVG path."""
    flat = half.split(" ")
    right = [(int(x), y) for x, y in zip(flat[::2], flat[1::2], strict=True)]
    points = [(WIDTH // 2 - x, y) for x, y in reversed(right)] + [(WIDTH // 2 + x, y) for x, y in right[1:]]
    return "M" + "L".join(f"{x} {y}" for x, y in points)


def _kinds() -> str:
    inputs = "".join(
        f'<label><input type="radio" name="kind" value="{value}"{" checked" if value == DEFAULT[0] else ""}> {text}</label>'
        for value, text in KINDS.items()
    )
    return f"<fieldset><legend>You release</legend>{inputs}</fieldset>"


def _slider(name: str, label: str, values: tuple[Any, ...], default: Any) -> str:
    """Return a slider over a list of values, of which explore.js shows the chosen one."""
    listed = " ".join(str(value or 0) for value in values)
    return (
        f'<div><label for="explore-{name}">{label}</label> <output for="explore-{name}"></output><input type="range" '
        f'id="explore-{name}" name="{name}" max="{len(values) - 1}" value="{values.index(default)}" data-values="{listed}"></div>'
    )


def _picture(view: dict[str, Any]) -> str:
    names = list(view["curves"])
    curves = "".join(
        f'<path class="{line}" d="{_path(view["curves"][name]) if name else ""}"/>'
        for line, name in zip_longest(_LINES, names, fillvalue="")
    )
    quarters = range(5)
    grid = "".join(
        f'<line x1="{WIDTH * i // 4}" x2="{WIDTH * i // 4}" y1="0" y2="{HEIGHT}"/>'
        f'<line x1="0" x2="{WIDTH}" y1="{HEIGHT * i // 4}" y2="{HEIGHT * i // 4}"/>'
        for i in quarters
    )
    ticks = "".join(
        f'<text x="{WIDTH * i // 4}" y="{HEIGHT + 24}" text-anchor="{"end" if i == 4 else "middle"}">'
        f"{view['limit'] * (i / 2 - 1):.4g}</text>"
        for i in quarters
    ) + "".join(
        f'<text x="-8" y="{HEIGHT - HEIGHT * i // 4 + 5}" text-anchor="end">{view["top"] * i / 4:.4g}</text>' for i in quarters
    )
    legend = "".join(
        f'<li{"" if name else " hidden"}><label><input type="checkbox" checked> <svg viewBox="0 0 40 10" aria-hidden="true">'
        f'<path class="{line}" d="M0 5H40"/></svg><span>{name}</span></label></li>'
        for line, name in zip_longest(_LINES, names, fillvalue="")
    )
    return (
        '<figure class="explore-picture">'
        "<figcaption>Density of the noise of one release (probabilities, for integers)</figcaption>"
        f'<svg id="explore-picture" viewBox="-110 -20 {WIDTH + 114} {HEIGHT + 50}" role="img" aria-label="{_label(view)}">'
        f"<g>{grid}</g>{ticks}{curves}</svg>"
        f'<ul id="explore-legend">{legend}</ul></figure>'
    )


def _label(view: dict[str, Any]) -> str:
    return f"Noise from -{view['limit']:g} to {view['limit']:g}: {', '.join(view['curves'])}. The table has the numbers."


def _table(view: dict[str, Any]) -> str:
    head = "".join(f'<th scope="col">{name}</th>' for name in COLUMNS)
    body = "".join(f'<tr><th scope="row">{name}</th>{"".join(map(_td, row))}</tr>' for name, *row in view["rows"])
    return (
        '<div class="pst-scrollable-table-container" role="region" aria-label="Errors of each mechanism">'
        '<table class="table" id="explore-table">'
        "<caption>Error of one release, the smallest mean error first</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _td(number: float | None) -> str:
    return f"<td>{'–' if number is None else format(number, 'g')}</td>"


class Explorer(SphinxDirective):
    """The whole explorer."""

    def run(self) -> list[nodes.Node]:
        """Return its HTML."""
        library.note(self.env, __file__, explore_numbers.__file__)
        return [nodes.raw("", html(numbers(Path(self.env.srcdir) / "_build" / "explore")), format="html")]


def _script(app: Any, page: str, *_: Any) -> None:
    if page == "explore":
        app.add_js_file("explore.js", loading_method="defer")


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_directive("explorer", Explorer)
    app.connect("html-page-context", _script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
