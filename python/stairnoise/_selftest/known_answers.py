"""Draws, releases and selections under known keys and seeds, against values that an independent implementation computed.

``stairnoise/data/known_answers.json`` has some of the golden vectors of the source tree. An oracle with exact rational
arithmetic computed them from docs/contract.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np

from stairnoise._selftest.contract import Key
from stairnoise._selftest.random_words import top_bits
from stairnoise._selftest.report import Outcome, Planned, compared
from stairnoise.bit_generator import SecureBitGenerator
from stairnoise.mechanisms.discrete_laplace.mechanism import DiscreteLaplace
from stairnoise.mechanisms.partition_selection.mechanism import PartitionSelection
from stairnoise.registry import ROWS, load_selection
from stairnoise.rng import SecureRng, SeededRng

# More values than a vector kernel draws at once.
_LONGER = 300
# The fills of some mechanisms end at 2**40.
_FAR = 2**39
_LARGEST = Fraction(float(np.finfo(np.float64).max))

Compare = Callable[[dict[str, Any]], tuple[list[Any], list[Any]]]


@cache
def answers() -> dict[str, list[dict[str, Any]]]:
    """Read the shipped file."""
    return json.loads((files("stairnoise") / "data" / "known_answers.json").read_text("utf-8"))  # type: ignore[no-any-return]


def planned() -> Iterator[Planned]:
    """Return the checks: some of random words, and one for each mechanism and kind of answer."""
    known = answers()
    yield Planned("AES-256: words, by pure Python", partial(_check, known["words"], reference_words))
    yield Planned("AES-256: words", partial(_check, known["words"], words))
    yield Planned("AES-256: children of keys", partial(_check, known["words"], children))
    for kind, name, compare in (
        ("draws", "values", draws),
        ("releases", "releases", releases),
        ("selections", "selections", selections),
        ("partitions", "groups", partitions),
        ("tops", "several candidates", tops),
    ):
        for mechanism in dict.fromkeys(entry["law"] for entry in known[kind]):
            entries = [entry for entry in known[kind] if entry["law"] == mechanism]
            yield Planned(f"{mechanism}: {name}", partial(_check, entries, compare))
    yield Planned("SecureBitGenerator: words", partial(_check, known["bit_generators"], bit_generators))


def _check(entries: list[dict[str, Any]], compare: Compare) -> Outcome:
    """Compare the values of all entries."""
    found: list[Any] = []
    expected: list[Any] = []
    places: list[str] = []
    for entry in entries:
        one, other = compare(entry)
        if len(one) != len(other):
            raise ValueError(f"{len(one)} values instead of {len(other)} for {entry}")
        found, expected, places = found + one, expected + other, places + [_place(entry)] * len(one)
    return compared(found, expected, places.__getitem__)


def _place(entry: dict[str, Any]) -> str:
    long = ("values", "outputs", "words", "mixed", "children")
    return ", ".join(f"{name}={value!r}" for name, value in entry.items() if name not in long)


def reference_words(entry: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return whole words by the contract in pure Python, which `random_words` uses with new keys."""
    key = Key(bytes.fromhex(entry["key"]))
    return [f"{key.word(fill, index):016x}" for fill, index, _ in entry["words"]], [word for _, _, word in entry["words"]]


def words(entry: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the top bits of words, by the library."""
    found = [int(top_bits(_at(_keyed(entry["key"]), fill, index), 1)[0]) for fill, index, _ in entry["words"]]
    return found, [int(word, 16) >> 48 for _, _, word in entry["words"]]


def children(entry: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the top bits of children's words, and those of generators with the listed keys."""
    spawned = _keyed(entry["key"]).spawn(1 + max(number for number, _ in entry["children"]))
    found = [top_bits(spawned[number], 16).tolist() for number, _ in entry["children"]]
    return found, [top_bits(_keyed(key), 16).tolist() for _, key in entry["children"]]


def draws(entry: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return values in every type that can hold them, from a short fill and from the beginning of a long one."""
    mechanism, step = _mechanism(entry), Fraction(2) ** entry["log2_g"]
    rng = _seeded(entry)
    size = len(entry["values"]) // getattr(mechanism, "dim", 1)
    expected = [rounded(number * step) for number in entry["values"]]
    found = [float(mechanism.granularity)]
    for longer in (0, _LONGER if entry["index"] < _FAR else 0):
        # Every view of the generator draws the same fill.
        found += mechanism.sample(size + longer, rng=rng.at(entry["index"]), dtype="float64")[:size].ravel().tolist()
    if "int64" in mechanism._dtypes:
        found += mechanism.sample(size, rng=rng).tolist()
        return found, [float(step), *expected, *expected, *entry["values"]]
    return found, [float(step), *expected, *expected]


def releases(entry: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return released answers in every type."""
    values = np.array(entry["values"], dtype=entry["type"])
    found: list[Any] = []
    for dtype in entry["outputs"]:
        out, k = np.empty(values.size, dtype), entry["partitions"]
        found += _mechanism(entry).release(values, max_partitions_contributed=k, rng=_seeded(entry), out=out).tolist()
    return found, [x for output in entry["outputs"].values() for x in output]


def selections(entry: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the indices selected from one row of costs."""
    many = entry.get("multiplicities")
    found = _mechanism(entry).sample(entry["costs"], len(entry["values"]), multiplicities=many, rng=_seeded(entry))
    return found.tolist(), entry["values"]


def tops(entry: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the indices of several candidates from each of some rows with the same costs."""
    found = _mechanism(entry).top(entry["costs"], entry["k"], len(entry["values"]), rng=_seeded(entry))
    return found.ravel().tolist(), [index for row in entry["values"] for index in row]


def partitions(entry: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return whether groups are shown, and their released counts."""
    view = _seeded(entry)
    mechanism = PartitionSelection(*entry["arguments"])
    found = mechanism.select(entry["counts"], rng=view.at(entry["index"])).tolist()
    shown, values = mechanism.release(entry["counts"], rng=view)
    expected = [value != 0 for value in entry["values"]]
    return [*found, *shown.tolist(), *values.tolist()], [*expected, *expected, *entry["values"]]


def bit_generators(entry: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return words at some places, numbers that NumPy makes from the first words, and words of children."""
    secret = bytes.fromhex(entry["key"])
    places = [place for place, _ in entry["words"]]
    raw = SecureBitGenerator(secret).random_raw(places[-1] + 1)
    found = [f"{int(raw[place]):016x}" for place in places]
    rng = np.random.Generator(SecureBitGenerator(secret))
    draw = {
        "uint64": lambda: int(rng.bit_generator.random_raw()),
        "uint32": lambda: int(rng.integers(2**32, dtype=np.uint32)),
        "double": lambda: int(np.float64(rng.random()).view(np.uint64)),
    }
    found += [f"{draw[kind]():016x}" for kind, _ in entry["mixed"]]
    children = SecureBitGenerator(secret).spawn(1 + max(number for number, _ in entry["children"]))
    found += [f"{int(word):016x}" for number, words in entry["children"] for word in children[number].random_raw(len(words))]
    expected = [word for name in ("words", "mixed") for _, word in entry[name]]
    return found, expected + [word for _, words in entry["children"] for word in words]


def rounded(number: Fraction) -> float:
    """Return the nearest finite float64."""
    return float(min(max(number, -_LARGEST), _LARGEST))


def _mechanism(entry: dict[str, Any]) -> Any:
    of_numbers = {row.class_name: row for row in ROWS}
    name = entry["law"]
    mechanism = of_numbers[name].load() if name in of_numbers else load_selection(name)
    return mechanism(*entry["arguments"])


def _keyed(key: str) -> Any:
    return SecureRng.from_key(bytes.fromhex(key))


def _seeded(entry: dict[str, Any]) -> Any:
    return _at(SeededRng(int(entry["seed"]), allow_release=True), entry.get("fill", 0), entry.get("index", 0))


def _at(rng: Any, fill: int, index: int) -> Any:
    """Return a view that draws the given fill from the given index on. Empty fills count as fills."""
    nothing = DiscreteLaplace(1.0)
    for _ in range(fill):
        nothing.sample(0, rng=rng)
    return rng.at(index)
