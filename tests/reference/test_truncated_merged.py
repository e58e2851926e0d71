"""Groups gtl and ml of the reference values, and tables B and C of Mugunthan, Xiao and Kagal (2020), their subject.

Reference values were computed elsewhere in arbitrary precision, and rows of the tables are as the paper prints them; if a
file is absent, its tests are skipped with this reason. The tables are computed here again, by segment formulas or mpmath:
no expected value comes from the package.
"""

import csv
import json
from collections import Counter
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import pytest
from mpmath import mp

import stairnoise as sn
from tests.combinations import looped

SHARED = Path(__file__).resolve().parents[3] / "shared"
FILE = SHARED / "reference" / "values.json"
TABLES = {letter: SHARED / "data" / f"mugunthan_table_{letter}.csv" for letter in "bc"}
TOLERANCE = 1e-12


def number(text):
    return float(Fraction(str(text)))


def truncated(params):
    bound = params.get("B")
    return sn.TruncatedLaplace(
        number(params["eps"]), number(params["delta"]), number(params["D"]), upper=None if bound is None else number(bound)
    )


def merged(params):
    rates = [1 / number(scale) for scale in params["scales"].split()]
    return sn.MergedLaplace(rates, [number(c) for c in params["breaks"].split()])


def gaussian_sigma(eps, delta):
    """Return the standard deviation of the analytic Gaussian (Balle and Wang 2018) at sensitivity 1."""
    with mp.workdps(50):
        eps, delta = mp.mpf(eps), mp.mpf(delta)

        def excess(log_s):
            s = mp.exp(log_s)
            return mp.ncdf(1 / (2 * s) - eps * s) - mp.exp(eps) * mp.ncdf(-1 / (2 * s) - eps * s) - delta

        return mp.exp(mp.findroot(excess, (mp.log(1e-3), mp.log(1e5)), solver="illinois", maxsteps=500))


CHECKS = {
    ("gtl", "B_symmetric"): lambda p: truncated(p).upper,
    ("gtl", "E|X|_symmetric"): lambda p: truncated(p).abs_moment(1),
    ("gtl", "E X^2_symmetric"): lambda p: truncated(p).moment(2),
    ("gtl", "analytic_gaussian_sigma"): lambda p: gaussian_sigma(p["eps"], p["delta"]),
    ("gtl", "A(B)"): lambda p: truncated(p).lower,
    ("gtl", "E X"): lambda p: truncated(p).mean(),
    ("gtl", "E|X|"): lambda p: truncated(p).abs_moment(1),
    ("gtl", "Var X"): lambda p: truncated(p).var(),
    ("gtl", "cdf"): lambda p: truncated(p).cdf(number(p["x"])),
    ("gtl", "ppf"): lambda p: truncated(p).ppf(number(p["u"])),
    ("ml", "density_at_0"): lambda p: merged(p).pdf(0),
    ("ml", "E|X|"): lambda p: merged(p).abs_moment(1),
    ("ml", "E X^2"): lambda p: merged(p).var(),
    ("ml", "P(|X|>2)"): lambda p: 2 * merged(p).sf(2),
    ("ml", "abs_quantile_0.9"): lambda p: merged(p).error_bound(0.9),
    ("ml", "pure_eps_at_D=1"): lambda p: merged(p).pure_eps(lattice=False),
}


def entries():
    if not FILE.is_file():
        return []
    return [value for value in json.loads(FILE.read_text(encoding="utf-8"))["values"] if value["group"] in ("gtl", "ml")]


def printed(letter):
    """Return the rows of a table as the paper prints them."""
    if not TABLES[letter].is_file():
        return []
    with TABLES[letter].open(encoding="utf-8", newline="") as lines:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(lines)]


needs_file = pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
needs_tables = pytest.mark.skipif(not all(map(Path.is_file, TABLES.values())), reason=f"{SHARED / 'data'} lacks the tables")


@needs_file
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry["id"])
def test_reference_value(entry):
    value = float(CHECKS[entry["group"], entry["quantity"]](entry["params"]))
    assert value == pytest.approx(float(entry["value"]), rel=TOLERANCE, abs=0)


@needs_file
def test_the_file_has_what_these_tests_are_for():
    assert Counter(entry["group"] for entry in entries()) == {"gtl": 47, "ml": 23}


@pytest.mark.parametrize(
    ("eps", "delta"),
    [(0.7, 2.5e-6), (0.1, 4.5e-6), (0.4, 1e-6), (1.0, 0.01), (0.5, 0.1), (2.0, 0.05), (0.001, 1e-5), (5.0, 1e-9)],
)
def test_table_b(eps, delta):
    """The table's L2* = Var/sigma^2 and L1* = E|X|/sigma, from an integral of the density; a fair L1 is E|X|/E|N|."""
    mechanism, sigma = sn.TruncatedLaplace(eps, delta), gaussian_sigma(eps, delta)
    with mp.workdps(30):
        scale, bound = 1 / mp.mpf(eps), mp.log(1 + mp.expm1(eps) / (2 * mp.mpf(delta))) / eps
        points = [bound * part / 8 for part in range(9)]
        mass, first, second = (mp.quad(lambda x, p=p: x**p * mp.exp(-x / scale), points) for p in range(3))
        l1, l2 = first / mass / sigma, second / mass / sigma**2
        like_for_like = l1 / mp.sqrt(2 / mp.pi)
    assert mechanism.abs_moment(1) / float(sigma) == pytest.approx(float(l1), rel=1e-12)
    assert mechanism.var() / float(sigma) ** 2 == pytest.approx(float(l2), rel=1e-12)
    assert float(like_for_like / l1) == pytest.approx(1.2533141373155003, rel=1e-15)
    if (eps, delta) == (0.7, 2.5e-6):
        # The first row: 0.25 printed, 0.3193 in a fair comparison.
        assert (round(float(l1), 2), round(float(like_for_like), 4)) == (0.25, 0.3193)


@needs_tables
def test_the_tables_are_whole():
    assert (len(printed("b")), len(printed("c"))) == (31, len(TWO_BREAKS))


@needs_tables
@pytest.mark.parametrize("row", printed("b"))
def test_every_row_of_table_b_as_printed(row):
    mechanism, sigma = sn.TruncatedLaplace(row["eps"], row["delta"]), float(gaussian_sigma(row["eps"], row["delta"]))
    found = {"A": mechanism.lower, "L1": mechanism.abs_moment(1) / sigma, "L2": mechanism.var() / sigma**2}
    assert {name: round(value, 2) for name, value in found.items()} == {name: row[name] for name in found}


def coefficients(scales, breaks, sign=1):
    """a_j of the density a_j exp(-x/scale_j), not normalised: a_(j+1) = a_j exp(c_j/scale_(j+1) - c_j/scale_j).

    The printed two-break column has the sign of the outermost c_2/scale_3 reversed.
    """
    found = [mp.mpf(1)]
    for j, c in enumerate(breaks):
        outer = sign if j == len(breaks) - 1 else 1
        found.append(found[-1] * mp.exp(outer * c / scales[j + 1] - c / scales[j]))
    return found


def integral(p, scales, breaks, factors):
    """Twice the integral of x^p over all segments: scale^(p+1) (1, 1 + u, u^2 + 2u + 2) exp(-u), u = x/scale."""
    total, start = mp.mpf(0), mp.mpf(0)
    for scale, factor, end in zip(scales, factors, [*breaks, mp.inf], strict=True):

        def primitive(x, scale=scale):
            u = x / scale
            return 0 if u == mp.inf else scale ** (p + 1) * (1, 1 + u, u * u + 2 * u + 2)[p] * mp.exp(-u)

        total += factor * (primitive(start) - primitive(mp.mpf(end)))
        start = mp.mpf(end)
    return 2 * total


# The table's rows have scales from 3 ... 9, the largest innermost. The first is (5, 4, 3) with breaks at 1 and 3.
ROWS = list(combinations(range(9, 2, -1), 3))


@looped("scales", ROWS)
def test_table_c(scales):
    """Columns: Laplace = eps_3, one break = (eps_2, eps_3; 1), two breaks = (eps_1, eps_2, eps_3; 1, 3), eps = 1/scale."""
    laplace = sn.Laplace(1 / scales[-1])
    costs = [(laplace.abs_moment(1), laplace.var())]
    with mp.workdps(30):
        for used, breaks in ((scales[1:], (1,)), (scales, (1, 3))):
            mechanism = sn.MergedLaplace([1 / scale for scale in used], breaks)
            used = [mp.mpf(scale) for scale in used]
            factors = coefficients(used, breaks)
            mass, first, second = (integral(p, used, breaks, factors) for p in range(3))
            assert mechanism.abs_moment(1) == pytest.approx(float(first / mass), rel=1e-12)
            assert mechanism.var() == pytest.approx(float(second / mass), rel=1e-12)
            # The pure eps is the outermost and largest eps, so every break makes the noise worse at the same guarantee.
            assert mechanism.pure_eps(lattice=False) == mechanism.eps[-1] == 1 / scales[-1]
            assert mechanism.pure_eps() == pytest.approx(1 / scales[-1], rel=1e-9)
            assert mechanism.abs_moment(1) > costs[-1][0]
            assert mechanism.var() > costs[-1][1]
            costs.append((mechanism.abs_moment(1), mechanism.var()))
    if scales == (5, 4, 3):
        assert [[round(cost, 4) for cost in row] for row in costs] == [[3.0, 18.0], [3.0329, 18.2189], [3.2152, 19.6722]]


def test_the_printed_two_break_column_of_table_c_is_of_no_density():
    """exp(-c_2/scale_3) instead of exp(+c_2/scale_3) gives the printed rows; their total probability is far from 1."""
    masses = []
    with mp.workdps(30):
        for row in ROWS:
            scales, breaks = [mp.mpf(scale) for scale in row], (1, 3)
            mass = integral(0, scales, breaks, coefficients(scales, breaks))
            wrong = coefficients(scales, breaks, sign=-1)
            masses.append(float(integral(0, scales, breaks, wrong) / mass))
            if row == (5, 4, 3):
                costs = [float(integral(p, scales, breaks, wrong) / mass) for p in (1, 2)]
                assert [round(cost, 2) for cost in costs] == [1.12, 3.94]
    assert max(masses) < 0.7


# E|X| and E X² with two breaks, to four decimals, in the table's order. The printed figures belong to no density.
TWO_BREAKS = [
    (3.2152, 19.6722),
    (3.2273, 19.7543),
    (3.3242, 20.5472),
    (3.2359, 19.8122),
    (3.3326, 20.6041),
    (3.3966, 21.1299),
    (5.1103, 51.3016),
    (3.2423, 19.8552),
    (3.3388, 20.6464),
    (3.4027, 21.1716),
    (5.1176, 51.3802),
    (3.4481, 21.5451),
    (5.1777, 52.1104),
    (3.2472, 19.8885),
    (3.3436, 20.679),
    (3.4074, 21.2037),
    (5.1233, 51.4409),
    (3.4527, 21.5769),
    (5.1832, 52.17),
    (3.4865, 21.8557),
    (5.2277, 52.7109),
    (7.0663, 99.0482),
    (3.4016, 21.5607),
    (3.4139, 21.6462),
    (3.6316, 23.6863),
    (3.4225, 21.7065),
    (3.6401, 23.7463),
    (3.7872, 25.1405),
    (5.229, 52.9742),
    (3.429, 21.7513),
    (3.6463, 23.7909),
    (3.7933, 25.1846),
    (5.2363, 53.053),
    (3.8989, 26.1927),
    (5.381, 54.9845),
]


@needs_tables
@pytest.mark.parametrize(("row", "right"), list(zip(printed("c"), TWO_BREAKS, strict=False)))
def test_every_row_of_table_c(row, right):
    """Laplace and one break agree as printed. Two breaks: the correct figures, and the printed ones by the reversed sign."""
    scales, breaks = [round(1 / row[f"eps{j}"]) for j in (1, 2, 3)], (row["c1"], row["c2"])
    assert [round(1 / scale, 2) for scale in scales] == [row[f"eps{j}"] for j in (1, 2, 3)]
    rates = [1 / scale for scale in scales]
    mechanisms = {
        "laplace": sn.Laplace(rates[-1]),
        "one_break": sn.MergedLaplace(rates[1:], breaks[:1]),
        "two_breaks": sn.MergedLaplace(rates, breaks),
    }
    costs = {name: (mechanism.abs_moment(1), mechanism.var()) for name, mechanism in mechanisms.items()}
    for name in ("laplace", "one_break"):
        assert [round(cost, 2) for cost in costs[name]] == [row[f"L{p}_{name}"] for p in (1, 2)]
    assert tuple(round(cost, 4) for cost in costs["two_breaks"]) == right
    with mp.workdps(30):
        scales = [mp.mpf(scale) for scale in scales]
        factors, wrong = coefficients(scales, breaks), coefficients(scales, breaks, sign=-1)
        mass = integral(0, scales, breaks, factors)
        for p in (1, 2):
            assert costs["two_breaks"][p - 1] == pytest.approx(float(integral(p, scales, breaks, factors) / mass), rel=1e-12)
            assert round(float(integral(p, scales, breaks, wrong) / mass), 2) == row[f"L{p}_two_breaks"] < right[p - 1] / 2
