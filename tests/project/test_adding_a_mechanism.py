"""CONTRIBUTING.md, "To add a mechanism": files that need an entry for a new mechanism; all other code needs only its row.

Evidence: the files, and a made-up mechanism. Each check of the guide's files must fail for the made-up mechanism, so no check
passes by accident; everywhere else, a process whose registry has the row must know the mechanism.
"""

import inspect
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from stairnoise import registry
from stairnoise._errors import arguments_of
from stairnoise._sample import sample
from stairnoise.registry import ROWS, Example, Row
from tests.combinations import looped

ROOT = Path(__file__).resolve().parents[2]
SECTION = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## To add a mechanism\n")[2].partition("\n## ")[0]
FILES = re.findall(r"^\| `([^`]+)` \|", SECTION, re.MULTILINE)
# Files of the guide that only some kinds of mechanism need, and one that can have the word already.
SOMETIMES = {"python/stairnoise/mechanisms/<mechanism>/distribution.py", "tests/oracles/<mechanism>.py", "CHANGELOG.md"}
# Mechanisms that share a file, a native function or tests with another mechanism, or whose names differ from the rule.
CORE = {"multivariate_staircase": "multivariate"}
NATIVE = {"gaussian": "discrete_gaussian"}
TESTS = {"discrete_gaussian": "gaussian"}
VECTORS = {
    **dict.fromkeys(("staircase", "laplace", "discrete_staircase", "discrete_laplace"), "fills"),
    **dict.fromkeys(("arete", "generalized_discrete_laplace", "multi_scale_discrete_laplace"), "infinitely_divisible"),
    "multivariate_staircase": "multivariate",
}
ONE_WORD = {"staircase", "laplace", "discrete_staircase", "discrete_laplace"}

MADE_UP = Row("made_up", "discrete", "one number", (Example({"eps": 1.0, "colour": 3}),), released=True)

each_row = looped("row", ROWS)


def text(name: str) -> str:
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def names(name: str, pattern: str) -> bool:
    return re.search(pattern, text(name), re.MULTILINE) is not None


def known_parameters() -> set[str]:
    """The parameters that a type checker allows for `sample`."""
    source = inspect.getsource(registry)
    listed = source.partition("class Parameters(")[2].partition("\n\n")[2] or source
    return {
        *arguments_of(sample),
        *re.findall(r"^        (\w+): ", listed, re.MULTILINE),
        "delta",
        "sigma",
        "sigma2",
        "scale",
        "std",
    }


def literals() -> set[str]:
    def flat(one: object) -> set[str]:
        return set().union(*(flat(part) if get_args(part) else {part} for part in get_args(one)))  # type: ignore[arg-type]

    return flat(registry.MechanismName)


# For each file of the guide, a check that the file has the mechanism's entry.
PLACES: dict[str, Callable[[Row], bool]] = {
    "docs/contract.md": lambda row: (
        names("docs/contract.md", rf"\b{row.class_name}\b") and names("docs/contract.md", rf"^\| `{row.name}`")
    ),
    "tests/vectors/<mechanism>.json": lambda row: (ROOT / f"tests/vectors/{VECTORS.get(row.name, row.name)}.json").exists(),
    "tests/vectors/keyed.json": lambda row: f'"law":"{row.name}"' in text("tests/vectors/keyed.json"),
    "rust/core/src/mechanisms/<mechanism>.rs": lambda row: any(
        (ROOT / f"rust/core/src/mechanisms/{CORE.get(row.name, row.name)}{end}").is_file() for end in (".rs", "/mod.rs")
    ),
    "rust/core/src/mechanisms/mod.rs": lambda row: names(
        "rust/core/src/mechanisms/mod.rs", rf"^mod {CORE.get(row.name, row.name)};"
    ),
    "rust/core/examples/common/several_draws.rs": lambda row: (
        row.name in ONE_WORD or names("rust/core/examples/common/several_draws.rs", rf"{row.class_name}::\w+\(")
    ),
    "rust/binding/src/mechanisms.rs": lambda row: names(
        "rust/binding/src/mechanisms.rs", rf"^fn {NATIVE.get(row.name, row.name)}\("
    ),
    "python/stairnoise/_native.pyi": lambda row: names(
        "python/stairnoise/_native.pyi", rf"^def {NATIVE.get(row.name, row.name)}\("
    ),
    "python/stairnoise/mechanisms/<mechanism>/__init__.py": lambda row: (
        ROOT / f"python/stairnoise/mechanisms/{row.name}/__init__.py"
    ).is_file(),
    "python/stairnoise/mechanisms/<mechanism>/mechanism.py": lambda row: names(
        f"python/stairnoise/mechanisms/{row.name}/mechanism.py", rf"^class {row.class_name}\("
    ),
    "python/stairnoise/registry.py": lambda row: (
        row.name in literals() and {name for one in row.examples if not one.by for name in one.arguments} <= known_parameters()
    ),
    "python/stairnoise/__init__.py": lambda row: (
        names("python/stairnoise/__init__.py", rf"import {row.class_name}$")
        and names("python/stairnoise/__init__.py", rf'^__all__ .*"{row.class_name}"')
    ),
    "python/stairnoise/data/known_answers.json": lambda row: any(
        entry["law"] == row.class_name
        for kind in ("draws", "releases")
        for entry in json.loads(text("python/stairnoise/data/known_answers.json"))[kind]
    ),
    "tests/by_mechanism/test_<mechanism>.py": lambda row: (
        ROOT / f"tests/by_mechanism/test_{TESTS.get(row.name, row.name)}.py"
    ).is_file(),
    "docs/theory/<mechanism>.md": lambda row: (ROOT / f"docs/theory/{row.name}.md").is_file(),
    "docs/theory/index.md": lambda row: (
        names("docs/theory/index.md", rf"^{row.name}$") and names("docs/theory/index.md", rf"\]\({row.name}\.md\)")
    ),
    "docs/mechanisms.md": lambda row: names("docs/mechanisms.md", rf"`{row.class_name}`|, `{row.class_name}"),
    "docs/api/index.rst": lambda row: names("docs/api/index.rst", rf"^   {row.class_name}$"),
}


@looped("place", PLACES)
@each_row
def test_a_mechanism_is_in_every_place(row: Row, place: str) -> None:
    assert PLACES[place](row), (
        f"{place.replace('<mechanism>', row.name)} lacks {row.class_name}: CONTRIBUTING.md says what goes in"
    )


@pytest.mark.parametrize("place", PLACES)
def test_a_mechanism_that_is_made_up_is_missed_in_every_place(place: str) -> None:
    assert not PLACES[place](MADE_UP)


def test_the_guide_names_these_places() -> None:
    assert {*PLACES, *SOMETIMES} == set(FILES)
    assert len(FILES) == len(set(FILES))
    assert len(PLACES) <= 20


# ---------------------------------------------------------------- what needs the row alone

PROGRAM = '''
import inspect, json, sys, types
from importlib.util import module_from_spec, spec_from_file_location

path, root = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    source = file.read()
row = """
    Row(
        "made_up", "discrete", "one number", (_example(eps=1.0, colour=3),),
        compared=(Compared("MadeUp", "DiscreteLaplace"),), released=True,
    ),
"""
begin = "ROWS: tuple[Row, ...] = ("
assert source.count(begin) == 1
spec = spec_from_file_location("stairnoise.registry", path)
registry = sys.modules["stairnoise.registry"] = module_from_spec(spec)
exec(compile(source.replace(begin, begin + row), path, "exec"), registry.__dict__)

import numpy as np
import stairnoise as sn
from stairnoise.mechanisms.discrete_laplace.mechanism import DiscreteLaplace

class MadeUp(DiscreteLaplace):
    __slots__ = ("_colour",)
    __module__ = "stairnoise"
    def __init__(self, eps, sensitivity=None, colour=1):
        super().__init__(eps, sensitivity)

module = sys.modules["stairnoise.mechanisms.made_up.mechanism"] = types.ModuleType("made_up")
module.MadeUp = MadeUp
sys.path.insert(0, root)

def of_public_names():
    return sn.MadeUp is MadeUp and "MadeUp" in dir(sn)

def of_sample():
    try:
        sn.sample(mechanism="no such")
    except sn.ParameterError as error:
        assert "'made_up'" in str(error)
    return sn.sample(3, eps=1, mechanism="made_up", colour=2).dtype == np.int64

def of_compare():
    return "MadeUp" in [row.name for row in sn.compare(eps=1, sensitivity=1)]

def of_calibrate():
    return type(sn.calibrate(sn.MadeUp, eps=1, sensitivity=1, releases=2)) is MadeUp

def of_command_line():
    from stairnoise.cli import commands
    return "made_up" in commands._SAMPLED and "made_up" in commands._RELEASED

def of_query():
    from stairnoise.query import mechanism
    return "made_up" in mechanism.MECHANISMS

def of_guarantees_and_partitions():
    four = MadeUp(4, sensitivity=1)
    return four.guarantee(max_partitions_contributed=2).partitions == 2 and four.for_partitions(4).eps == 1

def of_self_test():
    from stairnoise._selftest import instruction_sets, known_answers
    entry = {"law": "MadeUp", "arguments": [1.0]}
    return known_answers._mechanism(entry) == MadeUp(1.0) and instruction_sets.ROWS is registry.ROWS

def of_notebooks():
    return "MadeUp" in MadeUp(1, sensitivity=1)._repr_html_()

def of_keyed_noise():
    rng = sn.KeyedRng(bytes(32), "r")
    return MadeUp(1).release([1, 2], labels=["a", "b"], statistic="count", rng=rng).shape == (2,)

def of_ledgers():
    from stairnoise.accounting.ledger import costs
    return "MadeUp" in costs._CLASSES

def of_bases():
    return isinstance(MadeUp(1), sn.AdditiveMechanism)

def of_explorer():
    sys.path.insert(0, root + "/docs/_ext")
    import explore_numbers
    return "MadeUp" in explore_numbers.mechanisms("integer", 1, None)

def of_tests_over_all():
    from tests import examples
    from tests.property.hostile import calls
    ids = [one.id for one in examples.EXAMPLES]
    return "made_up-0" in ids and "colour" in calls.ARGUMENTS and "MadeUp" in calls.EXAMPLES

def of_tests_of_keyed_noise():
    from tests.generators import test_keyed_rng
    return test_keyed_rng.changes_of("made_up")[1]["colour"] == (4,)

def of_tests_of_types():
    from tests.typing import test_typing
    row = registry.BY_NAME["made_up"]
    return row in test_typing.ROWS and "sn.MadeUp(eps=1.0, colour=3)" == test_typing._call(row, row.examples[0])

def of_tests_of_vectors():
    from tests.exactness import test_keyed
    return registry.BY_NAME["made_up"] in test_keyed.ROWS

missing = []
for name, check in list(globals().items()):
    if name.startswith("of_"):
        try:
            found = check()
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        if found is not True:
            missing.append(f"{name}: {found}")
print(json.dumps(missing))
'''


def test_everything_else_knows_a_mechanism_from_its_row() -> None:
    """The new process does not import the module of the row, which is for a discrete Laplace mechanism with a colour."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, registry.__file__, str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(Path(registry.__file__).parents[1])},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []
