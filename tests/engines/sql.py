"""Queries for SQLite and DuckDB that an optimiser can compute in several ways, and the answers that they must give."""

from typing import Any

from tests.engines.table import EXPECTED, THRESHOLD, above, one_answer

RELEASED = "select g, noisy(g, count(*)) n from persons group by g"
PAIRS = "select a.g, a.n, b.n from r a join r b on a.g is not distinct from b.g order by a.n"

BOTH = {
    "cte": f"with r as ({RELEASED}) {PAIRS}",
    "cte materialized": f"with r as materialized ({RELEASED}) {PAIRS}",
    "cte not materialized": f"with r as not materialized ({RELEASED}) {PAIRS}",
    "subqueries": f"select a.g, a.n, b.n from ({RELEASED}) a join ({RELEASED}) b on a.g is not distinct from b.g",
    "two columns": "select g, noisy(g, count(*)), noisy(g, count(*)) + 0 from persons group by g",
    "union": f"{RELEASED} union all {RELEASED}",
}
ABOVE = {
    "having": f"{RELEASED} having noisy(g, count(*)) > {THRESHOLD} order by 2",
    "filter": f"select g, n, n from ({RELEASED}) r where n > {THRESHOLD}",
}
QUERIES = BOTH | ABOVE


def checked(name: str, rows: Any) -> None:
    """Require that every group in a query's rows has the answer of an array release, and that the condition holds."""
    if name in BOTH:
        assert one_answer(rows) == EXPECTED
    else:
        assert above(rows) == {label: answer for label, answer in EXPECTED.items() if answer > THRESHOLD}
