"""A seeded sample of every vector file, recomputed by the oracle. Deterministic: no false alarms.

This ties the committed files to docs/contract.md, because the oracle was written from that page.
"""

import random
from typing import Any

import pytest

from tests.oracles.generate import boundaries, fills, infinitely_divisible, moduli, releases, shapes, streams
from tests.oracles.generate.encoding import VECTORS, read
from tests.oracles.lattice import Lattice

LARGEST_FILE = 300 * 1024
FILL_INPUTS = ("kind", "eps", "sensitivity", "shape", "seed", "fill", "index", "count")
DIVISIBLE_INPUTS = ("law", "parameters", "n_parties", "present", "seed", "fill", "index", "count")
RELEASE_INPUTS = ("kind", "eps", "sensitivity", "shape", "max_partitions_contributed", "seed", "type", "values")


def sample(name: str, count: int) -> list[Any]:
    entries = read(name)
    return random.Random(name).sample(entries, min(count, len(entries)))


def test_stream() -> None:
    for entry in read("stream"):
        seed = {"seed": entry["seed"]} if "seed" in entry else {}
        assert seed | streams.entry(bytes.fromhex(entry["key"])) == entry


def test_shapes() -> None:
    for entry in sample("shapes", 300):
        assert shapes.entry(*entry[:4]) == entry


@pytest.mark.slow
def test_fills() -> None:
    for entry in sample("fills", 60):
        assert fills.entry({name: entry[name] for name in FILL_INPUTS}) == entry


def test_near_edges() -> None:
    for entry in sample("near_edges", 10):
        assert fills.entry({name: entry[name] for name in FILL_INPUTS}) == entry


def test_releases() -> None:
    for entry in sample("release", 8):
        assert releases.entry({name: entry[name] for name in RELEASE_INPUTS}) == entry


def test_modulo() -> None:
    for entry in sample("modulo", 4):
        inputs = {name: number for name, number in entry.items() if name not in ("noise", "residues")}
        assert moduli.entry(inputs) == entry


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, pytest.param(10**6, marks=pytest.mark.long)], ids=["some", "all"])
def test_infinitely_divisible(count: int) -> None:
    for entry in sample("infinitely_divisible", count):
        assert infinitely_divisible.entry({name: entry[name] for name in DIVISIBLE_INPUTS}) == entry


@pytest.mark.slow
@pytest.mark.parametrize("name", ["boundaries_geometric", "boundaries_staircase"])
def test_boundaries(name: str) -> None:
    for entry in sample(name, 2):
        where = Lattice(0, entry["cells"], entry["r"])
        assert boundaries.entry(entry["eps"], where, entry["edges"], entry["seed"]) == entry


def test_files_stay_small() -> None:
    sizes = {path.name: path.stat().st_size for path in VECTORS.glob("*.json")}
    assert len(sizes) > 6
    assert max(sizes.values()) < LARGEST_FILE, sizes
