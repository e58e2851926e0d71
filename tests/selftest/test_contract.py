"""The self-test's AES-256 and contract in pure Python, against OpenSSL and the oracle.

All drawn numbers have fixed seeds.
"""

import random

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from stairnoise._selftest import contract
from tests.combinations import looped
from tests.oracles import stream


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
    assert key.child(case) == stream.child_key(secret, case)
