"""The loss of one release, one file for each form that it takes.

- `atoms`: three values, as every staircase has.
- `steps`: equal steps or a continuum, as the Laplace distributions have.
- `listed`: a list of outcomes.
- `runs`: geometric runs of outcomes, where the log-probability is piecewise linear.
- `lattice_gaussian`: unbounded, linear in discrete Gaussian noise.
- `largest`: the worst of several pairs of neighbours.
"""
