"""Write a SQLite database of the Adult census, one row for each of 32,561 people: python scripts/demo_database.py FILE.

The rows come from the 21 counts that the package ships, marital status by race.
"""

from __future__ import annotations

import csv
import sqlite3
import sys
from importlib.resources import files
from pathlib import Path


def rows() -> list[tuple[str, str]]:
    text = (files("stairnoise") / "data" / "marital_race.csv").read_text(encoding="utf-8")
    groups = csv.DictReader(text.splitlines())
    return [(row["marital_status"], row["race"]) for row in groups for _ in range(int(row["count"]))]


def main(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    con = sqlite3.connect(path)
    with con:
        con.execute("CREATE TABLE adult (marital_status TEXT, race TEXT)")
        con.executemany("INSERT INTO adult VALUES (?, ?)", rows())
    con.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
