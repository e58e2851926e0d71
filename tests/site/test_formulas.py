"""MathML of the site's formulas has the space that TeX leaves around operators, and long output of a session breaks.

Evidence: the rules, by examples.
"""

import re

import pytest

pytest.importorskip("docutils", reason="the group `docs` is not installed")

import mathml
import sessions


def inside(tex: str) -> str:
    """The MathML of a formula, without the outermost elements."""
    found = re.fullmatch("<math[^>]*><mrow>(.*)</mrow></math>", mathml.formula(tex, "inline"))
    assert found is not None
    return found[1]


@pytest.mark.parametrize("relation", "≤≥∈≈∝")
def test_a_relation_is_an_operator(relation: str) -> None:
    assert inside(f"x {relation} y") == f"<mi>x</mi><mo>{relation}</mo><mi>y</mi>"


@pytest.mark.parametrize("bars", ["|x|", r"\lvert x\rvert"])
def test_no_space_inside_of_bars(bars: str) -> None:
    bar = '<mo stretchy="false" lspace="0" rspace="0">&#x0007C;</mo>'
    assert inside(bars) == f"{bar}<mi>x</mi>{bar}"


def test_no_space_around_a_slash() -> None:
    assert inside("a/b") == '<mi>a</mi><mo stretchy="false" lspace="0" rspace="0">&#x0002F;</mo><mi>b</mi>'


def test_a_sign_is_no_difference() -> None:
    assert inside("f(-p, -q) = -x").count('<mo form="prefix">&#x02212;</mo>') == 3
    assert inside("(a - b)").count("form=") == 0


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        (">>> print(law.guarantee())\nGuarantee: one value", True),
        (">>> f(a,  b)\n[1.0, 2.0]", True),
        (">>> for x in y:\n...     print(x)\n1", True),
        (">>> table\na    1\nbc  20", False),
        ("$ stairnoise plot", False),
    ],
)
def test_output_breaks_unless_it_is_a_table(session: str, expected: bool) -> None:
    assert sessions.breaks(session) is expected


def test_parts_of_a_formula_stand_below_each_other_where_there_is_no_room() -> None:
    assert mathml.statements(r"a, \quad b \qquad c") == ["a, ", " b ", " c"]
    assert mathml.statements(r"\frac{a \quad b}{c}") == [r"\frac{a \quad b}{c}"]
