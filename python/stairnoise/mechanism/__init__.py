"""What the classes of all mechanisms share: the base classes in `additive` and `selection`, and the parts that they inherit from.

`additive` lists the questions that a mechanism answers about itself. `immutable` makes mechanisms values and `drawing` samples.
`release` adds noise to true answers, and `residues` does so modulo m. `partitions` protects people who change several values, and
`guarantee` states what a release promises. Mechanisms of single numbers have more: `distribution` has their distribution
functions and `accuracy` their error bars. `cost` has expected costs, `privacy` what a release reveals, `plotting` a picture, and
`interop` the form that SciPy expects.

Some mechanisms have one of two further capabilities. `array_parameters` uses `symmetric` for the distribution functions,
`on_lattice` for the distribution on the lattice, and `eps_for_error` for the ε of a wanted error. `shares` splits noise
among many parties.
"""
