"""Reference values of 22 to 30 digits, computed elsewhere in arbitrary precision.

The file is not part of the project; where it is absent these tests are skipped, and say so.
"""

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import stairnoise as sn

FILE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "values.json"
TOLERANCE = 1e-12
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


def selection(params):
    mechanism = sn.StaircaseSelection(
        number(params["eps"]), number(params["Dc"]), number(params["gamma"]), monotonic=not params["eps_halved"]
    )
    return mechanism.probabilities([number(cost) for cost in params["costs"].split()])[int(params["candidate"])]


CHECKS = {
    ("ab", "prob"): selection,
    ("cs", "gamma_l1"): lambda p: continuous(p | {"gamma": "opt_l1"}).gamma,
    ("cs", "gamma_l2"): lambda p: continuous(p | {"gamma": "opt_l2"}).gamma,
    ("cs", "V1"): lambda p: continuous(p | {"gamma": "opt_l1"}).abs_moment(1),
    ("cs", "V2"): lambda p: continuous(p | {"gamma": "opt_l2"}).var(),
    ("cs", "gain_l1_over_laplace"): _gain("l1", 1),
    ("cs", "gain_l2_over_laplace"): _gain("l2", 2),
    ("cs", "E|X|"): lambda p: continuous(p).abs_moment(1),
    ("cs", "E X^2"): lambda p: continuous(p).var(),
    ("cs", "E|X|^p"): lambda p: continuous(p).abs_moment(number(p["p"])),
    ("cs", "abs_quantile_0.95"): lambda p: continuous(p).error_bound(0.05),
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
    ("ds", "abs_quantile_0.95"): lambda p: discrete(p).error_bound(0.05),
    ("ds", "P(0)"): lambda p: discrete(p).pmf(0),
    ("ds", "entropy_nats"): lambda p: discrete(p).entropy(),
    ("ds", "pmf"): lambda p: discrete(p).pmf(number(p["i"])),
    ("ds", "cdf"): lambda p: discrete(p).cdf(number(p["i"])),
    ("ds", "sf"): lambda p: discrete(p).sf(number(p["i"])),
    ("ds", "ppf"): lambda p: discrete(p).ppf(number(p["u"])),
}


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
@pytest.mark.parametrize("entry", _entries(), ids=lambda entry: entry["id"])
def test_reference_value(entry):
    value = checker(entry["group"], entry["quantity"])(entry["params"])
    exact = Fraction(entry["value"])
    if isinstance(value, int):
        assert value == exact
    else:
        assert abs(Fraction(value) - exact) <= Fraction(TOLERANCE) * abs(exact) + LEAST_NORMAL


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is absent")
def test_the_file_has_what_these_tests_are_for():
    groups = Counter(entry["group"] for entry in _entries())
    assert groups == {"ab": 6, "cs_opt": 42, "cs_moment": 152, "cs_dist": 89, "ds_opt": 127, "ds_moment": 322, "ds_dist": 171}
