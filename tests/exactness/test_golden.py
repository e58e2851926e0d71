"""The public API against tests/vectors/, bit for bit. Deterministic: no false alarms."""

from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.exactness.mechanisms import build, rng_before
from tests.oracles import draw
from tests.oracles.generate.encoding import decoded, float_of, read, shape_of
from tests.oracles.lattice import lattice, mechanism
from tests.oracles.release import output


def of(entry: dict[str, Any]) -> Any:
    return build(entry["kind"], float_of(entry["eps"]), float_of(entry["sensitivity"]), shape_of(entry["shape"]))


def by_kind(name: str) -> list[Any]:
    found = defaultdict(list)
    for entry in read(name):
        found[entry["kind"] if isinstance(entry, dict) else entry[0]].append(entry)
    return [pytest.param(entries, id=kind) for kind, entries in found.items()]


def same(array: np.ndarray, expected: list[Any]) -> bool:
    """Return whether arrays are equal bit for bit; -0.0 is not 0.0."""
    return array.tobytes() == np.array(expected, dtype=array.dtype).tobytes()


@pytest.mark.parametrize("entries", [*by_kind("fills"), *by_kind("near_edges")])
def test_fills(entries: list[dict[str, Any]]) -> None:
    for entry in entries:
        mechanism_, rng = of(entry), rng_before(entry["fill"], int(entry["seed"]))
        granularity = Fraction(2) ** entry["log2_g"]
        dtypes = ("int64", "int32", "float64") if entry["kind"].startswith("discrete") else ("float64", "float32")
        for dtype in dtypes:
            expected = [output(n, granularity, dtype) for n in entry["values"]]
            # A view draws its generator's next fill and does not advance the generator.
            drawn = mechanism_.sample(entry["count"], rng=rng.at(entry["index"]), dtype=dtype)
            assert same(drawn, expected), (dtype, entry)


@pytest.mark.parametrize("entries", by_kind("shapes"))
def test_lattices(entries: list[list[Any]]) -> None:
    for kind, eps, sensitivity, shape, log2_g, _, r in entries:
        arguments = kind, float_of(eps), float_of(sensitivity), shape_of(shape)
        if log2_g is None:
            with pytest.raises(ValueError, match=r"eps|sensitivity"):
                build(*arguments)
            continue
        found = build(*arguments)
        if not kind.startswith("discrete"):
            assert Fraction(found.granularity) == Fraction(2) ** log2_g, arguments
        if kind == "discrete_staircase":
            assert found.r == r, arguments


@pytest.mark.parametrize("entries", by_kind("release"))
def test_releases(entries: list[dict[str, Any]]) -> None:
    """Answers outside the lattice (q = ±2^126 in the file) are refused. Zeros replace them, so others keep their positions."""
    for entry in entries:
        values = np.array([int(v) if entry["type"] == "int64" else float_of(v) for v in entry["values"]], dtype=entry["type"])
        fits = np.array([abs(int(q)) < 2**126 for q in entry["q"]])
        for value in values[~fits]:
            with pytest.raises(sn.ParameterError, match=r"^values must be below 2\*\*126 times the granularity in magnitude"):
                of(entry).release(value, max_partitions_contributed=entry["max_partitions_contributed"])
        values[~fits] = 0
        for dtype in ("float64", "float32", "int64", "int32"):
            if dtype not in entry:
                continue
            expected = [float_of(x) if dtype.startswith("float") else x for x in entry[dtype]]
            out = np.empty(len(values), dtype)
            of(entry).release(
                values,
                max_partitions_contributed=entry["max_partitions_contributed"],
                rng=sn.SeededRng(int(entry["seed"]), allow_release=True),
                out=out,
            )
            assert same(out[fits], [x for x, fit in zip(expected, fits, strict=True) if fit]), (dtype, entry)


@pytest.mark.parametrize("entry", read("modulo"), ids=lambda entry: f"{entry['kind']}-{entry['seed'][:6]}")
def test_releases_modulo(entry: dict[str, Any]) -> None:
    mechanism_ = sn.Skellam(*decoded(entry["arguments"])) if entry["kind"] == "skellam" else of(entry)
    values = np.array([int(value) for value in entry["values"]])
    for m, expected in zip(map(int, entry["moduli"]), entry["residues"], strict=True):
        for dtype, most in (("uint64", 2**64), ("int64", 2**63), ("uint32", 2**32)):
            if m <= most:
                out = np.empty(len(values), dtype)
                mechanism_.release_modulo(values, m, rng=sn.SeededRng(int(entry["seed"]), allow_release=True), out=out)
                assert [str(residue) for residue in out.tolist()] == expected, (dtype, m)


@pytest.mark.parametrize("entry", read("stream"), ids=lambda entry: entry.get("seed", entry["key"][:8]))
def test_children(entry: dict[str, Any]) -> None:
    """A child draws what its listed key draws."""
    parent = sn.SecureRng.from_key(bytes.fromhex(entry["key"]))
    children = [*parent.spawn(1), *parent.spawn(3)]
    target = mechanism(1.0, lattice("discrete_laplace", 1.0, 1e6))
    for number, key in entry["children"]:
        if number < len(children):
            expected = [draw.at(target, bytes.fromhex(key), 0, index).value for index in range(4)]
            assert sn.DiscreteLaplace(1.0, 10**6).sample(4, rng=children[number]).tolist() == expected


@pytest.mark.parametrize("entry", [entry for entry in read("stream") if "seed" in entry], ids=lambda entry: entry["seed"])
def test_seed_stands_for_its_key(entry: dict[str, Any]) -> None:
    noise = sn.Laplace(1.0)
    keyed = noise.sample(9, rng=sn.SecureRng.from_key(bytes.fromhex(entry["key"])))
    assert same(noise.sample(9, rng=sn.SeededRng(int(entry["seed"]))), keyed.tolist())
