"""The loss of one release, one file for each form that it takes.

`part` says what every one of them answers. A new form is one more file.

- `atoms`: three values, as every staircase has.
- `ended_atoms`: three values and an infinite one, as every truncated staircase has.
- `canonical_atoms`: two more, for canonical noise on the integers.
- `steps`: equal steps or a continuum, as the Laplace distributions have.
- `general`: what the following have in common, which have no lattice of their own.
- `listed`: a list of outcomes.
- `one_shift`: a list of outcomes, some of them impossible under the other centre.
- `runs`: geometric runs of outcomes, where the log-probability is piecewise linear.
- `lattice_gaussian`: unbounded, linear in discrete Gaussian noise.
- `gaussian_vector`: discrete Gaussian noise of integers that change together in the l2 norm.
- `elements`: Gaussian losses of array parameters, element by element.
- `skellam`: unbounded, from a list of Skellam probabilities.
- `appearing`: a group that appears with one person, and is hidden without them.
- `largest`: the worst of several pairs of neighbours.
"""
