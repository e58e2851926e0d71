"""Among generators derived from one another, only a generator and its views draw the same noise.

Evidence: distinct draws, for all ways to derive a generator in up to three steps. Two different streams have equal neighbours in
this file with probability below 1e-20. Views are the control: the test sees them repeat their generator's draws.
"""

import copy
import itertools
import pickle

import numpy as np
import pytest

import stairnoise as sn
from stairnoise._selftest.random_words import top_bits
from tests.oracles import keyed
from tests.oracles.stream import word

KEY = bytes(range(32))
OTHER_KEY = bytes(range(1, 33))
MECHANISM = sn.Laplace(1)
DEPTH = 3
FILLS = 3

ROOTS = {
    "SecureRng": lambda: [sn.SecureRng(), sn.SecureRng()],
    "from_key": lambda: [sn.SecureRng.from_key(KEY), sn.SecureRng.from_key(OTHER_KEY)],
    "SeededRng": lambda: [sn.SeededRng(7), sn.SeededRng(8)],
}
names = itertools.count()


def spawned(rng, n):
    """Return the children of a generator, each with a new stream; none if it refuses to spawn."""
    try:
        children = rng.spawn(n)
    except sn.ParameterError:
        return []
    return [(next(names), child) for child in children]


def family(stream, rng, depth):
    """Yield every generator derived in `depth` steps with its stream's name; a view has its generator's stream."""
    yield stream, rng
    if depth:
        derived = [*spawned(rng, 2), (stream, rng.at(0)), (stream, rng.at(5))]
        MECHANISM.sample(3, rng=rng)
        derived += [*spawned(rng, 1), (stream, rng.at(5))]
        for name, other in derived:
            yield from family(name, other, depth - 1)


def pairs(draws):
    """Return all pairs of neighbouring 8-byte numbers."""
    found = draws.tobytes()
    return [found[at : at + 16] for at in range(0, len(found) - 8, 8)]


def streams_of(drawn):
    """Return the names of the streams that drew each pair of neighbours."""
    seen = {}
    for stream, draws in drawn:
        for pair in pairs(draws):
            seen.setdefault(pair, set()).add(stream)
    return seen


@pytest.mark.parametrize("roots", ROOTS.values(), ids=ROOTS)
def test_no_two_derived_generators_share_noise_unless_one_is_a_view(roots):
    everyone = [found for root in roots() for found in family(next(names), root, DEPTH)]
    drawn = [(stream, MECHANISM.sample(20, rng=rng)) for stream, rng in everyone for _ in range(FILLS)]
    seen = streams_of(drawn)
    assert len(seen) < sum(len(pairs(draws)) for _, draws in drawn), "views repeat their generator"
    assert max(map(len, seen.values())) == 1


@pytest.mark.parametrize("root", [lambda: sn.SecureRng(), lambda: sn.SecureRng.from_key(KEY), lambda: sn.SeededRng(7)])
@pytest.mark.parametrize(
    "view",
    [lambda rng: rng.at(0), lambda rng: rng.at(1000), lambda rng: rng.at(3).at(1), lambda rng: rng.spawn(2)[1].at(2)],
)
@pytest.mark.parametrize("k", [0, 1, 5])
def test_a_view_refuses_to_spawn_and_draws_on(root, view, k):
    rng, expected = view(root()), view(root())
    with pytest.raises(sn.ParameterError, match=r"^spawn must be called on a generator that is no view"):
        rng.spawn(k)
    if rng._stream.given:
        assert np.array_equal(MECHANISM.sample(5, rng=rng), MECHANISM.sample(5, rng=expected))


def test_a_reseeded_view_is_a_generator_of_its_own():
    rng = sn.SecureRng.from_key(KEY).at(9)
    rng.reseed()
    seeded = sn.SeededRng(7).at(9)
    seeded.reseed(8)
    children = [*rng.spawn(2), *seeded.spawn(2), *sn.SecureRng.from_key(KEY).spawn(2), *sn.SeededRng(7).spawn(2)]
    drawn = [(i, MECHANISM.sample(20, rng=child)) for i, child in enumerate(children)]
    assert max(map(len, streams_of(drawn).values())) == 1
    assert np.array_equal(MECHANISM.sample(4, rng=seeded), MECHANISM.sample(4, rng=sn.SeededRng(8)))


def bits_spawned(parent):
    """Return children by our own method and by NumPy's."""
    return [*parent.spawn(2), *(child.bit_generator for child in np.random.Generator(parent).spawn(1))]


def test_no_two_bit_generators_share_words():
    level = [sn.SecureBitGenerator(KEY), sn.SecureBitGenerator(OTHER_KEY), sn.SecureBitGenerator()]
    everyone = level
    for _ in range(DEPTH):
        level = [child for parent in level for child in bits_spawned(parent)]
        everyone = everyone + level
    # More words than a buffer of 508.
    drawn = [(i, bits.random_raw(600)) for i, bits in enumerate(everyone)]
    assert max(map(len, streams_of(drawn).values())) == 1


def test_one_key_gives_every_class_words_of_its_own():
    """The words of a KeyedRng's rows are the oracle's; 16 bits of each of eight words are compared."""
    from_key, bits = sn.SecureRng.from_key(KEY), sn.SecureBitGenerator(KEY)
    mechanism = keyed.mechanism("discrete_laplace", [("eps", 1.0), ("sensitivity", 1)])
    rows = {
        keyed.row(KEY, keyed.head(release, "count", mechanism, 1, mechanism, bind), bind, ("S", label), value)
        for release in ("r", "s")
        for bind in ("value", "label")
        for label, value in [("a", 0), ("b", 0), ("a", 1)]
    }
    words = [top_bits(rng, 40) for rng in (from_key, *from_key.spawn(3))]
    words += [np.array([word(row, 0, i) >> 48 for i in range(40)], np.uint16) for row in rows]
    words += [(one.random_raw(40) >> 48).astype(np.uint16) for one in (bits, *bits.spawn(3))]
    windows = [found[at : at + 8].tobytes() for found in words for at in range(33)]
    assert len(set(windows)) == len(windows) == 33 * (4 + 10 + 4)


@pytest.mark.parametrize(
    "make",
    [
        sn.SecureRng,
        lambda: sn.SecureRng.from_key(KEY),
        lambda: sn.SeededRng(7),
        sn.SecureBitGenerator,
        lambda: sn.KeyedRng(KEY, "r"),
    ],
)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickle.dumps])
def test_no_copy_repeats_noise(make, again):
    kept = [make()]
    if hasattr(kept[0], "at"):
        kept += [kept[0].at(3), kept[0].spawn(1)[0]]
    for rng in kept:
        with pytest.raises(sn.CopyError):
            again(rng)
