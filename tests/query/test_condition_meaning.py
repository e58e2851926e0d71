"""A condition means the same in every engine.

Evidence: random conditions select the rows that a second evaluation in plain Python selects: nulls, NaN, -0.0, integers beyond 64
bits, dates, and values of SQLite that are not of the declared type.
"""

import contextlib
import datetime
import functools
import math
import operator
import re
from decimal import Decimal
from functools import reduce

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stairnoise as sn
from stairnoise.query.question import Question
from stairnoise.query.sources import open_source
from tests.query.conftest import TYPES

COLUMNS = {"id": "integer", "i": "bigint", "j": "integer", "r": "double", "s": "text", "b": "boolean", "d": "date"}
MORE = {"n": "decimal(6,2)", "m": "timestamp"}
DAYS = ["0001-01-01", "1969-12-31", "2000-02-29", "2021-01-03", "2024-12-30", "2026-07-05", "9999-12-31"]
# SQLite changes the case of ASCII letters only, so there is no other letter with a case.
VALUES = {
    "i": [0, 1, -7, 3, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)],
    "j": [0, 1, -1, 2**31 - 1, -(2**31), 7, 3],
    "r": [0.0, -0.0, 1.5, -7.0, 0.1, 1e308, -1e308, float("inf"), 2.0**53, float("nan")],
    "s": ["", "a", "A", " ab ", "B", "a%b_", "[a]*?", "数", "\u00a0x", "a\nb"],
    "b": [True, False],
    "d": [datetime.date.fromisoformat(day) for day in DAYS],
}
MOMENTS = [datetime.datetime(2026, 7, 5, hour, 30) for hour in (0, 9, 23)]
# Values that SQLite can store in columns of other types.
ODD = {"i": "x", "j": b"1", "r": "1.5x", "s": b"a", "b": 7, "d": "2021-02-30"}
LIMITS = {"DuckDB": 2**127, "Spark": 10**38}


def rows(engine):
    """Return rows in which every value occurs, each column in another order."""
    names = [name for name in columns(engine) if name != "id"]
    values = {**VALUES, "n": [0, 1, -7, 3], "m": MOMENTS}
    found = []
    for place in range(36):
        row = [place]
        for step, name in enumerate(names, start=1):
            listed = [*values[name], None]
            row.append(listed[(place * (2 * step - 1) + place // 7) % len(listed)])
        found.append(tuple(row))
    if engine == "SQLite":
        found += [(36, *(ODD[name] for name in names)), (37, *(5 if name in "sd" else None for name in names))]
    return found


def columns(engine):
    more = {"SQLite": {}, "Spark": {"n": MORE["n"]}}.get(engine, MORE)
    return COLUMNS | more


def held(engine, name, value):
    """Return what a condition sees of a stored value."""
    if engine != "SQLite":
        return value
    odd = value == ODD.get(name) or (name == "d" and value == 5) or (isinstance(value, float) and math.isnan(value))
    return None if odd else str(value) if name == "s" and value is not None else value


class Reference:
    """Evaluates conditions of one engine; each strategy is of pairs of a text and a function of a row."""

    def __init__(self, engine):
        self.engine = engine
        self.names = list(columns(engine))

    # What operators do.

    def add(self, sign, left, right):
        if left is None or right is None:
            return None
        if isinstance(left, float) or isinstance(right, float):
            left, right = float(left), float(right)
        found = {"+": operator.add, "-": operator.sub, "*": operator.mul}[sign](left, right)
        if isinstance(found, float):
            return None if math.isnan(found) and self.engine == "SQLite" else found
        if self.engine == "SQLite" and not -(2**63) <= found < 2**63:
            return float(left) * float(right) if sign == "*" else self.add(sign, float(left), float(right))
        limit = LIMITS.get(self.engine, math.inf)
        return found if -limit < found < limit else None

    def key(self, value, other):
        if self.engine == "SQLite" and any(isinstance(one, float) and abs(one) >= 2**63 for one in (value, other)):
            # A sum of integers that 64 bits do not hold is a double, and is compared with integers exactly, as here.
            return False, value
        if isinstance(value, float) or isinstance(other, float):
            return math.isnan(value), 0.0 if math.isnan(value) else float(value)
        return False, value

    def compare(self, sign, left, right):
        if left is None or right is None:
            return None
        left, right = self.key(left, right), self.key(right, left)
        signs = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
        return signs[sign](left, right)

    # Strategies.

    def column(self, *names):
        return st.sampled_from([name for name in names if name in self.names]).map(
            lambda name: (name, lambda row: held(self.engine, name, row[self.names.index(name)]))
        )

    @staticmethod
    def literal(*texts):
        return st.sampled_from(texts).map(lambda pair: (pair[0], lambda row: pair[1]))

    @functools.cache  # noqa: B019 (a strategy is slow to make)
    def integers(self, depth):
        found = self.column("i", "j") | self.literal(*((str(n), n) for n in (0, 1, 3, 7, 2**31, 2**53 + 1, 2**63 - 1)))
        found |= st.tuples(st.sampled_from(["length"]), self.texts(0)).map(
            lambda got: (f"length({got[1][0]})", strict(len, got[1][1]))
        )
        found |= (
            st.tuples(st.sampled_from(sorted(PARTS)), st.booleans(), self.column("d", "m"))
            .filter(lambda got: got[0] != "hour" or got[2][0] == "m")
            .map(lambda got: part(*got))
        )
        if depth:
            found |= self.sums(self.integers(depth - 1)) | self.choices(self.integers(depth - 1), depth)
        return found

    @functools.cache  # noqa: B019 (a strategy is slow to make)
    def reals(self, depth):
        found = self.column("r") | self.literal(("0.0", 0.0), ("1.5", 1.5), (".1", 0.1), ("- 7.", -7.0), ("- 0.0", -0.0))
        if depth:
            # PostgreSQL computes with integers and constants only.
            if self.engine != "PostgreSQL":
                found |= self.sums(self.reals(depth - 1)) | self.sums(self.reals(depth - 1) | self.integers(0))
            found |= self.choices(self.reals(depth - 1), depth)
        return found

    @functools.cache  # noqa: B019 (a strategy is slow to make)
    def texts(self, depth):
        found = self.column("s") | self.literal(("'a'", "a"), ("''", ""), ("' '' '", " ' "), ("'A'", "A"))
        if depth:
            inner = self.texts(depth - 1)
            found |= st.tuples(st.sampled_from(sorted(TEXTUAL)), inner).map(
                lambda got: (f"{got[0]}({got[1][0]})", strict(TEXTUAL[got[0]], got[1][1]))
            )
            found |= st.tuples(inner, st.integers(0, 4), st.none() | st.integers(0, 3)).map(substr)
            found |= self.choices(inner, depth)
        return found

    @functools.cache  # noqa: B019 (a strategy is slow to make)
    def dates(self, depth):
        found = self.column("d") | st.sampled_from(VALUES["d"]).map(lambda day: (f"date '{day}'", lambda row: day))
        return found | self.choices(self.dates(depth - 1), depth) if depth else found

    def sums(self, values):
        def of(got):
            first, rest = got
            text = first[0] + "".join(f" {sign} {wrapped(value)}" for sign, (value, _) in rest)
            fold = rest if "*" not in {sign for sign, _ in rest} else rest[:1]
            text = f"{wrapped(first[0])}" + "".join(f" {sign} {wrapped(value)}" for sign, (value, _) in fold)
            return text, lambda row: reduce(lambda left, step: self.add(step[0], left, step[1][1](row)), fold, first[1](row))

        signs = st.sampled_from("+-*")
        negative = values.map(lambda got: (f"- {wrapped(got[0])}", lambda row: self.add("-", 0, got[1](row))))
        return st.tuples(values, st.lists(st.tuples(signs, values), min_size=1, max_size=3)).map(of) | negative

    def choices(self, values, depth):
        """Return CASE, COALESCE and NULLIF of values of one type."""

        def nullif(got):
            (left, of_left), (right, of_right) = got
            return (
                f"nullif({left}, {right})",
                lambda row: None if self.compare("=", of_left(row), of_right(row)) else of_left(row),
            )

        def coalesce(got):
            text = f"coalesce({', '.join(value for value, _ in got)})"
            return text, lambda row: next((value for value in (of(row) for _, of in got) if value is not None), None)

        def case(got):
            test, one, other = got
            text = f"case when {test[0]} then {one[0]} else {other[0]} end"
            return text, lambda row: one[1](row) if test[1](row) else other[1](row)

        def case_of(got):
            value, equal, one = got
            text = f"case {wrapped(value[0])} when {wrapped(equal[0])} then {one[0]} end"
            return text, lambda row: one[1](row) if self.compare("=", value[1](row), equal[1](row)) else None

        many = st.lists(values, min_size=2, max_size=3).map(coalesce)
        return (
            many
            | st.tuples(values, values).map(nullif)
            | st.tuples(self.truths(depth - 1), values, values).map(case)
            | st.tuples(values, values, values).map(case_of)
        )

    @functools.cache  # noqa: B019 (a strategy is slow to make)
    def truths(self, depth):
        found = self.column("b") | self.literal(("true", True), ("false", False), ("null", None))
        kinds = [self.integers(depth), self.reals(depth), self.integers(0) | self.reals(0), self.texts(depth), self.dates(depth)]
        if "n" in self.names:
            kinds.append(self.column("n") | self.literal(("3", 3), ("-7.0", -7.0), ("1.00", 1.0)))
        if "m" in self.names:
            found |= self.predicates(self.column("m"), self.column("m") | moments())
        for kind in kinds:
            found |= self.predicates(kind, kind)
        found |= st.tuples(self.texts(depth), st.sampled_from(["", "not "]), st.sampled_from(["like", "ilike"]), PATTERNS).map(
            like
        )
        if depth:
            found |= self.logic(self.truths(depth - 1))
        return found

    def predicates(self, value, other):
        def comparison(got):
            sign, (left, of_left), (right, of_right) = got
            text = f"{wrapped(left)} {sign} {wrapped(right)}"
            if "distinct" not in sign:
                return text, lambda row: self.compare(sign, of_left(row), of_right(row))

            def differs(row):
                found = of_left(row), of_right(row)
                return (found[0] is None) != (found[1] is None) if None in found else self.compare("<>", *found)

            return text, differs if sign == "is distinct from" else lambda row: not differs(row)

        def within(got):
            word, (value, of), (low, of_low), (high, of_high) = got

            def holds(row):
                return both(self.compare(">=", of(row), of_low(row)), self.compare("<=", of(row), of_high(row)))

            return f"{wrapped(value)} {word}between {wrapped(low)} and {wrapped(high)}", negated(word, holds)

        def among(got):
            word, (value, of), listed = got

            def holds(row):
                return reduce(either, (self.compare("=", of(row), of_one(row)) for _, of_one in listed))

            return f"{wrapped(value)} {word}in ({', '.join(text for text, _ in listed)})", negated(word, holds)

        signs = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "is distinct from", "is not distinct from"])
        words = st.sampled_from(["", "not "])
        null = st.just(("null", lambda row: None))
        return (
            st.tuples(signs, value, other).map(comparison)
            | st.tuples(words, value, other, other).map(within)
            | st.tuples(words, value, st.lists(other | null, min_size=1, max_size=3)).map(among)
            | value.map(lambda got: (f"{wrapped(got[0])} is null", lambda row: got[1](row) is None))
        )

    @staticmethod
    def logic(values):
        def joined(got):
            (left, of_left), word, (right, of_right) = got
            how = {"and": both, "or": either}[word]
            return f"({left}) {word} ({right})", lambda row: how(of_left(row), of_right(row))

        def mixed(got):
            (one, of_one), (two, of_two), (three, of_three) = got
            return (
                f"({one}) or ({two}) and not ({three})",
                lambda row: either(of_one(row), both(of_two(row), opposite(of_three(row)))),
            )

        def tested(got):
            word, (text, of) = got
            constant = {"true": True, "false": False, "null": None}[word.rsplit(maxsplit=1)[-1]]
            return f"({text}) is {word}", lambda row: (of(row) is constant) != word.startswith("not")

        tests = st.sampled_from(["true", "false", "null", "not true", "not false", "not null"])
        return (
            st.tuples(values, st.sampled_from(["and", "or"]), values).map(joined)
            | st.tuples(values, values, values).map(mixed)
            | st.tuples(tests, values).map(tested)
        )


PARTS = {
    "year": lambda day: day.year,
    "quarter": lambda day: (day.month + 2) // 3,
    "month": lambda day: day.month,
    "week": lambda day: day.isocalendar()[1],
    "day": lambda day: day.day,
    "dow": lambda day: day.isoweekday() % 7,
    "hour": lambda day: day.hour,
}
TEXTUAL = {
    "lower": lambda text: re.sub("[A-Z]", lambda found: found[0].lower(), text),
    "upper": lambda text: re.sub("[a-z]", lambda found: found[0].upper(), text),
    "trim": lambda text: text.strip(" "),
    "ltrim": lambda text: text.lstrip(" "),
    "rtrim": lambda text: text.rstrip(" "),
}
PATTERNS = st.lists(st.sampled_from([*"aAb%_ []*?", "数", "''"]), max_size=4).map("".join)


def strict(function, of):
    return lambda row: None if (value := of(row)) is None else function(value)


def part(name, as_call, got):
    text, of = got
    written = f"{name}({text})" if as_call and name != "dow" else f"extract({name} from {text})"
    return written, strict(PARTS[name], of)


def substr(got):
    (text, of), start, length = got
    last = math.inf if length is None else start + length
    written = f"substr({text}, {start}{'' if length is None else f', {length}'})"
    return written, strict(lambda value: "".join(c for place, c in enumerate(value, start=1) if start <= place < last), of)


def like(got):
    (text, of), word, how, pattern = got
    plain = pattern.replace("''", "'")
    wanted = "".join({"%": ".*", "_": "."}.get(character, re.escape(character)) for character in plain)
    flags = re.DOTALL | (re.IGNORECASE | re.ASCII if how == "ilike" else 0)
    found = strict(lambda value: re.fullmatch(wanted, value, flags) is not None, of)
    return f"{wrapped(text)} {word}{how} '{pattern}'", negated(word, found)


def moments():
    """Constants beside a timestamp: a date is its first moment."""
    first = datetime.datetime(2026, 7, 5)
    return Reference.literal(("date '2026-07-05'", first), ("'2026-07-05'", first), ("'2026-07-05 09:30:00'", MOMENTS[1]))


def wrapped(text):
    """Put what is more than a word or a call in parentheses."""
    return text if re.fullmatch(r"\w+|'[^']*'|[0-9.]+|date '[0-9-]+'|\w+\([^()]*\)", text) else f"({text})"


def opposite(value):
    return None if value is None else not value


def negated(word, of):
    return (lambda row: opposite(of(row))) if word else of


def both(left, right):
    return False if False in (left, right) else None if None in (left, right) else True


def either(left, right):
    return True if True in (left, right) else None if None in (left, right) else False


class OutOfLimits(Exception):
    """A condition of the grammar has too many products, or computes with what PostgreSQL could not hold."""


def counts(source, ids, where):
    try:
        return source.answers(Question("t", ("id",), {"id": ids}, where=where)).counts.tolist()
    except sn.ParameterError as error:
        if re.search(r"more than \d+|computes with", str(error)):
            raise OutOfLimits from None
        raise


@pytest.fixture
def table(engine):
    stored = rows(engine.name)
    engine.table("t", columns(engine.name), stored)
    with engine.source() as source:
        yield engine.name, source, stored


@pytest.mark.parametrize("examples", [80, pytest.param(3000, marks=pytest.mark.long)])
def test_random_conditions_select_what_python_selects(table, examples):
    name, source, stored = table
    if name == "Spark":
        pytest.skip("takes a second for each condition; below, Spark evaluates many at once")
    ids = tuple(row[0] for row in stored)

    @settings(max_examples=examples, deadline=None, derandomize=True, database=None)
    @given(Reference(name).truths(2))
    def check(condition):
        where, holds = condition
        with contextlib.suppress(OutOfLimits):
            found = counts(source, ids, where)
            assert [row for row, count in zip(ids, found, strict=True) if count] == [
                row[0] for row in stored if holds(row) is True
            ], where

    check()


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_random_conditions_of_spark(spark):
    """Conditions become columns of one statement, in both modes of Spark."""
    stored, asked = rows("Spark"), []
    described = ", ".join(f"{name} {TYPES['Spark'].get(kind, kind)}" for name, kind in columns("Spark").items())
    spark.createDataFrame(
        [(*row[:7], None if row[7] is None else Decimal(row[7])) for row in stored], described
    ).createOrReplaceTempView("t")
    with open_source(spark) as source:
        # Each would be analysed by Spark too.
        source._judge = lambda *_: None

        @settings(max_examples=400, deadline=None, derandomize=True, database=None)
        @given(Reference("Spark").truths(2))
        def check(condition):
            with contextlib.suppress(sn.ParameterError):
                found = source.checked(Question("t", (), {}, where=condition[0]))
                asked.append((*condition, source.dialect.fulfils(found.columns, found.condition)))

        check()
        assert len(asked) > 250
        for ansi in ("true", "false"):
            spark.conf.set("spark.sql.ansi.enabled", ansi)
            for first in range(0, len(asked), 50):
                part = asked[first : first + 50]
                values = ", ".join(text for *_, text in part)
                found = zip(*spark.sql(f"select {values} from t order by id").collect(), strict=True)
                for (where, holds, _), selected in zip(part, found, strict=True):
                    assert list(selected) == [holds(row) is True for row in stored], where
        spark.conf.unset("spark.sql.ansi.enabled")
