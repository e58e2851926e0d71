"""What the classes of all mechanisms share: base classes, which list their methods, and files of methods.

Read them in this order. `immutable` makes mechanisms values. `base` is the base of all: it draws (`drawing`), adds noise to true
answers (`release`), protects people who change several values (`partitions`), and states what a release promises (`guarantee`).
`additive` is the base of mechanisms of single numbers. They also have a distribution (`distribution`), error bars (`accuracy`),
expected costs (`cost`), a privacy loss (`privacy`), a picture (`plotting`), the form that SciPy expects (`interop`) and, on the
integers, releases modulo m (`residues`). `stated` is the error for a sensitivity that nobody stated.

Three base classes are for some mechanisms. `array_parameters` is for those that one random word draws; `symmetric` has their
distribution functions, `on_lattice` the distribution on the lattice, and `eps_for_error` the ε of a wanted error.
`array_gaussian` is for Gaussian noise with a σ for every value. `shares` is for noise that is split among many parties.

`selection` is the base of mechanisms that select a candidate, and `selection_by_differences` of those to which only differences
of costs matter.
"""
