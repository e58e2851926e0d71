"""Mistakes that both type checkers must find: one per line, with the code of mypy's error in a comment."""

import numpy as np

import stairnoise as sn

# Parameters
sn.Staircase("4")  # arg-type
sn.Staircase(4, gamma="l3")  # arg-type
sn.Staircase(4, r=1)  # call-overload
sn.DiscreteGaussian(1, 1e-6)  # call-overload
sn.DiscreteGaussian(eps=1, delta=1e-6)  # call-overload
sn.MultivariateStaircase(1, norm="l3")  # arg-type
sn.Laplace(1).eps = 2.0  # misc
sn.Laplace(1, senstivity=3)  # call-overload

# Samples in one call
sn.sample(10, 1.0, mechanism="gauss")  # call-overload
sn.sample(10, 1.0, rng=np.random.default_rng())  # call-overload
sn.sample(2.5, eps=1.0)  # call-overload
sn.sample(10, 1.0, seed=42)  # call-overload
sn.sample(10, 1.0, senstivity=3)  # call-overload
sn.sample(10, 1.0, mechanism="discrete_laplace", senstivity=3)  # call-overload
sn.sample(10, mechanism="gaussian", eps=1, delta="small")  # call-overload

# Drawing and releasing
sn.Laplace(1).sample(2.5)  # call-overload
sn.Laplace(1).sample(3, out=[0.0, 0.0, 0.0])  # call-overload
sn.Laplace(1).sample(out="noise")  # call-overload
sn.Laplace(1).sample(10, seed=42)  # call-overload
sn.Laplace(1).sample_chunks()  # call-overload
sn.Laplace(1).sample_chunks(2.5)  # call-overload
sn.Laplace(1).sample_chunks(10, out=np.zeros(5))  # call-overload
sn.Laplace(1).release("5")  # arg-type
sn.Laplace(1).release(5, rng=42)  # call-overload
sn.Laplace(1).release(5, max_partition_contributed=2)  # call-overload
sn.Laplace(1).release(5, threads="2")  # call-overload
sn.Laplace(1).release(5, nulls="drop")  # call-overload
sn.Laplace(1).release([5], columns="n")  # call-overload
sn.Skellam(mu=4, sigma2=4)  # call-arg
sn.DiscreteGaussian(4).release(5, l1_sensitivity=2)  # call-overload
sn.DiscreteLaplace(1).pdf(3)  # attr-defined
sn.StaircaseSelection(1).release([0.0, 1.0])  # attr-defined
sn.StaircaseSelection(1).select("costs")  # arg-type
sn.PermuteAndFlip(1).top([0.0, 1.0])  # call-overload
sn.PartitionSelection(1)  # call-overload
sn.PartitionSelection(1, 0.1).select([0.5])  # arg-type

# Return types
print(sn.Laplace(1).release(5).shape)  # attr-defined
sn.Laplace([1, 2]).release(5).is_integer()  # attr-defined
sn.DiscreteLaplace(1).sample(5).is_integer()  # attr-defined
sn.DiscreteLaplace(1).error_bound("l1")  # arg-type
print(sn.Laplace(1).std().shape)  # attr-defined
print(sn.Laplace(1).guarantee().epsilon)  # attr-defined
print(sn.Laplace(1).privacy_loss().eps.shape)  # attr-defined
print(sn.optimal_r(4, 5).shape)  # attr-defined

# Randomness
sn.SeededRng("seed")  # arg-type
sn.SeededRng(1, True)  # call-arg
sn.SecureRng.from_key("secret")  # arg-type
sn.SecureBitGenerator(7)  # arg-type
sn.Laplace(1).sample(rng=sn.SecureBitGenerator())  # call-overload
