"""The imports between the files of a Rust crate, read from their text.

Every `use` declaration counts, and every path in code that begins with `crate`, `self` or `super`. A re-exported name
counts as taken from the file that defines the name. So a `pub use` ties its own module to that file only if the module uses the
name itself. Code for tests does not count, nor do `mod` declarations.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.project.imports_of_python import Arrows

Place = tuple[str, ...]

# Comments, and literals that can contain braces or words. Lifetimes have no closing quote.
SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\[^\']+|[^\'\\])\'', re.DOTALL)
TOKEN = re.compile(
    r"(?P<test>#\[cfg\((?:all\()?test\b[^\]]*\])"
    r"|(?P<mod>\bmod\s+(?P<name>\w+)\s*[;{])"
    r"|(?P<use>(?P<pub>\bpub(?:\([^)]*\))?\s+)?\buse\s+(?P<tree>[^;]+);)"
    r"|(?P<path>\b(?:crate|self|super)(?:\s*::\s*\w+)+)"
    r"|(?P<brace>[{}])"
    r"|(?P<end>;)"
)


@dataclass
class Module:
    """A module: its file, its submodules, the names defined by its `use` declarations, and the paths that it mentions."""

    file: Path
    children: set[str] = field(default_factory=set)
    names: dict[str, Place] = field(default_factory=dict)
    paths: list[Place] = field(default_factory=list)


def arrows(root: Path, above: Path) -> Arrows:
    """Return the names that each file imports from each other file; `root` is the crate's lib.rs."""
    modules: dict[Place, Module] = {}
    read((), root, root.parent, modules)
    found: Arrows = {}
    for place, module in modules.items():
        for path in module.paths:
            target = resolve(path, place, modules)
            if target is not None and modules[target[0]].file != module.file:
                other = modules[target[0]].file
                found.setdefault((str(module.file.relative_to(above)), str(other.relative_to(above))), set()).add(target[1])
    return found


def read(place: Place, file: Path, folder: Path, modules: dict[Place, Module]) -> None:
    """Read a file and the files of the modules declared in it."""
    text = SILENT.sub(" ", file.read_text(encoding="utf-8"))
    modules[place] = Module(file)
    # For each open brace, the name of the module that it opened, or None.
    opened: list[str] = []
    depth_of_tests: int | None = None
    is_test = False
    handed_on: list[tuple[Place, str, Place]] = []
    for token in TOKEN.finditer(text):
        here = (*place, *filter(None, opened))
        quiet = is_test or depth_of_tests is not None
        if token["test"]:
            is_test = True
        elif token["brace"] == "}":
            opened.pop()
            if depth_of_tests == len(opened):
                depth_of_tests = None
        elif token["brace"] or (token["mod"] or "").endswith("{"):
            if is_test and depth_of_tests is None:
                depth_of_tests = len(opened)
            is_test = False
            opened.append(token["name"] or "")
            if token["name"] and not quiet:
                modules[here].children.add(token["name"])
                modules[(*here, token["name"])] = Module(file)
        else:
            is_test = False
            if quiet:
                continue
            if token["mod"]:
                modules[here].children.add(token["name"])
                read((*here, token["name"]), *file_of(folder.joinpath(*filter(None, opened)), token["name"]), modules)
            elif token["use"]:
                for path, name in leaves(token["tree"]):
                    modules[here].names[name] = path
                    handed_on.append((here, name, path)) if token["pub"] else modules[here].paths.append(path)
            elif token["path"]:
                modules[here].paths.append(tuple(re.split(r"\s*::\s*", token["path"])))
    body = re.sub(r"\buse\s+[^;]+;", " ", text)
    for here, name, path in handed_on:
        if re.search(rf"\b{re.escape(name)}\b", body):
            modules[here].paths.append(path)


def file_of(folder: Path, name: str) -> tuple[Path, Path]:
    """Return a module's file and the folder of its submodules."""
    flat = folder / f"{name}.rs"
    return (flat if flat.exists() else folder / name / "mod.rs"), folder / name


def leaves(tree: str, before: Place = ()) -> Iterator[tuple[Place, str]]:
    """Return the paths of a `use` declaration with the names that they define here."""
    head, brace, rest = tree.strip().partition("{")
    path = (*before, *(part.strip() for part in head.split("::") if part.strip()))
    if brace:
        for branch in branches(rest.strip().removesuffix("}")):
            yield from leaves(branch, path)
    elif path:
        last, _, name = path[-1].partition(" as ")
        path = path[:-1] if last == "self" else (*path[:-1], last.strip())
        yield path, name.strip() or path[-1]


def branches(text: str) -> Iterator[str]:
    """Split at the commas that are outside nested braces."""
    depth, start = 0, 0
    for index, character in enumerate(text):
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            yield text[start:index]
            start = index + 1
    if text[start:].strip():
        yield text[start:]


def resolve(path: Place, place: Place, modules: dict[Place, Module]) -> tuple[Place, str] | None:
    """Return the module that defines a path used in a module, and the name there; return None for other crates."""
    first, rest = path[0], path[1:]
    if first == "crate":
        here: Place = ()
    elif first == "super":
        here = place[:-1]
    elif first == "self":
        here = place
    elif first in modules[place].children:
        here, rest = place, path
    else:
        return None
    while rest:
        if rest[0] == "super":
            here, rest = here[:-1], rest[1:]
        elif rest[0] in modules[here].children and (*here, rest[0]) in modules:
            here, rest = (*here, rest[0]), rest[1:]
        else:
            break
    if not rest:
        return here, here[-1] if here else "crate"
    further = modules[here].names.get(rest[0])
    if further is not None and further != path:
        return resolve((*further, *rest[1:]), here, modules) or None
    return here, rest[0]
