"""The processor, load and versions that a record states, and nothing else about the machine; the time of importing."""

from __future__ import annotations

import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benches.peers import PACKAGES, version

FEATURES = {"x86_64": ("aes", "avx2", "avx512f", "vaes"), "aarch64": ("aes", "asimd"), "arm64": ("aes", "asimd")}
"""Processor features that decide the speed, by Linux's names."""

IMPORT_RUNS = 21


def cpu() -> dict[str, Any]:
    """Return model, family, and which of `FEATURES` this processor has and lacks."""
    text = ""
    if Path("/proc/cpuinfo").is_file():
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0]
    fields = dict(re.findall(r"^([^\t:]+)\t*: *(.*)$", text, re.MULTILINE))
    model = fields.get("model name") or _sysctl_brand() or platform.processor() or platform.machine()
    present = set((fields.get("flags") or fields.get("Features") or "").split())
    known = FEATURES.get(platform.machine(), ()) if present else ()
    return {
        "model": model,
        "family": f"{fields.get('cpu family', '?')}-{fields.get('model', '?')}",
        "features": [feature for feature in known if feature in present],
        "lacks": [feature for feature in known if feature not in present],
    }


def _sysctl_brand() -> str:
    if sys.platform != "darwin":
        return ""
    command = ["sysctl", "-n", "machdep.cpu.brand_string"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def load() -> float | None:
    """Return how many processes wanted to run in the last minute."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def free_bytes(directory: Path) -> dict[str, int]:
    """Return the free bytes of memory and of disk; a huge number if the system does not reveal them."""
    told = Path("/proc/meminfo")
    found = re.search(r"^MemAvailable: +(\d+) kB", told.read_text(encoding="utf-8"), re.MULTILINE) if told.is_file() else None
    return {"memory": int(found[1]) * 1024 if found else 2**63, "disk": shutil.disk_usage(directory).free}


def versions() -> dict[str, str]:
    """Return the versions of all timed packages."""
    rustc = shutil.which("rustc")
    said = subprocess.run([rustc, "--version"], capture_output=True, text=True, check=True).stdout.split() if rustc else []
    return {
        "stairnoise": version("stairnoise"),
        "python": platform.python_version(),
        "rustc": said[1] if len(said) > 1 else "absent",
    } | {package: version(package) for package in PACKAGES}


def import_times(runs: int = IMPORT_RUNS) -> dict[str, float]:
    """Return the median wall time, in ms, of importing NumPy and then stairnoise in fresh processes, bytecode cached."""
    code = "from time import perf_counter as t; a = t(); import numpy; b = t(); import stairnoise; print(b - a, t() - b)"
    with tempfile.TemporaryDirectory() as cache:
        pairs = [
            [float(word) * 1e3 for word in python_with_cache(Path(cache), code).split()]
            for _ in range(runs + 1)  # the first fills the cache
        ]
    numpy, stairnoise = (round(statistics.median(column), 2) for column in zip(*pairs[1:], strict=True))
    return {"numpy": numpy, "stairnoise_after_numpy": stairnoise}


def python_with_cache(cache: Path, code: str) -> str:
    """Run `code` in a fresh interpreter that keeps its bytecode in `cache`, whatever the environment sets."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(cache)
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
