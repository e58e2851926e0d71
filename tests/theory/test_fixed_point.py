"""Arithmetic of many digits against mpmath at 150 digits."""

import random

import pytest
from mpmath import mp

from stairnoise.numerics.fixed_point import fixed_point

FUNCTIONS = {
    "exp": (mp.exp, (0.0, 2.0**-40, 0.5, 1.0, 7.3, 18.2)),
    "log": (mp.log, (2.0**-150, 1e-9, 0.3, 0.5, 1.0, 1 + 2.0**-52, 77.0, 1e30)),
    "mills": (
        lambda x: mp.erfc(x / mp.sqrt(2)) / 2 / mp.npdf(x),
        (-8.3, -1.0, 0.0, 2.0**-30, 4.1, 5.99, 6.0, 6.01, 37.5, 1448.0),
    ),
    "sqrt": (mp.sqrt, (0.0, 2.0**-100, 2.0, 1e30)),
}


@pytest.mark.parametrize("bits", [190, 250, 320])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, bits: int) -> None:
    """The error is below 2**45 units, or relatively smaller; calibrations claim 2**-100."""
    n, (exact, places) = fixed_point(bits), FUNCTIONS[name]
    with mp.workdps(150):
        for x in places:
            expected = exact(mp.ldexp(n.of(x), -bits))
            error = mp.ldexp(getattr(n, name)(n.of(x)), -bits) - expected
            assert abs(error) <= mp.ldexp(max(1, abs(expected)), 45 - bits), x


def test_logarithm_of_any_float() -> None:
    n, choose = fixed_point(200), random.Random(1)
    with mp.workdps(150):
        for _ in range(50):
            x, exponent = choose.getrandbits(53) + 1, choose.randint(-1127, 970)
            expected = mp.log(mp.ldexp(x, exponent))
            assert abs(mp.ldexp(n.log(x, exponent), -200) - expected) < mp.mpf(2) ** -180 * max(1, abs(expected))


def test_digits_end() -> None:
    with pytest.raises(ValueError, match="bits must be at most 320, got 321"):
        fixed_point(321)
