"""The tables of docs/distributions.md agree with the library: every formula, and every entry of the tables of edge cases.

Evidence: the page's tables, whose cells are expressions in the mechanism's height at 0 (computed here
from the textbook formula) and its other functions.
"""

import math
import re
from pathlib import Path

import pytest

import stairnoise as sn
from tests.combinations import looped

PAGE = (Path(__file__).resolve().parents[2] / "docs/distributions.md").read_text(encoding="utf-8")
FUNCTIONS = ("pdf", "logpdf", "pmf", "logpmf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
# γΔ is exact in float64, so the edge is a float64 too.
MECHANISMS = [
    sn.Staircase(1.0),
    sn.Staircase(0.1, 10.0, 0.5),
    sn.Staircase(4.0, 2.0**-10, "l2"),
    sn.Laplace(0.5),
    sn.Laplace(2.0, 1e6),
    sn.DiscreteStaircase(1.0, 5),
    sn.DiscreteStaircase(0.1, 7, 7),
    sn.DiscreteLaplace(1.0),
    sn.DiscreteLaplace(0.3, 4),
]


def tables():
    """Yield (mechanisms, function, argument, cell) for every cell of the tables whose columns are expressions.

    A table with a pdf is about real mechanisms, a table with a pmf about integer mechanisms, any other table about both.
    """
    found = []
    for lines in re.findall(r"(?:^\|.*\|\n)+", PAGE, re.MULTILINE):
        header, _, *rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in lines.splitlines()]
        if not all(re.fullmatch("`.*`", cell) for cell in header[1:]):
            continue
        densities = {name for name, *_ in rows} & {"pdf", "pmf"}
        mechanisms = [mechanism for mechanism in MECHANISMS if all(hasattr(mechanism, density) for density in densities)]
        for name, *fields in rows:
            assert name in FUNCTIONS
            found += [
                (mechanisms, name, argument.strip("`"), cell.strip("`"))
                for argument, cell in zip(header[1:], fields, strict=True)
            ]
    return found


CELLS = tables()


def height(mechanism):
    """Return the density or probability at 0, from the papers' formulas."""
    b = math.exp(-mechanism.eps)
    c = b / (1 - b)
    match mechanism:
        case sn.Staircase():
            return 1 / (2 * mechanism.sensitivity * (mechanism.gamma + c))
        case sn.Laplace():
            return mechanism.eps / (2 * mechanism.sensitivity)
        case sn.DiscreteStaircase():
            return 1 / (2 * mechanism.r - 1 + 2 * mechanism.sensitivity * c)
    return math.tanh(mechanism.eps / mechanism.sensitivity / 2)


def names(mechanism):
    """Return the names that cells can use."""
    edge = {sn.Staircase: lambda: mechanism.gamma * mechanism.sensitivity, sn.DiscreteStaircase: lambda: mechanism.r}.get(
        type(mechanism), lambda: 3
    )()
    own = {name: getattr(mechanism, name) for name in FUNCTIONS if hasattr(mechanism, name)}
    return {
        "a": height(mechanism),
        "edge": edge,
        "after": lambda x: math.nextafter(x, math.inf),
        "inf": math.inf,
        "nan": math.nan,
        "log": math.log,
        **own,
    }


def test_every_function_has_a_row():
    assert {name for _, name, _, _ in CELLS} == set(FUNCTIONS)
    assert len(CELLS) == 6 * 5 + 6 * 7 + 2 * 6


@looped(("mechanisms", "name", "argument", "cell"), CELLS)
def test_cell(mechanisms, name, argument, cell):
    for mechanism in mechanisms:
        known = names(mechanism)
        point = eval(argument, {}, known)
        said = eval(cell, {}, known)
        for value in (getattr(mechanism, name)(point), *getattr(mechanism, name)([point])):
            assert value == pytest.approx(said, rel=1e-13, abs=0, nan_ok=True), mechanism


def test_the_density_jumps_at_the_edge():
    """The cells on edges can fail: just before an edge, the density is higher by a factor e^eps."""
    mechanism = sn.Staircase(1.0, 10.0, 0.5)
    assert mechanism.pdf(math.nextafter(5.0, 0)) == pytest.approx(math.e * mechanism.pdf(5.0), rel=1e-14)
    discrete = sn.DiscreteStaircase(1.0, 5, 2)
    assert discrete.pmf(1) == pytest.approx(math.e * discrete.pmf(2), rel=1e-14)


# ---------------------------------------------------------------- formulas

EPS = 1.5
B = math.exp(-EPS)
C = B / (1 - B)
V = C * (1 + C)


def close(found, expected):
    assert found == pytest.approx(expected, rel=1e-13, abs=0)


def test_formulas_of_the_staircase():
    delta, g, x, s = 2.0, 0.25, 7.3, 1e-5
    noise, t, j = sn.Staircase(EPS, delta, g), 2 * delta * (g + C), math.floor(x / delta - g) + 1
    close(noise.pdf(x), B**j / t)
    close(noise.sf(x), B**j * ((j + g) * delta - x + delta * C) / t)
    m = math.floor(math.log(C / (2 * (g + C)) / s) / EPS)
    close(noise.isf(s), (m + g) * delta + delta * (1 - s * 2 * (g + C) / (C * B**m)) / (1 - B))
    close(noise.abs_moment(1), t / 4 + delta**2 * V / t)
    close(noise.var(), t**2 / 12 + delta**2 * V + 2 / 3 * delta**3 * V * (1 + 2 * C) / t)
    close(noise.entropy(), math.log(t) + 2 * EPS * delta * V / t)


def test_formulas_of_laplace_noise():
    delta, x, s = 2.0, 7.3, 1e-5
    noise = sn.Laplace(EPS, delta)
    close(noise.pdf(x), EPS / (2 * delta) * math.exp(-EPS * x / delta))
    close(noise.sf(x), math.exp(-EPS * x / delta) / 2)
    close(noise.isf(s), -delta * math.log(2 * s) / EPS)
    close(noise.abs_moment(3), 6 * (delta / EPS) ** 3)
    close(noise.entropy(), 1 + math.log(2 * delta / EPS))


def test_formulas_of_the_discrete_staircase():
    delta, r, i = 5, 2, 13
    noise, t, j = sn.DiscreteStaircase(EPS, delta, r), 2 * r - 1 + 2 * delta * C, (i - r) // delta + 1
    close(noise.pmf(i), B**j / t)
    close(noise.sf(i - 1), B**j * (r + j * delta - i + delta * C) / t)
    close(noise.abs_moment(1), (r * (r - 1) + (2 * r - 1) * delta * C + delta**2 * C * (1 + 2 * C)) / t)
    close(noise.var(), (t**2 - 1) / 12 + delta**2 * V + 2 / 3 * delta**3 * V * (1 + 2 * C) / t)
    close(noise.entropy(), math.log(t) + 2 * EPS * delta * V / t)
    close(noise.cdf(i), sn.Staircase(EPS, delta, (r - 0.5) / delta).cdf(i + 0.5))
    k = noise.ppf(0.999)
    assert noise.cdf(k) >= 0.999 > noise.cdf(k - 1)


def test_formulas_of_discrete_laplace_noise():
    delta, i = 5, 13
    noise, z = sn.DiscreteLaplace(EPS, delta), math.exp(-EPS / delta)
    close(noise.pmf(i), (1 - z) / (1 + z) * z**i)
    close(noise.sf(i - 1), z**i / (1 + z))
    close(noise.abs_moment(1), 2 * z / (1 - z**2))
    close(noise.var(), 2 * z / (1 - z) ** 2)
