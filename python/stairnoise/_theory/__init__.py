"""The theory of the four laws: pure functions of float64 numbers and arrays, no law objects.

Notation as in the papers: ``b = exp(-eps)``, ``c = b/(1 - b)``, `D` the sensitivity, `gamma` or `r`
the width of the central stair. No formula here subtracts nearly equal numbers, so the relative
error stays near 1e-15 from ``eps`` = 2**-40 to 700, where the textbook forms lose every digit or
overflow; and no tail is ever computed as ``1 - cdf``.

The law: `elementwise` runs one formula on floats and on arrays; `stairs` and `exponential` hold the
half-line functions; `symmetric` makes SciPy's functions of them; `moments` has the moments of integer
order, `real_moments` the others. The shape: `shapes` for E|X| and E X², `power_cost` for E|X|**p,
`cost_function` for any cost; `lerch_sums` adds up over the stairs for all of these. The error:
`laplace_sums` and `staircase_sums` bound sums of draws, with Chernoff's bound from `chernoff`;
`least_eps` inverts the error bound.
"""

from stairnoise._theory.moments import laplace_abs_moment, lattice_abs_moment, staircase_abs_moment
from stairnoise._theory.shapes import gamma_l1, gamma_l2

__all__ = ["gamma_l1", "gamma_l2", "laplace_abs_moment", "lattice_abs_moment", "staircase_abs_moment"]
