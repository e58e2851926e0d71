"""Random generators: with a secret key, or with a seed for tests and studies.

Value *i* of a fill depends only on the key, the number of the fill and *i*. Threads, chunks and the
machine do not change it. Every call of ``sample`` or ``release`` is one fill.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypeVar

from stairnoise._errors import CopyError, ParameterError, ParameterTypeError, StairnoiseError, received
from stairnoise._native import Child, Stream
from stairnoise._parameters import count, flag
from stairnoise._types import Self

_KEY_BYTES = 32
_NO_KEY = bytes(_KEY_BYTES)
# Children are consecutive, so several calls give any number of them. The limit turns a mistake
# such as spawn(10**12) into an error instead of a machine out of memory.
MOST_CHILDREN = 2**20
_LAST_INDEX = 2**62 - 1
_LAST_SEED = 2**128 - 1

_Made = TypeVar("_Made")


def copied_key(key: object, name: str = "key", rule: str = "bytes") -> bytearray | StairnoiseError:
    """Return a copy of a key for `with_key`, or the error about a value that is not a key.

    This raises no error: error reporters print the local variables of a traceback, so callers delete the key before `with_key`.
    """
    if not isinstance(key, (bytes, bytearray, memoryview)):
        return ParameterTypeError(f"{name} must be {rule}, got a value of type {type(key).__name__}")
    # A subclass may lie about its length.
    length = len(key) if type(key) is bytes else memoryview(key).nbytes
    return bytearray(key) if length == _KEY_BYTES else ParameterError(f"{name} must have {_KEY_BYTES} bytes, got {length}")


def with_key(secret: bytearray | StairnoiseError, make: Callable[[bytearray], _Made]) -> _Made:
    """Call `make` with the copy that `copied_key` returned, and wipe the copy. No frame of an error holds the key."""
    if isinstance(secret, StairnoiseError):
        raise secret
    try:
        return make(secret)
    finally:
        secret[:] = _NO_KEY


class Generator:
    """The base of both generators: one stream, which is never copied."""

    # The subclasses have the slots, because `object.__reduce__` looks for them there.
    __slots__ = ()

    # Until its first use, a child holds only its number and state that all children share: 104 bytes for each of 2**20.
    _held: Stream | Child

    @property
    def _stream(self) -> Stream:
        held = self._held
        if isinstance(held, Child):
            # Threads that get here at the same time get the same stream.
            self._held = held = held.stream()  # type: ignore[misc]
        return held

    def spawn(self, k: int) -> list[Self]:
        """Make the next `k` children: independent generators that never overlap.

        A view made by `at` has no children, because they would be the children of its generator: write
        ``rng.spawn(1)[0].at(index)``.

        Parameters
        ----------
        k : int
            How many, from 0 to 2**20.

        Returns
        -------
        list of generators of the same class

        Raises
        ------
        ParameterError, ParameterTypeError
            `k` is out of range or not an integer, or the generator is a view.

        Notes
        -----
        A child derives its key on its first draw. Until then a parent's key that the caller specified stays in memory.
        """
        n = count(k, "k", least=0, most=MOST_CHILDREN)
        return [self._derive(child) for child in self._stream.children(n)]

    def at(self, index: int) -> Self:
        """Make a view of the next fill that starts at its value number `index`.

        The view draws the same values as this generator, so workers can fill their parts of one
        array: ``rng.at(a)`` gives the slice ``[a:]`` of the values of ``rng``. Never use both for
        releases, because two answers with the same noise reveal it. The view's next calls draw the
        next fills, each from `index` on.

        Parameters
        ----------
        index : int
            From 0 to 2**62 - 1, counted from the start of the fill even on a view.

        Returns
        -------
        a generator of the same class

        Raises
        ------
        ParameterError, ParameterTypeError
            `index` is out of range or not an integer.
        """
        held = self._held
        stream = held if type(held) is Stream else self._stream  # the property alone takes 50 ns more
        if type(index) is not int or not 0 <= index <= _LAST_INDEX:  # a call for every index takes 60 ns more
            index = count(index, "index", least=0, most=_LAST_INDEX)
        return self._derive(stream.at(index))

    @classmethod
    def _derive(cls, held: Stream | Child) -> Self:
        rng = object.__new__(cls)
        rng._held = held  # type: ignore[misc]
        return rng

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse to be copied or pickled."""
        raise CopyError(
            f"a {type(self).__name__} cannot be copied or pickled, because the copy would repeat "
            "its noise: use spawn(k) for independent generators, at(index) for a part of a fill"
        )


class SecureRng(Generator):
    """Cryptographically random generator with a key from the operating system.

    The key is never shown, copied or pickled. It is wiped when the generator is deleted, and
    replaced in a forked child process. Keys are erased as they are used, so memory that is read
    after a call does not reveal that call's noise.

    Raises
    ------
    RuntimeError
        The operating system provides no random bytes. There is no other source.

    Examples
    --------
    >>> import stairnoise as sn
    >>> rng = sn.SecureRng()
    >>> rng
    SecureRng()
    >>> sn.sample(3, eps=1.0, rng=rng).shape
    (3,)
    """

    __slots__ = ("_held",)
    __module__ = "stairnoise"

    if TYPE_CHECKING:

        def __init__(self) -> None: ...

    else:

        def __init__(self, *arguments: object, **named: object) -> None:
            if arguments or named:
                # The error does not show the value, which can be a key.
                raise ParameterTypeError("SecureRng must be made without arguments: it takes no seed, SeededRng(seed) does")
            self._held = Stream.from_os()

    @classmethod
    def from_key(cls, key: bytes) -> Self:
        """Make a generator from a 32-byte secret, for a cluster whose workers share a fill.

        The same key gives the same noise, so use a key for one set of releases only. Take
        the key from a cryptographic source such as ``secrets.token_bytes(32)``.

        Parameters
        ----------
        key : bytes
            Exactly 32 bytes; a bytearray or a memoryview is accepted too. No error text shows them.
            The caller's copy stays as it is; wipe a bytearray with ``key[:] = bytes(32)``.

        Raises
        ------
        ParameterTypeError
            `key` is not bytes.
        ParameterError
            `key` does not have 32 bytes.
        """
        secret = copied_key(key)
        del key
        return cls._derive(with_key(secret, Stream.from_key))

    def reseed(self) -> None:
        """Take a new key from the operating system, even if the generator was made from a key."""
        held = self._held
        (held if type(held) is Stream else self._stream).rekey_from_os()  # as in `at`

    def __repr__(self) -> str:
        return "SecureRng.from_key(...)" if self._stream.given else "SecureRng()"


class SeededRng(Generator):
    """Reproducible generator for tests and studies, refused by ``release``.

    Anyone who knows or guesses the seed can subtract the noise.

    Parameters
    ----------
    seed : int
        From 0 to 2**128 - 1.
    allow_release : bool, default False
        Let ``release`` accept this generator, in tests of code that releases.

    Raises
    ------
    ParameterTypeError
        `seed` is not an integer, or `allow_release` is not a bool.
    ParameterError
        `seed` is out of range.

    Examples
    --------
    >>> import stairnoise as sn
    >>> whole = sn.sample(5, eps=1.0, rng=sn.SeededRng(7))
    >>> part = sn.sample(3, eps=1.0, rng=sn.SeededRng(7).at(2))
    >>> bool((part == whole[2:]).all())
    True
    """

    __slots__ = ("_held",)
    __module__ = "stairnoise"

    def __init__(self, seed: int, *, allow_release: bool = False) -> None:
        released = flag(allow_release, "allow_release")
        self._held = Stream.from_seed(count(seed, "seed", least=0, most=_LAST_SEED), released)

    def reseed(self, seed: int) -> None:
        """Restart as ``SeededRng(seed)``; `allow_release` does not change.

        Parameters
        ----------
        seed : int
            From 0 to 2**128 - 1.

        Raises
        ------
        ParameterError, ParameterTypeError
            `seed` is out of range or not an integer.
        """
        self._stream.rekey_from_seed(count(seed, "seed", least=0, most=_LAST_SEED))

    def __repr__(self) -> str:
        return "SeededRng(...)"


Rng = SecureRng | SeededRng

# The stream of one secure generator for the whole process.
_process_stream: Stream | None = None


def sampling_stream(rng: Rng | None) -> Stream:
    """Return the stream of `rng`; for None, that of one secure generator for the whole process."""
    if rng is None:
        return _process_stream or _make_process_stream()
    if not isinstance(rng, Generator):
        raise ParameterTypeError(
            f"rng must be a SecureRng, a SeededRng or None (NumPy's generators and plain seeds are not accepted), "
            f"got {received(rng)}{_generator_meant(rng)}"
        )
    # The property takes 50 ns more.
    held = rng._held
    return held if type(held) is Stream else rng._stream


def _generator_meant(rng: object) -> str:
    if type(rng) is int and 0 <= rng <= _LAST_SEED:
        seed = received(rng)
        return (
            f"; for reproducible noise pass SeededRng({seed}) to sample, and SeededRng({seed}, allow_release=True) to a "
            "release in a test"
        )
    if isinstance(rng, type) and issubclass(rng, Generator):
        return "; call the class to make a generator"
    if type(rng).__name__ == "KeyedRng" and type(rng).__module__ == "stairnoise":
        return "; the noise of a KeyedRng belongs to labels: use it in release(values, labels=..., statistic=...)"
    if _is_numpys(type(rng)):
        return (
            "; noise such as Generator.laplace has low-order bits that can reveal the true answer, so a mechanism draws "
            "its own noise, with words from a SecureRng"
        )
    return ""


def _is_numpys(kind: type) -> bool:
    """Return whether a type is a generator or bit generator of NumPy's, or made for it; without an import of `numpy.random`."""
    return any(f"{base.__module__}.".startswith("numpy.random.") for base in kind.__mro__)


def release_stream(rng: Rng | None) -> Stream:
    """Return the stream of `rng`, or refuse a generator whose noise can be guessed."""
    stream = sampling_stream(rng)
    require_release(stream)
    return stream


def require_release(stream: Stream) -> None:
    """Refuse the stream of a generator whose noise can be guessed."""
    if not stream.allow_release:
        raise ParameterError(
            "rng must be a SecureRng for a release, because whoever guesses a seed can subtract "
            "the noise; in tests use SeededRng(seed, allow_release=True), got SeededRng(...)"
        )


def _make_process_stream() -> Stream:
    # Two threads may both get here. Both streams have fresh keys, so either may stay.
    global _process_stream
    _process_stream = stream = Stream.from_os()
    return stream
