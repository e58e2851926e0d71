"""Pack and unpack the fuzz targets' kept inputs: a sorted text file for each target, a line of hexadecimal digits for each input.

``unpack FILE FOLDER`` writes the inputs of a file to a folder; ``pack FOLDER FILE`` writes them back.
"""

import hashlib
import sys
from pathlib import Path


def unpack(file: Path, folder: Path) -> None:
    """Write each input to a file with libFuzzer's name for the input."""
    folder.mkdir(parents=True, exist_ok=True)
    for line in file.read_text("ascii").splitlines():
        data = bytes.fromhex(line)
        (folder / hashlib.sha1(data, usedforsecurity=False).hexdigest()).write_bytes(data)


def pack(folder: Path, file: Path) -> None:
    """Write the inputs of a folder to one file."""
    lines = sorted({path.read_bytes().hex() for path in folder.iterdir()})
    file.write_text("".join(f"{line}\n" for line in lines), "ascii", newline="\n")


if __name__ == "__main__":
    action, source, target = sys.argv[1:]
    {"unpack": unpack, "pack": pack}[action](Path(source), Path(target))
