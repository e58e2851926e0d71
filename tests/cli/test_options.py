"""Errors of every command name its options: for every option, one value is refused in one line that begins with the option."""

import re
import sqlite3

import pytest
import typer.main

from stairnoise.cli import main
from stairnoise.cli.commands import app
from stairnoise.cli.options import options_of, with_options

COMMANDS = {name: options_of(command) for name, command in typer.main.get_command(app).commands.items()}
SAMPLE = ("sample", "-n", "1")
STAIRCASE, ARETE = (*SAMPLE, "--eps", "1"), (*SAMPLE, "--mechanism", "arete", "--alpha", "1", "--theta", "1", "--lam", "1")
GROUP, SUM = ("--by", "city", "--groups", "city=a"), ("--sum", "spent", "--bounds", "0,1")
DATABASE = ("query", "visits.db", "--from", "visits", "--eps", "1")
COUNT = (*DATABASE, "--count", "--row-is-person")
FILE = ("query", "visits.csv", "--eps", "1", "--count", "--row-is-person")
KEYED = ("--key-file", "key", "--release-name", "r")
PLOT = ("plot", "-o", "x.png", "--eps", "1")
# The last argument is the wrong one.
WRONG = {
    "sample": {
        "n": ("sample", "--eps", "1", "--number", "-1"),
        "eps": (*SAMPLE, "--eps", "0"),
        "sensitivity": (*STAIRCASE, "--sensitivity", "0"),
        "mechanism": (*STAIRCASE, "--mechanism", "gauss"),
        "seed": (*STAIRCASE, "--seed", "-1"),
        "output": (*STAIRCASE, "--output", "x.txt"),
        **{
            name: (*STAIRCASE, f"--{name}", "-1")
            for name in (
                "gamma",
                "r",
                "delta",
                "sigma",
                "sigma2",
                "mu",
                "lower",
                "upper",
                "beta",
                "a",
                "alpha",
                "theta",
                "lam",
                "scale",
                "std",
            )
        },
        "n_parties": (*ARETE, "--n-parties", "0"),
        "present": (*ARETE, "--n-parties", "2", "--present", "9"),
        "dim": (*STAIRCASE, "--mechanism", "multivariate_staircase", "--dim", "0"),
        "norm": (*STAIRCASE, "--mechanism", "multivariate_staircase", "--dim", "1", "--norm", "l3"),
    },
    "compare": {
        "eps": ("compare", "--eps", "0"),
        **{
            name: ("compare", "--eps", "1", f"--{name}", value)
            for name, value in {"sensitivity": "0", "cost": "l3", "delta": "1", "releases": "0"}.items()
        },
        "max_partitions_contributed": ("compare", "--eps", "1", "--people-in", "0"),
        "json": ("compare", "--eps", "1", "--csv", "--json"),
    },
    "plot": {
        "output": (*PLOT, "laplace", "--output", "x.jpg"),
        **{name: (*PLOT, "laplace", f"--{name}", "0") for name in ("eps", "sensitivity", "delta", "gamma", "r")},
    },
    "selftest": {"output": ("selftest", "--output", "x.csv")},
    "query": {
        "table": (*COUNT, "--from", "visit"),
        "spark": (*COUNT, "--spark", "visits"),
        "eps": (*COUNT, "--eps", "0"),
        "by": (*COUNT, "--by", "citty", "--groups", "citty=a"),
        "groups": (*COUNT, "--by", "city", "--groups", "town=a"),
        "bins": (*COUNT, "--bins", "spent=5,0"),
        "sum_of": (*DATABASE, "--row-is-person", "--bounds", "0,1", "--sum", "spend"),
        "mean": (*DATABASE, "--row-is-person", "--bounds", "0,1", "--mean", "spend"),
        "median": (*DATABASE, "--row-is-person", "--bounds", "0,1", "--median", "spend"),
        "quantile": (*DATABASE, "--row-is-person", "--bounds", "0,1", "--quantile", "spent=90"),
        "steps": (*DATABASE, "--row-is-person", "--bounds", "0,1", "--median", "spent", "--step", "0"),
        "top": (*DATABASE, "--row-is-person", "--top", "0"),
        "find_bounds": (*DATABASE, "--row-is-person", "--find-bounds", "spend"),
        "bounds": (*DATABASE, "--row-is-person", "--sum", "spent", "--bounds", "1,0"),
        "where": (*COUNT, "--where", "1 -- "),
        "row_is_person": (*DATABASE, "--count"),
        "person": (*DATABASE, "--count", "--person", "whom"),
        "max_groups": (*COUNT, "--max-groups", "2"),
        "delta": (*COUNT, "--delta", "1e-6"),
        "shares": (*COUNT, "--share", "counts=2"),
        "mechanism": (*COUNT, "--mechanism", "laplace"),
        "ledger": (*COUNT, "--budget", "1"),
        "budget": (*COUNT, "--ledger", "ledger.db", "--budget", "0"),
        "budget_delta": (*COUNT, "--ledger", "ledger.db", "--budget", "1", "--budget-delta", "2"),
        "key_file": (*COUNT, "--release-name", "r", "--key-file", "short"),
        "release_name": (*COUNT, "--key-file", "key", "--release-name", ""),
        "confidence": (*COUNT, "--confidence", "95"),
        "nonnegative": (*DATABASE, "--row-is-person", "--mean", "spent", "--bounds", "0,1", "--nonnegative"),
        "types": (*FILE, "--type", "city=number"),
        "delimiter": (*FILE, "--delimiter", "ab"),
        "quote": (*FILE, "--quote", "ab"),
        "escape": (*FILE, "--escape", "ab"),
        "encoding": (*FILE, "--encoding", "utf-7"),
        "decimal": (*FILE, "--decimal", "x"),
        "null": (*FILE, "--null", '"x"'),
        "keep_blanks": (*COUNT, "--keep-blanks"),
        "output": (*COUNT, "--output", "x.txt"),
        "show_true": (*COUNT, "--json", "--show-true"),
    },
}
# Help and flags have no wrong value. Options of `release` have their own tests.
NEVER = {"sample": {"verbose"}, "compare": {"csv", "everything"}, "selftest": {"json", "verbose"}}
NEVER |= {"query": {"all_digits", "count", "explain", "force", "json"}}
MORE = {
    "a file without a need of it": (*COUNT, *KEYED, "--by", "city", "--delta", "1e-6"),
    "a database with types": (*COUNT, "--type", "city=text"),
    "a database with a format": (*COUNT, "--delimiter", ";", "--null", "x"),
    "a file with types": (*FILE, "--type", "town=text"),
    "a type without a column": (*FILE, "--type", "city"),
    "a text to sum": (*FILE[:4], "--row-is-person", "--sum", "spent", "--bounds", "0,1"),
    "no delta": (*COUNT, "--by", "city"),
    "no delta of a mechanism": (*COUNT, "--mechanism", "discrete_gaussian"),
    "no bounds": (*DATABASE, "--row-is-person", "--sum", "spent"),
    "a file that exists": (*COUNT, "--output", "visits.csv"),
    "sigma and eps": (*SAMPLE, "--mechanism", "gaussian", "--sigma", "1", "--eps", "1"),
    "std and sensitivity": (*SAMPLE, "--mechanism", "gaussian", "--std", "1", "--sensitivity", "1"),
    "a sigma of another size": (*SAMPLE, "--mechanism", "gaussian", "--sigma", "1e12"),
    "eps of a mechanism with a constructor for it": (*STAIRCASE, "--mechanism", "skellam", "--mu", "1"),
    "an epsilon of the ledger's": (*COUNT, "--ledger", "new.db"),
}
ALL = {f"{command} {name}": (command, name) for command, options in WRONG.items() for name in options}
OF_PYTHON = re.compile(r"None|True|False|from_eps|types=|overwrite=")


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    con = sqlite3.connect("visits.db")
    con.execute("create table visits (who integer, city text, spent real)")
    con.execute("create table cities (city text)")
    con.commit()
    con.close()
    (tmp_path / "visits.csv").write_text("who,city,spent\n1,Paris,3\n")
    (tmp_path / "key").write_bytes(bytes(32))
    (tmp_path / "short").write_bytes(bytes(3))


def refused(capsys, arguments):
    """Return the error, after checking that it has neither a parameter's Python name nor a word that only Python users know."""
    code = main(list(arguments))
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: .*\n", err)
    bare = re.sub(r"'[^']*'", "", err)
    assert not OF_PYTHON.search(bare), err
    for name in COMMANDS[arguments[0]]:
        if "_" in name or name in ("eps", "delta", "sigma", "sigma2", "std", "mu"):
            assert not re.search(rf"(?<![-\w]){name}\b", bare), err
    return err.removeprefix("error: ")


def test_every_option_is_here():
    for command, wrong in WRONG.items():
        assert set(wrong) | NEVER.get(command, set()) == set(COMMANDS[command]), command


@pytest.mark.parametrize(("command", "name"), ALL.values(), ids=ALL)
def test_an_error_begins_with_the_option(capsys, command, name):
    pytest.importorskip("duckdb")
    assert re.match(rf"{COMMANDS[command][name]}\b(?!-)", refused(capsys, WRONG[command][name]))


@pytest.mark.parametrize("arguments", MORE.values(), ids=MORE)
def test_other_errors_name_options(capsys, arguments):
    pytest.importorskip("duckdb")
    assert re.match("--|visits.csv exists; pass --force ", refused(capsys, arguments))


def test_what_is_quoted_stays():
    options = {"by": "--by", "max_groups": "--max-groups", "eps": "--eps", "sensitivity": "--sensitivity"}
    for text, expected in {
        "by must name 'max_groups' or \"eps\", max_groups": "--by must name 'max_groups' or \"eps\", --max-groups",
        "eps and sensitivity must be given, got None": "--eps and --sensitivity must be given",
        "by[1] must be a text, got 'a, got None'": "--by must be a text, got 'a, got None'",
        "eps in line 3 must be a number": "eps in line 3 must be a number",
        "the eps of it is 3": "the eps of it is 3",
        "by must be 'it''s' for one person's eps": "--by must be 'it''s' for one person's --eps",
    }.items():
        assert with_options(text, options) == expected


BOUNDS = {
    "a comma": ("--bounds", "-5,100000"),
    "a blank": ("--bounds", "-5", "100000"),
    "a comma and a blank": ("--bounds", " -5, 1e5 "),
    "one text": ("--bounds", "-5 100000"),
    "an equals sign": ("--bounds=-5,100000",),
    "an equals sign and a blank": ("--bounds=-5", "100000"),
}


@pytest.mark.parametrize("bounds", BOUNDS.values(), ids=BOUNDS)
def test_bounds_have_a_comma_or_a_blank_between_them(capsys, bounds):
    assert main([*DATABASE, "--row-is-person", "--sum", "spent", *bounds, "--json"]) == 0
    assert re.search(r'"bounds": \[\s*-5(\.0)?,\s*100000(\.0)?\s*\]', capsys.readouterr().out)


@pytest.mark.parametrize("bounds", ["0", "0,", ",1", "0,1,2", "a,b", ""])
def test_other_bounds_are_refused(capsys, bounds):
    text = refused(capsys, (*DATABASE, "--row-is-person", "--sum", "spent", "--bounds", bounds))
    assert text == f"--bounds must be two numbers, as in 0,100 or 0 100, got {bounds!r}\n"


def test_help_shows_bounds_as_they_are_given(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["query", "--help"]) == 0
    assert re.search(r"--bounds +LOW,HIGH .*as 0,100", capsys.readouterr().out)
