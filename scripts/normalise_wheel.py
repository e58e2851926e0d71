"""Remove the build folder from wheels, in place: `python scripts/normalise_wheel.py WHEEL...`.

maturin's bill of materials (SBOM) names our two crates by their paths on the building machine. This script writes their paths in
the repository instead, puts the new digest into RECORD, and writes the archive again, member by member.
"""

import base64
import csv
import hashlib
import io
import re
import sys
import zipfile
from pathlib import Path

# An example: `path+file:///home/me/stairnoise/rust/core#stairnoise@1.0.0`.
OURS = re.compile(rb'path\+file://[^"#]*?/rust/')
SAME = b"path+file:///stairnoise/rust/"


def digest(content: bytes) -> str:
    """Return RECORD's digest of a file with this content."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def normalise(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
    changed = {info.filename: OURS.sub(SAME, content) for info, content in members if "/sboms/" in info.filename}
    new = wheel.with_suffix(".new")
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED) as archive:
        for old, content in members:
            info = zipfile.ZipInfo(old.filename, old.date_time)
            info.external_attr, info.create_system, info.compress_type = (
                old.external_attr,
                old.create_system,
                zipfile.ZIP_DEFLATED,
            )
            archive.writestr(info, record(content, changed) if is_record(old.filename) else changed.get(old.filename, content))
    new.replace(wheel)


def is_record(name: str) -> bool:
    return name.endswith(".dist-info/RECORD")


def record(content: bytes, changed: dict[str, bytes]) -> bytes:
    """Return RECORD with the digests and sizes of the changed files."""
    rows = list(csv.reader(io.StringIO(content.decode())))
    for row in rows:
        if row and row[0] in changed:
            row[1:] = [digest(changed[row[0]]), str(len(changed[row[0]]))]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        normalise(Path(name))
