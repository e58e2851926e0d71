"""``release`` of columns of decimals and of integers beyond int64, which sums in databases return.

Evidence: a column's release against that of the equal array with the same seed, and noise of 0 (ε = 60) where numbers are
compared with the input. Saturation is computed here in Python's integers.
"""

import decimal
from decimal import Decimal

import numpy as np
import pytest

import stairnoise as sn
from tests.by_method.columns import BEYOND, SILENT, kind, listed, seeded
from tests.combinations import looped

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


@pytest.mark.parametrize("holder", DECIMALS)
def test_decimals_of_scale_0_are_integers(holder):
    values = [BEYOND, -BEYOND, None, 0, 2**63 - 1, -(2**63)]
    column = DECIMALS[holder](values)
    found = SILENT.release(column, nulls="keep")
    assert type(found) is type(column)
    assert kind(found) == kind(column)
    assert listed(found) == values
    assert listed(SILENT.release(column, nulls="zero")) == [value or 0 for value in values]
    assert str(kind(sn.Laplace(1, sensitivity=1).release(column, nulls="zero"))) in ("Float64", "double", "double[pyarrow]")


@looped("beyond", [2**63, -(2**63) - 1, 2**64, -(2**64), 10**37])
@looped("holder", DECIMALS)
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
    mechanism = sn.DiscreteLaplace(0.1)
    exact = mechanism.release(np.array([999, -999] * 20), rng=seeded()).tolist()
    assert max(exact) > 999
    assert listed(mechanism.release(column, rng=seeded())) == [min(max(number, -999), 999) for number in exact]


LONG = {
    "Series": lambda v: pd.Series(v, dtype="uint64"),
    "Index": lambda v: pd.Index(v, dtype="uint64"),
    "nullable Series": lambda v: pd.Series(v, dtype="UInt64"),
    "Arrow Series": lambda v: pd.Series(v, dtype="uint64[pyarrow]"),
    "Polars": lambda v: pl.Series(v, dtype=pl.UInt64),
    "Arrow": lambda v: pa.array(v, type=pa.uint64()),
    "Arrow chunks": lambda v: pa.chunked_array([v[:1], v[1:]], type=pa.uint64()),
}
LONG |= {name: lambda v, name=name: pl.Series(v, dtype=getattr(pl, name)) for name in ("Int128", "UInt128") if hasattr(pl, name)}


@pytest.mark.parametrize("holder", LONG)
def test_integers_that_int64_does_not_hold_count_as_its_ends(holder):
    """Saturation moves no two answers apart, so it keeps the guarantee; a refusal would reveal that such an answer exists."""
    values = [0, 2**63 - 1, 2**63, 2**64 - 1] * 5
    column, mechanism = LONG[holder](values), sn.DiscreteLaplace(0.1)
    found = mechanism.release(column, rng=seeded())
    assert str(kind(found)).lower() == str(kind(LONG[holder]([1]))).lower().replace("uint", "int").replace("128", "64")
    within = np.minimum(np.array(values, np.uint64), 2**63 - 1).astype(np.int64)
    assert listed(found) == mechanism.release(within, rng=seeded()).tolist()
    assert min(listed(found)) < 0
    labels = list(range(len(values)))
    options = {"labels": labels, "statistic": "n", "rng": sn.KeyedRng(bytes(32), "r")}
    assert listed(mechanism.release(column, **options)) == mechanism.release(within, **options).tolist()
    shown, counts = sn.PartitionSelection(eps=1, delta=1e-6).release(column)
    assert shown.tolist() == [value > 0 for value in values]
    assert kind(counts) == kind(found)


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="this Polars has no Int128")
def test_integers_of_128_bits_below_int64():
    column = pl.Series([-(2**63), None, -(2**63) - 1, -(2**100)], dtype=pl.Int128)
    assert SILENT.release(column, nulls="keep").to_list() == [-(2**63), None, -(2**63), -(2**63)]


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
            sn.Laplace(1, sensitivity=1).release(column)


def test_the_context_of_decimals_does_not_matter():
    with decimal.localcontext(prec=2):
        assert listed(SILENT.release(DECIMALS["Arrow"]([BEYOND]))) == [BEYOND]
        assert listed(SILENT.release(DECIMALS["Polars"]([BEYOND]))) == [BEYOND]
