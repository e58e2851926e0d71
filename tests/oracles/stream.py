"""Contract, section 1: from a key to words. AES comes from the `cryptography` package.

A key of 48 bytes is that of a keyed row: 32 bytes, and the mask of section 13.
"""

from functools import lru_cache

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

VALUE, EXTENSION, CHILD, BIT_GENERATOR = 0, 1, 2, 4  # domains
EXTENSION_WORDS = 8192
SEED_SUFFIX = b"stairnoise/seed1"


@lru_cache(maxsize=64)
def _aes(key: bytes) -> CipherContext:
    return Cipher(algorithms.AES256(key), modes.ECB()).encryptor()


def encrypted(key: bytes, plain: bytes) -> bytes:
    """AES-256 of one block."""
    return _aes(key).update(plain)


def block(key: bytes, domain: int, level: int, fill: int, index: int) -> bytes:
    """The 16 bytes at one position of the stream."""
    tweak = fill + level * 2**48 + domain * 2**60
    place = index + tweak * 2**64 ^ int.from_bytes(key[32:], "little")
    return encrypted(key[:32], place.to_bytes(16, "little"))


def _lane(data: bytes, lane: int) -> int:
    return int.from_bytes(data[8 * lane : 8 * lane + 8], "little")


def word(key: bytes, fill: int, index: int) -> int:
    """The first 64 bits of value `index`."""
    return _lane(block(key, VALUE, 0, fill, index // 2), index % 2)


def extension_word(key: bytes, fill: int, index: int, number: int) -> int:
    """The 64 bits that follow, for number = 0, 1, ...; zero once the stream has no more."""
    if number >= EXTENSION_WORDS:
        return 0
    return _lane(block(key, EXTENSION, number // 2, fill, index), number % 2)


def child_key(key: bytes, child: int) -> bytes:
    """The key of a spawned child."""
    return block(key, CHILD, 0, 0, 2 * child) + block(key, CHILD, 0, 0, 2 * child + 1)


def seed_key(seed: int) -> bytes:
    """The key that a seed stands for."""
    return seed.to_bytes(16, "little") + SEED_SUFFIX
