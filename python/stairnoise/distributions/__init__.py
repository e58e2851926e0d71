"""The functions of each distribution: density, tails, quantiles, moments, entropy.

On a half line, for `symmetric` to make functions of the whole line:

- `laplace`: the Laplace distribution.
- `staircase`: both staircase distributions; the discrete Laplace distribution is one of them.

Objects with all functions:

- `piecewise_exponential`: densities that fall exponentially, at one rate after another.
- `truncated_laplace`: the Laplace distribution between two bounds; its bounds, and the exact δ on a lattice.
- `truncated_staircase`: both truncated staircase distributions around any centre; `truncated_stairs` has their half line.
- `discrete_canonical`: canonical noise on the integers.
- `gaussian`, `discrete_gaussian`: the normal distribution, and its relative on the integers.
- `infinitely_divisible`: differences of negative binomial variables, and their sums.
- `skellam`: the Skellam distribution, and the losses of its shifts.
- `multivariate_staircase`: the norm of multivariate staircase noise.
- `tabulated`: any distribution on consecutive integers, from a list of its probabilities.
- `elements`: distributions of array parameters, element by element.
- `given_weights`: a distribution on the integers by its weights, with geometric tails or none.
- `lattice_as_density`: a distribution on a coarse lattice, each value spread over its cell.

`slopes` has distributions whose log-probability is piecewise linear, in rational numbers, and their exact ε.

Moments of the Laplace and staircase distributions: `moments` for integer order, `real_moments` for real order.
"""
