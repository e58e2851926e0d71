"""From a database to a table that may be published.

`count`, `sum` and `mean` ask one table of SQLite, DuckDB or PostgreSQL, or a CSV or Parquet file, and return a `PrivateTable`.

| file | subject |
|---|---|
| `ask` | the three functions |
| `arguments`, `question` | what is asked, and its checks |
| `reading` | how a file is read |
| `condition` | the first judge of a condition |
| `order` | which of a person's groups count |
| `sources` | databases and files, and the one SQL statement that each is asked |
| `answers` | true answers |
| `mechanism` | which mechanism protects which number, with which share of the budget |
| `noise` | from true answers to released rows and their bounds |
| `release` | all of it in order: ask, spend, draw |
| `statement` | what is said about a release |
| `table`, `files` | the private table, and writing it |
| `types` | what its columns hold in other libraries |

Nothing is imported but what the source needs.
"""

from stairnoise.query.ask import count, mean, sum
from stairnoise.query.reading import CSV
from stairnoise.query.sources.source import SourceError
from stairnoise.query.table import PrivateTable

__all__ = ["CSV", "PrivateTable", "SourceError", "count", "mean", "sum"]
