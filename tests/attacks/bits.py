"""What an attacker reads off a float64: magnitude and the place of its last bit, exactly."""

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

ZERO = 10_000  # the place of the last bit of zero, beyond that of any other number
LEAST, MOST = -1080, 1030


def last_bit(values: Floats) -> NDArray[np.int64]:
    """The largest j for which a value is a multiple of 2**j; `ZERO` for zero."""
    fraction, exponent = np.frexp(values)
    whole = np.abs(np.ldexp(fraction, 53)).astype(np.int64)
    trailing = np.log2((whole & -whole).astype(float), where=whole != 0, out=np.zeros(len(values)))
    return np.where(whole == 0, ZERO, exponent - 53 + trailing.astype(np.int64))


def events(values: Floats, window: float) -> Counts:
    """How often each event happened: |y| in the window and the last bit of y at 2**j, for every j, and the rest as one event.

    These are events of Mironov's attack: whether y can be the sum of a candidate answer and noise is a question of its last bits.
    """
    near = np.abs(values) <= window
    places = np.clip(last_bit(values[near]), LEAST, MOST) - LEAST
    places = np.bincount(places, minlength=MOST - LEAST + 1)
    return np.append(places, np.count_nonzero(~near))
