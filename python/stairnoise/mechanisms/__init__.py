"""The mechanisms, one folder for each.

`mechanism` has the class. Some mechanisms have more files: `distribution`, `sums` (how far sums of draws are from 0), `loss`
(the privacy loss) and `calibration` (the best parameter for a cost, or the least for a guarantee).
"""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
