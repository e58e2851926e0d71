"""The engines of the fixture `engine`; a test that only some of them can run names those."""

import pytest

ENGINES = ("SQLite", "DuckDB", "PostgreSQL", pytest.param("Spark", marks=pytest.mark.long))
