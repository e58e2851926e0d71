"""docs/standards.md answers every hazard, and answers called tested have tests.

Evidence: the page's tables; the files that they link to; the number of hazards in each section, counted in the draft's text.
"""

import re
from itertools import groupby
from pathlib import Path

from tests.combinations import looped

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/standards.md").read_text(encoding="utf-8")
ANSWERS = {"tested", "yours", "not covered"}
# The number of hazards marked in each section of the initial public draft of SP 800-226, in order.
HAZARDS = {
    "2.2": 1, "2.3": 1, "2.4": 2, "2.5": 3, "2.6": 1, "3": 1, "3.3.1": 1, "3.3.2": 1, "3.3.3": 1, "3.4.1": 2, "3.5": 1, "3.6": 2,
    "3.7": 1, "4.1": 1, "4.2": 1, "4.3": 1, "4.4": 2, "4.5": 1,
}  # fmt: skip


def rows(head: str) -> list[list[str]]:
    """Return the rows of the table with this head."""
    _, _, table = PAGE.partition(f"{head}\n")
    lines = table.partition("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


HAZARD_ROWS = rows("| § | hazard | answer | how |")
CHANNEL_ROWS = rows("| channel | answer | how |")


def test_every_hazard_has_a_row() -> None:
    sections = [section for section, *_ in HAZARD_ROWS]
    assert {section: len(list(same)) for section, same in groupby(sections)} == HAZARDS
    assert len(HAZARD_ROWS) == sum(HAZARDS.values()) == 24
    assert "all 24" in PAGE


@looped("row", HAZARD_ROWS + CHANNEL_ROWS)
def test_an_answer_holds(row: list[str]) -> None:
    """A tested row names files with tests; any other row names only files that its answer needs."""
    _, answer, how = row[-3:]
    answers = answer.split(", ")
    assert answers
    assert set(answers) <= ANSWERS
    linked = [ROOT / "docs" / link for link in re.findall(r"\]\(([^)#]+)", how)]
    tests = [path.resolve() for path in linked if path.resolve().is_relative_to(ROOT / "tests")]
    probes = [path.resolve() for path in linked if path.resolve().is_relative_to(ROOT / "rust")]
    assert all("def test_" in path.read_text(encoding="utf-8") for path in tests)
    assert all("fn main" in path.read_text(encoding="utf-8") for path in probes)
    if "tested" in answers:
        assert tests or probes


def test_the_limits_of_a_fill_are_those_of_the_contract() -> None:
    """The page's numbers beside those of CTR_DRBG are the contract's."""
    contract = (ROOT / "docs/contract.md").read_text(encoding="utf-8")
    assert "fill < 2⁴⁸" in contract
    assert "fills below 2⁴⁸" in PAGE
    assert "Indices of values are below 2⁶²" in contract
    assert "up to 2⁶² values" in PAGE
    assert "are the keys of the next fifteen fills" in contract
    assert "15 keys are made at a time" in PAGE
