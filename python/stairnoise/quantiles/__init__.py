"""Quantiles of an array.

| file | subject |
|---|---|
| `quantile` | `sn.quantile` and `sn.quantile_accuracy` |
| `lattice` | the public candidates, and the one that stands for a value |
| `ranks` | how far a candidate is from a quantile, and how far the selected one can be |
| `several` | several quantiles at once |
"""
