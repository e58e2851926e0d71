"""bit_generator.json: words of some keys around the edges of buffers, draws of every kind in turn, and words of children."""

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

from tests.oracles import bit_generator
from tests.oracles.generate.encoding import float_bits, word_hex

PLACES = (0, 1, 2, 3, 100, 506, 507, 508, 509, 1015, 1016, 1017, 3000)
CHILDREN = (0, 1, 2, 9)
CHILD_WORDS = 3
# Short runs of one kind, and an odd number of halves before other draws.
MIXED = ("uint32", "uint64", "uint32", "double", "uint32", "uint32", "uint32", "uint64", "double", "uint32", "uint32")


def entry(key: bytes) -> dict[str, Any]:
    """Words of one key: [place, word], [kind of draw, its bits], [child, first words]."""
    words = list(islice(bit_generator.words(key), max(PLACES) + 1))
    children = list(islice(bit_generator.children(key), max(CHILDREN) + 1))
    draws = bit_generator.Draws(key)
    return {
        "key": key.hex(),
        "words": [[place, word_hex(words[place])] for place in PLACES],
        "mixed": [[kind, bits(getattr(draws, kind)())] for kind in MIXED],
        "children": [
            [child, [word_hex(word) for word in islice(bit_generator.words(children[child]), CHILD_WORDS)]] for child in CHILDREN
        ],
    }


def bits(drawn: float) -> str:
    """The bits of a float; an integer in hexadecimal."""
    return float_bits(drawn) if isinstance(drawn, float) else word_hex(drawn)


def entries() -> Iterator[dict[str, Any]]:
    yield entry(bytes(32))
    yield entry(bytes(range(32)))
    yield entry(b"\xff" * 32)
    choose = random.Random(717)
    for _ in range(5):
        yield entry(choose.randbytes(32))
