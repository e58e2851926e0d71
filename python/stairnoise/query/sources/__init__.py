"""Databases and files that can be asked.

| file | subject |
|---|---|
| `source` | what all engines have in common |
| `dialect` | columns, the unit of a sum, and what engines write differently |
| `groups` | listed and computed groups |
| `statement` | a question as SQL statements, and their rows as answers |
| `sqlite` | SQLite |
| `duckdb` | DuckDB |
| `csv_file` | CSV files: their schema, their lines, and lines as records |
| `parquet_file`, `parquet_footer` | Parquet files: their schema, and a footer with which no value ends a query |
| `scratch` | a directory for what DuckDB cannot hold in memory |
| `frame` | data frames and relations: what their libraries have in common, and their types |
| `postgresql` | PostgreSQL |
| `warehouses` | the SQL of Spark, BigQuery, Snowflake, Trino and Databricks, and tables that are only described |
| `spark` | frames and sessions of PySpark |
"""

from __future__ import annotations

import os
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from stairnoise._errors import ParameterError, ParameterTypeError, check, outline
from stairnoise.query.address import checked, is_address, shown
from stairnoise.query.reading import Reading
from stairnoise.query.sources.source import Source as Source
from stairnoise.query.sources.source import SourceError as SourceError

# A file is imported when its source is opened, because it imports the engine.
_OF_CONNECTIONS = {
    "sqlite3": "sqlite:SQLite",
    "duckdb": "duckdb:DuckDB",
    "psycopg": "postgresql:PostgreSQL",
    "pyspark": "spark:Spark",
}
_OF_FILES = {".csv": "csv_file:CSVFile", ".parquet": "parquet_file:ParquetFile"}
_OF_FRAMES = {
    "duckdb.DuckDBPyRelation": "frame:Relation",
    "pandas.DataFrame": "frame:PandasFrame",
    "polars.DataFrame": "frame:PolarsFrame",
    "polars.LazyFrame": "frame:PolarsLazyFrame",
    "pyarrow.RecordBatch": "frame:ArrowTable",
    "pyarrow.Table": "frame:ArrowTable",
}
_AS_IT_IS = Reading()
_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"


def open_source(source: Any, reading: Reading = _AS_IT_IS) -> Source:
    """Open a path, a URL, an open connection or a data frame, read-only. A connection of the caller stays open."""
    suffix = Path(source).suffix.lower() if isinstance(source, (str, Path)) else ""
    module = type(source).__module__.partition(".")[0].lstrip("_")
    frame = _OF_FRAMES.get(f"{module}.{type(source).__name__}")
    if reading.types and suffix not in _OF_FILES and frame is None:
        raise ParameterError("types must be left out: a database declares its own; make a view for other types")
    check(reading.csv is None or suffix == ".csv", "csv must be left out: the source is no .csv file")
    if frame is not None:
        return _made("frame:Frame", _found(frame), source, reading)
    if module in _OF_CONNECTIONS:
        return _made(_OF_CONNECTIONS[module], source)
    if not isinstance(source, (str, Path)):
        hint = "; pass its read_all(), because it can be read only once" if type(source).__name__ == "RecordBatchReader" else ""
        raise ParameterTypeError(f"source must be a path, a URL, an open connection or a data frame, got {outline(source)}{hint}")
    if isinstance(source, str) and is_address(source):
        return _made("postgresql:PostgreSQL.of_url", checked(source))
    path = Path(source)
    if not os.path.isfile(path):  # noqa: PTH113 (that of Path raises an error with the text if it is long)
        raise ParameterError(f"source must be a file that exists, got {shown(str(source))}")
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        raise SourceError(f"source {str(path)!r} cannot be opened: {error.strerror}") from None
    if head == _SQLITE:
        return _made("sqlite:SQLite.of_file", path)
    if head[8:12] == _DUCKDB:
        return _made("duckdb:DuckDB.of_file", path)
    if suffix in _OF_FILES:
        return _made(_OF_FILES[suffix], path, reading)
    raise ParameterError(f"source must be a database of SQLite or DuckDB, or a .csv or .parquet file, got {str(path)!r}")


def _made(name: str, *arguments: Any) -> Source:
    made: Source = _found(name)(*arguments)
    return made


def _found(name: str) -> Any:
    return resolve_name(f"{__name__}.{name}")
