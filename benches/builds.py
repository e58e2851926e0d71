"""Build a commit of this project for comparison, in its own folder that is kept between runs.

python -m benches.builds efc073a0        # builds it if necessary, and prints where its package is
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "target" / "builds"


def git(*arguments: str) -> str:
    """Return git's output; raise CalledProcessError if git fails."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def head() -> str:
    """Return the checked-out commit, with a plus sign if files differ from it; empty outside a clone."""
    try:
        return git("rev-parse", "--short=7", "HEAD") + "+" * bool(git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return ""


def exists(commit: str) -> bool:
    """Whether the history of this clone has the commit."""
    try:
        return bool(git("rev-parse", "--quiet", "--verify", f"{commit}^{{commit}}"))
    except (OSError, subprocess.CalledProcessError):
        return False


def build(commit: str) -> Path:
    """Return the folder of a commit's package, built with the commit's release profile unless it exists."""
    folder = KEPT / git("rev-parse", "--short=12", f"{commit}^{{commit}}")
    site = folder / "site"
    if not site.is_dir():
        print(f"building commit {commit} once, which takes minutes", file=sys.stderr)
        source = folder / "source"
        shutil.rmtree(folder, ignore_errors=True)
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(source, filter="data")
        command = [sys.executable, "-m", "maturin", "build", "--release", "--quiet", "--out", str(folder)]
        subprocess.run(command, cwd=source, env=os.environ | {"CARGO_TARGET_DIR": str(KEPT / "cargo")}, check=True)
        (wheel,) = folder.glob("*.whl")
        shutil.unpack_archive(wheel, folder / "unpacked", "zip")
        shutil.rmtree(source)
        (folder / "unpacked").rename(site)  # the last step, so that a folder of this name is complete
    return site


def tiers(package: Path) -> list[str]:
    """Return the instruction sets that a built package has for this machine, slowest first."""
    code = "import stairnoise; print(*stairnoise.cpu_tiers())"
    environment = {key: value for key, value in os.environ.items() if key != "STAIRNOISE_CPU"} | {"PYTHONPATH": str(package)}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=package).stdout.split()


if __name__ == "__main__":
    print(build(sys.argv[1]))
