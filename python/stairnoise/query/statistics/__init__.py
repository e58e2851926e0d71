"""What can be asked about each group: a file for statistics that are protected in one way.

| file | subject |
|---|---|
| `statistic` | what every statistic states: its number, its columns, its part of the notes; and the part of the budget for it |
| `numbers` | counts, sums and means |
| `quantile`, `top` | the statistics that are selected |

A new kind is a class here, a row of `STATISTICS`, and an argument of `query.table`. `sources/statement.py` asks a database for
all counts and sums at once; what else a kind needs is asked there.
"""

from stairnoise.query.statistics.numbers import Count as Count
from stairnoise.query.statistics.numbers import Mean as Mean
from stairnoise.query.statistics.numbers import Sum as Sum
from stairnoise.query.statistics.quantile import Median as Median
from stairnoise.query.statistics.quantile import Quantile as Quantile
from stairnoise.query.statistics.quantile import Ranks as Ranks
from stairnoise.query.statistics.quantile import ranked as ranked
from stairnoise.query.statistics.statistic import Number as Number
from stairnoise.query.statistics.statistic import Statistic as Statistic
from stairnoise.query.statistics.top import Top as Top

STATISTICS: dict[str, type[Statistic]] = {kind.kind: kind for kind in (Count, Mean, Sum, Median, Quantile)}
"""The kinds of statistics, in the order of a private table's columns."""
