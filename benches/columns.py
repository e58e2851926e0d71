"""Time the release of a column, beside the release of an equal array.

python -m benches.columns           # 10⁷ rows, into record/columns
python -m benches.columns 1e6       # fewer rows, printed only
"""

from __future__ import annotations

import datetime
import re
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

import stairnoise as sn
from benches import builds, machine, report
from benches.mechanisms import discrete_laplace
from benches.peers import version
from benches.timing import Run

ROWS = 10**7
ROUNDS = 9
CHUNKS = 10
NULL_EVERY = 100
WITHOUT_NULLS, WITH_NULLS = 1.2, 1.6
"""The maximum ratio of a column's time to the array's."""

COUNTS = discrete_laplace(1)
RECORDS = report.RECORDS / "columns"


@dataclass(frozen=True)
class Held:
    """A way to hold counts."""

    name: str
    make: Callable[[NDArray[Any], NDArray[np.bool_]], Any]
    """Makes it from counts and the places of nulls."""
    nulls: str = ""
    """The rule for nulls; empty for a column without nulls."""
    dtype: type[np.integer[Any]] = np.int64


def _chunked(values: NDArray[Any], missing: NDArray[np.bool_]) -> Any:
    parts = zip(np.array_split(values, CHUNKS), np.array_split(missing, CHUNKS), strict=True)
    return pa.chunked_array([pa.array(part, mask=where) for part, where in parts])


def _polars(values: NDArray[Any], missing: NDArray[np.bool_]) -> Any:
    return pl.Series(values).zip_with(pl.Series(~missing), pl.Series([None], dtype=pl.Int64))


def _pieces(values: NDArray[Any], _: NDArray[np.bool_]) -> Any:
    return pl.concat([pl.Series(part) for part in np.array_split(values, CHUNKS)], rechunk=False)


def _masked(values: NDArray[Any], missing: NDArray[np.bool_]) -> Any:
    return pd.Series(pd.arrays.IntegerArray(values.copy(), missing.copy()))


HELD = (
    Held("pandas int64", lambda values, _: pd.Series(values)),
    Held("pandas Int64", _masked),
    Held("pandas int64[pyarrow]", lambda values, _: pd.Series(values, dtype="int64[pyarrow]")),
    Held("Polars Int64", lambda values, _: pl.Series(values)),
    Held(f"Polars Int64, {CHUNKS} chunks", _pieces),
    Held("PyArrow int64", lambda values, _: pa.array(values)),
    Held(f"PyArrow int64, {CHUNKS} chunks", _chunked),
    Held("pandas int32", lambda values, _: pd.Series(values), dtype=np.int32),
    *(
        Held(name, make, nulls)
        for nulls in ("zero", "keep")
        for name, make in (
            ("pandas Int64", _masked),
            ("Polars Int64", _polars),
            ("PyArrow int64", lambda values, missing: pa.array(values, mask=missing)),
            (f"PyArrow int64, {CHUNKS} chunks", _chunked),
        )
    ),
)


def measured(held: Held, n: int) -> dict[str, Any]:
    """Return the medians of the times and of their ratio, over rounds that release the array and then the column."""
    mechanism, values = sn.DiscreteLaplace(COUNTS.eps, COUNTS.sensitivity), (np.arange(n) % 1000).astype(held.dtype)
    missing = np.arange(n) % NULL_EVERY == 0 if held.nulls else np.zeros(n, np.bool_)
    column = held.make(values, missing)
    options: dict[str, Any] = {"nulls": held.nulls} if held.nulls else {}
    array = Run(lambda: mechanism.release(values, threads=1), n, time.process_time)
    released = Run(lambda: mechanism.release(column, threads=1, **options), n, time.process_time)
    array.calibrate()
    released.calibrate()
    rounds = [(array.seconds() / array.values, released.seconds() / released.values) for _ in range(ROUNDS)]
    _check(released.drawn, np.where(missing, 0, values), missing, held)
    most = WITH_NULLS if held.nulls else WITHOUT_NULLS
    ratio = statistics.median(mine / arrays for arrays, mine in rounds)
    return {
        "column": held.name,
        "nulls": held.nulls,
        "array_ns": round(statistics.median(arrays for arrays, _ in rounds) * 1e9, 2),
        "column_ns": round(statistics.median(mine for _, mine in rounds) * 1e9, 2),
        "ratio": round(ratio, 2),
        "most": most,
        "met": ratio <= most,
    }


def _check(drawn: Any, values: NDArray[Any], missing: NDArray[np.bool_], held: Held) -> None:
    """Require that the noise has the distribution's moments, and that nulls stay in their places."""
    kept = pd.Series(drawn.to_pandas() if hasattr(drawn, "to_pandas") else drawn)
    where = missing if held.nulls == "keep" else np.zeros(len(values), np.bool_)
    assert np.array_equal(kept.isna().to_numpy(), where)
    COUNTS.check(kept[~where].to_numpy(np.float64) - values[~where])


def record(n: int) -> dict[str, Any]:
    """Measure and print all rows."""
    load, results = machine.load(), []
    for held in HELD:
        results.append(measured(held, n))
        print(line(results[-1]), flush=True)
    return {
        "date": datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(),
        "command": "python -m benches.columns",
        "commit": builds.head(),
        "cpu": machine.cpu(),
        "load_before": load,
        "n": n,
        "null_every": NULL_EVERY,
        "versions": {name: version(name) for name in ("stairnoise", "numpy", "pandas", "polars", "pyarrow")},
        "results": results,
    }


def line(result: dict[str, Any]) -> str:
    """Return a row as a line of a table."""
    nulls = f', nulls="{result["nulls"]}"' if result["nulls"] else ""
    verdict = "met" if result["met"] else "not met"
    return (
        f"{result['column'] + nulls:40} {result['column_ns']:6.2f} ns/row  {result['ratio']:.2f} x the array's  "
        f"<= {result['most']}: {verdict}"
    )


def main(arguments: list[str]) -> None:
    """Measure; write the record of a full run."""
    n = int(float(arguments[0])) if arguments else ROWS
    found = record(n)
    if n == ROWS:
        RECORDS.mkdir(exist_ok=True, parents=True)
        model = re.sub(r"[^a-z0-9]+", "-", f"{found['cpu']['model']} {found['cpu']['family']}".lower()).strip("-")
        path = RECORDS / f"{found['date']}-{model}.json"
        path.write_text(report.as_json(found) + "\n", encoding="utf-8")
        print(f"wrote {path.relative_to(report.ROOT)}")


if __name__ == "__main__":
    main(sys.argv[1:])
