"""Cryptographically random words for `numpy.random.Generator`."""

from __future__ import annotations

from typing import NoReturn

import numpy as np

from stairnoise._errors import CopyError, ParameterTypeError
from stairnoise._native import BitSource
from stairnoise._parameters import count
from stairnoise._types import Self
from stairnoise.rng import MOST_CHILDREN, copied_key, with_key


# Dask makes bit generators only from seeds of this class. Its constructor is not called: it would keep a number that seeds
# other generators.
class _Keys(np.random.SeedSequence):
    """A stand-in for a seed: it makes the keys of children and reveals none."""

    __slots__ = ("_source",)

    def __init__(self, source: BitSource) -> None:
        self._source = source

    def spawn(self, n_children: int) -> list[Self]:
        """Make the next children, for the constructor of a `SecureBitGenerator`."""
        n = count(n_children, "n_children", least=0, most=MOST_CHILDREN)
        return [type(self)(self._source.spawn()) for _ in range(n)]

    def generate_state(self, n_words: object, dtype: object = None) -> NoReturn:
        """Refuse to seed another kind of generator."""
        raise ParameterTypeError("the seed_seq of a SecureBitGenerator seeds no other kind of generator: use SecureBitGenerator")

    @property
    def state(self) -> NoReturn:
        """Refuse to be read."""
        raise _no_state()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied or pickled."""
        raise _no_state()

    def __repr__(self) -> str:
        return "the seed_seq of a SecureBitGenerator"


class SecureBitGenerator(np.random.BitGenerator):
    """Bit generator for `numpy.random.Generator` with cryptographically random words.

    The words are AES-256 in counter mode. Without `key`, the key comes from the operating system,
    and a forked child process takes another one before its first draw. It is for shuffles,
    subsampling and training noise. The noise of a release comes from a mechanism and a
    `SecureRng`: ``release`` refuses a bit generator, because `numpy.random.Generator` rounds its
    noise to floating-point numbers, which can reveal the true answer.

    Parameters
    ----------
    key : bytes, optional
        A secret of exactly 32 bytes, from a cryptographic source such as
        ``secrets.token_bytes(32)``; a bytearray or a memoryview is accepted too. Equal keys give
        equal words, in forked children too. No error text shows them. The caller's copy stays as
        it is; wipe a bytearray with ``key[:] = bytes(32)``.
        Or a child of another generator's ``seed_seq``, with which libraries spawn. Such a child is a parent in
        turn: every bit generator made from it is its next child and has a key of its own.

    Raises
    ------
    ParameterTypeError
        `key` is not bytes.
    ParameterError
        `key` does not have 32 bytes.
    RuntimeError
        The operating system provides no random bytes. There is no other source.
    MemoryError
        There is no memory for its buffer, a page of 4 KiB.

    See Also
    --------
    SecureRng : the generator for releases

    Notes
    -----
    Which words a key gives is fixed by section 17 of docs/contract.md. A key is overwritten by its
    successor after 508 words, and each word is erased as it is drawn [1]_. Memory that is read later does
    not reveal the words before.

    There is no state to read, set, copy or pickle, and no seed; `jumped` and `advance` are refused.
    Use `spawn` for independent generators. NumPy's lock makes draws by several threads safe. Hold
    ``lock`` around calls through ``ctypes`` or ``cffi``, and keep the bit generator alive
    meanwhile, as for every other bit generator.

    References
    ----------
    .. [1] D. J. Bernstein, "Fast-key-erasure random-number generators", 2017,
       https://blog.cr.yp.to/20170723-random.html

    Examples
    --------
    >>> import numpy as np
    >>> import stairnoise as sn
    >>> rng = np.random.Generator(sn.SecureBitGenerator())
    >>> sorted(rng.permutation(5).tolist())
    [0, 1, 2, 3, 4]
    """

    __slots__ = ("_source",)
    __module__ = "stairnoise"

    def __init__(self, key: bytes | np.random.SeedSequence | None = None) -> None:
        if hasattr(self, "_source"):
            # Generators can hold addresses of the memory that this would replace.
            raise ParameterTypeError("a SecureBitGenerator cannot be initialised twice: make another one")
        if isinstance(key, _Keys):
            self._start(key._source.spawn())
            return
        secret = None if key is None else copied_key(key)
        del key
        self._start(BitSource.from_os() if secret is None else with_key(secret, BitSource.from_key))

    def _start(self, source: BitSource) -> None:
        super().__init__(_Keys(source))
        source.install(self.capsule)
        self._source = source

    def spawn(self, n_children: int) -> list[Self]:
        """Make the next `n_children` children: independent bit generators that never overlap.

        Parameters
        ----------
        n_children : int
            How many, from 0 to 2**20.

        Returns
        -------
        list of bit generators of the same class
            Their keys come from the operating system. If the caller specified the parent's key, their
            keys depend only on that key and their numbers, not on the words drawn so far.

        Raises
        ------
        ParameterError, ParameterTypeError
            `n_children` is out of range or not an integer.
        RuntimeError
            The operating system provides no random bytes.
        MemoryError
            There is not enough memory.
        """
        n = count(n_children, "n_children", least=0, most=MOST_CHILDREN)
        return [self._derive(self._source.spawn()) for _ in range(n)]

    def _derive(self, source: BitSource) -> Self:
        kind = type(self)
        child = kind.__new__(kind)
        child._start(source)
        return child

    def jumped(self, jumps: int = 1) -> NoReturn:
        """Refuse, as `advance` does: this generator could draw the words of the other place too."""
        raise _no_state()

    def advance(self, delta: int) -> NoReturn:
        """Refuse, as `jumped` does."""
        raise _no_state()

    @property
    def state(self) -> NoReturn:
        """Refuse to be read or set: the state would reveal every word to come."""
        raise _no_state()

    @state.setter
    def state(self, value: object) -> NoReturn:
        raise _no_state()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied or pickled."""
        raise _no_state()

    def __repr__(self) -> str:
        return f"SecureBitGenerator({'...' if self._source.given else ''})"


def _no_state() -> CopyError:
    return CopyError(
        "the state of a SecureBitGenerator cannot be read, set, jumped, copied or pickled, because whoever has it can repeat its "
        "words: use spawn(n_children) for independent bit generators"
    )
