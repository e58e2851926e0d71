"""True answers that do not fit a mechanism's lattice. Evidence: the rule of the contract, section 4, by exact rationals.

The count of fills and the memory show that nothing is drawn or written.
"""

from fractions import Fraction

import numpy as np
import pytest

import stairnoise as sn

TEXT = "values must be below 2**126 times the granularity in magnitude, got a larger one"


def limit(mechanism):
    """Return the smallest magnitude that is refused; it is a float64 or infinity."""
    return float(Fraction(2) ** 126 * Fraction(mechanism.granularity))


MECHANISMS = [
    sn.Laplace(1.0, 1e-20),
    sn.Staircase(4.0, sensitivity=1),
    sn.DiscreteLaplace(1.0, 1),
    sn.DiscreteStaircase(1.0, 3),
    sn.Gaussian(1.0, 1e-6, sensitivity=1),
    sn.DiscreteGaussian(9.0),
    sn.TruncatedLaplace(1.0, 1e-6, sensitivity=1),
    sn.MergedLaplace([0.5, 2.0], [1.0], sensitivity=1),
    sn.Arete.from_eps(1.0, 1),
    sn.GeneralizedDiscreteLaplace.from_eps(1.0, 1),
    sn.MultiScaleDiscreteLaplace(1.0, 3),
    sn.MultivariateStaircase(1.0, dim=1, sensitivity=1),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
def test_the_least_that_is_refused_and_the_largest_that_is_not(mechanism, rng):
    most = float(np.nextafter(limit(mechanism), 0))
    for size in (3, 2000):
        for bad in (limit(mechanism), -limit(mechanism), 1e308):
            values, out = np.zeros(size), np.full(size, 7.0)
            values[-1] = bad
            if isinstance(mechanism, sn.MultivariateStaircase):
                values, out = values[:, None], out[:, None]
            index = tuple(n - 1 for n in values.shape)
            # The mechanism for a part of ε can have a coarser lattice.
            divisible = not isinstance(mechanism, (sn.Arete, sn.GeneralizedDiscreteLaplace))
            several = {"max_partitions_contributed": 2 if bad == 1e308 and divisible else 1}
            for kwargs in ({}, {"out": out}, several, {"out": values}):
                with pytest.raises(sn.ParameterError) as caught:
                    mechanism.release(values, rng=rng, **kwargs)
                assert str(caught.value) == f"{TEXT} at index {index}"
            assert (out == 7).all()
            assert values[index] == bad
        values[index] = -most
        released = mechanism.release(values)
        assert released[index] == pytest.approx(-most, rel=1e-15)
    assert rng._stream.fill_count == 0


def test_what_was_silently_another_number(rng):
    with pytest.raises(sn.ParameterError) as caught:
        sn.Laplace(1, 1e-20).release(1e10, rng=rng)
    assert str(caught.value) == TEXT
    assert "1" not in str(caught.value).replace("2**126", "")


def test_integers_too(rng):
    mechanism = sn.Laplace(1.0, 1e-20)
    most = int(Fraction(2) ** 126 * Fraction(mechanism.granularity))
    assert mechanism.release(most - 1) == pytest.approx(most - 1, rel=1e-9)
    for bad in (most + 1, -most - 1, 2**62):
        with pytest.raises(sn.ParameterError, match=r"2\*\*126 times the granularity.* at index \(0, 1\)$"):
            mechanism.release([[0, bad]], rng=rng)
    assert sn.DiscreteLaplace(1.0).release([2**63 - 1, -(2**63)], rng=sn.SeededRng(1, allow_release=True)).dtype == np.int64


@pytest.mark.parametrize("size", [3, 5000])
def test_each_element_has_its_own_limit(size, rng):
    sensitivity = np.where(np.arange(size) % 2, 1e-20, 1.0)
    mechanism = sn.Laplace(1.0, sensitivity)
    answers = np.where(np.arange(size) % 2, 1.0, 1e20)
    released = mechanism.release(answers)
    assert np.abs(released - answers).max() <= 1e20 * 1e-15 + 100
    answers[1] = 1e20
    with pytest.raises(sn.ParameterError) as caught:
        mechanism.release(answers, rng=rng)
    assert str(caught.value) == f"{TEXT} at index (1,)"
    answers[0] = np.nan
    with pytest.raises(sn.ParameterError, match=r"^values must be finite"):
        mechanism.release(answers, rng=rng)
    assert rng._stream.fill_count == 0


def test_coverage_holds_as_far_as_answers_are_accepted():
    """The ± holds together with half a unit in the last place of the released number. False alarms: below 1e-12 (binomial)."""
    mechanism = sn.Laplace(1.0, 1e-20)
    bound = mechanism.error_bound(0.9)
    for answer in (1.0, 1e5, float(np.nextafter(limit(mechanism), 0))):
        released = mechanism.release(np.full(20_000, answer), rng=sn.SeededRng(3, allow_release=True))
        within = np.abs(released - answer) <= bound + np.spacing(answer) / 2
        assert within.mean() > 0.88
