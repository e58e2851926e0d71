"""The command line: what it prints, and that bad input ends in one line and exit code 2."""

import builtins
import csv
import importlib
import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import stairnoise as sn
from stairnoise._errors import arguments_of
from stairnoise.cli import main
from stairnoise.cli.commands import app
from stairnoise.cli.csv_table import read_table
from stairnoise.cli.noise_report import moments
from stairnoise.figures import style
from stairnoise.registry import ROWS


@pytest.fixture(autouse=True)
def _width_80(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_version(capsys):
    assert run(capsys, "--version") == (0, f"stairnoise {sn.__version__}\n", "")


def test_no_arguments_print_help(capsys):
    code, out, err = run(capsys)
    assert (code, err) == (0, "")
    assert "Usage: stairnoise [OPTIONS] COMMAND" in out
    assert "sample" in out
    assert "release" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["--version"],
        ["sample", "--help"],
        ["release", "--help"],
        ["release", "--sensitivity", "1"],
        ["compare", "--help"],
        ["plot", "--help"],
    ],
)
def test_typer_application(arguments):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output


# sample


def test_sample_help_names_the_mechanisms_of_every_option(capsys):
    code, out, _ = run(capsys, "sample", "--help")
    assert code == 0
    options = " ".join(out.partition("Options:")[2].split())
    parts = re.split(r"--([a-z0-9-]+) (?:<\w+> )?(?=[A-Z])", options)
    help_of = dict(zip(parts[1::2], parts[2::2], strict=True))
    sampled = {row.name: arguments_of(row.load().__init__) for row in ROWS if row.sampled}
    assert set(re.findall(r"[a-z_]+(?=[,.] )", help_of["mechanism"])) >= set(sampled)
    common = {"number", "eps", "sensitivity", "mechanism", "seed", "output", "verbose", "help"}
    assert help_of.keys() - common == {name.replace("_", "-") for names in sampled.values() for name in names} - common
    for option in help_of.keys() - common:
        owners = re.search(r"For ([a-z_, ]+):", help_of[option])[1].split(", ")
        assert sorted(owners) == sorted(mechanism for mechanism, names in sampled.items() if option.replace("-", "_") in names), (
            option
        )


@pytest.mark.parametrize("command", [["sample", "-n", "1", "--mechanism", "bad"], ["plot", "bad", "-o", "x.png"]])
def test_an_error_offers_what_the_command_takes(capsys, command):
    """The command has no option for weights or scales, so errors do not offer mechanisms that need them."""
    code, _, err = run(capsys, *command, "--eps", 1)
    assert code == 2
    assert "'laplace'" in err
    assert not {"lattice_noise", "merged_laplace"} & set(re.findall(r"'(\w+)'", err))


def test_sample_report(capsys):
    code, out, err = run(capsys, "sample", "-n", 100_000, "--eps", 4, "--seed", 1, "--verbose")
    assert (code, err) == (0, "")
    mechanism = sn.Staircase(4)
    lines = out.splitlines()
    assert lines[0] == repr(mechanism)
    assert re.search(r"^values +100,000 of float64", out, re.M)
    assert re.search(r"^time +[\d.]+ s, [\d.]+ ns per value", out, re.M)
    assert re.search(r"^granularity +2\^-35 = 2\.91e-11", out, re.M)
    worst = max(map(float, re.findall(r"[+-](\d\.\d\d) *$", out, re.M)))
    assert lines[-1] == f"100,000 values, seed 1 (study only), within {worst:.2f} standard errors of the theory."
    short = run(capsys, "sample", "-n", 100_000, "--eps", 4, "--seed", 1)[1].splitlines()
    assert short == [lines[0], *lines[lines.index("", 2) :]]
    noise = mechanism.sample(100_000, rng=sn.SeededRng(1))
    row = re.search(r"^variance +(\S+) +(\S+) +(\S+) +(\S+)", out, re.M)
    printed = [float(text) for text in row.groups()]
    assert printed[0] == pytest.approx((noise**2).mean(), rel=6e-4)
    assert printed[1] == pytest.approx(mechanism.var(), rel=6e-4)
    assert abs(printed[3]) < 5
    assert max(map(len, lines)) <= 80


def test_sample_is_secure_by_default(capsys):
    _, out, _ = run(capsys, "sample", "-n", 10, "--eps", 1)
    assert "10 values, secure, within" in out


def test_moments_of_the_report():
    mechanism = sn.DiscreteStaircase(0.5, 3)
    noise = mechanism.sample(2**16 + 3, rng=sn.SeededRng(3))
    mean, absolute, variance = moments(mechanism, noise)
    x = noise.astype(float)
    assert mean.sample == pytest.approx(x.mean(), rel=1e-9)
    assert absolute.sample == pytest.approx(abs(x).mean(), rel=1e-12)
    assert variance.sample == pytest.approx((x**2).mean(), rel=1e-12)
    # The sample has 1e5 values, so its own standard errors are right within a few percent.
    for moment, values in ((mean, x), (absolute, abs(x)), (variance, x**2)):
        assert moment.standard_error == pytest.approx(values.std() / x.size**0.5, rel=0.1)
        assert moment.z == (moment.sample - moment.theory) / moment.standard_error
        assert abs(moment.z) < 5


@pytest.mark.parametrize(
    "options",
    [
        ["--mechanism", "laplace", "--sensitivity", "0.1"],
        ["--mechanism", "discrete_laplace"],
        ["--mechanism", "discrete_staircase", "--sensitivity", "5", "--r", "2"],
        ["--mechanism", "discrete_staircase", "--sensitivity", "5", "--r", "l2"],
        ["--gamma", "l2"],
        ["--gamma", "0.25"],
        ["--eps", "700"],
    ],
)
@pytest.mark.parametrize("n", [0, 1, 1000])
def test_sample_options(capsys, options, n):
    eps = [] if "--eps" in options else ["--eps", "2"]
    code, out, err = run(capsys, "sample", "-n", n, *eps, *options, "--verbose")
    assert (code, err) == (0, "")
    assert re.search(rf"^values +{n:,} of (float|int)64", out, re.M)
    assert ("variance" in out) is (n > 0)


@pytest.mark.parametrize(
    "options",
    [
        ["gaussian", "--eps", 1, "--delta", 1e-6],
        ["gaussian", "--sigma", 3],
        ["discrete_gaussian", "--sigma2", 4],
        ["discrete_gaussian", "--sigma", 2],
        ["truncated_laplace", "--eps", 1, "--delta", 0.01, "--lower", -6],
        ["generalized_discrete_laplace", "--beta", 0.5, "--a", 1],
        ["multi_scale_discrete_laplace", "--eps", 2, "--sensitivity", 3, "--n-parties", 10, "--present", 9],
        ["arete", "--alpha", 0.2, "--theta", 0.5, "--lam", 0.1],
        ["multivariate_staircase", "--eps", 2, "--dim", 3, "--norm", "l2", "--gamma", "l2"],
    ],
    ids=lambda options: options[0],
)
def test_sample_of_every_mechanism(capsys, tmp_path, options):
    """Moments within five standard errors, which fails with a probability below 1e-5, at a fixed seed."""
    path = tmp_path / "noise.npy"
    code, out, err = run(capsys, "sample", "-n", 20_000, "--seed", 3, "--output", path, "--mechanism", *options)
    assert (code, err) == (0, "")
    deviations = re.findall(r"([+-]\d+\.\d\d) *$", out, re.MULTILINE)
    assert len(deviations) == 3
    assert all(abs(float(z)) < 5 for z in deviations)
    assert np.load(path).shape == ((20_000, 3) if options[0] == "multivariate_staircase" else (20_000,))


SAME = ["--eps", 4, "--seed", 1]


@pytest.mark.parametrize("name", ["noise.npy", "noise.NPY"])
def test_sample_writes_a_file_of_numpy(capsys, tmp_path, name):
    code, _, _ = run(capsys, "sample", "-n", 100, *SAME, "--output", tmp_path / name)
    assert code == 0
    assert np.array_equal(np.load(tmp_path / name), sn.sample(100, 4, rng=sn.SeededRng(1)))


@pytest.mark.parametrize("n", [0, 1, 70_000])
@pytest.mark.parametrize(("mechanism", "kind"), [("staircase", float), ("discrete_staircase", int)])
def test_sample_writes_csv_that_reads_back_the_same(capsys, tmp_path, mechanism, kind, n):
    file = tmp_path / "noise.csv"
    assert run(capsys, "sample", "-n", n, *SAME, "-o", file, "--mechanism", mechanism)[0] == 0
    with file.open(newline="", encoding="utf-8") as lines:
        header, *rows = csv.reader(lines)
    assert header == ["noise"]
    assert [kind(value) for (value,) in rows] == sn.sample(n, 4, mechanism=mechanism, rng=sn.SeededRng(1)).tolist()


def test_sample_writes_vectors_as_columns(capsys, tmp_path):
    file = tmp_path / "noise.csv"
    mechanism = ["--mechanism", "multivariate_staircase", "--dim", 3]
    assert run(capsys, "sample", "-n", 4, *SAME, *mechanism, "-o", file)[0] == 0
    header, *rows = file.read_text().splitlines()
    assert header == "noise_0,noise_1,noise_2"
    drawn = sn.MultivariateStaircase(4, dim=3).sample(4, rng=sn.SeededRng(1))
    assert [[float(value) for value in row.split(",")] for row in rows] == drawn.tolist()


@pytest.mark.parametrize("name", ["noise", "noise.dat", "noise.csv.gz"])
def test_sample_refuses_a_file_whose_name_does_not_say_what_to_write(capsys, tmp_path, name):
    code, out, err = run(capsys, "sample", "-n", 100, *SAME, "--output", tmp_path / name)
    assert (code, out, err) == (2, "", f"error: --output must end in .npy or .csv, got {str(tmp_path / name)!r}\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("n", "shown"), [(99_999, False), (100_000, True)])
def test_sample_reports_a_time_only_for_many_values(capsys, n, shown):
    assert ("ns per value" in run(capsys, "sample", "-n", n, "--eps", 1, "--verbose")[1]) is shown


# release


def test_release_of_the_bundled_table(capsys):
    code, out, err = run(capsys, "release", "--sensitivity", "1", "--eps", 50)
    assert (code, err) == (0, "")
    first, *lines = out.splitlines()
    assert first == "The column true is not private. Publish nothing of this screen."
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == ["marital_status", "race", "count", "staircase"]
    rows = [line.split() for line in lines[2:23]]
    assert [row[:3] for row in rows[:2]] == [["Divorced", "White", "3797"], ["Divorced", "Black", "485"]]
    assert sum(int(row[2]) for row in rows) == 32561
    for row in rows:  # at eps = 50 discrete noise is 0 with probability 1 - 4e-22
        assert row[3] == row[2]
    assert lines[23].split() == ["±95", "%", "±0"]
    text = " ".join(out.split())
    assert "Protected at eps = 50: people who change at most one value, by at most 1. Each true value" in text
    assert "together" not in text


def test_release_by_every_mechanism_is_asked_for_and_says_what_it_costs(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "110")  # the ± of the staircase has 13 decimals at this eps
    code, out, err = run(capsys, "release", "--sensitivity", "1", "--eps", 50, "--compare")
    assert (code, err) == (0, "")
    first, *lines = out.splitlines()
    assert first == "The column true is not private. Publish nothing of this screen."
    assert max(map(len, lines)) <= 110
    assert lines[1].split() == ["marital_status", "race", "count", *["staircase"] * 2, *["laplace"] * 2]
    for row in [line.split() for line in lines[2:23]]:
        assert row[4] == row[6] == row[2]
    assert lines[23].split()[3:] == ["±0", "±0.0600", "±0"]
    text = " ".join(out.split())
    assert "Protected by each column at eps = 50: people who change at most one value, by at most 1. The 4" in text
    assert "The 4 columns together cost eps = 200: publish one." in text


def test_the_mechanism_without_being_asked_fits_the_numbers(capsys, tmp_path):
    for text, sensitivity, discrete in [("1\n2", 1, True), ("1.0\n2", 1, True), ("1\n2.5", 1, False), ("1\n2", 0.5, False)]:
        (tmp_path / "table.csv").write_text(f"count\n{text}\n")
        code, out, _ = run(capsys, "release", tmp_path / "table.csv", "--sensitivity", sensitivity, "--show-true")
        assert code == 0
        out = out.partition("\n")[2]
        assert out.split()[:4] == (
            ["true", "discrete", "count", "staircase"] if discrete else ["true", "count", "staircase", *out.split()[3:4]]
        )


def test_release_of_a_table(capsys, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("\ufeffcity,income\nA,1.5\n\nB,2e3\n", encoding="utf-8")
    code, out, err = run(
        capsys, "release", table, "--column", "income", "--eps", 2, "--mechanism", "laplace", "--sensitivity", 0.5,
        "--max-partitions-contributed", 2, "--keep", "city", "--show-true",
    )  # fmt: skip
    assert (code, err) == (0, "")
    first, *lines = out.splitlines()
    assert first == "The column true is not private. Publish nothing of this screen."
    assert lines[1].split() == ["city", "income", "laplace"]
    assert lines[2].split()[:2] == ["A", "1.5"]
    assert lines[3].split()[:2] == ["B", "2000.0"]
    assert math.log(20) / 2 <= float(lines[4].split("±")[2]) <= math.log(20) / 2 + 0.02
    text = " ".join(out.split())
    assert "Protected at eps = 2: people who change at most 2 values, by at most 0.5." in text
    assert "together" not in text


@pytest.mark.parametrize("mechanism", ["staircase", "discrete_staircase", "laplace", "discrete_laplace"])
def test_release_mechanisms(capsys, mechanism):
    code, out, _ = run(capsys, "release", "--sensitivity", "1", "--mechanism", mechanism)
    assert code == 0
    assert mechanism.split("_")[-1] in out


def test_bundled_table():
    table = read_table(None, "count")
    assert table.key_names == ["marital_status", "race"]
    assert len(table.values) == len(table.keys) == 21
    assert all(type(value) is int for value in table.values)


# compare


@pytest.mark.parametrize("cost", [[], ["--cost", "l2"]])
@pytest.mark.parametrize("sensitivity", ["1", "0.5", "7"])
def test_compare(capsys, sensitivity, cost):
    code, out, err = run(capsys, "compare", "--eps", 4, "--sensitivity", sensitivity, *cost)
    assert (code, err) == (0, "")
    table = sn.compare(4, float(sensitivity), cost[-1] if cost else "l1")
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    first = lines.index(f"eps = 4, sensitivity = {sensitivity}")
    assert tuple(re.split(r"  +", lines[first + 2].strip())) == table.headings
    rows = [tuple(re.split(r"  +", line.strip())) for line in lines[first + 3 :][: len(table)]]
    assert rows == table.texts()
    text = " ".join(out.split())
    assert text.startswith(table.recommendation)
    assert all(note in text for note in table.notes)


def test_compare_of_many_releases(capsys):
    code, out, err = run(capsys, "compare", "--eps", 4, "--delta", "1e-6", "--releases", 3)
    assert (code, err) == (0, "")
    table = sn.compare(4, delta=1e-6, releases=3)
    lines = out.splitlines()
    first = lines.index("eps = 4, sensitivity = 1, releases = 3")
    assert [line.split()[0] for line in lines[first + 3 :]] == [row.name for row in table]
    assert " ".join(out.split()).startswith(table.recommendation)


def test_compare_as_data(capsys):
    """At ε = 700 the ratio of discrete noise is 0/0 in float64: NaN in the rows, null in JSON."""
    asked = ("compare", "--eps", 700, "--people-in", 1)
    code, out, err = run(capsys, *asked, "--json")
    assert (code, err) == (0, "")
    table, read = sn.compare(700), json.loads(out, parse_constant=pytest.fail)
    assert (read["max_partitions_contributed"], read["recommendation"]) == (1, table.recommendation)
    assert [row["ratio"] for row in read["rows"]] == [None if math.isnan(row.ratio) else row.ratio for row in table]
    code, out, err = run(capsys, "compare", "--eps", 1, "--people-in", 3, "--csv")
    assert (code, err) == (0, "")
    rows = list(csv.DictReader(out.splitlines()))
    assert [(row["name"], float(row["mean_abs"]), row["p_zero"] == "") for row in rows] == [
        (row.name, row.mean_abs, row.p_zero is None) for row in sn.compare(1, max_partitions_contributed=3)
    ]
    assert "people in = 3\n" in run(capsys, "compare", "--eps", 1, "--people-in", 3)[1]


# plot


@pytest.mark.parametrize(
    ("arguments", "mechanism"),
    [
        (["laplace", "--eps", "3"], sn.Laplace(3)),
        (["staircase", "--eps", "2", "--sensitivity", "0.5", "--gamma", "l2"], sn.Staircase(2, 0.5, "l2")),
        (["discrete_staircase", "--eps", "1", "--sensitivity", "3", "--r", "1"], sn.DiscreteStaircase(1, 3, 1)),
        (["truncated_laplace", "--eps", "1", "--delta", "1e-3"], sn.TruncatedLaplace(1, 1e-3)),
    ],
)
def test_plot_writes_a_file(capsys, tmp_path, arguments, mechanism):
    file = tmp_path / "figure with a space.svg"
    assert run(capsys, "plot", *arguments, "-o", file) == (0, f"written to {file}\n", "")
    with style.house_style():
        figure, [axes] = style.new_figure("")
        mechanism.plot(axes)
    style.save(figure, tmp_path / "same.svg")
    assert file.read_bytes() == (tmp_path / "same.svg").read_bytes()


def test_plot_without_matplotlib(capsys, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run(capsys, "plot", "laplace", "--eps", "1", "-o", tmp_path / "laplace.svg")
    assert (code, out) == (2, "")
    assert err == "error: plots need matplotlib: pip install matplotlib\n"


# Bad input

BAD_INPUT = [
    (["sample"], "Missing option '-n'"),
    (["sample", "-n", "10"], "Missing option '--eps', which the mechanism 'staircase' needs."),
    (["sample", "-n", "1", "--eps", "1", "--mechanism", "gaussian"], "Missing option '--delta', which the mechanism 'gaussian' "),
    (["sample", "-n", "1", "--mechanism", "discrete_gaussian"], "Missing option '--sigma2', which the mechanism"),
    (["sample", "-n", "1", "--alpha", "1", "--theta", "1", "--mechanism", "arete"], "Missing option '--lam', which"),
    (["sample", "-n", "x", "--eps", "1"], "Invalid value for '-n'"),
    (["sample", "-n", "1.5", "--eps", "1"], "Invalid value for '-n'"),
    (["sample", "-n", "-1", "--eps", "1"], "--number must be a non-negative integer below 2**63"),
    (["sample", "-n", "1" + 20 * "0", "--eps", "1"], "--number must be a non-negative integer below 2**63"),
    (["sample", "-n", str(2**61), "--eps", "1"], "--number must be small enough to index"),
    (["sample", "-n", str(2**58), "--eps", "1"], "the values do not fit into memory"),
    (["sample", "-n", "1", "--eps", "0"], "--eps must be finite and greater than 0, got 0.0"),
    (["sample", "-n", "1", "--eps", "nan"], "--eps must be finite and greater than 0, got nan"),
    (["sample", "-n", "1", "--eps", "1", "--gamma", "l3"], '--gamma must be "l1", "l2" or a number, got \'l3\''),
    (["sample", "-n", "1", "--eps", "1", "--r", "1"], "--r must be left out for the mechanism 'staircase'"),
    (["sample", "-n", "1", "--eps", "1", "--mechanism", "gauss"], "--mechanism must be 'staircase'"),
    (["sample", "-n", "1", "--eps", "1", "--seed", "-1"], "--seed must be an integer from 0 to 2**128 - 1, got -1"),
    (["sample", "-n", "1", "--eps", "1", "--output", "/no/such/x.npy"], "/no/such/x.npy: No such file or directory"),
    (["release", "--sensitivity", "1", "--eps", "-1"], "--eps must be finite and greater than 0, got -1.0"),
    (["release", "--compare", "--sensitivity", "1.5"], "--sensitivity must be a whole number for a discrete mechanism, got 1.5"),
    (["release", "--sensitivity", "1", "--mechanism", "gauss"], "--mechanism must be 'staircase'"),
    (["release", "--sensitivity", "1", "--column", "sum"], "--column must be in the header, which has 3 names, got 'sum'"),
    (["release", "--sensitivity", "1", "--column", "race"], "line 2: 'race' is not a number"),
    (
        ["release", "--sensitivity", "1", "--max-partitions-contributed", "0"],
        "--max-partitions-contributed must be an integer from 1",
    ),
    (["release", "--sensitivity", "1", "no/such.csv"], "no/such.csv: No such file or directory"),
    (["release", "--sensitivity", "1", "."], ".: Is a directory"),
    (["compare"], "Missing option '--eps'"),
    (["compare", "--eps", "1", "--people-in", "0"], "--people-in must be an integer from 1 to 2**53 - 1, got 0"),
    (["compare", "--eps", "1", "--json", "--csv"], "--json must be left out with --csv"),
    (["compare", "--eps", "0"], "--eps must be finite and greater than 0, got 0.0"),
    (["compare", "--eps", "1", "--releases", "0"], "--releases must be an integer from 1 to 2**20, got 0"),
    (["compare", "--eps", "1", "--cost", "l3"], '--cost must be "l1" or "l2", got \'l3\''),
    (["sample", "-n", "1", "--eps", "1", "--mechanism", "Laplace"], "--mechanism must be 'staircase', "),
    (["sample", "-n", "1", "--eps", "1", "--mechanism", "merged_laplace"], "--mechanism must be 'staircase', "),
    (["release", "--sensitivity", "1", "--mechanism", "Laplace"],
     "--mechanism must be 'staircase', 'discrete_staircase', 'laplace' or "
     "'discrete_laplace', got 'Laplace'; did you mean 'laplace'?"),
    (
        ["release", "--sensitivity", "1", "--compare", "--mechanism", "laplace"],
        "--mechanism must be left out with --compare, got 'laplace'",
    ),
    (
        ["release", "--sensitivity", "1", "--delimiter", "dot"],
        "--delimiter must be comma, semicolon, tab, pipe or one character, got 'dot'",
    ),
    (["release", "--sensitivity", "1", "--encoding", "latin-9000", "table.csv"], "table.csv: No such file or directory"),
    (["release", "--compare", "--sensitivity", "0.5"], "--sensitivity must be a whole number for a discrete mechanism, got 0.5; "
     "--mechanism staircase and --mechanism laplace take it"),
    (["plot", "histogram", "-o", "x.png"], "mechanism must be 'staircase', "),
    (["plot", "laplace", "--eps", "1"], "Missing option '-o' / '--output'"),
    (["plot", "laplace", "-o", "x.png"], "Missing option '--eps'"),
    (["plot", "laplace", "--eps", "1", "-o", "x.jpg"], "--output must end in .png or .svg, got 'x.jpg'"),
    (["plot", "laplace", "--eps", "1", "-o", "/no/such/x.png"], "/no/such/x.png: No such file or directory"),
    (["plot", "laplace", "--eps", "1", "-o", "x.png", "--r", "1"], "--r must be left out for the mechanism 'laplace', got 1.0"),
    (["plot", "laplace", "-o", "x.png", "--eps", "nan"], "--eps must be finite and greater than 0, got nan"),
    (["plot", "skellam", "-o", "x.png"], "mechanism must be 'staircase', "),
    (["plot", "multivariate_staircase", "--eps", "1", "-o", "x.png"], "mechanism must be 'staircase', "),
    (["paint"], "No such command 'paint'"),
    (["--colour"], "No such option: --colour"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "text"), BAD_INPUT)
def test_bad_input_is_one_line(capsys, arguments, text):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"error: {text}")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "must be a CSV file with a header line"),
        (b"count\n\xff\n", "must be UTF-8, got other bytes in line 2"),
        (b"a,count\nx,1,2\n", "line 2 must have 2 fields, as the header has, got 3"),
        (b"a,count\nx,1\ny\n", "line 3 must have 2 fields, as the header has, got 1"),
        (b"a,count\nx,1\ny,\n", "line 3: 'count' is empty; expected a number"),
        (b"a,count\nx,1\ny,nan\n", "line 3: 'count' is not a number"),
        (b"a,count\nx,1\ny,1e999\n", "line 3: 'count' is a number beyond float64"),
        (b"a,count\nx,99999999999999999999\n", "values must be within int64, got one that is not at index (0,)"),
    ],
)
def test_bad_tables(capsys, tmp_path, content, text):
    table = tmp_path / "table.csv"
    table.write_bytes(content)
    code, out, err = run(capsys, "release", "--sensitivity", "1", table)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert text in err
    assert err.count("\n") == 1


def test_table_without_rows(capsys, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("a,count\n")
    assert run(capsys, "release", "--sensitivity", "1", table)[0] == 0


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra(capsys, monkeypatch, missing):
    real_import = builtins.__import__

    def no_extra(name, *arguments):
        if name.partition(".")[0] == missing:
            raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)
        return real_import(name, *arguments)

    for name in [n for n in sys.modules if n.startswith("stairnoise.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", no_extra)
    code, out, err = run(capsys, "--version")
    assert (code, out) == (2, "")
    assert err == "the command line needs typer and rich: pip install typer rich\n"


def test_other_missing_modules_are_not_blamed_on_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "stairnoise.cli.commands", None)
    importlib.invalidate_caches()
    with pytest.raises(ModuleNotFoundError):
        main([])


def test_ctrl_c_ends_without_a_word(capsys, monkeypatch):
    """The exit code is Typer's own, which differs between versions."""

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("stairnoise.cli.commands.read_table", interrupt)
    code, out, err = run(capsys, "release", "--sensitivity", "1")
    assert (code in {1, 130}, out.strip(), err.strip()) == (True, "", "")


def test_exit_code_of_the_process():
    code = "import sys; from stairnoise.cli import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", code, "sample"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: Missing option '-n' / '--number'.\n"
