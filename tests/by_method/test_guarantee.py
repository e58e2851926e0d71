"""`guarantee` of every mechanism, against the library's own accounting."""

import copy
import math
import pickle
from itertools import product

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.registry import ROWS
from tests.combinations import in_turn, looped, rest_long
from tests.examples import promise

MECHANISMS = [mechanism for row in ROWS for mechanism in row.mechanisms()] + [
    sn.DiscreteGaussian.from_eps(1, 1e-6, 2),
    sn.MergedLaplace.from_eps(6),
    sn.Arete.from_eps(8, 1),
    sn.GeneralizedDiscreteLaplace.from_eps(4, 3),
    sn.Skellam.from_eps(1, 1e-6, 2),
]
NUMBERS = [mechanism for mechanism in MECHANISMS if hasattr(mechanism, "privacy_loss")]
# The loss of a share of Arete's noise is slow to compute.
SOME = [mechanism for mechanism in NUMBERS if not isinstance(mechanism, sn.Arete) or mechanism.n_parties == 1]
NOT_DIVIDED = (sn.Arete, sn.GeneralizedDiscreteLaplace, sn.LatticeNoise)
ANY_SENSITIVITY = [mechanism for mechanism in NUMBERS if mechanism._any_sensitivity]
# An upper bound of 20 leaves no room for a smaller budget.
NARROW = sn.TruncatedLaplace(0.5, 1e-3, 1.0, upper=20.0)
NO_MECHANISM = {(NARROW, 2), (NARROW, 3), (NARROW, 7)}
# The rounding of the two compared computations.
ROUNDING = 1 + 1e-9


def loss_of_values(mechanism, k, sensitivity=None):
    """Return the loss of k values, each released as by ``release(values, max_partitions_contributed=k)``."""
    divided = mechanism if isinstance(mechanism, NOT_DIVIDED) else mechanism.for_partitions(k)
    return divided.compose(k, sensitivity)


def holds(guarantee, loss):
    """Return whether a loss is within the stated guarantee."""
    if guarantee.eps is not None and guarantee.delta == 0:
        assert loss.eps <= guarantee.eps * ROUNDING
    if guarantee.eps is not None and guarantee.delta > 0:
        low, high = loss.privacy_profile(guarantee.eps, bounds=True)
        assert low <= guarantee.delta * ROUNDING
        # The bounds of a sum of Gaussian losses are this close.
        assert high <= guarantee.delta * (ROUNDING if loss.exact else 1.001)
    if guarantee.rho is not None:
        for order in (1.5, 2.0, 8.0, 64.0):
            assert loss.rdp(order) <= guarantee.rho * order * ROUNDING
    # Guarantees that only one mechanism's method states are tested with that mechanism.
    assert guarantee.eps is not None or guarantee.rho is not None or "rdp_bound" in repr(guarantee)


@pytest.mark.parametrize("mechanism", rest_long(SOME, NUMBERS), ids=repr)
def test_one_release_is_within_its_guarantee(mechanism):
    guarantee = promise(mechanism)
    assert guarantee.partitions == 1
    holds(guarantee, mechanism.privacy_loss())


@pytest.mark.parametrize(("mechanism", "k"), rest_long(in_turn(SOME, [2, 3, 7]), product(NUMBERS, [2, 3, 7])), ids=repr)
def test_several_values_are_within_the_guarantee_of_all(mechanism, k):
    if (mechanism, k) in NO_MECHANISM:
        with pytest.raises(sn.ParameterError, match="max_partitions_contributed must leave an eps and a delta"):
            promise(mechanism, max_partitions_contributed=k)
        return
    guarantee = promise(mechanism, max_partitions_contributed=k)
    assert guarantee.partitions == k
    holds(guarantee, loss_of_values(mechanism, k))


@looped("mechanism", [mechanism for mechanism in NUMBERS if not isinstance(mechanism, NOT_DIVIDED) and mechanism != NARROW])
def test_the_mechanism_for_several_values_says_what_it_was_made_for(mechanism):
    """A Gaussian mechanism stores k; the others get a smaller budget, and their k values compose."""
    wide = promise(mechanism.for_partitions(3))
    if wide.partitions == 3:
        assert wide == promise(mechanism, max_partitions_contributed=3)
        assert promise(mechanism.for_partitions(3).for_partitions(2)).partitions == 6
    else:
        holds(promise(mechanism, max_partitions_contributed=3), mechanism.for_partitions(3).compose(3))
        assert wide.partitions == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism", rest_long([mechanism for mechanism in ANY_SENSITIVITY if mechanism in SOME], ANY_SENSITIVITY), ids=repr
)
def test_another_sensitivity_where_the_mechanism_can_be_asked(mechanism):
    sensitivity = 1 if getattr(mechanism, "sensitivity", None) == 2 else 2
    guarantee = mechanism.guarantee(sensitivity)
    assert guarantee.sensitivity == sensitivity
    holds(guarantee, mechanism.privacy_loss(sensitivity=sensitivity))


@looped("mechanism", [mechanism for mechanism in MECHANISMS if mechanism not in ANY_SENSITIVITY])
def test_a_mechanism_made_for_a_sensitivity_refuses_another(mechanism):
    text = f"sensitivity must be left out for a {type(mechanism).__name__}, which was made for one, got 2"
    with pytest.raises(sn.ParameterError, match=text):
        mechanism.guarantee(2)
    if hasattr(mechanism, "privacy_loss"):
        with pytest.raises(sn.ParameterError, match=text):
            mechanism.privacy_loss(sensitivity=2)


@pytest.mark.parametrize(
    "mechanism", rest_long([one for one in MECHANISMS if one in SOME or one not in NUMBERS], MECHANISMS), ids=repr
)
def test_old_spellings_say_the_same(mechanism):
    guarantee = promise(mechanism)
    pure = getattr(mechanism, "pure_eps", None) or getattr(mechanism, "privacy_eps", None)
    own = getattr(mechanism, "eps", None)
    if pure is not None:
        assert pure() == guarantee.eps
    elif own is not None:
        assert own == guarantee.eps
    assert (getattr(mechanism, "delta", None) or None) == (guarantee.delta or None)
    rho = getattr(mechanism, "rho", None)
    assert (rho() if callable(rho) else rho) == guarantee.rho
    if getattr(mechanism, "sensitivity", None) is not None:
        assert guarantee.sensitivity == mechanism.sensitivity


def test_a_mechanism_of_rho_states_no_eps():
    guarantee = sn.DiscreteGaussian(100).guarantee(1, max_partitions_contributed=5)
    assert (guarantee.eps, guarantee.delta, guarantee.rho, guarantee.partitions) == (None, None, 0.005, 5)
    other = sn.DiscreteGaussian.from_eps(1, 1e-6).guarantee(3)
    assert (other.eps, other.delta, other.sensitivity) == (None, None, 3)


def test_mechanisms_that_select():
    for mechanism in (sn.StaircaseSelection(2, 0.5), sn.ExponentialMechanism(2, 0.5), sn.PermuteAndFlip(2, 0.5)):
        assert mechanism.guarantee() == sn.Laplace(2, 0.5).guarantee()


def test_array_parameters():
    mechanism = sn.Laplace([1.0, 2.0], 3.0)
    assert np.array_equal(mechanism.guarantee().eps, [1, 2])
    assert mechanism.guarantee() == sn.Laplace([1.0, 2.0], 3.0).guarantee() != sn.Laplace([1.0, 3.0], 3.0).guarantee()
    assert repr(mechanism.guarantee()) == (
        "Guarantee: one value that changes by at most 3.0 is array([1.0, 2.0])-differentially private."
    )
    assert np.array_equal(mechanism.guarantee(max_partitions_contributed=4).eps, [1, 2])


def test_it_is_a_value():
    guarantee = sn.Gaussian(1, 1e-6).guarantee()
    assert guarantee == copy.copy(guarantee) == pickle.loads(pickle.dumps(guarantee))
    assert hash(guarantee) == hash(sn.Gaussian(1, 1e-6).guarantee())
    with pytest.raises(AttributeError, match="Guarantee is immutable"):
        guarantee.eps = 2


def test_it_prints_as_a_sentence():
    mechanism = sn.Gaussian(1, 1e-6)
    divided = mechanism.for_partitions(3)
    assert repr(mechanism.guarantee()).startswith(
        "Guarantee: one value that changes by at most 1.0 is (1.0, 1e-06)-differentially private and 0.02802-zero-concentrated"
    )
    assert repr(mechanism.guarantee()).endswith("-zero-concentrated differentially private.")
    assert repr(divided.guarantee()).startswith("Guarantee: 3 values that change by at most 1.0 each are (1.0, 1e-06)-")
    assert repr(divided.guarantee()).endswith(" together.")


@pytest.mark.parametrize("k", [0, 1.0, True, "2"])
def test_a_number_of_values_that_is_none(k):
    for mechanism in MECHANISMS:
        with pytest.raises((sn.ParameterError, sn.ParameterTypeError), match="max_partitions_contributed"):
            promise(mechanism, max_partitions_contributed=k)


def test_a_share_that_is_not_enough():
    whole = sn.MultiScaleDiscreteLaplace(5, 3)
    share = whole.share(100, present=50)
    assert share.guarantee().eps == share.privacy_eps() > whole.guarantee().eps == 5
    assert math.isclose(share.guarantee(max_partitions_contributed=50).eps, share.privacy_eps(max_partitions_contributed=50))


def test_the_best_guess():
    """Evidence: no test of a mechanism is better, by its total variation distance, and randomized response attains it."""
    for eps in (0.01, 0.5, 1, 4, 40):
        kept = sn.RandomizedResponse(eps, 2)
        assert kept.guarantee().best_guess == pytest.approx(kept.keep_probability, rel=1e-12)
        for mechanism in (sn.Laplace(eps), sn.DiscreteLaplace(eps), sn.DiscreteStaircase(eps, 5), sn.TruncatedLaplace(eps, 1e-3)):
            distance = mechanism.privacy_profile(0.0)
            assert (1 + distance) / 2 <= mechanism.guarantee().best_guess * (1 + 1e-9)
    assert sn.Laplace(1).guarantee().best_guess == pytest.approx(0.7310585786)
    assert sn.Laplace([0.0 + 1, 2]).guarantee().best_guess.shape == (2,)
    assert sn.Gaussian(sigma=1, sensitivity=1).guarantee().best_guess is None
