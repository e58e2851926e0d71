"""What can be asked about each group: a file for statistics that are protected in one way.

| file | subject |
|---|---|
| `statistic` | what every statistic states: its number, its columns, its part of the notes; and the part of the budget for it |
| `numbers` | counts, sums and means |
| `quantile`, `top` | the statistics that are selected |

A new kind is a class here, a row of `STATISTICS`, and an argument of `query.table`. `sources/statement.py` asks a database for
all counts and sums at once; what else a kind needs is asked there.
"""

from stairnoise.query.statistics.numbers import Count, Mean, Sum
from stairnoise.query.statistics.quantile import Median, Quantile, Ranks, ranked
from stairnoise.query.statistics.statistic import Number, Statistic
from stairnoise.query.statistics.top import Top

__all__ = ["STATISTICS", "Count", "Mean", "Median", "Number", "Quantile", "Ranks", "Statistic", "Sum", "Top", "ranked"]

STATISTICS: dict[str, type[Statistic]] = {kind.kind: kind for kind in (Count, Mean, Sum, Median, Quantile)}
"""The kinds of statistics, in the order of a private table's columns."""
