"""The mathematics behind the mechanisms: pure functions of numbers and arrays, which know no mechanism.

- `numerics`: elementary functions without cancellation, series, roots, and rounding to the safe side.
- `mechanisms`: the functions of each distribution (density, tails, quantiles, moments), one file a family.
- `sums`: how far the sum of k draws is from 0, at most.
- `optimal`: the parameter that is best for a cost, and the least one for an error or for (ε, δ).
- `privacy`: the privacy loss of one release and of many.
- `binomial`: a binomial count with noise, its tails, and what they say about the probability of success.
- `partition_selection`: the best probabilities of showing groups, and the noise that goes with them.
- `gaussian_threshold`: the least threshold of Gaussian noise for people of several groups, and its exact δ.
- `permute_and_flip`: the probabilities of candidates whose coins are tossed in random order.

`numerics` imports none of the others, `mechanisms` only `numerics`, `sums` these two, `optimal` and `privacy` any but each other
(`optimal` may use `privacy`). Notation as in the papers: ``b = exp(-eps)``, ``c = b/(1 - b)``, `D` is the sensitivity, and
`gamma` or `r` the half-width of the central stair. No formula subtracts nearly equal numbers, and no tail is computed as
``1 - cdf``. So the relative error of closed forms stays near 1e-15 from ``eps`` = 2**-40 to 700, where textbook forms lose
every digit or overflow.
"""
