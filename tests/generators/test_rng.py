"""The generators: views, children, reseeding, secrecy, and the fills that calls consume."""

import copy
import os
import pickle
import traceback

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import rng as rng_module

KEY = bytes(range(32))
MECHANISMS = [sn.Staircase(2, sensitivity=1), sn.DiscreteStaircase(0.1, 7), sn.Laplace(0.5, sensitivity=1), sn.DiscreteLaplace(1)]
MAKERS = [lambda: sn.SeededRng(5), lambda: sn.SecureRng.from_key(KEY)]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=repr)
def test_view_gives_the_slice_of_the_fill(make, mechanism):
    whole = mechanism.sample(1000, rng=make())
    for start, stop in [(0, 1000), (0, 1), (1, 2), (7, 8), (499, 1000), (512, 777), (3, 3)]:
        part = mechanism.sample(stop - start, rng=make().at(start))
        assert np.array_equal(part, whole[start:stop]), (start, stop)


def test_view_of_a_later_fill():
    rng = sn.SeededRng(5)
    MECHANISMS[0].sample(17, rng=rng)
    view = rng.at(4)
    whole = MECHANISMS[0].sample(10, rng=rng)
    assert np.array_equal(MECHANISMS[0].sample(6, rng=view), whole[4:])
    # Both continue with the next fill; the view still starts at 4.
    assert np.array_equal(MECHANISMS[0].sample(6, rng=view), MECHANISMS[0].sample(10, rng=rng)[4:])


def test_index_of_a_view_of_a_view_is_absolute():
    whole = MECHANISMS[0].sample(10, rng=sn.SeededRng(5))
    assert MECHANISMS[0].sample(rng=sn.SeededRng(5).at(3).at(7)) == whole[7]


def test_same_seed_same_values_other_seed_other_values():
    def draw(seed):
        return sn.sample(100, 1.0, rng=sn.SeededRng(seed))

    assert np.array_equal(draw(1), draw(1))
    assert np.array_equal(draw(1), draw(np.uint8(1)))
    assert not np.array_equal(draw(1), draw(2))
    assert not np.array_equal(draw(0), draw(2**127))


def test_fills_differ_and_count_one_each():
    rng = sn.SeededRng(1)
    first, second = (MECHANISMS[0].sample(50, rng=rng) for _ in range(2))
    assert not np.intersect1d(first, second).size
    MECHANISMS[0].sample(0, rng=rng)
    MECHANISMS[0].sample(rng=rng)
    sn.Laplace([1, 2], sensitivity=1).sample(rng=rng)
    assert rng._stream.fill_count == 5


@pytest.mark.parametrize("make", MAKERS)
def test_children_are_consecutive_and_differ(make):
    parent, other = make(), make()
    children = parent.spawn(2) + parent.spawn(0) + parent.spawn(3)
    again = other.spawn(5)
    draws = [MECHANISMS[0].sample(20, rng=child) for child in children]
    assert all(np.array_equal(draw, MECHANISMS[0].sample(20, rng=twin)) for draw, twin in zip(draws, again, strict=True))
    draws.append(MECHANISMS[0].sample(20, rng=parent))
    assert len({draw.tobytes() for draw in draws}) == 6
    assert all(type(child) is type(parent) for child in children)


def test_spawned_and_viewed_generators_keep_allow_release():
    rng = sn.SeededRng(1, allow_release=True)
    for derived in (rng.at(3), *rng.spawn(2)):
        assert type(sn.DiscreteLaplace(1).release(3, rng=derived)) is int
    strict = sn.SeededRng(1)
    for derived in (strict.at(3), *strict.spawn(2)):
        with pytest.raises(sn.ParameterError, match="rng must be a SecureRng for a release"):
            sn.DiscreteLaplace(1).release(3, rng=derived)


def test_reseeding_a_seeded_generator_starts_again():
    rng = sn.SeededRng(1, allow_release=True)
    first = MECHANISMS[0].sample(20, rng=rng)
    rng.reseed(2)
    assert not np.array_equal(MECHANISMS[0].sample(20, rng=rng), first)
    rng.reseed(1)
    assert rng._stream.fill_count == 0
    assert np.array_equal(MECHANISMS[0].sample(20, rng=rng), first)
    assert type(sn.DiscreteLaplace(1).release(3, rng=rng)) is int


@pytest.mark.parametrize("make", [sn.SecureRng, lambda: sn.SecureRng.from_key(KEY)])
def test_reseeding_a_secure_generator_takes_a_new_key(make):
    rng = make()
    view = rng.at(0)
    rng.reseed()
    assert repr(rng) == "SecureRng()"
    assert rng._stream.fill_count == 0
    assert not np.array_equal(MECHANISMS[0].sample(20, rng=rng), MECHANISMS[0].sample(20, rng=view))


def test_secure_generators_have_keys_of_their_own():
    draws = [MECHANISMS[0].sample(20, rng=sn.SecureRng()).tobytes() for _ in range(3)]
    assert len(set(draws)) == 3


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_keys_may_be_any_bytes(kind):
    one = sn.SecureRng.from_key(kind(KEY))
    assert MECHANISMS[0].sample(rng=one) == MECHANISMS[0].sample(rng=sn.SecureRng.from_key(KEY))


def test_a_key_is_as_long_as_its_bytes_whatever_it_says():
    class Lying(bytes):
        def __len__(self):
            return 32

    assert isinstance(rng_module.copied_key(Lying(100)), sn.ParameterError)
    with pytest.raises(sn.ParameterError, match="key must have 32 bytes, got 100"):
        sn.SecureRng.from_key(Lying(100))


def test_none_is_one_secure_generator_for_the_process():
    MECHANISMS[0].sample(3)
    stream = rng_module._process_stream
    assert stream.allow_release
    assert not stream.given
    before = stream.fill_count
    sn.sample(3, 1.0)
    sn.DiscreteLaplace(1).release([1, 2])
    assert rng_module._process_stream is stream
    assert stream.fill_count == before + 2


GENERATORS = [
    (sn.SecureRng, "SecureRng()"),
    (lambda: sn.SecureRng().spawn(1)[0], "SecureRng()"),
    (lambda: sn.SecureRng.from_key(KEY), "SecureRng.from_key(...)"),
    (lambda: sn.SecureRng.from_key(KEY).at(9), "SecureRng.from_key(...)"),
    (lambda: sn.SeededRng(123456789), "SeededRng(...)"),
]


@pytest.mark.parametrize(("make", "text"), GENERATORS)
def test_text_shows_no_key(make, text):
    rng = make()
    assert repr(rng) == str(rng) == f"{rng}" == text
    inside = repr(rng._stream)
    for secret in ("123456789", "75bcd15", KEY.hex(), "\\x01\\x02", "1, 2, 3"):
        assert secret not in inside


@pytest.mark.parametrize(("make", "text"), GENERATORS)
@pytest.mark.parametrize(
    "travel",
    [copy.copy, copy.deepcopy, *[lambda r, p=p: pickle.dumps(r, p) for p in range(6)]],
)
def test_generators_do_not_travel(make, text, travel):
    rng = make()
    name = type(rng).__name__
    with pytest.raises(sn.CopyError) as caught:
        travel(rng)
    assert str(caught.value) == (
        f"a {name} cannot be copied or pickled, because the copy would repeat its noise: "
        "use spawn(k) for independent generators, at(index) for a part of a fill"
    )
    assert not hasattr(rng, "__dict__")


@pytest.mark.parametrize("protocol", range(6))
def test_streams_do_not_travel(protocol):
    stream = sn.SeededRng(1)._stream
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        pickle.dumps(stream, protocol)
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        copy.copy(stream)


BAD_ARGUMENTS = [
    (lambda v: sn.SeededRng(v), "seed", "2**128 - 1", 2**128),
    (lambda v: sn.SeededRng(0).reseed(v), "seed", "2**128 - 1", 2**128),
    (lambda v: sn.SeededRng(0).at(v), "index", "2**62 - 1", 2**62),
    (lambda v: sn.SecureRng().at(v), "index", "2**62 - 1", 2**62),
    (lambda v: sn.SeededRng(0).spawn(v), "k", "2**20", 2**20 + 1),
    (lambda v: sn.SecureRng().spawn(v), "k", "2**20", 10**30),
]


@pytest.mark.parametrize(("call", "name", "most", "too_much"), BAD_ARGUMENTS)
def test_bad_integers(call, name, most, too_much):
    for value in (-1, too_much):
        with pytest.raises(sn.ParameterError) as caught:
            call(value)
        assert str(caught.value) == f"{name} must be an integer from 0 to {most}, got {value}"
    for value in (True, 1.0, "1", None, 1j, b"1", np.float64(1), [1]):
        with pytest.raises(sn.ParameterTypeError) as caught:
            call(value)
        shown = "a value of type bytes" if value == b"1" else "1.0" if type(value) is np.float64 else repr(value)
        assert str(caught.value) == f"{name} must be an integer, got {shown}"


def test_largest_arguments_are_fine():
    assert type(sn.Laplace(1, sensitivity=1).sample(rng=sn.SeededRng(2**128 - 1).at(2**61))) is float
    assert sn.SeededRng(0).spawn(0) == []


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (b"", sn.ParameterError, "key must have 32 bytes, got 0"),
        (KEY[:31], sn.ParameterError, "key must have 32 bytes, got 31"),
        (KEY + b"!", sn.ParameterError, "key must have 32 bytes, got 33"),
        ("secret" * 6, sn.ParameterTypeError, "key must be bytes, got a value of type str"),
        (12345, sn.ParameterTypeError, "key must be bytes, got a value of type int"),
        (list(KEY), sn.ParameterTypeError, "key must be bytes, got a value of type list"),
        (None, sn.ParameterTypeError, "key must be bytes, got a value of type NoneType"),
    ],
)
def test_bad_keys_are_not_shown(key, error, text):
    with pytest.raises(error) as caught:
        sn.SecureRng.from_key(key)
    assert str(caught.value) == text


@pytest.mark.parametrize("key", [KEY[:31], KEY + b"!", bytearray(KEY * 2), "secret" * 6, list(KEY)])
def test_no_frame_of_a_refused_key_holds_it(key):
    """Error reporters print the local variables of a traceback; the caller's own frame is the caller's to protect."""
    with pytest.raises(sn.StairnoiseError) as caught:
        sn.SecureRng.from_key(key)
    frames = list(traceback.walk_tb(caught.value.__traceback__))
    ours = [frame for frame, _ in frames if frame.f_code.co_filename == rng_module.__file__]
    assert ours
    for frame in ours:
        for name, value in frame.f_locals.items():
            assert not isinstance(value, (bytes, bytearray, list)) or not any(value), name
            assert value is not key, name


def test_allow_release_is_a_bool():
    with pytest.raises(sn.ParameterTypeError) as caught:
        sn.SeededRng(1, allow_release="no")
    assert str(caught.value) == "allow_release must be True or False, got 'no'"


@pytest.mark.parametrize("bad", [1, "secure", np.random.default_rng(1), sn.SecureRng, object()])
@pytest.mark.parametrize(
    "call",
    [
        lambda rng: sn.Laplace(1, sensitivity=1).sample(rng=rng),
        lambda rng: sn.Laplace(1, sensitivity=1).sample(3, rng=rng),
        lambda rng: sn.sample(3, 1.0, rng=rng),
        lambda rng: sn.Laplace(1, sensitivity=1).release(1.0, rng=rng),
    ],
)
def test_other_generators_are_refused(call, bad):
    text = (
        r"rng must be a SecureRng, a SeededRng or None \(NumPy's generators and plain seeds are "
        r"not accepted\), got "
    )
    with pytest.raises(sn.ParameterTypeError, match=text):
        call(bad)


def _draw_in_forked_child(mechanism, rng):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - not measured in the child
        try:
            os.write(writer, mechanism.sample(20, rng=rng).tobytes())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        noise = np.frombuffer(pipe.read())
    os.waitpid(child, 0)
    assert noise.shape == (20,)
    return noise


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("derive", [lambda r: r, lambda r: r.spawn(1)[0], lambda r: r.at(2), lambda r: None])
def test_a_forked_child_draws_other_noise(derive):
    rng = derive(sn.SecureRng())
    mechanism = sn.Laplace(1, sensitivity=1)
    mechanism.sample(rng=rng)
    theirs = _draw_in_forked_child(mechanism, rng)
    assert not np.intersect1d(mechanism.sample(20, rng=rng), theirs).size


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("make", MAKERS)
def test_a_forked_child_keeps_a_key_or_seed_that_was_given(make):
    rng = make()
    theirs = _draw_in_forked_child(sn.Laplace(1, sensitivity=1), rng)
    assert np.array_equal(sn.Laplace(1, sensitivity=1).sample(20, rng=rng), theirs)
