"""Roots of predicates and of functions agree with known roots."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stairnoise.numerics import roots

INTEGERS = st.integers(min_value=-(2**70), max_value=2**70)
FLOATS = st.floats(min_value=0, max_value=1e300, exclude_min=True)


@given(INTEGERS, st.integers(min_value=1, max_value=2**70), st.integers(min_value=0, max_value=2**70))
def test_least_integer(below, ahead, beyond):
    root, asked = below + ahead, []
    assert roots.least_integer(lambda n: asked.append(n) or n >= root, below, root + beyond) == root
    assert all(below < n < root + beyond for n in asked)
    assert len(asked) <= 1 + math.ceil(math.log2(ahead + beyond))


@given(FLOATS, FLOATS)
def test_least_float(x, y):
    root, high = sorted((x, y))
    assert roots.least_float(lambda z: z >= root, 0.0, high) == root


def test_least_float_of_the_smallest():
    assert roots.least_float(lambda z: z > 0, 0.0, 1.0) == 5e-324


@given(st.lists(st.tuples(st.integers(1, 2**40), st.integers(0, 2**40)), min_size=1))
def test_least_integers(cases):
    root, beyond = np.array(cases, dtype=np.float64).T
    asked = []

    def holds(n):
        asked.append(n)
        return n >= root

    found = roots.least_integers(holds, np.zeros(root.size), root + beyond)
    assert found.tolist() == root.tolist()
    assert all(((n >= 1) & (n <= root + beyond)).all() for n in asked)


@given(FLOATS, FLOATS)
def test_bisection_ends_where_no_number_is_between(x, y):
    root, high = sorted((x, y))
    assert roots.bisection(lambda z: z >= root, 0.0, high) == root


def test_bisection_of_the_smallest_bracket():
    assert roots.bisection(lambda x: False, 0.0, 5e-324) == 5e-324


def test_bisection_to_a_precision():
    asked = []
    found = roots.bisection(lambda x: asked.append(x) or x > 3.0, 2.0**-20, 2.0**90, relative=1e-9, geometric=True)
    assert 3.0 < found < 3.0 * (1 + 1e-9)
    assert len(asked) < 40


def test_bisections_do_each_element_for_itself():
    root = np.geomspace(1e-10, 0.9, 50)
    found = roots.bisections(lambda x: x >= root, np.zeros(50), np.ones(50), 100)
    assert found.tolist() == root.tolist()


def test_newton_with_steps_that_leave_the_bracket():
    """Far from the arc tangent's root, Newton's steps grow."""
    root = np.array([-3.0, 0.5, 8.0])
    found = roots.newton(lambda x: (np.arctan(x - root), 1 / (1 + (x - root) ** 2)), np.full(3, 9.5), -10.0, 10.0, 1e-8)
    assert found == pytest.approx(root, abs=1e-14)


@pytest.mark.parametrize("function", [lambda x: math.log(5) - x, lambda x: 5 - math.exp(x), lambda x: math.exp(-x) - 0.2])
def test_secants(function):
    asked = []
    found = roots.secants(lambda x: asked.append(x) or function(x), (-2.0, function(-2.0)), (6.0, function(6.0)), 1e-14)
    assert found == pytest.approx(math.log(5), rel=1e-13)
    assert len(asked) < 40


def test_secants_of_a_bracket_without_a_number_inside():
    after = math.nextafter(1.0, 2.0)
    assert roots.secants(lambda x: 0.0, (1.0, 1.0), (after, -1.0), 1e-14) == after


@pytest.mark.parametrize("root", [0.0137, 0.5, 1.9])
@pytest.mark.parametrize("apart", [2.0**-44, 1e-10, 0.1])
def test_bisection_after_secants_ends_where_it_would_have_ended(root, apart):
    asked = []

    def function(x):
        asked.append(x)
        return math.expm1(3 * (x - root))

    expected = roots.bisection(lambda x: not function(x) < 0, 0.001, 2.0)
    plain, asked[:] = len(asked), []
    holds = roots.Rising(function)
    holds.close_in(0.001, 2.0, apart)
    assert roots.bisection(holds, 0.001, 2.0) == expected
    assert len(asked) < (0.75 * plain if apart < 0.01 else 2 * plain)


def test_secants_that_find_no_root_leave_the_bisection_alone():
    holds = roots.Rising(lambda x: math.nan if x == 1 else x - 1.25)
    holds.close_in(1.0, 2.0, 1e-10)
    assert roots.bisection(holds, 1.0, 2.0) == 1.25
