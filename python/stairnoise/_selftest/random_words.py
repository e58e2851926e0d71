"""The random words: AES-256 against NIST's vectors, the library against AES-256 under fresh keys, and statistics.

Selections show words. Among n = 2**16 equal candidates, the selected index is n - 1 minus the top 16 bits of the word
(docs/contract.md, section 10).
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stairnoise._selftest.contract import NIST_VECTORS, Key, discrete_laplace, encrypt, expand
from stairnoise._selftest.events import Events
from stairnoise._selftest.report import Outcome, Planned
from stairnoise.mechanisms.discrete_laplace.mechanism import DiscreteLaplace
from stairnoise.mechanisms.exponential_mechanism.mechanism import ExponentialMechanism
from stairnoise.rng import SecureRng

SUBJECT = "random words"
_BITS = 16
_WORDS = 2**20
_SHORT_FILLS = 2**10
_STARTS = (0, 1, 2, 511, 2**32 - 3, 2**40 + 1)
_EPS, _SENSITIVITY = 1.0, 2**50


def planned(rng: Any) -> Iterator[Planned]:
    """Return the checks; `rng` makes the keys of the statistics."""
    yield Planned(SUBJECT, "AES-256: pure Python against FIPS-197 and NIST SP 800-38A", check_nist)
    yield Planned(SUBJECT, "AES-256: words of a fresh key against pure Python", check_words)
    yield Planned(SUBJECT, "AES-256: children of a fresh key against pure Python", check_children)
    yield Planned(SUBJECT, "DiscreteLaplace under a fresh key against pure Python", check_values)
    yield Planned(SUBJECT, "statistics of one long fill", lambda: statistics(top_bits(rng.spawn(1)[0], _WORDS)))
    yield Planned(SUBJECT, f"statistics of {_SHORT_FILLS} short fills", lambda: statistics(_short_fills(rng.spawn(1)[0])))
    yield Planned(SUBJECT, f"statistics of {_SHORT_FILLS} spawned generators", lambda: statistics(_children(rng.spawn(1)[0])))


def top_bits(rng: Any, count: int) -> NDArray[np.uint16]:
    """Return the top 16 bits of the next fill's words."""
    equal = np.zeros(2**_BITS)
    selected: NDArray[np.int64] = ExponentialMechanism(1.0).sample(equal, count, rng=rng)
    return np.asarray(2**_BITS - 1 - selected, np.uint16)


def mismatches(found: list[Any], expected: list[Any]) -> Outcome:
    """Compare two lists, of which chance decides nothing."""
    wrong = [i for i, (a, b) in enumerate(zip(found, expected, strict=True)) if a != b]
    detail = f"at {wrong[0]}: {found[wrong[0]]!r}, expected {expected[wrong[0]]!r}" if wrong else ""
    return Outcome(len(expected), "mismatches", len(wrong), 0, 0.0, detail)


# AES


def check_nist() -> Outcome:
    """Compare the AES-256 of the other checks with published vectors."""
    found = [encrypt(expand(bytes.fromhex(key)), bytes.fromhex(plain)).hex() for key, plain, _ in NIST_VECTORS]
    return mismatches(found, [cipher for _, _, cipher in NIST_VECTORS])


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
    return mismatches(found, expected)


def check_children() -> Outcome:
    """Compare spawned generators with words under the children's keys."""
    secret = secrets.token_bytes(32)
    key = Key(secret)
    rng = SecureRng.from_key(secret)
    children = [*rng.spawn(1), *rng.spawn(7)]
    found = [top_bits(child, 8).tolist() for child in children]
    keys = [Key(key.child(number)) for number in range(len(children))]
    return mismatches(found, [[child.word(0, i) >> (64 - _BITS) for i in range(8)] for child in keys])


def check_values() -> Outcome:
    """Compare values of so wide a distribution that almost every bit of a word decides."""
    secret = secrets.token_bytes(32)
    key, count = Key(secret), 250
    found = DiscreteLaplace(_EPS, _SENSITIVITY).sample(count, rng=SecureRng.from_key(secret)).tolist()
    expected = [
        discrete_laplace(key.word(0, i), lambda number, i=i: key.extension(0, i, number), _EPS, _SENSITIVITY)  # type: ignore[misc]
        for i in range(count)
    ]
    return mismatches(found, expected)


# Statistics


def _short_fills(rng: Any) -> NDArray[np.uint16]:
    return np.concatenate([top_bits(rng, _WORDS // _SHORT_FILLS // 16) for _ in range(_SHORT_FILLS)])


def _children(rng: Any) -> NDArray[np.uint16]:
    return np.concatenate([top_bits(child, _WORDS // _SHORT_FILLS // 16) for child in rng.spawn(_SHORT_FILLS)])


def statistics(words: NDArray[np.uint16]) -> Outcome:
    """Compare frequencies of bits, bytes and pairs, and agreements between words, with those of fair, independent bits."""
    events = Events(slack=0.0)
    bits = np.unpackbits(words.astype(">u2").view(np.uint8))
    by_place = bits.reshape(-1, _BITS)
    events.add(lambda i: "ones (monobit)", [bits.sum()], bits.size, [0.5])
    events.add(lambda i: f"ones in bit {63 - i}", by_place.sum(axis=0, dtype=np.int64), len(by_place), np.full(_BITS, 0.5))
    events.add(lambda i: "bits that differ from the next (runs)", [(bits[1:] != bits[:-1]).sum()], bits.size - 1, [0.5])
    lags = [lag for lag in (1, 2, 3, 4, 8, 64, 512, words.size // 2) if lag < words.size]
    for lag in lags:
        same = (by_place[lag:] == by_place[:-lag]).sum(axis=0, dtype=np.int64)
        events.add(_lag_namer(lag), same, len(by_place) - lag, np.full(_BITS, 0.5))
    octets = words.astype(">u2").view(np.uint8)
    for lane, name in ((0, "top"), (1, "second")):
        counts = np.bincount(octets[lane::2], minlength=256)
        events.add(lambda i, name=name: f"{name} byte {i}", counts, words.size, np.full(256, 1 / 256))  # type: ignore[misc]
    for start in (0, 1):
        pairs = octets[0::2][start : start + 2 * ((words.size - start) // 2)].astype(np.int64) >> 4
        counts = np.bincount(16 * pairs[0::2] + pairs[1::2], minlength=256)
        events.add(
            lambda i: f"neighbours that begin with {i // 16:x} and {i % 16:x} (serial)",
            counts,
            pairs.size // 2,
            np.full(256, 1 / 256),
        )
    return events.outcome(words.size)


def _lag_namer(lag: int) -> Any:
    return lambda i: f"bit {63 - i} equal to that of the word {lag} before"
