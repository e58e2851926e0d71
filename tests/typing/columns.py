"""Polars columns and frames: both type checkers see that the input's type is returned."""

import polars as pl
from typing_extensions import assert_type

import stairnoise as sn

rng = sn.SeededRng(1, allow_release=True)
counts = pl.Series("n", [1, 2, None])
frame = pl.DataFrame({"group": ["a", "b"], "n": [1, 2]})

assert_type(sn.DiscreteLaplace(1).release(counts, nulls="zero", rng=rng), pl.Series)
assert_type(sn.DiscreteLaplace(1).release(frame, columns=["n"]), pl.DataFrame)
assert_type(sn.Laplace([1.0, 2.0], 1).release(frame, columns="n", max_partitions_contributed=2), pl.DataFrame)
assert_type(sn.DiscreteGaussian(9).release(frame, columns=("n",), l2_sensitivity=1), pl.DataFrame)
assert_type(sn.MultivariateStaircase(1, 1, dim=1).release(frame, columns=["n"], threads=1), pl.DataFrame)
assert_type(sn.Gaussian(1, 1e-6, 1).release(counts, nulls="keep"), pl.Series)

keyed = sn.KeyedRng(bytes(32), "persons", bind="label")
assert_type(sn.Laplace(1, 1).release(counts, labels=[1, 2, 3], statistic="count", rng=keyed, nulls="zero"), pl.Series)
assert_type(sn.DiscreteLaplace(1).release(frame, columns=["n"], labels=["a", "b"], statistic=["count"], rng=keyed), pl.DataFrame)
assert_type(keyed.fingerprint([1, 2], ["a", "b"]), str)
