"""Writes rust/core/src/kernel/quantile/coefficients.in: approximations of the normal quantile, and bounds on their errors.

`python scripts/quantile.py` writes the file; with `--check` it fails if the file is another. Needs mpmath.

The errors are looked for at MANY Chebyshev points of a polynomial's interval, or of half the interval of ln y for a quotient of
polynomials in √y. A factor covers what is between them: a function that is a polynomial of degree N but for less than 1e-30 is at
most 1/cos(πN/(2·MANY)) times as large elsewhere (Ehlich and Zeller 1964), 1.24 for N = 97.
"""

import sys
from pathlib import Path

import mpmath as mp

mp.mp.dps = 50
PATH = Path(__file__).parent.parent / "rust/core/src/kernel/quantile/coefficients.in"
MANY = 240
BETWEEN = mp.mpf("1.25")


def quantile(half_v):
    """The x of P(N > x) = v/2."""
    if half_v > 0.05:
        return mp.sqrt(2) * mp.erfinv(1 - 2 * half_v)
    x = mp.sqrt(-2 * mp.log(half_v))
    while True:
        tail = mp.erfc(x / mp.sqrt(2)) / 2
        step = mp.log(tail / half_v) * tail / mp.npdf(x)
        x += step
        if abs(step) < mp.mpf(10) ** -45:
            return x


def ratio(s):
    """x/(1 − v) for s = √(v(2 − v))."""
    q = mp.sqrt(1 - s * s)
    return quantile(s * s / (1 + q) / 2) / q


def points(count):
    return [mp.cos(mp.pi * (i + mp.mpf(1) / 2) / count) for i in range(count)]


def fit(f, middle, half, degree):
    """The coefficients, by powers of t, of the interpolation of f(middle + half·t) at Chebyshev's points."""
    n = degree + 1
    values = [f(middle + half * t) for t in points(n)]
    series = [
        2 / mp.mpf(n) * sum(v * mp.cos(k * mp.pi * (i + mp.mpf(1) / 2) / n) for i, v in enumerate(values)) for k in range(n)
    ]
    series[0] /= 2
    before, here = [mp.mpf(1)], [mp.mpf(0), mp.mpf(1)]
    sums = [mp.mpf(0)] * n
    for c in series:
        for k, t in enumerate(before):
            sums[k] += c * t
        after = [mp.mpf(0), *(2 * t for t in here)]
        for k, t in enumerate(before):
            after[k] -= t
        before, here = here, after
    return sums


def scaled(series, half):
    """By powers of half·t."""
    return [float(c / half**k) for k, c in enumerate(series)]


def error(f, approximation, interval=(-1, 1)):
    """A bound on |approximation − f|."""
    least, most = interval
    places = [least + (most - least) * (1 + t) / 2 for t in points(MANY)]
    return float(max(abs(approximation(t) - f(t)) for t in places) * BETWEEN * mp.mpf("1.001"))


def value(coefficients, t):
    return mp.polyval(coefficients[::-1], t)


def row(numbers, indent):
    lines = [", ".join(repr(x) for x in numbers[i : i + 5]) for i in range(0, len(numbers), 5)]
    return ("\n" + indent).join(line + "," for line in lines)


def nodal(count):
    """∏(t − tᵢ) over the Chebyshev points of [−½, ½], a power of two of them."""
    product = [mp.mpf(0), mp.mpf(1)]
    for n in range(count.bit_length() - 1):
        product = times(product, product)
        product[0] -= mp.mpf(2) ** (1 - 2 ** (n + 2))
    return product


def times(one, other):
    product = [mp.mpf(0)] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for k, b in enumerate(other):
            product[i + k] += a * b
    return product


def divided(series, divisor):
    """The remainder and the quotient by a polynomial whose last coefficient is 1."""
    rest, quotient = list(series), []
    while len(rest) >= len(divisor):
        c = rest[-1]
        quotient.insert(0, c)
        rest = [a - c * b for a, b in zip(rest, [0] * (len(rest) - len(divisor)) + divisor, strict=True)][:-1]
    return rest, quotient


def octaves(name, count, degree):
    """Polynomials of that degree as the remainder and the quotient by the product of the distances from Chebyshev points."""
    rests = [[0.0] * 16 for _ in range(count)]
    factors = [[0.0] * 16 for _ in range(degree + 1 - count)]
    worst, half, product = 0.0, mp.mpf(1) / 2, nodal(count)
    for j in range(16):

        def f(y, j=j):
            return quantile((mp.mpf(3) / 2 + y) * mp.mpf(2) ** (-j - 2))

        series = [c / half**k for k, c in enumerate(fit(f, 0, half, degree))]
        rest, factor = divided(series, product)
        rest, factor = ([float(c) for c in cs] for cs in (rest, factor))

        def found(y, rest=rest, factor=factor):
            return value(rest, y) + value(product, y) * value(factor, y)

        worst = max(worst, error(f, found, (-half, half)))
        place = (1023 + 62 - j) % 16
        for table, coefficients in ((rests, rest), (factors, factor)):
            for numbers, c in zip(table, coefficients, strict=True):
                numbers[place] = c
    tables = [f"[\n{rows(table)}\n]" for table in (rests, factors)]
    kind = f"([[f64; 16]; {count}], [[f64; 16]; {degree + 1 - count}], f64)"
    return f"/// The error is below the last number.\npub const {name}: {kind} = ({', '.join(tables)}, {worst!r});\n"


def rows(table):
    return "\n".join(f"    [\n        {row(numbers, '        ')}\n    ]," for numbers in table)


def quotient(name, least, degree):
    """The ratio from this v on: polynomials in s of degrees less than this one, and this one with the leading coefficient 1.

    Right at Zolotarev's points for a cut from −∞ to 0.
    """
    count = 2 * degree
    lowest = mp.sqrt(mp.mpf(least) * (2 - mp.mpf(least)))
    with mp.workdps(140):
        modulus = 1 - lowest
        quarter = mp.ellipk(modulus)
        places = [mp.ellipfun("dn", (2 * i + 1) * quarter / (2 * count), m=modulus) ** 2 for i in range(count)]
        values = [ratio(s) for s in places]
        powers = range(degree)
        rows = [[*(s**k for k in powers), *(-f * s**k for k in powers)] for s, f in zip(places, values, strict=True)]
        solution = list(mp.lu_solve(mp.matrix(rows), mp.matrix([f * s**degree for s, f in zip(places, values, strict=True)])))
    above, below = ([float(c) for c in cs] for cs in (solution[:degree], solution[degree:]))
    if min(above + below) <= 0:
        raise ValueError(f"{name}: terms cancel")
    half = -mp.log(lowest) / 2
    worst = max(
        error(
            lambda w: ratio(mp.exp(-w)),
            lambda w: value(above, mp.exp(-w)) / value([*below, 1], mp.exp(-w)),
            interval,
        )
        for interval in ((0, half), (half, 2 * half))
    )
    rows = "\n".join(f"    [\n        {row(numbers, '        ')}\n    ]," for numbers in (above, below))
    return (
        f"/// From v = {float(least)!r} on; the error is below the last number.\n"
        f"pub const {name}: ([[f64; {degree}]; 2], f64) = ([\n{rows}\n], {worst!r});\n"
    )


def text():
    parts = [
        "// Coefficients, from the constant one on. Written by scripts/quantile.py.\n",
        octaves("ROUGH_OCTAVES", 1, 8),
        octaves("OCTAVES", 8, 16),
        quotient("ROUGH_RATIO", 2.0**-13, 8),
        quotient("RATIO", 2.0**-13, 12),
        quotient("LANE_RATIO", 2.0**-21, 20),
    ]
    return "\n".join(parts)


def main():
    found = text()
    if "--check" in sys.argv[1:]:
        sys.exit(0 if PATH.read_text() == found else f"{PATH} is not what this script writes")
    PATH.write_text(found)


if __name__ == "__main__":
    main()
