"""The commands, their options, and the treatment of bad input."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import stairnoise
from stairnoise import figures
from stairnoise._errors import ParameterError, StairnoiseError, arguments_of, meant
from stairnoise._optional import MissingPackageError
from stairnoise._registry import BY_NAME, ROWS
from stairnoise._sample import make_law, needed_parameters
from stairnoise.cli.comparison_table import print_comparison
from stairnoise.cli.figure_list import print_figures
from stairnoise.cli.ledger import ledger
from stairnoise.cli.noise_report import print_noise_report
from stairnoise.cli.private_table import print_private_table, read_table
from stairnoise.cli.query import query
from stairnoise.cli.selftest import selftest

_USAGE_ERROR = 2
# Typer has moved its usage errors between modules, but not the base class of the one that it exports.
_UsageError: Any = typer.BadParameter.__mro__[1]

app = typer.Typer(
    name="stairnoise",
    help="Exact, cryptographically random noise for differential privacy.",
    add_completion=False,
    pretty_exceptions_enable=False,
)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error in the input prints one line, any other error keeps its traceback."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = app(args=given or ["--help"], prog_name="stairnoise", standalone_mode=False)
    except _UsageError as error:
        return _complain(error.format_message())
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


def _complain(text: str) -> int:
    print("error:", " ".join(text.split()), file=sys.stderr)
    return _USAGE_ERROR


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"stairnoise {stairnoise.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print and stop."),
    ] = False,
) -> None:
    pass


_RELEASED = tuple(row.name for row in ROWS if row.released)
_SAMPLED = tuple(row.name for row in ROWS if row.sampled)

_EPS = "Privacy parameter ε of one value: a smaller one is more private."
_SENSITIVITY = "Largest change of one value that one person can cause."

Eps = Annotated[float, typer.Option(help=_EPS)]
Sensitivity = Annotated[float, typer.Option(help=_SENSITIVITY)]
Gamma = Annotated[str | None, typer.Option(help="Shape of the staircase: l1, l2 or a number.")]
R = Annotated[str | None, typer.Option(help="Shape of the discrete staircase: l1, l2 or a number.")]


_PARAMETERS = {row.name: arguments_of(row.load().__init__) for row in ROWS if row.sampled}


def _some(parameter: str, text: str) -> Any:
    """Make the option of `sample` for a parameter that only some mechanisms have."""
    mechanisms = ", ".join(name for name, parameters in _PARAMETERS.items() if parameter in parameters)
    return typer.Option(help=f"For {mechanisms}: {text}", show_default=False, rich_help_panel="Options of some mechanisms")


@app.command()
def sample(
    n: Annotated[int, typer.Option("-n", "--number", help="How many values.")],
    eps: Annotated[float | None, typer.Option(help=_EPS, show_default=False)] = None,
    sensitivity: Annotated[float | None, typer.Option(help=_SENSITIVITY, show_default="1")] = None,
    mechanism: Annotated[str, typer.Option(help=f"One of {', '.join(_SAMPLED)}.")] = "staircase",
    seed: Annotated[int | None, typer.Option(help="Reproducible noise, for studies; default: secure.")] = None,
    output: Annotated[Path | None, typer.Option(help="File to write the values to, in NumPy's .npy format.")] = None,
    gamma: Annotated[str | None, _some("gamma", "shape: l1, l2 or a number.")] = None,
    r: Annotated[str | None, _some("r", "shape: l1, l2 or an integer.")] = None,
    delta: Annotated[float | None, _some("delta", "δ of the guarantee.")] = None,
    sigma2: Annotated[float | None, _some("sigma2", "its σ², nearly the variance.")] = None,
    lower: Annotated[float | None, _some("lower", "least noise.")] = None,
    upper: Annotated[float | None, _some("upper", "largest noise.")] = None,
    beta: Annotated[float | None, _some("beta", "shape β.")] = None,
    a: Annotated[float | None, _some("a", "decay of the tail per integer.")] = None,
    alpha: Annotated[float | None, _some("alpha", "shape α.")] = None,
    theta: Annotated[float | None, _some("theta", "scale θ.")] = None,
    lam: Annotated[float | None, _some("lam", "scale λ.")] = None,
    n_parties: Annotated[int | None, _some("n_parties", "how many parties add a share of the noise.")] = None,
    present: Annotated[int | None, _some("present", "how many of the shares are in the sum.")] = None,
    dim: Annotated[int | None, _some("dim", "length of the vectors.")] = None,
    norm: Annotated[str | None, _some("norm", "norm of the vectors: l1, l2 or linf.")] = None,
) -> None:
    """Draw noise and compare it with the theory.

    For example: stairnoise sample -n 1000000 --eps 1 --mechanism laplace
    """
    parameters = {
        "eps": eps,
        "sensitivity": sensitivity,
        "gamma": _shape(gamma),
        "r": _shape(r),
        "delta": delta,
        "sigma2": sigma2,
        "lower": lower,
        "upper": upper,
        "beta": beta,
        "a": a,
        "alpha": alpha,
        "theta": theta,
        "lam": lam,
        "n_parties": n_parties,
        "present": present,
        "dim": dim,
        "norm": norm,
    }
    _require_needed(mechanism, parameters)
    law = make_law(mechanism, **parameters)
    print_noise_report(Console(highlight=False), law, n, seed=seed, output=output)


@app.command()
def release(
    csv: Annotated[
        Path | None,
        typer.Argument(
            help="Table with a header line; default: 21 counts of the Adult census, marital status by race.",
            show_default=False,
        ),
    ] = None,
    eps: Eps = 1.0,
    column: Annotated[str, typer.Option(help="The column to protect.")] = "count",
    mechanism: Annotated[
        list[str] | None,
        typer.Option(help=f"One of {', '.join(_RELEASED)}; may be repeated.", show_default="all"),
    ] = None,
    sensitivity: Sensitivity = 1.0,
    max_partitions_contributed: Annotated[int, typer.Option(help="How many of the values one person can change.")] = 1,
) -> None:
    """Add noise to one column of a table: true and private values side by side.

    For example: stairnoise release visits.csv --column visits --eps 0.5
    """
    laws = {name: _law_of_eps(name, eps, sensitivity) for name in mechanism or _RELEASED}
    table = read_table(csv, column)
    print_private_table(Console(highlight=False), table, laws, max_partitions_contributed)


@app.command()
def compare(
    eps: Eps,
    sensitivity: Sensitivity = 1.0,
    cost: Annotated[str, typer.Option(help="What counts: l1 for E|X|, l2 for E X².")] = "l1",
    delta: Annotated[float | None, typer.Option(help="δ of the guarantee; adds the mechanisms that need one.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every mechanism, those for noise in shares included.")] = False,
) -> None:
    """Compare the mechanisms, and say which one to choose.

    For example: stairnoise compare --eps 0.5 --sensitivity 3
    """
    mechanisms: Any = "all" if everything else None
    print_comparison(
        Console(highlight=False),
        stairnoise.compare(eps, sensitivity, cost=cost, delta=delta, mechanisms=mechanisms),  # type: ignore[arg-type]
    )


@app.command()
def plot(
    name: Annotated[str | None, typer.Argument(help="Which figure; default: list them.", show_default=False)] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write, .png or .svg.")] = None,
    eps: Annotated[float | None, typer.Option(help="Privacy parameter, for figures that have one.")] = None,
    sensitivity: Annotated[float | None, typer.Option(help="Sensitivity, for figures that have one.")] = None,
    gamma: Gamma = None,
    r: R = None,
) -> None:
    """Draw one of the classic figures about staircase noise.

    For example: stairnoise plot gain -o gain.svg
    """
    console = Console(highlight=False)
    if name is None:
        print_figures(console)
        return
    options = {"eps": eps, "sensitivity": sensitivity, "gamma": _shape(gamma), "r": _shape(r)}
    figures.check(name, options)
    if output is None:
        raise ParameterError("output must be the file to write, such as -o " + name + ".png, got None")
    path = figures.require_suffix(output)
    figures.save(figures.draw(name, **options), path)
    console.print(f"written to {path}", soft_wrap=True)


app.command()(query)
app.command()(selftest)
app.command()(ledger)


def _require_needed(mechanism: str, parameters: dict[str, Any]) -> None:
    """Refuse a mechanism if an option without a default is missing, as commands refuse a missing option."""
    for name in needed_parameters(mechanism):
        if name not in parameters:
            raise ParameterError(f"mechanism must be {_choice(_SAMPLED)}, got {mechanism!r}, which has several rates")
        if parameters[name] is None:
            raise _UsageError(f"Missing option '--{name.replace('_', '-')}', which the mechanism {mechanism!r} needs.")


def _law_of_eps(name: str, eps: float, sensitivity: float) -> Any:
    if name not in _RELEASED:
        raise ParameterError(f"mechanism must be {_choice(_RELEASED)}, got {name!r}{meant(name, _RELEASED)}")
    try:
        return BY_NAME[name].load()(eps, sensitivity)
    except ParameterError as error:
        if BY_NAME[name].kind == "continuous" or sensitivity.is_integer():
            raise
        others = " and ".join(f"--mechanism {row.name}" for row in ROWS if row.released and row.kind == "continuous")
        raise ParameterError(f"{error}; {others} take it") from None


def _choice(names: tuple[str, ...]) -> str:
    *others, last = map(repr, names)
    return f"{', '.join(others)} or {last}"


def _shape(text: str | None) -> Any:
    """Parse a shape parameter; the mechanism refuses a text that is not l1, l2 or a number."""
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        return text
