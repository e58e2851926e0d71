"""What can be asked about each group: one file for each kind of statistic.

| file | subject |
|---|---|
| `statistic` | what every statistic states: its number, its columns, its part of the notes; and the part of the budget for it |
| `total` | counts and sums |
| `mean`, `quantile`, `top` | the other statistics |

A new kind is a file here, a row of `STATISTICS`, and an argument of `query.table`. `sources/statement.py` asks a database for all
counts and sums at once; what else a kind needs is asked there.
"""

from stairnoise.query.statistics.mean import Mean as Mean
from stairnoise.query.statistics.quantile import Median as Median
from stairnoise.query.statistics.quantile import Quantile as Quantile
from stairnoise.query.statistics.quantile import Ranks as Ranks
from stairnoise.query.statistics.quantile import ranked as ranked
from stairnoise.query.statistics.statistic import Number as Number
from stairnoise.query.statistics.statistic import Statistic as Statistic
from stairnoise.query.statistics.top import Top as Top
from stairnoise.query.statistics.total import Count as Count
from stairnoise.query.statistics.total import Sum as Sum

STATISTICS: dict[str, type[Statistic]] = {kind.kind: kind for kind in (Count, Mean, Sum, Median, Quantile)}
"""The kinds of statistics, in the order of a private table's columns."""
