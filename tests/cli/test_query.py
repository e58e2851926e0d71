"""``stairnoise query``: what it prints and writes, and that it refuses in one clear line without data."""

import itertools
import json
import os
import re
import secrets
import sqlite3
import subprocess
import sys
import time

import pytest

import stairnoise as sn
from stairnoise.cli import main
from stairnoise.query.release import Release
from stairnoise.query.sources import sqlite
from tests.interface.canaries import TEXT, leaks


@pytest.fixture(autouse=True)
def _screen(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "visits.db"
    con = sqlite3.connect(path)
    con.execute("create table visits (who integer, city text, age integer, spent real)")
    cities = ["Paris", "Rome, IT", "[red]x[/red]", "esc\x1b[2J", 'say "hi"', TEXT]
    con.executemany("insert into visits values (?, ?, ?, ?)", [(who, cities[who % 6], who % 90, who / 7) for who in range(6000)])
    con.commit()
    con.close()
    return path


NUMBERS = "n(i) as (select 1 union all select i + 1 from n where i < 1000000)"
LISTED = (
    "--from",
    "visits",
    "--by",
    "city",
    "--groups",
    'city=Paris,"Rome, IT",[red]x[/red],"say ""hi"""',
    "--groups",
    "city=Oslo",
)
COUNT = (*LISTED, "--count", "--row-is-person", "--eps", "60")


def run(capsys, *arguments):
    code = main(["query", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_the_screen_has_every_group_and_the_guarantee(capsys, database):
    """At ε = 60 the noise is nonzero with a probability of 1e-25."""
    code, out, err = run(capsys, database, *COUNT, "--explain")
    assert (code, err) == (0, "")
    head, *rows = out.split("\n\n")[0].splitlines()
    assert head.split() == ["city", "count", "±"]
    assert [re.split(r" {2,}", row.strip()) for row in rows] == [
        ["Paris", "1000", "0"],
        ["Rome, IT", "1000", "0"],
        ["[red]x[/red]", "1000", "0"],
        ['say "hi"', "1000", "0"],
        ["Oslo", "0", "0"],
    ]
    text = " ".join(out.split())
    assert "Protected: the whole table is 60-differentially private for adding or removing one row" in text
    assert "Not protected:" in text
    assert "DiscreteLaplace(eps=60.0, sensitivity=1), k = 1, sensitivity 1" in text
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("columns", [40, 80, 120])
@pytest.mark.parametrize(
    "statistic",
    [
        ("--count",),
        ("--sum", "spent", "--bounds", 0, 100),
        ("--mean", "age", "--bounds", 0, 100),
        ("--count", "--mean", "age", "--sum", "spent", "--bounds", "age=0,100", "--bounds", "spent=0", 100),
    ],
)
def test_nothing_is_cropped(capsys, monkeypatch, database, columns, statistic):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, _ = run(capsys, database, *LISTED, *statistic, "--row-is-person", "--eps", 1, "--show-true")
    assert code == 0
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= columns
    for letters in ("[red]x[/red]", "Oslo", "Publishnothingofthisscreen."):
        assert letters in re.sub(r"\s", "", out)


def test_several_statistics_are_columns_of_one_table(capsys, database):
    """80 columns hold a count, a mean and a sum. At ε = 1 a count's noise exceeds 40 with a probability of 1e-18."""
    asked = ("--from", "visits", "--row-is-person", "--eps", 4, "--by", "city", "--groups", "city=Paris,Oslo", "--count")
    asked += ("--mean", "age", "--sum", "who", "--bounds", "age=0,100", "--bounds=who=0", 500, "--share", "mean_age=2")
    code, out, err = run(capsys, database, *asked, "--explain")
    assert (code, err) == (0, "")
    *_, head, paris, oslo = out.split("\n\n")[0].splitlines()
    assert head.split() == ["city", "count", "±", "age", "±", "low", "high", "who", "±", "empty"]
    assert [len(row.split()) for row in (paris, oslo)] == [10, 10]
    assert max(map(len, out.splitlines())) <= 80
    assert "Counted: rows with a number in age." in out
    code, out, _ = run(capsys, database, *asked, "--json")
    read = json.loads(out)
    assert [one["share"] for one in read["about"]["mechanisms"]] == ["1/4", "1/2", "1/4"]
    assert [one["bounds"] for one in read["about"]["statistics"]] == [None, [0, 100], [0, 500]]
    people, row = range(0, 6000, 6), read["rows"][0]
    assert abs(row["count"] - 1000) <= 40
    assert row["may_be_empty"] is False
    assert abs(row["mean_age"] - sum(who % 90 for who in people) / 1000) < 5
    assert abs(row["sum_who"] - sum(min(who, 500) for who in people)) < 20_000


QUANTILES = ("--median", "age", "--quantile", "age=0.1,0.5", "--quantile", "spent=0.9")
ENDS = ("--bounds", "age=0,100", "--bounds", "spent=0,900")
STATISTICS = {
    "count": ("--count", "--nonnegative"),
    "mean": ("--mean", "age", *ENDS[:2]),
    "quantiles": (*QUANTILES, *ENDS),
    "all": ("--count", "--mean", "age", "--sum", "spent", "--sum", "age", *QUANTILES, *ENDS),
    "top": ("--top", 2),
    "bounds": ("--find-bounds", "spent"),
    "bounds of nobody": ("--find-bounds", "spent", "--where", "spent < 0"),
}
WHO = {"rows": ("--row-is-person",), "person": ("--person", "who", "--max-groups", 12)}
GROUPS = {
    "listed": LISTED[2:],
    "binned": ("--bins", "who=0,900,2000"),
    "found": ("--by", "city", "--delta", 1.25e-06, "--where", "city in ('Paris', 'Rome, IT')"),
    "hidden": ("--by", "city", "--delta", 1.25e-06, "--where", "age < 0"),
    "none": (),
}
LEDGERS = {"free": (), "paid": ("--budget", 1.5, "--budget-delta", 1.25e-05)}
SHOWN = {"screen": (), "true": ("--show-true",), "file": ("-o",), "confidence": ("--confidence", 0.9999)}


def asked_together(statistic):
    """Yield the groups and the output of all questions that the command takes."""
    for groups, shown in itertools.product(GROUPS, SHOWN):
        fits = {"top": groups in ("listed", "binned"), "bounds": groups == "none" and shown in ("screen", "confidence")}
        if fits.get(statistic.partition(" ")[0], True):
            yield groups, shown


@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize(
    ("who", "ledger"),
    [
        ("person", "paid"),
        *(pytest.param(*pair, marks=pytest.mark.long) for pair in (("rows", "paid"), ("rows", "free"), ("person", "free"))),
    ],
)
def test_the_table_and_at_most_four_lines(capsys, database, tmp_path, who, ledger, statistic):
    """Whatever is asked: beside the table, or the bounds that are found, no fifth line of 80 characters is printed."""
    folder = tmp_path / "a folder with a long name" / "another one with a long name"
    folder.mkdir(parents=True)
    for number, (groups, shown) in enumerate(asked_together(statistic)):
        asked = ["--from", "visits", *STATISTICS[statistic], *WHO[who], *GROUPS[groups], *LEDGERS[ledger]]
        asked += ["--ledger", folder / f"{number}.ledger"] if ledger == "paid" else []
        asked += [*SHOWN[shown], *([folder / f"{number}.csv"] if shown == "file" else [])]
        code, out, err = run(capsys, database, *asked, "--eps", 1 / 3)
        assert (code, err) == (0, ""), asked
        above, _, below = out.rpartition("\n\n")
        lines = below.splitlines()
        assert lines[0].startswith("Protected at eps = 0.333333"), asked
        assert max(map(len, lines)) <= 80, asked
        lines += [line for line in above.splitlines() if line.startswith(("written to ", "The column true", "No group is shown"))]
        assert 2 <= len(lines) <= 4, (asked, lines)
        assert ("Notes: " in out) == (shown != "file")
        assert ("Ledger: eps = 0.333" in out) == (ledger == "paid")


def test_a_screen_with_true_values_begins_with_a_warning(capsys, database):
    _, out, _ = run(capsys, database, *COUNT, "--show-true")
    assert out.startswith("The column true is not private. Publish nothing of this screen.\n")


def test_cells_cannot_write_to_the_terminal(capsys, database):
    code, out, _ = run(capsys, database, *BASE, "--by", "city", "--groups", "city=esc\x1b[2J", "--count")
    assert code == 0
    assert "esc\\x1b[2J" in out
    assert "\x1b" not in out


def test_the_file_has_what_the_screen_would(capsys, database, tmp_path):
    out_file = tmp_path / "private.csv"
    code, out, err = run(capsys, database, *COUNT, "-o", out_file)
    assert (code, err) == (0, "")
    assert out.startswith(f"written to {out_file}: 5 rows, and notes to private.csv.json\n")
    assert out_file.read_text() == (
        'city,count,error_bound\nParis,1000,0\n"Rome, IT",1000,0\n[red]x[/red],1000,0\n"say ""hi""",1000,0\nOslo,0,0\n'
    )
    assert json.loads((tmp_path / "private.csv.json").read_text())["eps"] == 60
    code, out, err = run(capsys, database, *COUNT, "-o", out_file)
    assert (code, out) == (2, "")
    assert "--force" in err
    assert run(capsys, database, *COUNT, "-o", out_file, "--force")[0] == 0


def test_json_alone_is_printed(capsys, database):
    code, out, err = run(capsys, database, *COUNT, "--json")
    assert (code, err) == (0, "")
    read = json.loads(out)
    assert read["rows"][1] == {"city": "Rome, IT", "count": 1000, "error_bound": 0}
    assert read["about"]["groups"]["city"][3] == 'say "hi"'


def test_groups_that_a_spreadsheet_would_run_are_named(capsys, database, tmp_path):
    groups = "city==1+1,@x,Paris"
    arguments = ("--from", "visits", "--by", "city", "--groups", groups, "--count", "--row-is-person", "--eps", 1)
    code, _, err = run(capsys, database, *arguments, "-o", tmp_path / "x.csv")
    assert code == 0
    assert err.startswith("note: 2 rows have a group that begins with = + - or @: import the columns")


def test_groups_of_integers_and_null(capsys, database):
    arguments = ("--from", "visits", "--by", "age", "--groups", "age=17,018,", "--count", "--row-is-person", "--eps", 60)
    _, out, _ = run(capsys, database, *arguments, "--json")
    assert [row["age"] for row in json.loads(out)["rows"]] == [17, 18, None]


def test_a_key_file_repeats_the_table(capsys, database, tmp_path):
    tables = []
    secret = secrets.token_bytes(32)
    for content in (secret, secret.hex().encode() + b"\n", secrets.token_bytes(32)):
        (tmp_path / "key").write_bytes(content)
        arguments = (*LISTED, "--count", "--row-is-person", "--eps", 0.05, "--key-file", tmp_path / "key")
        code, out, _ = run(capsys, database, *arguments, "--release-name", "r 1", "--json")
        assert code == 0
        tables.append(json.loads(out)["rows"])
    assert tables[0] == tables[1] != tables[2]


def test_a_ledger_for_releases_with_a_delta(capsys, database, tmp_path):
    """The first ledger has no δ, the second has δ for one release."""
    asked = ("--from", "visits", "--by", "city", "--count", "--row-is-person", "--eps", 0.5, "--delta", 1e-6)
    for name, holds, code, text in [("a", (), 2, "exceed the ledger's, 0.0"), ("b", ("--budget-delta", 1e-6), 0, "of 1")]:
        arguments = (*asked, "--ledger", tmp_path / name, "--budget", 1, *holds)
        found, out, err = run(capsys, database, *arguments)
        assert found == code
        assert text in out + err
    code, _, err = run(capsys, database, *asked, "--ledger", tmp_path / "b")
    assert code == 2
    assert "exceed the ledger's, 1e-06" in err


def test_the_ledger_is_written_and_shown(capsys, database, tmp_path):
    ledger = tmp_path / "ledger.db"
    arguments = (*LISTED, "--count", "--row-is-person", "--eps", 0.75, "--ledger", ledger)
    assert run(capsys, database, *arguments)[0] == 2
    assert not ledger.exists()
    assert "Ledger: eps = 0.75 of 1 is spent." in run(capsys, database, *arguments, "--budget", 1)[1]
    code, out, err = run(capsys, database, *arguments)
    assert (code, out) == (2, "")
    assert "must not be exceeded" in err
    assert sn.Ledger(ledger).total() == 0.75


def test_a_top_has_labels_and_ranks(capsys, database):
    code, out, _ = run(capsys, database, *LISTED, "--top", 1, "--row-is-person", "--eps", 60, "--where", "city = 'Paris'")
    assert code == 0
    assert out.split()[:4] == ["city", "rank", "Paris", "1"]
    assert "\nNo group below has over 0 people more, with a probability of 95 % or more.\n" in out


def test_quantiles_beside_other_statistics(capsys, database):
    """At ε = 10⁵ there is no noise. Of six cities, one has the ages 0, 6, ..., 84, and the true values are beside them."""
    asked = ("--count", "--median", "age", "--quantile", "age=0.9", "--quantile", "spent=1/3,1", "--step", "spent=100")
    bounds = ("--bounds", "age=0,100", "--bounds", "spent=0,1000")
    code, out, _ = run(capsys, database, *LISTED, *asked, *bounds, "--row-is-person", "--eps", "1e5", "--json")
    rows = json.loads(out)["rows"]
    assert (code, list(rows[0])) == (
        0,
        [
            *("city", "count", "count_error_bound", "median_age", "quantile_age_0.9"),
            *("quantile_spent_1/3", "quantile_spent_1"),
        ],
    )
    assert 36 <= rows[0]["median_age"] <= 48
    assert rows[0]["quantile_spent_1/3"] == 300
    # Both candidates are above all values.
    assert rows[0]["quantile_spent_1"] in (900, 1000)
    code, out, _ = run(capsys, database, *LISTED, "--median", "age", *bounds[:2], "--row-is-person", "--eps", "9", "--show-true")
    assert code == 0
    assert re.search(r"\nEach quantile is within 0\.\d+ people in rank in at least 95 % of releases\.\n", out)
    assert re.search(r"city +median +true", out)
    assert re.search(r"Paris +4[0-9] +42", out)
    assert re.search(r"Oslo +\d+ +–", out)
    code, out, _ = run(capsys, database, *LISTED, "--median", "age", *bounds[:2], "--row-is-person", "--eps", "9", "--explain")
    said = " ".join(out.split())
    assert re.search(r"Each private median of age is within 0\.\d+ people of the true one, in rank, with", said)
    assert "Mechanism: PermuteAndFlip(eps=9.0, sensitivity=0.5" in said


def test_bounds_are_found_as_the_option_that_they_become(capsys, database):
    asked = ("--from", "visits", "--row-is-person", "--eps", 60, "--find-bounds", "spent")
    code, out, _ = run(capsys, database, *asked)
    assert code == 0
    assert out.splitlines()[0] == "--bounds spent=0,1024"
    code, out, _ = run(capsys, database, *asked, "--explain")
    assert "No bin without people is above with a probability of 99.9 % or more." in " ".join(out.split())
    code, out, _ = run(capsys, database, *asked, "--json", "--confidence", 0.95)
    assert code == 0
    assert (json.loads(out)["bounds"]["low"], json.loads(out)["bounds"]["high"]) == (0, 1024)
    assert "no bounds were found" in run(capsys, database, *asked, "--where", "spent < 0")[1].replace("\n", " ")


def test_a_table_without_groups_says_so(capsys, database):
    asked = ("--from", "visits", "--by", "city", "--count", "--row-is-person", "--eps", 1, "--delta", 1e-6, "--where", "age < 0")
    code, out, _ = run(capsys, database, *asked)
    assert code == 0
    assert out.startswith("No group is shown")


BASE = ("--from", "visits", "--row-is-person", "--eps", 1)
ONE = ("--by", "city", "--groups", "city=Paris")
REFUSED = {
    "no groups and no delta": ((*BASE, "--by", "city", "--count"), "--groups of 'city' must be listed, or --delta given"),
    "no person": (("--from", "visits", "--eps", 1, *ONE, "--count"), "--row-is-person or --person must be given"),
    "two persons": ((*BASE, *ONE, "--count", "--person", "who"), "person must be left out"),
    "no statistic": ((*BASE, *ONE), "--count, --mean, --sum, --median, --quantile or --top must be given, got none"),
    "bounds beside counts": ((*BASE, "--count", "--find-bounds", "age"), "--find-bounds must be given without other statistics"),
    "bounds of a text": ((*BASE, "--find-bounds", "city"), "--find-bounds of 'city' must be of a column of numbers"),
    "a top beside counts": ((*BASE, *ONE, "--count", "--top", 1), "--top must be the only statistic of a question"),
    "a top of too many": ((*BASE, *ONE, "--top", 2), "--top must be at most the number of groups, 1, got 2"),
    "a top by a mechanism": (
        (*BASE, *ONE, "--top", 1, "--mechanism", "discrete_laplace"),
        "--mechanism must be left out for a top",
    ),
    "a percentile": (
        (*BASE, *ONE, "--quantile", "age=90", "--bounds", "0,9"),
        "--quantile must be from 0 to 1, got 90.0: for per",
    ),
    "a quantile without a column": ((*BASE, *ONE, "--quantile", "0.9", "--bounds", "0,9"), "--quantile must be given as COLUMN"),
    "a quantile that is none": (
        (*BASE, *ONE, "--quantile", "age=x", "--bounds", "0,9"),
        "--quantile must be numbers from 0 to 1",
    ),
    "a median without bounds": ((*BASE, *ONE, "--median", "age"), "--bounds must be given, chosen without looking at the values"),
    "a step without a median": ((*BASE, *ONE, "--count", "--step", 1), "--step must be left out without --median"),
    "a step of another column": (
        (*BASE, *ONE, "--median", "age", "--mean", "spent", "--bounds", "age=0,9", "--bounds", "spent=0,9", "--step", "spent=1"),
        "--step must be of 'age', got those of 'spent'",
    ),
    "a step that is none": (
        (*BASE, *ONE, "--median", "age", "--bounds", "0,9", "--step", "x"),
        "--step must be a number, got 'x'",
    ),
    "a median of texts": (
        (*BASE, *ONE, "--median", "city", "--bounds", "0,9"),
        "--median must be of numbers; 'city' is declared as",
    ),
    "a mechanism of a median": (
        (*BASE, *ONE, "--median", "age", "--bounds", "0,9", "--mechanism", "discrete_laplace"),
        "--mechanism must be left out for quantiles",
    ),
    "one of two without bounds": ((*BASE, *ONE, "--count", "--sum", "spent"), "--bounds of 'spent' must be given for a sum"),
    "a sum without bounds": ((*BASE, *ONE, "--sum", "spent"), "bounds must be given for a sum"),
    "bounds of another column": (
        (*BASE, *ONE, "--mean", "age", "--sum", "spent", "--bounds", "ages=0,1"),
        "--bounds must be of 'age', 'spent', got those of 'ages'; did you mean 'age'?",
    ),
    "bounds twice": (
        (*BASE, *ONE, "--mean", "age", "--bounds", "age=0,1", "--bounds", "age=0,2"),
        "--bounds must be of each column once, got those of 'age'",
    ),
    "bounds without a column": (
        (*BASE, *ONE, "--mean", "age", "--sum", "spent", "--bounds", "0,1"),
        "--bounds must be given as COLUMN=LOW,HIGH for several columns, got '0,1'",
    ),
    "a column twice": ((*BASE, *ONE, *["--mean", "age"] * 2, "--bounds", "0,1"), "--mean must name every column once"),
    "a share without a number": ((*BASE, *ONE, "--count", "--share", "count"), "--share must be given once for each name"),
    "a share of nothing": ((*BASE, *ONE, "--count", "--share", "sum=2"), "--share must be of 'count', got one of 'sum'"),
    "bounds of a count": ((*BASE, *ONE, "--count", "--bounds", 0, 1), "--bounds must be left out"),
    "an unknown column": ((*BASE, "--by", "cit", "--groups", "cit=a", "--count"), "did you mean 'city'"),
    "an unknown table": (("--from", "visit", *BASE[2:], *ONE, "--count"), "did you mean 'visits'"),
    "a group of another type": ((*BASE, "--by", "age", "--groups", "age=old", "--count"), "groups of 'age' must be integers"),
    "quotes that do not close": ((*BASE, "--by", "city", "--groups", 'city="a', "--count"), "quoted as in"),
    "groups without a column": ((*BASE, "--by", "city", "--groups", "a,b", "--count"), "COLUMN=a,b"),
    "a condition that closes a parenthesis": ((*BASE, *ONE, "--count", "--where", "1) or (1=1"), "where"),
    "a condition with a comment": ((*BASE, *ONE, "--count", "--where", "1 -- "), "where"),
    "a condition with a query": ((*BASE, *ONE, "--count", "--where", "age > (select 1)"), "where"),
    "a key without a name": ((*BASE, *ONE, "--count", "--key-file", "key"), "--key-file and --release-name must"),
    "a budget without a ledger": ((*BASE, *ONE, "--count", "--budget", 1), "--ledger must be given"),
    "true values in a file": ((*BASE, *ONE, "--count", "--show-true", "-o", "x.csv"), "--show-true must not be combined"),
    "true values as JSON": ((*BASE, *ONE, "--count", "--show-true", "--json"), "--show-true must not be combined"),
    "another suffix": ((*BASE, *ONE, "--count", "-o", "x.xlsx"), "*.csv, *.parquet or *.json"),
    "no directory": ((*BASE, *ONE, "--count", "-o", "no/such/x.csv"), "No such file or directory"),
    "no eps": (("--from", "visits", "--row-is-person", *ONE, "--count"), "--eps"),
}


@pytest.mark.parametrize(("arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_in_one_line_without_data(capsys, monkeypatch, tmp_path, database, arguments, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, database, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
    assert not leaks(err)
    assert [path.name for path in tmp_path.iterdir()] == ["visits.db"]


SOURCES = {
    "missing": lambda path: None,
    "a directory": lambda path: path.mkdir(),
    "empty": lambda path: path.touch(),
    "something else": lambda path: path.write_bytes(b"\x00" + TEXT.encode() * 100),
    "half a database": lambda path: path.write_bytes(b"SQLite format 3\0" + TEXT.encode() * 100),
}


@pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("suffix", [".db", ".duckdb", ".csv", ".parquet"])
def test_unreadable_sources_are_refused_in_one_line(capsys, tmp_path, make, suffix):
    if suffix != ".db":
        pytest.importorskip("duckdb")
    make(tmp_path / f"visits{suffix}")
    code, out, err = run(capsys, tmp_path / f"visits{suffix}", *BASE, *ONE, "--count")
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert not leaks(err)


def test_a_locked_database_is_refused_in_one_line(capsys, database, monkeypatch):
    monkeypatch.setattr(sqlite, "_SECONDS_LOCKED", 0.05)
    con = sqlite3.connect(database, isolation_level=None)
    con.execute("begin exclusive")
    start = time.monotonic()
    code, out, err = run(capsys, database, *COUNT)
    con.close()
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: .*locked.*\n", err)
    assert time.monotonic() - start < 60


USED = {
    "data": ("visits.csv", "visits.csv", "the file that the data are in"),
    "notes over the data": ("visits.csv.json", "visits.csv", "the file that the data are in"),
    "ledger": ("visits.csv", "led.json", "the ledger"),
    "ledger by another name": ("visits.csv", "deeper/../led.json", "the ledger"),
    "ledger by a link": ("visits.csv", "link.json", "the ledger"),
    "notes over the ledger": ("visits.csv", "notes.csv", "the ledger"),
    "key": ("visits.csv", "key.json", "the key file"),
    "notes over the key": ("visits.csv", "kept.csv", "the key file"),
}


@pytest.mark.parametrize(("source", "output", "text"), USED.values(), ids=USED)
@pytest.mark.parametrize("there", [True, False], ids=["a ledger", "a new ledger"])
def test_a_file_that_the_command_uses_is_never_overwritten(capsys, tmp_path, source, output, text, there):
    """Neither the table nor its notes overwrite the data, the ledger or the key."""
    pytest.importorskip("duckdb")
    (tmp_path / source).write_text("city\nParis\n")
    ledger = tmp_path / ("notes.csv.json" if output == "notes.csv" else "led.json")
    key = tmp_path / ("kept.csv.json" if output == "kept.csv" else "key.json")
    key.write_bytes(bytes(32))
    (tmp_path / "deeper").mkdir()
    (tmp_path / "link.json").symlink_to(ledger)
    if there:
        sn.Ledger(ledger, 2)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    more = ("--ledger", ledger, "--budget", 2, "--key-file", key, "--release-name", "r")
    code, _, err = run(capsys, tmp_path / source, *BASE, *ONE, "--count", *more, "-o", tmp_path / output, "--force")
    assert code == 2
    assert f"output must not be {text}, got" in err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("state", "ledger", "said"),
    [
        ("asking", True, "nothing was drawn, and nothing is spent"),
        ("spending", True, "the ledger shows what is spent"),
        ("reading", True, "nothing was drawn, and what the ledger has counted stays spent"),
        ("reading", False, "nothing was drawn, and nothing is spent"),
        ("drawing", True, "the budget stays spent"),
    ],
)
def test_an_interruption_says_what_is_spent(capsys, monkeypatch, database, tmp_path, state, ledger, said):
    def interrupted(release, source, **options):
        release.state = state
        raise KeyboardInterrupt

    monkeypatch.setattr(Release, "run", interrupted)
    paid = ("--ledger", tmp_path / "l.db", "--budget", 60) if ledger else ()
    code, out, err = run(capsys, database, *COUNT, *paid)
    assert (code, out) == (130, "")
    assert said in err
    assert err.strip().count("\n") == 0


def test_a_file_that_fails_after_the_draw_says_that_it_cost(capsys, monkeypatch, database, tmp_path):
    from stairnoise.query.private_table import Output

    def full(output, table):
        raise OSError(28, os.strerror(28), str(output.path))

    monkeypatch.setattr(Output, "write", full)
    code, out, err = run(capsys, database, *COUNT, "-o", tmp_path / "x.csv")
    assert (code, out) == (2, "")
    assert "eps = 60 is spent" in err


@pytest.mark.slow
def test_a_long_query_stops_at_ctrl_c(tmp_path):
    """SIGINT while SQLite sorts ends with one line and the exit code of an interruption; the ledger keeps the payment."""
    import signal

    path = tmp_path / "long.db"
    con = sqlite3.connect(path)
    con.execute("create table t (who integer, g integer)")
    con.execute(f"with recursive {NUMBERS} insert into t select random(), i % 50 from n")
    con.commit()
    con.close()
    groups = "g=" + ",".join(map(str, range(50)))
    arguments = ["--from", "t", "--by", "g", "--groups", groups, "--count", "--person", "who", "--eps", "1"]
    # A shell starts background jobs with SIGINT ignored, and child processes inherit that.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heard}; import sys; from stairnoise.cli import main; print('go', flush=True); sys.exit(main())"
    command = [sys.executable, "-c", code, "query", str(path), *arguments, "--ledger", str(tmp_path / "l.db"), "--budget", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    while not ((tmp_path / "l.db").exists() and sn.Ledger(tmp_path / "l.db").report()):
        time.sleep(0.01)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", err)
    assert "nothing was drawn, and what the ledger has counted stays spent" in err
    assert err.strip().count("\n") == 0
    assert sn.Ledger(tmp_path / "l.db").total() == 1


# Blanks around names, values and groups


CENSUS = "age, workclass, sex\n" + "39, State-gov, Male\n50, Private, Female\n" * 200


def test_a_blank_after_each_comma_hides_no_group(capsys, tmp_path):
    path = tmp_path / "adult.csv"
    path.write_text(CENSUS)
    asked = (path, "--from", "adult", "--by", "sex", "--count", "--row-is-person", "--eps", "60", "--json")
    code, out, err = run(capsys, *asked, "--groups", "sex=Male,Female")
    assert (code, err) == (0, "")
    assert [list(row.values())[:2] for row in json.loads(out)["rows"]] == [["Male", 200], ["Female", 200]]


@pytest.mark.parametrize("source", ["CSV", "SQLite"])
def test_listed_groups_with_blanks_at_an_end_are_named(capsys, tmp_path, source):
    """If the data have no such blanks, these groups are empty. A database can have the blanks too, so they are no error."""
    path = tmp_path / ("adult.csv" if source == "CSV" else "adult.db")
    if source == "CSV":
        path.write_text(CENSUS)
    else:
        con = sqlite3.connect(path)
        con.execute("create table adult (age integer, sex text)")
        con.executemany("insert into adult values (?, ?)", [(39, " Male")] * 200)
        con.commit()
        con.close()
    asked = (path, "--from", "adult", "--count", "--row-is-person", "--eps", "60", "--json")
    code, out, err = run(capsys, *asked, "--by", "sex", "--groups", 'sex= Male,Female,"\x1b "')
    assert code == 0
    assert err == "note: groups of 'sex' with blanks at an end differ from those without: ' Male', '\\x1b '\n"
    assert [row["count"] for row in json.loads(out)["rows"]] == ([0, 200, 0] if source == "CSV" else [200, 0, 0])
    types = ("--type", "age=integer") if source == "CSV" else ()
    assert run(capsys, *asked, *types, "--by", "age", "--groups", "age= 39, 50")[::2] == (0, "")


def test_explain_says_what_eps_means(capsys, database, tmp_path):
    """At ε = 1 the best guess is right with a probability of e/(1 + e), and with ε = 2 in the ledger of e²/(1 + e²)."""
    asked = [*COUNT[: COUNT.index("--eps")], "--eps", "1", *COUNT[COUNT.index("--eps") + 2 :]]
    _, out, _ = run(capsys, database, *asked)
    assert "guess" not in out
    ledger = ["--ledger", str(tmp_path / "a.ledger"), "--budget", "2", "--explain"]
    for total in ("73.2", "88.1"):
        _, out, _ = run(capsys, database, *asked, *ledger)
        said = " ".join(out.split())
        assert f"a probability of at most 73.2 %, and after everything in the ledger of at most {total} %." in said
