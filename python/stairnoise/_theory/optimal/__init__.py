"""The parameter that is best for a cost, and the least one that keeps an error or a guarantee.

The shape of a staircase:

- `shapes`: of least E|X| and E X², in closed form.
- `truncated_shapes`: of least E|X| and E X² between two bounds.
- `many_releases`: of least E|X| and E X² for k releases that are (ε, δ)-private together.
- `power_cost`: of least E|X|**p.
- `cost_function`: of least expected cost, for any cost that does not fall with |x|.
- `vector_gamma`, `long_vector_gamma`: of least mean norm in d dimensions, for small and for large d.

Of other mechanisms:

- `infinitely_divisible`: shape and rate of least variance of differences of negative binomial variables.
- `merged_laplace`: the rates and the break point of least variance or mean error for a pure ε.
- `least_eps`: the least ε that keeps the error within t.
- `gaussian_sigma`, `discrete_gaussian_sigma`: the least σ or σ² for (ε, δ).
- `skellam`: the least variance of Skellam noise for (ε, δ).
- `candidates`: the numbers among which the last two are sought.
- `equal_variance`: Laplace and staircase noise of the same variance, compared by their privacy losses.
"""
