"""The public names: those in `__all__` of the package, and of packages and modules that are imported by their own name."""

import ast
import re
from pathlib import Path

import stairnoise as sn

_ALL = re.compile(r"^__all__ \+?= (\[.*?\])", re.MULTILINE | re.DOTALL)


def names() -> list[str]:
    """Return the full names. What modules beside the package's ``__init__`` name is a name of the package."""
    found = [f"stairnoise.{name}" for name in sn.__all__]
    folder = Path(sn.__file__).parent
    for path in sorted(folder.rglob("*/*.py")):
        lists = _ALL.findall(path.read_text(encoding="utf-8"))
        module = ".".join(path.relative_to(folder.parent).with_suffix("").parts).removesuffix(".__init__")
        if "._" not in module:
            found += [f"{module}.{name}" for listed in lists for name in ast.literal_eval(listed)]
    return found


NAMES = names()
