"""How often the slow path is taken: the counts on docs/evidence/timing.md agree with the error bounds of the kernels.

Evidence: the probability of a word within a kernel's error bound of an edge, from the bounds in rust/core/src/kernel/ and the
formulas of the distributions. A count may miss it by six standard deviations and a dozen: one false alarm in 10**8 counts.
"""

import math
import re
from pathlib import Path

import pytest

import stairnoise as sn
from tests.combinations import looped

PAGE = (Path(__file__).resolve().parents[2] / "docs/evidence/timing.md").read_text(encoding="utf-8")
WORDS = int(re.search(r"of ([\d ]+\d) each", PAGE)[1].replace(" ", ""))  # type: ignore[index]
HEAD, _, *LINES = re.findall(r"^\|.*ε = .*\|\n(?:\|.*\n)+", PAGE, re.MULTILINE)[0].splitlines()
EPS = [float(eps) for eps in re.findall(r"ε = ([\d.]+)", HEAD)]
COUNTS = [
    (name, eps, float(sensitivity), int(count))
    for name, sensitivity, fields in re.findall(r"\| `(\w+)\(ε, (\d+)\)` \|(.*)\|$", "\n".join(LINES), re.MULTILINE)
    for eps, count in zip(EPS, fields.split("|"), strict=True)
]
U = 2.0**-53


def logarithm(eps: float, steps: float, error: float) -> float:
    """Return the probability for Laplace noise by a logarithm; `error` is relative to the noise scale in steps."""
    kappa = steps / eps
    beta = kappa * math.log(2 / (1 + math.exp(-1 / kappa)))
    edges = 2 / (1 + math.exp(-1 / kappa)) / (kappa * math.expm1(1 / kappa))  # their density: 1 for large kappa
    return edges * 2 * (error * kappa + 32 * U + 4.5 * U * (kappa + beta) + 63 * kappa * 2.0**-63)


def stairs(eps: float, steps: float, r: float) -> tuple[float, float]:
    """Return the probability for staircase noise except the part of its logarithm, and P(|X| >= r)."""
    c = 1 / math.expm1(eps)
    half_t = r - 0.5 + steps * c
    outside = steps * c / half_t
    y = outside * (steps * c + steps / 2) + (1 - outside) * (steps * c + half_t) / 2
    step = half_t * 2.0**-63 * (1 - outside + outside * math.expm1(eps) * 63 * math.log(2) / eps)
    return 2 * (2.0**-49 * y + 2.0**-40) + step, outside


def bounds(name: str, eps: float, sensitivity: float) -> tuple[float, float]:
    """The minimum and maximum probability of the slow path, by the kernel that these parameters have."""
    steps = math.ceil(sensitivity / getattr(sn, name)(eps, sensitivity).granularity)
    if name == "DiscreteLaplace" and eps >= 4:  # four thresholds
        tail = 2 * math.exp(-4 * eps / steps) / (1 + math.exp(-eps / steps))
        return tail, tail
    if "Laplace" in name:
        single = logarithm(eps, steps, 2.5 * U + (2.0**-24 if name == "DiscreteLaplace" else 0))
        return single, single
    least, outside = stairs(eps, steps, math.ceil(steps / (1 + math.exp(eps / 2))))
    if eps >= 4:  # a ladder of four stairs
        return least + outside * math.exp(-3 * eps), least + outside * math.exp(-3 * eps)
    return least, least + 2.0**-23 * outside / -math.expm1(-eps)


def test_the_page_has_every_count() -> None:
    assert len(COUNTS) == 25
    assert WORDS > 10**8


@looped(("name", "eps", "sensitivity", "count"), COUNTS)
def test_a_count_agrees_with_the_error_bounds(name: str, eps: float, sensitivity: float, count: int) -> None:
    least, most = (WORDS * probability for probability in bounds(name, eps, sensitivity))
    assert least - 6 * math.sqrt(least) <= count <= most + 6 * math.sqrt(most) + 12


@pytest.mark.parametrize("eps", [0.01, 0.1, 1, 4, 10])
@pytest.mark.parametrize("name", ["Laplace", "Staircase"])
def test_large_noise_is_as_rare_as_the_page_says(name: str, eps: float) -> None:
    """Noise of 2**51 lattice steps or more has a probability below e**(1 - eps 2**51 / D)."""
    assert "the probability is below e⁻¹⁰⁰⁰ a value" in " ".join(PAGE.split())
    assert 1 - eps * 2**51 * getattr(sn, name)(eps, 1.999).granularity / 1.999 < -1000
