"""Try mutants of the crate in one program: each is a branch that an environment variable selects, so one compilation serves all.

python -m scripts.mutants_at_once FOLDERS K/N       every N-th mutant of some folders, such as exact,lattice, from the K-th on
python -m scripts.mutants_at_once FOLDERS K/N --survivors [--long]
python -m scripts.mutants_at_once FOLDERS K/N --alone [--survivors [--long]]

cargo-mutants lists them by .cargo/mutants.toml, and tree-sitter finds the expressions. The program records which test reaches
which mutant. A mutant is tried by the tests that reach it, the quickest first, until one fails. (Mutant schemata: Untch, Offutt
and Harrold, ISSTA 1993.) An expression that the compiler evaluates, such as a constant, cannot be a branch. With --alone the
mutants of such expressions are compiled one by one, incrementally, and tried by all tests.

Files are in target/mutants/FOLDERS/K-of-N. Outcomes are in outcomes.json or alone.json there: an interrupted run continues if the
sources are the same. --survivors compiles the current source with the mutants that survived and tries them again. With --long the
slow tests try them, which are skipped otherwise.
"""

import argparse
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
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
VARIABLE = "STAIRNOISE_MUTANT"
# The outcome of a mutant that must be compiled by itself.
ALONE = "by itself"
SURVIVED = {"survived", "not reached"}

# The module that every switch calls, appended to the crate. With the value "reach" no mutant is active; reached ones are noted.
ASKED = f"""
mod mutants {{
    use std::sync::atomic::{{AtomicBool, AtomicU32, Ordering::Relaxed}};

    static ACTIVE: AtomicU32 = AtomicU32::new(0);
    static REACHED: [AtomicBool; 1 << 13] = [const {{ AtomicBool::new(false) }}; 1 << 13];

    #[inline(always)]
    pub(crate) fn on(number: u32) -> bool {{
        let active = ACTIVE.load(Relaxed);
        active == number || active == 0 && first(number)
    }}

    #[cold]
    #[inline(never)]
    fn first(number: u32) -> bool {{
        if REACHED[number as usize].swap(true, Relaxed) {{
            return false;
        }}
        let active = std::env::var("{VARIABLE}").unwrap_or_default();
        if active == "reach" {{
            let path = std::env::var("{VARIABLE}_REACHED").unwrap();
            let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
            std::io::Write::write_all(&mut file, format!("{{number}}\n").as_bytes()).unwrap();
            return false;
        }}
        let active = active.parse().unwrap_or(u32::MAX);
        ACTIVE.store(active, Relaxed);
        active == number
    }}
}}
"""

BUILD = ["--locked", "--package=stairnoise", "--all-features", "--lib", "--profile=mutants", "--message-format=json"]
# Tests that loop for long.
LONG = re.compile(r"exhaustive|::proof::|::logarithms_")
# A mutant may allocate without end.
MEMORY = 4 << 30
# Processor seconds for the compiler, which may evaluate a constant forever. A mutant takes ten, on a busy machine more.
COMPILING = 120
# Processor seconds allowed for a second of tests, and in addition for any tests.
PATIENCE, EXTRA = 5, 4


@dataclass
class Mutant:
    """An entry of cargo-mutants' list."""

    number: int
    name: str
    file: str
    genre: str
    replacement: str
    span: tuple[tuple[int, int], tuple[int, int]]
    outcome: str = ""
    by: str = ""
    seconds: float = 0.0


@dataclass
class Test:
    """A test, its seconds without a mutant, and the mutants that it reaches."""

    name: str
    seconds: float
    reaches: list[int]


@dataclass(frozen=True)
class Switch:
    """The bytes of a source that a mutant replaces by others; none if it only inserts."""

    number: int
    start: int
    end: int
    text: bytes


@dataclass
class Written:
    """A source with its switches, and where each mutant is: its branch, and the changed part of the branch."""

    text: bytearray = field(default_factory=bytearray)
    places: dict[int, tuple[range, range]] = field(default_factory=dict)


def listed(folders: str) -> list[Mutant]:
    found = json.loads(subprocess.run(["cargo", "mutants", "--list", "--json"], cwd=ROOT, capture_output=True, check=True).stdout)
    return [
        Mutant(number, m["name"], m["file"], m["genre"], m["replacement"], (place(m, "start"), place(m, "end")))
        for number, m in enumerate(found, 1)
        if Path(m["file"]).relative_to("rust/core/src").parts[0] in folders.split(",")
    ]


def place(mutant: dict[str, Any], which: str) -> tuple[int, int]:
    return mutant["span"][which]["line"], mutant["span"][which]["column"]


def offset(source: bytes, line: int, column: int) -> int:
    """Return the byte at which a column of a line begins; both count from 1, columns in characters."""
    lines = source.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].decode()[: column - 1].encode())


def switch(mutant: Mutant, source: bytes, tree: tree_sitter.Tree) -> Switch | None:
    """Return the mutant as a branch, or None if it cannot be one."""
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


def switches(mutants: list[Mutant]) -> dict[int, tuple[Mutant, Switch]]:
    """Return the mutants that can be branches, by their numbers."""
    sources = {m.file: (ROOT / m.file).read_bytes() for m in mutants}
    trees = {file: parser().parse(source) for file, source in sources.items()}
    return {m.number: (m, s) for m in mutants if (s := switch(m, sources[m.file], trees[m.file])) is not None}


def in_a_constant(node: tree_sitter.Node | None) -> bool:
    """Return whether the compiler evaluates the node."""
    while node is not None:
        if node.type in {"const_item", "static_item", "const_block", "array_type", "enum_variant"}:
            return True
        if node.type == "function_item":
            modifiers = next((child for child in node.children if child.type == "function_modifiers"), None)
            return modifiers is not None and b"const" in (modifiers.text or b"").split()
        node = node.parent
    return False


def operation(node: tree_sitter.Node | None) -> tree_sitter.Node | None:
    """Return an operator's whole expression up to parentheses, because another operator may bind differently."""
    while node is not None and node.type not in {"binary_expression", "unary_expression", "compound_assignment_expr"}:
        # Only the operator itself is unnamed.
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
    # At one place insertions come first, and outer switches before inner ones.
    order = sorted(switches, key=lambda s: (s.start, s.end > s.start, -s.end, s.number))
    write(source, 0, len(source), order, result)
    return result


def write(source: bytes, start: int, end: int, switches: list[Switch], result: Written) -> None:
    """Write `source[start:end]` with its switches. A mutant's own text has none, because one mutant is active at a time."""
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


def parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))


def files(*folders: str) -> list[str]:
    names = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, check=True).stdout
    return names.decode().split("\0")[:-1]


def digest() -> str:
    """Hash all files that the tests' outcomes may depend on."""
    hashed = hashlib.sha256()
    for name in files("rust/core", "tests/vectors", "Cargo.toml", "Cargo.lock"):
        hashed.update(f"{name}\0".encode() + hashlib.sha256((ROOT / name).read_bytes()).digest())
    return hashed.hexdigest()


def copy_sources(copy: Path) -> None:
    for name in files():
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        # The copy has a new time; otherwise cargo would take it for an earlier run's.
        shutil.copy(ROOT / name, target)


def compiled(mutants: list[Mutant], copy: Path, to: Path) -> None:
    """Write the program with all mutants that compile as branches; the others get an outcome here."""
    copy_sources(copy)
    branches = switches(mutants)
    sources = {m.file: (ROOT / m.file).read_bytes() for m in mutants}
    for m in mutants:
        m.outcome = "" if m.number in branches else ALONE
    root = copy / "rust/core/src/lib.rs"
    root.write_text(root.read_text(encoding="utf-8") + ASKED, encoding="utf-8")
    while True:
        texts = {}
        for file, source in sources.items():
            texts[file] = written(source, [s for m, s in branches.values() if m.file == file])
            (copy / file).write_bytes(texts[file].text)
        wrong = errors(texts, copy)
        if not wrong:
            break
        print(f"{len(wrong)} mutants do not compile as branches", flush=True)
        for number, outcome in wrong.items():
            branches.pop(number)[0].outcome = outcome
    if not program(copy, to):
        raise SystemExit("the program with mutants does not compile")


def cargo(copy: Path, *command: str, seconds: int = resource.RLIM_INFINITY) -> tuple[int, list[dict[str, Any]]]:
    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    run = subprocess.run(["cargo", *command, *BUILD], cwd=copy, stdout=subprocess.PIPE, check=False, preexec_fn=limits)
    return run.returncode, [json.loads(line) for line in run.stdout.decode().splitlines()]


def program(copy: Path, to: Path, seconds: int = resource.RLIM_INFINITY) -> bool:
    code, messages = cargo(copy, "test", "--no-run", seconds=seconds)
    paths = [m["executable"] for m in messages if m.get("executable")]
    if code or len(paths) != 1:
        return False
    shutil.copy2(paths[0], to)
    return True


def errors(texts: dict[str, Written], copy: Path) -> dict[int, str]:
    """Return the mutants that the compiler rejects before it gives up, with their outcomes."""
    code, messages = cargo(copy, "check")
    wrong: dict[int, str] = {}
    for message in (m["message"] for m in messages if m["reason"] == "compiler-message"):
        if message["level"] != "error":
            continue
        spans = sorted(message["spans"], key=lambda span: not span["is_primary"])
        found = next((f for span in spans if (f := at(texts, span, (message["code"] or {}).get("code", "")))), {})
        if spans and not found:
            print(message["rendered"])
        wrong |= found
    if code and not wrong:
        raise SystemExit("the compiler has errors outside the mutants")
    return wrong


def match_around(source: bytes, start: int, end: int) -> bytes:
    node = parser().parse(source).root_node.descendant_for_byte_range(start, end)
    while node is not None and node.type != "match_expression":
        node = node.parent
    return (node.text or b"") if node is not None else b""


def at(texts: dict[str, Written], span: dict[str, Any], code: str) -> dict[int, str]:
    """Return the mutants of the smallest switch around a place. An error in a mutant's own text is only this mutant's."""
    text = texts.get(span["file_name"])
    if text is None:
        return {}
    start, end = span["byte_start"], span["byte_end"]
    if code == "E0004":
        # A match without one of its arms is not exhaustive. The compiler points at the matched expression.
        arms = re.compile(rb" if !crate::mutants::on\((\d+)\)")
        return {int(n): "does not compile" for n in arms.findall(match_around(bytes(text.text), start, end))}
    around = {n: (b, c) for n, (b, c) in text.places.items() if b.start <= start and end <= b.stop}
    for number, (_, changed) in around.items():
        if changed.start <= start and end <= changed.stop:
            return {number: "does not compile"}
    smallest = min((b.stop for b, _ in around.values()), default=0)
    return {number: ALONE for number, (b, _) in around.items() if b.stop == smallest}


def run(program: Path, tests: list[str], seconds: float, **variables: str) -> str:
    """Return the first test that fails, or "". Taking more than `seconds` of processor time is a failure."""

    def limits() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with subprocess.Popen(
        [str(program), "--exact", "--test-threads=1", *tests],
        cwd=program.with_suffix(".source") / "rust/core",
        env=os.environ | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        errors="replace",
        preexec_fn=limits,
        start_new_session=True,
    ) as process:
        now = ""
        for line in process.stdout or ():
            if begun := re.match(r"test (\S+) (?:- should panic )?\.\.\.", line):
                now = begun[1]
            if line.endswith("FAILED\n"):
                os.killpg(process.pid, signal.SIGKILL)
                return now
        return (now or "?") if process.wait() else ""


def measured(program: Path, numbers: set[int], long: bool) -> list[Test]:
    """Return the tests, the quickest first; a second run of each finds the mutants that it reaches."""
    listing = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^(\S+): test$", listing, re.MULTILINE)
    tests = []
    for name in names:
        if bool(LONG.search(name)) != long:
            continue
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        if run(program, [name], 600):
            raise SystemExit(f"{name} fails without a mutant")
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
        tests.append(Test(name, seconds, reached(program, name, numbers) if numbers else []))
    return sorted(tests, key=lambda test: test.seconds)


def reached(program: Path, name: str, numbers: set[int]) -> list[int]:
    noted = program.parent / "reached"
    noted.write_text("")
    run(program, [name], 600, **{VARIABLE: "reach", f"{VARIABLE}_REACHED": str(noted)})
    return sorted(numbers & set(map(int, noted.read_text().split())))


def tried(program: Path, mutant: Mutant, tests: list[Test]) -> None:
    begin = time.monotonic()
    module = mutant.file.removeprefix("rust/core/src/").removesuffix(".rs").removesuffix("/mod").replace("/", "::")
    # A module's own tests are likelier to notice its mutants.
    order = sorted(tests, key=lambda test: test.seconds / (10 if test.name.startswith(f"{module}::") else 1))
    mutant.outcome = "survived" if order else "not reached"
    some: list[Test] = []
    for number, test in enumerate(order, 1):
        some.append(test)
        seconds = sum(test.seconds for test in some)
        # A process runs tests for about as long as it takes to start.
        if seconds < 0.1 and number < len(order):
            continue
        mutant.by = run(program, [test.name for test in some], EXTRA + PATIENCE * seconds, **{VARIABLE: str(mutant.number)})
        if mutant.by:
            mutant.outcome = "noticed"
            break
        some = []
    mutant.seconds = time.monotonic() - begin


def alone(mutant: Mutant, copy: Path, to: Path) -> None:
    """Write the program of a mutant to `to`, and leave the copy as it was."""
    target, source = copy / mutant.file, (ROOT / mutant.file).read_bytes()
    start, end = (offset(source, *point) for point in mutant.span)
    text = mutant.replacement.encode()
    if mutant.genre == "FnValue":
        end, text = start, b"return " + text + b"; "
    try:
        target.write_bytes(source[:start] + text + source[end:])
        compiles = program(copy, to, COMPILING)
    finally:
        target.write_bytes(source)
    if not compiles:
        mutant.outcome = "does not compile"


@dataclass
class Seen:
    """The mutants and outcomes that a run keeps in a file."""

    path: Path
    sources: str
    mutants: list[Mutant]
    tests: list[Test]

    @classmethod
    def read(cls, path: Path) -> "Seen":
        found = json.loads(path.read_text(encoding="utf-8"))
        tests = json.loads(path.with_suffix(".tests").read_text(encoding="utf-8"))
        return cls(path, found["sources"], [Mutant(**m) for m in found["mutants"]], [Test(**t) for t in tests])

    def write(self) -> None:
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"sources": self.sources, "mutants": list(map(vars, self.mutants))}), encoding="utf-8")
        new.replace(self.path)

    @property
    def program(self) -> Path:
        return self.path.with_suffix(".bin")

    @property
    def copy(self) -> Path:
        return self.path.with_suffix(".source")

    def begin(self, long: bool) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        compiled(self.mutants, self.copy, self.program)
        print(Counter(m.outcome or "to be tried" for m in self.mutants), flush=True)
        self.tests = measured(self.program, {m.number for m in self.mutants}, long)
        self.keep()

    def begin_alone(self, long: bool) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        copy_sources(self.copy)
        if not program(self.copy, self.program):
            raise SystemExit("the program without a mutant does not compile")
        print(f"{len(self.mutants)} to be tried", flush=True)
        self.tests = measured(self.program, set(), long)
        self.keep()

    def keep(self) -> None:
        self.path.with_suffix(".tests").write_text(json.dumps(list(map(vars, self.tests))), encoding="utf-8")
        self.write()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders")
    parser.add_argument("shard", nargs="?", default="0/1")
    parser.add_argument("--survivors", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--long", action="store_true")
    given = parser.parse_args()
    os.environ.setdefault("CARGO_TARGET_DIR", str(WORK / "build"))
    # The compiler would refuse `1 / 0` and the like.
    os.environ.setdefault("RUSTFLAGS", "--cap-lints=warn")
    k, n = map(int, given.shard.split("/"))
    path = WORK / given.folders / f"{k}-of-{n}" / ("alone.json" if given.alone else "outcomes.json")
    seen = Seen.read(path) if path.exists() else Seen(path, "", [], [])
    if given.survivors:
        again = {m.name for m in seen.mutants if m.outcome in SURVIVED}
        mutants = [m for m in listed(given.folders) if m.name in again]
        seen = Seen(path.with_stem(f"{path.stem}-{'long' if given.long else 'again'}"), digest(), mutants, [])
        print(f"{len(seen.mutants)} of {len(again)} are still there")
    elif seen.sources != digest():
        mutants = listed(given.folders)
        if given.alone:
            branches = switches(mutants)
            mutants = [m for m in mutants if m.number not in branches]
        # The kernels with all of their mutants take the compiler more than ten minutes.
        seen = Seen(path, digest(), mutants[k::n], [])
    if not seen.tests:
        seen.begin_alone(given.long) if given.alone else seen.begin(given.long)
    for m in seen.mutants:
        if m.outcome:
            continue
        if given.alone:
            alone(m, seen.copy, seen.program)
        if not m.outcome:
            tried(seen.program, m, [t for t in seen.tests if given.alone or m.number in t.reaches])
        print(f"{m.number:5} {m.outcome:11} {m.seconds:6.1f} s  {m.name}  {m.by}", flush=True)
        seen.write()
    print(Counter(m.outcome or "not tried" for m in seen.mutants))
    sys.exit(2 if any(m.outcome in SURVIVED for m in seen.mutants) else 0)


if __name__ == "__main__":
    main()
