"""mbi with our noise on the marginals of the census: its models have the error that they have with NumPy's noise.

Evidence: the rank-sum test of Mann and Whitney. False alarms: 1e-6 for equal distributions of the error. The same test refuses a
standard deviation that is 15 % larger.
"""

import importlib.util
import warnings
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn

pytestmark = pytest.mark.long

ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult.csv"
STD, RUNS = 20.0, 150


@pytest.mark.skipif(importlib.util.find_spec("mbi") is None, reason="mbi is not installed: scripts/test_systems.sh")
@pytest.mark.skipif(not ADULT.is_file(), reason="needs ../shared/data/adult.csv")
def test_models_of_the_census_have_the_same_error():
    stats, pandas = pytest.importorskip("scipy.stats"), pytest.importorskip("pandas")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that JAX computes in float32
        import mbi

        columns = pandas.read_csv(ADULT, usecols=["sex", "race", "income", "maritalstatus", "relationship"]).astype("category")
        codes = {name: column.cat.codes.to_numpy(np.int64) for name, column in columns.items()}
        domain = mbi.Domain(list(codes), [len(column.cat.categories) for _, column in columns.items()])
        table = mbi.Dataset(codes, domain)
        pairs = [("sex", "income"), ("race", "income"), ("maritalstatus", "relationship"), ("relationship", "income")]
        true = {pair: np.asarray(table.project(pair).datavector()) for pair in pairs}

        def errors(noisy):
            def error():
                measured = [mbi.LinearMeasurement(noisy(counts), pair, stddev=STD) for pair, counts in true.items()]
                model = mbi.estimation.MirrorDescent().estimate(domain, measured, iters=200)
                return sum(float(np.abs(model.project(pair).datavector() - counts).sum()) for pair, counts in true.items())

            return [error() for _ in range(RUNS)]

        def same(ours):
            return stats.mannwhitneyu(ours, theirs).pvalue >= 1e-6

        theirs = errors(lambda counts: counts + np.random.default_rng().normal(scale=STD, size=counts.shape))
        noise = sn.DiscreteGaussian(sigma=STD)
        assert same(errors(lambda counts: noise.release(counts.astype(np.int64))))
        assert not same(errors(lambda counts: sn.Gaussian(std=1.15 * STD).release(counts)))
