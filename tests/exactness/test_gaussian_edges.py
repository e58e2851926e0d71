"""What rust/core/src/kernel/quantile says of the normal quantile: its polynomials, and where the edges S(j) lie.

Evidence: mpmath at 50 digits, and the oracle's S(j). Deterministic: no false alarms.
"""

import importlib.util
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from mpmath import mp

from tests.oracles import gaussian, intervals

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts/quantile.py"
# `EDGE`: factors of x and x^5.
LINEAR, FIFTH = 1e-4, 5e-6


@pytest.mark.long
def test_all_coefficients_are_those_of_the_script() -> None:
    subprocess.run([sys.executable, SCRIPT, "--check"], check=True)


@pytest.mark.filterwarnings("ignore:Descending")  # mpmath's, about its order of coefficients
def test_the_rough_coefficients_are_those_of_the_script() -> None:
    """One table of each kind without the bound on its error, which takes longer; the others have higher degrees."""
    made = script()
    made.MANY = 1
    text = made.PATH.read_text(encoding="utf-8")
    for table in (made.octaves("ROUGH_OCTAVES", 1, 8), made.quotient("ROUGH_RATIO", 2.0**-13, 8)):
        coefficients, _, _ = table.rpartition("], ")
        assert coefficients in text


def script() -> Any:
    spec = importlib.util.spec_from_file_location("quantile", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def quantile(half_v: mp.mpf) -> mp.mpf:
    return script().quantile(half_v)


def beside_edge(sigma2: Fraction, j: int) -> tuple[float, float]:
    """Return x for v = S(j), and ς⁵ times the distance of T from j - ½."""
    with mp.workdps(50), intervals.precision(200):
        corrected = mp.sqrt(mp.mpf(sigma2.numerator) / sigma2.denominator - mp.mpf(1) / 12)
        x = quantile(mp.mpf(gaussian.DiscreteGaussian(sigma2).survival(j).mid) / 2)
        t = corrected * x + (x**3 - 3 * x) / (2880 * corrected**3)
        return float(x), float(abs(t - j + mp.mpf(1) / 2) * corrected**5)


@pytest.mark.parametrize("sigma", [1.0, 1.2, 2.0, 4.5, 17.3, 128.0, 1e4])
def test_edges_are_where_the_formula_says(sigma: float) -> None:
    sigma2 = Fraction(sigma * sigma)
    steps = {1, 2, *(math.ceil(sigma * x / 4) for x in range(1, 29))}
    found = [beside_edge(sigma2, j) for j in sorted(steps)]
    shares = [distance / (LINEAR * x + FIFTH * x**5) for x, distance in found]
    # Not much room: a bound that is twice as large as it has to be would leave values to the exact path.
    assert 0.5 < max(shares) < 1
