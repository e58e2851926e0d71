"""A program of a user who runs ``mypy --strict``: it is type-checked, and run."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import stairnoise as sn

continuous: sn.Staircase = sn.Staircase(4, sensitivity=1.0, gamma="l2")
each = sn.Laplace(np.linspace(0.1, 4, 5), [1.0, 2.0, 3.0, 4.0, 5.0])
counting = sn.DiscreteStaircase(eps=2, sensitivity=5, r=3)
geometric = sn.DiscreteLaplace([1, 2])

floats: NDArray[np.float64] = continuous.sample(10)
singles: NDArray[np.float32] = continuous.sample((2, 5), dtype=np.float32)
integers: NDArray[np.int64] = counting.sample((3, 4), rng=sn.SecureRng())
narrow: NDArray[np.int32] = counting.sample(7, dtype=np.int32)
buffer: NDArray[np.float64] = np.empty((2, 5))
filled: NDArray[np.float64] = each.sample(out=buffer, rng=sn.SeededRng(1).at(5))
one: float = continuous.sample()
many: NDArray[Any] = sn.sample(100, eps=np.array([1.0]), mechanism="laplace", rng=sn.SecureRng.from_key(bytes(32)))

private: NDArray[np.int64] = geometric.release([10, 20], max_partitions_contributed=2)
answer: int = sn.DiscreteLaplace(1).release(5, rng=sn.SeededRng(3, allow_release=True))

children: list[sn.SeededRng] = sn.SeededRng(1).spawn(3)
views: list[sn.SecureRng] = [sn.SecureRng().at(index) for index in (0, 10)]

eps: float | NDArray[np.float64] = continuous.eps
gamma: float | NDArray[np.float64] = continuous.gamma
r: int | NDArray[np.int64] = counting.r
step: int = counting.granularity
spread: float | NDArray[np.float64] = each.std()
bound: int = counting.error_bound(0.05)

try:
    sn.Staircase(-1)
except sn.ParameterError as error:
    text: str = str(error)
