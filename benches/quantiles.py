"""How far private quantiles are from the true ones, in ranks, and what they cost: beside OpenDP, diffprivlib and PyDP.

python -m benches.quantiles        # into record/quantiles and docs/quantiles.md; needs the group `peers`
python -m benches.quantiles 2      # fewer data sets, printed only
python -m benches.quantiles page   # the table of the page again, from the newest record

Every library gets the same data, bounds and ε. A value and a result count as the nearest public candidate; that helps libraries
which take no candidates. The error of a result c for q is the distance of q·n from the interval #{x < c} to #{x ≤ c}.
"""

from __future__ import annotations

import datetime
import importlib
import json
import math
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import stairnoise as sn
from benches import builds, machine, report
from benches.peers import reason_absent, version
from benches.scale import span

Floats = NDArray[np.float64]
Release = Callable[[Floats], Sequence[float]]

SETS = 30
TIMED_ROWS, TIMED_CANDIDATES, ROUNDS = 10**6, 10**5 + 1, 3
RECORDS = Path(__file__).resolve().parent / "record" / "quantiles"
ISSUE = "https://github.com/IBM/differential-privacy-library/issues/107"
PAGE = builds.ROOT / "docs" / "quantiles.md"
BEGIN, END = "<!-- measured: python -m benches.quantiles -->", "<!-- end of what was measured -->"


@dataclass(frozen=True)
class Case:
    """Data, and what is asked of them."""

    name: str
    draw: Callable[[np.random.Generator], Floats]
    candidates: Floats
    eps: float
    q: tuple[float, ...] = (0.5,)
    releases: int = 20
    """From each data set."""

    @property
    def bounds(self) -> tuple[float, float]:
        return float(self.candidates[0]), float(self.candidates[-1])

    @property
    def edges(self) -> Floats:
        """The middles between candidates, and as much beyond the ends: a bin for each candidate."""
        between = np.diff(self.candidates) / 2
        low, high = self.candidates[0] - between[0], self.candidates[-1] + between[-1]
        return np.concatenate([[low], self.candidates[:-1] + between, [high]])


# ---------------------------------------------------------------- data


def spaced(low: int, high: int, step: int) -> Floats:
    return np.arange(low, high + 1, step).astype(float)


AGES, SALARIES, WIDE = spaced(0, 120, 1), spaced(0, 200_000, 20), np.geomspace(100, 2e8, 14_500)
REPEATED, TIMED = spaced(0, 500_000, 5), spaced(0, 2 * (TIMED_CANDIDATES - 1), 2)


def salaries(n: int) -> Callable[[np.random.Generator], Floats]:
    return lambda rng: np.clip(np.rint(rng.lognormal(math.log(52_000), 0.5, n) / 20) * 20, 0, 200_000)


def ages(rng: np.random.Generator) -> Floats:
    return np.clip(np.rint(rng.normal(42, 16, 2000)), 0, 120)


def half_are_18(rng: np.random.Generator) -> Floats:
    return np.concatenate([np.full(5100, 18.0), rng.integers(19, 90, 4900)])


def repeated(rng: np.random.Generator) -> Floats:
    """Return the data of `ISSUE`."""
    return np.concatenate([np.full(80_000, 65_000.0), rng.integers(0, 500_000, 20_000)])


def several(k: int) -> tuple[float, ...]:
    return tuple((place + 1) / (k + 1) for place in range(k))


CASES = (
    Case("200 salaries", salaries(200), SALARIES, 1.0),
    Case("2 000 salaries", salaries(2000), SALARIES, 0.1),
    Case("2 000 ages", ages, AGES, 0.1),
    Case("10 000 ages, 51 % of them 18", half_are_18, AGES, 1.0),
    Case("10⁵ numbers, 80 % of them equal (diffprivlib#107)", repeated, REPEATED, 0.5, releases=1),
    Case("2 000 salaries, bounds 1 000 times too wide", salaries(2000), WIDE, 1.0),
    *(Case(f"2 000 salaries, {k} quantiles", salaries(2000), SALARIES, 1.0, several(k), releases=5) for k in (3, 9, 31)),
    Case("10 000 ages, 51 % of them 18, 3 quantiles", half_are_18, AGES, 1.0, several(3)),
)
TIME = Case("time", salaries(TIMED_ROWS), TIMED, 1.0)


# ---------------------------------------------------------------- contenders


class Contender(NamedTuple):
    """A library's way to release quantiles."""

    name: str
    package: str
    make: Callable[[Case], Release]


def ours(case: Case) -> Release:
    """Name candidates by bounds and step, where they have one."""
    lattice = (
        {"candidates": WIDE}
        if case.candidates is WIDE
        else {"bounds": case.bounds, "step": case.candidates[1] - case.candidates[0]}
    )
    return lambda values: np.atleast_1d(sn.quantile(values, case.q, eps=case.eps, **lattice).value).tolist()


def opendp_space() -> tuple[Any, Any]:
    """Return the module, and the space of its input; one person adds or removes one value."""
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    return dp, (dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance())


def opendp_candidates(case: Case) -> Release:
    """Select every quantile with its share of ε; the library has no measurement that selects several at once."""
    dp, space = opendp_space()
    points = case.candidates.tolist()

    def scaled(alpha: float) -> Any:
        make = dp.m.make_private_quantile
        return dp.binary_search_chain(
            lambda scale: make(*space, dp.max_divergence(), points, alpha, scale), d_in=1, d_out=case.eps / len(case.q), T=float
        )

    measurements = [scaled(alpha) for alpha in case.q]
    return lambda values: [measurement(values) for measurement in measurements]


def opendp_tree(case: Case) -> Release:
    """Count in the bins of the candidates, with a tree above them, as its guide to quantiles does.

    The guide has its outer edges in `then_find_bin` too, which moves every value by one bin.
    """
    dp, space = opendp_space()
    edges, bins = case.edges.tolist(), list(range(len(case.candidates)))
    branches = dp.t.choose_branching_factor(size_guess=len(bins))

    def scaled(scale: float) -> Any:
        return (
            space
            >> dp.t.then_find_bin(edges=edges[1:-1])
            >> dp.t.then_count_by_categories(categories=bins, null_category=False)
            >> dp.t.then_b_ary_tree(leaf_count=len(bins), branching_factor=branches)
            >> dp.m.then_laplace(scale)
            >> dp.t.make_consistent_b_ary_tree(branching_factor=branches)
            >> dp.t.make_quantiles_from_counts(edges, alphas=list(case.q))
        )

    return dp.binary_search_chain(scaled, d_in=1, d_out=case.eps, T=float)


def diffprivlib(case: Case) -> Release:
    """Its ε is for a value that is replaced, and it has no other; it takes bounds and no candidates."""
    tools = importlib.import_module("diffprivlib.tools")
    return lambda values: np.atleast_1d(tools.quantile(values, list(case.q), epsilon=case.eps, bounds=case.bounds)).tolist()


def pydp_tree(case: Case) -> Release:
    """Grow the tree with the smallest variance that has a leaf for each candidate; it takes bounds and no candidates."""
    trees = importlib.import_module("pydp.algorithms.quantile_tree")
    # Of each level, half of the branches are added up, with noise that grows as the height.
    shapes = [(height, math.ceil(len(case.candidates) ** (1 / height))) for height in range(1, 9)]
    height, branches = min(shapes, key=lambda shape: shape[0] ** 3 * shape[1])

    def release(values: Floats) -> Sequence[float]:
        tree = trees.QuantileTree(float(case.edges[0]), float(case.edges[-1]), height, branches)
        for value in values.tolist():
            tree.add_entry(value)
        return tree.compute_quantiles(case.eps, 0.0, 1, 1, list(case.q), "laplace")  # type: ignore[no-any-return]

    return release


CONTENDERS = (
    Contender("stairnoise", "stairnoise", ours),
    Contender("OpenDP, candidates", "opendp", opendp_candidates),
    Contender("OpenDP, tree", "opendp", opendp_tree),
    Contender("diffprivlib", "diffprivlib", diffprivlib),
    Contender("PyDP, tree", "pydp", pydp_tree),
)


# ---------------------------------------------------------------- measuring


def main(arguments: Sequence[str]) -> None:
    """Measure and write the record and the page, or do less."""
    if arguments == ["page"]:
        write_page(newest())
        return
    found = measured(int(arguments[0]) if arguments else SETS)
    print(*table(found), sep="\n")
    if not arguments:
        RECORDS.mkdir(exist_ok=True, parents=True)
        model = re.sub(r"[^a-z0-9]+", "-", f"{found['cpu']['model']} {found['cpu']['family']}".lower()).strip("-")
        (RECORDS / f"{found['date']}-{model}.json").write_text(report.as_json(found) + "\n", encoding="utf-8")
        write_page(found)


def measured(sets: int, cases: Sequence[Case] = CASES, time_of: Case | None = TIME, only: str = "") -> dict[str, Any]:
    """Return the record of every contender that is installed, or of the one with this name."""
    absent = {one.name: reason for one in CONTENDERS if (reason := reason_absent(one.package))}
    present = [one for one in CONTENDERS if one.name not in absent and only in ("", one.name)]
    load = machine.load()
    return {
        "date": datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(),
        "command": "python -m benches.quantiles",
        "commit": builds.head(),
        "cpu": machine.cpu(),
        "load_before": load,
        "versions": {name: version(name) for name in ("stairnoise", "numpy", "opendp", "diffprivlib", "python-dp")},
        "absent": absent,
        "sets": sets,
        "results": [result(case, one, sets) for case in cases for one in present],
        "milliseconds": {} if time_of is None else {one.name: milliseconds(time_of, one) for one in present},
    }


def result(case: Case, contender: Contender, sets: int) -> dict[str, Any]:
    """Return a contender's mean error in ranks, and its standard error over the data sets."""
    facts = {"case": case.name, "eps": case.eps, "contender": contender.name, "releases": case.releases}
    release, errors, failed = contender.make(case), [], 0
    for seed in range(sets):
        values = case.draw(np.random.default_rng([20261127, seed]))
        try:
            errors.append(statistics.mean(error(case, values, release(values)) for _ in range(case.releases)))
        except RuntimeError:  # diffprivlib found no probability above 0
            failed += 1
    if failed:
        return facts | {"failed": failed}
    spread = statistics.stdev(errors) / math.sqrt(sets) if sets > 1 else math.inf
    return facts | {"ranks": float(f"{statistics.mean(errors):.4g}"), "standard_error": float(f"{spread:.2g}")}


def error(case: Case, values: Floats, found: Sequence[float]) -> float:
    """Return the mean distance, in ranks, of the results' candidates from the quantiles."""
    ordered, points = np.sort(values), case.candidates[nearest(case.candidates, np.asarray(found))]
    below, upto = np.searchsorted(ordered, points, "left"), np.searchsorted(ordered, points, "right")
    target = np.array(case.q) * len(values)
    return float(np.mean(np.maximum(0, np.maximum(below - target, target - upto))))


def nearest(candidates: Floats, values: Floats) -> NDArray[np.int64]:
    """Return the index of the nearest candidate."""
    right = np.clip(np.searchsorted(candidates, values), 1, len(candidates) - 1)
    return right - (values - candidates[right - 1] < candidates[right] - values)


def milliseconds(case: Case, contender: Contender) -> float:
    """Return the median processor time of a release; making the mechanism is not timed."""
    release, values, times = contender.make(case), case.draw(np.random.default_rng(1)), []
    for _ in range(ROUNDS):
        begin = time.process_time()
        release(values)
        times.append(time.process_time() - begin)
    return float(f"{statistics.median(times) * 1e3:.3g}")


# ---------------------------------------------------------------- the page


def newest() -> dict[str, Any]:
    return json.loads(max(RECORDS.glob("*.json")).read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def write_page(record: dict[str, Any]) -> None:
    PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), record), encoding="utf-8")


def replaced(text: str, record: dict[str, Any]) -> str:
    """Return the page with the record's table."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n" + "\n".join(table(record)) + f"\n\n{END}{rest.split(END)[1]}"


def table(record: dict[str, Any]) -> list[str]:
    """Return the record as lines of Markdown."""
    names = [one.name for one in CONTENDERS if any(found["contender"] == one.name for found in record["results"])]
    rows: dict[str, dict[str, str]] = {}
    for one in record["results"]:
        case = one["case"].replace("diffprivlib#107", f"[issue]({ISSUE})")
        rows.setdefault(f"{case}, ε\u00a0=\u00a0{one['eps']:g}", {})[one["contender"]] = written(one)
    lines = [f"| data | {' | '.join(names)} |", "|---" * (1 + len(names)) + "|"]
    lines += [f"| {case} | {' | '.join(row[name] for name in names)} |" for case, row in rows.items()]
    if times := record["milliseconds"]:
        lines.append(
            f"| processor time for 10⁶ values, 10⁵ candidates | {' | '.join(span(times[name] / 1e3) for name in names)} |"
        )
    versions = [f"{name} {number}" for name, number in record["versions"].items() if number != "absent"]
    return [*lines, "", f"{record['sets']} data sets; {', '.join(versions)}; {record['date']}."]


def written(result: dict[str, Any]) -> str:
    if "failed" in result:
        return "fails"
    error = f" ± {result['standard_error']:.1g}" if result["standard_error"] else ""
    return f"{digits(result['ranks'])}{error}"


def digits(x: float) -> str:
    return f"{x:.0f}" if x >= 10 or not x else f"{x:.1f}" if x >= 1 else f"{x:.2f}"


if __name__ == "__main__":
    main(sys.argv[1:])
