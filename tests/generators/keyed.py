"""A KeyedRng and releases with it, for tests of keyed noise."""

from typing import Any

import numpy as np

import stairnoise as sn

SECRET = bytes(range(32))
ROWS_OF_ALL = 60
LABELS = [f"group {i}" for i in range(ROWS_OF_ALL)]
VALUES = np.arange(ROWS_OF_ALL) * 7 - 100
WIDE = sn.DiscreteLaplace(0.001, sensitivity=1)


def keyed(release: str = "r", **options: Any) -> sn.KeyedRng:
    return sn.KeyedRng(SECRET, release, **options)


def released(mechanism: Any = WIDE, values: Any = VALUES, labels: Any = LABELS, statistic: str = "count", **options: Any) -> Any:
    return mechanism.release(values, labels=labels, statistic=statistic, **{"rng": keyed()} | options)
