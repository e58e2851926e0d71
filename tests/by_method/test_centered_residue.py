"""``centered_residue``: the integer nearest to 0, by Python's integers. Deterministic: no false alarms."""

import math

import numpy as np
import pytest

import stairnoise as sn

MODULI = [2, 3, 4, 7, 255, 256, 2**32 - 1, 2**32, 2**61 - 1, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 59, 2**64 - 1, 2**64]


def expected(value, m):
    return next(c for c in (value % m, value % m - m) if -(m // 2) <= c <= (m - 1) // 2)


def around(m):
    near = [0, 1, m // 2, (m - 1) // 2, m - 1, m, 2 * m, 2**32, 2**62, 2**63, 2**64]
    return sorted({sign * n + step for n in near for step in (-1, 0, 1) for sign in (1, -1)})


@pytest.mark.parametrize("m", MODULI)
def test_arrays_of_every_type(m):
    for dtype in ("int64", "uint64", "int32", "uint32", "uint8", ">i8", ">u8"):
        limits = np.iinfo(dtype)
        values = [value for value in around(m) if limits.min <= value <= limits.max]
        found = sn.centered_residue(np.array(values, dtype), m)
        assert found.dtype == np.int64
        assert found.tolist() == [expected(value, m) for value in values], dtype


@pytest.mark.parametrize("m", MODULI)
def test_integers_of_any_size(m):
    values = [*around(m), 10**40, -(10**40) - 1]
    found = sn.centered_residue(values, m)
    assert found.dtype == np.int64
    assert found.tolist() == [expected(value, m) for value in values]
    for value in values:
        one = sn.centered_residue(value, m)
        assert type(one) is int
        assert one == expected(value, m)


@pytest.mark.parametrize("m", [2, 5, 2**64 - 1, 2**64])
@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_shapes_and_strides_are_read_and_the_values_stay(m, dtype):
    values = np.arange(24).astype(dtype).reshape(4, 6)
    before = values.copy()
    for view in (values.T, values[::-1, ::2], values[:0], values[1, 1]):
        found = sn.centered_residue(view, m)
        assert np.shape(found) == np.shape(view)
        assert np.ravel(found).tolist() == [expected(int(value), m) for value in np.ravel(view)]
    assert np.array_equal(values, before)
    assert type(sn.centered_residue(np.array(3, dtype), m)) is int


@pytest.mark.parametrize("values", [1.0, [1.0, 2.0], np.zeros(3), math.nan, True, None, "7", np.ma.masked_array([1], [1])])
def test_what_is_no_integer_is_refused(values):
    with pytest.raises(sn.ParameterTypeError, match=r"^values must "):
        sn.centered_residue(values, 7)


def test_a_sum_of_uint64_is_read_where_numpy_wraps_rightly():
    residues = np.array([2**64 - 1, 2**64 - 2, 5], np.uint64)
    assert sn.centered_residue(residues.sum(), 2**64) == 2
    assert sn.centered_residue(residues.sum(), 2**32) == 2
    assert sn.centered_residue(residues.sum(), 3) != expected(sum(residues.tolist()), 3)  # 3 does not divide 2**64
