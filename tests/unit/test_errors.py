"""The exception tree, and how refused values are shown."""

import numpy as np
import pytest

import stairnoise as sn
from stairnoise._errors import received


def test_tree():
    assert issubclass(sn.ParameterError, ValueError)
    assert issubclass(sn.ParameterTypeError, TypeError)
    assert issubclass(sn.CopyError, TypeError)
    for error in (sn.ParameterError, sn.ParameterTypeError, sn.CopyError):
        assert issubclass(error, sn.StairnoiseError)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1.5, "-1.5"),
        (np.float64(-1.5), "-1.5"),
        (np.int64(3), "3"),
        ("l3", "'l3'"),
        (None, "None"),
        (np.zeros((2, 3), np.float32), "an array of dtype float32 and shape (2, 3)"),
        ("x" * 10**6, "'" + "x" * 59 + "... (str)"),
    ],
)
def test_received(value, text):
    assert received(value) == text


class Mute:
    """An object without a text."""

    def __repr__(self):
        raise RuntimeError("never")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        pytest.param(10**5000, "int", id="long"),
        pytest.param([10**5000], "list", id="list"),
        pytest.param(Mute(), "Mute", id="mute"),
        pytest.param(np.array([Mute()]).reshape(()), "ndarray", id="array"),
    ],
)
def test_values_that_cannot_be_written_out_are_named_by_their_type(value, kind):
    """Python writes no integer of more than 4300 digits; a foreign __repr__ may raise anything."""
    assert received(value) == f"a value of type {kind} that cannot be written out"
    with pytest.raises(sn.ParameterTypeError, match="that cannot be written out"):
        sn.SeededRng(1).spawn([value])
