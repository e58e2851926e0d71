"""From a database to a table that can be published.

`count`, `sum`, `mean`, `median`, `quantile`, `table` for several of them, and `top` ask a table of SQLite, DuckDB, PostgreSQL or
Spark, a CSV or Parquet file, or a frame, and return a `PrivateTable`. `bounds` finds the bounds that statistics of a column need.

| file | subject |
|---|---|
| `ask` | the functions |
| `find_bounds` | bounds of a column, found privately |
| `compiled` | the same question as a statement that another client runs |
| `question` | a question, and the checks of its arguments |
| `groupings` | groups that are computed from a column |
| `reading` | how a file is read |
| `condition` | the first judge of a condition |
| `statistics` | what can be asked: one file for each kind of statistic |
| `sources` | databases and files, and the SQL that each runs |
| `answers` | true answers |
| `mechanism` | which mechanism protects which number |
| `plan` | the budget and its shares, the plan of a release, its noise, and its columns |
| `release` | all of it in order: ask, spend, draw |
| `statement` | the notes about a release |
| `private_table` | the private table, and writing it |
| `types` | the types of its columns in other libraries, and its values as texts |

Only the packages that a source needs are imported.
"""

from stairnoise.query.ask import count, mean, median, quantile, sum, table, top
from stairnoise.query.compiled import CompiledQuery, compile, finish
from stairnoise.query.find_bounds import PrivateBounds, bounds, compile_bounds
from stairnoise.query.private_table import PrivateTable
from stairnoise.query.reading import CSV
from stairnoise.query.sources.source import SourceError

__all__ = ["CSV", "CompiledQuery", "PrivateBounds", "PrivateTable", "SourceError"]
__all__ += ["bounds", "compile", "compile_bounds", "count", "finish", "mean", "median", "quantile", "sum", "table", "top"]
