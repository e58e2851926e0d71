"""stream.json: words, extension words and child keys of some keys, and the keys of some seeds."""

import random
from collections.abc import Iterator
from typing import Any

from tests.oracles import stream
from tests.oracles.generate.encoding import word_hex

POSITIONS = ((0, 0), (0, 1), (0, 2), (0, 7), (1, 0), (1, 1), (2**16 + 1, 5), (2**48 - 1, 2**32), (3, 2**62 - 1))
EXTENSIONS = ((0, 0, 0), (0, 0, 1), (0, 1, 2), (5, 3, 3), (1, 2**40, 17), (2**48 - 1, 2**62 - 1, 8190), (0, 9, 8191))
PAST_THE_LAST = (0, 9, 8192)
CHILDREN = (0, 1, 2, 3, 1000, 2**40)
SEEDS = (0, 1, 255, 2**63, 2**64 - 1, 2**64, 2**127 + 12345, 2**128 - 1)


def entry(key: bytes) -> dict[str, Any]:
    """Words of one key: [fill, index, word], [fill, index, number, word], [child, key]."""
    return {
        "key": key.hex(),
        "words": [[fill, index, word_hex(stream.word(key, fill, index))] for fill, index in POSITIONS],
        "extensions": [[*at, word_hex(stream.extension_word(key, *at))] for at in (*EXTENSIONS, PAST_THE_LAST)],
        "children": [[child, stream.child_key(key, child).hex()] for child in CHILDREN],
    }


def entries() -> Iterator[dict[str, Any]]:
    yield entry(bytes(32))
    yield entry(bytes(range(32)))
    yield entry(b"\xff" * 32)
    choose = random.Random(77)
    for _ in range(5):
        yield entry(choose.randbytes(32))
    for seed in SEEDS:
        yield {"seed": str(seed)} | entry(stream.seed_key(seed))
