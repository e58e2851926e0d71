"""Several hostile arguments at once, and unlisted numbers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.combinations import in_full
from tests.property.hostile.calls import calls, is_skipped
from tests.property.hostile.judge import attempt
from tests.property.hostile.pool import POOL
from tests.property.strategies import reals

# Constructors of tables, and comparisons of mechanisms, take tens of milliseconds a call.
SLOW = ("Arete", "MultiScale", "compare", "DiscreteGaussian.from_eps")
CALLS = [call for call in calls() if call.arguments and not call.label.startswith(SLOW)]


@st.composite
def changes(draw):
    """Draw a call and hostile values for some of its arguments."""
    call = draw(st.sampled_from(CALLS))
    names = draw(st.lists(st.sampled_from(list(call.arguments)), min_size=1, max_size=4, unique=True))
    changed = {}
    for name in names:
        if name not in ("size", "n", "k", "cost") and draw(st.booleans()):
            changed[name] = draw(reals)
        else:
            changed[name] = POOL[draw(st.sampled_from([value for value in POOL if not is_skipped(name, value)]))]()
    return call, changed


@settings(max_examples=in_full(100, 600))
@given(changes())
def test_a_result_or_a_refusal(case):
    call, changed = case
    attempt(call, changed)


@pytest.mark.long
@settings(max_examples=20_000)
@given(changes())
def test_a_result_or_a_refusal_at_length(case):
    call, changed = case
    attempt(call, changed)
