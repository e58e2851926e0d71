"""The site's MathML has TeX's space around operators, long session output breaks, and numbers do not.

Evidence: examples of each rule.
"""

import re

import pytest

pytest.importorskip("docutils", reason="the group `docs` is not installed")

import mathml
import sessions
import unbroken
from docutils import nodes, utils


def inside(tex: str) -> str:
    """Return a formula's MathML inside the outermost elements."""
    found = re.fullmatch("<math[^>]*><mrow>(.*)</mrow></math>", mathml.formula(tex, "inline"))
    assert found is not None
    return found[1]


@pytest.mark.parametrize("relation", "≤≥∈≈∝±·")
def test_a_relation_is_an_operator(relation: str) -> None:
    assert inside(f"x {relation} y") == f"<mi>x</mi><mo>{relation}</mo><mi>y</mi>"


@pytest.mark.parametrize(("bars", "sign"), [("|x|", "&#x0007C;"), (r"\lvert x\rvert", "&#x0007C;"), ("‖x‖", "‖")])
def test_no_space_inside_of_bars(bars: str, sign: str) -> None:
    bar = f'<mo stretchy="false" lspace="0" rspace="0">{sign}</mo>'
    assert inside(bars) == f"{bar}<mi>x</mi>{bar}"


def test_brackets_of_rounding_are_brackets() -> None:
    assert inside("⌊x⌋ ⌈y⌉") == "".join(
        f'<mo stretchy="false">{part}</mo>' if part in "⌊⌋⌈⌉" else f"<mi>{part}</mi>" for part in "⌊x⌋⌈y⌉"
    )


def test_a_function_stands_apart() -> None:
    space = '<mspace width="0.167em"/>'
    assert inside(r"2 \ln x") == f"<mn>2</mn>{space}<mi>ln</mi>{space}<mi>x</mi>"
    assert inside(r"c \log_2 g").count(space) == 2
    assert inside(r"\max(0, -\ln(x))").count(space) == 0
    assert inside(r"\max(x)") == '<mi>max</mi><mo stretchy="false">&#x00028;</mo><mi>x</mi><mo stretchy="false">&#x00029;</mo>'


def test_a_name_is_one_identifier() -> None:
    assert inside(r"\mathrm{Var}[X]").startswith("<mi>Var</mi><mo")


def test_a_prime_is_beside_its_letter() -> None:
    prime = '<mo stretchy="false" lspace="0" rspace="0">&#x02032;</mo>'
    assert inside("x'") == f"<mrow><mi>x</mi>{prime}</mrow>"
    assert inside("x_i'") == f"<mrow><msub><mi>x</mi><mi>i</mi></msub>{prime}</mrow>"


def test_no_space_around_a_slash() -> None:
    assert inside("a/b") == '<mi>a</mi><mo stretchy="false" lspace="0" rspace="0">&#x0002F;</mo><mi>b</mi>'


def test_a_sign_is_no_difference() -> None:
    assert inside("f(-p, -q) = -x ≤ -y < -z").count('<mo form="prefix">&#x02212;</mo>') == 5
    assert inside("(a - b)").count("form=") == 0


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        (">>> print(mechanism.guarantee())\nGuarantee: one value", True),
        (">>> f(a,  b)\n[1.0, 2.0]", True),
        (">>> for x in y:\n...     print(x)\n1", True),
        (">>> table\na    1\nbc  20", False),
        ("$ stairnoise plot", False),
    ],
)
def test_output_breaks_unless_it_is_a_table(session: str, expected: bool) -> None:
    assert sessions.breaks(session) is expected


def test_brackets_and_commas_are_kept_with_a_formula() -> None:
    tree = utils.new_document("page")
    tree += nodes.paragraph("", "", nodes.Text("so (a "), nodes.math("", "x"), nodes.Text("), and ("), nodes.math("", "y"))
    mathml._keep(None, tree, "page")
    assert [(node.get("before"), node.get("after")) for node in tree.findall(nodes.math)] == [(None, "),"), ("(", None)]
    assert tree.astext() == "so (a x and y"


def test_parts_of_a_formula_stand_below_each_other_where_there_is_no_room() -> None:
    assert mathml.statements(r"a, \quad b \qquad c") == ["a, ", " b ", " c"]
    assert mathml.statements(r"\frac{a \quad b}{c}") == [r"\frac{a \quad b}{c}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("of 32 561 persons", "of 32_561 persons"),
        ("10 000 000 rows", "10_000_000 rows"),
        ("95 % of releases", "95_% of releases"),
        ("in 2026 100 times", "in 2026 100 times"),
        ("0, 20, 40 and 12 1234", "0, 20, 40 and 12 1234"),
    ],
)
def test_a_number_is_on_one_line(text: str, expected: str) -> None:
    tree = utils.new_document("page")
    tree += nodes.paragraph("", "", nodes.Text(text), nodes.literal("", text))
    unbroken._keep(None, tree)
    assert [node.astext().replace("\N{NO-BREAK SPACE}", "_") for node in tree.findall(nodes.Text)] == [expected, text]
