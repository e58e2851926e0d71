"""scripts/mutants_at_once.py makes mutants branches of one program, or compiles them separately."""

import pytest

pytest.importorskip("tree_sitter_rust", reason="needs tree-sitter and tree-sitter-rust")

import tree_sitter
import tree_sitter_rust

from scripts import mutants_at_once as at_once

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))


def switched(source: str, *mutants: tuple[str, str, str]) -> str:
    """Return the source with the mutants (genre, changed text, replacement) as branches."""
    made = []
    for number, (genre, changed, replacement) in enumerate(mutants):
        start = source.index(changed)
        before = source[:start]
        points = [(text.count("\n") + 1, len(text) - text.rfind("\n")) for text in (before, before + changed)]
        mutant = at_once.Mutant(number, "", "", genre, replacement, (points[0], points[1]))
        made.append(at_once.switch(mutant, source.encode(), PARSER.parse(source.encode())))
    return at_once.written(source.encode(), [switch for switch in made if switch]).text.decode()


def test_an_operator_is_a_branch_around_all_that_may_bind_otherwise() -> None:
    """Evidence: `a + b * c` with a product instead of the sum is `a * b * c`."""
    found = switched("fn f() -> u8 {\n    g(a + b * c)\n}", ("BinaryOperator", "+", "*"), ("BinaryOperator", "*", "-"))
    first, second = "if crate::mutants::on(0) { a * b * c }", "if crate::mutants::on(1) { a + b - c }"
    assert found == f"fn f() -> u8 {{\n    g(({first} else {second} else {{ a + b * c }}))\n}}"


def test_what_is_inside_is_a_branch_of_its_own() -> None:
    found = switched("fn f() { é - (b / c) }", ("BinaryOperator", "/", "%"), ("BinaryOperator", "-", "+"))
    inside = "(if crate::mutants::on(0) { b % c } else { b / c })"
    assert found == f"fn f() {{ (if crate::mutants::on(1) {{ é + (b / c) }} else {{ é - ({inside}) }}) }}"


def test_results_arms_guards_and_signs() -> None:
    assert switched("fn f() -> u8 { 7 }", ("FnValue", "7", "1")) == "fn f() -> u8 { if crate::mutants::on(0) { return 1; } 7 }"
    assert (
        switched("fn f() { x = !y; }", ("UnaryOperator", "!", ""))
        == "fn f() { x = (if crate::mutants::on(0) { y } else { !y }); }"
    )
    found = switched(
        "fn f() { match x { 0 => 1, n if n > y => 2, _ => 3 } }", ("MatchArm", "0 => 1", ""), ("MatchArmGuard", "n > y", "true")
    )
    guard = "(if crate::mutants::on(1) { true } else { n > y })"
    assert found == f"fn f() {{ match x {{ 0 if !crate::mutants::on(0) => 1, n if {guard} => 2, _ => 3 }} }}"


@pytest.mark.parametrize("source", ["const F: u8 = 1 + 2;", "const fn f() -> u8 { 1 + 2 }", "fn f(x: [u8; 1 + 2]) {}"])
def test_what_is_computed_while_compiling_has_no_branch(source: str) -> None:
    assert switched(source, ("BinaryOperator", "+", "-")) == source


@pytest.mark.parametrize(
    ("genre", "line", "column", "replacement", "mutated"),
    [
        ("BinaryOperator", 1, 17, "-", "const F: u8 = 2 - 1;\nconst fn f() -> u8 { F }\n"),
        ("FnValue", 2, 22, "0", "const F: u8 = 2 + 1;\nconst fn f() -> u8 { return 0; F }\n"),
    ],
)
@pytest.mark.parametrize("compiles", [True, False])
def test_what_has_no_branch_is_compiled_by_itself(
    monkeypatch, tmp_path, genre, line, column, replacement, mutated, compiles
) -> None:
    """Afterwards, the copy of the source is unchanged."""
    source = "const F: u8 = 2 + 1;\nconst fn f() -> u8 { F }\n"
    for folder in ("here", "copy"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.rs").write_text(source)
    monkeypatch.setattr(at_once, "ROOT", tmp_path / "here")
    seen = []

    def program(copy, to, seconds):
        seen.append((copy / "a.rs").read_text())
        return compiles

    monkeypatch.setattr(at_once, "program", program)
    mutant = at_once.Mutant(1, "", "a.rs", genre, replacement, ((line, column), (line, column + 1)))
    at_once.alone(mutant, tmp_path / "copy", tmp_path / "bin")
    assert seen == [mutated]
    assert mutant.outcome == ("" if compiles else "does not compile")
    assert (tmp_path / "copy" / "a.rs").read_text() == source
