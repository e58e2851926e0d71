"""The arguments that a query refuses before it opens the data, the error messages, and the mechanism that a query chooses."""

import doctest
import inspect
import math
import sqlite3

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import query
from stairnoise.query.mechanism import MECHANISMS, OF_COUNTS, WITH_DELTA
from tests.interface.canaries import NUMBER, TEXT, leaks
from tests.query.persons import visits

COUNT = {"by": "city", "groups": ["a", "b"], "row_is_person": True, "eps": 1}
SUM = COUNT | {"column": "spent", "bounds": (0, 10)}


def without(name, arguments=COUNT):
    return {key: value for key, value in arguments.items() if key != name}


REFUSED = {
    "no list, no delta": (query.count, without("groups"), "groups of 'city' must be listed, or delta given"),
    "nobody said who": (query.count, without("row_is_person"), "row_is_person or person must be given"),
    "both said who": (query.count, COUNT | {"person": "who"}, "person must be left out with row_is_person"),
    "many groups of a row": (query.count, COUNT | {"max_groups": 2}, "max_groups must be 1 with row_is_person"),
    "no group at all": (query.count, COUNT | {"groups": []}, "groups of 'city' must be one or more"),
    "a group twice": (query.count, COUNT | {"groups": ["a", "a"]}, "listed once each"),
    "a text of groups": (query.count, COUNT | {"groups": "ab"}, "groups must be a dict|groups of 'city' must be a list"),
    "a group that is a list": (query.count, COUNT | {"groups": [["a"]]}, "strings, integers"),
    "groups of another column": (
        query.count,
        COUNT | {"groups": {"citi": ["a"]}},
        "columns of by, which are 'city'; got groups of 'citi'",
    ),
    "a column twice": (query.count, COUNT | {"by": ["city", "City"], "groups": {}}, "every column once"),
    "by of numbers": (query.count, COUNT | {"by": [1]}, r"by\[0\] must be a string"),
    "no eps": (query.count, COUNT | {"eps": 0}, "eps must be finite and greater than 0"),
    "an eps that is none": (query.count, COUNT | {"eps": math.nan}, "eps must be finite and greater than 0"),
    "an eps of text": (query.count, COUNT | {"eps": "1"}, "eps must be a real number"),
    "an unused delta": (query.count, COUNT | {"delta": 1e-6}, "delta must be left out"),
    "a delta of 1": (query.count, COUNT | {"delta": 1.0}, "delta must be greater than 0"),
    "a Gaussian without delta": (query.count, COUNT | {"mechanism": "discrete_gaussian"}, "delta must be given"),
    "a mechanism of reals": (query.count, COUNT | {"mechanism": "laplace"}, "did you mean 'discrete_laplace'"),
    "no confidence": (query.count, COUNT | {"confidence": 1}, r"confidence must be less than 1, got 1\.0"),
    "alpha": (query.count, COUNT | {"confidence": 0.05}, r"confidence must be from 0\.5 to 1, got 0\.05; did you mean 0\.95\?"),
    "too sure": (query.count, COUNT | {"confidence": 1 - 2.0**-53}, r"confidence must be at most 1 - 2\*\*-52"),
    "a guessable seed": (query.count, COUNT | {"rng": sn.SeededRng(1)}, "rng must be a SecureRng for a release"),
    "noise of labels alone": (
        query.count,
        COUNT | {"rng": sn.KeyedRng(bytes(32), "x", bind="label")},
        'rng must be a KeyedRng with bind="value"',
    ),
    "bounds the wrong way": (query.sum, SUM | {"bounds": (10, 0)}, "the lower one must come first"),
    "no bound above": (query.sum, SUM | {"bounds": (0, math.inf)}, "bounds must be finite"),
    "a bound that is none": (query.sum, SUM | {"bounds": (math.nan, 1)}, "bounds must be finite"),
    "three bounds": (query.sum, SUM | {"bounds": (1, 2, 3)}, "two numbers"),
    "a sum that may be negative": (query.sum, SUM | {"bounds": (-1, 1), "nonnegative": True}, "negative lower bound"),
    "no ledger": (query.count, COUNT | {"ledger": "ledger.db"}, "ledger must be a Ledger"),
}


@pytest.mark.parametrize(("ask", "arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_before_the_data_are_opened(tmp_path, ask, arguments, message):
    """The source does not exist, but every error is about the argument: the source was never opened."""
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=message) as caught:
        ask(tmp_path / "nowhere.db", "visits", **arguments)
    assert "\n" not in str(caught.value)


DATA = {
    "a table": ({"table": "visit"}, "did you mean 'visits'"),
    "a column": ({"by": "citty", "groups": ["a"]}, "did you mean 'city'"),
    "a summed column": ({"column": "spend"}, "did you mean 'spent'"),
    "a person": ({"person": "whom", "row_is_person": False}, "did you mean 'who'"),
    "a text to sum": ({"column": "city"}, "column must be of numbers"),
    "a condition": ({"where": "spent > (select 1)"}, "where"),
    "a condition that undoes the groups": ({"where": "1) or (1=1"}, "where"),
    "a comment": ({"where": "1 -- "}, "where"),
}


@pytest.mark.parametrize(("change", "message"), DATA.values(), ids=DATA)
def test_refused_with_the_data_open_and_without_any_of_them(change, message):
    con = visits({TEXT: 3, "b": 2})
    arguments = {"table": "visits", **SUM, **change}
    with pytest.raises(sn.StairnoiseError, match=message) as caught:
        query.sum(con, arguments.pop("table"), **arguments)
    assert not leaks(str(caught.value))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": {"city": [TEXT, TEXT]}}, "groups of 'city' must be listed once each, got one of them twice"),
        ({"groups": {"city": [NUMBER]}}, "groups of 'city' must be texts or None, .* got a value of type int at index 0"),
        ({"groups": {"city": ["a", [TEXT]]}}, "groups of 'city' must be .* got a value of type list at index 1"),
        ({"groups": {"city": TEXT}}, "groups of 'city' must be a list of values, or a range such as .* got a text"),
        ({"groups": {"city": {TEXT: 1}}}, "groups of 'city' must be a list of values, got a value of type dict"),
        ({"groups": TEXT, "by": ["city", "who"]}, "groups must be a dict of lists, .* got a value of type str"),
    ],
)
def test_groups_are_named_by_place(change, message):
    """Groups are labels from the data, so an error names their position only."""
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match=message) as caught:
        query.count(visits({"a": 2}), "visits", **COUNT | change)
    assert not leaks(str(caught.value))


def test_nothing_is_spent_on_what_is_refused(tmp_path):
    ledger = sn.Ledger(tmp_path / "ledger.db", budget=1.0)
    for change in ({"where": "1 -- "}, {"by": "nothing"}, {"eps": 1.5}):
        with pytest.raises(sn.StairnoiseError):
            query.count(visits({"a": 3}), "visits", **(COUNT | change), ledger=ledger)
    assert ledger.total() == 0


def drawn(table):
    return [one["draws"] for one in table.about["mechanisms"]]


@pytest.mark.parametrize("mechanism", [None, *MECHANISMS])
def test_every_mechanism_that_is_named_can_be_had(mechanism):
    """Every mechanism answers counts, and sums with 2 groups a person; the stated δ is the requested one."""
    con = visits({"a": 3})
    delta = 1e-6 if mechanism in WITH_DELTA else None
    counts = query.count(con, "visits", **COUNT | {"mechanism": mechanism, "delta": delta})
    assert counts.delta == (delta or 0)
    by_person = without("row_is_person", SUM) | {"person": "who", "max_groups": 2, "mechanism": mechanism, "delta": delta}
    if mechanism in OF_COUNTS:
        with pytest.raises(sn.ParameterError, match=f"mechanism must be one for sums: {mechanism!r} is for counts, got a sum"):
            query.sum(con, "visits", **by_person)
    else:
        assert query.sum(con, "visits", **by_person).delta == (delta or 0)


def test_mechanisms_are_those_that_compare_recommends():
    """Up to ε = 0.5, the geometric distribution is recommended; above it, the staircase. At Δ = 1 (counts) they are equal."""
    con = visits({"a": 3})
    assert drawn(query.count(con, "visits", **COUNT)) == ["DiscreteLaplace(eps=1.0, sensitivity=1)"]
    assert drawn(query.sum(con, "visits", **SUM)) == ["DiscreteStaircase(eps=1.0, sensitivity=10, r='l1')"]
    assert drawn(query.sum(con, "visits", **SUM | {"eps": 0.5})) == ["DiscreteLaplace(eps=0.5, sensitivity=10)"]
    by_person = without("row_is_person", SUM) | {"person": "who", "max_groups": 2}
    assert drawn(query.sum(con, "visits", **by_person)) == ["DiscreteLaplace(eps=0.5, sensitivity=10)"]
    assert drawn(query.sum(con, "visits", **SUM, mechanism="discrete_laplace")) == ["DiscreteLaplace(eps=1.0, sensitivity=10)"]


def test_a_person_changes_no_more_cells_than_there_are():
    """With two groups listed, max_groups=5 counts as 2. Groups that are not listed have no such limit."""
    con = visits({"a": 3})
    asked = {"by": "city", "person": "who", "max_groups": 5, "eps": 1}
    table = query.count(con, "visits", **asked, groups=["a", "b"])
    assert drawn(table) == ["DiscreteLaplace(eps=0.5, sensitivity=1)"]
    assert table.about["mechanisms"][0]["k"] == 2
    assert drawn(query.count(con, "visits", **asked | {"by": ()})) == ["DiscreteLaplace(eps=1.0, sensitivity=1)"]
    (unlisted,) = drawn(query.count(con, "visits", **asked, delta=1e-6))
    assert unlisted == "PartitionSelection(eps=1.0, delta=1e-06, max_partitions_contributed=5)"


def test_the_sensitivity_is_the_larger_bound_rounded_up_onto_the_unit():
    """Clipped totals are whole multiples of the unit within the bounds, so no clipped total exceeds Δ in units."""
    con = sqlite3.connect(":memory:")
    con.execute("create table t (x real)")
    for low, high in ((0, 0.1), (-3.7, 0.2), (1e-9, 2e-9), (0.1, 1e6 + 0.3), (-5, -1)):
        table = query.sum(con, "t", column="x", bounds=(low, high), row_is_person=True, eps=1)
        unit, change = table.about["statistics"][0]["unit"], table.about["mechanisms"][0]["sensitivity"]
        assert max(abs(low), abs(high)) <= change < max(abs(low), abs(high)) + unit


def test_whole_table_and_several_columns_and_names_that_clash():
    con = visits({"a": 3})
    assert list(query.count(con, "visits", row_is_person=True, eps=60)) == [(3, 0)]
    con.execute("create table t (count text, error_bound integer)")
    con.execute("insert into t values ('x', 1)")
    groups = {"error_bound": np.array([1, 2]), "count": ["x", "y"]}
    table = query.count(con, "t", by=["count", "error_bound"], groups=groups, row_is_person=True, eps=60)
    assert table.columns == ("count", "error_bound", "private_count", "private_error_bound")
    assert [row[:3] for row in table] == [("x", 1, 1), ("x", 2, 0), ("y", 1, 0), ("y", 2, 0)]
    assert table.headings == ("count", "error_bound", "private_count", "±")


def test_nonnegative_values_are_named_as_post_processing():
    con = visits({"a": 1})
    cities = [f"city {number}" for number in range(200)]
    table, plain = (
        query.count(
            con,
            "visits",
            by="city",
            groups=cities,
            row_is_person=True,
            eps=0.1,
            nonnegative=nonnegative,
            rng=sn.SeededRng(5, allow_release=True),
        )
        for nonnegative in (True, False)
    )
    assert list(table) == [(city, max(count, 0), bound) for city, count, bound in plain]
    assert min(row[1] for row in plain) < 0
    assert "post-processing: negative private counts were set to 0" in table.about["post_processing"][0]
    assert plain.about["post_processing"] == []


@pytest.mark.parametrize("groups", [{"groups": ["a"]}, {"delta": 0.01}, {"delta": 0.01, "max_groups": 10}])
def test_a_mean_has_an_interval_at_the_largest_confidence(groups):
    """Sum and count each get half the failure probability. That half vanishes beside 1 in float64, but the query must answer."""
    asked = {"by": "city", "column": "spent", "bounds": (0, 10), "person": "who", "eps": 4} | groups
    (row,) = query.mean(visits({"a": 500}), "visits", **asked, confidence=1 - 2.0**-52)
    assert row[3] <= 7 <= row[4]


@pytest.mark.parametrize(("bounds", "confidence"), [((0, 1e6), 0.5), ((0, 6), 0.95)])
def test_a_mean_of_nobody_says_so(bounds, confidence):
    """A noisy sum divided by a count near 0 can be any number: 3 000 groups without people, and one group of 500.

    The bound of a count is the smallest t with P(|X| > t) <= (1 - confidence)/2 at ε = 1, summed from the probabilities. A row of
    nobody has `may_be_empty` False only if its count exceeds t, which has less than half that probability. False alarms: 1e-9.
    """
    con = visits({"a": 500})
    groups = ["a", *(f"city {number}" for number in range(1000))]
    asked = {"by": "city", "groups": groups, "column": "spent", "bounds": bounds, "row_is_person": True, "eps": 2}
    decay = math.exp(-1)
    t = next(t for t in range(99) if 2 * decay ** (t + 1) / (1 + decay) <= (1 - confidence) / 2)
    certain = 0
    for seed in range(3):
        generators = [sn.SeededRng(seed, allow_release=True) for _ in range(2)]
        table = query.mean(con, "visits", **asked, confidence=confidence, rng=generators[0])
        assert table.columns == ("city", "mean", "error_bound", "low", "high", "may_be_empty")
        somebody, *nobody = (row[1:] for row in table)
        assert somebody[4] is False
        assert all(low < high for _, _, low, high, _ in nobody)
        assert "-0.0" not in table.to_csv()
        # The count draws first from the seed, then the sum.
        counts = sn.DiscreteLaplace(1).release([500] + [0] * 1000, rng=generators[1])[1:]
        assert [row[4] for row in nobody] == [bool(count - t < 1) for count in counts]
        assert all((low, high) == bounds for count, (_, _, low, high, _) in zip(counts, nobody, strict=True) if count + t < 1)
        certain += sum(not row[4] for row in nobody)
    share = (1 - confidence) / 4
    assert certain <= 3000 * share + 6 * math.sqrt(3000 * share)


@pytest.mark.parametrize("name", query.__all__)
def test_public_names_are_documented_and_their_examples_run(name):
    thing = getattr(query, name)
    assert inspect.getdoc(thing)
    assert thing.__module__.removeprefix("stairnoise.query") in ("", ".ask", ".compiled", ".find_bounds")
    for test in doctest.DocTestFinder().find(thing, name, module=False):
        assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"table": "t\ud800"}, "table must be text that UTF-8 can hold"),
        ({"by": "a\udfff"}, "by\\[0\\] must be text that UTF-8 can hold"),
        ({"by": "city", "groups": ["a", "b\udc80"]}, "groups of 'city' must be texts that UTF-8 can hold, .* at index 1"),
        ({"where": "city = '\ud800'"}, "where must be text that UTF-8 can hold"),
        ({"person": "\ud800", "row_is_person": False}, "person must be text that UTF-8 can hold"),
    ],
)
def test_a_lone_surrogate_is_refused_by_the_name_of_the_argument(changed, text):
    with pytest.raises(sn.ParameterError, match=text):
        query.count(visits({"a": 1}), **{"table": "visits", "row_is_person": True, "eps": 1, **changed})


@pytest.mark.parametrize(
    ("ask", "arguments", "text"),
    [
        (query.mean, {"eps": 1e-9}, "eps and bounds must leave noise that fits 64-bit integers, got 1e-09 and (0.0, 10.0), of"),
        (query.sum, {"eps": 1e-9}, "eps and bounds must leave noise that fits 64-bit integers, got 1e-09 and (0.0, 10.0), of"),
        (query.mean, {"eps": 1e-12}, "eps must leave noise that fits 64-bit integers, got 1e-12"),
    ],
)
def test_noise_that_does_not_fit_is_refused_in_the_words_of_the_question(ask, arguments, text):
    """The error names ε, bounds and unit as the caller gave them, not the ε of half a mean or the sensitivity in units."""
    table = sqlite3.connect(":memory:")
    table.execute("create table visits (spent real)")
    with pytest.raises(sn.ParameterError) as caught:
        ask(table, "visits", column="spent", bounds=(0, 10), row_is_person=True, **arguments)
    assert str(caught.value).startswith(text)
    assert "sensitivity" not in str(caught.value)
