"""KeyedRng: copies, pickles and Dask tokens contain the name of a function that workers can import, and never the secret.

Evidence: a search of the pickled bytes for the secret; equality of released numbers in another process.
"""

import copy
import functools
import importlib
import importlib.util
import operator
import pickle
import subprocess
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.generators.keyed import LABELS, SECRET, VALUES, keyed, released


def fetched() -> bytes:
    return SECRET


@functools.cache
def remembered() -> bytes:
    return SECRET


class Holder:
    """Objects and classes that hold the secret."""

    def __init__(self, secret: bytes) -> None:
        self.secret = secret

    def __call__(self) -> bytes:
        return self.secret

    @staticmethod
    def static() -> bytes:
        return SECRET


def nested(secret: bytes) -> Callable[[], bytes]:
    def fetch() -> bytes:
        return secret

    return fetch


def of_module(name: str, spec: object) -> Callable[[], bytes]:
    """Return a function of `__main__`, or of a module that no file was imported for."""
    module = types.ModuleType(name)
    module.__spec__ = spec  # type: ignore[assignment]
    exec(f"def fetch():\n    return {SECRET!r}", vars(module))
    fetch: Callable[[], bytes] = module.fetch
    return fetch


in_module = lambda: SECRET  # noqa: E731
part = functools.partial(operator.getitem, [SECRET], 0)

WAYS: dict[str, Callable[[Any], Any]] = {
    **{f"pickle {protocol}": functools.partial(pickle.dumps, protocol=protocol) for protocol in range(6)},
    **{name: importlib.import_module(name).dumps for name in ("cloudpickle", "dill") if importlib.util.find_spec(name)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "Dask": lambda rng: rng.__dask_tokenize__(),
}
HOLD_THE_SECRET: dict[str, Callable[[], bytes]] = {
    "a lambda": lambda: SECRET,
    "a lambda of a module": in_module,
    "a closure": nested(SECRET),
    "a partial": part,
    "an object": Holder(SECRET),
    "a bound method": Holder(SECRET).__call__,
    "a method of bytes": SECRET.lower,
    "a static method": Holder.static,
    "__main__": of_module("__main__", importlib.util.find_spec("math")),
    "__mp_main__": of_module("__mp_main__", importlib.util.find_spec("math")),
    "no file": of_module("made_by_hand", None),
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@ways
@pytest.mark.parametrize("fetch", HOLD_THE_SECRET.values(), ids=HOLD_THE_SECRET)
def test_what_workers_cannot_import_is_refused(way: Any, fetch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(fetch, types.FunctionType) and fetch.__module__ != __name__:
        monkeypatch.setitem(sys.modules, fetch.__module__, types.SimpleNamespace(**fetch.__globals__))  # type: ignore[arg-type]
    rng = sn.KeyedRng(fetch, "r")
    assert np.array_equal(released(rng=rng), released()), "in this process, it works as before"
    with pytest.raises(sn.CopyError, match="workers cannot import that: give it a function that is defined by `def`") as caught:
        way(rng)
    assert SECRET.hex() not in str(caught.value)
    assert repr(SECRET) not in str(caught.value)


@ways
def test_a_function_that_was_replaced_in_its_module_is_refused(way: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker would import the replacement."""
    rng = sn.KeyedRng(fetched, "r")
    monkeypatch.setattr(sys.modules[__name__], "fetched", remembered)
    with pytest.raises(sn.CopyError, match=rf"a KeyedRng of {__name__}\.fetched cannot be copied or pickled"):
        way(rng)


@ways
@pytest.mark.parametrize("fetch", [fetched, remembered], ids=["function", "with a cache"])
def test_a_function_of_a_module_goes_by_its_name(way: Any, fetch: Any) -> None:
    rng = sn.KeyedRng(fetch, "r", bind="label")
    found = way(rng)
    if isinstance(found, tuple):
        assert found == ("stairnoise.KeyedRng", __name__, fetch.__qualname__, "r", "label")
        return
    if isinstance(found, bytes):
        assert SECRET not in found
        found = pickle.loads(found)
    assert found == rng
    assert np.array_equal(released(rng=found), released(rng=keyed(bind="label")))


def test_modules_that_are_pickled_by_value_too() -> None:
    """cloudpickle then pickles whole functions of a module, but a KeyedRng pickles only the function's name."""
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        assert SECRET in cloudpickle.dumps(fetched)
        assert SECRET not in cloudpickle.dumps(sn.KeyedRng(fetched, "r"))
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def test_another_process_fetches_the_secret_itself(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "release_secret_of_a_test.py").write_text(
        "import os\n\ndef fetch():\n    return bytes.fromhex(os.environ['S'])\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    rng = sn.KeyedRng(importlib.import_module("release_secret_of_a_test").fetch, "r")
    code = (
        f"import pickle, sys; sys.path.append({str(tmp_path)!r}); rng = pickle.load(sys.stdin.buffer); import stairnoise as sn;"
        f"print(sn.DiscreteLaplace(0.001).release({VALUES.tolist()}, labels={LABELS}, statistic='count', rng=rng).tolist())"
    )
    monkeypatch.setenv("S", SECRET.hex())
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(rng), capture_output=True, check=True)
    assert done.stdout.decode().strip() == str(released().tolist())
