"""The commands, their options, and the errors of bad input."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import typer

import stairnoise
from stairnoise._errors import ParameterError, ParameterTypeError, StairnoiseError, arguments_of, check, meant
from stairnoise._optional import MissingPackageError
from stairnoise._sample import make_mechanism, needed_parameters
from stairnoise.cli.compared import print_comparison, print_csv, print_json
from stairnoise.cli.csv_table import DELIMITERS, read_table
from stairnoise.cli.ledger import ledger
from stairnoise.cli.noise_report import print_noise_report, require_suffix
from stairnoise.cli.options import AllDigits, File, Integer, Number, ShowTrue, Text, Texts, option, options_of, with_options
from stairnoise.cli.private_table import new_file, print_private_table, print_written, private_column, written
from stairnoise.cli.query import bounds_in_one, csv_fields, query
from stairnoise.cli.screen import console, plain
from stairnoise.cli.selftest import selftest
from stairnoise.figures import style
from stairnoise.registry import BY_NAME, ROWS

_USAGE_ERROR = 2
# Typer has moved its usage errors between modules, but not the base class of the one that it exports.
_UsageError: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="stairnoise",
    help="Exact, cryptographically random noise for differential privacy.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Bad input prints one line; any other error keeps its traceback."""
    given = bounds_in_one(sys.argv[1:] if arguments is None else list(arguments))
    try:
        code = _command()(args=given or ["--help"], prog_name="stairnoise", standalone_mode=False, terminal_width=_help_width())
    except _UsageError as error:
        return _complain(error.format_message())
    except (ParameterError, ParameterTypeError) as error:
        return _complain(with_options(str(error), _options_of(given)))
    except (StairnoiseError, MissingPackageError) as error:
        return _complain(str(error))
    except UnicodeEncodeError:
        return _complain("the terminal must be able to show Unicode: set PYTHONIOENCODING=utf-8")
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}")
    except MemoryError:
        return _complain("the values do not fit into memory")
    except typer.Abort:
        return 1
    return code if isinstance(code, int) else 0


@cache
def _command() -> Any:
    """Return the application as Click's command. Typer takes longer to make it than most commands to run."""
    return typer.main.get_command(app)


def _options_of(given: Sequence[str]) -> dict[str, str]:
    """Return the options of the command in the arguments."""
    commands = _command().commands
    return options_of(next(commands[word] for word in given if word in commands))


def _help_width() -> int:
    """Return the width of help: that of the terminal within limits; Click itself is never narrower than 50."""
    return min(max(get_terminal_size().columns - 1, 20), 110)


def _complain(text: str) -> int:
    screen = console(stderr=True)
    # Scripts read errors by line, so only a terminal gets several.
    screen.print("error:", plain(" ".join(text.split())), soft_wrap=not screen.is_terminal)
    return _USAGE_ERROR


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"stairnoise {stairnoise.__version__}")
        raise typer.Exit


_VERSION = typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")


@app.callback()
def _options(version: Annotated[bool, _VERSION] = False) -> None:
    pass


_RELEASED = tuple(row.name for row in ROWS if row.released)
_SAMPLED = tuple(row.name for row in ROWS if row.sampled)

_DRAWN = tuple(row.name for row in ROWS if row.of_numbers and set(needed_parameters(row.name, ())) <= {"eps", "delta"})

_EPS = "Privacy parameter ε of one value: a smaller one is more private."
_SENSITIVITY = "Largest change of one value that one person can cause."

_SEED = "Draw the same noise in every run with this seed, for studies. Without it the noise is secure."
_VALUES = "Write the values to this file: .npy for NumPy, .csv for one value a line."
_CENSUS = (
    "CSV file with a header line; - reads standard input. Without it: a demonstration with 21 public counts of the "
    "Adult census, marital status by race."
)
_HOW = f"How to protect it: {', '.join(_RELEASED)}. Without it: discrete_staircase for whole numbers, staircase for others."
_BY_EVERY = f"Release the column {len(_RELEASED)} times, by every mechanism. That costs {len(_RELEASED)} times eps."
_KEEP = "Public column to publish as it is, or several with commas; may be repeated."
_WRITTEN = "CSV file to write: only the kept columns and the private one."
_DELIMITER = f"The separator of fields: {', '.join(DELIMITERS)} or one character. Without it: found by the header."
_ENCODING = "Encoding of the file, such as latin-1. Without it: that of a byte order mark, else UTF-8."
_WITH_DELTA = "The δ of the guarantee, such as 1e-6. It adds the mechanisms that need a δ."
_PEOPLE_IN = "How many values one person can change, with one guarantee for all."
_RELEASES = "How many releases share eps and delta. Without it: eps is that of one release."

_OF_SAMPLE = frozenset({"n", "mechanism", "seed", "output", "verbose"})

Eps = Annotated[float, typer.Option(help=_EPS)]
Sensitivity = Annotated[float, typer.Option(help=_SENSITIVITY)]

_PARAMETERS = {row.name: arguments_of(row.load().__init__) for row in ROWS if row.sampled}


def _some(parameter: str, text: str) -> Any:
    """Make the option for a parameter that only some mechanisms have."""
    mechanisms = ", ".join(name for name, parameters in _PARAMETERS.items() if parameter in parameters)
    return option(help=f"For {mechanisms}: {text}")


Gamma = Annotated[Text, _some("gamma", "width of the first step. l1 and l2 choose the best one for E|X| and E X².")]
R = Annotated[Text, _some("r", "width of the first step, an integer. l1 and l2 choose the best one.")]
Delta = Annotated[Number, _some("delta", "δ of the guarantee, such as 1e-6.")]


@app.command(short_help="Draw noise and compare it with the theory.")
def sample(
    n: Annotated[int, typer.Option("-n", "--number", help="How many values to draw.")],
    eps: Annotated[Number, option(help=_EPS)] = None,
    sensitivity: Annotated[Number, option(help=f"{_SENSITIVITY} Default: 1.")] = None,
    mechanism: Annotated[str, typer.Option(help=f"What to draw: {', '.join(_SAMPLED)}.")] = "staircase",
    seed: Annotated[Integer, typer.Option(help=_SEED)] = None,
    output: Annotated[File, typer.Option("-o", "--output", help=_VALUES)] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Print the type, the lattice and the time too.")] = False,
    gamma: Gamma = None,
    r: R = None,
    delta: Delta = None,
    sigma: Annotated[Number, _some("sigma", "its σ, instead of eps and delta, or of sigma2.")] = None,
    sigma2: Annotated[Number, _some("sigma2", "its σ², nearly the variance.")] = None,
    scale: Annotated[Number, _some("scale", "its scale, instead of eps and sensitivity.")] = None,
    std: Annotated[Number, _some("std", "its standard deviation, instead of eps, delta and sensitivity.")] = None,
    mu: Annotated[Number, _some("mu", "its variance μ.")] = None,
    lower: Annotated[Number, _some("lower", "smallest noise.")] = None,
    upper: Annotated[Number, _some("upper", "largest noise.")] = None,
    beta: Annotated[Number, _some("beta", "shape β.")] = None,
    a: Annotated[Number, _some("a", "decay of the tail per integer.")] = None,
    alpha: Annotated[Number, _some("alpha", "shape α.")] = None,
    theta: Annotated[Number, _some("theta", "scale θ.")] = None,
    lam: Annotated[Number, _some("lam", "scale λ.")] = None,
    n_parties: Annotated[Integer, _some("n_parties", "how many parties add a share of the noise.")] = None,
    present: Annotated[Integer, _some("present", "how many of the shares are in the sum.")] = None,
    dim: Annotated[Integer, _some("dim", "length of the vectors.")] = None,
    norm: Annotated[Text, _some("norm", "norm of the vectors: l1, l2 or linf.")] = None,
) -> None:
    """Draw noise and compare it with the theory.

    For example: stairnoise sample -n 1000000 --eps 1 --mechanism laplace
    """
    # All other options are parameters of some mechanism.
    parameters = {name: value for name, value in locals().items() if name not in _OF_SAMPLE}
    parameters |= {"gamma": _shape(gamma), "r": _shape(r)}
    _require_needed(mechanism, parameters, _SAMPLED)
    made = make_mechanism(mechanism, **parameters)
    require_suffix(output)
    print_noise_report(console(), made, n, seed=seed, output=output, verbose=verbose)


@app.command(short_help="Add noise to one column of a table.")
def release(
    sensitivity: Sensitivity,
    csv: Annotated[File, typer.Argument(help=_CENSUS, show_default=False)] = None,
    eps: Eps = 1.0,
    column: Annotated[str, typer.Option(help="Name of the column to protect.")] = "count",
    mechanism: Annotated[Text, option(help=_HOW)] = None,
    comparison: Annotated[bool, typer.Option("--compare", help=_BY_EVERY)] = False,
    max_partitions_contributed: Annotated[int, typer.Option(help="How many of the values one person can change.")] = 1,
    keep: Annotated[Texts, option(help=_KEEP)] = None,
    output: Annotated[File, typer.Option("-o", "--output", help=_WRITTEN)] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    all_digits: AllDigits = False,
    show_true: ShowTrue = False,
    delimiter: Annotated[Text, typer.Option(help=_DELIMITER)] = None,
    encoding: Annotated[Text, typer.Option(help=_ENCODING)] = None,
) -> None:
    """Add noise to one column of a table, and show or write what can be published: that column, and the columns you keep.

    For example: stairnoise release visits.csv --column visits --keep city --eps 0.5 -o private.csv
    """
    check(not comparison or mechanism is None, f"mechanism must be left out with --compare, got {mechanism!r}")
    if output is not None and (comparison or show_true):
        wrong = "--compare" if comparison else "--show-true"
        raise ParameterError(f"output must be left out with {wrong}: the file could be published, got {str(output)!r}")
    file = None if output is None else new_file(output, csv, overwrite=force)
    wanted = _RELEASED if comparison else (mechanism,) if mechanism else ()
    mechanisms = {name: _mechanism_of_eps(name, eps, sensitivity) for name in wanted}
    table = read_table(csv, column, delimiter, encoding)
    if not mechanisms:
        name = "discrete_staircase" if table.whole and sensitivity.is_integer() else "staircase"
        mechanisms = {name: _mechanism_of_eps(name, eps, sensitivity)}
    demonstration = csv is None and file is None
    kept = [name or "" for text in keep or [] for name in csv_fields(text, "keep")]
    table = table if demonstration and not kept else table.keeping(kept)
    columns = {
        name: private_column(made, table, max_partitions_contributed, all_digits=all_digits) for name, made in mechanisms.items()
    }
    if output is None or file is None:
        print_private_table(console(), table, columns, max_partitions_contributed, show_true=show_true or demonstration)
        return
    (private,) = columns.values()
    file.write(written(table, private))
    print_written(console(), output, table, private, max_partitions_contributed)


@app.command(short_help="Compare the mechanisms for an eps.")
def compare(
    eps: Eps,
    sensitivity: Sensitivity = 1.0,
    cost: Annotated[str, typer.Option(help="Which mean error to compare: l1 for E|X|, l2 for E X².")] = "l1",
    delta: Annotated[Number, typer.Option(help=_WITH_DELTA)] = None,
    releases: Annotated[Integer, typer.Option(help=_RELEASES)] = None,
    max_partitions_contributed: Annotated[int, typer.Option("--people-in", help=_PEOPLE_IN, metavar="K")] = 1,
    everything: Annotated[bool, typer.Option("--all", help="Compare every mechanism, those for noise in shares too.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON and nothing else.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print the rows as CSV and nothing else.")] = False,
) -> None:
    """Compare the mechanisms, and recommend one.

    For example: stairnoise compare --eps 0.5 --sensitivity 3
    """
    check(not (json and csv), "--json must be left out with --csv")
    options: Any = {"cost": cost, "delta": delta, "releases": releases, "mechanisms": "all" if everything else None}
    compared = stairnoise.compare(eps, sensitivity, max_partitions_contributed=max_partitions_contributed, **options)
    if json:
        print_json(compared)
    elif csv:
        print_csv(compared)
    else:
        print_comparison(console(), compared)


@app.command(short_help="Draw a picture of a mechanism.")
def plot(
    mechanism: Annotated[str, typer.Argument(help=f"What to draw: {', '.join(_DRAWN)}.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Write the picture to this file: .png or .svg.")],
    eps: Annotated[Number, typer.Option(help=_EPS)] = None,
    sensitivity: Annotated[Number, typer.Option(help=_SENSITIVITY)] = None,
    delta: Delta = None,
    gamma: Gamma = None,
    r: R = None,
) -> None:
    """Draw the density or the probabilities of a mechanism's noise, and of Laplace noise for comparison.

    For example: stairnoise plot staircase --eps 4 -o staircase.svg
    """
    parameters = {"eps": eps, "sensitivity": sensitivity, "delta": delta, "gamma": _shape(gamma), "r": _shape(r)}
    path = style.require_suffix(output)
    _require_needed(mechanism, parameters, _DRAWN)
    made = make_mechanism(mechanism, **parameters)
    with style.house_style():
        figure, [axes] = style.new_figure("")
        made.plot(axes)
    style.save(figure, path)
    console().print(f"written to {plain(str(path))}", soft_wrap=True)


app.command(short_help="Ask a database, and get a table that can be published.")(query)
app.command(short_help="Test this installation.")(selftest)
app.command(short_help="Show what a budget was spent on.")(ledger)


def _require_offered(mechanism: str, offered: tuple[str, ...]) -> None:
    if mechanism not in offered:
        choice = f"{', '.join(map(repr, offered[:-1]))} or {offered[-1]!r}"
        raise ParameterError(f"mechanism must be {choice}, got {mechanism!r}{meant(mechanism, offered)}")


def _require_needed(mechanism: str, parameters: dict[str, Any], offered: tuple[str, ...]) -> None:
    """Refuse a mechanism if an option that it needs is missing, as commands refuse a missing option."""
    _require_offered(mechanism, offered)
    for name in needed_parameters(mechanism, {name for name, value in parameters.items() if value is not None}):
        if parameters[name] is None:
            raise _UsageError(f"Missing option '--{name.replace('_', '-')}', which the mechanism {mechanism!r} needs.")


def _mechanism_of_eps(name: str, eps: float, sensitivity: float) -> Any:
    _require_offered(name, _RELEASED)
    try:
        return BY_NAME[name].load()(eps, sensitivity)
    except ParameterError as error:
        if BY_NAME[name].kind == "continuous" or sensitivity.is_integer():
            raise
        others = " and ".join(f"--mechanism {row.name}" for row in ROWS if row.released and row.kind == "continuous")
        raise ParameterError(f"{error}; {others} take it") from None


def _shape(text: str | None) -> Any:
    """Parse a shape parameter; the mechanism refuses a text that is not l1, l2 or a number."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text
