"""Keyed noise, which is a pure function of a secret and of the released values: contract, section 13.

| file | subject |
|---|---|
| `encoding` | every part of an address as bytes |
| `labels` | checks and encoding of labels, fingerprints of rows |
| `release` | releases |
| `rng` | the class `KeyedRng` |
"""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
