"""A line of a CSV file as a record, in DuckDB's SQL: its fields, and their values in the declared types."""

from __future__ import annotations

from stairnoise.query.reading import CSV, Declared
from stairnoise.query.sources.dialect import literal, quoted
from stairnoise.query.sources.lines import Header, escaped, field_pattern, record_pattern

# The variable with the names of the files of lines.
LINES = "stairnoise_lines"
# One column, and no option that concerns several lines. DuckDB's parallel reader loses lines at the borders of its parts if
# other lines are no texts. A line of 1 MiB can take three times as many bytes in UTF-8.
_OPTIONS = (
    "header = false, auto_detect = false, delim = '\x01', quote = '', escape = '', new_line = '\\n', parallel = false, "
    "max_line_size = 4194304, columns = {'line': 'VARCHAR'}"
)
# DuckDB's type for every type that can be declared.
ENGINE_TYPES = {"text": "VARCHAR", "integer": "BIGINT", "real": "DOUBLE", "boolean": "BOOLEAN"}
ENGINE_TYPES |= {"date": "DATE", "timestamp": "TIMESTAMP"}
# As ISO 8601 has it, without a time zone; a date is its midnight.
_MOMENT = r"\d{4}-\d{2}-\d{2}([T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?)?"
_TRUE, _FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")


def table(header: Header, types: dict[str, Declared], csv: CSV) -> str:
    """Return the table in parentheses: the values of all lines that have as many fields as the header."""
    values = ", ".join(
        f"{converted(_value(f'f[{place}]', csv), types[name], csv.decimal)} as {quoted(name)}"
        for place, name in enumerate(header.names, 1)
    )
    lines = f"read_csv(getvariable('{LINES}'), {_OPTIONS})"
    source = f"(select {_fields(header.delimiter, csv)} as f, {_plain(header.delimiter, csv)} as plain from {lines})"
    return f"(select {values} from {source} where len(f) = {len(header.names)})"


def _plain(delimiter: str, csv: CSV) -> str:
    """Return whether a line has no quote and no blank to remove. This check is quick, and most lines pass it."""
    parts = [csv.quote] if csv.quote is not None else []
    ends: list[str] = []
    if csv.strip:
        parts += [f" {delimiter}", f"{delimiter} "]
        ends = [f"not {end}(line, ' ')" for end in ("starts_with", "ends_with")]
    return " and ".join([*(f"not contains(line, {literal(part)})" for part in parts), *ends]) or "true"


def _fields(delimiter: str, csv: CSV) -> str:
    """Return the fields of a line as a list, with their quotes; null for a line that is not a record."""
    split = f"string_split(line, {literal(delimiter)})"
    if csv.quote is None:
        return split
    record, one = literal(record_pattern(delimiter, csv)), literal(f"({field_pattern(delimiter, csv)}){escaped(delimiter)}")
    matched = f"regexp_extract_all(line || {literal(delimiter)}, {one}, 1)"
    record = f"case when regexp_full_match(line, {record}) then {matched} end"
    return f"case when contains(line, {literal(csv.quote)}) then {record} else {split} end"


def _value(field: str, csv: CSV) -> str:
    """Return a field's text without its quotes, or null."""
    return f"case when plain then {_known(field, csv)} else {_bare(field, csv)} end"


def _known(text: str, csv: CSV) -> str:
    for null in csv.nulls:
        text = f"nullif({text}, {literal(null)})"
    return text


def _bare(field: str, csv: CSV) -> str:
    """Return the text of any field, quoted or not."""
    text = _known(f"trim({field})" if csv.strip else field, csv)
    if csv.quote is None:
        return text
    inner = f"substr({text}, 2, length({text}) - 2)"
    if csv.escape == csv.quote:
        inner = f"replace({inner}, {literal(csv.quote * 2)}, {literal(csv.quote)})"
    else:
        inner = f"regexp_replace({inner}, {literal(f'{escaped(csv.escape)}(.)')}, '\\1', 'g')"
    return f"case when starts_with({text}, {literal(csv.quote)}) then {inner} else {text} end"


def converted(text: str, declared: Declared, decimal: str = ".") -> str:
    """Return a text as a value of a type, or null if it is none. DuckDB's own cast would round 1.5 to an integer."""
    if declared.name == "integer":
        return f"case when regexp_full_match({text}, '[+-]?[0-9]+') then try_cast({text} as bigint) end"
    if declared.name == "real":
        number = text if decimal == "." else f"replace(replace({text}, '.', 'x'), ',', '.')"
        number = f"try_cast({number} as double)"
        return f"case when isfinite({number}) then {number} end"
    if declared.name == "boolean":
        lists = [f"when lower({text}) in ({', '.join(map(literal, words))}) then" for words in (_TRUE, _FALSE)]
        return f"case {lists[0]} true {lists[1]} false end"
    if declared.name == "date":
        assert declared.format is not None
        return f"cast(try_strptime({text}, {literal(declared.format)}) as date)"
    if declared.name == "timestamp":
        return f"case when regexp_full_match({text}, {literal(_MOMENT)}) then try_cast({text} as timestamp) end"
    return text
