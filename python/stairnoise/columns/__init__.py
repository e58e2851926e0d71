"""Columns of other libraries: what pandas, Polars and PyArrow hold goes in, and the same comes out.

| file | what it does |
|---|---|
| `libraries` | whose value this is, by its type; lazy values are refused |
| `column` | what the libraries' files return: plain numbers, the places of nulls, and how a column is made again |
| `reading` | the file of a library; errors of libraries, which may hold data |
| `of_pandas`, `of_polars`, `of_arrow` | one library each; they find it in `sys.modules` and import nothing |
| `answers` | the true answers of a column, and what a null is |
| `categories` | values that are one of declared categories |
| `release` | the release of a column, and of the named columns of a frame |
"""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
