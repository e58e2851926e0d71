"""Any argument gives a result of the promised kind or one of our errors, never a panic; an error changes nothing.

A Rust panic arrives as pyo3's PanicException, a BaseException, so it fails these tests like any other foreign error.
"""

from math import prod

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import stairnoise as sn
from tests.combinations import in_full
from tests.property.strategies import MECHANISMS, NAMES, anything, arrays, dtypes, good_mechanisms, junk, reals, shapes


def attempt(call):
    """Return (result, None), or (None, text) for one of our errors."""
    try:
        return call(), None
    except sn.StairnoiseError as error:
        return None, str(error)


def seeded():
    return sn.SeededRng(1, allow_release=True)


@settings(max_examples=in_full(100, 400))
@given(st.sampled_from(MECHANISMS), st.lists(anything, min_size=1, max_size=3))
def test_constructors(mechanism, arguments):
    if mechanism in (sn.Laplace, sn.DiscreteLaplace):
        arguments = arguments[:2]
    d, text = attempt(lambda: mechanism(*arguments))
    if text is not None:
        assert text.startswith(("eps ", "sensitivity ", "gamma ", "r "))
        assert " must " in text
        assert ", got " in text
        return
    assert eval(repr(d), {"array": np.array, **vars(sn)}) == d
    assert np.shape(d.sample(rng=seeded())) == d._parameter_shape
    for moment in (d.mean(), d.var(), d.std(), d.abs_moment(4), d.error_bound(0.95)):
        assert np.shape(moment) == d._parameter_shape
        assert not np.isnan(moment).any()


sizes = st.one_of(st.none(), st.integers(-2, 40), st.integers(), shapes, st.tuples(st.integers()), anything)
outs = st.one_of(st.none(), st.none(), arrays, junk)
dtype_arguments = st.one_of(st.none(), dtypes, st.sampled_from([float, int, "i4", "f4", "float64"]), junk)


def within_memory(size):
    """Keep sizes that are small, or too large to index; sizes in between depend on the machine's memory."""
    lengths = size if isinstance(size, tuple) else (size,)
    if not all(isinstance(n, int) for n in lengths):
        return True
    return not 10**6 < prod(lengths) < 2**63


@settings(max_examples=in_full(100, 400))
@given(st.sampled_from(NAMES), reals, sizes.filter(within_memory), outs, dtype_arguments)
def test_sample(mechanism, eps, size, out, dtype):
    before = None if out is None else np.array(out).tobytes()
    rng = seeded()
    noise, text = attempt(lambda: sn.sample(size, eps, mechanism=mechanism, rng=rng, out=out, dtype=dtype))
    assert rng._stream.fill_count == (text is None)
    if text is not None:
        assert " must " in text
        assert before is None or before == np.array(out).tobytes()
    elif out is not None:
        assert noise is out
    elif size is None:
        assert isinstance(noise, (int, float))
    else:
        assert noise.shape == (size if isinstance(size, tuple) else (size,))


@settings(max_examples=in_full(100, 400))
@given(good_mechanisms(), anything, outs, st.one_of(st.just(1), st.integers(), junk))
def test_release(mechanism, values, out, partitions):
    before = None if out is None else np.array(out).tobytes()
    rng = seeded()
    released, text = attempt(lambda: mechanism.release(values, out=out, rng=rng, max_partitions_contributed=partitions))
    assert rng._stream.fill_count == (text is None)
    if text is not None:
        assert " must " in text
        assert before is None or before == np.array(out).tobytes()
    else:
        assert np.shape(released) == np.shape(values)
        assert not np.isnan(released).any()


CALLS = {
    "seed": lambda value: sn.SeededRng(value).reseed(value),
    "key": lambda value: (sn.SecureBitGenerator(value), sn.SecureRng.from_key(value)),
    "index": lambda value: sn.Laplace(1, sensitivity=1).sample(rng=sn.SeededRng(1).at(value)),
    "k": lambda value: sn.SeededRng(1).spawn(value),
    "rng": lambda value: sn.Laplace(1, sensitivity=1).sample(rng=value),
}


@given(st.sampled_from(list(CALLS)), anything)
def test_generators(argument, value):
    _, text = attempt(lambda: CALLS[argument](value))
    assert text is None or (text.startswith(f"{argument} must") and "got " in text)


@given(good_mechanisms(), anything, anything)
def test_theory(mechanism, p, confidence):
    for call in (lambda: mechanism.abs_moment(p), lambda: mechanism.error_bound(confidence)):
        result, text = attempt(call)
        if text is None:
            assert (np.asarray(result) >= 0).all()
        else:
            assert text.startswith(("p must be", "confidence "))
