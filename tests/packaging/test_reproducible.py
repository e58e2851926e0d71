"""Two builds in two folders give the same wheel: what the scripts around the compiler have to do for that.

The wheels are made up here, as maturin writes them. `make reproduce` builds two real ones; the long test here does.
"""

import hashlib
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from scripts import compare_wheels, normalise_wheel

ROOT = Path(__file__).resolve().parents[2]
SBOM = "stairnoise-1.dist-info/sboms/stairnoise-python.cyclonedx.json"
RECORD = "stairnoise-1.dist-info/RECORD"


def wheel(path: Path, folder: str, module: bytes = b"\x7fELF", time: int = 1980) -> Path:
    """A wheel that was built in a folder."""
    sbom = f'{{"bom-ref": "path+file://{folder}/rust/core#stairnoise@1", "purl": "pkg:cargo/aes@0.9"}}'.encode()
    files = {"stairnoise/_native.abi3.so": module, "stairnoise/data/a,b.csv": b"1", SBOM: sbom}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        lines = []
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, (time, 1, 1, 0, 0, 0)), content)
            quoted = f'"{name}"' if "," in name else name
            lines.append(f"{quoted},{normalise_wheel.digest(content)},{len(content)}\n")
        archive.writestr(zipfile.ZipInfo(RECORD, (time, 1, 1, 0, 0, 0)), "".join(lines) + f"{RECORD},,\n")
    return path


def test_wheels_of_two_folders_are_equal_once_normalised(tmp_path: Path) -> None:
    one = wheel(tmp_path / "one.whl", "/home/someone/stairnoise")
    other = wheel(tmp_path / "other.whl", "/tmp/another%20folder/deeper/stairnoise")
    assert compare_wheels.differences(one, other) == [f"content: {name}" for name in sorted([RECORD, SBOM])]
    for path in (one, other):
        normalise_wheel.normalise(path)
    assert compare_wheels.differences(one, other) == []
    before = one.read_bytes()
    normalise_wheel.normalise(one)
    assert one.read_bytes() == before
    with zipfile.ZipFile(one) as archive:
        assert b"someone" not in archive.read(SBOM)
        assert b"path+file:///stairnoise/rust/core#stairnoise@1" in archive.read(SBOM)
        assert b"pkg:cargo/aes@0.9" in archive.read(SBOM)


def test_the_record_is_that_of_the_contents(tmp_path: Path) -> None:
    path = wheel(tmp_path / "one.whl", "/home/someone/stairnoise")
    normalise_wheel.normalise(path)
    with zipfile.ZipFile(path) as archive:
        lines = archive.read(RECORD).decode().splitlines()
        for name in archive.namelist():
            content = archive.read(name)
            quoted = f'"{name}"' if "," in name else name
            said = f"{quoted},," if name == RECORD else f"{quoted},{normalise_wheel.digest(content)},{len(content)}"
            assert said in lines
    assert len(lines) == 4


@pytest.mark.parametrize(
    ("change", "line"),
    [({"module": b"other"}, "content: stairnoise/_native.abi3.so"), ({"time": 1981}, "time or mode: stairnoise/_native.abi3.so")],
)
def test_what_differs_is_named(tmp_path: Path, change: dict[str, object], line: str) -> None:
    one = wheel(tmp_path / "one.whl", "/a/stairnoise")
    other = wheel(tmp_path / "other.whl", "/a/stairnoise", **change)  # type: ignore[arg-type]
    assert line in compare_wheels.differences(one, other)


def test_every_wheel_is_normalised_and_has_the_commit_s_time() -> None:
    script = (ROOT / "scripts" / "build_wheel.sh").read_text(encoding="utf-8")
    steps = [script.index(step) for step in ("SOURCE_DATE_EPOCH=$(git log", 'maturin" build', "normalise_wheel.py")]
    assert steps == sorted(steps)
    assert 'maturin" build' not in (ROOT / "scripts" / "wheels.sh").read_text(encoding="utf-8")
    assert "--remap-path-prefix" in script
    assert re.search(r" maturin==\d+\.\d+\.\d+ ziglang==\d+\.\d+\.\d+ ", script)


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix" or shutil.which("git") is None, reason="the script is for POSIX systems with git")
def test_two_builds_of_this_commit_are_equal() -> None:
    """`make reproduce`: two clones, two folders, two compilations."""
    done = subprocess.run([ROOT / "scripts" / "reproduce.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.endswith("equal, bit for bit\n")
    first, second = re.findall(r"^([0-9a-f]{64})  (.*)$", done.stdout, re.MULTILINE)
    assert first[0] == second[0] == hashlib.sha256(Path(second[1]).read_bytes()).hexdigest()
