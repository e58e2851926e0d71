"""The proofs by Gappa name what is missing, and can fail (scripts/test_gappa.py)."""

import shutil
from pathlib import Path

import pytest

from scripts import test_gappa as gappa

SCRIPTS = sorted(gappa.PROOFS.glob("*.gappa"))

SCRIPT = """@rnd = float<ieee_64, ne>;
s rnd= x + y;  S = x + y;
{ |x| <= 1 /\\ |y| <= 1 ->
  |s - S| <= 0x1p-53  # 1u; not 0x1p-54 (0.5u)
}
"""

needs_gappa = pytest.mark.skipif(not shutil.which("gappa"), reason="needs gappa")


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


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_every_script_has_a_bound_that_must_fail(script: Path) -> None:
    text = script.read_text(encoding="utf-8")
    others = [other for _, other in gappa.wrong_scripts(text)]
    assert others
    assert text not in others


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
