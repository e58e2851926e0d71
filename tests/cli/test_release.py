"""``stairnoise release``: the bound holds, and the terminal shows only the requested data.

The bound is checked against sums of the mechanism's formula over all integers; only the shape r comes from the package.
"""

import math
import os
import re
import subprocess
import sys
from fractions import Fraction

import pytest

import stairnoise as sn
from stairnoise.cli import main
from tests.combinations import in_turn, pairs, rest_long
from tests.interface.canaries import NUMBER, TEXT, leaks


@pytest.fixture(autouse=True)
def _wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("NO_COLOR", "1")


def run(capsys, *arguments):
    code = main(["release", "--sensitivity", "1", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def table(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# The bound


def geometric(eps, sensitivity):
    """Return P(X = j) for j = -2000 ... 2000; the remaining probability is below 1e-200 here."""
    return {j: math.exp(-eps * abs(j) / sensitivity) for j in range(-2000, 2001)}


def staircase(eps, sensitivity):
    r = sn.optimal_r(eps, sensitivity)
    stairs = {j: 0 if abs(j) < r else (abs(j) - r) // sensitivity + 1 for j in range(-2000, 2001)}
    return {j: math.exp(-eps * stair) for j, stair in stairs.items()}


def coverage(weights, answer, bound):
    """Return P(|released - answer| <= bound), with the answer rounded to an integer as the contract specifies."""
    rounded = math.floor(answer + Fraction(1, 2))
    return sum(w for j, w in weights.items() if abs(rounded + j - answer) <= bound) / sum(weights.values())


NOISES = [
    [1, 2],
    [(1.0, 1), (0.25, 1), (2.0, 3), (1.5, 5)],
    [("discrete_laplace", geometric), ("discrete_staircase", staircase)],
]


@pytest.mark.parametrize(
    ("partitions", "steps", "noise"),
    rest_long(in_turn(*NOISES), pairs(*NOISES)),
)
def test_the_bound_holds_for_values_that_are_no_integers(capsys, tmp_path, partitions, steps, noise):
    (eps, sensitivity), (mechanism, made) = steps, noise
    answers = [Fraction(200 + i, 20) for i in range(21)]
    path = table(tmp_path, "key,count\n" + "".join(f"k,{float(answer)}\n" for answer in answers))
    code, out, _ = run(
        capsys,
        path,
        "--eps",
        eps,
        "--sensitivity",
        sensitivity,
        "--mechanism",
        mechanism,
        "--max-partitions-contributed",
        partitions,
        "--keep",
        "key",
    )
    assert code == 0
    bound = Fraction(re.search(r"±95 % +±([\d.]+)", out)[1])
    weights = made(eps / partitions, sensitivity)
    assert min(coverage(weights, Fraction(float(answer)), bound) for answer in answers) >= 0.95
    text = " ".join(out.split())
    assert "Each true value is within its ± in at least 95 % of releases. The ± includes rounding to whole numbers." in text


def test_whole_values_keep_the_bound_of_the_mechanism(capsys, tmp_path):
    """Sum from the formula: P(|X| > 3) = 2 e^-4/(1 + e^-1) = 0.0268, P(|X| > 2) = 0.0728."""
    for text in ("count\n10\n12\n", "count\n10.0\n12\n"):
        _, out, _ = run(capsys, table(tmp_path, text), "--mechanism", "discrete_laplace")
        assert re.search(r"±3(\.00)?\b", out)
        assert "round true values" not in out


@pytest.mark.parametrize("mechanism", ["laplace", "discrete_laplace"])
@pytest.mark.parametrize("value", ["1e17", "100000000000000000"])
def test_the_bound_includes_the_rounding_of_large_results(capsys, tmp_path, mechanism, value):
    """float64 has every sixteenth integer near 1e17: rounding can move a result by another 8. int64 has every integer."""
    _, out, _ = run(capsys, table(tmp_path, f"count\n{value}\n"), "--mechanism", mechanism, "--show-true")
    bound = float(re.search(r"±95 %|±([\d.]+)", out[out.index("±95 %") + 5 :])[1])
    exact = mechanism == "discrete_laplace" and "e" not in value
    assert bound == 3 if exact else bound >= 8 + 2.99


def test_the_bound_is_rounded_up(capsys, tmp_path):
    """ln(20) = 2.995732 is P(|X| > t) = 0.05 for Laplace noise of eps = 1; eps = 7 gives 0.427962, not 0.43 down to 0.42."""
    for eps, least in ((1, math.log(20)), (7, math.log(20) / 7), (50, math.log(20) / 50)):
        _, out, _ = run(capsys, table(tmp_path, "count\n10\n"), "--mechanism", "laplace", "--eps", eps)
        shown = float(re.search(r"±([\d.]+)\s*\n", out)[1])
        assert least <= shown <= least * 1.01


# Errors about a broken table

BROKEN = {
    "no such column": f"a,{TEXT}\n{NUMBER},1\n",
    "no header": f"{NUMBER},{NUMBER}\n{NUMBER},1\n",
    "text": f"a,count\n{TEXT},1\nb,{TEXT}\n",
    "quoted": f'a,count\n"{TEXT}\n{NUMBER}",1\nb,"{NUMBER},5"\n',
    "too many fields": f"a,count\n{TEXT},{NUMBER},{NUMBER}\n",
    "too few fields": f"a,count\n{TEXT}\n",
    "nan": f"a,count\n{TEXT},{NUMBER}\n{TEXT},nan\n",
    "too large": f"a,count\n{TEXT},{NUMBER}0000000000000000000000000000\n",
    "too long": f"a,count\n{TEXT},{str(NUMBER) * 600}\n{TEXT},x\n",
    "long field": f"a,count\n{TEXT * 30000},1\n",
    "not UTF-8": f"a,count\n{TEXT},{NUMBER}\n".encode() + b"\xff" + TEXT.encode() + b",1\n",
    "UTF-16": f"a,count\n{TEXT},{NUMBER}\n".encode("utf-16-le"),
    "open quote": f'a,count\n"{TEXT},{NUMBER}\n{TEXT},1\n',
    "null": f"a,count\n{TEXT}\0,{NUMBER}\0\n",
    "infinite": f"{TEXT},count\n{TEXT},1e999\n",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_table_is_not_shown(capsys, tmp_path, text):
    code, out, err = run(capsys, table(tmp_path, text))
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert not leaks(err.replace(str(tmp_path), "")), err


PLACES = [
    ("a,count\nx,1\n\ny,\n", "line 4: 'count' is empty; expected a number"),
    ('a,count\nx,1\ny," "\n', "line 3: 'count' is empty; expected a number"),
    ('a,count\n"x\ny",1\nz,w\n', "line 4: 'count' is not a number"),
    ('a,count\n"x\ny",w\nz,1\n', "line 2: 'count' is not a number"),
    ('a,count\r"x\ry",1\rz,w\r', "line 4: 'count' is not a number"),
    ('a,count\n"x,1\ny,1\nz,1\n', "table.csv must be a CSV file, got one that cannot be read in line 2"),
    ("a,count,count\nx,1,2\n", "column must be in the header once, got 'count', which is there 2 times"),
    ("\n\n", "table.csv must be a CSV file with a header line, got none"),
    ("\ufeff", "table.csv must be a CSV file with a header line, got none"),
    ("count\n1.5\n9007199254740993\n", "line 3: 'count' is an integer that float64 cannot hold, and other lines "
     "have fractions"),
    ("count\n1_000\n", "line 2: 'count' is not a number"),
    ("count\n\uff11\uff12\n", "line 2: 'count' is not a number"),
    (b"a,count\r\nx,1\r\n\xff,1\r\n", "table.csv must be UTF-8, got other bytes in line 3; name its encoding, such as --encoding "
     "latin-1"),
    ('a,count\n"x\ny",1\nz\n', "line 4 must have 2 fields, as the header has, got 1"),
    ("a,b\n1,2\n", "column must be in the header, which has 2 names, got 'count'"),
    (b"a,count\nx,1\n\xff,1\n", "table.csv must be UTF-8, got other bytes in line 3; name its encoding, such as --encoding "
     "latin-1"),
    ("", "table.csv must be a CSV file with a header line, got none"),
    ("a,count\n" + "x" * 200_000 + ",1\n", "table.csv must be a CSV file, got one that cannot be read in line 2"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), PLACES, ids=range(len(PLACES)))
def test_a_broken_table_is_told_by_its_place(capsys, tmp_path, text, message):
    assert run(capsys, table(tmp_path, text))[2].endswith(message + "\n")


def test_cells_are_no_markup(capsys, tmp_path):
    """Rich's tags in a cell or header are plain text; an unmatched tag must not raise an error that shows the cell."""
    path = table(tmp_path, "[/b]key,[red]count\n[/canary],1\n[bold]x[/bold],2\n")
    code, out, err = run(capsys, path, "--mechanism", "laplace", "--column", "[red]count", "--keep", "[/b]key")
    assert (code, err) == (0, "")
    for text in ("[/b]key", "[red]count", "[/canary]", "[bold]x[/bold]"):
        assert text in out


def test_a_terminal_without_unicode_is_named_and_no_cell(tmp_path):
    path = table(tmp_path, f"key,count\nŁódź {TEXT},{NUMBER}\n")
    code = "import sys; from stairnoise.cli import main; sys.exit(main())"
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-c", code, "release", "--sensitivity", "1", str(path), "--keep", "key"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert done.stderr == "error: the terminal must be able to show Unicode: set PYTHONIOENCODING=utf-8\n"


# Published columns

PEOPLE = "id,city,age\n4711001,Oslo,34\n4711002,Paris,57\n"


def test_a_file_has_the_private_column_and_what_is_kept(capsys, tmp_path):
    path, out = table(tmp_path, PEOPLE), tmp_path / "out.csv"
    code, screen, err = run(capsys, path, "--column", "age", "--keep", "city", "--eps", 700, "-o", out)
    assert (code, err) == (0, "")
    assert out.read_text() == "city,age\nOslo,34\nParis,57\n"
    assert "471100" not in screen
    assert screen.startswith(f"written to {out}: 2 rows, each ±0\n")
    assert "Not protected: city, the number of rows and their order." in screen
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.csv", "table.csv"]


@pytest.mark.parametrize("options", [[], ["--compare"], ["--mechanism", "laplace"], ["--keep", "city"]])
def test_a_screen_shows_no_true_value_and_no_column_that_is_not_kept(capsys, tmp_path, options):
    """At eps = 1e-4 private values are multiples of 100; the true values are not."""
    ages = [5_550_001, 7_770_002]
    path = table(tmp_path, f"id,city,age\n4711001,Oslo,{ages[0]}\n4711002,Paris,{ages[1]}\n")
    code, screen, err = run(capsys, path, "--column", "age", "--eps", 1e-4, *options)
    assert (code, err) == (0, "")
    assert "471100" not in screen
    assert ("Oslo" in screen) is ("--keep" in options)
    assert "true" not in screen.split("Protected")[0]
    assert not any(str(age) in screen for age in ages)
    _, screen, _ = run(capsys, path, "--column", "age", "--show-true", *options)
    assert all(str(age) in screen for age in ages)
    assert "Publish nothing of this screen." in screen


def test_a_kept_table_is_read_back_as_it_was(capsys, tmp_path):
    path, out = table(tmp_path, 'city,n\n"a ""b"", c",1\n"x\ny",2\n'), tmp_path / "out.csv"
    assert run(capsys, path, "--column", "n", "--keep", "city", "--eps", 700, "-o", out)[0] == 0
    assert run(capsys, out, "--column", "n", "--keep", "city", "--eps", 700, "-o", tmp_path / "again.csv")[0] == 0
    assert out.read_text() == (tmp_path / "again.csv").read_text() == 'city,n\n"a ""b"", c",1\n"x\ny",2\n'


def test_values_have_the_digits_of_their_bound(capsys, tmp_path):
    """The ± of eps = 1 at sensitivity 1000 is 2995.8, so values are multiples of 10, or have all digits on request."""
    path, out = table(tmp_path, "n\n73322.66118604888\n12.5\n"), tmp_path / "out.csv"
    asked = [path, "--column", "n", "--mechanism", "laplace", "--sensitivity", 1000, "-o", out, "--force"]
    _, screen, _ = run(capsys, *asked)
    assert "each ±3010" in screen
    assert all(int(value) % 10 == 0 for value in out.read_text().split()[1:])
    run(capsys, *asked, "--all-digits")
    assert any(len(value.partition(".")[2]) > 3 for value in out.read_text().split()[1:])


REFUSED = [
    (["--show-true", "-o", "x.csv"], "--output must be left out with --show-true: the file could be published, got 'x.csv'"),
    (["--compare", "-o", "x.csv"], "--output must be left out with --compare: the file could be published, got 'x.csv'"),
    (["-o", "x.txt"], "--output must be a file named *.csv, got 'x.txt'"),
    (["-o", "old.csv"], "old.csv exists; pass --force to overwrite it"),
    (["-o", "table.csv", "--force"], "--output must not be the table itself, got 'table.csv'"),
    (["--keep", "town"], "--keep must be a column that the header has once, got 'town'"),
    (["--keep", "age"], "--keep must be another column than the one to protect, got 'age'"),
]


@pytest.mark.parametrize(("options", "text"), REFUSED)
def test_what_is_refused_before_anything_is_drawn(capsys, tmp_path, monkeypatch, options, text):
    monkeypatch.chdir(tmp_path)
    table(tmp_path, PEOPLE)
    (tmp_path / "old.csv").write_text("old")
    code, out, err = run(capsys, "table.csv", "--column", "age", *options)
    assert (code, out, err) == (2, "", f"error: {text}\n")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["old.csv", "table.csv"]
    assert (tmp_path / "old.csv").read_text() == "old"


def test_a_file_that_cannot_be_replaced_stays_as_it_was(capsys, tmp_path, monkeypatch):
    """The new file is complete before it replaces the old one."""
    path, out = table(tmp_path, PEOPLE), tmp_path / "old.csv"
    out.write_text("old")

    def refused(part, target):
        assert part.read_text().startswith("age\n")
        raise OSError(5, "refused", str(target))

    monkeypatch.setattr(type(out), "replace", refused)
    code, _, err = run(capsys, path, "--column", "age", "-o", out, "--force")
    assert (code, err) == (2, f"error: {out}: refused\n")
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {"old.csv": "old", path.name: PEOPLE}
