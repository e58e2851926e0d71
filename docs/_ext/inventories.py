"""Write inventories of other projects' documentation, from lists of the names that the pages use.

The first line of a list is the documentation's address. Every other line has a name, its kind and its page; a final `$` stands
for the name. Sphinx reads the compressed form, which is written here.
"""

import zlib
from pathlib import Path

_HEAD = "# Sphinx inventory version 2\n# Project: {0}\n# Version: \n# The remainder of this file is compressed using zlib.\n"


def mapping(lists: Path, compiled: Path) -> dict[str, tuple[str, str]]:
    """Compile every list of a folder, and return their `intersphinx_mapping`."""
    compiled.mkdir(parents=True, exist_ok=True)
    found = {}
    for path in sorted(lists.glob("*.txt")):
        address, *lines = path.read_text(encoding="utf-8").split("\n")
        entries = [line.split() for line in lines if line]
        body = "".join(f"{name} {kind} 1 {page} -\n" for name, kind, page in entries)
        target = compiled / f"{path.stem}.inv"
        target.write_bytes(_HEAD.format(path.stem).encode() + zlib.compress(body.encode()))
        found[path.stem] = (address, str(target))
    return found
