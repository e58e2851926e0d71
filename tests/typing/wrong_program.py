"""Mistakes that a type checker must find: one per line, with the error code in a comment."""

import numpy as np

import stairnoise as sn

sn.Staircase("4")  # arg-type
sn.Staircase(4, gamma="l3")  # arg-type
sn.Staircase(4, r=1)  # call-arg
sn.sample(10, 1.0, mechanism="gauss")  # arg-type
sn.sample(10, 1.0, rng=np.random.default_rng())  # arg-type
sn.sample(2.5, eps=1.0)  # arg-type
sn.Laplace(1).sample(2.5)  # call-overload
sn.Laplace(1).sample(3, out=[0.0, 0.0, 0.0])  # call-overload
sn.Laplace(1).eps = 2.0  # misc
sn.SeededRng("seed")  # arg-type
sn.SeededRng(1, True)  # call-arg
sn.SecureRng.from_key("secret")  # arg-type
sn.DiscreteLaplace(1).pdf(3)  # attr-defined
sn.DiscreteGaussian(1, 1e-6)  # call-arg
sn.MultivariateStaircase(1, norm="l3")  # arg-type
sn.StaircaseSelection(1).release([0.0, 1.0])  # attr-defined
