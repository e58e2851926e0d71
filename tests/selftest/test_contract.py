"""The self-test's AES-256 and contract in pure Python, against OpenSSL and the oracle.

All drawn numbers have fixed seeds.
"""

import random
from decimal import Decimal

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from stairnoise._selftest import contract
from tests.combinations import looped
from tests.oracles import draw, stream
from tests.oracles.lattice import lattice, mechanism


@looped("case", range(20))
def test_aes_against_openssl(case):
    choose = random.Random(case)
    key, block = choose.randbytes(32), choose.randbytes(16)
    expected = Cipher(algorithms.AES256(key), modes.ECB()).encryptor().update(block)
    assert contract.encrypt(contract.expand(key), block) == expected


def test_published_vectors_against_openssl():
    for key, plain, cipher in contract.NIST_VECTORS:
        assert Cipher(algorithms.AES256(bytes.fromhex(key)), modes.ECB()).encryptor().update(bytes.fromhex(plain)).hex() == cipher


@looped("case", range(20))
def test_stream_against_the_oracle(case):
    choose = random.Random(case)
    secret, fill, index = choose.randbytes(32), choose.randrange(2**48), choose.randrange(2**62)
    key = contract.Key(secret)
    assert key.word(fill, index) == stream.word(secret, fill, index)
    number = choose.randrange(8192)
    assert key.extension(fill, index, number) == stream.extension_word(secret, fill, index, number)
    assert key.child(case) == stream.child_key(secret, case)


@pytest.mark.parametrize(("eps", "sensitivity"), [(1.0, 2**50), (0.1, 3), (30.0, 1)])
def test_discrete_laplace_against_the_oracle(eps, sensitivity):
    where = mechanism(eps, lattice("discrete_laplace", eps, float(sensitivity)))
    for seed in range(30):
        secret = stream.seed_key(seed)
        expected = draw.at(where, secret, 0, seed).value
        key = contract.Key(secret)
        extension = lambda number, key=key, seed=seed: key.extension(0, seed, number)  # noqa: E731
        assert contract.discrete_laplace(key.word(0, seed), extension, eps, sensitivity) == expected


def test_extension_words_are_read_where_they_decide():
    """For a word at the boundary between 0 and 1, only an extension word decides whether v < S(1) = 2q/(1 + q)."""
    q = Decimal(-1).exp()
    word = int(2 * q / (1 + q) * 2**63)
    asked = []

    def extension(number, bits):
        asked.append(number)
        return bits

    where = mechanism(1.0, lattice("discrete_laplace", 1.0, 1.0))
    for near in range(word - 50, word + 50):
        for bits in (0, 2**64 - 1):
            expected = draw.listed(where, near, [bits] * 8).value
            assert contract.discrete_laplace(near, lambda n, bits=bits: extension(n, bits), 1.0, 1) == expected
    assert asked
