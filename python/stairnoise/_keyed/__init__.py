"""Noise that is a pure function of a secret and of what is released: contract, section 13.

| file | subject |
|---|---|
| `encoding` | every part of an address as bytes |
| `labels` | the gate for labels |
| `release` | releases and fingerprints, row by row |
| `rng` | the class `KeyedRng` |
"""
