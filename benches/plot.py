"""Plot a record: ns/value by mechanism, on a logarithmic scale."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from benches.bench_release import MECHANISMS as RELEASED
from benches.bench_release import OTHERS
from benches.bench_release import work as release
from benches.mechanisms import COMPARED, CoreMechanism
from benches.ours import dtype
from benches.peers import PEERS
from benches.results import Record, Result, Results, number, power
from benches.tables import quickest

# Okabe and Ito's colours, which differ for every common kind of colour blindness. The markers differ too.
OURS, EXACT, PLAIN = (
    ("#0072B2", "o", "stairnoise: exact, secure"),
    ("#009E73", "D", "exact, secure"),
    ("#D55E00", "s", "not both"),
)
FILL = "#555555"
TITLES = {
    "staircase": "Staircase",
    "laplace": "Laplace",
    "discrete_laplace": "Discrete Laplace (counting query)",
    "discrete_staircase": "Discrete staircase",
}
INCHES_PER_ROW, INCHES_AROUND = 0.34, 2.1


def draw(record: Record, path: Path) -> None:
    """Write the plot of a record to `path`, whose suffix selects the format."""
    matplotlib = importlib.import_module("matplotlib")
    figures = importlib.import_module("matplotlib.figure")
    results = Results(record)
    panels = [(f"{TITLES[mechanism.mechanism]}, {_parameters(mechanism)}", "bulk", mechanism.work) for mechanism in COMPARED]
    panels += [
        (
            f"Release of {np.dtype(dtype(mechanism)).name}, {TITLES[mechanism.mechanism]}, {_parameters(mechanism)}",
            "release",
            release(mechanism),
        )
        for mechanism in RELEASED
    ]
    groups = [(title, found) for title, section, work in panels if (found := quickest(results, section, work))]
    rows = sum(len(found) for _, found in groups)
    # Text stays text; the first two settings make a record's file the same in every run.
    fixed = {"svg.fonttype": "none", "svg.hashsalt": "stairnoise", "font.family": "sans-serif", "font.size": 10}
    with matplotlib.rc_context(fixed):
        figure = figures.Figure(figsize=(9, INCHES_AROUND + INCHES_PER_ROW * rows), layout="constrained")
        heights = [len(found) for _, found in groups]
        axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
        for axis, (title, found) in zip(axes, groups, strict=True):
            _panel(axis, title, found, results.fill_ns)
        _frame(figure, axes, results)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, facecolor="white", dpi=110)


def _parameters(mechanism: CoreMechanism) -> str:
    return f"ε = {mechanism.eps:g}, Δ = {mechanism.sensitivity}"


def _look(contender: str) -> tuple[str, str, str]:
    if contender.startswith("stairnoise"):
        return OURS
    return EXACT if any(peer.secure for peer in (*PEERS, *OTHERS) if peer.name == contender) else PLAIN


def _superscript(count: str) -> str:
    base, _, exponent = count.partition("^")
    return base + exponent.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _panel(axis: Any, title: str, found: list[Result], fill_ns: float) -> None:
    """Draw one panel: a row for each contender, the quickest on top, with its time beside its mark."""
    axis.axvline(fill_ns, color=FILL, linestyle=":", linewidth=1.2, zorder=1)
    for row, result in enumerate(found):
        colour, marker, _ = _look(result["contender"])
        axis.hlines(row, fill_ns, result["median_ns"], color=colour, linewidth=1.2, alpha=0.45, zorder=2)
        axis.plot(result["median_ns"], row, marker, color=colour, markersize=7, zorder=3)
        text = number(result["median_ns"])
        axis.annotate(text, (result["median_ns"], row), xytext=(8, 0), textcoords="offset points", va="center", color=colour)
    names = [r["contender"] + ("" if r["n"] == found[0]["n"] else f", n = {_superscript(power(r['n']))}") for r in found]
    axis.set_yticks(range(len(found)), names)
    for label, result in zip(axis.get_yticklabels(), found, strict=True):
        label.set_fontweight("bold" if result["contender"].startswith("stairnoise") else "normal")
    axis.set_ylim(len(found) - 0.5, -0.5)
    axis.set_title(title, loc="left", fontsize=10)
    axis.grid(axis="x", which="major", color="#dddddd", linewidth=0.7)
    axis.tick_params(axis="y", length=0)
    axis.spines[["top", "right", "left"]].set_visible(False)


def _frame(figure: Any, axes: Any, results: Results) -> None:
    """Set the scale, the legend below the panels, and the figures' source."""
    lines = importlib.import_module("matplotlib.lines")
    slowest = max(result["median_ns"] for section in ("bulk", "release") for result in results.of(section))
    axes[-1].set_xscale("log")
    axes[-1].xaxis.set_major_formatter("{x:g}")
    axes[-1].set_xlim(results.fill_ns / 1.3, slowest * 4)
    record = results.record
    axes[-1].set_xlabel("ns/value, logarithmic, less is better")
    handles = [
        lines.Line2D([], [], color=colour, marker=marker, linestyle="", label=label)
        for colour, marker, label in (OURS, EXACT, PLAIN)
    ]
    handles.append(lines.Line2D([], [], color=FILL, linestyle=":", label=f"out.fill(1.0), {number(results.fill_ns)} ns"))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    cpu = record["cpu"]
    figure.suptitle(
        f"{cpu['model']} ({', '.join(cpu['features'])}), one thread, {record['date']}, medians", fontsize=10, x=0.01, ha="left"
    )
