"""What every mechanism's law has: the base classes in `law`, and the parts that they are made of.

`law` lists the questions that a law answers about itself. `immutable` makes laws values, `drawing` samples, `release` adds
noise to true answers, `partitions` is for people who change several values, `guarantee` says what a release promises.
`distribution` has the functions of a law of numbers, `accuracy` the error bars, `cost` expected costs, `privacy` what a
release reveals, `plotting` a picture, `interop` the form of SciPy.

Two capabilities that some laws have: `array_parameters`, with the functions in `symmetric`, the law on its lattice in
`on_lattice` and the ε for a wanted error in `eps_for_error`; and `shares`, noise that adds up from many parties.
"""
