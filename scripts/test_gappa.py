"""Prove the kernels' float bounds with Gappa (docs/evidence/proofs.md). Exit 1 if a bound is not proven, or if a tighter one is.

scripts/test_gappa.py [NAME ...]           the scripts that a Rust test writes from the formulas; by default all
scripts/test_gappa.py --coq [NAME ...]     Gappa's proofs of exp and -ln, checked by Coq, and rust/core/proofs/*.v; by default all
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

# A line with a bound, and a tighter bound with which Gappa must fail.
LINE = re.compile(r"^(?P<line>.* <= )(?P<bound>\S+)  # (?:\S+; )?not (?P<wrong>\S+)(?: \(\S+\))?$", re.MULTILINE)

# The proofs that Coq checks by default. Their fused twins have one rounding less.
IN_COQ = ["minus_ln_separate.gappa", "exp_exponent_from_1_separate.gappa"]
# A later file needs the earlier ones.
WRITTEN_FOR_COQ = ["series.v", "exponential.v", "exponential_points.v"]

# Allowed axioms: those of Coq's real numbers, and of the machine integers and floats that `interval` computes with.
AXIOMS = re.compile(
    r"ClassicalDedekindReals\.sig_(not|forall)_dec|FunctionalExtensionality\.functional_extensionality_dep|Classical_Prop\.classic"
    r"|(PrimInt63|Uint63|Uint63Axioms|Sint63|PrimFloat|FloatAxioms|FloatOps|CarryType)\.\w+"
)


def skip(what: str) -> None:
    print(f"skipped: the proofs need {what}")
    sys.exit(0)


def proves(text: str) -> bool:
    """Return whether Gappa proves the script. Raise any other error, and one for a hint that is not an identity."""
    run = subprocess.run(
        ["gappa", "-Wno-null-denominator"], input=text, capture_output=True, text=True, timeout=1800, check=False
    )
    if "trivially equal" in run.stderr or (run.returncode and "not satisfied" not in run.stderr):
        raise RuntimeError(run.stderr[-2000:])
    return run.returncode == 0


def wrong_scripts(text: str) -> Iterator[tuple[str, str]]:
    """Yield each line with a bound, and the script with this bound replaced, so that Gappa must fail."""
    for line in LINE.finditer(text):
        yield line["line"].strip(), text[: line.start("bound")] + line["wrong"] + text[line.end("bound") :]


def write_scripts(folder: Path) -> None:
    """Write the scripts that rust/core/src/kernel/tests/proof/gappa.rs makes from the kernels' formulas and bounds."""
    run = ["cargo", "test", "--quiet", "--locked", "-p", "stairnoise", "--lib", "--all-features", "scripts_are_those_that_gappa"]
    subprocess.run(
        run, cwd=PROOFS, env=os.environ | {"STAIRNOISE_WRITE_GAPPA": str(folder)}, stdout=subprocess.DEVNULL, check=True
    )


def say(name: str, begin: float, wrong: str, right: str) -> bool:
    print(f"{name:40} {time.monotonic() - begin:7.1f} s  {wrong or right}", flush=True)
    return not wrong


def check(script: Path) -> bool:
    """Print and return whether the script's bounds are proven and the tighter ones are not."""
    text, begin = script.read_text(encoding="utf-8"), time.monotonic()
    others = list(wrong_scripts(text))
    try:
        wrong = [] if proves(text) else ["NOT PROVEN"]
        wrong += [f"proves what it must not: {line}" for line, other in others if proves(other)]
    except RuntimeError as error:
        wrong = [f"NOT READ: {error}"]
    wrong += [] if others else ["nothing that must fail"]
    return say(script.name, begin, "; ".join(wrong), f"proven; {len(others)} tighter bounds refused")


def lemmas(proof: str) -> str:
    """Turn a script's hints, which Gappa leaves as hypotheses, into lemmas: they are identities, which Coq's `ring` proves."""
    proof = re.sub(
        r"^Hypothesis (a\d+ : .*)\.$",
        r"Lemma \1. Proof. unfold Float1; try change (IZR 1) with 1%R; ring. Qed.",
        proof,
        flags=re.MULTILINE,
    )
    return f"Require Import Reals.\nOpen Scope R_scope.\n{proof}\nPrint Assumptions l1.\n"


def check_in_coq(script: Path) -> bool:
    """Print and return whether Coq accepts Gappa's proof."""
    begin = time.monotonic()
    gappa = subprocess.run(["gappa", "-Wno-null-denominator", "-Bcoq", script], capture_output=True, text=True, check=False)
    if gappa.returncode:
        return say(script.name, begin, "NOT PROVEN", "")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "proof.v"
        file.write_text(lemmas(gappa.stdout), encoding="utf-8")
        return say(script.name, begin, rejected(file), "accepted by Coq")


def rejected(file: Path) -> str:
    """Return Coq's error for a file, or the axioms that the file must not use; "" if there are none."""
    run = subprocess.run(["coqc", "-q", file.name], cwd=file.parent, capture_output=True, text=True, check=False)
    if run.returncode:
        return f"NOT ACCEPTED: {run.stdout[-500:]}{run.stderr[-1500:]}"
    # An axiom's name begins a line; axioms of the file itself have names without a dot.
    axioms = {line.split()[0] for line in run.stdout.splitlines() if re.match(r"[A-Za-z_][\w.']*( :|$)", line)}
    others = sorted(axiom for axiom in axioms if not AXIOMS.fullmatch(axiom))
    return f"rests on {', '.join(others)}" if others else ""


def check_written(names: list[str]) -> bool:
    """Print and return whether Coq accepts the files written for it."""
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
