"""SecureBitGenerator against tests/vectors/bit_generator.json, which an oracle wrote with OpenSSL's AES.

Deterministic: no false alarms.
"""

from itertools import islice
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.oracles import bit_generator
from tests.oracles.generate import bit_generators as generate
from tests.oracles.generate.encoding import read

ENTRIES = read("bit_generator")
KEY = bytes(range(32))
each_entry = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["key"][:8])


def secret(entry: dict[str, Any]) -> bytes:
    return bytes.fromhex(entry["key"])


@each_entry
def test_the_oracle_gives_the_file(entry: dict[str, Any]) -> None:
    assert generate.entry(secret(entry)) == entry


@each_entry
def test_words(entry: dict[str, Any]) -> None:
    raw = sn.SecureBitGenerator(secret(entry)).random_raw(entry["words"][-1][0] + 1)
    for place, word in entry["words"]:
        assert int(raw[place]) == int(word, 16), place


@each_entry
@pytest.mark.parametrize("door", ["ctypes", "cffi"])
def test_draws_of_every_kind_in_turn(entry: dict[str, Any], door: str) -> None:
    """Draws go through the functions that C code calls; half a word is kept while other draws take words."""
    if door == "cffi":
        pytest.importorskip("cffi")
    bits = sn.SecureBitGenerator(secret(entry))
    functions = getattr(bits, door)
    for kind, expected in entry["mixed"]:
        drawn = getattr(functions, f"next_{kind}")(functions.state)
        assert generate.bits(drawn) == expected, kind


@each_entry
def test_numbers_of_numpys_generator_in_turn(entry: dict[str, Any]) -> None:
    rng = np.random.Generator(sn.SecureBitGenerator(secret(entry)))
    draw = {
        "uint64": lambda: int(rng.integers(2**64, dtype=np.uint64)),
        "uint32": lambda: int(rng.integers(2**32, dtype=np.uint32)),
        "double": rng.random,
    }
    for kind, expected in entry["mixed"]:
        assert generate.bits(draw[kind]()) == expected, kind


@each_entry
@pytest.mark.parametrize("drawn_before", [0, 700])
def test_children(entry: dict[str, Any], drawn_before: int) -> None:
    """Children do not depend on the number of words drawn before, or on the number of children spawned at a time."""
    parent = sn.SecureBitGenerator(secret(entry))
    parent.random_raw(drawn_before)
    children = parent.spawn(1) + parent.spawn(0) + parent.spawn(9)
    for number, words in entry["children"]:
        assert [int(word) for word in children[number].random_raw(len(words))] == [int(word, 16) for word in words]


def test_children_of_children() -> None:
    key = next(bit_generator.children(next(islice(bit_generator.children(KEY), 1, None))))
    grandchild = sn.SecureBitGenerator(KEY).spawn(2)[1].spawn(1)[0]
    assert grandchild.random_raw(1000).tolist() == list(islice(bit_generator.words(key), 1000))


@pytest.mark.parametrize("parts", [(1,) * 1100, (507, 1, 1, 507, 508), (3, 505, 1017), (2000,)])
def test_words_do_not_depend_on_how_many_are_drawn_at_a_time(parts: tuple[int, ...]) -> None:
    bits = sn.SecureBitGenerator(KEY)
    drawn = np.concatenate([bits.random_raw(part) for part in parts])
    assert drawn.tolist() == list(islice(bit_generator.words(KEY), sum(parts)))


def test_two_generators_take_turns_with_the_words_of_one_bit_generator() -> None:
    bits = sn.SecureBitGenerator(KEY)
    one, other = np.random.Generator(bits), np.random.Generator(bits)
    draws = bit_generator.Draws(KEY)
    for _ in range(700):
        assert one.random() == draws.double()
        assert int(other.integers(2**32, dtype=np.uint32)) == draws.uint32()


def test_no_word_of_the_bit_generator_is_one_of_a_secure_generator_of_the_same_key() -> None:
    """Evidence: equality of inputs of AES, of which no two purposes share any; the words, which the oracles give, differ too."""
    from tests.oracles import stream

    noise = {stream.word(KEY, fill, index) for fill in range(20) for index in range(200)}
    assert not noise & set(islice(bit_generator.words(KEY), 4000))
