"""KeyedRng: no output shows the secret, and a function is asked for it only when it is needed.

Evidence: equalities and inequalities of released numbers. If two releases must differ, 60 rows of wide noise are equal by
chance with probability below 2**-100.
"""

import copy
import os
import pickle
import traceback
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.generators.keyed import LABELS, SECRET, VALUES, keyed, released


def fetched() -> bytes:
    return SECRET


class Fetch:
    """A function for the secret that counts its calls and can fail."""

    def __init__(self, answer: Any) -> None:
        self.answer, self.calls = answer, 0

    def __call__(self) -> Any:
        self.calls += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


BAD_SECRETS = [
    (b"short secret", sn.ParameterError, "secret must have 32 bytes, got 12"),
    (bytes(33), sn.ParameterError, "secret must have 32 bytes, got 33"),
    (
        "a secret of thirty-two characters",
        sn.ParameterTypeError,
        "secret must be 32 bytes, or a function .*, got a value of type str",
    ),
    (None, sn.ParameterTypeError, "secret must be 32 bytes, or a function .*, got a value of type NoneType"),
    (2**255, sn.ParameterTypeError, "secret must be 32 bytes, or a function .*, got a value of type int"),
]


@pytest.mark.parametrize(("secret", "error", "text"), BAD_SECRETS, ids=lambda one: type(one).__name__)
def test_a_bad_secret_is_refused_and_not_shown(secret: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        sn.KeyedRng(secret, "r")
    fetch = Fetch(secret)
    with pytest.raises(error, match=text) as later:
        released(rng=sn.KeyedRng(fetch, "r"))
    assert fetch.calls == 1
    for found in (caught, later):
        assert not shown(found.value, secret)


def shown(error: BaseException, secret: Any) -> list[str]:
    """Return the package's frames of a traceback that hold the secret, and the error's text if it has the secret."""
    held = []
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if "stairnoise" in frame.f_code.co_filename.replace(os.sep, "/").split("python/")[-1].split("/")[0]:
            held += [
                f"{frame.f_code.co_name}.{name}"
                for name, value in frame.f_locals.items()
                if secret is not None and value is secret
            ]
    return held + ([str(error)] if str(secret) in str(error) and secret is not None else [])


@pytest.mark.parametrize("make", [bytes, bytearray, memoryview])
def test_no_traceback_of_a_later_mistake_holds_the_secret(make: Any) -> None:
    secret = make(SECRET)
    for call in (
        lambda: sn.KeyedRng(secret, ""),
        lambda: sn.KeyedRng(secret, "r", bind="no"),
        lambda: sn.KeyedRng(secret, secret),
    ):  # type: ignore[arg-type]
        with pytest.raises((sn.ParameterError, sn.ParameterTypeError)) as caught:
            call()
        frames = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]
        values = [
            value for frame in frames for value in frame.f_locals.values() if isinstance(value, (bytes, bytearray, memoryview))
        ]
        # The third call also passes the secret as a name, which is an ordinary argument.
        assert all(value is secret for value in values)
        assert SECRET.hex() not in str(caught.value)


def test_the_callers_copy_stays_as_it_is() -> None:
    secret = bytearray(SECRET)
    rng = sn.KeyedRng(secret, "r")
    assert secret == SECRET
    secret[:] = bytes(32)
    assert np.array_equal(released(rng=rng), released())
    assert np.array_equal(released(rng=sn.KeyedRng(memoryview(SECRET), "r")), released())


def test_nothing_shows_the_secret() -> None:
    rng = keyed("households 2026-Q3", bind="label")
    assert repr(rng) == "KeyedRng(..., 'households 2026-Q3', bind='label')"
    assert (rng.release_name, rng.bind) == ("households 2026-Q3", "label")
    texts = [repr(rng), str(rng), repr(rng.__dask_tokenize__()), repr(rng._keys), repr(rng._identity)]
    assert not [text for text in texts if SECRET.hex() in text or repr(SECRET) in text]
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(sn.CopyError, match="cannot be copied or pickled: give it a function"):
            copied(rng)
    for held in (rng._keys,):
        with pytest.raises(TypeError):
            pickle.dumps(held)


def test_a_function_is_called_at_each_call_and_not_before() -> None:
    fetch = Fetch(SECRET)
    rng = sn.KeyedRng(fetch, "r")
    repr(rng), hash(rng)
    assert fetch.calls == 0
    assert np.array_equal(released(rng=rng), released())
    assert rng.fingerprint(VALUES, LABELS) == keyed().fingerprint(VALUES, LABELS)
    assert fetch.calls == 2
    fetch.answer = bytes(32)
    assert (released(rng=rng) == released()).mean() < 0.2
    fetch.answer = KeyError("no such variable")
    with pytest.raises(KeyError, match="no such variable"):
        released(rng=rng)
    # A call refused for another reason does not ask for the secret.
    calls = fetch.calls
    with pytest.raises(sn.ParameterError):
        released(rng=rng, labels=["a"])
    assert fetch.calls == calls


def test_equality_hash_and_the_name_of_a_task() -> None:
    same = [(keyed(), keyed()), (sn.KeyedRng(fetched, "r"), sn.KeyedRng(fetched, "r"))]
    for one, other in same:
        assert one == other
        assert hash(one) == hash(other)
        assert one.__dask_tokenize__() == other.__dask_tokenize__()
    different = [keyed(), keyed("s"), keyed(bind="label"), sn.KeyedRng(bytes(32), "r"), sn.KeyedRng(fetched, "r")]
    assert len(set(different)) == len({rng.__dask_tokenize__() for rng in different}) == 5
    assert keyed() != SECRET
    assert sn.KeyedRng(fetched, "r").__dask_tokenize__()[1:3] == (__name__, "fetched")


def test_it_does_not_change() -> None:
    for name in ("release_name", "bind"):
        with pytest.raises(AttributeError):
            setattr(keyed(), name, "other")


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"release": 5}, sn.ParameterTypeError, "release must be a string, got 5"),
        ({"release": b"\x01" * 32}, sn.ParameterTypeError, "release must be a string, got a value of type bytes"),
        ({"release": ""}, sn.ParameterError, "release must be a name, got an empty string"),
        ({"release": "\udfff"}, sn.ParameterError, "release must be text that UTF-8 can hold"),
        ({"bind": "values"}, sn.ParameterError, 'bind must be "value" or "label", got \'values\''),
        ({"bind": None}, sn.ParameterTypeError, 'bind must be "value" or "label", got None'),
    ],
)
def test_bad_names(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        sn.KeyedRng(**{"secret": SECRET, "release": "r"} | arguments)
