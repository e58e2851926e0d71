"""Numerical tools that know no mechanism.

- `elementwise`: one formula for Python floats and for arrays.
- `elementary`: differences of elementary functions without cancellation.
- `fixed_point`: exponentials, logarithms and Mills' ratio of any number of digits.
- `lerch`: sums over the stairs of a staircase, which are Lerch's transcendent.
- `normal`: Mills' ratio, and the tail of the normal distribution with it.
- `quadrature`: nodes and weights of Gauss and of Lobatto.
- `roots`: where a predicate begins to hold, and where a function that rises is 0.
- `sums`: how far the sum of k independent draws is from 0, at most.
- `binomial`: a binomial count with noise.
- `rounding`: exact numbers to float64, upwards or downwards.
"""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
