"""The privacy loss of one release and of many: closed forms, lattices and brackets.

- `parts`: the loss of one release, one file for each form that it takes.
- `shifted`: the loss of a list of probabilities against the same list, shifted.
- `every_shift`: the loss of weights against themselves, under every shift up to the sensitivity.
- `models`: which lattices hold, or enclose, the loss of many releases.
- `convolution`: the loss of many releases on a lattice, from those of one.
- `curve`: the privacy profile and the trade-off curve of a loss on a lattice.
- `grid`: a privacy loss on the multiples of an interval, for other libraries.
- `inverse`: the ε of a δ, for profiles without a closed inverse.
"""
