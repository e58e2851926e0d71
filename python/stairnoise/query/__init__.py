"""From a database to a table that may be published.

| file | subject |
|---|---|
| `question` | what is asked |
| `answers` | true answers |
| `order` | which of a person's groups count |
| `condition` | the first judge of a condition |
| `sources` | databases and files, and the one SQL statement that each is asked |
"""

from stairnoise.query.sources.source import SourceError as SourceError
