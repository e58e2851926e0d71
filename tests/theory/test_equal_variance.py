"""The advice about many releases: staircase and Laplace noise of the same variance, composed.

Evidence: variances from Geng and Viswanath's formula and brentq of SciPy; losses as lists of probabilities of one lattice,
composed by convolution for a few releases; the package's accounting, which other tests compare with product distributions, for
many.
"""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

import stairnoise as sn

DELTA = 1e-6


def variance(eps, gamma):
    b = math.exp(-eps)
    c = b / (1 - b)
    t, v = 2 * (gamma + c), c * (1 + c)
    return t * t / 12 + v + 2 / 3 * v * (1 + 2 * c) / t


def best_gamma(eps):
    b = math.exp(-eps)
    return ((b * (1 + b) / 2) ** (1 / 3) - b) / (1 - b)


def eps_of_staircase(eps):
    """Return ε of the "l2" staircase with the variance of Laplace noise of `eps`."""
    return optimize.brentq(lambda e: variance(e, best_gamma(e)) - 2 / eps**2, eps / 20, eps, xtol=1e-14)


def ratio(eps, k):
    """Return the ε of k releases by the staircase, over the ε by Laplace noise of equal variance."""
    mechanisms = sn.Staircase(eps_of_staircase(eps), gamma="l2"), sn.Laplace(eps)
    ours, theirs = (mechanism.privacy_loss().compose(k).eps_for_delta(DELTA) for mechanism in mechanisms)
    return ours / theirs


def mean_losses(eps):
    """Return mean losses by sums over a lattice of 2**14 steps to the sensitivity."""
    resolution, found = 2**14, []
    x = (np.arange(-resolution * 60, resolution * 60) + 0.5) / resolution
    e = eps_of_staircase(eps)
    for height in (e * np.maximum(0, np.floor(np.abs(x) - best_gamma(e)) + 1), eps * np.abs(x)):
        f = np.exp(-height)
        found.append(float(np.sum(f[resolution:] * (height[:-resolution] - height[resolution:])) / f.sum()))
    return found


@pytest.mark.parametrize("eps", [0.6, pytest.param(1.0, marks=pytest.mark.long), pytest.param(2.0, marks=pytest.mark.long), 3.4])
def test_between_a_half_and_three_and_a_half_it_depends_on_how_often(eps):
    assert (
        "choose the staircase for ten releases or fewer at a delta up to 1e-6, Laplace for thousands."
        in sn.compare(eps).recommendation
    )
    assert ratio(eps, 1) < 0.995
    assert ratio(eps, 10) < 0.995
    assert ratio(eps, 2**13) > 1


@pytest.mark.slow
@pytest.mark.parametrize("eps", [3.5, pytest.param(4.0, marks=pytest.mark.long), pytest.param(8.0, marks=pytest.mark.long), 20.0])
def test_from_three_and_a_half_on_the_staircase_is_the_better_one(eps):
    assert ": choose the staircase." in sn.compare(eps).recommendation
    assert ratio(eps, 10) < ratio(eps, 100) < ratio(eps, 1000) < 1
    ours, theirs = mean_losses(eps)
    assert ours < theirs


def test_up_to_a_half_there_is_little_to_gain():
    assert 0.99 < ratio(0.5, 1) < 1
    assert ratio(0.5, 100) > 1.05


@pytest.mark.parametrize("eps", [0.3, 1.0, 3.0, 4.0, 10.0])
def test_what_is_said_of_very_many_releases(eps):
    ours, theirs = mean_losses(eps)
    name, less, more = ("Laplace", theirs, ours) if theirs < ours else ("the staircase", ours, theirs)
    found = re.search(
        r"Over very many releases at the same variance (.*) composes better: its mean privacy loss is ([\d.]+) per draw "
        r"against ([\d.]+)\.",
        sn.compare(eps).recommendation,
    )
    assert found.group(1) == name
    assert float(found.group(2)) == pytest.approx(less, rel=5e-3)
    assert float(found.group(3)) == pytest.approx(more, rel=5e-3)


@pytest.mark.parametrize("eps", [1.0, 4.0])
def test_ten_releases_by_plain_convolution(eps):
    """Losses on a grid of 2**-13, each rounded to the nearest point: within 1e-3 of the package's ratio."""
    step, k, totals = 2.0**-13, 10, []
    depth = (np.arange(round(eps / step)) + 0.5) * step
    e = eps_of_staircase(eps)
    h, b = 2 * best_gamma(e), math.exp(-e)
    p = (min(1, h) + b / (1 - b)) / (h + 2 * b / (1 - b))
    mechanisms = [([e, 0.0, -e], [p, 1 - p - b * p, b * p])]
    ends, inner = [0.5, math.exp(-eps) / 2], np.exp(-depth) / 2 * step
    mechanisms += [(np.concatenate([[eps, -eps], eps - 2 * depth]), np.concatenate([ends, inner]))]
    for losses, masses in mechanisms:
        top = round(max(losses) / step)
        mechanism = np.zeros(2 * top + 1)
        np.add.at(mechanism, top - np.rint(np.asarray(losses) / step).astype(int), masses)
        size = 2 ** math.ceil(math.log2(mechanism.size * k))
        total = np.fft.irfft(np.fft.rfft(mechanism / mechanism.sum(), size) ** k, size)[: (mechanism.size - 1) * k + 1]
        loss = (top * k - np.arange(total.size)) * step

        def delta(t, total=total, loss=loss):
            return float(np.sum(np.maximum(total, 0) * np.maximum(-np.expm1(t - loss), 0))) - DELTA

        totals.append(optimize.brentq(delta, 0, k * max(losses) + 1))
    assert totals[0] / totals[1] == pytest.approx(ratio(eps, k), rel=1e-3)


@pytest.mark.parametrize("D", [2, 10])
@pytest.mark.parametrize("eps", [0.6, 2.0, 3.5, 6.0])
def test_the_same_holds_for_integers(eps, D):
    laplace = sn.DiscreteLaplace(eps, D)
    excess = optimize.brentq(lambda e: sn.DiscreteStaircase(e, D, "l2").var() - laplace.var(), eps / 4, eps)
    mechanisms = sn.DiscreteStaircase(excess, D, "l2"), laplace
    for k, below in ((10, True), (1000, eps >= 3.5)):
        ours, theirs = (mechanism.compose(k).eps_for_delta(DELTA) for mechanism in mechanisms)
        assert (ours < theirs) is below


def composed(eps, delta, k):
    """Return the ε of k releases of the staircase of equal variance, over that of Laplace noise, both by `compose`."""
    mechanisms = sn.Staircase(eps_of_staircase(eps), gamma="l2"), sn.Laplace(eps)
    assert mechanisms[0].var() == pytest.approx(mechanisms[1].var(), rel=1e-6)
    ours, theirs = (mechanism.compose(k).eps_for_delta(delta) for mechanism in mechanisms)
    return ours / theirs


@pytest.mark.slow
def test_the_page_states_the_deltas_of_its_advice():
    """At 1e-6 and less ten releases cost less with the staircase; at 1e-2 some cost more; from ε = 3.5 on all cost less."""
    for delta in (1e-6, 1e-9):
        assert all(composed(eps, delta, k) < 1 for eps in (0.2, 1.0, 3.4) for k in (1, 10))
    assert round(composed(1.0, 1e-2, 10), 2) == 1.12
    for delta in (1e-2, 1e-6):
        assert all(composed(eps, delta, k) < 1 for eps in (3.5, 8.0) for k in (10, 1000))
    text = (Path(__file__).resolve().parents[2] / "docs/mechanisms.md").read_text(encoding="utf-8")
    assert "At δ = 10⁻², ten answers of ε = 1 cost 12 % more with it." in text
    gains = []
    for k in (10, 100, 1000):
        total = sn.Laplace(1).compose(k).eps_for_delta(1e-6)
        mechanism = sn.calibrate(sn.Staircase, eps=total, delta=1e-6, releases=k, cost="l2")
        gains.append(round(100 * (1 - mechanism.var() / sn.Laplace(1).var())))
    assert gains == [4, 7, 8]
    assert "[4, 7 and 8 %" in text
