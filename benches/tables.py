"""Render a record as a page of Markdown, and as README.md's figures."""

from __future__ import annotations

from collections.abc import Iterator

from benches import ratios, targets
from benches.bench_bit_generator import PEERS as BIT_GENERATORS
from benches.bench_release import MECHANISMS as RELEASED
from benches.bench_release import NOISE, OTHERS
from benches.bench_release import work as release_work
from benches.counts import EPS as COUNTS_EPS
from benches.counts import UNFAIR, WAYS
from benches.mechanisms import COMPARED
from benches.memory import MIB, PRIVATE
from benches.peers import PEERS
from benches.results import Record, Result, Results, number, over, power

BEGIN = "<!-- figures: written by `make bench`, from the record -->"
END = "<!-- end of figures -->"
# The package index shows README.md too, without the files beside it.
REPOSITORY = "https://github.com/stairnoise/stairnoise"
# Columns of README.md's figures.
LIBRARIES = ("stairnoise", "NumPy", "MKL", "OpenDP", "diffprivlib", "PyDP")
NOTES = {peer.name: peer.note for peer in (*PEERS, *OTHERS)}


def page(record: Record, stem: str) -> str:
    """Return the record as a page of Markdown."""
    results = Results(record)
    parts = [
        _head(record, results),
        ["## Targets", "", _about_targets(results), "", *targets.table(results)],
        ["## Against an earlier build", "", *_compared(record)],
        ["## By mechanism", "", f"![ns/value by mechanism]({stem}.svg)", "", *_bulk(results)],
        ["## Release", "", *_beside(results, "release", "fill", NOISE, f"{NOISE} + fill")],
        ["## Other mechanisms", "", *_beside(results, "family", "fill")],
        ["## Every value with its own ε", "", *_beside(results, "own eps", "fill")],
        ["## Other outputs", "", *_beside(results, "outputs", "fill", "np.full")],
        ["## n", "", *_growth(record, results)],
        ["## One value, seven counts", "", *_scalars(results)],
        [f"## Noisy counts of seven, ε = {COUNTS_EPS:g}", "", *_counts(results)],
        *([["## NumPy's Generator on SecureBitGenerator", "", *_bit_generator(results)]] if results.of("bits") else []),
        ["## Distribution functions", "", *_theory(results)],
        ["## Memory beyond the output", "", *_memory(record)],
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _head(record: Record, results: Results) -> list[str]:
    load = record["load_before"]
    imports = record["import_ms"]
    lines = [
        f"# {record['cpu']['model']}, {record['date']}",
        "",
        f"`{record['command']}`, one thread unless a row says otherwise; {record['system']}, {_cpu(record)}; "
        f"{record['cores']} cores, load average {'unknown' if load is None else f'{load:g}'} at the start; "
        f"commit {record['commit'].rstrip('+') or 'unknown'}{', and changes to it' * record['commit'].endswith('+')}.",
        "",
        ", ".join(f"{name} {version}" for name, version in record["versions"].items()) + ".",
        "",
        f"Importing NumPy takes {imports['numpy']:.1f} ms, importing stairnoise after it "
        f"{imports['stairnoise_after_numpy']:.1f} ms (medians of fresh processes).",
        "",
        "Times are medians per value, into an existing array. × fill: divided by `out.fill(1.0)` of 8 bytes per value into "
        f"warm memory, {results.fill_ns:.3g} ns alone. × stairnoise: divided by stairnoise's time for the same. The divisor was "
        "measured between the rounds of the time.",
    ]
    for name, reason in record["absent"].items():
        lines += ["", f"Absent: {name} ({reason})."]
    return lines


def _cpu(record: Record) -> str:
    cpu = record["cpu"]
    lacks = f", without {', '.join(cpu['lacks'])}" if cpu["lacks"] else ""
    return f"family-model {cpu['family']}, with {', '.join(cpu['features']) or 'no features known'}{lacks}"


def _about_targets(results: Results) -> str:
    kind = "This processor has them." if results.wide else "This processor lacks one of them."
    return f"Stated for a processor with AVX-512 and VAES. {kind} {targets.summary(results)}."


def _row(*texts: str) -> str:
    return f"| {' | '.join(texts)} |"


def _ratio(x: float | None) -> str:
    return "" if x is None else number(x)


def _bulk(results: Results) -> Iterator[str]:
    yield _row("mechanism", "n", "contender", "ns/value", "× fill", "× stairnoise", "note")
    yield "|---|---|---|---|---|---|---|"
    for result in results.of("bulk"):
        ours = 1.0 if result["contender"] == "stairnoise" else over(result, result["work"])
        yield _row(
            result["work"],
            power(result["n"]),
            result["contender"],
            number(result["median_ns"]),
            _ratio(over(result, "fill")),
            _ratio(ours),
            NOTES.get(result["contender"], ""),
        )


def _beside(results: Results, section: str, *units: str) -> Iterator[str]:
    yield _row(
        "work",
        "n",
        "contender",
        "ns/value",
        *(f"× {unit}" if "+" not in unit else f"× ({unit})" for unit in units),
        "× stairnoise",
        "note",
    )
    yield "|---" * (6 + len(units)) + "|"
    for result in results.of(section):
        ratios = [_ratio(over(result, unit)) for unit in units]
        ours = "1" if result["contender"] == "stairnoise" else _ratio(over(result, result["work"]))
        note = NOTES.get(result["contender"], "")
        yield _row(result["work"], power(result["n"]), result["contender"], number(result["median_ns"]), *ratios, ours, note)


def _compared(record: Record) -> Iterator[str]:
    compared = record["compared"]
    if compared["rows"]:
        yield from ratios.lines(compared["rows"], compared["commit"], compared.get("changed", ()))
    else:
        yield f"Nothing was compared: the clone had no commit {compared['commit']}."


def _growth(record: Record, results: Results) -> Iterator[str]:
    found = results.of("growth")
    columns = list(dict.fromkeys(result["contender"] for result in found))
    free = record["free_gib"]
    yield (
        f"{found[0]['work'] if found else 'Nothing measured'}, into an existing array: ns/value (× `fill` of the same "
        "array). At the largest n float32 values go to an `np.memmap`. A cell is empty if n would need more than half of "
        f"the free space: {free['memory']:g} GiB of memory, {free['disk']:g} GiB for files. Below 2^18 values one thread works."
    )
    yield ""
    yield _row("n", *columns)
    yield "|---" * (1 + len(columns)) + "|"
    for n in sorted({result["n"] for result in found}):
        texts = {r["contender"]: f"{number(r['median_ns'])} ({_ratio(over(r, 'fill'))})" for r in found if r["n"] == n}
        yield _row(power(n), *(texts.get(column, "") for column in columns))


def _scalars(results: Results) -> Iterator[str]:
    yield _row("work", "contender", "ns/call")
    yield "|---|---|---|"
    for result in results.of("scalars"):
        yield _row(result["work"], result["contender"], number(result["median_ns"] * result["n"]))


def _counts(results: Results) -> Iterator[str]:
    yield "The number of White people by marital status in the Adult data set; latency per noisy count."
    yield ""
    yield _row("way", "ns/count", "× stairnoise's release")
    yield "|---|---|---|"
    release = WAYS[-1].name
    for result in results.of("counts"):
        ours = 1.0 if result["contender"] == release else over(result, release)
        yield _row(result["contender"], number(result["median_ns"]), _ratio(ours))
    yield ""
    yield UNFAIR


def _bit_generator(results: Results) -> Iterator[str]:
    yield "The target is PCG64's time for arrays, and 1.2 times its time for one value or ten."
    yield ""
    yield _row("method", "n", "ns/value", *(f"× {peer}" for peer in BIT_GENERATORS))
    yield "|---" * (3 + len(BIT_GENERATORS)) + "|"
    for result in results.of("bits"):
        ratios = [_ratio(over(result, peer)) for peer in BIT_GENERATORS]
        yield _row(result["work"], power(result["n"]), number(result["median_ns"]), *ratios)


def _theory(results: Results) -> Iterator[str]:
    yield _row("function, mechanism", "contender", "ns/point", "× stairnoise")
    yield "|---|---|---|---|"
    for result in results.of("theory"):
        ours = _ratio(over(result, result["work"])) if "scipy" in result["contender"] else "1"
        yield _row(result["work"], result["contender"], number(result["median_ns"]), ours)


def _memory(record: Record) -> Iterator[str]:
    yield _row("call", "n", "output, MiB", "beyond it, MiB")
    yield "|---|---|---|---|"
    for m in record["memory"]:
        if "failed" in m:
            yield _row(m["case"], power(m["n"]), "", f"failed: {m['failed']}")
        else:
            yield _row(m["case"], power(m["n"]), f"{m['output_bytes'] / MIB:.1f}", f"{m['beyond_bytes'] / MIB:.1f}")
    yield ""
    yield (
        "Growth of the peak of resident memory in a fresh process. While the file behind `np.memmap` was filled, other "
        f"allocation was limited to {PRIVATE // MIB} MiB, so a file can be larger than memory."
    )


def readme_figures(record: Record, stem: str) -> str:
    """Return README.md's block between the markers: ns a value of stairnoise and other libraries, each at its largest n.

    What no other library does has a row in the record alone.
    """
    results = Results(record)
    works = [("bulk", mechanism.work) for mechanism in COMPARED] + [
        ("release", release_work(mechanism)) for mechanism in RELEASED
    ]
    rows = [(work, *_times(results, section, work)) for section, work in works]
    files = REPOSITORY.replace("github.com", "raw.githubusercontent.com") + "/main/benches/record"
    lines = [
        BEGIN,
        f"Nanoseconds a value on one core ({record['cpu']['model']}, family-model {record['cpu']['family']}), {record['date']}. "
        f"[The record]({REPOSITORY}/blob/main/benches/record/{stem}.md) has all rows, conditions and absent libraries.\n"
        f"`import stairnoise` takes {record['import_ms']['stairnoise_after_numpy']:.1f} ms after `import numpy` "
        f"({record['import_ms']['numpy']:.0f} ms).",
        "",
        _row("", *LIBRARIES),
        "|---|" + "---|" * len(LIBRARIES),
        *(_row(*row) for row in rows if set(row[2:]) != {"–"}),
        "",
        f"![Nanoseconds a value, by mechanism and library]({files}/{stem}.svg)",
        END,
    ]
    return "\n".join(lines)


def _times(results: Results, section: str, work: str) -> Iterator[str]:
    """Return the time of each library, or a dash; a contender's name begins with its library's."""
    found = quickest(results, section, work)
    for library in LIBRARIES:
        times = [float(result["median_ns"]) for result in found if result["contender"].startswith(library)]
        yield number(min(times)) if times else "–"


def by_size(results: Results, section: str, work: str) -> list[Result]:
    """Return each contender's results on one thread, the largest n first and then the quickest first."""
    found = [result for result in results.of(section) if result["work"] == work and "threads" not in result["contender"]]
    return sorted(found, key=lambda r: (-int(r["n"]), float(r["median_ns"])))


def quickest(results: Results, section: str, work: str) -> list[Result]:
    """Return each contender's result at its largest n, quickest first."""
    largest = {r["contender"]: r for r in reversed(by_size(results, section, work))}
    return sorted(largest.values(), key=lambda r: float(r["median_ns"]))
