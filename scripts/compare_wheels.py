"""List the members in which two wheels differ: `python scripts/compare_wheels.py A.whl B.whl`. Exit 0 if the wheels are equal."""

import sys
import zipfile
from pathlib import Path


def differences(one: Path, other: Path) -> list[str]:
    """Return a line for each difference; no lines mean that the archives are equal bit by bit."""
    if one.read_bytes() == other.read_bytes():
        return []
    with zipfile.ZipFile(one) as first, zipfile.ZipFile(other) as second:
        members = [{info.filename: info for info in archive.infolist()} for archive in (first, second)]
        lines = [f"only in one of them: {name}" for name in sorted(members[0].keys() ^ members[1].keys())]
        for name in sorted(members[0].keys() & members[1].keys()):
            if first.read(name) != second.read(name):
                lines.append(f"content: {name}")
            a, b = (found[name] for found in members)
            if (a.date_time, a.external_attr) != (b.date_time, b.external_attr):
                lines.append(f"time or mode: {name}")
    return lines or ["the order of members, or their compression"]


if __name__ == "__main__":
    found = differences(Path(sys.argv[1]), Path(sys.argv[2]))
    print(*found, sep="\n")
    sys.exit(bool(found))
