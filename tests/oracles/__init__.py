"""A second, slow implementation of docs/contract.md by exact rationals and intervals; it imports nothing from the package.

stream      key to words                    lattice    parameters to (log2 g, D, r)
survival    S(j) as an interval             draw       words to an integer
release     values to private answers       moments    exact E|X|, E X^2, E X^4
segments    mechanisms of several draws whose probabilities fall geometrically, segment by segment
merged_laplace    parameters to such a mechanism
truncated_laplace    parameters to two ends, and words to integers between them
truncated_staircase, truncated_discrete_staircase    parameters to a staircase between two ends
lattice_noise    weights to exact probabilities
skellam     words to sums of Skellam draws
discrete_canonical    parameters to canonical noise
bit_generator    key to the words of a bit generator
partitions  parameters to the mechanism of each of k values
intervals   the only place that knows about precision
generate    writes tests/vectors/
"""
