"""near_edges.json: fills with a value whose word is so near to the edge of an integer that float64 cannot decide the side.

A search in NumPy's widest floating point finds these words. Their values are the exact oracle's, whatever the search
found.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from tests.oracles import stream
from tests.oracles.generate.fills import entry, inputs
from tests.oracles.generate.parameters import Parameters
from tests.oracles.lattice import Lattice, lattice

WORDS = 2**21
NEAREST = 8
BEFORE, COUNT = 4, 9
MECHANISMS = (
    Parameters("laplace", 1.0, 1.0),
    Parameters("laplace", 0.01, 3.0),
    Parameters("laplace", 9.0, 0.7),
    Parameters("staircase", 1.0, 1.0, "l1"),
    Parameters("staircase", 0.05, 10.0, 0.25),
    Parameters("staircase", 6.0, 0.3, "l2"),
    Parameters("discrete_laplace", 1.0, 1e6),
    Parameters("discrete_laplace", 0.1, 3.0),
    Parameters("discrete_staircase", 1.0, 1e6, "l1"),
    Parameters("discrete_staircase", 0.3, 100.0, 30.0),
)

Wide = NDArray[np.longdouble]


def entries() -> Iterator[dict[str, Any]]:
    for seed, parameters in enumerate(MECHANISMS):
        where = lattice(*parameters)
        place = _real_magnitude(_numbers(stream.seed_key(seed)), parameters.eps, where)
        distance = np.abs(place - np.rint(place))
        # There is no edge at 0, and the first words have no earlier words.
        distance[place < 0.5] = 1
        distance[:BEFORE] = 1
        for index in sorted(np.argsort(distance)[:NEAREST].tolist()):
            yield entry(inputs(parameters, seed, 0, index - BEFORE, COUNT))


def _numbers(key: bytes) -> Wide:
    """v of the first words of fill 0, without their extensions."""
    counters = np.zeros((WORDS // 2, 2), "<u8")
    counters[:, 0] = np.arange(WORDS // 2)
    encrypted = Cipher(algorithms.AES256(key), modes.ECB()).encryptor().update(counters.tobytes())
    words = np.frombuffer(encrypted, "<u8")
    return (words % np.uint64(2**63)).astype(np.longdouble) / np.longdouble(2) ** 63


def _real_magnitude(v: Wide, eps: float, where: Lattice) -> Wide:
    """x with v = S(x), S being continued between the integers: |X| is the number of integers from 1 on that are less than x."""
    e, sensitivity_steps = np.longdouble(eps), np.longdouble(where.sensitivity_steps)
    if not where.r:
        return np.asarray(-np.log(v * (1 + np.exp(-e / sensitivity_steps)) / 2) * sensitivity_steps / e)
    c = np.exp(-e) / -np.expm1(-e)
    t = 2 * where.r - 1 + 2 * sensitivity_steps * c
    stair = np.floor(np.maximum(-np.log(v * t / (2 * sensitivity_steps * c)) / e, -1)) + 1
    return np.asarray(where.r + stair * sensitivity_steps + sensitivity_steps * c - v * t / 2 * np.exp(e * stair))
