"""What ran: versions, the file that was tested, processor and instruction sets."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import stairnoise as sn
from stairnoise import _native


def facts() -> dict[str, Any]:
    """Return them by name, in the layout of the JSON report."""
    extension = Path(_native.__file__)
    return {
        "stairnoise": sn.__version__,
        "extension": str(extension),
        "extension_sha256": hashlib.sha256(extension.read_bytes()).hexdigest(),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "architecture": platform.machine(),
        "cpu": cpu(),
        "processors": processors(),
        "instruction_sets": sn.cpu_tiers(),
        "instruction_set": _native.cpu_tier(),
        "environment": {name: value for name, value in sorted(os.environ.items()) if name.startswith("STAIRNOISE_")},
    }


def cpu() -> str:
    """Return the processor's model name, or the little that Python knows of it."""
    if sys.platform == "linux":
        name = _linux_model()
    elif sys.platform == "darwin":
        name = _mac_model()
    else:
        name = ""
    return name or platform.processor() or platform.machine()


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _linux_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    fields = (line.partition(":") for line in lines)
    return next((value.strip() for name, _, value in fields if name.strip() == "model name"), "")


def _mac_model() -> str:
    command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
