"""Install a wheel or a source distribution in an empty virtual environment and run the tests on it, outside the checkout.

    python scripts/test_installed.py ARTIFACT [--python INTERPRETER] [PYTEST ARGUMENT...]

A first program runs with NumPy alone, where every warning is an error. Then come the groups `test` and `lint`: the stubs against
the built module, a user's program under ``mypy --strict``, and the suite, or the tests that the arguments select. A free-threaded
interpreter gets the group `freethreaded` instead of `test`.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# The tests read these files.
PAGES = ["docs", "pyproject.toml", *(page.name for page in ROOT.glob("*.md"))]
# These tests are about the checkout: its scripts, benchmarks, lock file, make, and the site built from it.
ABOUT_THE_CHECKOUT = {"packaging", "project", "site"}
# Variables through which the checkout, or this machine's own instructions, would get into the environment.
OWN = {
    "CONDA_PREFIX",
    "MYPYPATH",
    "PYO3_PYTHON",
    "PYTHONHOME",
    "PYTHONPATH",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "VIRTUAL_ENV",
}

FIRST = """
import numpy as np
import stairnoise as sn
assert sn.sample(1000, eps=4).dtype == np.float64
assert sn.DiscreteLaplace(1.0).release(np.array([10, 20, 30])).dtype == np.int64
print("stairnoise", sn.__version__, *sn.cpu_tiers())
"""

# Prints a digest of every family's values, and which kernels drew them.
VALUES = """
import hashlib
import stairnoise as sn
rng = sn.SeededRng(5)
mechanisms = [sn.Laplace(1), sn.Staircase(0.3), sn.DiscreteLaplace(1), sn.DiscreteStaircase(2, sensitivity=5),
        sn.Gaussian(1, 1e-6), sn.DiscreteGaussian(4.0), sn.MultivariateStaircase(1, dim=3), sn.Arete(0.5, 0.5, 0.5)]
drawn = hashlib.sha256(b"".join(mechanism.sample(20_000, rng=rng).tobytes() for mechanism in mechanisms)).hexdigest()
print(drawn, sn.cpu_tiers()[-1])
"""
EMULATORS = ("qemu-x86_64", "qemu-x86_64-static")


def run(*command: object, cwd: Path | None = None, **extra: str) -> None:
    print("$", *command, flush=True)
    environment = {name: value for name, value in os.environ.items() if name not in OWN}
    subprocess.run([str(part) for part in command], cwd=cwd, env=environment | extra, stdin=subprocess.DEVNULL, check=True)


def output(python: Path, *arguments: str) -> str:
    return subprocess.run([python, *arguments], capture_output=True, text=True, check=True).stdout.strip()


def environment(folder: Path, interpreter: str) -> Path:
    """Make an empty virtual environment and return its interpreter."""
    run(interpreter, "-m", "venv", folder)
    return next(path for path in (folder / "bin/python", folder / "Scripts/python.exe") if path.exists())


def check_an_old_processor(python: Path) -> None:
    """Draw the same values on an emulated Nehalem, NumPy's minimum, which stops at instructions such as AVX's."""
    emulator = next((found for name in EMULATORS if (found := shutil.which(name))), None)
    if platform.machine() != "x86_64" or emulator is None:
        print("not checked: an old processor; this needs x86-64 and the emulator qemu-x86_64", flush=True)
        return
    here = output(python, "-c", VALUES).split()
    done = subprocess.run([emulator, "-cpu", "Nehalem", python, "-c", VALUES], capture_output=True, text=True, check=False)
    if done.stdout.split() != [here[0], "portable"]:
        sys.exit(f"an emulated Nehalem draws {done.stdout.strip()}{done.stderr.strip()}, this processor {' '.join(here)}")
    print("an emulated Nehalem draws the values of this processor, by the portable kernels", flush=True)


def copy_tests(folder: Path) -> None:
    print("left out, because they are about the checkout:", *sorted(f"tests/{name}" for name in ABOUT_THE_CHECKOUT), flush=True)
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__", *ABOUT_THE_CHECKOUT))
    for name in PAGES:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)


def test(artifact: Path, interpreter: str, arguments: list[str], folder: Path) -> None:
    python = environment(folder / "venv", interpreter)
    outside = folder / "outside"
    outside.mkdir()
    # A source distribution is compiled; the next run reuses this folder.
    extra = {"CARGO_TARGET_DIR": str(ROOT / "target" / "sdist")}
    run(python, "-m", "pip", "install", "--quiet", artifact, cwd=outside, **extra)
    installed = {line.partition("==")[0].partition(" @")[0] for line in output(python, "-m", "pip", "freeze").splitlines()}
    if installed != {"numpy", "stairnoise"}:
        sys.exit(f"installing {artifact.name} installed {', '.join(sorted(installed))}; it should be numpy and stairnoise")
    run(python, "-I", "-W", "error", "-c", FIRST, cwd=outside, **extra)
    check_an_old_processor(python)

    copy_tests(outside)
    # The pip of an older interpreter knows no groups.
    run(python, "-m", "pip", "install", "--quiet", "pip>=25.1", cwd=outside)
    free = output(python, "-c", "import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED'))") == "1"
    tests = ["--group", "freethreaded"] if free else ["--group", "test"]
    run(python, "-m", "pip", "install", "--quiet", *tests, "--group", "lint", cwd=outside)
    run(python, "-m", "mypy.stubtest", "stairnoise._native", cwd=outside, **extra)
    run(python, "-m", "pytest", "-q", "tests/interface/test_installed.py", "tests/typing", cwd=outside, **extra)
    run(python, "-m", "pytest", "-q", *arguments, cwd=outside, **extra)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("artifact", type=Path)
    parser.add_argument("--python", default=sys.executable)
    options, arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory(prefix="stairnoise-") as folder:
        test(options.artifact.resolve(strict=True), options.python, arguments, Path(folder))


if __name__ == "__main__":
    main()
