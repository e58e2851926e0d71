"""Reference values of 22 to 30 digits, computed elsewhere in arbitrary precision.

The file is not part of the project; if it is absent, these tests are skipped with this reason.
"""

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import stairnoise as sn
from stairnoise.distributions.infinitely_divisible import Term, log_pmf
from stairnoise.mechanisms.generalized_discrete_laplace.calibration import shape_for_eps
from tests.combinations import looped

FILE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "values.json"
TOLERANCE = 1e-12
# The density is the limit of lattice mechanisms, of which three are extrapolated.
TOLERANCES = {("ar", "pdf"): 2e-8}
LEAST_NORMAL = Fraction(1, 2**1022)


def _entries():
    if not FILE.is_file():
        return []
    values = json.loads(FILE.read_text(encoding="utf-8"))["values"]
    return [value for value in values if checker(value["group"], value["quantity"])]


def checker(group, quantity):
    return CHECKS.get((group.split("_")[0], quantity))


def number(text):
    return float(Fraction(str(text)))


def continuous(params):
    gamma = str(params.get("gamma", "opt_l1"))
    shape = gamma.removeprefix("opt_") if gamma.startswith("opt_") else number(gamma)
    return sn.Staircase(number(params["eps"]), number(params.get("D", 1)), shape)


def discrete(params):
    r, sensitivity = str(params.get("r", "opt_l1")), int(params["D"])
    shapes = {"D": sensitivity, "opt_l1": "l1", "opt_l2": "l2"}
    return sn.DiscreteStaircase(number(params["eps"]), sensitivity, shapes.get(r) or int(r))


def _gain(cost, moment):
    def gain(params):
        eps = number(params["eps"])
        return sn.Laplace(eps).abs_moment(moment) / sn.Staircase(eps, 1, cost).abs_moment(moment)

    return gain


def arete(params):
    return sn.Arete(*(number(params[name]) for name in ("alpha", "theta", "lam")))


def arete_density(params):
    """Return the density, extrapolated from two lattices: the difference shrinks like g², and at 0 also like g^(1 + 2α)."""
    alpha, theta, lam, x = (number(params[name]) for name in ("alpha", "theta", "lam", "x"))
    steps = [2.0**-9, 2.0**-10, 2.0**-11]
    found = [math.exp(log_pmf([Term(1, alpha, g / theta), Term(1, 1.0, g / lam)])[round(x / g)]) / g for g in steps]
    for order in (1 + 2 * alpha, 2) if x == 0 else (2, 4):
        found = [(2**order * fine - coarse) / (2**order - 1) for coarse, fine in itertools.pairwise(found)]
    return found[-1]


def generalized(params):
    return sn.GeneralizedDiscreteLaplace(number(params["beta"]), number(params["a"]))


def multi_scale(params):
    return sn.MultiScaleDiscreteLaplace(number(params["eps"]), int(params["D"]))


def _without_lattice(mechanism):
    """Return the variance with the lattice's effect on each part removed: x²/2/(cosh x − 1), x = g/scale."""
    rates = mechanism.granularity / mechanism.theta, mechanism.granularity / mechanism.lam
    parts = 2 * mechanism.alpha * mechanism.theta**2, 2 * mechanism.lam**2
    lost = [part * (1 - rate**2 / (4 * math.sinh(rate / 2) ** 2)) for part, rate in zip(parts, rates, strict=True)]
    return mechanism.var() + math.fsum(lost)


def selection(params):
    mechanism = sn.StaircaseSelection(
        number(params["eps"]), number(params["Dc"]), number(params["gamma"]), monotonic=not params["eps_halved"]
    )
    return mechanism.probabilities([number(cost) for cost in params["costs"].split()])[int(params["candidate"])]


CHECKS = {
    ("ab", "prob"): selection,
    ("ar", "pdf"): arete_density,
    ("ar", "variance"): lambda p: _without_lattice(arete(p)),
    ("gdl", "pmf"): lambda p: generalized(p).pmf(p["k"]),
    ("gdl", "variance"): lambda p: generalized(p).var(),
    ("gdl", "exact_eps"): lambda p: generalized(p).privacy_eps(p["D"]),
    ("gdl", "beta_for_eps"): lambda p: shape_for_eps(number(p["eps"]), p["D"], number(p["a"])),
    ("ms", "variance"): lambda p: multi_scale(p).var(),
    ("ms", "pmf"): lambda p: multi_scale(p).pmf(p["k"]),
    ("cs", "gamma_l1"): lambda p: continuous(p | {"gamma": "opt_l1"}).gamma,
    ("cs", "gamma_l2"): lambda p: continuous(p | {"gamma": "opt_l2"}).gamma,
    ("cs", "V1"): lambda p: continuous(p | {"gamma": "opt_l1"}).abs_moment(1),
    ("cs", "V2"): lambda p: continuous(p | {"gamma": "opt_l2"}).var(),
    ("cs", "gain_l1_over_laplace"): _gain("l1", 1),
    ("cs", "gain_l2_over_laplace"): _gain("l2", 2),
    ("cs", "E|X|"): lambda p: continuous(p).abs_moment(1),
    ("cs", "E X^2"): lambda p: continuous(p).var(),
    ("cs", "E|X|^p"): lambda p: continuous(p).abs_moment(number(p["p"])),
    ("cs", "abs_quantile_0.95"): lambda p: continuous(p).error_bound(0.95),
    ("cs", "density_at_0"): lambda p: continuous(p).pdf(0),
    ("cs", "entropy_nats"): lambda p: continuous(p).entropy(),
    ("cs", "pdf"): lambda p: continuous(p).pdf(number(p["x"])),
    ("cs", "cdf"): lambda p: continuous(p).cdf(number(p["x"])),
    ("cs", "sf"): lambda p: continuous(p).sf(number(p["x"])),
    ("cs", "ppf"): lambda p: continuous(p).ppf(number(p["u"])),
    ("ds", "r_l1"): lambda p: discrete(p | {"r": "opt_l1"}).r,
    ("ds", "r_l2"): lambda p: discrete(p | {"r": "opt_l2"}).r,
    ("ds", "E|X|"): lambda p: discrete(p).abs_moment(1),
    ("ds", "E X^2"): lambda p: discrete(p).var(),
    ("ds", "abs_quantile_0.95"): lambda p: discrete(p).error_bound(0.95),
    ("ds", "P(0)"): lambda p: discrete(p).pmf(0),
    ("ds", "entropy_nats"): lambda p: discrete(p).entropy(),
    ("ds", "pmf"): lambda p: discrete(p).pmf(number(p["i"])),
    ("ds", "cdf"): lambda p: discrete(p).cdf(number(p["i"])),
    ("ds", "sf"): lambda p: discrete(p).sf(number(p["i"])),
    ("ds", "ppf"): lambda p: discrete(p).ppf(number(p["u"])),
}


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
@looped("entry", _entries())
def test_reference_value(entry):
    value = checker(entry["group"], entry["quantity"])(entry["params"])
    exact = Fraction(entry["value"])
    if isinstance(value, int):
        assert value == exact
    else:
        tolerance = TOLERANCES.get((entry["group"], entry["quantity"]), TOLERANCE)
        assert abs(Fraction(value) - exact) <= Fraction(tolerance) * abs(exact) + LEAST_NORMAL


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
def test_the_file_has_what_these_tests_are_for():
    groups = Counter(entry["group"] for entry in _entries())
    assert groups == {
        "cs_opt": 42,
        "cs_moment": 152,
        "cs_dist": 89,
        "ds_opt": 127,
        "ds_moment": 322,
        "ds_dist": 171,
        "gdl": 24,
        "ms": 7,
        "ar": 10,
        "ab": 6,
    }
