"""The rehearsal runs every command of the release list that needs no forge, and its page says what became of each."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Release\n")[2].partition("\n## ")[0]
PAGE = (ROOT / "docs" / "evidence" / "release_rehearsal.md").read_text(encoding="utf-8")
SCRIPT = (ROOT / "scripts" / "rehearse_release.sh").read_text(encoding="utf-8")
STEPS = re.search(r"^all='(.*)'$", SCRIPT, re.MULTILINE)[1].split()  # type: ignore[index]


def test_every_command_of_the_list_is_a_step_in_its_order() -> None:
    asked = [name for name in re.findall(r"`make ([\w-]+)", LIST) if name != "rehearse"]
    assert len(asked) > 6
    assert [name for name in STEPS if name in asked] == asked
    assert set(STEPS) - set(asked) == {"version", "crate", "readme", "index"}


def test_the_page_has_every_step_once_in_its_order() -> None:
    rows = re.findall(r"^\| ([\w-]+) \| (.+) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)
    assert [name for name, *_ in rows][1:] == STEPS
    for name, when, lasted, result in rows[1:]:
        if result.startswith(("passed", "FAILED")):
            assert re.fullmatch(r"20\d\d-\d\d-\d\d \d\d:\d\d UTC", when), name
            assert re.fullmatch(r"\d+ s", lasted), name
        else:
            assert result.startswith("not run: "), name
