"""Columns of other libraries: a release takes objects of pandas, Polars and PyArrow, and returns the same kind.

| file | subject |
|---|---|
| `libraries` | the library of a value, by its type; lazy values are refused |
| `column` | a column as plain numbers, places of nulls, and a function that makes a column of the library again |
| `reading` | the true answers of a column; errors of libraries, which can hold data |
| `of_pandas`, `of_polars`, `of_arrow` | one library each; they find it in `sys.modules` and import nothing |
| `categories` | values out of declared categories |
| `release` | the release of a column, and of the named columns of a frame |
"""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
