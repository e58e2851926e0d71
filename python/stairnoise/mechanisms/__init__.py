"""The mechanisms, one folder for each.

`mechanism` has the class. Beside it are, where a mechanism needs its own: `distribution`, `sums` (how far the sum of k draws is
from 0), `loss` (what a release reveals) and `calibration` (the best parameter for a cost, or the least for a guarantee).
"""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
