"""`NoNoise`: the true answers on the terms of a release, and nothing that chooses it.

Evidence: the shapes, dtypes and refusals of `DiscreteLaplace` and `Laplace`, and the lists of mechanisms.
"""

import copy
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import registry
from stairnoise._candidates import CANDIDATES
from stairnoise.query.mechanism import MECHANISMS
from tests.combinations import looped

NONE = sn.NoNoise()
# Mechanisms of the same kinds of values, as those decide the types of results.
OTHERS = {"i": sn.DiscreteLaplace(1, 1), "f": sn.Laplace(1, 1)}
VALUES: list[Any] = [
    5,
    2.5,
    [1, 2, 3],
    [0.25, -2.0],
    np.zeros((2, 0)),
    np.arange(6, dtype=np.uint8).reshape(2, 3),
    np.float32([1.5, 2.5]),
    np.arange(8.0)[::2],
    np.array(7),
    np.int32(3),
]


@looped("values", VALUES)
@looped("k", [1, 3])
def test_true_answers_in_the_types_of_a_release(values: Any, k: int) -> None:
    other = OTHERS["f" if np.asarray(values).dtype.kind == "f" else "i"]
    found, noisy = (made.release(values, max_partitions_contributed=k) for made in (NONE, other))
    assert type(found) is type(noisy)
    assert np.asarray(found).dtype == np.asarray(noisy).dtype
    assert np.shape(found) == np.shape(noisy)
    assert np.array_equal(found, values)


def test_ends_of_types_and_the_sign_of_zero() -> None:
    out = np.zeros(2, np.int32)
    assert NONE.release([2**40, -(2**40)], out=out) is out
    assert out.tolist() == [2**31 - 1, -(2**31)]
    narrow = NONE.release([1e300, -0.0], out=np.zeros(2, np.float32))
    assert narrow.tolist() == [np.finfo(np.float32).max, 0.0]
    assert not np.signbit(narrow[1])
    assert NONE.release([2**60 + 1], out=np.zeros(1)).tolist() == [2.0**60]
    values = np.arange(6.0)
    assert NONE.release(values[:-1], out=values[1:]).tolist() == [0, 1, 2, 3, 4]  # overlapping memory


def test_columns_and_frames() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    series = pandas.Series([3, 4], index=["a", "b"], name="n")
    assert NONE.release(series).equals(series)
    frame = pandas.DataFrame({"group": ["x", "y"], "n": [1, 2], "s": [0.5, 1.5]})
    assert NONE.release(frame, columns=["n", "s"]).equals(frame)
    chunks = pyarrow.chunked_array([[1, None], [3]])
    assert NONE.release(chunks, nulls="keep").to_pylist() == [1, None, 3]
    assert NONE.release(chunks, nulls="zero").to_pylist() == [1, 0, 3]
    with pytest.raises(sn.ParameterError, match="values must be finite, got one that is not at index"):
        NONE.release(pandas.Series([1.0, math.inf]))


def test_a_value_of_its_own() -> None:
    assert repr(NONE) == "NoNoise()"
    assert sn.NoNoise() == NONE == copy.deepcopy(NONE) == pickle.loads(pickle.dumps(NONE)) == NONE.for_partitions(7)
    assert hash(sn.NoNoise()) == hash(NONE)
    assert isinstance(NONE, sn.Mechanism)
    assert not isinstance(NONE, sn.AdditiveMechanism)
    assert (NONE.eps, NONE.exactness, NONE._repr_html_()) == (math.inf, "none", None)
    assert NONE.sample() == 0
    assert NONE.sample((2, 3), dtype=np.float64).tolist() == [[0.0] * 3] * 2
    assert [chunk.tolist() for chunk in NONE.sample_chunks(3, 2)] == [[0, 0], [0]]


def test_its_guarantee() -> None:
    for promise in (NONE.guarantee(), NONE.guarantee(3.0), NONE.guarantee(max_partitions_contributed=4)):
        assert (promise.eps, promise.delta, promise.rho, promise.best_guess) == (math.inf, 0.0, None, 1.0)
    assert NONE.guarantee(3.0, max_partitions_contributed=4) == sn.Guarantee(math.inf, 0.0, None, 3.0, 4)


def test_no_list_has_it(tmp_path: Path) -> None:
    names = {*registry.BY_NAME, *(row.class_name for row in registry.ROWS), *CANDIDATES, *MECHANISMS, *registry.SELECTIONS}
    assert names.isdisjoint({"NoNoise", "no_noise", "nonoise", "none"})
    assert "NoNoise" not in {row.name for row in sn.compare(eps=1, sensitivity=1)}


def sqlite_count(path: Path, mechanism: Any) -> Any:
    import sqlite3

    from stairnoise import query

    with sqlite3.connect(path) as con:
        con.execute("create table people (who integer)")
    return query.count(path, table="people", row_is_person=True, eps=1.0, mechanism=mechanism)


def by_key(**options: Any) -> Any:
    return NONE.release([1], labels=["a"], statistic="count", rng=sn.KeyedRng(bytes(32), "r"), **options)


REFUSED = [
    (
        lambda path: sn.Ledger(path / "l", budget=10).spend(NONE, data="people"),
        sn.ParameterError,
        r"one finite eps, .*NoNoise\(\)",
    ),
    (lambda path: sn.Ledger(path / "l", budget=10).spend(NONE.guarantee(), data="people"), sn.ParameterError, "one finite eps"),
    (lambda path: sqlite_count(path / "d", NONE), sn.ParameterTypeError, r"^mechanism must be .*, got NoNoise\(\)"),
    (lambda path: sqlite_count(path / "d", "no_noise"), sn.ParameterError, "^mechanism must be .*, got 'no_noise'"),
    (lambda path: sn.sample(3, mechanism="no_noise"), sn.ParameterError, "^mechanism must be .*, got 'no_noise'"),
    (lambda path: sn.compare(eps=1, sensitivity=1, mechanisms=["NoNoise"]), sn.ParameterError, "^mechanisms must be .*'NoNoise'"),
    (lambda path: sn.calibrate(sn.NoNoise, eps=1, sensitivity=1), sn.StairnoiseError, "^cls must .*NoNoise"),
    (lambda path: by_key(), sn.ParameterError, r"rng must not be a KeyedRng for NoNoise\(\), which draws nothing"),
    (lambda path: sn.binomial_test(3, 10, mechanism=NONE), sn.StairnoiseError, r"^mechanism must .*NoNoise\(\)"),
    (
        lambda path: NONE.release([1.5, math.nan]),
        sn.ParameterError,
        r"values must be finite, got one that is not at index \(1,\)",
    ),
    (
        lambda path: NONE.release([1.5], out=np.zeros(1, np.int64)),
        sn.ParameterError,
        "out must have dtype float64 or float32 for",
    ),
    (lambda path: NONE.release(["a"]), sn.ParameterTypeError, "values must be"),
    (lambda path: NONE.release([1], rng=sn.SeededRng(1)), sn.StairnoiseError, "rng must"),
    (lambda path: NONE.guarantee(-1), sn.ParameterError, "sensitivity must be finite and greater than 0, got -1"),
]


@pytest.mark.parametrize(("call", "kind", "text"), REFUSED, ids=[text for _, _, text in REFUSED])
def test_what_is_refused_and_how(tmp_path: Path, call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call(tmp_path)


def test_the_generator_goes_on_as_after_another_mechanism() -> None:
    first, second = (sn.SeededRng(3, allow_release=True) for _ in range(2))
    for made, rng in ((NONE, first), (OTHERS["f"], second)):
        made.release([1.0, 2.0], rng=rng)
        made.sample(5, dtype=np.float64, rng=rng)
        made.sample(rng=rng)
        list(made.sample_chunks(5, 2, rng=rng))
    assert sn.Laplace(1).sample(4, rng=first).tolist() == sn.Laplace(1).sample(4, rng=second).tolist()
