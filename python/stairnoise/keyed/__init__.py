"""Noise that is a pure function of a secret and of what is released: contract, section 13.

| file | subject |
|---|---|
| `encoding` | every part of an address as bytes |
| `fingerprint` | fingerprints of rows |
| `labels` | the gate for labels |
| `release` | releases |
| `rng` | the class `KeyedRng` |
"""

from stairnoise._lazy import load_on_demand

load_on_demand(__name__)
