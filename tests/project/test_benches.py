"""The benchmarks run, their baseline is right, and records become tables and figures."""

import json
import os
import random
import re
import runpy
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stairnoise
from benches import (
    bench_release,
    builds,
    cases,
    compare,
    counts,
    machine,
    mechanisms,
    memory,
    ours,
    peers,
    plot,
    quantiles,
    ratios,
    report,
    rows,
    tables,
    targets,
    timing,
)
from benches.__main__ import PYTEST
from benches.results import FORMAT, Results
from benches.worker import Worker
from stairnoise.registry import ROWS

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("eps", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("gamma", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("array", [False, True])
def test_algorithm_1_draws_the_staircase(eps: float, gamma: float, array: bool) -> None:
    """|X| against its survival function at 20 points: 6 standard errors, false alarm below 4e-8 over all 18 cases."""
    n = 200_000
    rng = np.random.default_rng(20261120)
    parameters = (np.full(n, eps), np.full(n, gamma)) if array else (eps, gamma)
    x = peers.algorithm_1(rng, np.zeros(n), parameters[0], 2.0, parameters[1])
    c = 1 / np.expm1(eps)
    for t in np.linspace(0.05, 4.0, 20) / eps:
        j = 0 if t < gamma * 2 else np.floor(t / 2 - gamma) + 1
        sf = np.exp(-eps * j) * ((j + gamma) * 2 - t + 2 * c) / (2 * (gamma + c))
        found = np.mean(np.abs(x) > t)
        assert abs(found - sf) <= 6 * np.sqrt(sf * (1 - sf) / n)
    assert abs(np.mean(x > 0) - 0.5) <= 6 * 0.5 / np.sqrt(n)


@pytest.mark.parametrize("mechanism", mechanisms.CORE_MECHANISMS, ids=lambda mechanism: mechanism.work)
def test_moments_are_sums_over_the_probabilities(mechanism: mechanisms.CoreMechanism) -> None:
    """E|X| and E X² of each mechanism against direct summation (discrete) or a fine Riemann sum (continuous)."""
    d, eps = mechanism.sensitivity, mechanism.eps
    widest = 60 * d / eps + 2 * d  # the sum omits a probability of e^-60
    finest = mechanism.shape * d if mechanism.mechanism == "staircase" else d / max(1.0, eps)
    width = 1.0 if mechanism.discrete else finest / 500
    steps = np.ceil(widest / width)
    x = np.arange(-steps, steps + 1) * width if mechanism.discrete else (np.arange(-steps, steps) + 0.5) * width
    size = np.abs(x)
    if mechanism.mechanism.endswith("staircase"):
        edge = mechanism.shape if mechanism.discrete else mechanism.shape * d
        weight = np.exp(-eps * np.where(size < edge, 0, np.floor((size - edge) / d) + 1))
    else:
        weight = np.exp(-eps * size / d)
    weight /= weight.sum()
    assert (weight * size).sum() == pytest.approx(mechanism.abs_mean, rel=1e-3)
    assert (weight * size**2).sum() == pytest.approx(mechanism.second_moment, rel=1e-3)


@pytest.mark.parametrize("cost", ["l1", "l2"])
def test_the_shape_of_a_discrete_staircase_is_the_best_one(cost: mechanisms.Cost) -> None:
    """No other r has a smaller moment; for E|X|, the best r has the closed form ⌈Δ/(1 + e^(ε/2))⌉."""
    for eps, d in [(1, 10), (4, 10), (1, 1000), (4, 1000)]:
        mechanism = mechanisms.discrete_staircase(eps, d, cost)
        moment = {"l1": mechanism.abs_mean, "l2": mechanism.second_moment}[cost]
        others = [mechanisms._discrete_moments(eps, d, r)[cost == "l2"] for r in range(1, d + 1)]
        assert moment == min(others)
        if cost == "l1":
            assert mechanism.shape == np.ceil(d / (1 + np.exp(eps / 2)))


def test_the_staircase_in_plain_python_draws_the_staircase() -> None:
    """Mean and E|X| of 50 000 values within 6 standard errors."""
    mechanism, rng = mechanisms.staircase(1), random.Random(5)
    mechanism.check(np.array([counts.staircase_in_python(rng, mechanism.eps, 1.0, mechanism.shape) for _ in range(50_000)]))


def test_the_check_of_outputs_can_fail() -> None:
    """Outputs that are a tenth too wide, off centre, or not integers are noticed."""
    rng = np.random.default_rng(3)
    mechanism = mechanisms.laplace(4)
    x = rng.laplace(0, 0.25, 100_000)
    mechanism.check(x)
    for wrong in (1.1 * x, x + 0.01):
        with pytest.raises(AssertionError, match="standard errors"):
            mechanism.check(wrong)
    with pytest.raises(AssertionError, match="not whole"):
        mechanisms.discrete_laplace(4).check(x)
    with pytest.raises(AssertionError, match="too few values"):
        mechanism.check(x[:10])


def test_mkl_draws_what_it_is_timed_at() -> None:
    """Moments are within 6 standard errors. The 100 000 values are more than those used to choose the generator."""
    mkl = pytest.importorskip("benches.mkl", reason="the group `bench` is not installed", exc_type=ModuleNotFoundError)
    for mechanism, sampler, parameter, dtype in [
        (mechanisms.laplace(4), mkl.laplace, 0.25, np.float64),
        (mechanisms.discrete_laplace(4), mkl.geometric_difference, 4.0, np.int64),
    ]:
        out = np.zeros(100_000, dtype)
        draw, generator = sampler(parameter, out)
        assert draw() is out
        assert generator in mkl.GENERATORS
        mechanism.check(out)
    out = np.zeros(100_000)
    mkl.gaussian(2.0, out)[0]()
    assert abs(out.std() - 2) < 6 * 2 / np.sqrt(2 * out.size)


def test_an_absent_peer_is_named() -> None:
    absent = replace(peers.PEERS[0], package="no_such_package_of_ours")
    assert absent.absent() == "no_such_package_of_ours is not installed"
    assert peers.PEERS[0].absent() is None
    assert peers.version("no_such_package_of_ours") == "absent"


@pytest.mark.long
def test_every_benchmark_runs() -> None:
    """Every benchmark runs once, on a small size, because benchmarks that nobody runs rot."""
    small = {"STAIRNOISE_BENCH_N": "200000", "STAIRNOISE_BENCH_SECONDS": "0.01"}
    done = subprocess.run(
        [*PYTEST, "--benchmark-disable"], cwd=ROOT, env=os.environ | small, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "passed" in done.stdout


def result(section: str, work: str, contender: str, n: int, ns: float, **beside: float) -> dict[str, Any]:
    facts = {"section": section, "work": work, "contender": contender, "n": n}
    return facts | {
        "median_ns": ns,
        "min_ns": ns,
        "rounds": 9,
        "beside_ns": {name.replace("_", "."): x for name, x in beside.items()},
    }


STAIRCASE, LAPLACE = mechanisms.staircase(4).work, mechanisms.laplace(4).work


def a_record(*, wide: bool = True) -> dict[str, Any]:
    """Return a record: a staircase takes 5 fills and is 12 × faster than NumPy's Laplace noise; Laplace noise takes 9 fills."""
    peer = result("bulk", LAPLACE, "NumPy laplace", 10**7, 13.0, fill=0.2)
    peer["beside_ns"] |= {STAIRCASE: 13 / 12, LAPLACE: 2.0}
    slow = result("bulk", LAPLACE, "OpenDP laplace, floats", 10**4, 5000.0, fill=0.25)
    slow["beside_ns"] |= {LAPLACE: 2.5}
    results = [
        result("unit", "fill", "fill", 10**7, 0.25),
        result("bulk", STAIRCASE, "stairnoise", 10**7, 1.0, fill=0.2),
        result("bulk", LAPLACE, "stairnoise", 10**7, 1.8, fill=0.2),
        peer,
        slow,
        *(
            result("growth", STAIRCASE, "float64, 1 thread", n, ns, fill=fill)
            for n, ns, fill in [(10**3, 9.0, 0.2), (10**5, 1.0, 0.2), (10**8, 2.0, 1.0)]
        ),
        *(
            result("growth", STAIRCASE, "float64, 2 threads", n, ns, fill=0.2)
            for n, ns in [(10**5, 1.0), (10**6, 0.5), (10**8, 0.9)]
        ),
        result("release", bench_release.work(mechanisms.laplace(1)), "PyDP", 10**4, 4000.0, fill=0.25),
    ]
    return {
        "format": FORMAT,
        "date": "2026-01-02",
        "command": "make bench",
        "commit": "1234567",
        "cpu": {
            "model": "Example CPU",
            "family": "1-2",
            "features": ["aes", "avx2"] + ["avx512f", "vaes"] * wide,
            "lacks": [] if wide else ["avx512f", "vaes"],
        },
        "cores": 2,
        "load_before": 0.25,
        "system": "Linux x86_64",
        "versions": {"stairnoise": "0.1.0"},
        "absent": {"Someone's sampler": "someone is not installed"},
        "import_ms": {"numpy": 80.0, "stairnoise_after_numpy": 3.0},
        "memory": [
            {"case": "fresh array", "n": 10**7, "output_bytes": 8 * 10**7, "beyond_bytes": 2 * memory.MIB},
            {"case": "np.memmap", "n": 10**7, "failed": "MemoryError"},
        ],
        "free_gib": {"memory": 20.0, "disk": 30.0},
        "compared": {"commit": compare.FIRST, "rows": some_rows()},
        "results": results,
    }


RELEASE = rows.IN_CACHE_RELEASES[0].work
CONSTRUCTOR = rows.CONSTRUCTORS["Laplace"].work
OTHER = "cdf of one point, Laplace(eps=1)"


def some_rows() -> list[dict[str, Any]]:
    """Return a release that meets its target only on AVX2, a slow constructor, and twenty rows of which one became slower."""

    def row(work: str, tier: str, old: float, new: float, itself: float = 1.01, **facts: Any) -> dict[str, Any]:
        times = {"n": 1, "old_ns": old, "new_ns": new, "faster": old / new, "itself": itself, "rounds": 9}
        return {"work": work, "tier": tier} | times | facts

    beside = {"fill_ns": 0.5, "mkl_ns": 8.0, "generator": "ARS5"}
    return [
        row(RELEASE, "avx512", 8.0, 4.0, **beside),
        row(CONSTRUCTOR, "avx512", 3e6, 2e6),
        {"work": "guarantee, Laplace(eps=1)", "tier": "avx512", "n": 1, "absent": {"old": "KeyError"}},
        row(OTHER, "avx512", 100.0, 125.0),
        *(row(f"like before {i}", "avx512", 100.0, 101.0) for i in range(30)),
        row(RELEASE, "avx2", 8.0, 4.0, **beside),
    ]


def test_a_record_is_written_and_read() -> None:
    text = report.as_json(a_record())
    assert json.loads(text) == a_record()
    assert max(map(len, text.splitlines())) < 400


def test_a_record_becomes_figures() -> None:
    figures = tables.readme_figures(a_record(), "2026-01-02-example")
    assert STAIRCASE not in figures  # no other library was measured
    assert f"| {LAPLACE} | 1.8 | 13.0 | – | 5000 | – | – |" in figures
    assert f"| {bench_release.work(mechanisms.laplace(1))} | – | – | – | – | – | 4000 |" in figures
    assert f"]({tables.REPOSITORY}/blob/main/benches/record/2026-01-02-example.md)" in figures


def test_a_record_becomes_a_page() -> None:
    page = tables.page(a_record(wide=False), "example")
    assert f"| {LAPLACE} | 10^7 | stairnoise | 1.8 | 9.0 | 1.0 |  |" in page
    assert "Absent: Someone's sampler (someone is not installed)." in page
    assert "with aes, avx2, without avx512f, vaes; 2 cores, load average 0.25 at the start" in page
    assert "| 10^8 | 2.0 (2.0) | 0.9 (4.5) |" in page
    assert "20 GiB of memory, 30 GiB for files" in page
    assert f"| {RELEASE} | 8.0 | 4.0 | 2.00 |  |  | 8.0 | 0.5 | ARS5 |" in page
    assert f"| {CONSTRUCTOR} | 3000000 | 2000000 | 1.50 | ≤ 1000 µs | not met |  |  |  |" in page
    assert f"| {OTHER} | 1 | 125 |  | 0.80 |  |" in page
    assert "| guarantee, Laplace(eps=1) | 1 |  |  | new |  |" in page
    assert f"| {OTHER} | AVX-512 | 100 | 125 | 1.25 | 0.99 |" in page
    assert "Slower rows: 1." in page
    assert "Targets met: 0 of 1 on AVX-512, 0 of 0 on AVX2." in page
    assert "| fresh array | 10^7 | 76.3 | 2.0 |" in page
    assert "| np.memmap | 10^7 |  | failed: MemoryError |" in page


def verdicts(record: dict[str, Any]) -> dict[tuple[str, str], tuple[str, str]]:
    return {(target.work, target.aim): target.verdict(Results(record)) for target in targets.TARGETS}


def test_targets_are_judged_from_the_record() -> None:
    found = verdicts(a_record())
    assert found[STAIRCASE, "≤ 6 × fill"] == ("5.0", "met")
    assert found[STAIRCASE, "≥ 10 × faster than NumPy laplace"] == ("12.0", "met")
    assert found[LAPLACE, "≤ 4.5 × fill"] == ("9.0", "not met")
    assert found[LAPLACE, "≥ 13 × faster than NumPy laplace"] == ("6.5", "not met")
    assert found[LAPLACE, "≥ 3.5 × faster than MKL laplace"] == ("–", "absent from this run")
    growth = "n = 10^5 and more: growth of the time without the memory's", "at most 1.5"
    assert found[f"staircase, float64, 1 thread, {growth[0]}", growth[1]] == ("1.2", "met")
    assert found[f"staircase, float64, 2 threads, {growth[0]}", growth[1]] == ("1.8", "not met")
    assert found["fresh array: peak memory beyond the output", "≤ 16 MiB"] == ("2.0", "met")
    assert found["np.memmap as out, allocation limited: memory beyond it", "≤ 16 MiB"] == ("–", "absent from this run")


def test_targets_say_when_the_processor_is_not_the_one_they_are_for() -> None:
    found = verdicts(a_record(wide=False))
    assert found[STAIRCASE, "≤ 6 × fill"] == ("5.0", "met")
    assert found[LAPLACE, "≤ 4.5 × fill"] == ("9.0", "not met here (the target is for AVX-512)")


def newest() -> tuple[dict[str, Any], str]:
    try:
        return report.newest()
    except FileNotFoundError as error:
        pytest.skip(str(error))


def test_every_target_names_what_is_timed() -> None:
    """A renamed mechanism or peer must not leave a target unmeasured: the newest record lacks only what it names as absent."""
    record, _ = newest()
    unmeasured = {work for (work, _), (_, verdict) in verdicts(record).items() if verdict.startswith("absent")}
    excused = {f"{mechanisms_}, 2 threads" for mechanisms_ in [targets.FRESH] if "more than one thread" in record["absent"]}
    assert record["absent"].keys() & {peer.name for peer in peers.PEERS} or unmeasured <= excused


def test_the_plot_is_made_of_the_record(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the group `bench` is not installed")
    for name in ("first.svg", "second.svg"):
        plot.draw(a_record(), tmp_path / name)
    svg = (tmp_path / "first.svg").read_text(encoding="utf-8")
    assert svg == (tmp_path / "second.svg").read_text(encoding="utf-8")
    for text in ("stairnoise", "NumPy laplace", "OpenDP laplace, floats, n = 10⁴", "Example CPU"):
        assert f">{text}" in svg


def test_every_mechanism_and_method_is_compared() -> None:
    """The comparison samples, releases and constructs every class of the registry, and calls each public method."""
    works = list(rows.CASES)
    timed = {*rows.FUNCTIONS, *rows.QUANTILES, *rows.CALLS, *rows.UNTIMED, "sample", "release"}
    for row in ROWS:
        if row.kind == "category":
            continue  # the build of commit efc073a0 lacks these, so there is no comparison
        class_ = row.load()
        methods = {name for name in dir(class_) if not name.startswith("_") and callable(getattr(class_, name))}
        assert methods <= timed, row.class_name
        for start in ("sample into out", "release of", "constructing", "sample()"):
            assert any(work.startswith(start) and f"{row.class_name}(" in work for work in works), (start, row.class_name)


def test_targets_are_those_of_main_rows() -> None:
    aimed = {work for work, _ in (*ratios.FASTER, *ratios.BESIDE_MKL)} | set(ratios.QUICK)
    assert aimed <= {case.work for case in rows.MAIN}


@pytest.mark.parametrize(
    ("work", "measured", "aim", "met"),
    [
        (rows.SAMPLES[str(rows.GAUSSIANS[0])].work, {"new_ns": 3, "mkl_ns": 5}, "≤ 0.6 × MKL", True),
        (rows.SAMPLES[str(rows.GAUSSIANS[0])].work, {"new_ns": 3.1, "mkl_ns": 5}, "≤ 0.6 × MKL", False),
        (rows.SAMPLES[str(rows.GAUSSIANS[0])].work, {"new_ns": 3}, "≤ 0.6 × MKL", None),
        (rows.HALVED[0].work, {"faster": 1.99}, "≥ 2", False),
        (rows.HALVED[0].work, {"faster": 2}, "≥ 2", True),
        (RELEASE, {"faster": 2}, "", None),
    ],
)
def test_a_target_is_met_or_not(work: str, measured: dict[str, float], aim: str, met: bool | None) -> None:
    row = {"work": work, "tier": "avx512"} | measured
    assert (ratios.aim(row), ratios.met(row)) == (aim, met)


def test_changed_values_are_those_of_listed_mechanisms() -> None:
    changed = {work for work in rows.CASES if rows.CHANGED.search(work)}
    assert {work for work in changed if "Laplace" in work} == {work for work in rows.CASES if "TruncatedLaplace(" in work}
    assert not {work for work in changed if "taircase(" in work}


@pytest.mark.parametrize(
    "work", [RELEASE, *(pytest.param(work, marks=pytest.mark.long) for work in (CONSTRUCTOR, rows.RESTS[0].work, OTHER))]
)
def test_two_builds_are_compared(monkeypatch: pytest.MonkeyPatch, work: str) -> None:
    """A build is compared with itself, in three processes."""
    package = Path(stairnoise.__file__).parents[1]
    monkeypatch.setattr(builds, "build", lambda commit: package)
    monkeypatch.setattr(compare, "BUILT", package)
    shown: list[Any] = []
    (row,) = compare.compare("any", [rows.CASES[work]], ours.tiers()[-1:], lambda _: 0.01, show=shown.append)
    assert {"old_ns", "new_ns", "again_ns", "faster", "itself"} <= row.keys()
    assert ("fill_ns" in row) == (work == RELEASE)
    assert 0.05 < row["faster"] < 20
    assert shown[0] == row
    assert work[:80] in compare.line(row)


class Timed:
    """A worker that reports two milliseconds a value for every case."""

    def __init__(self, *_: object) -> None: ...

    def __enter__(self) -> "Timed":
        return self

    def __exit__(self, *_: object) -> None: ...

    def make(self, work: str, *_: object) -> dict[str, Any]:
        return {"digest": 1, "seconds": 0.01}

    def ns(self, kind: str) -> float:
        return 2e6

    def forget(self) -> None:
        pass


def test_what_is_slower_is_measured_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slower case is measured once more, and the second measurement counts."""
    package = Path(stairnoise.__file__).parents[1]
    monkeypatch.setattr(builds, "build", lambda commit: package)
    monkeypatch.setattr(compare, "Worker", Timed)
    monkeypatch.setattr(ratios, "slower", lambda found: found)
    shown: list[Any] = []
    found = compare.compare("any", [rows.CASES[OTHER]], ours.tiers()[-2:], lambda _: 0.01, show=shown.append)
    assert len(shown) == 2, "on the best instruction set alone"
    assert found == shown[1:]


def test_what_only_the_new_build_has_is_timed_against_its_own_target() -> None:
    class Without(Timed):
        def make(self, work: str, *_: object) -> dict[str, Any]:
            return {"absent": "no such class"}

    new, old = Timed(), Without()
    workers: Any = {"old": old, "new": new, "again": old}
    row = {"tier": "avx2"} | compare.measure(workers, rows.CASES[CONSTRUCTOR], 0.1)
    assert row["new_ns"] == 2e6
    assert not row.keys() & {"old_ns", "again_ns", "faster", "itself"}
    assert ratios.met(row) is False
    assert "-> 2000000 ns x new" in " ".join(compare.line(row).split())
    assert f"| {CONSTRUCTOR} |  | 2000000 | new | ≤ 1000 µs | not met |" in "\n".join(ratios.lines([row], "abc"))
    nothing = {"tier": "avx2"} | compare.measure({"old": workers["old"], "new": workers["old"]}, rows.CASES[CONSTRUCTOR], 0.1)
    assert ratios.met(nothing) is None
    assert "absent" in compare.line(nothing)


def test_builds_that_draw_different_values_are_not_compared() -> None:
    class Differing:
        digests = iter([1, 2])

        def make(self, *_: object) -> dict[str, Any]:
            return {"digest": next(self.digests), "seconds": 0.01}

    case = replace(rows.CASES[RELEASE], seeded=None)
    worker: Any = Differing()
    with pytest.raises(AssertionError, match="draw different values"):
        compare.measure({"old": worker, "new": worker}, case, 0.1)


def test_what_a_build_lacks_is_absent() -> None:
    with Worker(Path(stairnoise.__file__).parents[1], ours.tiers()[0]) as worker:
        assert worker.make("no such case", "case", 0.001)["absent"].startswith("KeyError")
        assert worker.make(OTHER, "case", 0.001).keys() == {"digest", "seconds"}
        assert worker.ns("case") > 0


def test_a_build_without_one_class_has_the_rows_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    has = stairnoise.__getattr__

    def lacks(name: str) -> Any:
        if name == "TruncatedStaircase":
            raise AttributeError(name)
        return has(name)

    monkeypatch.delattr(stairnoise, "TruncatedStaircase", raising=False)
    monkeypatch.setattr(stairnoise, "__getattr__", lacks)
    left = runpy.run_path(rows.__file__)["CASES"].keys()
    assert left < rows.CASES.keys()
    assert all("TruncatedStaircase" in work for work in rows.CASES.keys() - left)


def test_buffers_begin_alike() -> None:
    for shape, dtype, order in [(5, np.float64, "C"), ((3, 4), np.int32, "F"), (10**6, np.float32, "C")]:
        array = cases.buffer(shape, dtype, order)
        assert array.ctypes.data % cases.PAGE == 0
        assert array.shape == np.zeros(shape).shape
        assert array.dtype == dtype
        assert not array.any()


def test_the_commit_to_compare_with_is_the_newest_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builds, "exists", lambda commit: commit == "1234567")
    assert compare.newest_commit({"commit": "1234567+"}) == "1234567"
    assert compare.newest_commit({"commit": "7654321"}) == compare.FIRST
    assert compare.newest_commit(None) == compare.FIRST


def test_rounds_alternate() -> None:
    """A contender's competitors run once before each of its rounds."""
    order: list[str] = []

    facts: dict[str, Any] = {}

    class Benchmark:
        extra_info = facts

        def pedantic(self, run: Any, setup: Any, rounds: int, **_: int) -> None:
            for _ in range(rounds):
                setup()
                run()

    run, other = (timing.Run(lambda name=name: order.append(name), 1) for name in ("run", "other"))
    run.calibrate = other.calibrate = lambda: timing.SECONDS / 10
    timing.side_by_side(Benchmark(), "unit", "w", "c", run, {"o": other})
    assert order == ["other", "run"] * 5
    assert facts["beside_ns"].keys() == {"o"}


def test_memory_is_that_of_the_call() -> None:
    """The limit on allocation works: a process that cannot allocate its output fails."""
    small = memory.in_fresh_process("fresh array", 10**6)
    assert small["output_bytes"] == 8 * 10**6
    assert small["beyond_bytes"] < 16 * memory.MIB
    if machine.platform.system() == "Linux":
        code = (
            "import resource, numpy; from benches import memory\n"
            "resource.setrlimit(resource.RLIMIT_DATA, (memory._status('VmData') + memory.PRIVATE,) * 2)\n"
            "numpy.ones(memory.PRIVATE // 4)"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
        assert "MemoryError" in done.stderr


def test_figures_replace_figures_only() -> None:
    text = f"before\n{report.BEGIN}\nold\n{report.END}\nafter"
    new = f"{report.BEGIN}\nnew\n{report.END}"
    assert report.replace_figures(text, new) == f"before\n{new}\nafter"
    with pytest.raises(ValueError, match="lost the markers"):
        report.replace_figures("no markers", new)


def test_readme_quotes_the_newest_record() -> None:
    record, stem = newest()
    text = report.README.read_text(encoding="utf-8")
    assert report.quoted(text, record, stem) == text


def ratios_of(page: str) -> dict[str, float]:
    """Return the ratios between mechanisms in the record that a page links to."""
    (link,) = set(re.findall(r"record/([\w-]+)\.md#targets", page))
    text = (report.RECORDS / f"{link}.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| (\w+), (?:eps|mu)=([^,|]+?)(?:, [^|]*)? \| ≤ [\d.]+ × \w+, [^|]*both over fill \| ([\d.]+) \|", text, re.MULTILINE
    )
    return {f"{mechanism} {number}": float(ratio) for mechanism, number, ratio in rows}


def test_pages_say_what_their_record_says() -> None:
    skellam, truncated = (
        (report.README.parent / "docs" / name).read_text(encoding="utf-8") for name in ("skellam.md", "truncated_staircase.md")
    )
    ratios = ratios_of(skellam)
    times = [ratios[f"Skellam {mu}"] for mu in ("1", "100", "1e+06")]
    said = f"takes {min(times):.1f} to {max(times):.1f} times as long as one of `DiscreteGaussian`, for μ from 1 to 10⁶"
    assert said in " ".join(skellam.split())
    ratios = ratios_of(truncated)
    times = [ratios[f"{mechanism} 1"] for mechanism in ("TruncatedStaircase", "TruncatedDiscreteStaircase")]
    said = f"it takes {min(times):.1f} to {max(times):.1f} times as long as a value without bounds"
    assert said in " ".join(truncated.split())


@pytest.mark.parametrize("path", sorted(report.RECORDS.glob("*.json")), ids=lambda path: path.stem)
def test_records_name_no_machine_and_keep_their_page(path: Path) -> None:
    """A record in an older format, or beside an older commit, keeps its old page."""
    text = path.read_text(encoding="utf-8")
    plotted = path.with_suffix(".svg").read_text(encoding="utf-8")
    for content in (text, plotted):
        assert socket.gethostname() not in content
        assert not re.search(r"/(home|root|work|tmp|usr|Users)/", content)
    record = json.loads(text)
    assert record["cpu"]["model"] in plotted
    if record["format"] == FORMAT and record["compared"]["commit"] == compare.FIRST:
        assert path.with_suffix(".md").read_text(encoding="utf-8") == tables.page(record, path.stem)


@pytest.mark.parametrize("some", [slice(None, None, 12), pytest.param(slice(None), marks=pytest.mark.long)], ids=["some", "all"])
def test_every_column_is_timed_and_checked(some: slice) -> None:
    """Each row runs briefly and the benchmark checks its outputs; so few rows give no meaningful ratios."""
    columns = pytest.importorskip("benches.columns", reason="pandas, Polars or PyArrow is not installed", exc_type=ImportError)
    for held in columns.HELD[some]:
        found = columns.measured(held, 20_000)
        assert found["ratio"] > 0
        assert found["most"] == (1.6 if held.nulls else 1.2)
        assert held.name in columns.line(found)


def test_a_column_that_lost_its_nulls_is_noticed() -> None:
    columns = pytest.importorskip("benches.columns", reason="pandas, Polars or PyArrow is not installed", exc_type=ImportError)
    held = next(held for held in columns.HELD if held.nulls == "keep")
    values, missing = np.zeros(1000, np.int64), np.arange(1000) % 10 == 0
    with pytest.raises(AssertionError):
        columns._check(held.make(values, ~missing), values, missing, held)


# The second case has several quantiles, and candidates that are no spaced lattice.
SMALL = """
from benches.quantiles import *
few = Case("few", salaries(200), spaced(0, 200_000, 1000), 100.0, releases=1)
some = Case("some", salaries(200), WIDE, 100.0, several(3), releases=1)
"""


@pytest.mark.parametrize("contender", quantiles.CONTENDERS, ids=lambda contender: contender.name)
def test_quantiles_of_every_library_are_near_the_true_ones(contender: quantiles.Contender) -> None:
    """At ε = 100 a result is within 5 ranks of its quantile. In another process, because OpenDP starts threads."""
    if reason := peers.reason_absent(contender.package):
        pytest.skip(reason)
    program = f"{SMALL}print(json.dumps(measured(2, [few, some], None, only={contender.name!r})['results']))"
    command = [sys.executable, "-W", "ignore", "-c", program]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout)
    assert [one["case"] for one in found] == ["few", "some"]
    assert all("failed" in one or one["ranks"] < 5 for one in found)


def test_a_record_of_quantiles_becomes_a_table() -> None:
    few, case = quantiles.CONTENDERS[0], quantiles.Case("few", quantiles.salaries(200), quantiles.SALARIES, 100.0)
    record = quantiles.measured(1, [case], None, few.name) | {"milliseconds": {few.name: 12345.0}}
    head, _, row, time, _, about = quantiles.table(record)
    assert head.startswith(f"| data | {few.name} |")
    assert row.startswith("| few, ε\u00a0=\u00a0100 |")
    assert time.startswith("| processor time for 10⁶ values, 10⁵ candidates | ")
    assert about.startswith("1 data sets; stairnoise ")


@pytest.mark.parametrize("place", [-1, 0, 1])
def test_the_error_of_a_quantile_is_counted_in_ranks(place: int) -> None:
    """Of 1, 2, 2, 2, 5 every q from 0.2 to 0.8 has the quantile 2; the median is 1.5 ranks from 1, and as far from 5."""
    case = quantiles.Case("five", lambda _: np.array([1.0, 2, 2, 2, 5]), np.array([1.0, 2, 5]), 1.0)
    far = quantiles.error(case, case.draw(np.random.default_rng()), [case.candidates[1 + place] + 0.25])
    assert far == [1.5, 0, 1.5][1 + place]


def test_the_page_has_the_table_of_the_newest_record() -> None:
    text = quantiles.PAGE.read_text(encoding="utf-8")
    assert quantiles.replaced(text, quantiles.newest()) == text
