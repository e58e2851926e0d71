"""The steps of `make wheels` around the compiler: requested wheels, messages about missing tools, copied files."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts import test_installed

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the Makefile is for POSIX systems")

# Makes an environment with fake tools that record their calls, and a file for each wheel.
PYTHON = """#!/bin/sh
echo "python $*" >>"$LOG"
case "$*" in
-m\\ venv*) mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; cp "$(dirname "$0")/maturin" "$3/bin/maturin" ;;
*version_info*) echo cp314t ;;
*scripts/check_wheel.py*) exit "${CHECK:-0}" ;;
esac
"""
MATURIN = """#!/bin/sh
echo "maturin $*" >>"$LOG"
mkdir -p dist target/wheels/new
case "$*" in
sdist*) touch dist/stairnoise-1.tar.gz ;;
*python3.14t*) touch target/wheels/new/stairnoise-1-cp314-cp314t-manylinux.whl ;;
*-musl*) touch target/wheels/new/stairnoise-1-cp310-abi3-musllinux.whl ;;
*) touch target/wheels/new/stairnoise-1-cp310-abi3-manylinux.whl ;;
esac
"""
RUSTC = "#!/bin/sh\necho 'host: x86_64-unknown-linux-gnu'\n"
UNAME = """#!/bin/sh
case "$1" in -m) echo x86_64 ;; *) echo Linux ;; esac
"""


class Checkout:
    """A copy of the script with fake tools only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        for name in ("scripts", "bin"):
            (folder / name).mkdir()
        for script in ("wheels.sh", "build_wheel.sh"):
            shutil.copy(ROOT / "scripts" / script, folder / "scripts")
        for tool in ("cp", "basename", "cat", "dirname", "ls", "mkdir", "mv", "rm", "sed", "sh", "touch", "true"):
            found = shutil.which(tool)
            assert found
            (self.bin / tool).symlink_to(found)
        for name, body in {"python3": PYTHON, "maturin": MATURIN, "uname": UNAME, "rustc": RUSTC}.items():
            self.install(name, body)
        for name in ("git", "sha256sum"):
            self.install(name, "#!/bin/sh\necho 5\n")

    def install(self, name: str, body: str) -> None:
        (self.bin / name).write_text(body)
        (self.bin / name).chmod(0o755)

    def run(self, *arguments: str, **extra: str) -> tuple[int, str, list[str]]:
        log = self.folder / "log"
        done = subprocess.run(
            ["/bin/sh", str(self.folder / "scripts" / "wheels.sh"), *arguments],
            env={"PATH": str(self.bin), "HOME": "/home", "LOG": str(log), **extra},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr, log.read_text().splitlines()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_two_wheels_and_a_source_distribution_are_built_and_what_can_be_installed_is_tested(checkout: Checkout) -> None:
    status, text, log = checkout.run("tests/exactness")
    assert status == 0, text
    glibc, musl = (line for line in log if line.startswith("maturin build"))
    assert "--target x86_64-unknown-linux-gnu " in glibc
    assert "--zig --compatibility manylinux2014 " in glibc
    assert "--target x86_64-unknown-linux-musl " in musl
    assert "--zig --compatibility musllinux_1_2 " in musl
    tested = [line.split()[2] for line in log if "test_installed" in line]
    assert tested == ["dist/stairnoise-1-cp310-abi3-manylinux.whl", "dist/stairnoise-1.tar.gz"]
    assert all(line.endswith("--python python3 tests/exactness") for line in log if "test_installed" in line)
    (tried,) = (line for line in log if "try_wheel" in line)
    assert tried.split()[2:] == ["dist/stairnoise-1-cp310-abi3-manylinux.whl"] * 2 + [
        "dist/stairnoise-1-cp310-abi3-musllinux.whl"
    ]
    normalised = [line for line in log if "normalise_wheel" in line]
    assert len(normalised) == 2


def test_other_targets_are_chosen(checkout: Checkout) -> None:
    _, _, log = checkout.run(TARGETS="aarch64-unknown-linux-gnu")
    assert [line.split("--target ")[1].split()[0] for line in log if line.startswith("maturin build")] == [
        "x86_64-unknown-linux-gnu",
        "aarch64-unknown-linux-gnu",
    ]
    _, _, log = checkout.run(TARGETS="")
    assert not [line for line in log if "try_wheel" in line][1:]


def test_a_missing_free_threaded_python_is_said(checkout: Checkout) -> None:
    _, text, _ = checkout.run()
    assert "NO WHEEL FOR FREE-THREADED PYTHON: neither python3.14t nor python3.15t was found" in text
    assert text.endswith("No wheel for free-threaded Python was built.\n")


@pytest.mark.parametrize("emulator", [None, "qemu-x86_64", "qemu-x86_64-static"])
def test_a_missing_emulator_is_said(checkout: Checkout, emulator: str | None) -> None:
    if emulator:
        checkout.install(emulator, "#!/bin/sh\n")
    status, text, _ = checkout.run()
    assert status == 0, text
    assert ("Not tried on an old processor: qemu-x86_64 was not found.\n" in text) == (emulator is None)


def test_a_free_threaded_python_gets_a_wheel_and_tests_it(checkout: Checkout) -> None:
    checkout.install("python3.14t", PYTHON)
    status, text, log = checkout.run()
    assert status == 0, text
    assert "free-threaded" not in text.lower()
    assert any(line.startswith("maturin build") and "/python3.14t" in line for line in log)
    assert any("cp314t-manylinux.whl --python python3.14t" in line for line in log)


def test_other_interpreters_test_the_abi3_wheel(checkout: Checkout) -> None:
    _, _, log = checkout.run(PYTHONS="old/python new/python")
    assert [line.split()[-1] for line in log if "abi3-manylinux.whl --python" in line] == ["python3", "old/python", "new/python"]


def test_a_wheel_that_is_wrong_is_not_tested(checkout: Checkout) -> None:
    status, _, log = checkout.run(CHECK="1")
    assert status == 1
    assert not [line for line in log if "test_installed" in line]


def test_the_copy_has_tests_and_pages_and_no_package(tmp_path: Path) -> None:
    test_installed.copy_tests(tmp_path)
    assert {"by_mechanism", "interface", "pages", "vectors"} <= {path.name for path in (tmp_path / "tests").iterdir()}
    assert not {"packaging", "project"} & {path.name for path in (tmp_path / "tests").iterdir()}
    assert {"CONTRIBUTING.md", "docs", "README.md", "pyproject.toml", "tests"} <= {path.name for path in tmp_path.iterdir()}
    assert not {"Cargo.toml", "python", "rust", "scripts"} & {path.name for path in tmp_path.iterdir()}
