"""What a self-test found: every check with its numbers, and the machine that it ran on."""

from __future__ import annotations

import hashlib
import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from stairnoise import _native
from stairnoise._cpu import cpu_tiers
from stairnoise._native import __version__

FORMAT = "stairnoise-selftest/1"


class Outcome(NamedTuple):
    """What a check measured. It passes if `statistic` is at most `limit`; NaN fails."""

    values: int
    measure: str
    statistic: float
    limit: float
    false_alarm: float
    detail: str = ""


class Planned(NamedTuple):
    """A check that has not run yet."""

    subject: str
    name: str
    run: Callable[[], Outcome]


@dataclass(frozen=True)
class SelftestCheck:
    """One check of a self-test.

    Attributes
    ----------
    subject : str
        What is tested: a mechanism, or the source of randomness.
    name : str
        What is compared.
    values : int
        How many values were compared.
    measure : str
        What `statistic` counts: "mismatches", or "nats" of evidence against the mechanism.
    statistic, limit : float
        The check passes if `statistic` is at most `limit`. NaN for a check that broke off.
    false_alarm : float
        Upper bound of the probability that the check fails although all is right. 0 where chance decides nothing.
    passed : bool
        Whether the check passed.
    detail : str
        What was found where the check failed; otherwise empty.
    seconds : float
        How long it took.
    """

    subject: str
    name: str
    values: int
    measure: str
    statistic: float
    limit: float
    false_alarm: float
    passed: bool
    detail: str
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes by name, None in place of numbers that JSON does not have."""
        return {name: _finite(value) for name, value in vars(self).items()}


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
    seed : int or None
        Seed of the draws; None if the operating system gave the keys.
    started : str
        Date and time, UTC, in the form of ISO 8601.
    seconds : float
        How long it took.
    """

    __module__ = "stairnoise"

    checks: tuple[SelftestCheck, ...]
    subjects: tuple[str, ...]
    machine: dict[str, Any]
    seed: int | None
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
    def false_alarm(self) -> float:
        """Upper bound of the probability that any check fails although all is right, by the union bound."""
        return math.fsum(check.false_alarm for check in self.checks)

    @property
    def values(self) -> int:
        """How many values were compared in all."""
        return sum(check.values for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the whole report in the layout of its JSON."""
        return {
            "format": FORMAT,
            "passed": self.passed,
            "started": self.started,
            "seconds": self.seconds,
            # A text, because many readers of JSON round integers above 2**53.
            "seed": None if self.seed is None else str(self.seed),
            "subjects": list(self.subjects),
            "values": self.values,
            "false_alarm": self.false_alarm,
            "machine": self.machine,
            "checks": [check.to_dict() for check in self.checks],
        }

    def to_json(self) -> str:
        """Return the JSON report, with a newline at its end."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the JSON report to a file."""
        Path(path).write_text(self.to_json(), encoding="utf-8")

    def rows(self) -> Sequence[tuple[str, str, str, str, str, str, str]]:
        """Return the texts of the table: subject, name, values, statistic, limit, false alarm, result."""
        return [
            (
                check.subject,
                check.name,
                f"{check.values:,}",
                _short(check.statistic),
                _short(check.limit),
                f"{check.false_alarm:.0e}" if check.false_alarm else "0",
                "ok" if check.passed else "FAILED",
            )
            for check in self.checks
        ]

    def summary(self) -> str:
        """Return the verdict in one sentence."""
        if not self.passed:
            return f"FAILED: {len(self.failures)} of {len(self.checks)} checks."
        return (
            f"All {len(self.checks)} checks passed. "
            f"The probability that any of them fails on a machine where all is right is below {self.false_alarm:.1g}."
        )

    def __str__(self) -> str:
        table = [("subject", "check", "values", "statistic", "limit", "false alarm", "result"), *self.rows()]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join(text.ljust(width) if place < 2 else text.rjust(width) for place, (text, width) in enumerate(cells)).rstrip()
            for cells in (list(zip(row, widths, strict=True)) for row in table)
        ]
        found = [f"{check.subject}, {check.name}: {check.detail}" for check in self.failures]
        return "\n".join([*lines, "", *found, self.summary()])


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _short(number: float) -> str:
    if not math.isfinite(number):
        return "-" if math.isnan(number) else "inf"
    return f"{number:,.0f}" if number == int(number) else f"{number:.1f}"


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
    """Return the processor's model name, or what Python knows of the processor."""
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
