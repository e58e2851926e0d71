"""scripts/test_gappa.py names missing tools, and its proofs by Gappa can fail."""

import shutil
import subprocess
from pathlib import Path

import pytest

from scripts import test_gappa as gappa

SCRIPT = """@rnd = float<ieee_64, ne>;
s rnd= x + y;  S = x + y;
{ |x| <= 1 /\\ |y| <= 1 ->
  |s - S| <= 0x1p-53  # 1u; not 0x1p-54 (0.5u)
}
"""

LEMMA = """From Coq Require Import Reals.
From Interval Require Import Tactic.
Open Scope R_scope.
Axiom easy : ln 2 <= 6 / 10.
Lemma about_ln_2 : ln 2 <= {bound} / 10.
Proof. {proof}. Qed.
Print Assumptions about_ln_2.
"""

needs_gappa = pytest.mark.skipif(not shutil.which("gappa"), reason="needs gappa")
needs_coq = pytest.mark.skipif(not shutil.which("coqc"), reason="needs coqc")


@pytest.mark.parametrize(("missing", "what"), [("gappa", "Gappa"), ("coqc", "Coq")])
def test_what_is_missing_is_named(
    missing: str, what: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == missing else tool)
    monkeypatch.setattr("sys.argv", ["test_gappa.py", "--coq"])
    with pytest.raises(SystemExit) as end:
        gappa.main()
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"skipped: the proofs need {what}; {missing} was not found.")


def test_each_bound_with_a_wrong_number_is_tried_with_it() -> None:
    assert list(gappa.wrong_scripts(SCRIPT)) == [("|s - S| <=", SCRIPT.replace("<= 0x1p-53", "<= 0x1p-54"))]


@needs_gappa
def test_a_bound_that_is_too_tight_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "sum.gappa"
    for wrong, holds in [("0x1p-54", True), ("0x1p-52", False)]:
        script.write_text(SCRIPT.replace("0x1p-54", wrong), encoding="utf-8")
        assert gappa.check(script) is holds, capsys.readouterr().out
    script.write_text(SCRIPT.replace("<= 0x1p-53", "<= 0x1p-55"), encoding="utf-8")
    assert not gappa.check(script)
    assert "NOT PROVEN" in capsys.readouterr().out


@needs_gappa
def test_a_hint_that_is_no_identity_is_refused() -> None:
    with pytest.raises(RuntimeError, match="trivially equal"):
        gappa.proves(SCRIPT + "s - S -> x - y;\n")


@needs_coq
@pytest.mark.long
@pytest.mark.parametrize(
    ("bound", "proof", "against"),
    [(7, "interval", ""), (6, "interval", "NOT ACCEPTED"), (7, "apply Rle_trans with (1 := easy); interval", "rests on easy")],
)
def test_a_wrong_lemma_and_an_axiom_are_refused(bound: int, proof: str, against: str, tmp_path: Path) -> None:
    file = tmp_path / "lemma.v"
    file.write_text(LEMMA.format(bound=bound, proof=proof), encoding="utf-8")
    found = gappa.rejected(file)
    assert found.startswith(against)
    assert bool(found) == bool(against)


@needs_gappa
@needs_coq
@pytest.mark.long
def test_coq_reads_what_gappa_claims(tmp_path: Path) -> None:
    """Evidence: Coq rejects the proof term of a bound as a proof of a tighter bound."""
    proof = subprocess.run(["gappa", "-Bcoq"], input=SCRIPT, capture_output=True, text=True, check=True).stdout
    file = tmp_path / "sum.v"
    claimed = "Float2 (1) (-53)"
    assert claimed in proof
    for text, accepted in [(proof, True), (proof.replace(claimed, "Float2 (1) (-54)"), False)]:
        file.write_text(gappa.lemmas(text), encoding="utf-8")
        assert (gappa.rejected(file) == "") is accepted
