"""``compare(releases=k)``: every mechanism is calibrated and sorted by error, and the text agrees with the numbers."""

import copy
import math
import pickle
import re

import pytest

import stairnoise as sn

USUAL = ["Staircase", "Laplace", "Gaussian", "DiscreteStaircase", "DiscreteLaplace", "DiscreteGaussian"]


@pytest.fixture(scope="module")
def table():
    return sn.compare(4, 3, delta=1e-6, releases=10, cost="l2", mechanisms=USUAL)


def test_rows_are_calibrated_and_sorted(table):
    assert sorted(row.name for row in table) == sorted(USUAL)
    squares = [row.std**2 for row in table]
    assert squares == sorted(squares)
    for row in table:
        mechanism = sn.calibrate(getattr(sn, row.name), eps=4, delta=1e-6, releases=10, sensitivity=3, cost="l2")
        assert row.mechanism == mechanism
        assert row.mean_abs == mechanism.abs_moment(1)
        assert row.bound_95 == mechanism.error_bound(0.95)
        assert (row.p_zero is None) is not row.name.startswith("Discrete")
        baseline = table["DiscreteLaplace" if row.name.startswith("Discrete") else "Laplace"]
        assert row.ratio == pytest.approx(mechanism.var() / baseline.mechanism.var(), rel=1e-12)


def test_the_cost_decides_the_order_and_the_stair():
    wide = sn.compare(30, 1, delta=1e-6, releases=20, cost="l1", mechanisms=["Staircase"])["Staircase"]
    tall = sn.compare(30, 1, delta=1e-6, releases=20, cost="l2", mechanisms=["Staircase"])["Staircase"]
    assert wide.mean_abs < tall.mean_abs
    assert wide.std > tall.std


@pytest.mark.slow
def test_without_names_the_mechanisms_of_compare():
    for delta in (None, 1e-5):
        found = {row.name for row in sn.compare(1, delta=delta, releases=2)}
        assert found == {type(row.mechanism).__name__ for row in sn.compare(1, delta=delta)}


def test_names_of_lines_stand_for_their_class():
    table = sn.compare(1, releases=4, mechanisms=["Staircase l1", "Laplace", "Staircase l2"])
    assert [row.name for row in table] == ["Staircase", "Laplace"]
    assert table["Laplace"].mechanism == sn.Laplace(0.25)


def test_what_cannot_be_calibrated_is_left_out():
    table = sn.compare(1, 0.5, delta=1e-6, releases=2, mechanisms=["Laplace", "DiscreteLaplace"])
    assert [row.name for row in table] == ["Laplace"]
    assert table.notes == ("Left out: DiscreteLaplace; sensitivity must be a whole number for a discrete mechanism, got 0.5",)
    table = sn.compare(1, releases=2, mechanisms=["Laplace", "Gaussian"])
    assert table.notes == ("Left out: Gaussian; delta must be given for a mechanism that has no pure guarantee, got None",)


def test_recommendation(table):
    text = table.recommendation
    assert text.startswith("With each of these, 10 releases together are (4, 1e-06)-differentially private.")
    found = re.search(
        r"For real numbers choose (\w+): its variance is ([\d.]+) % below Laplace's\. For integers choose (\w+)", text
    )
    real = min((row for row in table if row.p_zero is None), key=lambda row: row.std)
    whole = min((row for row in table if row.p_zero is not None), key=lambda row: row.std)
    assert found.group(1) == real.name
    assert float(found.group(2)) == float(f"{100 * (1 - real.ratio):.2g}")
    assert math.isclose(table[found.group(3)].std, whole.std, rel_tol=1e-3)
    assert "one release is 1-differentially" in sn.compare(1, releases=1, mechanisms=["Laplace"]).recommendation
    assert sn.compare(1, releases=3, mechanisms=["Laplace"]).recommendation.endswith("For real numbers choose Laplace.")


def test_values(table):
    assert (table.eps, table.sensitivity, table.delta, table.cost, table.releases) == (4, 3, 1e-6, "l2", 10)
    assert sn.compare(1).releases is None
    few = sn.compare(1, releases=3, mechanisms=["Laplace"])
    for twin in (copy.copy(few), pickle.loads(pickle.dumps(few))):
        assert twin == few
        assert repr(twin) == repr(few)
    assert few != sn.compare(1, releases=4, mechanisms=["Laplace"])
    assert "E X² ratio" in repr(table)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"releases": 0}, sn.ParameterError, "releases must be an integer from 1 to 2**20, got 0"),
        ({"releases": 1.0}, sn.ParameterTypeError, "releases must be an integer, got 1.0"),
        ({"releases": True}, sn.ParameterTypeError, "releases must be an integer, got True"),
        ({"releases": 2, "dim": 3}, sn.ParameterError, "releases must be None for a vector or a choice, got 2"),
        ({"releases": 2, "costs": [1, 2]}, sn.ParameterError, "releases must be None for a vector or a choice, got 2"),
        ({"releases": 2, "mechanisms": ["Cauchy"]}, sn.ParameterError, "mechanisms must be out of Staircase, "),
        ({"releases": 2, "mechanisms": []}, sn.ParameterError, "mechanisms must have at least one name, got []"),
        ({"releases": 2, "mechanisms": ["Gaussian"]}, sn.ParameterError, "delta must be given for a mechanism"),
    ],
)
def test_bad_input(arguments, error, text):
    with pytest.raises(error) as caught:
        sn.compare(1, **arguments)
    assert str(caught.value).startswith(text)


# Several values of one person


def test_one_person_changes_several_values():
    """Each row has the mechanism that `release` would draw from, and its errors; the baseline changes several too."""
    table = sn.compare(2, 3, delta=1e-6, max_partitions_contributed=4)
    for row in sn.compare(2, 3, delta=1e-6):
        several = table[row.name]
        assert several.mechanism == row.mechanism.for_partitions(4)
        assert several.mean_abs == several.mechanism.abs_moment(1)
    assert table["Gaussian"].ratio == pytest.approx(table["Gaussian"].mean_abs / table["Laplace"].mean_abs)
    assert table.recommendation.startswith("With each of these, 4 values of one person together are (2, 1e-06)-")
    assert pickle.loads(pickle.dumps(table)) == table != sn.compare(2, 3, delta=1e-6)
    assert sn.compare(1, max_partitions_contributed=1) == sn.compare(1)


def test_releases_of_several_values_are_that_many_releases():
    some = ["Laplace", "Gaussian"]
    table = sn.compare(2, delta=1e-6, releases=5, max_partitions_contributed=3, mechanisms=some)
    assert [row[:6] for row in table] == [row[:6] for row in sn.compare(2, delta=1e-6, releases=15, mechanisms=some)]
    assert (table.releases, table.max_partitions_contributed) == (5, 3)
    assert "5 releases of 3 values of one person together are" in table.recommendation
    assert pickle.loads(pickle.dumps(table)) == table


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "an integer from 1 to 2**53 - 1, got 0"),
        ({"max_partitions_contributed": 2, "dim": 3}, "1 for a vector or a choice, got 2"),
        ({"max_partitions_contributed": 2, "costs": [1, 2]}, "1 for a vector or a choice, got 2"),
        ({"max_partitions_contributed": 2, "releases": 2**20}, "1, got 2"),
    ],
)
def test_other_numbers_of_values(arguments, text):
    with pytest.raises(sn.ParameterError) as caught:
        sn.compare(1, **{"max_partitions_contributed": 0} | arguments)
    assert str(caught.value).startswith("max_partitions_contributed must be ")
    assert text in str(caught.value)
    assert "Arete" in sn.compare(1, mechanisms=["Arete", "Laplace"], max_partitions_contributed=2).notes[0]
