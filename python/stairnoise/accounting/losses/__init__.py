"""The loss of one release, in the forms that several mechanisms have; a form of one mechanism is in the mechanism's `loss`.

- `loss`: what every form answers.
- `general`: what forms without a lattice of their own have in common.
- `listed`: a list of outcomes.
- `shifted`: a list of probabilities against the same list, shifted.
- `runs`: geometric runs of outcomes, where the log-probability is piecewise linear.
- `largest`: the worst of several pairs of neighbours.
- `elements`: the losses of array parameters, element by element.
"""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
