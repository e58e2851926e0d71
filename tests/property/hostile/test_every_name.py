"""The fuzzer skips nothing by accident: every public name, method and parameter is called, or is listed as skipped."""

import pytest

import stairnoise as sn
from tests.property.hostile.calls import ARGUMENTS, EXAMPLES, LEFT_OUT, OWN_ARGUMENTS, SKIPPED, calls, members, named
from tests.property.hostile.judge import attempt
from tests.property.hostile.pool import POOL

CALLS = list(calls())


def test_every_public_name_is_called_or_left_out():
    called = {call.label.split(".")[0].partition(" by ")[0] for call in CALLS}
    without_arguments = {"cpu_tiers"}
    assert set(sn.__all__) == called | set(LEFT_OUT) & set(sn.__all__) | without_arguments


def test_every_method_with_arguments_is_called_or_left_out():
    called = {call.label for call in CALLS}
    for label, function in members():
        if label in LEFT_OUT or not named(function):
            continue
        assert label in called


def test_every_parameter_of_every_call_has_a_good_argument():
    for call in CALLS:
        assert list(call.arguments) == named(call.function)


@pytest.mark.parametrize("name", {call.label.split(".")[0]: None for call in CALLS})
def test_good_arguments_are_good(name):
    """If good arguments were refused, a refusal would prove nothing about the hostile value."""
    for call in (call for call in CALLS if call.label.split(".")[0] == name):
        composes_arrays = call.label.endswith(".compose") and "array" in repr(call.function.__self__)
        assert (attempt(call, {}).refusal is None) != composes_arrays, call.label


def test_no_list_names_what_is_not_there():
    labels = {label for label, _ in members()}
    parameters = {name for call in CALLS for name in call.arguments}
    assert set(ARGUMENTS) | {"rng"} == parameters
    assert set(OWN_ARGUMENTS) <= labels
    assert set(EXAMPLES) <= set(sn.__all__)
    assert all(name in sn.__all__ or name in labels or hasattr(sn.Laplace, name) for name in LEFT_OUT)
    for names, values, _ in SKIPPED:
        assert names <= parameters
        assert values <= set(POOL)
