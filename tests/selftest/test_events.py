"""The self-test's bound and cells, against SciPy's distributions.

The numbers that are drawn have fixed seeds.
"""

import math

import numpy as np
import pytest
from scipy import stats

import stairnoise as sn
from stairnoise._selftest import events
from stairnoise._selftest import mechanisms as mechanisms
from stairnoise._selftest.events import Events, evidence

# The bound


@pytest.mark.parametrize("p", [1e-6, 0.01, 0.3, 0.5, 0.999])
@pytest.mark.parametrize("n", [1, 10, 1000])
def test_the_bound_holds_for_every_count(n, p):
    """P(evidence ≥ T) ≤ 2 e^(-T) with the binomial distribution itself (SciPy's), at every T that can come out."""
    counts = np.arange(n + 1)
    nats = evidence(counts.astype(float), n, np.full(n + 1, p))
    probabilities = stats.binom.pmf(counts, n, p)
    for limit in nats:
        assert probabilities[nats >= limit].sum() <= 2 * math.exp(-limit) * (1 + 1e-9)


def test_evidence_of_counts():
    p = np.array([0.25, 0.25, 0.25, 0.0, 1.0, 0.0])
    found = evidence(np.array([25.0, 0.0, 100.0, 0.0, 100.0, 1.0]), 100, p)
    assert found[:3] == pytest.approx([0, -100 * math.log(0.75), 100 * math.log(4)])
    assert found[3:].tolist() == [0, 0, math.inf]


def test_slack_allows_so_much_and_no_more():
    assert evidence(np.array([30.0]), 100, np.array([0.2]), 0.1)[0] == pytest.approx(0, abs=1e-12)
    assert evidence(np.array([31.0]), 100, np.array([0.2]), 0.1)[0] == pytest.approx(
        evidence(np.array([31.0]), 100, np.array([0.3]))[0], rel=1e-9
    )
    assert math.isfinite(evidence(np.array([1.0]), 100, np.array([0.0]), 1e-8)[0])


def test_the_limit_counts_all_events():
    events = Events()
    events.add(str, [50], 100, [0.5])
    events.add(str, [10, 90], 100, [0.1, 0.9])
    outcome = events.outcome(100, 1e-3)
    assert outcome.limit == math.log(6 / 1e-3)
    assert outcome.statistic == pytest.approx(0, abs=1e-6)
    assert outcome.detail == ""


def test_the_largest_evidence_is_told():
    events = Events()
    events.add(lambda i: f"first {i}", [50, 49], 100, [0.5, 0.5])
    events.add(lambda i: f"second {i}", [10, 100], 100, [0.1, 0.2])
    assert events.outcome(100).detail == "second 1: 100 of 100, expected 20.0"


def test_a_probability_that_is_nan_fails():
    events = Events()
    events.add(str, [50, 50], 100, [0.5, math.nan])
    events.add(str, [50], 100, [0.4])
    assert math.isnan(events.outcome(100).statistic)


# Cells


@pytest.mark.parametrize("mechanism", mechanisms.mechanisms(), ids=mechanisms.short)
def test_cells_cover_the_line_and_no_value_is_on_an_edge(mechanism):
    where = events.cells_of(mechanism)
    assert math.fsum(where.probabilities) == pytest.approx(1, abs=1e-12)
    assert (where.probabilities >= 0).all()
    assert where.probabilities.size == where.edges.size + 1 > 2
    steps = where.edges / float(mechanism.granularity)
    assert (steps != np.rint(steps)).all()


def test_cells_in_the_tails_keep_their_precision():
    x = np.array([-40.0, -30.0, 0.0, 30.0, 40.0])
    found = events.between(stats.laplace.cdf(x), stats.laplace.sf(x))
    assert found[0] == pytest.approx(found[-1], rel=1e-14)
    assert found[1] == pytest.approx(0.5 * (math.exp(-30) - math.exp(-40)), rel=1e-13)


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("dim", [2, 3])
def test_shares_of_the_norm(norm, dim):
    """Against points of the ball that NumPy draws by rejection: 10**6 of them, five standard errors of a fixed seed."""
    rng = np.random.default_rng(4)
    points = rng.uniform(-1, 1, (10**6, dim))
    size = mechanisms._norms(points, norm)
    points, size = points[size < 1], size[size < 1]
    t = np.arange(1, 8) / 8
    found = (np.abs(points[:, :1]) <= t * size[:, None]).mean(axis=0)
    expected = mechanisms.share_cdf(norm, dim, t)
    assert (np.abs(found - expected) < 5 * np.sqrt(expected * (1 - expected) / len(points))).all()


def test_texts_of_mechanisms():
    assert mechanisms.short(sn.Laplace(1.0)) == "Laplace(eps=1)"
    assert mechanisms.short(sn.Staircase([0.5, 1.0], gamma="l2")) == "Staircase(eps=[0.5, 1], gamma='l2')"
    texts = [mechanisms.short(mechanism) for mechanism in (*mechanisms.mechanisms(), *mechanisms.vectors())]
    assert len(set(texts)) == len(texts)
