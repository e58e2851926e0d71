"""From pytest-benchmark's timings to a dated record, its table, and the figures that README.md quotes.

    python -m benches.report            # rewrite README.md's figures from the newest record

A record says which processor, command and versions it comes from, and nothing else of the machine.
"""

from __future__ import annotations

import datetime
import json
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

from benches.laws import LAWS
from benches.peers import PACKAGES, PEERS, reason_absent, version

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "benches" / "record"
README = ROOT / "README.md"
BEGIN = "<!-- figures: written by `make bench`, from the record -->"
END = "<!-- end of figures -->"
IMPORT_RUNS = 21
FEATURES = ("aes", "avx2", "vaes", "avx512f", "asimd")
"""Processor features that decide the speed, by the kernel's names."""

Record = dict[str, Any]


# ---------------------------------------------------------------- the record


def make_record(timings: Path) -> Record:
    """Return the record of one run of the benchmarks."""
    data = json.loads(timings.read_text(encoding="utf-8"))
    return {
        "format": 1,
        "date": datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(),
        "command": "make bench",
        "threads": 1,
        "cpu": cpu(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions(),
        "absent": absent(),
        "import_ms": import_times(),
        "results": sorted((_result(b) for b in data["benchmarks"]), key=_order),
    }


def _result(benchmark: dict[str, Any]) -> dict[str, Any]:
    facts, stats = benchmark["extra_info"], benchmark["stats"]
    return {
        "work": facts["work"],
        "contender": facts["contender"],
        "n": facts["n"],
        "median_ns": _significant(stats["median"] / facts["n"] * 1e9),
        "min_ns": _significant(stats["min"] / facts["n"] * 1e9),
        "rounds": stats["rounds"],
    }


def _order(result: dict[str, Any]) -> tuple[Any, ...]:
    works = ["fill", *(law.work for law in LAWS)]
    return works.index(result["work"]), -result["n"], result["contender"] != "stairnoise", result["contender"]


def _significant(x: float, digits: int = 4) -> float:
    return float(f"{x:.{digits}g}")


def cpu() -> dict[str, Any]:
    """Return model, family and the features that matter of this processor."""
    text = ""
    if Path("/proc/cpuinfo").is_file():
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0]
    fields = dict(re.findall(r"^([^\t:]+)\t*: *(.*)$", text, re.MULTILINE))
    model = fields.get("model name") or _sysctl_brand() or platform.processor() or platform.machine()
    present = set((fields.get("flags") or fields.get("Features") or "").split())
    return {
        "model": model,
        "family": f"{fields.get('cpu family', '?')}-{fields.get('model', '?')}",
        "features": [feature for feature in FEATURES if feature in present],
    }


def _sysctl_brand() -> str:
    if sys.platform != "darwin":
        return ""
    command = ["sysctl", "-n", "machdep.cpu.brand_string"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def versions() -> dict[str, str]:
    """Return the versions of everything that was timed."""
    rustc = shutil.which("rustc")
    said = subprocess.run([rustc, "--version"], capture_output=True, text=True, check=True).stdout.split() if rustc else []
    return {
        "stairnoise": version("stairnoise"),
        "python": platform.python_version(),
        "rustc": said[1] if len(said) > 1 else "absent",
    } | {package: version(package) for package in PACKAGES}


def absent() -> dict[str, str]:
    """Return the peers that could not run, with the reason."""
    return {peer.name: reason for peer in PEERS if (reason := reason_absent(peer.package))}


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
    """Run `code` in a fresh interpreter that keeps its bytecode in `cache`, whatever the environment says of bytecode."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(cache)
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


# ---------------------------------------------------------------- its table


def table(record: Record) -> str:
    """Return the record as a page of Markdown."""
    fill = _fill(record)
    lines = [
        f"# {record['cpu']['model']}, {record['date']}",
        "",
        f"`{record['command']}`, {record['threads']} thread; {record['system']}, family-model "
        f"{record['cpu']['family']}, features {', '.join(record['cpu']['features']) or 'unknown'}.",
        "",
        ", ".join(f"{name} {number}" for name, number in record["versions"].items()) + ".",
        "",
        f"Importing NumPy takes {record['import_ms']['numpy']:.1f} ms, importing stairnoise after it "
        f"{record['import_ms']['stairnoise_after_numpy']:.1f} ms (medians of fresh processes).",
        "",
        f"Times are medians per value. × fill: against `out.fill(1.0)` of 8 bytes per value into warm memory, {fill:.3g} ns.",
        "× stairnoise: against stairnoise's time for the same law, at the largest n that both ran or at stairnoise's largest.",
        "",
        "| law | n | contender | ns/value | × fill | × stairnoise | note |",
        "|---|---|---|---|---|---|---|",
    ]
    notes = {peer.name: peer.note for peer in PEERS}
    for result in record["results"]:
        if result["work"] == "fill":
            continue
        ours = _ours(record, result["work"], result["n"])
        lines.append(
            f"| {result['work']} | {_count(result['n'])} | {result['contender']} | {_number(result['median_ns'])} "
            f"| {_number(result['median_ns'] / fill)} | {_number(result['median_ns'] / ours)} "
            f"| {notes.get(result['contender'], '')} |"
        )
    for name, reason in record["absent"].items():
        lines += ["", f"Absent: {name} ({reason})."]
    return "\n".join(lines) + "\n"


def _fill(record: Record) -> float:
    return float(max((r for r in record["results"] if r["work"] == "fill"), key=lambda r: r["n"])["median_ns"])


def _ours(record: Record, work: str, n: int) -> float:
    same = [r for r in record["results"] if r["work"] == work and r["contender"] == "stairnoise"]
    return float(min(same, key=lambda r: (r["n"] != n, -r["n"]))["median_ns"])


def _number(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2g}"


def _count(n: int) -> str:
    exponent = len(str(n)) - 1
    return f"10^{exponent}" if n == 10**exponent and n > 1 else str(n)


# ---------------------------------------------------------------- README.md


def readme_figures(record: Record, stem: str) -> str:
    """Return the block of README.md between the markers."""
    fill, bulk = _fill(record), max(r["n"] for r in record["results"])
    lines = [
        BEGIN,
        f"Measured on {record['date']} on one core ({record['cpu']['model']}, family-model {record['cpu']['family']}; "
        f"{', '.join(record['cpu']['features'])}) by `{record['command']}`, medians; "
        f"[the record](benches/record/{stem}.md) has all of them. On that machine writing 8 bytes per value "
        f"into warm memory (`out.fill(1.0)`) takes {fill:.2g} ns.",
        "",
        "| law | contender | n | ns/value | × stairnoise |",
        "|---|---|---|---|---|",
    ]
    works = dict.fromkeys(r["work"] for r in record["results"] if r["work"] != "fill")
    for work in works:
        results = [r for r in record["results"] if r["work"] == work]
        ours = _ours(record, work, bulk)
        for result in results:
            if result["n"] != max(r["n"] for r in results if r["contender"] == result["contender"]):
                continue
            lines.append(
                f"| {work} | {result['contender']} | {_count(result['n'])} | {_number(result['median_ns'])} "
                f"| {_number(result['median_ns'] / ours)} |"
            )
    lines.append("")
    if record["absent"]:
        lines += [
            f"Absent from this run: {'; '.join(f'{name} ({why})' for name, why in record['absent'].items())}.",
            "",
        ]
    lines += [
        f"`import stairnoise` takes {record['import_ms']['stairnoise_after_numpy']:.1f} ms after `import numpy` "
        f"({record['import_ms']['numpy']:.0f} ms).",
        END,
    ]
    return "\n".join(lines)


def newest() -> tuple[Record, str]:
    """Return the newest record and its name."""
    paths = sorted(RECORDS.glob("*.json"))
    if not paths:
        raise FileNotFoundError("benches/record has no record yet; make bench writes one")
    return json.loads(paths[-1].read_text(encoding="utf-8")), paths[-1].stem


def write(record: Record) -> Path:
    """Write the record and its table; return their path without suffix."""
    model = re.sub(r"[^a-z0-9]+", "-", f"{record['cpu']['model']} {record['cpu']['family']}".lower()).strip("-")
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / f"{record['date']}-{model}"
    path.with_suffix(".json").write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(table(record), encoding="utf-8")
    return path


def replace_figures(text: str, figures: str) -> str:
    """Return README text with the block between the markers replaced."""
    before, marker, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not marker or not end:
        raise ValueError("README.md has lost the markers of its figures")
    return before + figures + after


def update_readme(record: Record, stem: str) -> None:
    """Bring README.md's figures up to the record."""
    text = README.read_text(encoding="utf-8")
    README.write_text(replace_figures(text, readme_figures(record, stem)), encoding="utf-8")


if __name__ == "__main__":
    update_readme(*newest())
