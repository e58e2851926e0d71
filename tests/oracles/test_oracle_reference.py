"""The oracle against values computed elsewhere: NIST's AES vector, and shared/reference/values.json at 22 digits or more.

Deterministic: no false alarms. The reference file is beside the repository; its tests are skipped if it is absent.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from mpmath import mp

from tests.oracles import lattice, moments, multivariate, stream
from tests.oracles.survival import LARGEST, Geometric, Staircase, magnitude

REFERENCE = Path(__file__).resolve().parents[2] / ".." / "shared" / "reference" / "values.json"
DIGITS = mp.mpf(10) ** -21

needs_reference = pytest.mark.skipif(not REFERENCE.exists(), reason="no ../shared/reference/values.json beside the repository")


@cache
def entries(group: str) -> list[dict[str, Any]]:
    everything = json.loads(REFERENCE.read_text())["values"]
    return [entry for entry in everything if entry["group"] == group]


def first_stair(eps: Fraction, sensitivity_steps: int, name: str) -> int:
    if name == "D":
        return sensitivity_steps
    if name.startswith("opt_"):
        return lattice.first_stair("discrete_staircase", eps, sensitivity_steps, name.removeprefix("opt_"))
    return int(name)


def mechanism_of(params: dict[str, Any]) -> Staircase:
    eps, sensitivity_steps = Fraction(params["eps"]), int(params["D"])
    return Staircase(eps, sensitivity_steps, first_stair(eps, sensitivity_steps, str(params["r"])))


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
        eps, sensitivity_steps = Fraction(entry["params"]["eps"]), int(entry["params"]["D"])
        assert first_stair(eps, sensitivity_steps, f"opt_{cost}") == int(entry["value"]), entry


@needs_reference
@pytest.mark.parametrize(("quantity", "power"), [("E|X|", 1), ("E X^2", 2)])
def test_moments(quantity: str, power: int) -> None:
    found = [entry for entry in entries("ds_moment") if entry["quantity"] == quantity]
    assert len(found) > 50
    for entry in found:
        assert close(moments.absolute_moment(mechanism_of(entry["params"]), power), entry["value"]), entry


@needs_reference
def test_probability_of_zero() -> None:
    found = [entry for entry in entries("ds_moment") if entry["quantity"] == "P(0)"]
    assert len(found) > 20
    for entry in found:
        assert close(moments.pmf(mechanism_of(entry["params"]), 0), entry["value"]), entry


@needs_reference
@pytest.mark.parametrize("quantity", ["pmf", "cdf", "sf"])
def test_distribution(quantity: str) -> None:
    functions: dict[str, Callable[[Staircase, int], mp.mpf]] = {
        "pmf": moments.pmf,
        "cdf": lambda mechanism, i: moments.tail(mechanism, -i),
        "sf": lambda mechanism, i: moments.tail(mechanism, i + 1),
    }
    found = [entry for entry in entries("ds_dist") if entry["quantity"] == quantity]
    assert len(found) > 30
    for entry in found:
        assert close(functions[quantity](mechanism_of(entry["params"]), entry["params"]["i"]), entry["value"]), entry


@needs_reference
def test_quantiles_invert_the_survival_function() -> None:
    """The smallest i with P(X <= i) >= u; for i < 0 that is -|X| at v = 2u, where S has no ties."""
    found = [entry for entry in entries("ds_dist") if entry["quantity"] == "ppf"]
    assert len(found) > 30
    for entry in found:
        u = Fraction(entry["params"]["u"])
        mechanism = mechanism_of(entry["params"])
        size = magnitude(mechanism, 2 * min(u, 1 - u))
        assert (size if u > Fraction(1, 2) else -size) == int(entry["value"]), entry


@pytest.mark.parametrize(
    "mechanism", [Geometric(Fraction(1, 3), 2), Staircase(Fraction(5, 4), 7, 2), Staircase(Fraction(1, 2), 3, 3)]
)
def test_moments_are_sums(mechanism: Geometric | Staircase) -> None:
    with mp.workprec(moments.BITS):
        pmf = [moments.pmf(mechanism, j) for j in range(1000)]
        for power in (1, 2, 4):
            direct = mp.fsum(2 * j**power * p for j, p in enumerate(pmf))
            assert abs(direct / moments.absolute_moment(mechanism, power) - 1) < mp.mpf(10) ** -50


def test_staircase_of_one_cell_is_geometric() -> None:
    """r = D = 1 is the two-sided geometric distribution (math: E|X| = 2b/(1 - b^2))."""
    eps = Fraction(3, 7)
    v = [Fraction(n, 1000) for n in range(1, 1000)] + [Fraction(1, 10**n) for n in range(3, 40)]
    for x in v:
        assert magnitude(Staircase(eps, 1, 1), x) == magnitude(Geometric(eps, 1), x)


def test_magnitude_has_both_ends() -> None:
    mechanism = Geometric(Fraction(1), 1)
    assert magnitude(mechanism, Fraction(0)) == LARGEST
    assert magnitude(mechanism, Fraction(1)) == 0


class ChosenWords(multivariate.Words):
    """Words of all ones, which no attempt accepts, except the words given by stage."""

    def __init__(self, given: dict[int, int]) -> None:
        super().__init__(bytes(32), 0, 0, 2**40)
        self._given = given

    def word(self, stage: int) -> int:
        return self._given.get(stage, 2**64 - 1)

    def extension(self, stage: int, number: int) -> int:
        return 2**64 - 1


@pytest.mark.parametrize("last_bit", [0, 1])
def test_the_last_attempt_of_a_pair_has_halved_numbers(last_bit: int) -> None:
    """In two dimensions y = (u, v), here of stages 255 and 256: 0 . 0 w_62 ... w_1 1 1 1 ..., whatever w_0 is."""
    mechanism = multivariate.Multivariate(Fraction(1), 2, "l2", 0, 1, 1)
    u, v = 0x123456789ABCDEF0 | last_bit, 0x7EDCBA9876543210 | last_bit
    words, radius = ChosenWords({255: u, 256: 2**63 | v}), 2**62 - 1
    ends = [Fraction((bits >> 1) + 1, 2**63) for bits in (u, v)]
    found = [mechanism._coordinate(words, radius, i) for i in (0, 1)]
    # Extension words of ones put a number practically at the end of its interval.
    assert found == [round(radius * ends[0]), -round(radius * ends[1])]


def test_an_earlier_attempt_of_a_pair_is_not_halved() -> None:
    """In three dimensions, the first of two pairs accepts attempt 126, of stages 505 and 506, and the second the last."""
    mechanism = multivariate.Multivariate(Fraction(1), 3, "l2", 0, 1, 1)
    given = {505: 2**61, 506: 3 * 2**60, 511: 2**62, 512: 2**61}
    radius = 2**40
    found = [mechanism._coordinate(ChosenWords(given), radius, i) for i in range(3)]
    first, second = (mp.mpf(1) / 4, mp.mpf(3) / 8), (mp.mpf(1) / 4, mp.mpf(1) / 8)
    q = [x * x + y * y for x, y in (first, second)]
    # The second square is the smaller one; each pair has the spacing of its rank.
    spacings = [q[1], q[0] - q[1]]
    norm = 1 - spacings[1] * second[1] ** 2 / q[1]
    expected = [
        radius * first[0] * mp.sqrt(spacings[0] / (q[0] * norm)),
        radius * first[1] * mp.sqrt(spacings[0] / (q[0] * norm)),
        radius * second[0] * mp.sqrt(spacings[1] / (q[1] * norm)),
    ]
    assert found == [int(mp.nint(x)) for x in expected]
