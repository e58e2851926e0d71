"""A ledger of the privacy budget that releases have spent.

| file | subject |
|---|---|
| `costs` | what a release costs, and what several cost together |
| `file` | the SQLite file: opening, locking, errors |
| `rows` | its rows: read and checked, found again, written |
| `ledger` | the class `Ledger` |
"""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
