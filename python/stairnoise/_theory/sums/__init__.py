"""The sum of k independent draws: a t that it exceeds with probability alpha at most.

- `chernoff`: Chernoff's bound, where every search begins.
- `laplace`: the discrete Laplace distribution, in closed form.
- `staircase`: the discrete staircase distribution, by a tilted Fourier transform.
- `listed`: any list of probabilities, by a tilted Fourier transform.
- `slopes`: distributions whose log-probability is piecewise linear, made lists of cells for `listed`.
"""
