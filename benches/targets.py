"""The targets, row by row, and a record's results for them.

The targets are for one thread on a processor with AVX-512 and VAES. A measured number is a ratio of two medians whose rounds
alternated. If the two results ran apart, the row names what both were divided by. `ratios` has the targets against another build.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from benches import bench_growth
from benches.bench_elementwise import PREPARED, WHOLE
from benches.bench_outputs import FRESH
from benches.bench_scalars import MECHANISMS as SCALARS
from benches.bench_scalars import one, seven
from benches.bench_theory import AIMED_AT, work
from benches.bench_theory import MECHANISMS as THEORY
from benches.family import (
    DISCRETE_GAUSSIANS,
    MULTIVARIATE,
    SKELLAMS,
    TRUNCATED_DISCRETE_STAIRCASE,
    TRUNCATED_STAIRCASE,
    Mechanism,
)
from benches.mechanisms import CORE_MECHANISMS, CoreMechanism, discrete_laplace, discrete_staircase, laplace, staircase
from benches.memory import MIB
from benches.results import Results, number

ALGORITHM_1, NUMPY, MKL = "NumPy, Algorithm 1", "NumPy laplace", "MKL laplace"
GEOMETRIC, OPENDP = "NumPy geometric, difference", "OpenDP laplace, integers"
ROOM_MIB = 16
FLAT = 1.5
"""The maximum of `growth` for a time that counts as flat from n = 10⁵ on."""


@dataclass(frozen=True)
class Target:
    """A target: `measure` returns the ratio that `bound` bounds, or None if there is nothing to measure."""

    work: str
    bound: float
    unit: str
    measure: Callable[[Results], float | None]
    at_least: bool = False
    any_processor: bool = False
    """Whether the target holds for every processor."""

    @property
    def aim(self) -> str:
        """The target in words."""
        sign, bound = ("≥", "at least") if self.at_least else ("≤", "at most")
        return f"{sign} {self.bound:g} {self.unit}" if self.unit else f"{bound} {self.bound:g}"

    def verdict(self, results: Results) -> tuple[str, str]:
        """Return the measurement, and whether it meets the target."""
        ratio = self.measure(results)
        if ratio is None:
            return "–", "absent from this run"
        if ratio >= self.bound if self.at_least else ratio <= self.bound:
            return number(ratio), "met"
        here = "" if results.wide or self.any_processor else " here (the target is for AVX-512)"
        return number(ratio), f"not met{here}"


def _bulk(mechanism: CoreMechanism, bound: float, *faster: tuple[float, str, str]) -> Iterator[Target]:
    yield Target(mechanism.work, bound, "× fill", lambda r: r.slower("bulk", mechanism.work, "stairnoise", "fill"))
    for factor, peer, drawn in faster:
        yield Target(mechanism.work, factor, f"× faster than {peer}", _faster(mechanism, peer, drawn), at_least=True)


def _faster(mechanism: CoreMechanism, peer: str, drawn: str) -> Callable[[Results], float | None]:
    return lambda results: results.slower("bulk", drawn, peer, mechanism.work)


def _own_eps(work: str) -> Iterator[Target]:
    yield Target(work, 40, "× fill", lambda r: r.slower("own eps", work, "stairnoise", "fill"))
    peer = f"{ALGORITHM_1} with arrays"
    yield Target(work, 3, f"× faster than {peer}", lambda r: r.slower("own eps", work, ALGORITHM_1, work), at_least=True)


def _fresh(threads: str, bound: float) -> Target:
    return Target(
        f"{FRESH}, {threads}", bound, "× np.full", lambda r: r.slower("outputs", FRESH, f"stairnoise, {threads}", "np.full")
    )


def _scalars() -> Iterator[Target]:
    for mechanism in SCALARS:
        yield Target(
            one(mechanism),
            1,
            "× faster than Generator.laplace()",
            lambda r, mechanism=mechanism: r.slower("scalars", one(laplace(1)), "Generator.laplace()", one(mechanism)),  # type: ignore[misc]
            at_least=True,
            any_processor=True,
        )
    mechanism = discrete_laplace(1)
    yield Target(
        seven(mechanism),
        1,
        "× faster than counts + Generator.laplace(0, s, 7)",
        lambda r: r.slower("scalars", seven(laplace(1)), "counts + Generator.laplace", seven(mechanism)),
        at_least=True,
        any_processor=True,
    )


def _family() -> Iterator[Target]:
    for mechanisms, bound, unit in ((DISCRETE_GAUSSIANS, 15, "ns/value"), (MULTIVARIATE, 25, "ns/coordinate")):
        for mechanism in mechanisms:
            yield Target(
                mechanism.work,
                bound,
                unit,
                lambda r, work=mechanism.work: r.median_ns("family", work, "stairnoise"),  # type: ignore[misc]
                any_processor=True,
            )


def _like_peers() -> Iterator[Target]:
    for ours, peer in zip(SKELLAMS, DISCRETE_GAUSSIANS, strict=True):
        yield _like(ours, 2, "family", peer.work)
    yield _like(TRUNCATED_STAIRCASE, 1.5, "bulk", staircase(1).work)
    yield _like(TRUNCATED_DISCRETE_STAIRCASE, 1.5, "bulk", discrete_staircase(1, 10).work)


def _like(ours: Mechanism, bound: float, section: str, peer: str) -> Target:
    def measure(results: Results) -> float | None:
        mine = results.slower("family", ours.work, "stairnoise", "fill")
        theirs = results.slower(section, peer, "stairnoise", "fill")
        return mine / theirs if mine and theirs else None

    return Target(ours.work, bound, f"× {peer}, both over fill", measure, any_processor=True)


def _growth() -> Iterator[Target]:
    for form in bench_growth.FORMS:
        for threads in (1, 2):
            column = bench_growth.contender(form, threads)
            yield Target(
                f"staircase, {column}, n = 10^5 and more: growth of the time without the memory's",
                FLAT,
                "",
                lambda r, column=column: growth(r, column),  # type: ignore[misc]
                any_processor=True,
            )


def _theory() -> Iterator[Target]:
    for mechanism in THEORY:
        for function in AIMED_AT:
            what = work(mechanism, function)
            for contender, bound in (("stairnoise", 40), ("stairnoise, one point", 5000)):
                yield Target(
                    what if bound == 40 else f"{what}, one point",
                    bound,
                    "ns/point",
                    lambda r, what=what, contender=contender: r.median_ns("theory", what, contender),  # type: ignore[misc]
                    any_processor=True,
                )


def growth(results: Results, contender: str) -> float | None:
    """Return the factor by which the time of a value grows from n = 10⁵ on, without the memory's share.

    The memory's share is how much longer `fill` of the same memory takes at n than at 10⁵. A time without this share is divided
    by the minimum over smaller n from 10⁵ on, and the maximum ratio is returned. So a time can fall when threads start to share.
    """
    found = sorted(
        (r for r in results.of("growth") if r["contender"] == contender and r["n"] >= 10**5), key=lambda r: int(r["n"])
    )
    if len(found) < 2:
        return None
    fills = [float(r["beside_ns"]["fill"]) for r in found]
    times = [float(r["median_ns"]) - max(0.0, fill - fills[0]) for r, fill in zip(found, fills, strict=True)]
    return max(time / min(times[: i + 1]) for i, time in enumerate(times))


def beyond_mib(results: Results) -> float | None:
    """Return the maximum MiB that a fresh array took beyond itself."""
    beyond = [m["beyond_bytes"] / MIB for m in results.record["memory"] if m["case"] == "fresh array" and "beyond_bytes" in m]
    return max(beyond, default=None)


def mapped_mib(results: Results) -> float | None:
    """Return the MiB that filling a file took beyond its pages, with allocation limited to less than the file."""
    beyond = [m["beyond_bytes"] / MIB for m in results.record["memory"] if m["case"] == "np.memmap" and "beyond_bytes" in m]
    return max(beyond, default=None)


STAIRCASE, LAPLACE, COUNTING = staircase(4), laplace(4), discrete_laplace(4)

TARGETS: tuple[Target, ...] = (
    *_bulk(
        STAIRCASE,
        6,
        (10, NUMPY, LAPLACE.work),
        (16, ALGORITHM_1, STAIRCASE.work),
        (3, MKL, LAPLACE.work),
    ),
    *_bulk(LAPLACE, 4.5, (13, NUMPY, LAPLACE.work), (3.5, MKL, LAPLACE.work)),
    *_bulk(COUNTING, 3, (11, GEOMETRIC, COUNTING.work), (5000, OPENDP, COUNTING.work)),
    *(target for eps in (0.01, 0.1, 1, 10) for target in _bulk(discrete_laplace(eps), 4.5)),
    *(target for mechanism in CORE_MECHANISMS if mechanism.mechanism == "discrete_staircase" for target in _bulk(mechanism, 6)),
    *_own_eps(PREPARED),
    *_own_eps(WHOLE),
    _fresh("1 thread", 2.7),
    _fresh("2 threads", 1.7),
    *_growth(),
    *_scalars(),
    *_family(),
    *_like_peers(),
    *_theory(),
    Target("fresh array: peak memory beyond the output", ROOM_MIB, "MiB", beyond_mib, any_processor=True),
    Target("np.memmap as out, allocation limited: memory beyond it", ROOM_MIB, "MiB", mapped_mib, any_processor=True),
)


def table(results: Results) -> list[str]:
    """Return the targets and their results as lines of Markdown."""
    lines = ["| work | target | measured | |", "|---|---|---|---|"]
    for target in TARGETS:
        measured, verdict = target.verdict(results)
        lines.append(f"| {target.work} | {target.aim} | {measured} | {verdict} |")
    return lines


def summary(results: Results) -> str:
    """Return how many targets were met."""
    verdicts = [target.verdict(results)[1] for target in TARGETS]
    met, missed = verdicts.count("met"), sum(verdict.startswith("not met") for verdict in verdicts)
    return f"{met} of {len(TARGETS)} targets met, {missed} not met, {len(TARGETS) - met - missed} not measured"
