"""Measurements of our mechanisms in OpenDP: maps, compositions, contexts.

Evidence: the maps are those of `privacy_map`; compositions cost what exact sums and our own accounting say, rounded up; a budget
that is spent refuses. Releases are seen through noise that is not 0 with a probability below 1e-20.
"""

import math
from fractions import Fraction

import numpy as np
import pytest

import stairnoise as sn

dp = pytest.importorskip("opendp.prelude")
from stairnoise.compat.opendp import measurement  # noqa: E402

dp.enable_features("contrib", "honest-but-curious")
dp.register(measurement, "stairnoise")

INTEGER = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
NUMBER = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
INTEGERS = dp.vector_domain(dp.atom_domain(T="i32")), dp.l1_distance(T="i32")
NUMBERS = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=50), dp.l1_distance(T=float)
LENGTH = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=50), dp.l2_distance(T=float)
LENGTHS = INTEGERS[0], dp.l2_distance(T=float)
LARGEST = dp.vector_domain(dp.atom_domain(T="i64"), size=3), dp.linf_distance(T="i64")
ROWS = dp.vector_domain(dp.atom_domain(T=int))
PURE, ZERO, BOTH = "MaxDivergence", "ZeroConcentratedDivergence", "Approximate(MaxDivergence)"


@pytest.mark.parametrize(
    ("space", "size", "integers", "mechanism", "measure"),
    [
        (INTEGER, 1, True, sn.DiscreteLaplace(0.3), PURE),
        (INTEGER, 1, True, sn.DiscreteStaircase(1, 3), PURE),
        (INTEGER, 1, True, sn.Laplace(scale=3), PURE),
        (INTEGERS, 2**53 - 1, True, sn.DiscreteLaplace(0.3), PURE),
        (INTEGERS, 2**53 - 1, True, sn.DiscreteStaircase(1, 3), PURE),
        (NUMBER, 1, False, sn.Laplace(0.3, 1), PURE),
        (NUMBER, 1, False, sn.Staircase(0.3, 2), PURE),
        (NUMBERS, 50, False, sn.Laplace(0.3, 1), PURE),
        (INTEGER, 1, True, sn.TruncatedDiscreteStaircase(1, 1e-6, 3), BOTH),
        (NUMBER, 1, False, sn.TruncatedLaplace(1, 1e-6, 3), BOTH),
        (NUMBER, 1, False, sn.Gaussian(std=3), ZERO),
        (INTEGER, 1, True, sn.DiscreteGaussian(sigma=3), ZERO),
        (LENGTH, 50, False, sn.Gaussian(std=3), ZERO),
        (INTEGER, 1, True, sn.Skellam.from_eps(1, 1e-6), BOTH),
        (LENGTHS, 2**53 - 1, True, sn.Skellam.from_eps(1, 1e-6), BOTH),
        (NUMBERS, None, False, sn.MultivariateStaircase(1, 2, 50), PURE),
        (LENGTH, None, False, sn.MultivariateStaircase(1, 2, 50, norm="l2"), PURE),
        (LARGEST, None, True, sn.MultivariateStaircase(1, 2, 3, norm="linf"), PURE),
    ],
)
def test_the_map_is_ours(space, size, integers, mechanism, measure):
    made = measurement(*space, mechanism)
    assert str(made.output_measure) == measure
    for d_in in (0, 1, 2, 7):
        ours = mechanism.privacy_map(d_in, *([size] if size else []), integers=integers)
        theirs = made.map(float(d_in) if space[1].distance_type == "f64" else d_in)
        assert theirs == {PURE: ours.eps, ZERO: ours.rho, BOTH: (ours.eps, ours.delta)}[measure]


@pytest.mark.parametrize(
    ("space", "mechanism", "answer"),
    [
        (INTEGER, sn.DiscreteLaplace(60), 5),
        (INTEGERS, sn.DiscreteLaplace(60), [5, -(2**31), 2**31 - 1]),
        (INTEGERS, sn.DiscreteLaplace(60), []),
        (INTEGER, sn.DiscreteLaplace(60), 2**62),
        (NUMBER, sn.Laplace(scale=2.0**-40), 0.5),
        (NUMBERS, sn.Laplace(scale=2.0**-40), [0.5] * 50),
        (LENGTH, sn.MultivariateStaircase(1000, 2.0**-40, 50, norm="l2"), [0.5] * 50),
        (LARGEST, sn.MultivariateStaircase(1000, 2.0**-40, 3, norm="linf"), [5, -7, 2**20]),
    ],
)
def test_answers_are_released(space, mechanism, answer):
    released = measurement(*space, mechanism)(answer)
    assert np.shape(released) == np.shape(answer)
    assert {type(one) for one in np.ravel(np.asarray(released, object))} <= {int if mechanism._integers else float}
    assert np.allclose(released, answer, rtol=0, atol=1e-9)


def test_infinite_and_huge_answers_are_released():
    made = measurement(*NUMBER, sn.Laplace(1, 1))
    for answer in (math.inf, -math.inf, 1e300):
        assert math.isfinite(made(answer))


@pytest.mark.parametrize(
    ("space", "mechanism", "error", "match"),
    [
        (LENGTH, sn.Laplace(1, 1), sn.ParameterError, "input_metric must be an L1Distance for a Laplace"),
        (NUMBERS, sn.Gaussian(std=1), sn.ParameterError, "input_metric must be an L2Distance for a Gaussian"),
        (NUMBER, sn.DiscreteLaplace(1), sn.ParameterTypeError, "input_domain must have integers for a DiscreteLaplace"),
        ((dp.atom_domain(T=float, nan=True), NUMBER[1]), sn.Laplace(1, 1), sn.ParameterError, "without nan"),
        ((dp.atom_domain(T=bool), NUMBER[1]), sn.Laplace(1, 1), sn.ParameterError, "integers or of floats"),
        ((dp.vector_domain(NUMBER[0]), NUMBERS[1]), sn.Laplace(1, 1), sn.ParameterError, "must have a size"),
        (NUMBER, sn.PermuteAndFlip(1), sn.ParameterTypeError, "mechanism must add noise to numbers"),
        (NUMBER, sn.RandomizedResponse(1, 2), sn.ParameterTypeError, "mechanism must add noise to numbers"),
        (NUMBER, sn.Laplace(1), sn.ParameterError, "sensitivity must be stated"),
        (NUMBER, sn.Laplace([1, 2], 1), sn.ParameterError, "single parameters"),
        (INTEGER, sn.Skellam(4.0), sn.ParameterError, "delta must be stated for a Skellam made from mu"),
        (NUMBERS, sn.MultivariateStaircase(1, 2, 49), sn.ParameterError, "input_domain must have vectors of size 49"),
        (INTEGERS, sn.MultivariateStaircase(1, 2, 1), sn.ParameterError, "input_domain must have vectors of size 1"),
        (NUMBER, sn.MultivariateStaircase(1, 2, 1), sn.ParameterError, "input_domain must have vectors of size 1"),
        (LENGTH, sn.MultivariateStaircase(1, 2, 50), sn.ParameterError, "input_metric must be an L1Distance for a Multiv"),
    ],
)
def test_what_cannot_be_a_measurement(space, mechanism, error, match):
    with pytest.raises(error, match=match):
        measurement(*space, mechanism)


def rounded_up(found, exact):
    return exact <= Fraction(found) <= exact * (1 + Fraction(1, 2**50))


def test_a_composition_costs_the_sum():
    parts = [sn.DiscreteLaplace(0.1), sn.DiscreteStaircase(0.7, 2), sn.DiscreteLaplace(0.3)]
    made = dp.c.make_composition([measurement(*INTEGER, mechanism) for mechanism in parts])
    exact = sum(Fraction(mechanism.privacy_map(2, integers=True).eps) for mechanism in parts)
    assert rounded_up(made.map(2), exact)
    assert len(made(7)) == 3
    twice = dp.c.make_composition([measurement(*INTEGER, sn.DiscreteLaplace(0.1))] * 2)
    assert twice.map(1) == sn.DiscreteLaplace(0.1).compose(2).eps_for_delta(0)


def test_a_composition_of_gaussian_noise_costs_no_less_than_ours():
    gaussian = sn.Gaussian(std=4)
    made = dp.c.make_composition([measurement(*NUMBER, gaussian)] * 10)
    assert rounded_up(made.map(1.0), 10 * Fraction(gaussian.privacy_map(1).rho))
    theirs = dp.c.make_zCDP_to_approxDP(made).map(1.0).epsilon(delta=1e-6)
    ours = gaussian.compose(10, sensitivity=1).eps_for_delta(1e-6)
    assert ours < theirs < 1.1 * ours


def test_an_adaptive_composition_stops_at_its_budget():
    made = dp.c.make_adaptive_composition(*INTEGER, output_measure=dp.max_divergence(), d_in=1, d_mids=[0.5, 0.5])
    assert made.map(1) == 1.0
    asked = made(7)
    asked(measurement(*INTEGER, sn.DiscreteLaplace(0.5)))
    with pytest.raises(dp.OpenDPException, match="insufficient budget"):
        asked(measurement(*INTEGER, sn.DiscreteLaplace(0.6)))
    asked(measurement(*INTEGER, sn.DiscreteStaircase(0.4)))
    with pytest.raises(dp.OpenDPException, match="out of queries"):
        asked(measurement(*INTEGER, sn.DiscreteLaplace(0.1)))


def test_a_context_counts_it():
    unit, loss = dp.unit_of(contributions=2), dp.loss_of(epsilon=60.0)
    context = dp.Context.compositor(
        data=list(range(100)), privacy_unit=unit, privacy_loss=loss, split_by_weights=[1, 2], domain=ROWS
    )
    assert context.query().count().stairnoise(sn.DiscreteLaplace(10)).release() == pytest.approx(100, abs=6)
    total = context.query().clamp((0, 9)).sum().stairnoise(sn.DiscreteStaircase(20, sensitivity=9))
    # Two rows of at most 9 change the sum by 18: two changes by 9.
    assert total.resolve().map(2) == 40
    assert total.release() == pytest.approx(855, abs=30)
    with pytest.raises(ValueError, match="exhausted"):
        context.query()


def test_a_context_of_polars_takes_it_for_a_whole_frame():
    """OpenDP's expressions have no place for a user's measurement."""
    polars = pytest.importorskip("polars")
    frame = polars.LazyFrame({"age": [20, 30, 40] * 100})
    unit, loss = dp.unit_of(contributions=1), dp.loss_of(epsilon=60.0)
    try:
        context = dp.Context.compositor(data=frame, privacy_unit=unit, privacy_loss=loss, split_evenly_over=2)
        domain, metric = object.__getattribute__(context.query(), "_query")._chain
    except dp.OpenDPException as error:
        if "!= expected version" in str(error):
            pytest.skip(f"OpenDP takes another Polars: {str(error).split('. ')[0]}")
        raise
    rows = dp.t.make_user_transformation(domain, metric, *INTEGER, lambda rows: rows.collect().height, lambda d_in: d_in)
    assert context(rows >> measurement(*INTEGER, sn.DiscreteLaplace(30))) == 300
    with pytest.raises(dp.OpenDPException, match="insufficient budget"):
        context(rows >> measurement(*INTEGER, sn.DiscreteLaplace(31)))
