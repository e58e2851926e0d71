"""A call can return a result, or refuse with an error that names the argument and changes nothing."""

import re
from typing import Any, NamedTuple

import numpy as np

import stairnoise as sn
from tests.property.hostile.calls import Call


class Outcome(NamedTuple):
    """The outcome of a call."""

    result: Any
    refusal: type[Exception] | None


def attempt(call: Call, changed: dict[str, Any]) -> Outcome:
    """Call with some arguments changed; fail on a foreign error, a bad message, a changed argument or a wasted fill.

    A panic in the extension is a BaseException, so it is a foreign error.
    """
    arguments = call.good() | changed
    before = {name: _contents(value) for name, value in arguments.items()}
    fills = _fills(arguments)
    try:
        outcome = Outcome(call.function(**arguments), None)
    except sn.StairnoiseError as error:
        outcome = Outcome(None, type(error))
        _check_text(str(error), {*call.arguments, "parameters"})
    except MemoryError:
        outcome = Outcome(None, MemoryError)
    if fills is not None:
        taken = _fills(arguments) - fills
        several = isinstance(outcome.result, sn.Quantile) and np.size(outcome.result.value) > 1
        # Both ends of a quantile's interval are selected too. How many selections several quantiles take depends on noise.
        one = 3 if isinstance(outcome.result, sn.Quantile) and outcome.result.low is not None else 1
        assert taken > 0 if several else taken == (0 if outcome.refusal else one), "fills taken"
    for name, old in before.items():
        if old is not None and not (name == "out" and outcome.refusal is None):
            assert _contents(arguments[name]) == old, f"{name} was written to"
    return outcome


def has_nan(result: Any) -> bool:
    """Return whether a number, an array, or a member of a tuple of them has NaN."""
    if isinstance(result, tuple):
        return any(map(has_nan, result))
    numbers = np.asarray(result) if isinstance(result, (float, np.ndarray)) else np.zeros(0)
    return numbers.dtype.kind == "f" and bool(np.isnan(numbers).any())


def _check_text(text: str, names: Any) -> None:
    assert any(re.search(rf"\b{name}\b", text) for name in names), text
    assert re.search(r"\b(must|cannot)\b", text), text
    assert re.search(r"\bgot ", text), text


def _fills(arguments: dict[str, Any]) -> int | None:
    rng = arguments.get("rng")
    return rng._stream.fill_count if isinstance(rng, (sn.SecureRng, sn.SeededRng)) else None


def _contents(value: Any) -> bytes | None:
    """Return the content of an array of at most 1 MiB; None for anything else."""
    small = isinstance(value, np.ndarray) and value.size * value.itemsize <= 2**20
    return np.asarray(value).tobytes() if small else None
