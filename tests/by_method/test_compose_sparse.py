"""Composed losses whose lattice begins, ends or is filled with zeros.

Evidence: δ by mpmath, from the probabilities of the sum of the noises at 40 digits, convolved term by term; powers of mechanisms
of few atoms in exact integers, and by the multinomial distribution at 40 digits. Deterministic: no false alarms.
"""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from mpmath import mp

import stairnoise as sn
from stairnoise.accounting.convolution import _multiplications, convolution


def delta_of_sums(sigma2: float, k: int, eps: float) -> float:
    """Return δ of k values that change by 1 each."""
    with mp.workdps(40):
        variance = mp.mpf(sigma2)
        reach = int(mp.sqrt(2 * variance * 100)) + 2
        weights = [mp.exp(-(mp.mpf(x) ** 2) / (2 * variance)) for x in range(-reach, reach + 1)]
        total = mp.fsum(weights)
        mechanism = [mp.mpf(1)]
        for _ in range(k):
            mechanism = [
                mp.fsum(mechanism[i - j] * weights[j] / total for j in range(len(weights)) if 0 <= i - j < len(mechanism))
                for i in range(len(mechanism) + 2 * reach)
            ]
        p = dict(zip(range(-k * reach, k * reach + 1), mechanism, strict=True))
        return float(mp.fsum(max(q - mp.exp(eps) * p.get(s + k, mp.mpf(0)), mp.mpf(0)) for s, q in p.items()))


@pytest.mark.parametrize(("sigma2", "k", "eps"), [(0.7873549674770739, 7, 15.0), (0.7873549674770739, 7, 3.0), (0.3, 4, 9.5)])
def test_losses_far_apart_compose(sigma2: float, k: int, eps: float) -> None:
    low, high = sn.DiscreteGaussian(sigma2).compose(k).privacy_profile(eps, bounds=True)
    truth = delta_of_sums(sigma2, k, eps)
    assert low <= truth * (1 + 1e-9)
    assert truth <= high * (1 + 1e-9)
    assert high < 1.001 * low


def test_losses_far_apart_compose_with_others() -> None:
    loss = sn.DiscreteGaussian(0.4686194548519153).compose(2, 5) + sn.DiscreteStaircase(2, 5).privacy_loss()
    low, high = loss.privacy_profile([0.1, 3.0, 20.0], bounds=True)
    assert np.all((low >= 0) & (low <= high) & (high <= 1))


@pytest.mark.parametrize("length", [3, 40, 3000, 14_001])
def test_convolution_of_mechanisms_between_zeros(length: int) -> None:
    """Compared with the powers of the mechanism with its zeros removed, whose positions are known."""
    bare = np.random.default_rng(5).random(600)
    bare /= bare.sum()
    mechanism = np.concatenate([np.zeros(700), bare, np.zeros(701)])
    found = convolution([(mechanism, 7)], length)
    expected = np.zeros(14_001)
    expected[4900 : 4900 + 7 * 599 + 1] = convolution([(bare, 7)], 7 * 599 + 1)
    assert found.size == length
    assert np.allclose(found, expected[:length], rtol=1e-9, atol=0)


def mechanism_of(atoms: dict[int, float]) -> np.ndarray:
    mechanism = np.zeros(max(atoms) + 1)
    mechanism[list(atoms)] = list(atoms.values())
    return mechanism


def agrees(found: np.ndarray, exact: dict[int, float]) -> bool:
    """Require agreement to 1e-12 of every entry, or to 1e-300 where float64 has few digits."""
    expected = np.array([exact.get(i, 0.0) for i in range(found.size)])
    return np.allclose(found, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("length", [1, 700, 1541, 3081])
def test_few_atoms_by_exact_integers(length: int) -> None:
    atoms, k, scale = {0: 1e-9, 1: 3e-10, 37: 0.6, 40: 0.399999, 77: 1e-6}, 40, 2**100
    mechanism = mechanism_of(atoms)
    assert _multiplications(mechanism, k) < 700
    whole = {step: int(Fraction(mass) * scale) for step, mass in atoms.items()}
    ways = Counter({0: 1})
    for _ in range(k):
        following: Counter[int] = Counter()
        for (place, many), (step, mass) in product(ways.items(), whole.items()):
            following[place + step] += many * mass
        ways = following
    assert agrees(convolution([(mechanism, k)], length), {i: many / scale**k for i, many in ways.items()})


@pytest.mark.slow
@pytest.mark.parametrize("rare", [1e-10, pytest.param(1e-3, marks=pytest.mark.long)])
def test_few_atoms_by_the_multinomial_mechanism(rare: float) -> None:
    """The largest sums underflow, and so do intermediate products of others."""
    k, common, other = 300, 0.55, 0.45
    exact: Counter[int] = Counter()
    with mp.workdps(40):
        terms = [[mp.mpf(mass) ** i / mp.factorial(i) for i in range(k + 1)] for mass in (rare, common, other)]
        for j in range(k + 1):
            for a in range(k + 1 - j):
                b = k - j - a
                exact[150 * a + 301 * b] += terms[0][j] * terms[1][a] * terms[2][b]
        ways = mp.factorial(k)
        expected = {i: float(ways * p) for i, p in exact.items()}
    found = convolution([(mechanism_of({0: rare, 150: common, 301: other}), k)], 150 * k)
    assert agrees(found, expected)
    assert np.count_nonzero(found) > 500


def test_a_coarse_lattice_bounds_from_above_and_closely() -> None:
    for mechanism in (sn.DiscreteCanonical(0.3, 1e-9), sn.TruncatedLaplace(0.3, 1e-9, 1), sn.Laplace(0.3), sn.Staircase(0.3)):
        loss = mechanism.privacy_loss().compose(20)
        fine = loss.eps_for_delta(1e-6)
        assert fine * (1 - 1e-12) <= loss._coarse_eps(1e-6) <= fine * 1.0001


@pytest.mark.parametrize("mechanism", [sn.TruncatedStaircase(0.01, 1e-12), sn.TruncatedDiscreteStaircase(0.3, 1e-9, 3)], ids=repr)
@pytest.mark.parametrize("k", [3, 200])
def test_a_truncated_staircase_has_its_losses_on_a_lattice(mechanism: sn.AdditiveMechanism, k: int) -> None:
    low, high = mechanism.compose(k).eps_for_delta(1e-5, bounds=True)
    assert low < high < low * (1 + 1e-8)


@pytest.mark.parametrize(("eps", "k"), [(0.3, 10), (0.024, 100)])
def test_canonical_losses_stay_on_their_nodes(eps: float, k: int) -> None:
    low, high = sn.DiscreteCanonical(eps, 1e-9).compose(k).eps_for_delta(1e-5, bounds=True)
    assert low < high < low * (1 + 1e-5)
