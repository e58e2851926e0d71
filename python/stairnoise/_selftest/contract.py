"""Section 1 of docs/contract.md in pure Python, on an AES-256 in pure Python (FIPS-197).

It shares no code with the library, whose words are compared with it. It is slow and must not be used for secrets:
`encrypt` reads tables at indices that depend on the key.
"""

from __future__ import annotations

from functools import cache

_ROUNDS = 14
_KEY_WORDS = 8

# FIPS-197, appendix C.3; NIST SP 800-38A, F.1.5, all four blocks. Key, plaintext, ciphertext.
_FIPS_197_KEY = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
_SP_800_38A_KEY = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
NIST_VECTORS = (
    (_FIPS_197_KEY, "00112233445566778899aabbccddeeff", "8ea2b7ca516745bfeafc49904b496089"),
    (_SP_800_38A_KEY, "6bc1bee22e409f96e93d7e117393172a", "f3eed1bdb5d2a03c064b5a7e3db181f8"),
    (_SP_800_38A_KEY, "ae2d8a571e03ac9c9eb76fac45af8e51", "591ccb10d410ed26dc5ba74a31362870"),
    (_SP_800_38A_KEY, "30c81c46a35ce411e5fbc1191a0a52ef", "b6ed21b99ca6f4f9f153e7b1beafed1d"),
    (_SP_800_38A_KEY, "f69f2445df4f9b17ad2b417be66c3710", "23304b7a39f9f3ff067d8d8f9e24ecc7"),
)

_VALUE, _CHILD = 0, 2


# AES-256


def expand(key: bytes) -> list[bytes]:
    """Return the round keys (section 5.2)."""
    box = _substitution()
    words = [key[4 * i : 4 * i + 4] for i in range(_KEY_WORDS)]
    constant = 1
    for i in range(_KEY_WORDS, 4 * (_ROUNDS + 1)):
        word = words[-1]
        if i % _KEY_WORDS == 0:
            word = bytes(box[byte] for byte in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _double(constant)
        elif i % _KEY_WORDS == 4:
            word = bytes(box[byte] for byte in word)
        words.append(_xor(words[-_KEY_WORDS], word))
    return [b"".join(words[4 * i : 4 * i + 4]) for i in range(_ROUNDS + 1)]


def encrypt(round_keys: list[bytes], block: bytes) -> bytes:
    """Encrypt 16 bytes (section 5.1)."""
    box = _substitution()
    state = _xor(block, round_keys[0])
    for number, round_key in enumerate(round_keys[1:], start=1):
        # The state is stored by columns: row r of column c is byte r + 4c. Row r is shifted by r columns.
        shifted = bytes(box[state[(5 * i) % 16]] for i in range(16))
        state = _xor(shifted if number == _ROUNDS else _mix(shifted), round_key)
    return state


def _mix(state: bytes) -> bytes:
    """Multiply every column by 3x³ + x² + x + 2 (section 5.1.3)."""
    mixed = []
    for c in range(0, 16, 4):
        a = state[c : c + 4]
        mixed += [_double(a[i] ^ a[(i + 1) % 4]) ^ a[(i + 1) % 4] ^ a[(i + 2) % 4] ^ a[(i + 3) % 4] for i in range(4)]
    return bytes(mixed)


def _xor(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def _double(byte: int) -> int:
    """Multiply by x in GF(2⁸) modulo x⁸ + x⁴ + x³ + x + 1 (section 4.2.1)."""
    return (byte << 1) ^ (0x11B if byte & 0x80 else 0)


@cache
def _substitution() -> bytes:
    """Return the S-box (section 5.1.1): the inverse in GF(2⁸), then an affine map."""
    powers = [1]
    for _ in range(254):
        powers.append(_double(powers[-1]) ^ powers[-1])  # of the generator x + 1
    box = bytearray([0x63] * 256)
    for exponent, byte in enumerate(powers):
        for shift in range(5):
            box[byte] ^= (powers[-exponent] << shift | powers[-exponent] >> (8 - shift)) & 0xFF
    return bytes(box)


# The contract


class Key:
    """A 32-byte key and its stream."""

    def __init__(self, key: bytes) -> None:
        self._round_keys = expand(key)

    def block(self, domain: int, level: int, fill: int, index: int) -> bytes:
        """Return the 16 bytes at one position."""
        tweak = fill + level * 2**48 + domain * 2**60
        return encrypt(self._round_keys, index.to_bytes(8, "little") + tweak.to_bytes(8, "little"))

    def word(self, fill: int, index: int) -> int:
        """Return the word of value `index`."""
        pair = self.block(_VALUE, 0, fill, index // 2)
        return int.from_bytes(pair[8:] if index % 2 else pair[:8], "little")

    def child(self, number: int) -> bytes:
        """Return the key of a spawned child."""
        return self.block(_CHILD, 0, 0, 2 * number) + self.block(_CHILD, 0, 0, 2 * number + 1)
