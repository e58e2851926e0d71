"""Command ``stairnoise query``: its options, and how they become a release."""

from __future__ import annotations

import datetime
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import stairnoise
from stairnoise._errors import ParameterError, check, meant
from stairnoise._parameters import positive
from stairnoise.cli.options import ALL_DIGITS, SHOW_TRUE, File, Number, Text, Texts, naming, option
from stairnoise.cli.query_screen import print_bounds, print_release
from stairnoise.cli.screen import console, plain
from stairnoise.quantiles.plan import shares_of
from stairnoise.query.ask import top_of
from stairnoise.query.find_bounds import CONFIDENCE, EDGES, found
from stairnoise.query.groupings import own_groups
from stairnoise.query.mechanism import MECHANISMS
from stairnoise.query.private_table import Output
from stairnoise.query.question import Asked, same
from stairnoise.query.reading import CSV
from stairnoise.query.release import Release
from stairnoise.query.sources.spark import session

_INTERRUPTED = 130
_FIELD = re.compile(r'("(?:[^"]|"")*"|[^",]*),', re.DOTALL)
_RECORD = re.compile(r'("(?:[^"]|"")*"|[^",]*)(,("(?:[^"]|"")*"|[^",]*))*', re.DOTALL)
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SECRET_BYTES = 32
# Options that `Release` takes as they are.
_PASSED_ON = frozenset({"where", "person", "row_is_person", "max_groups", "eps", "delta", "mechanism", "confidence"})
_PASSED_ON |= {"nonnegative", "all_digits"}

# The kind, the column and the quantiles of each.
_Ranks = list[tuple[str, str, Any]]

_what = partial(option, rich_help_panel="What is asked")
_who = partial(option, rich_help_panel="Who is protected")
_price = partial(option, rich_help_panel="What it costs")
_file = partial(option, rich_help_panel="How a CSV or Parquet file is read")
_out = partial(option, rich_help_panel="What comes out")

_SOURCE = "A file of SQLite or DuckDB, a CSV or Parquet file, or postgresql://..."
_OUTPUT = "File to write: .csv (notes go to .csv.json), .parquet or .json."
_BY = "Column of the groups, or year, quarter, month, week, weekday or hour of one, as month(day); commas between several."
_GROUPS = (
    'The groups of a column, as COLUMN=a,b,"c, with a comma" or age=0..120; may be repeated. A column without them needs --delta.'
)
_BINS = "Groups that are intervals of a column, as age=0,18,65: [0, 18) and [18, 65); may be repeated."
_BOUNDS = "One person's minimum and maximum, as 0,100 or COLUMN=0,100; more is clipped."
_QUANTILE = "Quantiles of a column, as salary=0.9 or salary=0.25,0.5,0.75; needs --bounds; may be repeated."
_STEP = "Distance of candidates for a median or quantile, as 100 or COLUMN=100."
_SHARE = "How ε is divided, as count=2 or mean_COLUMN=1. Default: 1 for count, each mean and sum, and quantiles of each column."
_MAX_GROUPS = "The largest number of groups in which one person counts; only with --person."
_CONFIDENCE = "Probability that a private value is within its ± of the true one. Default: 0.95; of bounds that are found 0.999."
_TYPES = "Types, as age=integer,day=date:%d.%m.%Y: text, integer, real, boolean, date, timestamp. Other columns of CSV are text."


def query(
    eps: Annotated[float, _price("--eps", help="ε of the whole table: a smaller one is more private.")],
    source: Annotated[Text, typer.Argument(help=_SOURCE, show_default=False)] = None,
    spark: Annotated[Text, _what("--spark", help="Instead of a source, a table or view of Spark's catalog.")] = None,
    table: Annotated[Text, _what("--from", help="The table, if the source has several.")] = None,
    by: Annotated[Texts, _what("--by", help=_BY)] = None,
    groups: Annotated[Texts, _what("--groups", help=_GROUPS)] = None,
    bins: Annotated[Texts, _what("--bins", help=_BINS, metavar="COLUMN=EDGES")] = None,
    count: Annotated[bool, _what("--count", help="Count people in each group.")] = False,
    mean: Annotated[Texts, _what("--mean", help="Column to average; needs --bounds unless boolean; may be repeated.")] = None,
    sum_of: Annotated[Texts, _what("--sum", help="Column to add up; needs --bounds unless boolean; may be repeated.")] = None,
    median: Annotated[Texts, _what("--median", help="Column whose median is asked; needs --bounds; may be repeated.")] = None,
    quantile: Annotated[Texts, _what("--quantile", help=_QUANTILE, metavar="COLUMN=Q")] = None,
    top: Annotated[int | None, _what("--top", help="Select so many of the listed groups: those with the most people.")] = None,
    find_bounds: Annotated[Text, _what("--find-bounds", help="Instead: find bounds of this column, as powers of two.")] = None,
    bounds: Annotated[Texts, _what("--bounds", help=_BOUNDS, metavar="LOW,HIGH")] = None,
    steps: Annotated[Texts, _what("--step", help=_STEP)] = None,
    where: Annotated[Text, _what("--where", help='Condition on one row, such as "age >= 18".')] = None,
    row_is_person: Annotated[bool, _who("--row-is-person", help="Each row is a different person.")] = False,
    person: Annotated[Text, _who("--person", help="Column that says whose row it is.")] = None,
    max_groups: Annotated[int, _who(help=_MAX_GROUPS, show_default=True)] = 1,
    delta: Annotated[Number, _price("--delta", help="δ of the whole table; for groups that are not listed.")] = None,
    shares: Annotated[Texts, _price("--share", help=_SHARE)] = None,
    mechanism: Annotated[Text, _price(help=f"One of {', '.join(MECHANISMS)}; default: the recommended one.")] = None,
    ledger: Annotated[File, _price("--ledger", help="File that records what was spent.")] = None,
    budget: Annotated[Number, _price("--budget", help="ε that a new ledger holds.")] = None,
    budget_delta: Annotated[Number, _price(help="δ that a new ledger holds; releases with a --delta need one.")] = None,
    key_file: Annotated[File, _price(help="Secret of 32 bytes or 64 hex digits: equal questions get equal answers.")] = None,
    release_name: Annotated[Text, _price(help="Public name of this state of the data; with --key-file.")] = None,
    confidence: Annotated[Number, _out(help=_CONFIDENCE)] = None,
    nonnegative: Annotated[bool, _out("--nonnegative", help="Set negative private values to 0.")] = False,
    all_digits: Annotated[bool, _out("--all-digits", help=ALL_DIGITS)] = False,
    types: Annotated[Texts, _file("--type", help=_TYPES)] = None,
    delimiter: Annotated[Text, _file(help="Separator of fields; default: found in the header, one of , ; tab |.")] = None,
    quote: Annotated[str, _file(help="Around fields; empty for none.", show_default=True)] = '"',
    escape: Annotated[str, _file(help="Before a quote within quotes.", show_default=True)] = '"',
    encoding: Annotated[str, _file(help="Such as latin-1.", show_default=True)] = "utf-8",
    decimal: Annotated[str, _file(help="Decimal mark of real numbers.", show_default=True)] = ".",
    null: Annotated[Texts, _file("--null", help="Unquoted text that means null; may be repeated. Default: an empty one.")] = None,
    keep_blanks: Annotated[bool, _file("--keep-blanks", help="Keep blanks around names and values.")] = False,
    output: Annotated[File, _out("-o", "--output", help=_OUTPUT)] = None,
    force: Annotated[bool, _out("--force", help="Overwrite the file.")] = False,
    explain: Annotated[bool, _out("--explain", help="Print all notes, and what ε means for one person.")] = False,
    json: Annotated[bool, _out("--json", help="Print the table and all notes as JSON and nothing else.")] = False,
    show_true: Annotated[bool, _out("--show-true", help=SHOW_TRUE)] = False,
) -> None:
    """Ask a database for counts, means, sums and quantiles, and get a table that can be published.

    For example: stairnoise query people.csv --by city --groups city=Bern,Chur --count --row-is-person --eps 1
    """
    passed_on: dict[str, Any] = {name: value for name, value in locals().items() if name in _PASSED_ON}
    if confidence is None:
        passed_on["confidence"] = 0.95 if find_bounds is None else CONFIDENCE
    if show_true and (output is not None or json):
        raise ParameterError("--show-true must not be combined with --output or --json: that output could be published")
    if spark is not None and (source, table) != (None, None):
        raise ParameterError("spark must be left out with a source or --from: it names a table of Spark")
    check(source is not None or spark is not None, "source must be given, or --spark with a table of Spark")
    columns = [name or "" for text in by or [] for name in csv_fields(text, "by")]
    edges: Mapping[str, Sequence[Any]] = _edges(bins or [])
    if find_bounds is None:
        ranks = _quantiles(median or [], quantile or [])
        statistics = _statistics(count, mean or [], sum_of or [], ranks, bounds or [], steps or [], top)
    else:
        others = (count, mean, sum_of, median, quantile, bounds, steps, columns, edges, output, show_true, top is not None)
        check(not any(others), "--find-bounds must be given without other statistics, groups, --output and --show-true")
        statistics, edges, passed_on["all_digits"] = [("count", None, None)], {find_bounds: EDGES}, True
    csv = _csv(delimiter, null, quote=quote or None, escape=escape, encoding=encoding, decimal=decimal, strip=not keep_blanks)
    listed = _groups(groups or [], columns)
    keyed = _keyed(key_file, release_name)
    if keyed is not None and any(same(name, (*listed, *edges)) is None and not own_groups(name) for name in columns):
        raise ParameterError("key_file must be left out for groups that are not listed: partition selection has no keyed form")
    used = {"the file that the data are in": source, "the ledger": ledger, "the key file": key_file}
    file = None if output is None else _output(output, force, used)
    passed_on |= {"by": columns, "groups": listed, "bins": edges, "shares": _shares(shares or []), "types": _types(types or [])}
    spent_on = _ledger(ledger, budget, budget_delta)
    release = Release(statistics, table if spark is None else spark, csv=csv, rng=keyed, ledger=spent_on, **passed_on)
    try:
        with naming(
            column="--mean" if mean else "--sum" if sum_of else "--median" if median else "--quantile",
            sum="--sum",
            bins="--bins" if find_bounds is None else "--find-bounds",
            csv=_given(csv),
        ):
            outcome = release.run(session() if source is None else source, groups_as_texts=True)
        if file is not None:
            file.write(outcome.table)
    except KeyboardInterrupt:
        print("\nerror:", _interrupted(release), file=sys.stderr)
        raise typer.Exit(_INTERRUPTED) from None
    except OSError as error:
        if release.state != "drawing":
            raise
        raise ParameterError(f"{error.filename}: {error.strerror}; the noise was drawn, so eps = {eps:g} is spent") from None
    _name_blanks(outcome.plan.question.groups)
    if find_bounds is not None:
        print_bounds(console(), found(outcome), outcome, json=json, explain=explain, ledger=release.ledger)
    elif json:
        print(outcome.table.to_json(), end="")
    else:
        print_release(console(), outcome, file, show_true=show_true, explain=explain, ledger=release.ledger)


def _statistics(
    count: bool, means: list[str], sums: list[str], ranks: _Ranks, bounds: list[str], steps: list[str], top: int | None
) -> list[Asked]:
    ranked = list(dict.fromkeys(column for _, column, _ in ranks))
    columns = list(dict.fromkeys((*means, *sums, *ranked)))
    if not (count or columns or top is not None):
        raise ParameterError("--count, --mean, --sum, --median, --quantile or --top must be given, got none of them")
    check(columns or not bounds, "bounds must be left out for counts, in which every person counts 1")
    check(ranked or not steps, "steps must be left out without --median and --quantile, which have candidates")
    ends = {name: _bounds(text) for name, text in _of_columns(bounds, columns, "bounds", "LOW,HIGH").items()}
    widths = {name: _step(text) for name, text in _of_columns(steps, ranked, "steps", "STEP").items()}
    asked: list[Asked] = [("count", None, None)] * count
    asked += [("mean", name, ends.get(name)) for name in means]
    asked += [("sum", name, ends.get(name)) for name in sums]
    asked += [(kind, name, ends.get(name), q, widths.get(name)) for kind, name, q in ranks]
    return asked if top is None else [*asked, top_of(top)]


def _quantiles(medians: list[str], quantiles: list[str]) -> _Ranks:
    """Return the kind, the column and the quantiles of each; those of one column are together."""
    found: dict[str, list[Fraction | float]] = {}
    for text in quantiles:
        name, _, shares = text.rpartition("=")
        check(name, f"quantile must be given as COLUMN=0.9, got {text!r}")
        try:
            found.setdefault(name, []).extend(Fraction(q) if "/" in q else float(q) for q in shares.split(","))
        except (ValueError, ZeroDivisionError):
            raise ParameterError(f"quantile must be numbers from 0 to 1, as in {name}=0.9, got {text!r}") from None
        with naming(q="--quantile"):
            shares_of(found[name])
    return [*(("median", name, 0.5) for name in medians), *(("quantile", name, q) for name, q in found.items())]


def _of_columns(texts: list[str], columns: list[str], what: str, form: str) -> dict[str, str]:
    """Return a text for each column; a single column needs no name."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, own = text.rpartition("=")
        check(bool(equals) or len(columns) == 1, f"{what} must be given as COLUMN={form} for several columns, got {text!r}")
        name = name if equals else columns[0]
        if name not in columns or name in found:
            rule = "of each column once" if name in found else f"of {', '.join(map(repr, columns))}"
            other = "" if name in found else meant(name, columns)
            raise ParameterError(f"{what} must be {rule}, got those of {name!r}{other}")
        found[name] = own
    return found


def _step(text: str) -> float:
    check(_is_number(text), f"steps must be a number, got {text!r}")
    return positive(float(text), "steps")


def _shares(texts: list[str]) -> dict[str, float]:
    found = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        if not name or not _is_number(number) or name in found:
            raise ParameterError(f"shares must be given once for each name, as in count=2, got {text!r}")
        found[name] = float(number)
    return found


def bounds_in_one(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of the command line with a comma between two numbers after --bounds."""
    joined: list[str] = []
    for argument in arguments:
        follows = joined and (joined[-1].startswith("--bounds=") or joined[-2:-1] == ["--bounds"])
        if follows and _is_number(joined[-1].rpartition("=")[2]) and _is_number(argument):
            joined[-1] += f",{argument}"
        else:
            joined.append(argument)
    return joined


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _bounds(text: str) -> tuple[float, float]:
    ends = re.split(r"\s*,\s*|\s+", text.strip())
    check(len(ends) == 2 and all(map(_is_number, ends)), f"bounds must be two numbers, as in 0,100 or 0 100, got {text!r}")
    return float(ends[0]), float(ends[1])


def csv_fields(text: str, name: str) -> list[str | None]:
    """Return the fields of a line of CSV in the format of a private table: quotes around commas, and nothing for null."""
    if not _RECORD.fullmatch(text):
        raise ParameterError(f'{name} must be values with commas between them, quoted as in a,"b, c", got other quotes')
    fields = _FIELD.findall(text + ",")
    return [field[1:-1].replace('""', '"') if field.startswith('"') else field or None for field in fields]


def _groups(texts: list[str], by: list[str]) -> dict[str, list[str | None]]:
    """Return the groups of each column. The name ends at an equals sign, but can contain others."""
    found: dict[str, list[str | None]] = {}
    for text in texts:
        places = [place for place, letter in enumerate(text) if letter == "="]
        check(places, "groups must be given as COLUMN=a,b, got a text without an equals sign")
        place = next((place for place in places if same(text[:place], by)), None)
        if place is None:
            names = ", ".join(map(repr, by)) or "none"
            raise ParameterError(f"groups must be of the columns of --by, which are {names}; got groups of {text[: places[0]]!r}")
        name, values = text[:place], csv_fields(text[place + 1 :], f"groups of {text[:place]!r}")
        found[name] = found.get(name, []) + values
    return found


def _edges(texts: list[str]) -> dict[str, list[Decimal | datetime.date]]:
    """Return the edges of each column's bins; they begin after the last equals sign."""
    found: dict[str, list[Decimal | datetime.date]] = {}
    for text in texts:
        name, _, edges = text.rpartition("=")
        if not name or name in found:
            raise ParameterError(f"bins must be given once for each column, as in age=0,18,65, got {text!r}")
        found[name] = [_edge(edge.strip(), text) for edge in edges.split(",")]
    return found


def _edge(edge: str, text: str) -> Decimal | datetime.date:
    with suppress(ValueError, InvalidOperation):
        return datetime.date.fromisoformat(edge) if _DAY.fullmatch(edge) else Decimal(edge)
    raise ParameterError(f"bins must have edges that are numbers or dates, as in age=0,18,65, got {edge!r} in {text!r}")


def _name_blanks(groups: Mapping[str, tuple[object, ...]]) -> None:
    """Warn about listed texts with blanks at an end: few data have them, and CSV files lose them by default."""
    for name, listed in groups.items():
        found = [repr(value) for value in listed if isinstance(value, str) and value != value.strip()]
        if found:
            text = f"groups of {name!r} with blanks at an end differ from those without: {', '.join(found)}"
            print("note:", plain(text), file=sys.stderr)


def _types(texts: list[str]) -> dict[str, str]:
    """Return the type of each column; the type begins after the last equals sign."""
    found = {}
    for text in texts:
        for declared in csv_fields(text, "types"):
            name, equals, type_ = (declared or "").rpartition("=")
            if not equals or name in found:
                rule = "name every column once" if equals else "be given as COLUMN=TYPE"
                raise ParameterError(f"types must {rule}, got {declared!r}")
            found[name] = type_
    return found


def _csv(delimiter: str | None, nulls: list[str] | None, **options: Any) -> CSV | None:
    """Return the format of a CSV file, or None if all options have their defaults."""
    with naming(nulls="--null"):
        csv = CSV(delimiter="\t" if delimiter in ("\\t", "tab") else delimiter, nulls=nulls or ("",), **options)
    return None if csv == CSV() else csv


def _given(csv: CSV | None) -> str:
    """Return the options about CSV files that were set."""
    names = {"nulls": "--null", "strip": "--keep-blanks"}
    default = asdict(CSV())
    given = [] if csv is None else [name for name, value in asdict(csv).items() if value != default[name]]
    return " and ".join(names.get(name, f"--{name}") for name in given)


def _keyed(path: Path | None, name: str | None) -> Any:
    """Return the generator of a key file, or None for fresh noise."""
    if path is None and name is None:
        return None
    if path is None or name is None:
        raise ParameterError("key_file and release_name must be given together, got only one of them")
    with path.open("rb") as file:
        content = file.read(4 * _SECRET_BYTES)
    digits = content.strip()
    if len(content) != _SECRET_BYTES and len(digits) == 2 * _SECRET_BYTES:
        with suppress(ValueError):
            content = bytes.fromhex(digits.decode("ascii"))
    if len(content) != _SECRET_BYTES:
        raise ParameterError(
            f"key_file must hold {_SECRET_BYTES} bytes, or {2 * _SECRET_BYTES} hexadecimal digits, got something else"
        )
    with naming(release="--release-name"):
        return stairnoise.KeyedRng(content, name)


def _ledger(path: Path | None, budget: float | None, delta: float | None) -> Any:
    if path is None:
        check(budget is None and delta is None, "ledger must be given with a budget")
        return None
    check(budget is not None or path.exists(), f"budget must be given for a new ledger, and {str(path)!r} does not exist")
    with naming(delta="--budget-delta"):
        return stairnoise.Ledger(path, budget, delta=delta)


def _output(path: Path, force: bool, used: Mapping[str, str | Path | None]) -> Output:
    """Check the file before anything is asked. Even with --force it must not be a file that the command uses."""
    file = Output(path, overwrite=force)
    for what, other in used.items():
        if other is not None and any(_are_one_file(written, Path(other)) for written in file.files()):
            raise ParameterError(f"output must not be {what}, got {str(path)!r}")
    return file


def _are_one_file(first: Path, second: Path) -> bool:
    """Return whether two paths are the same file, even if it does not exist yet."""
    try:
        return first.samefile(second)
    except OSError:
        return os.path.normcase(os.path.realpath(first)) == os.path.normcase(os.path.realpath(second))


def _interrupted(release: Release) -> str:
    if release.state == "spending":
        return "interrupted while the ledger was written: the ledger shows what is spent, and no noise was drawn"
    if release.state == "drawing":
        return "interrupted after noise was drawn: the budget stays spent, though nothing was published"
    if release.state == "asking" or release.ledger is None:
        return "interrupted while the data were read: nothing was drawn, and nothing is spent"
    return "interrupted while the data were read: nothing was drawn, and what the ledger has counted stays spent"
