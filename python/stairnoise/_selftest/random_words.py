"""The random words: AES-256 against NIST's vectors, and the library against AES-256 under new keys.

Selections reveal words: among n = 2**16 equal candidates, the selected index is n - 1 minus the top 16 bits of the word
(docs/contract.md, section 10).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._selftest.contract import NIST_VECTORS, Key, encrypt, expand
from stairnoise._selftest.report import Outcome, Planned, compared
from stairnoise.mechanisms.exponential_mechanism.mechanism import ExponentialMechanism
from stairnoise.rng import SecureRng

_BITS = 16
_STARTS = (0, 1, 2, 511, 2**32 - 3, 2**40 + 1)


def planned() -> Iterator[Planned]:
    """Return the checks."""
    yield Planned("AES-256: pure Python against FIPS-197 and NIST SP 800-38A", check_nist)
    yield Planned("AES-256: words of a new key against pure Python", check_words)
    yield Planned("AES-256: children of a new key against pure Python", check_children)


def top_bits(rng: Any, count: int) -> NDArray[np.uint16]:
    """Return the top 16 bits of the next fill's words."""
    equal = np.zeros(2**_BITS)
    selected: NDArray[np.int64] = ExponentialMechanism(1.0).sample(equal, count, rng=rng)
    return np.asarray(2**_BITS - 1 - selected, np.uint16)


def check_nist() -> Outcome:
    """Compare the AES-256 of the other checks with published vectors."""
    found = [encrypt(expand(bytes.fromhex(key)), bytes.fromhex(plain)).hex() for key, plain, _ in NIST_VECTORS]
    return compared(found, [cipher for _, _, cipher in NIST_VECTORS])


def check_words() -> Outcome:
    """Compare words of short fills of every length, at the beginning of a fill and far into it."""
    secret = secrets.token_bytes(32)
    key, rng = Key(secret), SecureRng.from_key(secret)
    found: list[int] = []
    expected: list[int] = []
    for fill, count in enumerate((*range(1, 24), 64)):
        start = _STARTS[fill % len(_STARTS)]
        found += top_bits(rng.at(start), count).tolist()
        expected += [key.word(fill, start + i) >> (64 - _BITS) for i in range(count)]
        top_bits(rng, 0)  # go on to the next fill
    return compared(found, expected)


def check_children() -> Outcome:
    """Compare spawned generators with words under the children's keys."""
    secret = secrets.token_bytes(32)
    key = Key(secret)
    rng = SecureRng.from_key(secret)
    children = [*rng.spawn(1), *rng.spawn(7)]
    found = [top_bits(child, 8).tolist() for child in children]
    keys = [Key(key.child(number)) for number in range(len(children))]
    return compared(found, [[child.word(0, i) >> (64 - _BITS) for i in range(8)] for child in keys])
