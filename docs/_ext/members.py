"""The members that a class's page lists, and docstrings in the form that Sphinx needs."""

import html
import inspect
import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from docutils import nodes
from public import NAMES
from sphinx import addnodes
from sphinx.ext.autodoc.mock import mock

# Members of these classes belong to Python.
_PLAIN = (object, tuple, Sequence, BaseException)
_CODE = re.compile(r"(:\w+:`[^`]*`|``.*?``|`[^`]*`)")
_BAR = re.compile(r"(?<!\\)\|")
# The groups of members, in the order of use. Any other method is in the first group, any other property in the last.
_GROUPS = {
    "Use": "select release sample sample_chunks for_partitions release_modulo share from_eps from_pmf",
    "Error": "error_bound confidence_interval eps_for_error expected_cost expected_norm plot_error noise_mean noise_std",
    "Privacy": (
        "guarantee exactness eps_for_delta privacy_map privacy_loss compose privacy_profile tradeoff rdp rdp_bound rho pure_eps "
        "privacy_eps losses_by_shift"
    ),
    "Distribution": (
        "plot mean median std var stats entropy moment abs_moment interval support pdf logpdf pmf logpmf cdf sf logcdf logsf ppf "
        "isf norm_cdf norm_sf norm_ppf norm_isf probability probabilities log_probabilities stairs"
    ),
    "Interoperability": (
        "as_scipy to_dp_accounting to_frame to_pandas to_polars to_arrow to_dicts to_dict to_json to_csv write save texts"
    ),
    "Attributes": "",
}


# Adapters import the library that they are for. Classes of a library that is not installed are replaced by empty ones.
ADAPTED = ["diffprivlib", "opendp"]


def _public() -> dict[str, Any]:
    with mock(ADAPTED):
        return {name: getattr(import_module(name.rpartition(".")[0]), name.rpartition(".")[2]) for name in NAMES}


PUBLIC = _public()
_CLASSES = {name: kind for name, kind in PUBLIC.items() if inspect.isclass(kind)}


def _own(kind: type) -> dict[str, Any]:
    found = {member: inspect.getattr_static(kind, member) for member in dir(kind) if not member.startswith("_")}
    inherited = [base for base in kind.__mro__ if base in _PLAIN]
    return {member: thing for member, thing in found.items() if not any(vars(base).get(member) is thing for base in inherited)}


def _listed(kind: type) -> dict[str, list[tuple[str, str]]]:
    """Return the properties and methods of a class by group; its docstring has other kinds of attributes."""
    found: dict[str, list[tuple[str, str]]] = {group: [] for group in _GROUPS}
    order = {member: (group, place) for group, names in _GROUPS.items() for place, member in enumerate(names.split())}
    own = _own(kind)
    for member in sorted(own, key=lambda name: order.get(name, ("", 99))[1]):
        is_method = inspect.isroutine(own[member]) or isinstance(own[member], (classmethod, staticmethod))
        if is_method or isinstance(own[member], property):
            group, _ = order.get(member, ("Use" if is_method else "Attributes", 0))
            found[group].append(("method" if is_method else "property", member))
    return {group: members for group, members in found.items() if members}


def members() -> dict[str, dict[str, list[tuple[str, str]]]]:
    """Return the members of every public class by group, each with its kind."""
    return {name: _listed(kind) for name, kind in _CLASSES.items()}


def types() -> dict[str, str]:
    """Return links for words in parameters' types that numpydoc does not know; "generator" does not mean Python's."""
    errors = ("MemoryError", "ModuleNotFoundError", "RuntimeError", "TypeError")
    return {
        **{name.rpartition(".")[2]: name for name in reversed(_CLASSES)},
        **{name: f":exc:`python:{name}`" for name in errors},
        "bytes": ":class:`python:bytes`",
        "dtype": "numpy.dtype",
        "generator": "generator",
        "iterator": ":term:`python:iterator`",
    }


def escape_bars(lines: list[str]) -> list[str]:
    """Return a docstring in which E|X| is text, because |X| is a substitution in reStructuredText."""
    found, formula, session = [], None, False
    for line in lines:
        session = line.lstrip().startswith(">>>") or (session and bool(line.strip()))
        indent = len(line) - len(line.lstrip())
        if formula is not None and line.strip() and indent <= formula:
            formula = None
        if line.lstrip().startswith((".. math::", ".. code-block::")):
            formula = indent
        if formula is None and not session:
            parts = _CODE.split(line)
            parts[::2] = [_BAR.sub(r"\|", part) for part in parts[::2]]
            line = "".join(parts)
        found.append(line)
    return found


def _docstring(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = escape_bars(lines)


def _signature(app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: Any) -> Any:
    """Hide the parameters of a class that users do not construct, such as `Comparison`; its docstring does not list all."""
    if what != "class" or not signature:
        return None
    described = set(re.findall(r"\w+", inspect.getdoc(thing) or ""))
    return None if described.issuperset(inspect.signature(thing).parameters) else ("", returned)


class Folded(nodes.General, nodes.Element):
    """All of a member's description but its first sentence, or a command's options; the reader unfolds it."""


def _open(translator: Any, node: Folded) -> None:
    translator.body.append(f"<details><summary>{html.escape(node['summary'])}</summary>\n")


def _close(translator: Any, node: Folded) -> None:
    translator.body.append("</details>\n")


def _fold(app: Any, page: nodes.document) -> None:
    """Fold the members of a class, whose page would otherwise be thirty screens long."""
    for content in page.findall(addnodes.desc_content):
        if content.parent["objtype"] in ("method", "property") and content[1:] and content[1].astext():
            first, *others = content.children
            headings = [
                part for other in others for part in other.findall(lambda n: isinstance(n, (nodes.field_name, nodes.rubric)))
            ]
            summary = ", ".join(heading.astext() for heading in headings) or "More"
            content.children = []
            content += [first, Folded("", *others, summary=summary)]


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_node(Folded, html=(_open, _close))
    app.add_css_file("members.css")
    app.add_js_file("members.js")
    app.connect("doctree-read", _fold)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _docstring, priority=900)  # after numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
