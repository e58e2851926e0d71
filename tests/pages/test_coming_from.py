"""The pages in docs/coming_from: every block runs unchanged, in order:
first our blocks from index.md, then the page's own. SmartNoise's page has blocks of both sides.

A block that begins with ```python NAME needs the module NAME. Without it the block is left out, the rest of the page runs, and
the test is skipped with the name of what is missing.

Evidence: the blocks' own assertions, and then the answers of both sides against the truth, which is counted here in plain
Python. False alarms: an answer is refused beyond what Laplace noise of the stated scale exceeds with probability 1e-12.
"""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs" / "coming_from").glob("*.md"))
BLOCK = re.compile(r"^```python ?(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Libraries are imported before warnings become errors, because warnings of their own modules are not about the page.
BEFORE = """
import importlib
import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for name in NEEDED:
        importlib.import_module(name)
warnings.simplefilter("error")
"""

# The variables that a page's blocks leave behind (`count`, `their_count` and so on) are compared with the truth.
AFTER = """
import math

people = [(("Aarau", "Bern", "Chur", "Thun", "Visp")[i * i % 11 % 5], min(i * 37 % 120, 100), [i * a % 17 < b for a, b in
          ((3, 4), (5, 9), (7, 6), (11, 12), (13, 2))]) for i in range(1000)]
sums = sum(francs for _, francs, _ in people)
votes = [sum(ticked) for ticked in zip(*(ticks for *_, ticks in people))]
far = math.log(1e12)
truth = {
    "count": ([sum(francs > 50 for _, francs, _ in people)], far),
    "histogram": ([sum(lives == name for lives, *_ in people) for name in ("Aarau", "Bern", "Chur", "Thun", "Visp")], far),
    "total": ([sums], 100 * far),
    "mean": ([sums / 1000], (200 + 100 * 2) * far / (1000 - 2 * far)),
}
for name, (expected, bound) in truth.items():
    for side in SIDES:
        found = np.atleast_1d(globals()[side + name]).tolist()
        assert len(found) == len(expected), (side, name, found)
        assert all(abs(a - b) <= bound for a, b in zip(found, expected)), (side, name, found, expected)
for side in SIDES:
    assert list(map(int, globals()[side + "top"])) == sorted(range(5), key=lambda i: -votes[i])[:2], (side, votes)
"""


def test_no_page_is_missed() -> None:
    assert [page.stem for page in PAGES] == ["diffprivlib", "index", "numpy", "opendp", "pydp", "smartnoise"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_runs(page: Path, tmp_path: Path) -> None:
    pages = [page] if page.stem == "index" else [page.with_name("index.md"), page]
    blocks = [block for file in pages for block in BLOCK.findall(file.read_text(encoding="utf-8"))]
    needed = {name for name, _ in blocks if name}
    missing = {name for name in needed if find_spec(name) is None}
    given = {"NEEDED": sorted(needed - missing), "SIDES": [""] if missing or page.stem == "index" else ["", "their_"]}
    kept = [code for name, code in blocks if name not in missing]
    program = tmp_path / "page.py"
    program.write_text(
        "\n".join([*(f"{name} = {value!r}" for name, value in given.items()), BEFORE, *kept, AFTER]), encoding="utf-8"
    )
    done = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    if missing:
        pytest.skip(f"the page ran except the blocks that need {' and '.join(sorted(missing))}")
