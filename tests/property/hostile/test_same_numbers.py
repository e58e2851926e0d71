"""Numbers in any form give the result of a contiguous array of native float64, or the same refusal.

Metamorphic evidence: the reference is the package itself on plain arrays, which other tests compare with oracles.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import stairnoise as sn
from tests.combinations import in_full
from tests.property.hostile.calls import Call, calls
from tests.property.hostile.dressings import dressings
from tests.property.hostile.judge import attempt

# Arguments that take arrays of numbers; the others are single numbers, names, sizes and flags.
NUMBERS = {
    *("alpha", "breakpoints", "confidence", "cost", "costs", "delta", "eps", "false_alarm", "gamma", "p", "q", "r"),
    *("released", "sensitivity", "t", "values", "x"),
}
# Containers that MergedLaplace does not accept as a sequence of numbers.
ONLY_SEQUENCES = {"array.array", "memoryview", "Series", "DataFrame", "foreign"}

# Discrete mechanisms that take a sensitivity as a count, for which 1.0 is refused.
TOLD = ("DiscreteGaussian", "GeneralizedDiscreteLaplace", "Skellam")


def counts(call: Call) -> set[str]:
    """Return the arguments that take integers only."""
    if call.label in ("centered_residue", "RandomizedResponse.release") or call.label.endswith(".release_modulo"):
        return {"values"}
    told = call.label.startswith(TOLD) and call.label != "DiscreteGaussian.rho"
    return {"sensitivity"} & set(call.arguments) if told else set()


def numbers(call: Call) -> list[str]:
    return sorted(NUMBERS & set(call.arguments) - counts(call))


CALLS = [call for call in calls() if numbers(call) and not call.label.startswith(("Arete", "MultiScale"))]

eighths = st.integers(-16, 80).map(lambda n: n / 8)
mostly_good = st.sampled_from([0.125, 0.25, 0.5, 0.875, 1.0, 1.0, 1.0, 2.0, 3.0])
shapes = st.one_of(
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3), st.sampled_from([(3,), (1, 3), (2, 3), (2, 1)])
)


@st.composite
def cases(draw):
    """Draw a call, an argument, plain numbers for it, and the same numbers in another form."""
    call = draw(st.sampled_from(CALLS))
    argument = draw(st.sampled_from(numbers(call)))
    elements = draw(st.sampled_from([mostly_good, eighths, mostly_good.map(np.ceil)]))
    plain = draw(hnp.arrays(np.float64, draw(shapes), elements=elements, fill=st.nothing()))
    name = draw(st.sampled_from(sorted(dressings(plain))))
    return call, argument, plain, name


@settings(max_examples=in_full(150, 800))
@given(cases())
def test_dress_does_not_matter(case):
    check(*case)


@pytest.mark.long
@settings(max_examples=20_000)
@given(cases())
def test_dress_does_not_matter_at_length(case):
    check(*case)


def keeps_single(argument: str, plain: np.ndarray, name: str) -> bool:
    """Return whether float32 matters to an argument: released values keep it, and intervals around it are wider."""
    single = name in ("float32", "float32 swapped") or (name == "NumPy scalars" and plain.ndim == 0)
    return single and argument in ("released", "values")


def check(call: Call, argument: str, plain: np.ndarray, name: str) -> None:
    if call.label == "MergedLaplace" and argument in ("eps", "breakpoints") and (name in ONLY_SEQUENCES or not plain.ndim):
        return
    if argument == "values" and is_other_than_an_array(call, plain, name):
        return
    expected = attempt(call, {argument: plain.item() if plain.ndim == 0 else plain})
    found = attempt(call, {argument: dressings(plain)[name](plain)})
    assert found.refusal == expected.refusal, f"{call} {argument} {name}"
    if expected.refusal is None:
        single = keeps_single(argument, plain, name)
        same(
            found.result,
            expected.result,
            spacing=2.0**-23 * float(np.abs(plain[np.isfinite(plain)]).max(initial=0)) if single else None,
        )


def is_other_than_an_array(call: Call, plain: np.ndarray, name: str) -> bool:
    """Return whether the form is a frame or series, whose releases differ from an array's: test_release_frames.py covers them."""
    if not call.label.endswith(".release"):
        return False
    parameters = call.function.__self__._parameter_shape
    return name == "DataFrame" or (name == "Series" and parameters not in ((), (1,), plain.shape))


def same(found, expected, *, spacing: float | None) -> None:
    """Compare arrays and numbers, part by part, within a `spacing` of float32 if answers are float32 or wider intervals.

    The end of an interval can be much nearer to 0 than the number that the interval is around.
    """
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for part, whole in zip(found, expected, strict=True):
            same(part, whole, spacing=spacing)
    elif isinstance(expected, (float, int, np.ndarray)):
        found, expected = np.asarray(found), np.asarray(expected)
        assert found.shape == expected.shape
        if spacing is not None:
            np.testing.assert_allclose(found, expected, rtol=1e-6, atol=max(spacing, 1e-30))
        else:
            assert np.array_equal(found, expected, equal_nan=True)
    else:
        assert found == expected


def test_counts_refuse_floats():
    """Counts refuse exactly the floats that the tests above leave out."""
    found = [(call, argument) for call in calls() for argument in sorted(counts(call)) if attempt(call, {}).refusal is None]
    assert len({call.label for call, _ in found}) == 36
    for call, argument in found:
        assert attempt(call, {argument: 2.0}).refusal is sn.ParameterTypeError
        assert attempt(call, {argument: 2}).refusal is None


def test_dressed_numbers_are_accepted():
    """If all forms were refused, equal refusals would prove little."""
    plain = np.array([1.0, 2.0, 3.0])
    mechanism = sn.DiscreteLaplace(1.0, 1)
    for name, dress in dressings(plain).items():
        released = mechanism.release(dress(plain), rng=sn.SeededRng(3, allow_release=True))
        expected = mechanism.release(plain, rng=sn.SeededRng(3, allow_release=True))
        assert np.array_equal(released, expected), name
