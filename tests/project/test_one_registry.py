"""Only the registry knows the mechanisms by name; the rest of the package asks the registry or the mechanism.

Evidence: the syntax trees of all files of the package, and of example lines that break each rule.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import stairnoise
from stairnoise.registry import ROWS

ROOT = Path(stairnoise.__file__).parent
NAMES = {row.name for row in ROWS}
CLASSES = {row.class_name for row in ROWS} | {
    "AdditiveMechanism",
    "ContinuousMechanism",
    "DiscreteMechanism",
    "ArrayParameters",
}
# The registry itself, the list of public names for type checkers, and the names of another library's classes.
MAY_LIST = {"registry.py", "__init__.py", "compat/diffprivlib.py"}
# A function that names fewer mechanisms than this is about these mechanisms, and has no list of all.
MANY = 3
FILES = sorted(path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).as_posix() not in MAY_LIST)


def breaks(source: str) -> Iterator[str]:
    """Return the places where a file decides by a mechanism's class or lists mechanisms."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
            if words(node.args[1]) & CLASSES:
                yield f"line {node.lineno}: {node.func.id} of a mechanism"
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(words(side) & CLASSES for side in sides) and any(is_type(side) for side in sides):
                yield f"line {node.lineno}: the type of a mechanism is compared"
            if any(texts(side) & NAMES for side in sides):
                yield f"line {node.lineno}: the name of a mechanism is compared"
        elif isinstance(node, ast.match_case) and (words(node.pattern) & CLASSES or texts(node.pattern) & NAMES):
            yield f"line {node.pattern.lineno}: a mechanism is matched"
        elif isinstance(node, (ast.List, ast.Tuple, ast.Set, ast.Dict)):
            entries = [key for key in node.keys if key] if isinstance(node, ast.Dict) else node.elts
            if sum(entry_names_a_mechanism(entry) for entry in entries) >= MANY:
                yield f"line {node.lineno}: a list of mechanisms"
        elif isinstance(node, (ast.Name, ast.Attribute)) and "_kind" in (getattr(node, "id", ""), getattr(node, "attr", "")):
            yield f"line {node.lineno}: _kind"


def words(node: ast.AST) -> set[str]:
    """Return names and the last parts of dotted names."""
    parts = list(ast.walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name)} | {
        part.attr for part in parts if isinstance(part, ast.Attribute)
    }


def texts(node: ast.AST) -> set[str]:
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def is_type(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return getattr(called, "id", getattr(called, "attr", "")) in ("type", "__class__")


def entry_names_a_mechanism(entry: ast.AST) -> bool:
    if isinstance(entry, ast.Constant):
        return entry.value in NAMES | CLASSES
    return isinstance(entry, (ast.Name, ast.Attribute)) and bool(words(entry) & CLASSES)


def test_nothing_else_knows_the_mechanisms() -> None:
    found = {path.relative_to(ROOT).as_posix(): list(breaks(path.read_text(encoding="utf-8"))) for path in FILES}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(mechanism, Laplace)",
        "isinstance(mechanism, (int, sn.Gaussian))",
        "issubclass(kind, DiscreteMechanism)",
        "type(mechanism) is Staircase",
        "mechanism.__class__ == sn.Staircase",
        "x = 1 if name == 'laplace' else 2",
        "name in ('laplace', 'gaussian')",
        "match name:\n    case 'arete': pass",
        "match mechanism:\n    case Arete(): pass",
        "MECHANISMS = [Laplace, Staircase, sn.Gaussian]",
        "MECHANISMS = {'laplace': 1, 'arete': 2, 'gaussian': 3}",
        "class A:\n    _kind = 'laplace'",
        "if mechanism._kind: pass",
    ],
)
def test_a_line_that_breaks_the_rule_is_found(line: str) -> None:
    assert list(breaks(line)) != []


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(x, str)",
        "mechanism = Laplace(1)",
        "load('laplace')",
        "row.kind != 'vector'",
        "(Laplace(1), Laplace(2), Gaussian(1, 0.1))",
    ],
)
def test_other_lines_are_not(line: str) -> None:
    assert list(breaks(line)) == []
