"""The oracle against values computed elsewhere: NIST's AES vector, and shared/reference/values.json at 22 digits or more.

Deterministic: no false alarms. The reference file lives beside the repository; without it those tests skip.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mpmath import mp

from tests.oracles import lattice, moments, stream
from tests.oracles.survival import LARGEST, Geometric, Staircase, magnitude

REFERENCE = Path(__file__).resolve().parents[2] / ".." / "shared" / "reference" / "values.json"
DIGITS = mp.mpf(10) ** -21

needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="no ../shared/reference/values.json beside the repository")


@cache
def entries(group: str) -> list[dict[str, Any]]:
    everything = json.loads(REFERENCE.read_text())["values"]
    return [entry for entry in everything if entry["group"] == group]


def first_stair(eps: Fraction, cells: int, name: str) -> int:
    if name == "D":
        return cells
    if name.startswith("opt_"):
        return lattice.first_stair("discrete_staircase", eps, cells, name.removeprefix("opt_"))
    return int(name)


def law_of(params: dict[str, Any]) -> Staircase:
    eps, cells = Fraction(params["eps"]), int(params["D"])
    return Staircase(eps, cells, first_stair(eps, cells, str(params["r"])))


def close(ours: mp.mpf, theirs: str) -> bool:
    with mp.workprec(moments.BITS):
        return bool(abs(ours - mp.mpf(theirs)) <= DIGITS * abs(mp.mpf(theirs)))


def test_aes_256_vector_of_nist() -> None:
    """FIPS 197, appendix C.3."""
    index, tweak = 0x7766554433221100, 0xFFEEDDCCBBAA9988
    level, fill = tweak >> 48 & 0xFFF, tweak % 2**48
    block = stream.block(bytes(range(32)), tweak >> 60, level, fill, index)
    assert block.hex() == "8ea2b7ca516745bfeafc49904b496089"


@needs_reference
@pytest.mark.parametrize("cost", ["l1", "l2"])
def test_optimal_r(cost: str) -> None:
    found = [entry for entry in entries("ds_opt") if entry["quantity"] == f"r_{cost}"]
    assert len(found) > 50
    for entry in found:
        eps, cells = Fraction(entry["params"]["eps"]), int(entry["params"]["D"])
        assert first_stair(eps, cells, f"opt_{cost}") == int(entry["value"]), entry


@needs_reference
@pytest.mark.parametrize(("quantity", "power"), [("E|X|", 1), ("E X^2", 2)])
def test_moments(quantity: str, power: int) -> None:
    found = [entry for entry in entries("ds_moment") if entry["quantity"] == quantity]
    assert len(found) > 50
    for entry in found:
        assert close(moments.absolute_moment(law_of(entry["params"]), power), entry["value"]), entry


@needs_reference
def test_probability_of_zero() -> None:
    found = [entry for entry in entries("ds_moment") if entry["quantity"] == "P(0)"]
    assert len(found) > 20
    for entry in found:
        assert close(moments.pmf(law_of(entry["params"]), 0), entry["value"]), entry


@needs_reference
@pytest.mark.parametrize("quantity", ["pmf", "cdf", "sf"])
def test_distribution(quantity: str) -> None:
    functions: dict[str, Callable[[Staircase, int], mp.mpf]] = {
        "pmf": moments.pmf,
        "cdf": lambda law, i: moments.tail(law, -i),
        "sf": lambda law, i: moments.tail(law, i + 1),
    }
    found = [entry for entry in entries("ds_dist") if entry["quantity"] == quantity]
    assert len(found) > 30
    for entry in found:
        assert close(functions[quantity](law_of(entry["params"]), entry["params"]["i"]), entry["value"]), entry


@needs_reference
def test_quantiles_invert_the_survival_function() -> None:
    """The smallest i with P(X <= i) >= u; for i < 0 that is -|X| at v = 2u, where S has no ties."""
    found = [entry for entry in entries("ds_dist") if entry["quantity"] == "ppf"]
    assert len(found) > 30
    for entry in found:
        u = Fraction(entry["params"]["u"])
        law = law_of(entry["params"])
        size = magnitude(law, 2 * min(u, 1 - u))
        assert (size if u > Fraction(1, 2) else -size) == int(entry["value"]), entry


@pytest.mark.parametrize("law", [Geometric(Fraction(1, 3), 2), Staircase(Fraction(5, 4), 7, 2), Staircase(Fraction(1, 2), 3, 3)])
def test_moments_are_sums(law: Geometric | Staircase) -> None:
    with mp.workprec(moments.BITS):
        pmf = [moments.pmf(law, j) for j in range(1000)]
        for power in (1, 2, 4):
            direct = mp.fsum(2 * j**power * p for j, p in enumerate(pmf))
            assert abs(direct / moments.absolute_moment(law, power) - 1) < mp.mpf(10) ** -50


def test_staircase_of_one_cell_is_geometric() -> None:
    """r = D = 1 is the two-sided geometric law (math: E|X| = 2b/(1 - b^2))."""
    eps = Fraction(3, 7)
    v = [Fraction(n, 1000) for n in range(1, 1000)] + [Fraction(1, 10**n) for n in range(3, 40)]
    for x in v:
        assert magnitude(Staircase(eps, 1, 1), x) == magnitude(Geometric(eps, 1), x)


def test_magnitude_has_both_ends() -> None:
    law = Geometric(Fraction(1), 1)
    assert magnitude(law, Fraction(0)) == LARGEST
    assert magnitude(law, Fraction(1)) == 0
