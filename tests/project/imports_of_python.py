"""The imports between files of a Python package, read from their text, including imports in functions and for type checkers."""

import ast
from collections.abc import Iterator
from pathlib import Path

Arrows = dict[tuple[str, str], set[str]]


def arrows(package: Path) -> Arrows:
    """Return the names that each file imports from each other file; for a whole module, the module's name."""
    files = {module_of(package, path): path for path in package.rglob("*.py*") if path.suffix in (".py", ".pyi")}
    found: Arrows = {}
    for module, path in files.items():
        for target, name in imported(module, path, files):
            if target != module:
                pair = (str(path.relative_to(package.parent)), str(files[target].relative_to(package.parent)))
                found.setdefault(pair, set()).add(name)
    return found


def module_of(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(module: str, path: Path, files: dict[str, Path]) -> Iterator[tuple[str, str]]:
    """Return pairs of a module of the package and a name imported from it."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, alias.name) for alias in node.names if alias.name in files)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                # `from package import name` imports the module of that name if it exists.
                whole = f"{source}.{alias.name}"
                if whole in files:
                    yield whole, alias.name
                elif source in files:
                    yield source, alias.name
