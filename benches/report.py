"""Make a dated record from pytest-benchmark's timings, with its page, its plot and README.md's figures.

python -m benches.report            # writes page, plot and README.md's figures again, from the newest record
"""

from __future__ import annotations

import datetime
import json
import platform
import re
import tempfile
from pathlib import Path
from typing import Any

from benches import builds, machine, memory, ours, plot
from benches.bench_release import OTHERS
from benches.builds import ROOT
from benches.peers import PEERS, reason_absent
from benches.results import FORMAT, Record, Result
from benches.tables import BEGIN, END, page, readme_figures
from benches.timing import SECTIONS

__all__ = ["BEGIN", "END", "README", "RECORDS", "ROOT", "make_record", "newest", "update_readme", "write"]

RECORDS = ROOT / "benches" / "record"
README = ROOT / "README.md"


def make_record(timings: Path, compared: Record, load_before: float | None = None) -> Record:
    """Return the record of one run of the benchmarks, with the comparison of two builds."""
    data = json.loads(timings.read_text(encoding="utf-8"))
    results = list(map(_result, data["benchmarks"]))
    works = list(dict.fromkeys(result["work"] for result in results))
    results.sort(key=lambda result: (SECTIONS.index(result["section"]), works.index(result["work"])))
    now = datetime.datetime.now(tz=datetime.timezone.utc)
    return {
        "format": FORMAT,
        "date": now.date().isoformat(),
        "time": now.strftime("%H:%M"),
        "command": "make bench",
        "commit": builds.head(),
        "cpu": machine.cpu(),
        "cores": ours.cores(),
        "load_before": load_before,
        "system": f"{platform.system()} {platform.machine()}",
        "versions": machine.versions(),
        "absent": absent(),
        "import_ms": machine.import_times(),
        "free_gib": {name: round(free / 2**30, 1) for name, free in machine.free_bytes(Path(tempfile.gettempdir())).items()},
        "memory": memory.measured(),
        "compared": compared,
        "results": results,
    }


def _result(benchmark: dict[str, Any]) -> Result:
    facts, stats = benchmark["extra_info"], benchmark["stats"]
    values = facts["n"] * facts["calls"]
    return {
        "section": facts["section"],
        "work": facts["work"],
        "contender": facts["contender"],
        "n": facts["n"],
        "median_ns": _significant(stats["median"] / values * 1e9),
        "min_ns": _significant(stats["min"] / values * 1e9),
        "rounds": stats["rounds"],
        "beside_ns": {name: _significant(ns) for name, ns in facts["beside_ns"].items()},
    }


def _significant(x: float, digits: int = 4) -> float:
    return float(f"{x:.{digits}g}")


def absent() -> dict[str, str]:
    """Return the peers and rows that could not run, with the reasons."""
    return {peer.name: reason for peer in (*PEERS, *OTHERS) if (reason := reason_absent(peer.package))} | ours.absent()


def newest_or_none() -> Record | None:
    """Return the newest record of this format, if there is one."""
    try:
        return newest()[0]
    except FileNotFoundError:
        return None


def newest() -> tuple[Record, str]:
    """Return the newest record of this format and its name."""
    records = [(json.loads(path.read_text(encoding="utf-8")), path.stem) for path in sorted(RECORDS.glob("*.json"))]
    # If several machines were measured on a day, the last one counts.
    current = [(record["date"], record.get("time", ""), name, record) for record, name in records if record["format"] == FORMAT]
    if not current:
        raise FileNotFoundError("benches/record has no record of this format yet; make bench writes one")
    *_, name, record = max(current, key=lambda found: found[:3])
    return record, name


def write(record: Record) -> Path:
    """Write the record, its page and its plot; return their path without suffix."""
    model = re.sub(r"[^a-z0-9]+", "-", f"{record['cpu']['model']} {record['cpu']['family']}".lower()).strip("-")
    RECORDS.mkdir(exist_ok=True)
    path = RECORDS / f"{record['date']}-{model}"
    path.with_suffix(".json").write_text(as_json(record) + "\n", encoding="utf-8")
    render(record, path)
    return path


def as_json(record: Record) -> str:
    """Return the record as text; innermost objects have one line each."""
    text = json.dumps(record, indent=1, ensure_ascii=False)
    return re.sub(r"\{[^{}]*\}", lambda found: re.sub(r"\n\s*", " ", found[0]), text)


def render(record: Record, path: Path) -> None:
    """Write a record's page and plot beside it."""
    path.with_suffix(".md").write_text(page(record, path.name), encoding="utf-8")
    plot.draw(record, path.with_suffix(".svg"))


def replace_figures(text: str, figures: str) -> str:
    """Return README text with the block between the markers replaced."""
    before, marker, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not marker or not end:
        raise ValueError("README.md has lost the markers of its figures")
    return before + figures + after


def update_readme(record: Record, stem: str) -> None:
    """Update README.md's figures from the record."""
    README.write_text(quoted(README.read_text(encoding="utf-8"), record, stem), encoding="utf-8")


def quoted(text: str, record: Record, stem: str) -> str:
    """Return README text with the record's figures between the markers."""
    return replace_figures(text, readme_figures(record, stem))


def main() -> None:
    """Write the newest record's page, plot and figures again."""
    record, stem = newest()
    render(record, RECORDS / stem)
    update_readme(record, stem)


if __name__ == "__main__":
    main()
