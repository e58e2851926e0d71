"""SecureBitGenerator: what it refuses, what keeps it alive, and who can draw from it.

Evidence: exact outcomes. Each comparison of random words fails by chance with probability below 2**-60.
"""

import copy
import ctypes
import gc
import pickle
import threading
import traceback
import weakref

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import bit_generator as module
from stairnoise import rng as rng_module
from stairnoise._native import BitSource
from tests.combinations import looped

KEY = bytes(range(32))
MAKERS = {"secure": sn.SecureBitGenerator, "given": lambda: sn.SecureBitGenerator(KEY), "child": lambda: given().spawn(1)[0]}
each_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def given():
    return sn.SecureBitGenerator(key=KEY)


# NumPy's classes accept it


@each_maker
def test_it_is_a_bit_generator_of_numpys(make):
    bits = make()
    assert isinstance(bits, np.random.BitGenerator)
    assert np.random.default_rng(bits).bit_generator is bits
    assert np.random.RandomState(bits).rand(2).shape == (2,)
    assert str(np.random.Generator(bits)) == "Generator(SecureBitGenerator)"
    assert bits.random_raw((2, 3)).dtype == np.uint64


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_keys_may_be_any_bytes(kind):
    assert sn.SecureBitGenerator(kind(KEY)).random_raw() == given().random_raw()


def test_the_callers_key_stays():
    key = bytearray(KEY)
    sn.SecureBitGenerator(key)
    assert key == KEY


def test_scipy_takes_a_generator_of_it():
    stats = pytest.importorskip("scipy.stats")
    drawn = [stats.norm.rvs(size=5, random_state=np.random.Generator(given())) for _ in range(2)]
    assert drawn[0].tolist() == drawn[1].tolist()
    assert stats.norm.rvs(random_state=np.random.RandomState(sn.SecureBitGenerator())) != drawn[0][0]


def test_scikit_learn_takes_a_random_state_of_it():
    selection = pytest.importorskip("sklearn.model_selection")
    folds = selection.KFold(5, shuffle=True, random_state=np.random.RandomState(given()))
    assert sorted(int(i) for _, part in folds.split(np.zeros(20)) for i in part) == list(range(20))


def test_numba_draws_from_a_generator_of_it():
    numba = pytest.importorskip("numba")

    @numba.njit
    def total(rng):
        return rng.random() + rng.random()

    draws = [np.random.Generator(given()) for _ in range(2)]
    assert total(draws[0]) == draws[1].random() + draws[1].random()


# Distributions; the key is fixed, so every run is the same


def test_numbers_of_a_generator_are_distributed_as_they_should():
    """Mean and variance of 10**6 values, each within 5 standard errors; with another key that fails with probability 3e-6."""
    rng, n = np.random.Generator(given()), 10**6
    for drawn, mean, var, fourth in (
        (rng.random(n), 1 / 2, 1 / 12, 1 / 80),
        (rng.standard_normal(n), 0, 1, 3),
        (rng.integers(2**32, size=n, dtype=np.uint32) / 2**32, 1 / 2, 1 / 12, 1 / 80),
    ):
        assert abs(drawn.mean() - mean) < 5 * (var / n) ** 0.5
        assert abs(((drawn - mean) ** 2).mean() - var) < 5 * ((fourth - var**2) / n) ** 0.5


def test_every_bit_of_a_word_is_fair():
    """64 counts of 10**6, each within 6 standard errors; with another key one of them fails with probability 2e-7."""
    raw, n = given().random_raw(10**6), 10**6
    for bit in range(64):
        ones = int(((raw >> np.uint64(bit)) & np.uint64(1)).sum())
        assert abs(ones - n / 2) < 6 * (n / 4) ** 0.5


# No readable state


READ = {
    "state": lambda bits: bits.state,
    "getstate": lambda bits: bits.__getstate__(),
    "reduce": lambda bits: bits.__reduce__(),
    "reduce_ex": lambda bits: bits.__reduce_ex__(2),
    "object": lambda bits: object.__reduce_ex__(bits, 4),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{f"pickle {protocol}": lambda bits, p=protocol: pickle.dumps(bits, p) for protocol in range(6)},
    "generator deepcopy": lambda bits: copy.deepcopy(np.random.Generator(bits)),
    "generator pickle": lambda bits: pickle.dumps(np.random.Generator(bits)),
    "random state deepcopy": lambda bits: copy.deepcopy(np.random.RandomState(bits)),
    "random state pickle": lambda bits: pickle.dumps(np.random.RandomState(bits)),
    "jumped": lambda bits: bits.jumped(),
    "jumped twice": lambda bits: bits.jumped(2),
    "advance": lambda bits: bits.advance(10),
    "random state get_state": lambda bits: np.random.RandomState(bits).get_state(),
}
WRITE = {
    "state": lambda bits: setattr(bits, "state", np.random.PCG64(1).state),
    "setstate": lambda bits: bits.__setstate__(np.random.PCG64(1).state),
    "setstate of a pair": lambda bits: bits.__setstate__((np.random.PCG64(1).state, np.random.SeedSequence(1))),
}


@each_maker
@pytest.mark.parametrize("way", [*READ.values(), *WRITE.values()], ids=[*READ, *(f"write by {name}" for name in WRITE)])
def test_there_is_no_state(make, way):
    bits = make()
    with pytest.raises(sn.CopyError) as caught:
        way(bits)
    assert str(caught.value) == (
        "the state of a SecureBitGenerator cannot be read, set, jumped, copied or pickled, because whoever has it can repeat its "
        "words: use spawn(n_children) for independent bit generators"
    )
    assert not hasattr(bits, "__dict__")
    # The refused calls draw no word, and the generator still works.
    assert make is not MAKERS["given"] or bits.random_raw() == given().random_raw()


def test_a_shallow_copy_of_a_generator_shares_the_bit_generator():
    rng = np.random.Generator(given())
    shared = copy.copy(rng)
    expected = np.random.Generator(given()).random(4)
    assert [rng.random(), shared.random(), rng.random(), shared.random()] == expected.tolist()


@each_maker
def test_the_seed_sequence_tells_nothing(make):
    bits = make()
    for seeds in (bits.seed_seq, *bits.seed_seq.spawn(1)):
        for seed in (lambda it: it.generate_state(4), np.random.PCG64, np.random.default_rng):
            with pytest.raises(sn.ParameterTypeError, match="seeds no other kind of generator: use SecureBitGenerator"):
                seed(seeds)
        for read in (lambda it: it.state, copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(sn.CopyError):
                read(seeds)
        assert (seeds.entropy, seeds.spawn_key, seeds.pool) == (None, None, None)
        assert repr(seeds) == "the seed_seq of a SecureBitGenerator"


@pytest.mark.parametrize("name", ["seed", "_legacy_seeding"])
def test_it_has_no_seed(name):
    assert not hasattr(sn.SecureBitGenerator, name)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (sn.SecureBitGenerator, "SecureBitGenerator()"),
        (lambda: sn.SecureBitGenerator().spawn(1)[0], "SecureBitGenerator()"),
        (given, "SecureBitGenerator(...)"),
        (lambda: given().spawn(1)[0], "SecureBitGenerator(...)"),
    ],
)
def test_text_shows_no_key(make, text):
    bits = make()
    assert repr(bits) == str(bits) == text


class Subclass(sn.SecureBitGenerator):
    """A caller's subclass, with Python's default ways of copying."""

    def __init__(self, key=None):
        super().__init__(key)
        self.mine = 1


@looped("way", READ.values())
def test_a_subclass_is_not_copied_either(way):
    with pytest.raises(sn.CopyError):
        way(Subclass())


def test_children_of_a_subclass_are_of_the_subclass():
    assert type(Subclass(KEY).spawn(1)[0]) is Subclass


def test_the_source_is_installed_once():
    source = BitSource.from_os()
    bits = sn.SecureBitGenerator()
    for capsule in (bits.capsule, np.random.PCG64(1).capsule):
        if capsule is not bits.capsule:
            source.install(capsule)
        with pytest.raises(ValueError, match="belong to each other alone"):
            source.install(capsule)
    with pytest.raises(ValueError, match="belong to each other alone"):
        bits._source.install(np.random.PCG64(1).capsule)
    with pytest.raises(ValueError, match="incorrect name"):
        source.install(ctypes.pythonapi and _another_capsule())
    for travel in (copy.copy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot be copied or pickled"):
            travel(source)
    with pytest.raises(TypeError):
        BitSource()


def _another_capsule():
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(1, b"another", None)


# Keys


@pytest.mark.parametrize(
    ("key", "error", "text"),
    [
        (b"", sn.ParameterError, "key must have 32 bytes, got 0"),
        (KEY[:31], sn.ParameterError, "key must have 32 bytes, got 31"),
        (KEY + b"!", sn.ParameterError, "key must have 32 bytes, got 33"),
        ("secret" * 6, sn.ParameterTypeError, "key must be bytes, got a value of type str"),
        (12345, sn.ParameterTypeError, "key must be bytes, got a value of type int"),
        (np.random.SeedSequence(1), sn.ParameterTypeError, "key must be bytes, got a value of type SeedSequence"),
    ],
)
def test_bad_keys_are_not_shown(key, error, text):
    with pytest.raises(error) as caught:
        sn.SecureBitGenerator(key)
    assert str(caught.value) == text


@pytest.mark.parametrize("key", [KEY[:31], bytearray(KEY * 2), "secret" * 6, list(KEY)])
def test_no_frame_of_a_refused_key_holds_it(key):
    """Error reporters print the local variables of a traceback; the caller's own frame is the caller's to protect."""
    with pytest.raises(sn.StairnoiseError) as caught:
        sn.SecureBitGenerator(key)
    files = {module.__file__, rng_module.__file__}
    frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__) if frame.f_code.co_filename in files]
    assert len(frames) == 2
    for frame in frames:
        for name, value in frame.f_locals.items():
            assert not isinstance(value, (bytes, bytearray, list)) or not any(value), name
            assert value is not key, name


def test_it_is_made_once():
    bits = given()
    rng = np.random.Generator(bits)
    with pytest.raises(sn.ParameterTypeError, match="cannot be initialised twice"):
        bits.__init__()
    assert rng.random() == np.random.Generator(given()).random()


# Children


@each_maker
def test_children_differ(make):
    parent = make()
    children = parent.spawn(3) + np.random.Generator(parent).spawn(2)
    bits = [getattr(child, "bit_generator", child) for child in children]
    assert all(type(child) is sn.SecureBitGenerator for child in bits)
    drawn = [tuple(child.random_raw(4).tolist()) for child in (parent, *bits, *bits[0].spawn(2))]
    assert len(set(drawn)) == len(drawn)
    assert parent.spawn(0) == []


@each_maker
def test_bad_numbers_of_children(make):
    bits = make()
    for value in (-1, 2**20 + 1, 10**30):
        with pytest.raises(sn.ParameterError) as caught:
            bits.spawn(value)
        assert str(caught.value) == f"n_children must be an integer from 0 to 2**20, got {value}"
    for value in (True, 1.0, "1", None):
        with pytest.raises(sn.ParameterTypeError, match="n_children must be an integer, got "):
            bits.spawn(value)


def spawned(bits, n):
    """Return children by NumPy's protocol, as SciPy and Dask spawn them."""
    return [type(bits)(seeds) for seeds in bits.seed_seq.spawn(n)]


@each_maker
def test_children_by_numpys_protocol_differ(make):
    bits = make()
    children = [*spawned(bits, 3), *bits.spawn(2)]
    children += spawned(children[0], 2) + spawned(children[3], 2)
    children += [type(bits)(bits.seed_seq), type(bits)(bits.seed_seq)]
    seeds = bits.seed_seq.spawn(1)[0]
    children += [type(bits)(seeds), type(bits)(seeds), type(bits)(seeds.spawn(1)[0])]
    assert all(type(child) is sn.SecureBitGenerator for child in children)
    assert all(isinstance(child.seed_seq, np.random.SeedSequence) for child in children)
    drawn = {tuple(child.random_raw(4).tolist()) for child in (bits, *children)}
    assert len(drawn) == len(children) + 1
    assert bits.seed_seq.spawn(0) == []
    with pytest.raises(sn.ParameterError, match="n_children must be"):
        bits.seed_seq.spawn(-1)


def test_children_by_numpys_protocol_follow_from_a_given_key():
    """The protocol's children count with those of `spawn`; a generator made from a child is that child's next child."""
    mine, same = given(), given()
    first, second = mine.seed_seq.spawn(2)
    made = [sn.SecureBitGenerator(seeds) for seeds in (second, first, first)]
    parents = same.spawn(3)
    once, twice = parents[0].spawn(2)
    expected = [parents[1].spawn(1)[0], once, twice]
    assert [bits.random_raw() for bits in made] == [bits.random_raw() for bits in expected]
    assert mine.spawn(1)[0].random_raw() == parents[2].random_raw()
    assert type(Subclass(mine.seed_seq.spawn(1)[0])) is Subclass


def test_scipy_spawns_from_it_and_may_copy_nothing():
    qmc = pytest.importorskip("scipy.stats.qmc")
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.Generator(sn.SecureBitGenerator())
    assert stats.bootstrap((np.arange(9.0),), np.mean, n_resamples=9, rng=rng).standard_error > 0
    # SciPy's engines spawn, and then copy their generators for `reset`.
    with pytest.raises(sn.CopyError):
        qmc.Sobol(2, rng=rng)


@each_maker
def test_dask_spawns_from_it(make):
    """Each chunk, array and computation has other words."""
    da = pytest.importorskip("dask.array")
    rng = da.random.default_rng(np.random.Generator(make()))
    arrays = [rng.random(6, chunks=2) for _ in range(2)]
    drawn = np.concatenate([array.compute(scheduler="threads") for array in (*arrays, arrays[0])])
    assert np.unique(drawn).size == 18
    assert rng.choice(10, size=6, chunks=3).compute(scheduler="threads").shape == (6,)
    with pytest.raises(sn.CopyError):
        arrays[0].compute(scheduler="processes")


def test_numpys_generator_refuses_a_negative_number_of_children():
    # NumPy 2.5 and later raise their own error.
    with pytest.raises(ValueError, match="n_children must be"):
        np.random.Generator(sn.SecureBitGenerator()).spawn(-1)


# Lifetime


def test_a_generator_keeps_it_alive():
    rng = np.random.Generator(given())
    gc.collect()
    assert rng.random() == np.random.Generator(given()).random()


def test_what_draws_outlives_attributes():
    """A Generator holds the addresses of state and functions. If the attribute is deleted, draws go on and spawn fails."""
    bits = given()
    rng = np.random.Generator(bits)
    del bits._source
    gc.collect()
    assert rng.random(1000).tolist() == np.random.Generator(given()).random(1000).tolist()
    with pytest.raises(AttributeError):
        bits.spawn(1)


def test_it_is_freed_with_its_last_holder():
    class Held(sn.SecureBitGenerator):
        __slots__ = ("__weakref__",)

    bits = Held()
    freed = weakref.ref(bits)
    rng, interface = np.random.Generator(bits), bits.ctypes
    del bits
    assert freed() is not None
    del rng
    assert freed() is None
    assert interface.state is not None


def test_a_capsule_does_not_keep_it_alive():
    """Every bit generator of NumPy is like this: code with a capsule or a pointer must hold the object too."""
    for make in (sn.SecureBitGenerator, np.random.PCG64):
        bits = make()
        capsule, before = bits.capsule, gc.get_referents(bits.capsule)
        assert bits not in before
        del bits, capsule


def test_many_are_made_and_freed():
    for _ in range(20):
        made = [sn.SecureBitGenerator() for _ in range(500)]
        assert len({int(bits.random_raw()) for bits in made}) == 500


# Threads


def test_threads_of_one_generator_share_no_word():
    """Draws and `random_raw` take NumPy's lock. A repeat by chance has probability below 1e-8."""
    bits = sn.SecureBitGenerator()
    generators = [np.random.Generator(bits) for _ in range(2)]
    drawn = [[], [], []]

    def keep_drawing(rng, kept):
        for size in range(1, 300):
            kept.append(rng.integers(2**64, size=size, dtype=np.uint64))

    def keep_reading(kept):
        for size in range(1, 300):
            kept.append(bits.random_raw(size))

    threads = [threading.Thread(target=keep_drawing, args=(rng, kept)) for rng, kept in zip(generators, drawn, strict=False)]
    threads.append(threading.Thread(target=keep_reading, args=(drawn[2],)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.concatenate([part for kept in drawn for part in kept])
    assert np.unique(words).size == words.size == 3 * 299 * 150


def test_threads_past_the_lock_do_no_harm():
    """Calls through ctypes take no lock of NumPy and release Python's: words can repeat, but the process goes on."""
    bits = sn.SecureBitGenerator()
    draw, state = bits.ctypes.next_uint64, bits.ctypes.state
    threads = [threading.Thread(target=lambda: [draw(state) for _ in range(20_000)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = bits.random_raw(2000)
    assert np.unique(words).size == 2000


# Releases refuse the bit generator


@looped(
    "rng",
    [
        sn.SecureBitGenerator(),
        given(),
        np.random.Generator(sn.SecureBitGenerator()),
        np.random.RandomState(sn.SecureBitGenerator()),
        np.random.default_rng(1),
        np.random.PCG64(1),
    ],
)
@looped(
    "call",
    [
        lambda rng: sn.Laplace(1, sensitivity=1).release(1.0, rng=rng),
        lambda rng: sn.DiscreteLaplace(1).release([1, 2], rng=rng),
        lambda rng: sn.Laplace(1, sensitivity=1).sample(3, rng=rng),
        lambda rng: sn.sample(3, 1.0, rng=rng),
        lambda rng: sn.ExponentialMechanism(1.0, sensitivity=1).select([0.0, 1.0], rng=rng),
        lambda rng: sn.PartitionSelection(1.0, 0.1).release([1, 2], rng=rng),
        lambda rng: next(sn.Laplace(1, sensitivity=1).sample_chunks(3, 2, rng=rng)),
    ],
)
def test_releases_and_samples_refuse_it_and_say_why(call, rng):
    with pytest.raises(sn.ParameterTypeError) as caught:
        call(rng)
    assert str(caught.value).startswith("rng must be a SecureRng")
    assert "low-order bits that can reveal the true answer" in str(caught.value)


def test_a_release_by_key_refuses_it():
    with pytest.raises(sn.ParameterTypeError, match="rng must be a KeyedRng"):
        sn.Laplace(1, sensitivity=1).release([1, 2], labels=["a", "b"], statistic="s", rng=sn.SecureBitGenerator())
