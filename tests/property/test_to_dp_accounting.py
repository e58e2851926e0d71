"""`PrivacyLoss.to_dp_accounting`, for mechanisms and intervals that Hypothesis chooses.

Evidence: the profile itself.
"""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stairnoise as sn
from tests.property.strategies import anything, good_mechanisms

pytest.importorskip("dp_accounting")


@given(good_mechanisms(), st.floats(0.3, 900), st.integers(1, 4), st.lists(st.floats(0, 1.2), min_size=5, max_size=20))
def test_never_below_the_profile(mechanism, steps, k, shares):
    loss = mechanism.privacy_loss()
    if loss.exact and k * mechanism.eps < 500:
        loss = loss.compose(k)
    exported = loss.to_dp_accounting(loss.eps / steps)
    for eps in (0.0, *(share * loss.eps for share in shares)):
        assert exported.get_delta_for_epsilon(eps) >= loss.privacy_profile(eps)


@given(good_mechanisms(), anything)
def test_any_interval(mechanism, interval):
    """Any interval gives a distribution, or our error that names the wrong argument."""
    loss, text = mechanism.privacy_loss(), "interval must got "
    found = math.inf
    try:
        found = loss.to_dp_accounting(interval).get_delta_for_epsilon(0.0)
    except sn.StairnoiseError as error:
        text = str(error)
    assert "interval must " in text
    assert "got " in text
    assert found >= loss.privacy_profile(0.0)
