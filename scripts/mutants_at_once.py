"""Mutants of the crate in one program: each is a branch that an environment variable takes, so that all share one compilation.

python -m scripts.mutants_at_once K/N [--only NUMBER ...] [--tests FILTERSET]

cargo-mutants lists them by .cargo/mutants.toml, and tree-sitter finds the expressions. cargo-mutants itself then tries those that
cannot be branches, such as constants, each compiled by itself. All is done in target/mutants; outcomes-*.json has what was seen.
(Mutant schemata: Untch, Offutt and Harrold, ISSTA 1993.)

With --only the mutants of these numbers are tried again, in the program of the last run; with --tests by other tests of nextest.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tree_sitter
import tree_sitter_rust

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "mutants"
COPY = WORK / "rust"
VARIABLE = "STAIRNOISE_MUTANT"
# The outcome of what cargo-mutants has to compile.
ALONE = "by itself"

# What every switch asks, at the end of the crate.
ASKED = f"""
mod mutants {{
    static ACTIVE: std::sync::LazyLock<Option<u32>> =
        std::sync::LazyLock::new(|| std::env::var("{VARIABLE}").ok()?.parse().ok());

    #[inline]
    pub(crate) fn on(number: u32) -> bool {{
        *ACTIVE == Some(number)
    }}
}}
"""

BUILD = ["--locked", "--package=stairnoise", "--all-features", "--lib"]
# A mutant may ask for all memory there is.
MEMORY = 4 << 30

FAILED = re.compile(r"^ +(?:FAIL|TIMEOUT|ABORT|SIG[A-Z]+) \[.*?\] (?:\( *\d+/\d+\) )?\S+ (\S+)", re.MULTILINE)


@dataclass
class Mutant:
    """One of cargo-mutants' list."""

    number: int
    name: str
    file: str
    genre: str
    replacement: str
    span: tuple[tuple[int, int], tuple[int, int]]
    outcome: str = ""
    by: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Switch:
    """The bytes of a source that a mutant replaces by others; no bytes if it inserts some."""

    number: int
    start: int
    end: int
    text: bytes


@dataclass
class Written:
    """A source with its switches, and where in it each mutant is: the branch, and in it what is changed."""

    text: bytearray = field(default_factory=bytearray)
    places: dict[int, tuple[range, range]] = field(default_factory=dict)


def listed(shard: str) -> list[Mutant]:
    command = ["cargo", "mutants", "--list", "--json", "--shard", shard, "--sharding", "round-robin"]
    found = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    return [
        Mutant(number, m["name"], m["file"], m["genre"], m["replacement"], (place(m, "start"), place(m, "end")))
        for number, m in enumerate(found)
    ]


def place(mutant: dict[str, Any], which: str) -> tuple[int, int]:
    return mutant["span"][which]["line"], mutant["span"][which]["column"]


def offset(source: bytes, line: int, column: int) -> int:
    """Where a line and a column begin, both counted from 1, columns in characters."""
    lines = source.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].decode()[: column - 1].encode())


def switch(mutant: Mutant, source: bytes, tree: tree_sitter.Tree) -> Switch | None:
    """The mutant as a branch, or None where there cannot be one."""
    start, end = (offset(source, *point) for point in mutant.span)
    node = tree.root_node.descendant_for_byte_range(start, end)
    if node is None or in_a_constant(node):
        return None
    if mutant.genre == "FnValue":
        text = f"if crate::mutants::on({mutant.number}) {{ return {mutant.replacement}; }} "
        return Switch(mutant.number, start, start, text.encode())
    if mutant.genre == "MatchArmGuard":
        return Switch(mutant.number, start, end, mutant.replacement.encode())
    if mutant.genre == "MatchArm":
        return without_arm(mutant, node)
    if mutant.genre not in {"BinaryOperator", "UnaryOperator"}:
        return None
    whole = operation(node)
    if whole is None:
        return None
    before, after = source[whole.start_byte : start], source[end : whole.end_byte]
    return Switch(mutant.number, whole.start_byte, whole.end_byte, before + mutant.replacement.encode() + after)


def in_a_constant(node: tree_sitter.Node | None) -> bool:
    """Whether it is evaluated while the program is compiled."""
    while node is not None:
        if node.type in {"const_item", "static_item", "const_block", "array_type", "enum_variant"}:
            return True
        if node.type == "function_item":
            modifiers = next((child for child in node.children if child.type == "function_modifiers"), None)
            return modifiers is not None and b"const" in (modifiers.text or b"").split()
        node = node.parent
    return False


def operation(node: tree_sitter.Node | None) -> tree_sitter.Node | None:
    """The whole expression without parentheses that an operator is in: another operator may bind otherwise."""
    while node is not None and node.type not in {"binary_expression", "unary_expression", "compound_assignment_expr"}:
        # The operator itself, and nothing wider.
        if node.is_named:
            return None
        node = node.parent
    while node is not None and node.parent is not None and node.parent.type == "binary_expression":
        node = node.parent
    return node


def without_arm(mutant: Mutant, node: tree_sitter.Node | None) -> Switch | None:
    while node is not None and node.type != "match_arm":
        node = node.parent
    pattern = node.child_by_field_name("pattern") if node is not None else None
    if pattern is None:
        return None
    guard = pattern.child_by_field_name("condition")
    if guard is not None:
        return Switch(mutant.number, guard.start_byte, guard.end_byte, b"false")
    text = f" if !crate::mutants::on({mutant.number})"
    return Switch(mutant.number, pattern.end_byte, pattern.end_byte, text.encode())


def written(source: bytes, switches: Iterable[Switch]) -> Written:
    result = Written()
    # An insertion before what begins there; what is outside before what is inside.
    order = sorted(switches, key=lambda s: (s.start, s.end > s.start, -s.end, s.number))
    write(source, 0, len(source), order, result)
    return result


def write(source: bytes, start: int, end: int, switches: list[Switch], result: Written) -> None:
    """`source[start:end]` with the switches in it. What a mutant changes has none inside: one is active at a time."""
    out = result.text
    while switches:
        first = switches[0]
        here = [s for s in switches if (s.start, s.end) == (first.start, first.end)]
        inside = [s for s in switches if s not in here and s.end <= first.end and first.start < first.end]
        switches = [s for s in switches if s not in here and s not in inside]
        out += source[start : first.start]
        start = first.end
        if first.start == first.end:
            for s in here:
                at = range(len(out), len(out) + len(s.text))
                out += s.text
                result.places[s.number] = (at, at)
            continue
        out += b"("
        for s in here:
            branch = len(out)
            out += b"if crate::mutants::on(%d) { " % s.number
            changed = range(len(out), len(out) + len(s.text))
            out += s.text + b" } else "
            result.places[s.number] = (range(branch, len(out)), changed)
        out += b"{ "
        write(source, first.start, first.end, inside, result)
        out += b" })"
        for s in here:
            result.places[s.number] = (range(result.places[s.number][0].start, len(out)), result.places[s.number][1])
    out += source[start:end]


def copy_sources() -> None:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        target = COPY / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)


def compiled(mutants: list[Mutant]) -> None:
    """The program with all mutants that are no constants and that compile; says of the others what they are."""
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
    sources = {file: (ROOT / file).read_bytes() for file in {m.file for m in mutants}}
    trees = {file: parser.parse(source) for file, source in sources.items()}
    switches = {m.number: (m, s) for m in mutants if (s := switch(m, sources[m.file], trees[m.file])) is not None}
    for m in mutants:
        m.outcome = "" if m.number in switches else ALONE
    root = COPY / "rust/core/src/lib.rs"
    root.write_text(root.read_text(encoding="utf-8") + ASKED, encoding="utf-8")
    while True:
        texts = {}
        for file, source in sources.items():
            texts[file] = written(source, [s for m, s in switches.values() if m.file == file])
            (COPY / file).write_bytes(texts[file].text)
        wrong = errors(texts)
        if wrong is None:
            return
        if not wrong:
            raise SystemExit("the compiler has errors outside the mutants")
        for number, outcome in wrong.items():
            switches.pop(number)[0].outcome = outcome


def errors(texts: dict[str, Written]) -> dict[int, str] | None:
    """Compiles; None if there are no errors, otherwise which mutants have some."""
    command = ["cargo", "test", "--no-run", "--profile=mutants", "--message-format=json", *BUILD]
    run = subprocess.run(command, cwd=COPY, stdout=subprocess.PIPE, check=False)
    if run.returncode == 0:
        return None
    wrong: dict[int, str] = {}
    for line in run.stdout.decode().splitlines():
        message = json.loads(line).get("message") or {}
        if not isinstance(message, dict) or message.get("level") != "error":
            continue
        spans = sorted(message["spans"], key=lambda span: not span["is_primary"])
        found = next((f for span in spans if (f := at(texts, span))), {})
        if spans and not found:
            print(message["rendered"])
        wrong |= found
    return wrong


def at(texts: dict[str, Written], span: dict[str, Any]) -> dict[int, str]:
    """The mutants of the smallest switch around a place. An error in what a mutant changed is the mutant's own."""
    text = texts.get(span["file_name"])
    if text is None:
        return {}
    start, end = span["byte_start"], span["byte_end"]
    around = {n: (b, c) for n, (b, c) in text.places.items() if b.start <= start and end <= b.stop}
    for number, (_, changed) in around.items():
        if changed.start <= start and end <= changed.stop:
            return {number: "does not compile"}
    smallest = min((b.stop for b, _ in around.values()), default=0)
    return {number: ALONE for number, (b, _) in around.items() if b.stop == smallest}


def tried(number: int | None, tests: list[str]) -> tuple[str, str, float]:
    """What the tests say of a mutant, or of the program without one."""
    begin = time.monotonic()
    run = subprocess.run(
        ["cargo", "nextest", "run", "--cargo-profile=mutants", "--profile=mutants", *BUILD, *tests],
        cwd=COPY,
        env=os.environ | {VARIABLE: "" if number is None else str(number), "NEXTEST_HIDE_PROGRESS_BAR": "1"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    seconds = time.monotonic() - begin
    if run.returncode == 0:
        return "survived", "", seconds
    # Of nextest: a test failed.
    if run.returncode != 100:
        raise SystemExit(f"nextest ended with {run.returncode}: {run.stderr[-3000:]}")
    failed = FAILED.search(run.stderr)
    return "noticed", failed[1] if failed else "?", seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shard")
    parser.add_argument("--only", type=int, nargs="+")
    parser.add_argument("--tests")
    given = parser.parse_args()
    tests = ["--ignore-default-filter", "-E", given.tests] if given.tests else []
    os.environ.setdefault("CARGO_TARGET_DIR", str(WORK / "build"))
    outcomes = WORK / f"outcomes-{given.shard.replace('/', '-of-')}.json"
    if given.only:
        mutants = [Mutant(**m) for m in json.loads(outcomes.read_text(encoding="utf-8"))]
    else:
        mutants = listed(given.shard)
        copy_sources()
        compiled(mutants)
    if tried(None, tests)[0] != "survived":
        raise SystemExit("a test fails without a mutant")
    for m in mutants:
        if m.number in given.only if given.only else not m.outcome:
            m.outcome, m.by, m.seconds = tried(m.number, tests)
            print(f"{m.number:5} {m.outcome:9} {m.seconds:6.1f} s  {m.name}  {m.by}", flush=True)
            outcomes.write_text(json.dumps([vars(m) for m in mutants], indent=1), encoding="utf-8")
    print(Counter(m.outcome for m in mutants))
    alone = [m for m in mutants if m.outcome == ALONE]
    if alone and not given.only:
        names = [argument for m in alone for argument in ("--re", f"^{re.escape(m.name)}$")]
        # The tests have just passed without a mutant.
        os.execvp(
            "cargo", ["cargo", "mutants", "--jobs", "1", "--baseline", "skip", "--timeout", "300", "--output", str(WORK), *names]
        )


if __name__ == "__main__":
    main()
