"""The result of a self-test: every check with its numbers, and the machine."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stairnoise import _native
from stairnoise._cpu import cpu_tiers
from stairnoise._native import __version__
from stairnoise._plain import aligned

FORMAT = "stairnoise-selftest/1"


class Outcome(NamedTuple):
    """The result of a check: how many values it compared, how many of them differ, and an example."""

    values: int
    mismatches: int | None
    detail: str = ""


class Planned(NamedTuple):
    """A check that has not run yet."""

    name: str
    run: Callable[[], Outcome]


def compared(found: Iterable[Any], expected: Iterable[Any], place: Callable[[int], object] = str) -> Outcome:
    """Compare two lists; ``place(i)`` names the value i. 0.0 and -0.0 differ."""
    pairs = list(zip(found, expected, strict=True))
    wrong = [i for i, (one, other) in enumerate(pairs) if repr(one) != repr(other)]
    detail = f"{pairs[wrong[0]][0]!r} instead of {pairs[wrong[0]][1]!r} at {place(wrong[0])}" if wrong else ""
    return Outcome(len(pairs), len(wrong), detail)


@dataclass(frozen=True)
class SelftestCheck:
    """One check of a self-test.

    Attributes
    ----------
    subject : str
        The subject under test.
    name : str
        The comparison.
    values : int
        How many values were compared.
    mismatches : int or None
        How many of them differ; None for a check that broke off.
    passed : bool
        Whether the check passed.
    detail : str
        What a failed check found; otherwise empty.
    seconds : float
        How long it took.
    """

    subject: str
    name: str
    values: int
    mismatches: int | None
    passed: bool
    detail: str
    seconds: float


@dataclass(frozen=True)
class SelftestReport:
    """The result of `selftest`, which prints as a table.

    Attributes
    ----------
    checks : tuple of SelftestCheck
        Every check, in the order in which they ran.
    subjects : tuple of str
        The subjects that were asked for.
    machine : dict
        Versions, the file that was tested, processor and instruction sets.
    started : str
        Date and time, UTC, in the form of ISO 8601.
    seconds : float
        How long it took.
    """

    __module__ = "stairnoise"

    checks: tuple[SelftestCheck, ...]
    subjects: tuple[str, ...]
    machine: dict[str, Any]
    started: str
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether every check passed; False if there is none."""
        return bool(self.checks) and not self.failures

    @property
    def failures(self) -> tuple[SelftestCheck, ...]:
        """The checks that failed."""
        return tuple(check for check in self.checks if not check.passed)

    @property
    def values(self) -> int:
        """How many values were compared in all."""
        return sum(check.values for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole report in the layout of its JSON."""
        return {"format": FORMAT, "passed": self.passed, "values": self.values, **asdict(self)}

    def to_json(self) -> str:
        """Return the JSON report, with a newline at its end."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the JSON report to a file."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return the texts of the table: subject, name, values, mismatches, result."""
        texts = [(f"{c.values:,}", "-" if c.mismatches is None else f"{c.mismatches:,}") for c in self.checks]
        return [(c.subject, c.name, *text, "ok" if c.passed else "FAILED") for c, text in zip(self.checks, texts, strict=True)]

    def summary(self) -> str:
        """Return the verdict in one sentence."""
        if self.passed:
            return f"All {len(self.checks)} checks passed."
        return f"FAILED: {len(self.failures)} of {len(self.checks)} checks."

    def __str__(self) -> str:
        table = [("subject", "check", "values", "mismatches", "result"), *self.rows()]
        found = [f"{check.subject}, {check.name}: {check.detail}" for check in self.failures]
        return "\n".join([aligned(table, left=2), "", *found, self.summary()])


# The machine


def facts() -> dict[str, Any]:
    """Return versions, the tested file, the processor and its instruction sets, in the layout of the JSON report."""
    extension = Path(_native.__file__)
    return {
        "stairnoise": __version__,
        "extension": str(extension),
        "extension_sha256": hashlib.sha256(extension.read_bytes()).hexdigest(),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "architecture": platform.machine(),
        "cpu": cpu(),
        "processors": processors(),
        "instruction_sets": cpu_tiers(),
        "instruction_set": _native.cpu_tier(),
        "environment": {name: value for name, value in sorted(os.environ.items()) if name.startswith("STAIRNOISE_")},
    }


def cpu() -> str:
    """Return the processor's model name, or Python's name of the processor."""
    name = ""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        if sys.platform == "linux":
            listed = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
            name = next(iter(re.findall(r"^model name\s*:\s*(.+)$", listed, re.MULTILINE)), "")
        elif sys.platform == "darwin":
            command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            name = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    return name or platform.processor() or platform.machine()


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
