"""Private values are printed to the third digit of their bound, and the printed bound holds for the printed number.

Evidence: exact fractions of the printed texts, against the values of the same seed with all digits.
"""

import csv
import io
import json
import math
import sqlite3
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stairnoise as sn
from stairnoise import query
from stairnoise._digits import at_least, at_most, decimals, fixed, last_digit, private_value

CITIES = ["Oslo", "Paris", "Rome"]


@pytest.fixture(scope="module")
def con():
    con = sqlite3.connect(":memory:")
    con.execute("create table people (city text, salary real, age integer)")
    con.executemany("insert into people values (?, ?, ?)", [(CITIES[n % 2], 12_345.678 + n, n % 90) for n in range(400)])
    return con


def ask(statistic, con, seed, **asked):
    rng = sn.SeededRng(seed, allow_release=True)
    return getattr(query, statistic)(con, "people", by="city", groups=CITIES, row_is_person=True, rng=rng, **asked)


def digits_of(text):
    """Return the number of significant digits, not counting trailing zeros."""
    return len(Decimal(text).normalize().as_tuple().digits)


QUESTIONS = [
    ("sum", {"column": "salary", "bounds": (0, 100_000), "eps": 1}),
    ("sum", {"column": "salary", "bounds": (0, 0.037), "eps": 0.3}),
    ("sum", {"column": "age", "bounds": (0, 100), "eps": 0.01}),
    ("sum", {"column": "age", "bounds": (0, 2**40), "eps": 1}),
    ("count", {"eps": 1e-4}),
    ("count", {"eps": 1}),
]


@pytest.mark.parametrize(("statistic", "asked"), QUESTIONS)
def test_printed_values_are_within_printed_bounds(con, statistic, asked):
    """The drawn value's bound plus its distance from the printed value is at most the printed bound."""
    for seed in range(20):
        fine, table = (ask(statistic, con, seed, all_digits=wanted, **asked) for wanted in (True, False))
        texts = list(csv.reader(io.StringIO(table.to_csv())))[1:]
        for (_, value, bound), (_, shown, shown_bound), (_, text, text_bound) in zip(fine, table, texts, strict=True):
            for printed, limit in ((shown, shown_bound), (Decimal(text), Decimal(text_bound))):
                assert abs(Fraction(printed) - Fraction(value)) + Fraction(bound) <= Fraction(limit)
            assert digits_of(text_bound) <= 4
            place = last_digit(Fraction(bound))
            assert Fraction(Decimal(text)) % place == 0 or type(shown) is int
            assert Fraction(limit) < Fraction(bound) + 2 * place
            assert type(shown) is type(value)
            assert type(shown_bound) is type(bound)


@pytest.mark.parametrize(
    "asked", [{"bounds": (0, 100_000), "eps": 1}, {"bounds": (-7, 0.37), "eps": 5}, {"bounds": (3, 3.1), "eps": 1}]
)
def test_the_interval_of_a_mean_is_rounded_outwards(con, asked):
    for seed in range(20):
        fine, table = (ask("mean", con, seed, column="salary", all_digits=wanted, **asked) for wanted in (True, False))
        for (_, _, bound, low, high, empty), (_, shown, shown_bound, shown_low, shown_high, _) in zip(fine, table, strict=True):
            assert asked["bounds"][0] <= shown_low <= low <= high <= shown_high <= asked["bounds"][1]
            assert shown_low <= shown <= shown_high
            assert Fraction(shown) + Fraction(shown_bound) >= Fraction(high)
            assert Fraction(shown) - Fraction(shown_bound) <= Fraction(low)
            place = last_digit(Fraction(bound))
            assert shown_high - shown_low <= high - low + 2 * place
            assert shown_bound <= bound + 2 * place
            assert empty in (True, False)


def test_every_way_out_has_the_rounded_values(con, tmp_path):
    pytest.importorskip("pyarrow")
    table = ask("sum", con, 1, column="salary", bounds=(0, 100_000), eps=1)
    rows = [(city, value, bound) for city, value, bound in table]
    assert all(value % 1000 == 0 for _, value, _ in rows)
    assert [tuple(row.values()) for row in json.loads(table.to_json())["rows"]] == rows
    assert [tuple(row.values()) for row in table.to_arrow().to_pylist()] == rows
    assert [tuple(row) for row in table.to_pandas().values.tolist()] == rows
    assert "." not in repr(table).split("Protected")[0]
    (said,) = table.about["post_processing"]
    assert said.startswith("post-processing: numbers are rounded to the third digit of their error bound")
    assert table.about["statistics"][0]["unit"] == 2.0**-14


def test_whole_numbers_with_few_digits_are_as_they_were_drawn(con):
    fine, table = (ask("count", con, 3, eps=1, all_digits=wanted) for wanted in (True, False))
    assert list(fine) == list(table)
    assert table.about["post_processing"] == []


@given(st.integers(-(2**62), 2**62), st.integers(-100, 40), st.integers(1, 2**62))
def test_a_bound_holds_for_the_float(steps, exponent, width):
    step = Fraction(2) ** exponent
    exact, bound = steps * step, width * step
    for digit in (last_digit(bound), Fraction(0)):
        value, limit = private_value(exact, step, bound, digit)
        assert (
            abs(Fraction(value) - exact) + bound
            <= Fraction(limit)
            <= (bound + digit) * (1 + Fraction(1, 50)) + abs(exact) / 2**50
        )


@given(st.floats(allow_nan=False, allow_infinity=False, width=32))
def test_limits_with_four_digits(number):
    assert float(at_least(number)) <= number <= float(at_most(number))
    assert math.isclose(float(at_least(number)), float(at_most(number)), rel_tol=2e-3)
    assert float(fixed(number, decimals(number))) == number
