"""Run wheels that this machine cannot install, beside one that it can: they have to draw the same values.

    python scripts/try_wheel.py OWN_WHEEL WHEEL...        exit 1 if one that ran was wrong; names those that did not run

An interpreter for another machine or C library is what scripts/other_pythons.sh has made. NumPy comes from the package index. No
pip runs there: wheels are unpacked. Each also has to pass two subjects of its self-test, the known answers and the generators.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from test_installed import VALUES

PYTHONS = Path(__file__).resolve().parents[1] / "target" / "pythons"

SELFTEST = """
import platform
report = sn.selftest(subjects=["known answers", "generators"])
print(report.passed, len(report.checks), sum(check.values for check in report.checks), platform.machine(), *sn.cpu_tiers())
"""


@dataclass(frozen=True)
class Interpreter:
    """A command that starts Python 3.11, and the NumPy for it."""

    command: list[str]
    numpy: str
    platform: str
    environment: dict[str, str] = field(default_factory=dict)


def interpreter(wheel: str) -> Interpreter | None:
    """Find one for the wheel's platform."""
    emulator = next((found for name in ("qemu-aarch64", "qemu-aarch64-static") if (found := shutil.which(name))), None)
    root, musl = PYTHONS / "aarch64", PYTHONS / "musl" / "python"
    if re.search(r"manylinux.*_aarch64\.whl", wheel) and emulator and (root / "usr/bin/python3.11").exists():
        within = {"QEMU_LD_PREFIX": str(root), "PYTHONHOME": str(root / "usr")}
        return Interpreter([emulator, str(root / "usr/bin/python3.11")], "numpy==2.3.*", "manylinux_2_28_aarch64", within)
    if re.search(r"musllinux.*_x86_64\.whl", wheel) and musl.exists():
        # Later ones are for a newer musl than Debian's.
        return Interpreter([str(musl)], "numpy==1.26.*", "musllinux_1_1_x86_64")
    return None


def unpack(wheel: Path, found: Interpreter, site: Path) -> None:
    """Put the wheel and its NumPy into a folder."""
    downloads = site.with_name("downloads")
    shutil.rmtree(downloads, ignore_errors=True)
    which = ["--only-binary", ":all:", "--no-deps", "--python-version", "3.11", "--platform", found.platform]
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", *which, "--dest", downloads, found.numpy], check=True)
    for archive in (wheel, *downloads.glob("*.whl")):
        with zipfile.ZipFile(archive) as members:
            members.extractall(site)


def run(command: list[str], program: str, **environment: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "STAIRNOISE_"))}
    done = subprocess.run([*command, "-c", program], env=clean | environment, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"exit {done.returncode}: {(done.stdout + done.stderr).strip()[-2000:]}"
    return done.stdout.strip()


def main() -> int:
    own, *others = (Path(name) for name in sys.argv[1:])
    status, not_run = 0, []
    with tempfile.TemporaryDirectory(prefix="stairnoise-") as folder:
        venv = Path(folder) / "venv"
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin/python", "-m", "pip", "install", "--quiet", own], check=True)
        said = run([str(venv / "bin/python")], VALUES + SELFTEST)
        print(f"{own.name}\n  {said}", flush=True)
        expected, passed = said.split()[0], "\nTrue "
        status = 0 if passed in said else 1
        for number, wheel in enumerate(other for other in others if other.name != own.name):
            found = interpreter(wheel.name)
            if found is None:
                not_run.append(wheel.name)
                continue
            site = Path(folder) / str(number) / "site"
            unpack(wheel, found, site)
            said = run(found.command, VALUES + SELFTEST, PYTHONPATH=str(site), **found.environment)
            same = said.split()[0] == expected and passed in said
            print(f"{wheel.name}\n  {said}\n  {'the same values' if same else 'WRONG'}", flush=True)
            status = status if same else 1
    print(*(f"NOT RUN, for want of an interpreter: {name}" for name in not_run), sep="\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
