"""Run wheels that this machine cannot install, beside one that it can: all must draw the same values.

    python scripts/try_wheel.py OWN_WHEEL WHEEL... [--tests PATH...]

Exit 1 if a wheel that ran was wrong; the last lines name wheels that did not run. scripts/other_pythons.sh makes the interpreters
for other machines and C libraries. NumPy and the tests' imports come from the package index. Wheels are unpacked, because those
interpreters have no pip. Each wheel must also pass two subjects of its self-test (known answers, generators) and the tests of the
golden vectors, or the tests that `--tests` names.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from test_installed import VALUES

ROOT = Path(__file__).resolve().parents[1]
PYTHONS = ROOT / "target" / "pythons"
GOLDEN = ["tests/exactness/test_golden.py"]

# For a wheel's platform: the interpreter's folder, its NumPy, and the platforms whose wheels it takes. Later versions of NumPy
# need a newer musl than Debian's.
INTERPRETERS = {
    r"manylinux.*_aarch64": ("aarch64", "numpy==2.3.*", ["manylinux_2_28_aarch64", "manylinux2014_aarch64"]),
    r"musllinux.*_aarch64": ("aarch64-musl", "numpy==1.26.*", ["musllinux_1_1_aarch64"]),
    r"musllinux.*_x86_64": ("musl", "numpy==1.26.*", ["musllinux_1_1_x86_64"]),
}
# Packages that tests/exactness imports.
NEEDED = ["pytest", "mpmath", "cryptography"]

SELFTEST = """
import platform
report = sn.selftest(subjects=["known answers", "generators"])
print(report.passed, len(report.checks), sum(check.values for check in report.checks), platform.machine(), *sn.cpu_tiers())
for check in report.failures:
    print(check.name, check.detail)
"""


@dataclass(frozen=True)
class Interpreter:
    """A Python 3.11, the NumPy for it, and the platforms whose wheels it takes."""

    python: Path
    numpy: str
    platforms: list[str]


def interpreter(wheel: str) -> Interpreter | None:
    """Find an interpreter for the wheel's platform."""
    for platform, (folder, numpy, platforms) in INTERPRETERS.items():
        python = PYTHONS / folder / "python"
        if re.search(rf"{platform}\.whl", wheel) and python.exists():
            return Interpreter(python, numpy, platforms)
    return None


def unpack(wheel: Path, found: Interpreter, site: Path) -> None:
    """Put the wheel, its NumPy and the tests' imports into a folder."""
    downloads = site.with_name("downloads")
    which = ["--only-binary", ":all:", "--python-version", "3.11"]
    which += [option for platform in found.platforms for option in ("--platform", platform)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *which, "--dest", downloads, found.numpy, *NEEDED]
    subprocess.run(command, check=True)
    for archive in (wheel, *downloads.glob("*.whl")):
        with zipfile.ZipFile(archive) as members:
            members.extractall(site)


def run(python: Path, *arguments: str, **environment: str) -> str:
    """Return the interpreter's output; if it failed, "exit", the status and the output's end."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STAIRNOISE_"))}
    command = [str(python), *arguments]
    done = subprocess.run(command, cwd=ROOT, env=clean | environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"exit {done.returncode}: {(done.stdout + done.stderr).strip()[-2000:]}"
    return done.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("own", type=Path)
    parser.add_argument("others", type=Path, nargs="+")
    parser.add_argument("--tests", nargs="+", default=GOLDEN)
    options = parser.parse_args()
    status, not_run = 0, []
    with tempfile.TemporaryDirectory(prefix="stairnoise-") as folder:
        venv = Path(folder) / "venv"
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/python", "-m", "pip", "install", "--quiet", options.own], check=True)
        said = run(venv / "bin/python", "-c", VALUES + SELFTEST)
        print(f"{options.own.name}\n  {said}", flush=True)
        expected, passed = said.split()[0], "\nTrue "
        status = 0 if passed in said else 1
        for number, wheel in enumerate(other for other in options.others if other.name != options.own.name):
            found = interpreter(wheel.name)
            if found is None:
                not_run.append(wheel.name)
                continue
            site = Path(folder) / str(number) / "site"
            unpack(wheel, found, site)
            said = run(found.python, "-c", VALUES + SELFTEST, PYTHONPATH=str(site))
            same = said.split()[0] == expected and passed in said
            print(f"{wheel.name}\n  {said}\n  {'the same values' if same else 'WRONG'}", flush=True)
            test = ["-m", "pytest", "-q", "-p", "no:cacheprovider", *options.tests]
            tested = run(found.python, *test, PYTHONPATH=str(site))
            right = not tested.startswith("exit ")
            print(f"  {' '.join(options.tests)}: {tested.splitlines()[-1] if right else 'WRONG: ' + tested}", flush=True)
            status = status if same and right else 1
    print(*(f"NOT RUN, because there is no interpreter for it: {name}" for name in not_run), sep="\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
