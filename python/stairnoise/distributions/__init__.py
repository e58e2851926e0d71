"""Forms of distributions that several mechanisms have: density, tails, quantiles, moments, entropy.

- `symmetric`: from a half line to the whole line, for scalars and arrays.
- `piecewise_exponential`: densities that fall exponentially, at one rate after another.
- `slopes`: a piecewise linear log-probability in rational numbers, its exact ε, and sums of such noise.
- `infinitely_divisible`: differences of negative binomial variables, and their sums.
- `tabulated`: any distribution on consecutive integers, from a list of its probabilities.
- `lattice_as_density`: a distribution on a coarse lattice, each value spread over its step.
- `elements`: distributions of array parameters, element by element.
- `moments`, `real_moments`: moments of Laplace and staircase noise, of integer and of real order.

Notation as in the papers: ``b = exp(-eps)``, ``c = b/(1 - b)``, `D` is the sensitivity, and `gamma` or `r` the half-width of the
central stair. No formula subtracts nearly equal numbers, and no tail is computed as ``1 - cdf``. So the relative error of closed
forms stays near 1e-15 from ``eps`` = 2**-40 to 700, where textbook forms lose every digit or overflow.
"""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
