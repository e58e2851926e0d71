"""The privacy loss of one release and of many: closed forms, lattices and brackets.

`atoms` and `steps` are the two kinds of release that the four laws make, `power` composes them on a
lattice, `curve` reads the composed lattice, and `models` chooses it.
"""
