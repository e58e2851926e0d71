"""Quantiles of an array, and what those of a query share with them.

| file | subject |
|---|---|
| `quantile` | `sn.quantile` and `sn.quantile_accuracy` |
| `plan` | which quantiles are selected, how, and how accurately |
| `lattice` | the public candidates, and the one that stands for a value |
| `ranks` | how far a candidate is from a quantile, and how far the selected one can be |
| `weights` | values as weights of candidates |
| `several` | several quantiles at once |
| `tree` | many quantiles of few candidates |
| `interval` | an interval that holds a quantile |
"""
