"""The sum of k independent draws: a t that it exceeds with probability alpha at most.

- `chernoff`: Chernoff's bound, where every search begins.
- `laplace`: the discrete Laplace distribution, in closed form.
- `tilted`: the Fourier transform that the next two have in common.
- `staircase`: the discrete staircase distribution, whose transform has a closed form.
- `truncated_staircase`: the truncated staircase distributions.
- `discrete_canonical`: canonical noise on the integers.
- `listed`: any list of probabilities.
- `given_weights`: a distribution by its weights, listed until nothing is left of its tails.
- `discrete_gaussian`: the discrete Gaussian distribution, by the one of k times the variance.
- `infinitely_divisible`: differences of negative binomial variables, from their list.
- `skellam`: the Skellam distribution, by the one of k times the variance.
- `slopes`: distributions whose log-probability is piecewise linear, made lists of cells for `listed`.
"""
