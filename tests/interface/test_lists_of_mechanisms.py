"""Docstrings that list mechanisms agree with the behaviour of the registry's mechanisms.

Evidence: exact outcomes.
"""

import inspect
import re

import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.mechanism import MECHANISMS, OF_COUNTS, WITHOUT_DELTA
from stairnoise.registry import ROWS

CLASSES = {row.class_name for row in ROWS}


def classes(text):
    """Return the mechanisms that a text names in backticks."""
    return {name for name in re.findall(r"`(\w+)`", text) if name in CLASSES}


def entry(method, name):
    """Return a docstring's text about one parameter."""
    found = re.search(rf"^{name} : .*\n((?: {{4}}.*\n)+)", inspect.getdoc(method), re.MULTILINE)
    assert found, name
    return found[1]


def takes_a_sensitivity(row):
    try:
        row.mechanisms()[0].guarantee(2)
    except sn.ParameterError:
        return False
    return True


def is_divided(row):
    try:
        row.mechanisms()[0].for_partitions(2)
    except sn.ParameterError:
        return False
    return True


@pytest.mark.parametrize("name", ["guarantee", "privacy_loss"])
def test_who_takes_a_sensitivity(name):
    takers = {row.class_name for row in ROWS if takes_a_sensitivity(row)}
    assert classes(entry(getattr(sn.Laplace, name), "sensitivity")) == takers


def test_who_divides_no_budget():
    left = {row.class_name for row in ROWS if not is_divided(row)}
    assert classes(entry(sn.Laplace.guarantee, "max_partitions_contributed")) == left
    raises = inspect.getdoc(sn.Laplace.for_partitions).split("Raises")[1].split("Examples")[0]
    assert classes(raises) == left


# The texts in the table of `for_partitions` about parameters, for mechanisms that it does not name.
BY_PARAMETERS = {False: "an ε and no δ", True: "an ε and a δ"}


def division(mechanism, k=3):
    """Return the beginning of the entry about a mechanism's parameters in the table of `for_partitions`."""
    divided = mechanism.for_partitions(k)
    if getattr(mechanism, "_calibration", None) is not None or isinstance(mechanism, sn.Gaussian):
        return "the same (ε, δ)"
    for name in ("sigma2", "mu"):
        if hasattr(mechanism, name):
            assert getattr(divided, name) == k * getattr(mechanism, name)
            return f"``k * {name}``, rounded up"
    if hasattr(mechanism, "breakpoints"):
        return "all rates divided by k"
    assert divided.eps == pytest.approx(mechanism.eps / k)
    if not hasattr(mechanism, "delta"):
        return "``eps/k``, rounded down"
    assert divided.delta == pytest.approx(mechanism.delta / k)
    return "``eps/k`` and ``delta/k``, rounded down"


def test_how_a_budget_is_divided():
    rows = []
    for line in inspect.getdoc(sn.Laplace.for_partitions).split("=\n")[1].splitlines():
        left, _, right = line.removeprefix("    ").partition("  ")
        if left and right.strip():
            rows.append(([], right.strip()))
        if left:
            rows[-1][0].append(left)
    stated = {" ".join(left): text for left, text in rows}
    mechanisms = [row.mechanisms()[0] for row in ROWS if is_divided(row)]
    mechanisms += [sn.DiscreteGaussian.from_eps(1, 1e-6), sn.Skellam.from_eps(1, 1e-6)]
    named = 0
    for mechanism in mechanisms:
        own = [text for left, text in stated.items() if type(mechanism).__name__ in classes(left)]
        texts = own or [stated[BY_PARAMETERS[hasattr(mechanism, "delta")]]]
        assert sum(text.startswith(division(mechanism)) for text in texts) == 1, mechanism
        named += bool(own)
    # No other mechanism is named in the table.
    assert named == sum(len(classes(left)) for left in stated)


def test_which_mechanisms_a_query_takes():
    text = entry(query.count, "mechanism")
    assert sorted(re.findall(r'"(\w+)"', text)) == sorted(MECHANISMS)
    pure, with_delta = text.split("with a `delta`")
    assert sorted(re.findall(r'"(\w+)"', pure)) == sorted(WITHOUT_DELTA)
    assert sorted(re.findall(r'"(\w+)"', with_delta.split("for counts only")[1])) == sorted(OF_COUNTS)
