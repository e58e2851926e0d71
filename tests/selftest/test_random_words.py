"""The self-test's checks of random words fail when the words are wrong.

Draws of the statistics are seeded. Checks of fresh keys fail by chance with probability below 2**-200.
"""

import re

import numpy as np
import pytest

import stairnoise as sn
from stairnoise._selftest import contract, random_words
from tests.selftest.outcomes import failed, failures, run


def test_a_wrong_cipher_is_found(monkeypatch):
    monkeypatch.setattr(contract, "_ROUNDS", 13)
    assert failures(run("random words", "pure Python")) == {
        "AES-256: pure Python against FIPS-197 and NIST SP 800-38A",
        "AES-256: words of a fresh key against pure Python",
        "AES-256: children of a fresh key against pure Python",
        "DiscreteLaplace under a fresh key against pure Python",
    }


def test_a_library_with_another_key_is_found(monkeypatch):
    """As if the last byte of the key were not used."""
    right = sn.SecureRng.from_key
    monkeypatch.setattr(sn.SecureRng, "from_key", lambda key: right(key[:-1] + bytes([key[-1] ^ 1])))
    assert len(failures(run("random words", "fresh key"))) == 3


def test_a_fill_that_is_counted_wrongly_is_found(monkeypatch):
    monkeypatch.setattr(
        contract.Key, "word", lambda self, fill, index: contract._lane(self.block(0, 0, 1, index // 2), index % 2)
    )
    assert "AES-256: words of a fresh key against pure Python" in failures(run("random words", "fresh key"))


def fair() -> np.ndarray:
    return np.random.Generator(np.random.PCG64DXSM(3)).integers(2**16, size=2**18, dtype=np.uint16)


def test_statistics_accept_fair_bits():
    assert not failed(random_words.statistics(fair()))


def biased(words):
    """Bit 52 is set with probability 17/32."""
    return words | ((words >> 1 & words >> 2 & words >> 4 & words >> 7) & 2**4)


def sticky(words):
    """One bit of one word in 16 is that of the word before."""
    rare = np.arange(words.size) % 16 == 0
    return np.where(rare, words ^ (words ^ np.roll(words, 1)) & 4, words).astype(np.uint16)


def stuttering(words):
    """One word in 16 is the one before."""
    rare = np.arange(words.size) % 16 == 0
    return np.where(rare, np.roll(words, 1), words).astype(np.uint16)


def without_a_byte(words):
    return np.where(words >> 8 == 77, words ^ (1 << 8), words).astype(np.uint16)


def two_halves_alike(words):
    return np.concatenate([words[: words.size // 2]] * 2)


def alternating(words):
    return np.full_like(words, 0x5555) ^ np.where(np.arange(words.size) % 2, 0xFFFF, 0).astype(np.uint16)


@pytest.mark.parametrize(
    ("weaken", "finding"),
    [
        (biased, "ones in bit 52"),
        (sticky, "bit 50 equal to that of the word 1 before"),
        (stuttering, "serial"),
        (without_a_byte, "top byte 77"),
        (two_halves_alike, "equal to that of the word 131072 before"),
        (alternating, "differ from the next|word 1 before|word 2 before|byte"),
        (lambda words: words | 1 << 15, "ones in bit 63"),
    ],
)
def test_statistics_find_a_weak_stream(weaken, finding):
    outcome = random_words.statistics(weaken(fair()))
    assert failed(outcome)
    assert re.search(finding, outcome.detail)
