"""`pip install stairnoise` works without Rust, from an index on this machine, in an empty environment.

The index has the form of PEP 503, with NumPy beside the wheel. The wheel is from the folder STAIRNOISE_DIST, as in `make wheels`,
or is built here with the quick profile. pip reads no configuration of the user, and PATH has no tool.
"""

import contextlib
import functools
import hashlib
import html
import http.server
import os
import re
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.long, pytest.mark.skipif(os.name != "posix", reason="the paths are those of POSIX systems")]

ROOT = Path(__file__).resolve().parents[2]

TRY = """
import numpy as np
import stairnoise as sn
assert "site-packages" in sn.__file__, sn.__file__
assert sn.DiscreteLaplace(1.0).release(np.array([10, 20, 30])).dtype == np.int64
assert sn.selftest(subjects=["known answers"]).passed
print(sn.__version__)
"""


def built(folder: Path) -> Path:
    """The wheel for this machine."""
    if "STAIRNOISE_DIST" in os.environ:
        tag = "musllinux" if "musl" in (os.confstr("CS_GNU_LIBC_VERSION") or "musl") else "manylinux|macosx"
        found = [path for path in Path(os.environ["STAIRNOISE_DIST"]).glob("*-abi3-*.whl") if re.search(tag, path.name)]
        found = [path for path in found if os.uname().machine in path.name]
        assert found, "no wheel for this machine"
        return found[0]
    command = [sys.executable, "-m", "maturin", "build", "--profile", "quick", "--locked", "--out", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The files of the index: the wheel, and the NumPy that pip would choose."""
    folder = tmp_path_factory.mktemp("files")
    wheel = built(folder)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", str(folder), "numpy>=1.26"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"NumPy could not be downloaded: {done.stderr.strip().splitlines()[-1]}")
    return [wheel, next(folder.glob("numpy-*.whl"))]


@pytest.fixture(scope="module")
def index(files: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the files on a local port, with a page for each project."""
    folder = tmp_path_factory.mktemp("index")
    for file in files:
        project = folder / "simple" / file.name.partition("-")[0]
        project.mkdir(parents=True)
        (project / file.name).symlink_to(file)
        with zipfile.ZipFile(file) as archive:
            (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            required = re.search(r"^Requires-Python: (.+)$", archive.read(metadata).decode(), re.MULTILINE)
        assert required is not None
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        link = f'<a href="{file.name}#sha256={digest}" data-requires-python="{html.escape(required[1])}">{file.name}</a>'
        (project / "index.html").write_text(f"<!DOCTYPE html><html><body>{link}</body></html>")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/simple"
        server.shutdown()


class Empty:
    """An environment with only pip, for a user who has no other tool."""

    def __init__(self, folder: Path) -> None:
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        self.python = folder / "venv" / "bin" / "python"
        (folder / "home").mkdir()
        (folder / "nothing").mkdir()
        self.environment = {
            "HOME": str(folder / "home"),
            "PATH": str(folder / "nothing"),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_CACHE_DIR": "1",
        }
        self.folder = folder

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.python), *arguments]
        return subprocess.run(command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False)


@pytest.fixture
def empty(tmp_path: Path) -> Empty:
    return Empty(tmp_path)


def test_pip_install_without_rust(index: str, empty: Empty) -> None:
    done = empty.run("-m", "pip", "install", "--index-url", index, "stairnoise")
    assert done.returncode == 0, done.stderr
    assert {line.partition("==")[0] for line in empty.run("-m", "pip", "freeze").stdout.split()} == {"numpy", "stairnoise"}
    tried = empty.run("-I", "-W", "error", "-c", TRY)
    assert tried.returncode == 0, tried.stderr
    assert empty.run("-m", "pip", "check").returncode == 0
    # pip compiled nothing and fetched nothing from elsewhere.
    assert list((empty.folder / "home").iterdir()) == []


def test_pip_install_with_hashes(index: str, empty: Empty, files: list[Path]) -> None:
    """The commands of docs/verify_installation.md: pip accepts only files whose hashes were written down."""
    lines = []
    for file in files:
        project, version = file.name.split("-")[:2]
        lines.append(f"{project}=={version} --hash=sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}\n")
    requirements = empty.folder / "requirements.txt"
    command = [
        "-m",
        "pip",
        "install",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--index-url",
        index,
        "-r",
        "requirements.txt",
    ]
    requirements.write_text(lines[0][:-5] + "0000\n" + lines[1])
    refused = empty.run(*command)
    assert refused.returncode != 0
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in refused.stderr
    requirements.write_text("".join(lines))
    done = empty.run(*command)
    assert done.returncode == 0, done.stderr
    assert empty.run("-I", "-W", "error", "-c", TRY).returncode == 0


def test_a_folder_of_wheels_is_enough(empty: Empty, files: list[Path]) -> None:
    for file in files:
        with contextlib.suppress(FileExistsError):
            (empty.folder / file.name).symlink_to(file)
    done = empty.run("-m", "pip", "install", "--no-index", "--find-links", str(empty.folder), "stairnoise")
    assert done.returncode == 0, done.stderr
    assert empty.run("-I", "-W", "error", "-c", TRY).returncode == 0
