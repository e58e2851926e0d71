"""What the classes of all mechanisms share: base classes, which list their methods, and files of methods.

Read them in this order. `immutable` makes mechanisms values. `base` is the base of all: it draws, adds noise to true answers,
protects people who change several values, and states a guarantee; `drawing`, `answers`, `release` and `guarantee`
do parts of that work. `additive` is the base of mechanisms of single numbers, which also have a distribution, error
bars and a privacy loss; `distribution` has moments, `accuracy` error bars and `cost` expected costs. `continuous` and `discrete`
are the bases of mechanisms of real numbers and of integers.

Three base classes are for some mechanisms. `array_parameters` is for those that one random word draws, and `eps_for_error` has
the ε of a wanted error. `array_gaussian` is for Gaussian noise with a σ for every value. `shares` is for noise that is split
among many parties.

`selection` has the bases of mechanisms that select a candidate.
"""
