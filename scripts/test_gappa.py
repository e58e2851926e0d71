"""The float bounds of the kernels, proven by Gappa (docs/evidence/proofs.md). Exit 1 if one is not, or if a tighter one is.

scripts/test_gappa.py [NAME ...]           the scripts that a Rust test writes from the formulas, or these of them
scripts/test_gappa.py --coq [NAME ...]     Gappa's proofs of exp and -ln as Coq sees them, and rust/core/proofs/*.v; or these
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PROOFS = Path(__file__).resolve().parent.parent / "rust" / "core" / "proofs"

# A line with a number, and the number in whose place Gappa must fail.
LINE = re.compile(r"^(?P<line>.* <= )(?P<bound>\S+)  # (?:\S+; )?not (?P<wrong>\S+)(?: \(\S+\))?$", re.MULTILINE)

# What Coq checks without being asked for a name. Their fused twins differ in a rounding less.
IN_COQ = ["minus_ln_separate.gappa", "exp_exponent_from_1_separate.gappa"]
# In the order in which one needs the other.
WRITTEN_FOR_COQ = ["series.v", "exponential.v", "exponential_points.v"]

# What proofs about real numbers rest on in Coq's library, and the machine integers and floats that `interval` computes with.
AXIOMS = re.compile(
    r"ClassicalDedekindReals\.sig_(not|forall)_dec|FunctionalExtensionality\.functional_extensionality_dep|Classical_Prop\.classic"
    r"|(PrimInt63|Uint63|Uint63Axioms|Sint63|PrimFloat|FloatAxioms|FloatOps|CarryType)\.\w+"
)


def skip(what: str) -> None:
    print(f"skipped: the proofs need {what}")
    sys.exit(0)


def proves(text: str) -> bool:
    """Whether Gappa proves the script. An error other than that, or a hint that is no identity, is raised."""
    run = subprocess.run(
        ["gappa", "-Wno-null-denominator"], input=text, capture_output=True, text=True, timeout=1800, check=False
    )
    if "trivially equal" in run.stderr or (run.returncode and "not satisfied" not in run.stderr):
        raise RuntimeError(run.stderr[-2000:])
    return run.returncode == 0


def wrong_scripts(text: str) -> Iterator[tuple[str, str]]:
    """The script with one of its numbers replaced, so that Gappa must fail, for each such number."""
    for line in LINE.finditer(text):
        yield line["line"].strip(), text[: line.start("bound")] + line["wrong"] + text[line.end("bound") :]


def write_scripts(folder: Path) -> None:
    """Write what rust/core/src/kernel/tests/proof/gappa.rs makes of the kernels' formulas and bounds."""
    run = ["cargo", "test", "--quiet", "--locked", "-p", "stairnoise", "--lib", "--all-features", "scripts_are_those_that_gappa"]
    subprocess.run(
        run, cwd=PROOFS, env=os.environ | {"STAIRNOISE_WRITE_GAPPA": str(folder)}, stdout=subprocess.DEVNULL, check=True
    )


def say(name: str, begin: float, wrong: str, right: str) -> bool:
    print(f"{name:40} {time.monotonic() - begin:7.1f} s  {wrong or right}", flush=True)
    return not wrong


def check(script: Path) -> bool:
    """Whether the script's bounds are proven and the tighter ones are not; says so."""
    text, begin = script.read_text(encoding="utf-8"), time.monotonic()
    others = list(wrong_scripts(text))
    try:
        wrong = [] if proves(text) else ["NOT PROVEN"]
        wrong += [f"proves what it must not: {line}" for line, other in others if proves(other)]
    except RuntimeError as error:
        wrong = [f"NOT READ: {error}"]
    wrong += [] if others else ["nothing that must fail"]
    return say(script.name, begin, "; ".join(wrong), f"proven; {len(others)} too tight, refused")


def lemmas(proof: str) -> str:
    """Gappa leaves the hints of a script as hypotheses. They are identities, which Coq's `ring` proves."""
    proof = re.sub(
        r"^Hypothesis (a\d+ : .*)\.$",
        r"Lemma \1. Proof. unfold Float1; try change (IZR 1) with 1%R; ring. Qed.",
        proof,
        flags=re.MULTILINE,
    )
    return f"Require Import Reals.\nOpen Scope R_scope.\n{proof}\nPrint Assumptions l1.\n"


def check_in_coq(script: Path) -> bool:
    """Whether Coq accepts Gappa's proof; says so."""
    begin = time.monotonic()
    gappa = subprocess.run(["gappa", "-Wno-null-denominator", "-Bcoq", script], capture_output=True, text=True, check=False)
    if gappa.returncode:
        return say(script.name, begin, "NOT PROVEN", "")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "proof.v"
        file.write_text(lemmas(gappa.stdout), encoding="utf-8")
        return say(script.name, begin, rejected(file), "accepted by Coq")


def rejected(file: Path) -> str:
    """What Coq has against a file, or against the axioms that the file prints."""
    run = subprocess.run(["coqc", "-q", file.name], cwd=file.parent, capture_output=True, text=True, check=False)
    if run.returncode:
        return f"NOT ACCEPTED: {run.stdout[-500:]}{run.stderr[-1500:]}"
    # A name begins its line; the axioms of the file itself have names without a point.
    axioms = {line.split()[0] for line in run.stdout.splitlines() if re.match(r"[A-Za-z_][\w.']*( :|$)", line)}
    others = sorted(axiom for axiom in axioms if not AXIOMS.fullmatch(axiom))
    return f"rests on {', '.join(others)}" if others else ""


def check_written(names: list[str]) -> bool:
    """Whether Coq accepts the files that are written for it; says so."""
    with tempfile.TemporaryDirectory() as folder:
        results = []
        for name in names:
            begin = time.monotonic()
            shutil.copy(PROOFS / name, folder)
            results.append(say(name, begin, rejected(Path(folder) / name), "accepted by Coq"))
        return all(results)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--coq", action="store_true")
    arguments.add_argument("names", nargs="*")
    options = arguments.parse_args()
    if not shutil.which("gappa"):
        skip("Gappa; gappa was not found. On Debian or Ubuntu: apt install gappa.")
    if options.coq and not shutil.which("coqc"):
        skip("Coq; coqc was not found. On Debian or Ubuntu: apt install coq libcoq-flocq libcoq-gappa libcoq-interval.")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_scripts(folder)
        if not options.coq:
            scripts = [folder / name for name in options.names] or sorted(folder.glob("*.gappa"))
            found = [check(script) for script in scripts]
            return 0 if found and all(found) else 1
        names = options.names or IN_COQ + WRITTEN_FOR_COQ
        written = check_written([name for name in names if name.endswith(".v")])
        found = [check_in_coq(folder / name) for name in names if name.endswith(".gappa")]
        return 0 if written and all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
