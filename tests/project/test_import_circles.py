"""No file of the product imports itself, directly or through other files.

Evidence: the texts of all files. Imports in functions and for type checkers count too, because readers follow them.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.project import imports_of_python, imports_of_rust
from tests.project.imports_of_python import Arrows

ROOT = Path(__file__).resolve().parents[2]


def circles(arrows: Arrows) -> Iterator[list[str]]:
    """Return the sets of files that all import each other, directly or not."""
    targets: dict[str, set[str]] = {}
    for source, target in arrows:
        targets.setdefault(source, set()).add(target)

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for target in targets.get(waiting.pop(), set()) - seen:
                seen.add(target)
                waiting.append(target)
        return seen

    reach = {file: reached(file) for file in targets}
    done: set[str] = set()
    for file in sorted(targets):
        if file in reach[file] and file not in done:
            circle = sorted(other for other in reach[file] if file in reach.get(other, set()))
            done.update(circle)
            yield circle


def described(arrows: Arrows) -> str:
    """Describe each circle with the names imported in it."""
    lines = []
    for circle in circles(arrows):
        lines.append(f"{len(circle)} files: {', '.join(circle)}")
        inside = sorted(pair for pair in arrows if set(pair) <= set(circle))
        lines += [f"    {source} takes from {target}: {', '.join(sorted(arrows[source, target]))}" for source, target in inside]
    return "\n".join(lines)


def test_python_has_no_circle() -> None:
    assert not (found := described(imports_of_python.arrows(ROOT / "python" / "stairnoise"))), f"\n{found}"


@pytest.mark.parametrize("crate", ["core", "binding"])
def test_rust_has_no_circle(crate: str) -> None:
    assert not (found := described(imports_of_rust.arrows(ROOT / "rust" / crate / "src" / "lib.rs", ROOT))), f"\n{found}"


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_circles_of_python_are_seen(tmp_path: Path) -> None:
    """Circles are found through imports for type checkers, in functions, and of a name in a package's `__init__.py`."""
    files = {
        "a/__init__.py": "",
        "a/one.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a.two import T\n",
        "a/two.py": "def late():\n    from . import one\n",
        "a/b/__init__.py": "from a.b.three import X\nY = X\n",
        "a/b/three.py": "import a.b as b\nX = 1\n",
        "a/b/four.py": "from . import three, Y\nimport json\n",
    }
    found = imports_of_python.arrows(written(tmp_path, files) / "a")
    assert list(circles(found)) == [["a/b/__init__.py", "a/b/three.py"], ["a/one.py", "a/two.py"]]
    assert found["a/b/four.py", "a/b/three.py"] == {"three"}


def test_circles_of_rust_are_seen(tmp_path: Path) -> None:
    """Circles are found through `super`, paths in expressions and re-exported names, but not through tests, comments or `mod`."""
    crate = written(
        tmp_path,
        {
            "lib.rs": "//! use crate::x;\nmod one; mod two; pub mod deep;\npub use deep::Shallow;\n#[cfg(test)]\nmod tests;\n",
            "one.rs": 'use super::two::{Two, self as second};\npub struct One;\nconst TEXT: &str = "crate::deep";\n',
            "two.rs": "pub struct Two;\nfn f() { let _ = crate::one::One; }\nmod inner { use super::super::deep; }\n",
            "tests.rs": "use crate::one::One;\n",
            "deep/mod.rs": "mod leaf;\npub use leaf::Leaf;\npub const SIZE: usize = 3;\npub struct Shallow(leaf::Leaf);\n",
            "deep/leaf.rs": "pub struct Leaf;\n#[cfg(test)]\nmod tests { use super::super::SIZE; }\n",
            "deep/user.rs": "",
        },
    )
    found = imports_of_rust.arrows(crate / "lib.rs", tmp_path)
    assert list(circles(found)) == [["one.rs", "two.rs"]]
    assert ("two.rs", "deep/mod.rs") in found
    assert ("deep/leaf.rs", "deep/mod.rs") not in found
    (crate / "deep/leaf.rs").write_text("use crate::deep::SIZE;\npub struct Leaf;\n")
    assert ["deep/leaf.rs", "deep/mod.rs"] in list(circles(imports_of_rust.arrows(crate / "lib.rs", tmp_path)))
