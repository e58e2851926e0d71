"""The generator of keyed noise."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any, Literal, get_args

from stairnoise._errors import CopyError, ParameterError, outline
from stairnoise._native import Keys
from stairnoise._parameters import one_of, refuse_type
from stairnoise.keyed import encoding
from stairnoise.keyed import labels as rows
from stairnoise.rng import copied_key, with_key

Bind = Literal["value", "label"]

_RULE = "32 bytes, or a function that returns them"


class KeyedRng:
    """Generator whose noise for a row depends on a secret and on what is released, not on when or where it is drawn.

    ``mechanism.release(values, labels=labels, statistic="count", rng=keyed)`` gives every label its own noise. It is a pure
    function of the secret, the names `release` and `statistic`, the mechanism with all its parameters,
    ``max_partitions_contributed``, the label and the true value. Query engines and clusters repeat, reorder and split
    work; with a KeyedRng they compute the same released numbers each time.

    Use one release name for one snapshot of the data. A released number that stays the same under one name reveals
    that its true value has most probably not changed.

    The guarantee is computational. It holds as long as nobody without the secret can distinguish HMAC-SHA256 and AES-256
    from random functions.

    Parameters
    ----------
    secret : bytes, or function without arguments that returns them
        Exactly 32 bytes from a cryptographic source such as ``secrets.token_bytes(32)``. A bytearray or a memoryview is
        accepted too. A function is called where noise is drawn, at each call of `release` and `fingerprint`; what it
        returns is not kept. Its own errors are not caught.
    release : str
        Public name of the release and of the snapshot of the data, such as ``"households 2026-Q3"``. Not empty.
    bind : {"value", "label"}, default "value"
        "value": the noise depends on the label and on the true value, which must be a whole number. "label": the noise
        depends on the label alone. The difference of two such releases is then exactly the change of the true answers;
        use it only for shares and secure sums.

    Raises
    ------
    ParameterTypeError
        `secret` is neither bytes nor a function, or another argument is not a string.
    ParameterError
        `secret` does not have 32 bytes, or another argument is not allowed. No error shows the secret.

    Notes
    -----
    Only keys that are derived from the secret are kept. They are not shown, and wiped when the generator is deleted.
    A KeyedRng of bytes cannot be copied or pickled. A KeyedRng of a function is pickled as texts: both names, and the name
    by which a worker imports the function. Only a function at the top of a module other than ``__main__`` has such a name.
    It must find the secret on the worker, for example in its environment.

    `sample` and mechanisms that select do not take a KeyedRng.

    Examples
    --------
    >>> import secrets
    >>> import stairnoise as sn
    >>> keyed = sn.KeyedRng(secrets.token_bytes(32), "households 2026-Q3")
    >>> mechanism = sn.DiscreteLaplace(eps=1)
    >>> private = mechanism.release(
    ...     [120, 45], labels=["north", "south"], statistic="count", rng=keyed)
    >>> again = mechanism.release(
    ...     [45, 120], labels=["south", "north"], statistic="count", rng=keyed)
    >>> bool((again == private[::-1]).all())
    True
    """

    __slots__ = ("__weakref__", "_bind", "_fetch", "_keys", "_release")
    __module__ = "stairnoise"

    _bind: Bind
    _fetch: Any
    # None if a function fetches the secret.
    _keys: Keys | None

    def __init__(self, secret: bytes | Callable[[], bytes], release: str, *, bind: Bind = "value") -> None:
        function, copy = (secret, None) if callable(secret) else (None, copied_key(secret, "secret", _RULE))
        del secret
        self._fetch, self._keys = function, None if copy is None else with_key(copy, Keys.of)
        del copy
        self._release = name(release, "release")
        self._bind = one_of(bind, "bind", get_args(Bind))

    @property
    def release_name(self) -> str:
        """Public name of the release."""
        return self._release

    @property
    def bind(self) -> Bind:
        """Whether the noise depends on the label and the true value, "value", or on the label only, "label"."""
        return self._bind

    def fingerprint(self, values: object, labels: object) -> str:
        """Return a keyed fingerprint of true answers with their labels.

        Equal sets of rows have equal fingerprints, in any order. Without the secret a fingerprint reveals nothing about
        the data, except that equal fingerprints belong to equal data. Keep it beside a release to notice when the same name is
        used for other data.

        Parameters
        ----------
        values : int, float, array of them, or column without nulls
            Finite true answers, as in `release` of a mechanism.
        labels : sequence, array or column
            A label for each value, as in `release` of a mechanism.

        Returns
        -------
        str
            64 hexadecimal digits.

        Raises
        ------
        ParameterError, ParameterTypeError
            As `release` of a mechanism with this generator.
        """
        return rows.fingerprint(self._derived(), self._release, values, labels)

    def _derived(self) -> Keys:
        """Return the keys, of a newly fetched secret if a function fetches it."""
        return self._keys if self._keys is not None else with_key(copied_key(self._fetch(), "secret", _RULE), Keys.of)

    def _fetched(self) -> KeyedRng:
        """Return a generator that keeps the keys, so that many calls fetch the secret once."""
        kept = object.__new__(KeyedRng)
        kept._fetch, kept._keys, kept._release, kept._bind = None, self._derived(), self._release, self._bind
        return kept

    @property
    def _identity(self) -> tuple[object, ...]:
        """Equal for equal generators; reveals nothing about the secret."""
        return self._release, self._bind, self._fetch if self._keys is None else self._keys.identity

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KeyedRng):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __repr__(self) -> str:
        return f"KeyedRng(..., {self._release!r}, bind={self._bind!r})"

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        """Return names; a generator that keeps a secret cannot be copied or pickled."""
        return _remade, (*_import_name(self._fetch), self._release, self._bind)

    def __dask_tokenize__(self) -> tuple[str, ...]:
        """Return the token that Dask names a task by: the same in every process, without the secret."""
        source = _import_name(self._fetch) if self._keys is None else (self._keys.identity.hex(),)
        return "stairnoise.KeyedRng", *source, self._release, self._bind


def _import_name(function: Any) -> tuple[str, str]:
    """Return the module and the name by which every process finds a function.

    Picklers such as cloudpickle copy closures and functions of ``__main__``, with any secret in them. So they get only names.
    """
    if function is None:
        raise CopyError(
            "a KeyedRng with the secret inside cannot be copied or pickled: give it a function that fetches the secret where "
            "noise is drawn"
        )
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not (isinstance(module, str) and isinstance(name, str)):
        shown = outline(function)
    elif module in ("__main__", "__mp_main__") or not _is_in_module(function, module, name):
        shown = f"{module}.{name}"
    else:
        return module, name
    raise CopyError(
        f"a KeyedRng of {shown} cannot be copied or pickled, because workers cannot import that: give it a function that is "
        "defined by `def` at the top of a module other than __main__"
    )


def _is_in_module(function: Any, module: str, name: str) -> bool:
    """Return whether an imported module has the function. (A module without a spec was not imported.)"""
    found = sys.modules.get(module)
    return getattr(found, "__spec__", None) is not None and vars(found).get(name) is function


def _remade(module: str, function: str, release: str, bind: Bind) -> KeyedRng:
    return KeyedRng(getattr(importlib.import_module(module), function), release, bind=bind)


def name(text: Any, argument: str) -> str:
    """Check the name of a release or of a statistic."""
    refuse_type(argument, text, isinstance(text, str), "a string")
    if not text:
        raise ParameterError(f"{argument} must be a name, got an empty string")
    if not encoding.is_utf8(text):
        raise ParameterError(f"{argument} must be text that UTF-8 can hold, got a string with a lone surrogate")
    return str(text)
