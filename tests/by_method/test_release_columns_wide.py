"""``release`` of columns of decimals and of integers that int64 does not hold, as sums in databases have them.

Evidence: a column's release against that of the equal array with the same seed, and noise of 0 (ε = 60) where numbers are
compared with what was put in. Saturation is computed here in Python's integers.
"""

import decimal
from decimal import Decimal

import numpy as np
import pytest

import stairnoise as sn
from tests.by_method.columns import BEYOND, SILENT, kind, listed, seeded

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


def decimals(values: list[int | None]) -> list[Decimal | None]:
    return [None if value is None else Decimal(value) for value in values]


DECIMALS = {
    "Polars": lambda v: pl.Series(decimals(v), dtype=pl.Decimal(38, 0)),
    "Arrow": lambda v: pa.array(decimals(v), type=pa.decimal128(38, 0)),
    "Arrow slice": lambda v: pa.array(decimals([1, *v, 1]), type=pa.decimal128(38, 0))[1:-1],
    "256 bits": lambda v: pa.array(decimals(v), type=pa.decimal256(60, 0)),
    "Arrow Series": lambda v: pd.Series(decimals(v), dtype=pd.ArrowDtype(pa.decimal128(38, 0))),
}
if hasattr(pl, "Int128"):
    DECIMALS["Int128"] = lambda v: pl.Series(v, dtype=pl.Int128)


@pytest.mark.parametrize("holder", DECIMALS)
def test_decimals_of_scale_0_are_integers(holder):
    values = [BEYOND, -BEYOND, None, 0, 2**63 - 1, -(2**63)]
    column = DECIMALS[holder](values)
    found = SILENT.release(column, nulls="keep")
    assert type(found) is type(column)
    assert kind(found) == kind(column)
    assert listed(found) == values
    assert listed(SILENT.release(column, nulls="zero")) == [value or 0 for value in values]
    assert str(kind(sn.Laplace(1).release(column, nulls="zero"))) in ("Float64", "double", "double[pyarrow]")


@pytest.mark.parametrize("beyond", [2**63, -(2**63) - 1, 2**64, -(2**64), 10**37])
@pytest.mark.parametrize("holder", DECIMALS)
def test_decimals_beyond_int64_are_refused(holder, beyond):
    rng = seeded()
    with pytest.raises(sn.ParameterError) as caught:
        SILENT.release(DECIMALS[holder]([1, None, beyond]), nulls="zero", rng=rng)
    assert str(caught.value) == "values must be within int64, got one that is not at index (2,)"
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize(
    "column",
    [pa.array([Decimal(999), Decimal(-999)] * 20), pl.Series([Decimal(999), Decimal(-999)] * 20, dtype=pl.Decimal(3, 0))],
)
def test_decimals_are_cut_off_at_their_digits(column):
    law = sn.DiscreteLaplace(0.1)
    exact = law.release(np.array([999, -999] * 20), rng=seeded()).tolist()
    assert max(exact) > 999
    assert listed(law.release(column, rng=seeded())) == [min(max(number, -999), 999) for number in exact]


@pytest.mark.skipif(not hasattr(pl, "UInt128"), reason="this Polars has no UInt128")
def test_wide_unsigned_integers_are_cut_off_at_zero():
    column = pl.Series([0, 2**63 - 1] * 20, dtype=pl.UInt128)
    law = sn.DiscreteLaplace(0.1)
    exact = law.release(np.array([0, 2**63 - 1] * 20), rng=seeded()).tolist()
    assert min(exact) < 0
    found = law.release(column, rng=seeded())
    assert found.dtype == pl.UInt128
    assert found.to_list() == [max(number, 0) for number in exact]
    with pytest.raises(sn.ParameterError, match=r"values must be within int64, got one that is not at index \(1,\)"):
        law.release(pl.Series([0, 2**63], dtype=pl.UInt128))


def test_decimals_with_digits_after_the_point_are_refused():
    for column in (
        pa.array([Decimal("1.25")]),
        pl.Series([Decimal("1.25")]),
        pd.Series([Decimal("1.25")], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
    ):
        with pytest.raises(
            sn.ParameterError,
            match="values must be decimals of scale 0, or be converted to float64 or to integers of a smaller unit",
        ):
            sn.Laplace(1).release(column)


def test_unsigned_integers_that_int64_does_not_hold_are_refused():
    for column in (
        pd.Series([1, 2**63], dtype="uint64"),
        pl.Series([1, 2**63], dtype=pl.UInt64),
        pa.array([1, 2**63], type=pa.uint64()),
    ):
        with pytest.raises(sn.ParameterError) as caught:
            SILENT.release(column)
        assert str(caught.value) == "values must be within int64, got one that is not at index (1,)"


def test_the_context_of_decimals_does_not_matter():
    with decimal.localcontext(prec=2):
        assert listed(SILENT.release(DECIMALS["Arrow"]([BEYOND]))) == [BEYOND]
        assert listed(SILENT.release(DECIMALS["Polars"]([BEYOND]))) == [BEYOND]
