"""No error message shows data, and no code of the caller runs to write a message.

Data are what a release protects, and arguments that a slip could fill with data: values, costs, released numbers, samples, points
of a distribution function, `out`. Each container here holds a canary: a number or a text that occurs nowhere else. No canary may
be in the traceback as Python renders it, causes and contexts included. The rule is SECURITY.md's ("Errors").
"""

import array
import collections
import ctypes
import decimal
import functools
import numbers
import traceback
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import stairnoise as sn
from tests.combinations import looped
from tests.interface.canaries import NUMBER, TEXT, leaks


class Relation:
    """A query that runs at any access, like DuckDB's relations, and has no conversion."""

    def __init__(self):
        object.__setattr__(self, "touched", [])

    def _run(self, *arguments):
        self.touched.append(arguments)
        raise RuntimeError(TEXT)

    __repr__ = __str__ = __len__ = __getitem__ = __iter__ = __getattr__ = __bool__ = __eq__ = __float__ = __index__ = __call__ = (
        _run
    )
    __hash__ = None


class RaisesInConversion:
    """An array-like whose failed conversion shows its content, as pandas' can."""

    def __array__(self, *_, **__):
        raise ValueError(f"could not convert {TEXT}")


class Converts:
    """An array-like of objects."""

    def __array__(self, *_, **__):
        return np.array([TEXT, NUMBER], object)

    def __repr__(self):
        return TEXT


@numbers.Real.register
class BadReal:
    """A number whose failed conversion shows its content."""

    def __float__(self):
        raise KeyError(TEXT)

    __int__ = __index__ = __float__

    def __repr__(self):
        return TEXT


@numbers.Integral.register
class BadInteger(BadReal):
    """An integer of the same kind."""


Row = collections.namedtuple("Row", "a b")
FRAME = pd.DataFrame({TEXT: [1, 2], "b": [f"{TEXT}1", NUMBER]}, index=[TEXT, "y"])


def structured():
    return np.array([(NUMBER, 1.0)], dtype=[(TEXT, "i8"), ("x", "f8")])


def strings_of_numpy_2():
    if not hasattr(np.dtypes, "StringDType"):
        pytest.skip("NumPy 1 has no such dtype")
    return np.array([TEXT], np.dtypes.StringDType(na_object=TEXT))


def masked(values):
    return np.ma.array(values, mask=[False] * (len(values) - 1) + [True])


NEVER_NUMBERS = {
    "str": lambda: TEXT,
    "text of a number": lambda: str(NUMBER),
    "bytes": lambda: str(NUMBER).encode(),
    "complex": lambda: NUMBER + 1j,
    "dict": lambda: {TEXT: NUMBER},
    "set": lambda: {NUMBER},
    "Decimal sNaN": lambda: Decimal("sNaN7319526"),
    "Decimal Infinity beside": lambda: [Decimal("sNaN7319526"), NUMBER],
    "list of str": lambda: [1.0, TEXT],
    "nested list of str": lambda: [[1.0, 2.0], [NUMBER, TEXT]],
    "tuple": lambda: (1, TEXT),
    "named tuple": lambda: Row(NUMBER, TEXT),
    "list of None": lambda: [NUMBER, None],
    "list of bool": lambda: [NUMBER, True],
    "list of dict": lambda: [{TEXT: NUMBER}],
    "ragged": lambda: [[NUMBER], [1, NUMBER]],
    "arrays of two shapes": lambda: [np.full(2, NUMBER), np.full((2, 2), NUMBER)],
    "list of series": lambda: [pd.Series([TEXT, "y"]), pd.Series([NUMBER, 2])],
    "list of masked": lambda: [masked([NUMBER, NUMBER + 1])],
    "deep": lambda: functools.reduce(lambda item, _: [item], range(40), NUMBER),
    "object array": lambda: np.array([NUMBER, TEXT], object),
    "object array of no dimension": lambda: np.array(TEXT, object),
    "str array": lambda: np.array([TEXT]),
    "str array of no dimension": lambda: np.array(TEXT),
    "str_": lambda: np.str_(TEXT),
    "bytes array": lambda: np.array([TEXT.encode()]),
    "complex array": lambda: np.array([NUMBER + 1j]),
    "complex array of no dimension": lambda: np.array(NUMBER + 1j),
    "timedelta array": lambda: np.array([NUMBER], "m8[s]"),
    "timedelta64": lambda: np.timedelta64(NUMBER, "s"),
    "structured array": structured,
    "record": lambda: structured()[0],
    "NumPy strings": strings_of_numpy_2,
    "masked array": lambda: masked([NUMBER, NUMBER + 1]),
    "masked array of no dimension": lambda: np.ma.array(NUMBER, mask=False),
    "array of text": lambda: array.array("w" if "w" in array.typecodes else "u", TEXT),
    "ctypes text": lambda: (ctypes.c_wchar * 6)(*TEXT),
    "memoryview of text": lambda: memoryview(TEXT.encode()).cast("c"),
    "series of objects": lambda: pd.Series([NUMBER, TEXT], name=TEXT),
    "series of Decimal": lambda: pd.Series([Decimal(NUMBER)]),
    "text series": lambda: pd.Series([TEXT], dtype="string"),
    "categorical": lambda: pd.Series([TEXT, "y"], dtype="category"),
    "pandas array": lambda: pd.array([TEXT, None], dtype="string"),
    "frame": lambda: FRAME,
    "frame of a name": lambda: FRAME[[TEXT]].astype(object),
    "index": lambda: FRAME.index,
    "timestamp": lambda: pd.Timestamp(NUMBER, unit="s"),
    "raises in conversion": RaisesInConversion,
    "list that raises in conversion": lambda: [RaisesInConversion()],
    "array-like of objects": Converts,
    "real that does not convert": BadReal,
    "list of reals that do not convert": lambda: [BadReal(), 1.5],
    "integer that does not convert": BadInteger,
    "list of integers that do not convert": lambda: [BadInteger(), NUMBER],
    "relation": Relation,
    "list of relations": lambda: [Relation()],
    "nested relations": lambda: [[1.0], (Relation(),)],
}  # fmt: skip

# Numbers that a release and a selection refuse; a distribution function accepts most of them, rounded.
BAD_NUMBERS = {
    "huge int": lambda: NUMBER * 10**40 + 1,
    "list of huge int": lambda: [1, NUMBER * 10**40 + 1],
    "int of 5000 digits": lambda: NUMBER * 10**5000,
    "list beyond float64": lambda: [0.5, NUMBER * 10**9 + 1],
    "Decimal": lambda: Decimal("7319526.1"),
    "list of Decimal": lambda: [[1, Decimal("7319526.1")]],
    "Decimal beyond float64": lambda: [0.5, Decimal("7319526e9999")],
    "Fraction": lambda: Fraction(NUMBER, 3),
    "list of Fraction": lambda: (Fraction(NUMBER, 3), 0.5),
    "NaN": lambda: [NUMBER, float("nan")],
    "infinite": lambda: np.array([[NUMBER, -np.inf, np.inf]]),
    "single NaN": lambda: np.array([NUMBER, np.nan], np.float32),
    "nullable series": lambda: pd.Series([NUMBER, None], dtype="Int64"),
    "frame with NaN": lambda: pd.DataFrame({TEXT: [NUMBER, None]}),
    "unsigned array": lambda: np.array([NUMBER * 10**9 * 2], np.uint64),
}  # fmt: skip

MECHANISMS = {
    "continuous": lambda: sn.Staircase(1, sensitivity=1),
    "discrete": lambda: sn.DiscreteLaplace(1, sensitivity=1),
    "array of eps": lambda: sn.Laplace([1.0, 2.0], sensitivity=1),
    "alone": lambda: sn.DiscreteGaussian(4.0),
    "Gaussian": lambda: sn.Gaussian(1, 1e-6, sensitivity=1),
    "vectors": lambda: sn.MultivariateStaircase(1, dim=2, sensitivity=1),
}

RELEASES = {name: (lambda data, make=make: make().release(data)) for name, make in MECHANISMS.items()} | {
    "weights": lambda data: sn.add_noise(data, 1.0),
    "k values": lambda data: sn.DiscreteLaplace(1, sensitivity=1).release(data, max_partitions_contributed=2),
    "modulo m": lambda data: sn.DiscreteLaplace(1).release_modulo(data, 97),
    "select": lambda data: sn.StaircaseSelection(1, sensitivity=1).select(data),
    "groups": lambda data: sn.PartitionSelection(1, 0.1).select(data),
    "counts of groups": lambda data: sn.PartitionSelection(1, 0.1).release(data),
    "top": lambda data: sn.PermuteAndFlip(1, sensitivity=1).top(data, 1),
    "scores": lambda data: sn.PermuteAndFlip(1, sensitivity=1).select(scores=data),
    "multiplicities": lambda data: sn.ExponentialMechanism(1, sensitivity=1).select([1, 2], multiplicities=data),
    "sample of choices": lambda data: sn.ExponentialMechanism(1, sensitivity=1).sample(data),
    "probabilities": lambda data: sn.ExponentialMechanism(1, sensitivity=1).probabilities(data),
    "log_probabilities": lambda data: sn.StaircaseSelection(1, sensitivity=1).log_probabilities(data),
    "expected_cost": lambda data: sn.StaircaseSelection(1, sensitivity=1).expected_cost(data),
    "expected_cost of scores": lambda data: sn.StaircaseSelection(1, sensitivity=1).expected_cost(scores=data),
    "stairs": lambda data: sn.StaircaseSelection(1, sensitivity=1).stairs(data),
    "compare": lambda data: sn.compare(1, costs=data),
}

READINGS = {
    "centered_residue": lambda data: sn.centered_residue(data, 97),
    "confidence_interval": lambda data: sn.DiscreteLaplace(1).confidence_interval(data),
    "interval of an array": lambda data: sn.Laplace([1.0, 2.0], sensitivity=1).confidence_interval(data),
    "interval alone": lambda data: sn.DiscreteGaussian(4.0).confidence_interval(data),
    "cdf": lambda data: sn.Staircase(1, sensitivity=1).cdf(data),
    "logpmf": lambda data: sn.DiscreteStaircase(1, 3).logpmf(data),
    "sf alone": lambda data: sn.DiscreteGaussian(4.0).sf(data),
    "density of vectors": lambda data: sn.MultivariateStaircase(1, dim=2, sensitivity=1).pdf(data),
    "norm": lambda data: sn.MultivariateStaircase(1, dim=2, sensitivity=1).norm_cdf(data),
    "probability of a group": lambda data: sn.PartitionSelection(1, 0.1).probability(data),
    "median": lambda data: sn.quantile(data, 0.5, bounds=(0, 9), eps=1),
    "quantiles": lambda data: sn.quantile(data, [0.25, 0.5], bounds=(0, 9), eps=1),
    "samples": lambda data: sn.Laplace(1, sensitivity=1).plot(samples=data),
    "out": lambda data: sn.Laplace(1, sensitivity=1).release([1.0, 2.0], out=data),
    "out of residues": lambda data: sn.DiscreteLaplace(1).release_modulo([1, 2], 97, out=data),
    "out of noise": lambda data: sn.Laplace(1, sensitivity=1).sample(out=data),
    "out of choices": lambda data: sn.StaircaseSelection(1, sensitivity=1).select([1.0, 2.0], out=data),
}


def _refusal(call, data):
    """Return the error of a call, or None; require that the traceback as Python renders it has no canary."""
    refusal = None
    try:
        call(data)
    except sn.StairnoiseError as error:
        refusal = error
    if refusal is not None:
        rendered = "".join(traceback.format_exception(refusal))
        assert not leaks(rendered), rendered
        assert not leaks(repr(refusal.args))
        assert refusal.__cause__ is None
    return refusal


@pytest.mark.slow
@looped("make", NEVER_NUMBERS.values())
def test_what_is_no_number_is_refused_without_its_content(make):
    for name, call in (RELEASES | READINGS).items():
        assert _refusal(call, make()) is not None, name


@pytest.mark.parametrize("make", BAD_NUMBERS.values(), ids=BAD_NUMBERS)
def test_numbers_that_do_not_fit_are_refused_without_their_digits(make):
    with decimal.localcontext(prec=50):
        for name, call in RELEASES.items():
            assert _refusal(call, make()) is not None, name
        for name, call in READINGS.items():
            if name != "samples":  # most are numbers for which a draw takes seconds, and an integer would specify a size
                _refusal(call, make())


@pytest.mark.parametrize("dtype", [object, "U30", [("x", "f8")], "m8[s]", "c16", ">f8"])
def test_an_out_is_refused_without_its_content(dtype):
    out = np.array([NUMBER], "i8").astype(dtype)
    assert _refusal(lambda out: sn.Laplace(1, sensitivity=1).release([1.0], out=out), out) is not None


def test_an_out_of_records_is_refused_without_their_labels():
    assert _refusal(lambda out: sn.Laplace(1, sensitivity=1).release([1.0], out=out), structured()) is not None


def frames_of(numbers, other):
    """Return frames of every library with a column of bad numbers, another type, and a column that no argument names."""
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"bad": numbers, "other": other, TEXT: other})
    return [frame, polars.DataFrame(frame, strict=False), arrow.table(frame), arrow.record_batch(frame)]


@looped(
    "numbers",
    [
        [NUMBER, np.nan],
        [1e300, NUMBER],
        pd.array([NUMBER, None]),
        [f"{TEXT}1", "y"],
    ],
)
@looped("mechanism", MECHANISMS.values())
def test_named_columns_are_refused_without_content_and_other_labels(mechanism, numbers):
    """The error names only the label that the caller wrote."""
    for frame in frames_of(numbers, [1, 2]):
        for columns in (["bad"], ["other", "bad"], ["bad", "other"]):
            assert _refusal(lambda data: mechanism().release(data, columns=columns), frame) is not None  # noqa: B023
        assert _refusal(lambda data: mechanism().release(data, columns=["another"]), frame) is not None


def test_decimals_are_refused_without_digits():
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for number in (Decimal(NUMBER * 10**20), Decimal(f"{NUMBER}.25")):
        for data in (
            arrow.array([number]),
            polars.Series([number]),
            pd.Series([number], dtype=pd.ArrowDtype(arrow.array([number]).type)),
        ):
            assert _refusal(lambda data: sn.DiscreteLaplace(1).release(data), data) is not None


def test_types_that_hold_labels_are_named_by_their_class():
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    for data in (
        polars.Series([TEXT], dtype=polars.Enum([TEXT])),
        polars.Series([{TEXT: NUMBER}]),
        arrow.array([{TEXT: NUMBER}]),
        pd.Series([TEXT], dtype=pd.CategoricalDtype([TEXT])),
        pd.Series([{TEXT: NUMBER}], dtype=pd.ArrowDtype(arrow.struct([(TEXT, arrow.int64())]))),
    ):
        assert _refusal(lambda data: sn.DiscreteLaplace(1).release(data), data) is not None


def test_errors_of_another_library_do_not_get_out():
    class Stubborn(pd.Series):
        @property
        def _constructor(self):
            raise RuntimeError(TEXT)

    assert _refusal(lambda data: sn.DiscreteLaplace(1).release(data), Stubborn([NUMBER])) is not None


# The content of messages

PLACES = [
    ([1.0, TEXT], "values must be a real number or an array of real numbers, got a value of type str at index (1,)"),
    ([[1], [None]], "values must be a real number or an array of real numbers, got a value of type NoneType at index (1, 0)"),
    (TEXT, "values must be a real number or an array of real numbers, got a value of type str"),
    ([1.0, {2.0}], "values must be a real number or an array of real numbers, got a value of type set at index (1,)"),
    ([0.5, 2**53 + 1], "values must be exactly representable in float64, got a value of type int at index (1,)"),
    ([1, 2**63], "values must be within int64, got one that is not at index (1,)"),
    ([0.5, float("nan")], "values must be finite, got one that is not at index (1,)"),
    (float("inf"), "values must be finite, got one that is not"),
    (np.array([[TEXT]]), "values must be a real number or an array of real numbers, got an array of dtype <U6 and shape (1, 1)"),
    (structured(), "values must be a real number or an array of real numbers, got an array of dtype VoidDType and shape (1,)"),
    (
        FRAME,
        'columns must name the columns to release, or be "all", got None beside a value of type DataFrame',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("values", "text"), PLACES, ids=range(len(PLACES)))
def test_a_refusal_says_type_dtype_shape_and_place(values, text):
    with pytest.raises(sn.StairnoiseError) as caught:
        sn.DiscreteLaplace(1, sensitivity=1).release(values)
    assert str(caught.value) == text


def test_a_refused_cost_is_named_by_its_place():
    with pytest.raises(sn.ParameterError) as caught:
        sn.StaircaseSelection(1, sensitivity=1).select([[1.0, 2.0], [3.0, -NUMBER]])
    assert str(caught.value) == "costs must be finite or inf, and at least 0, got one that is not at index (1, 1)"


# No code of the caller runs

PARAMETERS = {
    "eps": sn.Laplace,
    "sensitivity": lambda value: sn.DiscreteLaplace(1, value),
    "gamma": lambda value: sn.Staircase(1, gamma=value, sensitivity=1),
    "delta": lambda value: sn.Gaussian(1, value, sensitivity=1),
    "sigma2": sn.DiscreteGaussian,
    "dim": lambda value: sn.MultivariateStaircase(1, dim=value, sensitivity=1),
    "breakpoints": lambda value: sn.MergedLaplace([1.0, 2.0], value, sensitivity=1),
    "size": lambda value: sn.Laplace(1, sensitivity=1).sample(value),
    "length": lambda value: sn.Laplace(1, sensitivity=1).sample((2, value)),
    "rng": lambda value: sn.Laplace(1, sensitivity=1).release(1.0, rng=value),
    "seed": sn.SeededRng,
    "threads": lambda value: sn.Laplace(1).sample(3, threads=value),
    "columns": lambda value: sn.Laplace(1).release(pd.DataFrame({"a": [1]}), columns=value),
    "nulls": lambda value: sn.Laplace(1).release(1.0, nulls=value),
    "partitions": lambda value: sn.Laplace(1).release(1.0, max_partitions_contributed=value),
    "confidence": lambda value: sn.Laplace(1).confidence_interval(1.0, value),
    "alpha": lambda value: sn.Laplace(1).rdp(value),
    "terms": lambda value: sn.Laplace(1).confidence_interval(1.0, terms=value),
    "mechanisms": lambda value: sn.compare(1, mechanisms=value),
    "monotonic": lambda value: sn.StaircaseSelection(1, monotonic=value, sensitivity=1),
    "figure": lambda value: sn.Laplace(1, sensitivity=1).compose(value),
}


@looped("call", (RELEASES | READINGS | PARAMETERS).values())
def test_nothing_lazy_is_run(call):
    """If an object has no ``__array__`` and no buffer and is no registered sequence, only its type is read."""
    relation = Relation()
    for item in (relation, [relation], (1.0, relation)):
        assert _refusal(call, item) is not None
        assert relation.touched == []


def test_an_item_of_another_library_is_not_run_either():
    class Lazy(Relation):
        __array__ = Relation._run

    Lazy.__module__ = "dask.array.core"
    for dress in (lambda item: item, lambda item: [item], lambda item: ([1.0, item],)):
        for name, call in (RELEASES | READINGS | PARAMETERS).items():
            lazy = Lazy()
            assert _refusal(call, dress(lazy)) is not None, name
            assert lazy.touched == [], name


def test_a_query_of_duckdb_is_not_run():
    duckdb = pytest.importorskip("duckdb")
    runs = []
    connection = duckdb.connect()
    kind = duckdb.sqltype("BIGINT")
    connection.create_function("spy", lambda x: runs.append(x) or x, [kind], kind, side_effects=True)
    relation = connection.sql(f"SELECT spy({NUMBER}::BIGINT) AS {TEXT}")
    for name, call in (RELEASES | READINGS | PARAMETERS).items():
        for data in (relation, [relation], [[1.0, relation]]):
            assert _refusal(call, data) is not None, name
    assert runs == []


def test_frames_of_polars_are_refused_without_their_content():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({TEXT: [f"{TEXT}1", "y"], "b": [NUMBER, 2]})
    for data in (frame, frame[TEXT], frame.lazy(), polars.col(TEXT), [frame[TEXT]], frame[TEXT].cast(polars.Categorical)):
        for name, call in (RELEASES | READINGS).items():
            assert _refusal(call, data) is not None, name
    assert sn.DiscreteLaplace(50).release(frame["b"]).to_list() == [NUMBER, 2]


def test_tables_of_arrow_are_refused_without_their_content():
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({TEXT: [f"{TEXT}1", "y"], "b": [NUMBER, 2]})
    for data in (table, table[TEXT], table[TEXT].combine_chunks(), table[TEXT].dictionary_encode(), arrow.scalar(NUMBER)):
        for name, call in (RELEASES | READINGS).items():
            assert _refusal(call, data) is not None, name
    assert sn.DiscreteLaplace(50).release(table["b"]).to_pylist() == [NUMBER, 2]


# Convertible objects


@pytest.mark.parametrize(
    "values",
    [
        [1, 2], (1, 2), np.array([1, 2]), range(1, 3), array.array("q", [1, 2]), memoryview(np.array([1, 2])),
        collections.deque([1, 2]),
        pd.Series([1, 2]), pd.Index([1, 2]), pd.array([1, 2]).to_numpy(np.int64), [np.int8(1), Fraction(2)],
        [Decimal(1), 2], (ctypes.c_int64 * 2)(1, 2),
    ],
    ids=lambda values: type(values).__name__,
)  # fmt: skip
def test_conversions(values):
    assert sn.DiscreteLaplace(50, sensitivity=1).release(values).tolist() == [1, 2]
