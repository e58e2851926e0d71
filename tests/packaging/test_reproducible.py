"""Two builds in two folders give the same wheel, as far as the scripts around the compiler decide.

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
needs_git = pytest.mark.skipif(os.name != "posix" or shutil.which("git") is None, reason="needs a POSIX system with git")
SBOM = "stairnoise-1.dist-info/sboms/stairnoise-python.cyclonedx.json"
RECORD = "stairnoise-1.dist-info/RECORD"


def wheel(path: Path, folder: str, module: bytes = b"\x7fELF", time: int = 1980) -> Path:
    """Make up a wheel built in a folder."""
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


# This replaces the compiler: it makes a wheel of the commit's name and the output of `also`. Then somebody commits.
BUILD = """#!/bin/sh
cd "$(dirname "$0")/.."
{ git rev-parse HEAD; sh ./also; } >content
python3 -c '
import sys, zipfile
zipfile.ZipFile(sys.argv[1], "w").writestr(zipfile.ZipInfo("content"), open("content").read())' "$1/one.whl"
date >>"$ROOT/README" && git -C "$ROOT" -c user.name=test -c user.email=test@localhost commit --quiet --all --message 'A change'
"""


@needs_git
@pytest.mark.parametrize(("also", "status", "said"), [("echo 1", 0, "equal, bit for bit\n"), ("pwd", 1, "content: content\n")])
def test_both_builds_are_of_the_commit_of_the_beginning(tmp_path: Path, also: str, status: int, said: str) -> None:
    (tmp_path / "scripts").mkdir()
    for name in ("reproduce.sh", "compare_wheels.py"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    build = tmp_path / "scripts" / "build_wheel.sh"
    build.write_text(BUILD)
    build.chmod(0o755)
    (tmp_path / "also").write_text(also)
    (tmp_path / "README").touch()
    (tmp_path / ".gitignore").write_text("target\n")
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "All"]):
        subprocess.run(["git", "-c", "user.name=test", "-c", "user.email=test@localhost", *command], cwd=tmp_path, check=True)
    done = subprocess.run(
        ["/bin/sh", "scripts/reproduce.sh"],
        cwd=tmp_path,
        env=os.environ | {"ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.endswith(said)) == (status, True), done.stdout + done.stderr


@pytest.mark.long
@needs_git
def test_two_builds_of_this_commit_are_equal() -> None:
    """`make reproduce`: two clones in two folders are compiled."""
    done = subprocess.run([ROOT / "scripts" / "reproduce.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.endswith("equal, bit for bit\n")
    first, second = re.findall(r"^([0-9a-f]{64})  (.*)$", done.stdout, re.MULTILINE)
    assert first[0] == second[0] == hashlib.sha256(Path(second[1]).read_bytes()).hexdigest()
