"""What an attacker reads from a float64, exactly: its magnitude and the place of its last bit."""

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

ZERO = 10_000  # stands for the last bit of zero, above that of any other number
LEAST, MOST = -1080, 1030


def last_bit(values: Floats) -> NDArray[np.int64]:
    """Return the largest j for which a value is a multiple of 2**j; `ZERO` for zero."""
    fraction, exponent = np.frexp(values)
    whole = np.abs(np.ldexp(fraction, 53)).astype(np.int64)
    trailing = np.log2((whole & -whole).astype(float), where=whole != 0, out=np.zeros(len(values)))
    return np.where(whole == 0, ZERO, exponent - 53 + trailing.astype(np.int64))


def events(values: Floats, window: float) -> Counts:
    """Count each event: |y| in the window with the last bit of y at 2**j, for every j; all other y are one event.

    These are the events of Mironov's attack: the last bits of y show whether y can be the sum of a candidate answer and noise.
    """
    near = np.abs(values) <= window
    places = np.clip(last_bit(values[near]), LEAST, MOST) - LEAST
    places = np.bincount(places, minlength=MOST - LEAST + 1)
    return np.append(places, np.count_nonzero(~near))
