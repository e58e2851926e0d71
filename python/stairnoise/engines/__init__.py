"""Keyed releases inside query engines and clusters: SQLite, DuckDB, Polars, Dask and Spark.

An engine may call a function twice for one row, or never; it may share a result, or compute it again after a failure. Noise
that is drawn anew at each call then gives several answers about the same people. With a `KeyedRng` a release is a pure
function of the row, and whatever the engine does is right. So every function here needs one.

| file | subject |
|---|---|
| `rows` | what all engines have in common: checks, and the release of one row or of a batch |
| `label_types` | the declared type of a label: one label of two types would have two noises |
| `sqlite`, `duckdb`, `polars` | one engine each |
| `frames` | `release_part`, for whatever hands over frames part by part: Dask, Spark, Ray, Beam |

Nothing is imported but the engine that a call is for.
"""

from stairnoise.engines.duckdb import add_to_duckdb
from stairnoise.engines.frames import release_part
from stairnoise.engines.polars import polars_expr
from stairnoise.engines.sqlite import add_to_sqlite

__all__ = ["add_to_duckdb", "add_to_sqlite", "polars_expr", "release_part"]
