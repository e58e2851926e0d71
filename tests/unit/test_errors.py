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
