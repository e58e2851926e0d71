"""A machine with fake tools, for the tests of scripts."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

needs_posix = pytest.mark.skipif(os.name != "posix", reason="the scripts and the Makefile are for POSIX systems")


class Machine:
    """A directory of tools, which is all of PATH: some real tools of this machine, and fake ones."""

    def __init__(self, folder: Path, *real: str) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        for tool in real:
            found = shutil.which(tool)
            assert found, f"{tool} is needed to pretend a machine"
            (self.bin / tool).symlink_to(found)

    def install(self, name: str, body: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)

    def remove(self, name: str) -> None:
        (self.bin / name).unlink()

    def run(self, script: str, *arguments: str, **environment: str) -> tuple[int, str, str]:
        """Run a script; return its status, output and errors."""
        done = subprocess.run(
            ["/bin/sh", str(SCRIPTS / script), *arguments],
            env={"PATH": str(self.bin), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr
