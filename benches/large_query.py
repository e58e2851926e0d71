"""Time and memory of a count of people in a table of 10⁸ rows, in DuckDB and in Spark.

python -m benches.large_query       # into record/queries; needs the group `spark`, Java, and 20 GB of disk
python -m benches.large_query 1e6   # fewer rows, printed only

Each engine has a process of its own. A person has five rows on average, in up to 20 cities, and counts in two of them.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benches import builds, machine, report
from benches.peers import version

ROWS, ROWS_OF_A_PERSON, CITIES = 10**8, 5, 20
# Of each engine; the operating system and the files' pages take the rest.
MEMORY_GB = 6
RECORDS = Path(__file__).resolve().parent / "record" / "queries"
MAKE = """
    copy (
        select (hash(i) % {people})::bigint as person, 'city ' || hash(i + {rows}) % {cities} as city
        from range({rows}) as rows(i)
    ) to '{path}' (format parquet)
"""


def main(rows: int) -> None:
    """Measure each engine; write the record of a full run."""
    load = machine.load()
    with tempfile.TemporaryDirectory(prefix="stairnoise-large-") as folder:
        path = Path(folder) / "visits.parquet"
        make(path, rows)
        results = [measured(engine, path) for engine in ENGINES]
    found = {
        "date": datetime.datetime.now(tz=datetime.timezone.utc).date().isoformat(),
        "command": "python -m benches.large_query",
        "commit": builds.head(),
        "cpu": machine.cpu(),
        "load_before": load,
        "load_after": machine.load(),
        "cores": os.cpu_count(),
        "n": rows,
        "people": rows // ROWS_OF_A_PERSON,
        "gigabytes_allowed": MEMORY_GB,
        "versions": {name: version(name) for name in ("stairnoise", "duckdb", "pyspark")},
        "results": results,
    }
    print(report.as_json(found))
    if rows == ROWS:
        RECORDS.mkdir(exist_ok=True, parents=True)
        model = re.sub(r"[^a-z0-9]+", "-", f"{found['cpu']['model']} {found['cpu']['family']}".lower()).strip("-")
        (RECORDS / f"{found['date']}-{model}.json").write_text(report.as_json(found) + "\n", encoding="utf-8")


def make(path: Path, rows: int) -> None:
    """Write the table."""
    import duckdb

    duckdb.sql(MAKE.format(people=rows // ROWS_OF_A_PERSON, rows=rows, cities=CITIES, path=path))


def measured(engine: str, path: Path) -> dict[str, Any]:
    """Return the seconds of a query, and the peak memory and the processor time of its processes, starts included."""
    result: dict[str, Any] = {"engine": engine}
    run = [sys.executable, "-m", "benches.large_query", engine, str(path)]
    begin = time.perf_counter()
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        seen = {"gigabytes": 0.0, "processor_seconds": 0.0}
        watch = threading.Thread(target=watched, args=(process, seen))
        watch.start()
        said, _ = process.communicate()
        watch.join()
    if process.returncode:
        return result | {"failed": process.returncode, "seconds": round(time.perf_counter() - begin, 1)}
    return result | json.loads(said.splitlines()[-1]) | {name: round(value, 2) for name, value in seen.items()}


def watched(process: subprocess.Popen[str], seen: dict[str, float]) -> None:
    """Sum memory and processor time of a process and of those that it started, several times a second."""
    import psutil

    own = psutil.Process(process.pid)
    while process.poll() is None:
        memory = seconds = 0.0
        for one in (own, *children(own)):
            try:
                memory += one.memory_info().rss / 1e9
                seconds += sum(one.cpu_times()[:2])
            except psutil.Error:
                continue
        seen["gigabytes"] = max(seen["gigabytes"], memory)
        seen["processor_seconds"] = max(seen["processor_seconds"], seconds)
        time.sleep(0.2)


def children(process: Any) -> list[Any]:
    import psutil

    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def of_duckdb(path: str) -> Any:
    import duckdb

    con = duckdb.connect(config={"memory_limit": f"{MEMORY_GB}GB", "temp_directory": str(Path(path).parent / "duckdb")})
    con.execute(f"create view visits as select * from '{path}'")
    return con, "visits"


def of_spark(path: str) -> Any:
    from pyspark.sql import SparkSession

    options = {
        "spark.master": f"local[{os.cpu_count()}]",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": f"{MEMORY_GB}g",
        "spark.local.dir": str(Path(path).parent / "spark"),
        "spark.ui.enabled": "false",
    }
    return SparkSession.builder.config(map=options).getOrCreate().read.parquet(path), None


ENGINES: dict[str, Callable[[str], Any]] = {"DuckDB": of_duckdb, "Spark": of_spark}


def ask(engine: str, path: str) -> None:
    """Ask once, and print what was seen. The start of the engine is not timed."""
    from stairnoise import query

    source, table = ENGINES[engine](path)
    cities = [f"city {place}" for place in range(CITIES)]
    begin = time.perf_counter()
    found = query.count(source, table, by="city", groups=cities, person="person", max_groups=2, eps=1)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": round(seconds, 1), "counted": sum(row[1] for row in found)}))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        ask(sys.argv[1], sys.argv[2])
    else:
        main(int(float(sys.argv[1])) if len(sys.argv) == 2 else ROWS)
