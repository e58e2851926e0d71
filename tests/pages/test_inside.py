"""The recipes of docs/inside.md run; tests/compat has those of PipelineDP and Flower.

A block that begins with ```python NAME needs the module NAME, and is skipped without it. scripts/test_systems.sh has all of them.
Evidence: the results are near the truth; a right program is farther off with a probability below 1e-9.
"""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from stairnoise.compat import pydp
from tests.compat import own_tests

PAGE = Path(__file__).resolve().parents[2] / "docs" / "inside.md"
BLOCKS = dict(re.findall(r"^```python (\w+)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL))

AGES = "import numpy as np; ages = np.arange(1000) % 90"
TABLE = """
import mbi, numpy as np
domain = mbi.Domain(["a", "b", "c"], [2, 3, 5])
table = mbi.Dataset({name: np.arange(3000) % n for name, n in domain.config.items()}, domain)
pairs = [("a", "b"), ("b", "c")]
"""
# By the module: what a block finds, and what it leaves behind. The tests of the last two are in tests/compat.
AROUND = {
    "diffprivlib": (AGES, "assert abs(mean - ages.mean()) < 2.5"),
    "opendp": (AGES, "assert context.current_privacy_loss() == [2] and abs(total - ages.sum()) < 1200"),
    "mbi": (TABLE, "assert abs(model.project(pairs[0]).datavector() - 500).max() < 150 and 0.2 < spent < 0.5"),
    "pipeline_dp": ("", "assert pipeline_dp.dp_computations.dp_mechanisms is pydp"),
    "flwr": ("", "assert local.add_gaussian_noise_inplace is add_gaussian_noise_inplace"),
}


def test_every_recipe_has_a_test():
    assert set(AROUND) == set(BLOCKS)


def test_the_page_says_how_many_tests_passed():
    page, (theirs, mbi) = PAGE.read_text(encoding="utf-8"), own_tests.PASSED.values()
    assert f"{theirs} of its own {theirs + len(own_tests.FAILURES)} |" in page
    assert f"{mbi} of its own that draw noise" in page


def test_the_docstring_has_the_recipe_of_the_page():
    lines = [line.strip() for line in BLOCKS["pipeline_dp"].splitlines()]
    assert "\n".join(lines) in "\n".join(line.strip() for line in (pydp.__doc__ or "").splitlines())


@pytest.mark.long
@pytest.mark.parametrize("name", AROUND)
def test_recipe_runs(name, tmp_path):
    if find_spec(name) is None:
        pytest.skip(f"{name} is not installed: scripts/test_systems.sh")
    before, after = AROUND[name]
    program = "\n".join(["import warnings; warnings.simplefilter('ignore')", before, BLOCKS[name], after])
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
