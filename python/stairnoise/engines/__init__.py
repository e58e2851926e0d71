"""Keyed releases inside query engines and clusters: SQLite, DuckDB, Polars, Dask and Spark.

An engine can call a function twice for one row, or never; it can share a result, or compute it again after a failure. Fresh
noise at each call would give several answers about the same people. With a `KeyedRng` a release is a pure function of the row,
so it does not matter what the engine does. Every function here needs one.

| file | subject |
|---|---|
| `rows` | what all engines have in common: checks, declared types of labels, the release of one row or a batch |
| `sql` | functions of SQLite and DuckDB |
| `frames` | an expression of Polars, and `release_part`, for engines that pass frames part by part: Dask, Spark, Ray, Beam |

A call imports only its engine.
"""

from stairnoise.engines.frames import polars_expr, release_part
from stairnoise.engines.sql import add_to_duckdb, add_to_sqlite

__all__ = ["add_to_duckdb", "add_to_sqlite", "polars_expr", "release_part"]
