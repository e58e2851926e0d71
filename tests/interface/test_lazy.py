"""An object that stands for a computation raises `LazyError`, and is not computed.

Evidence: real objects whose computation is noticed, and stand-ins for engines that are not installed; every
attribute of a stand-in is watched.
"""

import pickle
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from tests.combinations import looped

MECHANISM = sn.DiscreteLaplace(1)
KEYED = sn.KeyedRng(bytes(32), "persons 2026-Q3")

# The modules in which engines define their classes.
STAND_INS = {
    "pyspark": [
        *(
            "pyspark.sql.dataframe.DataFrame",
            "pyspark.sql.classic.dataframe.DataFrame",
            "pyspark.sql.connect.dataframe.DataFrame",
        ),
        *("pyspark.sql.column.Column", "pyspark.sql.connect.column.Column", "pyspark.rdd.RDD", "pyspark.sql.group.GroupedData"),
        *("pyspark.pandas.series.Series", "pyspark.pandas.frame.DataFrame"),
    ],
    "ibis": ["ibis.expr.types.relations.Table", "ibis.expr.types.numeric.IntegerColumn", "ibis.common.deferred.Deferred"],
    "dask": [
        *("dask.dataframe.core.Series", "dask.array.core.Array", "dask.delayed.Delayed", "dask.bag.core.Bag"),
        "dask.dataframe.dask_expr._collection.Series",
    ],
    "dask_expr": ["dask_expr._collection.DataFrame"],
    "distributed": ["distributed.client.Future"],
    "duckdb": ["duckdb.duckdb.DuckDBPyRelation", "_duckdb.DuckDBPyConnection"],
    "polars": ["polars.lazyframe.frame.LazyFrame", "polars.expr.expr.Expr"],
    "pyarrow": ["pyarrow._dataset.Dataset", "pyarrow.lib.RecordBatchReader"],
}


class Watched:
    """An object that records the attributes read from it."""

    def __init__(self):
        object.__setattr__(self, "asked", [])

    def _note(self, *arguments, **_):
        object.__getattribute__(self, "asked").append(arguments)
        raise RuntimeError("it was run")

    __array__ = __len__ = __iter__ = __getitem__ = __repr__ = __str__ = __bool__ = __eq__ = __float__ = __index__ = _note
    __getattr__ = __arrow_c_stream__ = __dataframe__ = collect = compute = execute = to_numpy = toPandas = _note  # noqa: N815
    __hash__ = None


def stand_in(path: str, *, derived: bool = False) -> Any:
    module, _, name = path.rpartition(".")
    made = type(name, (Watched,), {"__module__": module})
    return type("Own", (made,), {"__module__": "__main__"})() if derived else made()


PATHS = [(package, path) for package, paths in STAND_INS.items() for path in paths]


@looped("derived", [False, True])
@looped(("package", "path"), PATHS)
def test_stand_ins(package, path, derived):
    lazy = stand_in(path, derived=derived)
    rng = sn.SeededRng(1, allow_release=True)
    name = "Own" if derived else path.rpartition(".")[2]
    text = (
        f"values must be in memory, got a lazy value of type {name} of {package}: "
        "collect it first, because each of its evaluations would be another release"
    )
    for options in ({}, {"columns": ["n"]}, {"nulls": "keep"}, {"max_partitions_contributed": 2}):
        with pytest.raises(sn.LazyError) as caught:
            MECHANISM.release(lazy, rng=rng, **options)
        assert str(caught.value) == text
    for call in (
        lambda: sn.MultivariateStaircase(1, sensitivity=1).release(lazy),
        lambda: sn.DiscreteGaussian(4).release(lazy, l2_sensitivity=1),
        lambda: sn.StaircaseSelection(1, sensitivity=1).select(lazy),
        lambda: sn.PermuteAndFlip(1, sensitivity=1).top(scores=lazy, k=1),
        lambda: sn.PartitionSelection(1, 0.1).select(lazy),
        lambda: sn.PartitionSelection(1, 0.1).release(lazy),
        lambda: sn.Laplace(lazy, sensitivity=1),
        lambda: MECHANISM.release([1.0, lazy]),
        lambda: MECHANISM.release(lazy, labels=["a"], statistic="count", rng=KEYED),
        lambda: MECHANISM.release(1, labels=lazy, statistic="count", rng=KEYED),
        lambda: MECHANISM.release([1], labels=[lazy], statistic="count", rng=KEYED),
        lambda: KEYED.fingerprint(lazy, ["a"]),
        lambda: KEYED.fingerprint(1, lazy),
        lambda: sn.Laplace(1, sensitivity=1).cdf(lazy),
        lambda: sn.Laplace(1, sensitivity=1).privacy_profile(lazy),
    ):
        with pytest.raises(sn.LazyError, match=f"must be in memory, got a lazy value of type {name} of {package}"):
            call()
    with pytest.raises(sn.ParameterTypeError, match=rf"out must be a NumPy array .*, got a value of type {name}"):
        MECHANISM.sample(out=lazy)
    with pytest.raises(sn.ParameterTypeError, match=rf"out must be a NumPy array .*, got a value of type {name}"):
        MECHANISM.release([1, 2], out=lazy)
    assert object.__getattribute__(lazy, "asked") == []
    assert rng._stream.fill_count == 0


@pytest.mark.slow
def test_xarray_over_dask():
    """A task records that it ran; the same arrays in memory are not lazy."""
    xarray = pytest.importorskip("xarray")
    dask_array = pytest.importorskip("dask.array")
    run = []

    def noticed(part: Any) -> Any:
        run.append(part)
        return part

    graph = dask_array.from_array(np.arange(4)).map_blocks(noticed, dtype=np.int64, meta=np.empty(0, np.int64))
    lazy = xarray.DataArray(graph, dims="x")
    for value in (lazy, lazy.variable, xarray.Dataset({"a": ("x", np.arange(4)), "n": lazy})):
        kind = type(value).__name__
        with pytest.raises(sn.LazyError, match=f"^values must be in memory, got a lazy value of type {kind} of xarray: "):
            MECHANISM.release(value)
    with pytest.raises(sn.LazyError, match=r"^labels must be in memory, got a lazy value of type DataArray of xarray: "):
        MECHANISM.release(np.arange(4), labels=lazy, statistic="count", rng=KEYED)
    assert not run
    exact = MECHANISM.release(np.arange(4), rng=sn.SeededRng(1, allow_release=True))
    assert MECHANISM.release(lazy.compute(), rng=sn.SeededRng(1, allow_release=True)).tolist() == exact.tolist()
    assert run


@pytest.mark.parametrize("kind", ["dataarray.DataArray", "dataset.Dataset", "variable.Variable"])
def test_stand_ins_of_xarray(kind):
    """If xarray is not installed, only the graph is read, and an object is lazy if it has one."""
    module, _, name = f"xarray.core.{kind}".rpartition(".")
    lazy = type(name, (Watched,), {"__module__": module, "__dask_graph__": lambda self: {"task": 1}})()
    with pytest.raises(sn.LazyError, match=f"^values must be in memory, got a lazy value of type {name} of xarray: "):
        MECHANISM.release(lazy)
    assert object.__getattribute__(lazy, "asked") == []
    methods = {"__dask_graph__": lambda self: None, "__array__": lambda *_, **__: np.arange(3)}
    held = type(name, (), {"__module__": module, **methods})()
    assert MECHANISM.release(held).shape == (3,)


def test_what_is_not_lazy_is_not_called_so():
    """A user's class with an engine's class name, and an engine's row, which is a tuple, are not lazy."""

    class Expr:
        pass

    row = type("Row", (tuple,), {"__module__": "pyspark.sql.types"})((1, 2))
    with pytest.raises(sn.ParameterTypeError) as caught:
        MECHANISM.release(Expr())
    assert type(caught.value) is sn.ParameterTypeError
    assert MECHANISM.release(row).shape == (2,)


def test_the_error_is_a_type_error_and_can_be_pickled():
    assert issubclass(sn.LazyError, sn.ParameterTypeError)
    error = pickle.loads(pickle.dumps(sn.LazyError("text")))
    assert (type(error), str(error)) == (sn.LazyError, "text")


def test_polars():
    pl = pytest.importorskip("polars")
    run = []
    frame = pl.LazyFrame({"n": [1, 2]}).map_batches(lambda part: run.append(1) or part)
    lazies = [frame, frame.group_by("n"), pl.col("n"), pl.col("n").sum(), pl.when(pl.col("n") > 1).then(2), pl.all()]
    for lazy in lazies:
        for options in ({}, {"columns": ["n"]}):
            with pytest.raises(sn.LazyError, match="of polars: collect it first"):
                MECHANISM.release(lazy, **options)
    assert run == []
    frame.collect()
    assert run == [1]


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    run = []
    connection = duckdb.connect()
    kind = duckdb.sqltype("BIGINT")
    connection.create_function("spy", lambda x: run.append(x) or x, [kind], kind, side_effects=True)
    relation = connection.sql("SELECT spy(x) AS n FROM range(3) t(x)")
    for lazy in (relation, relation.project("n"), connection, duckdb.ColumnExpression("n")):
        with pytest.raises(sn.LazyError, match="of duckdb: collect it first"):
            MECHANISM.release(lazy, columns=["n"])
    assert run == []
    relation.fetchall()
    assert run


def test_dask():
    dask = pytest.importorskip("dask")
    dataframe = pytest.importorskip("dask.dataframe")
    array = pytest.importorskip("dask.array")
    pd = pytest.importorskip("pandas")
    run = []

    def spy(part):
        run.append(len(part))
        return part

    frame = dataframe.from_pandas(pd.DataFrame({"n": [1, 2]}), npartitions=1).map_partitions(spy, meta={"n": "int64"})
    numbers = array.from_array(np.arange(3), chunks=3).map_blocks(spy, meta=np.empty(0, int))
    run.clear()  # Dask may have tried the function on `meta`
    for lazy in (frame, frame["n"], frame["n"].sum(), frame.index, numbers, dask.delayed(spy)([1])):
        with pytest.raises(sn.LazyError, match=r"of dask(_expr)?: collect it first"):
            MECHANISM.release(lazy)
        with pytest.raises(sn.LazyError, match=r"of dask(_expr)?: collect it first"):
            MECHANISM.release([lazy])
    assert run == []
    frame.compute(scheduler="synchronous")
    assert run == [2]


def test_datasets_of_arrow():
    pa = pytest.importorskip("pyarrow")
    dataset = pytest.importorskip("pyarrow.dataset")
    table = pa.table({"n": [1, 2]})
    reader = table.to_reader()
    for lazy in (dataset.dataset(table), dataset.dataset(table).scanner(), reader):
        with pytest.raises(sn.LazyError, match="of pyarrow: collect it first"):
            MECHANISM.release(lazy, columns=["n"])
    assert reader.read_all() == table
