"""The exception tree, and how errors show refused values."""

import enum
from decimal import Decimal
from fractions import Fraction

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


class Mute:
    """An object whose `repr` must not be called."""

    def __repr__(self):
        raise RuntimeError("never")


class Whole(enum.IntEnum):
    """An integer with its own text."""

    THREE = 3


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1.5, "-1.5"),
        (np.float64(-1.5), "-1.5"),
        (np.int64(3), "3"),
        ("l3", "'l3'"),
        (None, "None"),
        (np.zeros((2, 3), np.float32), "an array of dtype float32 and shape (2, 3)"),
        (Mute(), "a value of type Mute"),
        ([1, Mute()], "a value of type list"),
        (np.array([Mute()]).reshape(()), "an array of dtype object and shape ()"),
        (b"key", "a value of type bytes"),
        ((2, [3, "x"]), "(2, [3, 'x'])"),
        (list(range(30)), "a value of type list"),
        (Decimal("0.1"), "Decimal('0.1')"),
        (Fraction(1, 3), "Fraction(1, 3)"),
        (sn.Laplace(1, 1), "Laplace(eps=1.0, sensitivity=1.0)"),
        (Whole.THREE, "3"),
        (np.array(1.5), "array(1.5)"),
        (int, "<class 'int'>"),
        ("x" * 10**6, "'" + "x" * 59 + "... (str)"),
    ],
)
def test_received(value, text):
    assert received(value) == text


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        pytest.param(10**5000, "int", id="long"),
        pytest.param([10**5000], "list", id="list"),
    ],
)
def test_values_that_cannot_be_written_out_are_named_by_their_type(value, kind):
    """Python writes no integer of more than 4300 digits."""
    assert received(value) == f"a value of type {kind} that cannot be written out"
    with pytest.raises(sn.ParameterTypeError, match="that cannot be written out"):
        sn.SeededRng(1).spawn([value])
