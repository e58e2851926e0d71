"""Writers of tests/vectors/*.json; run `python -m tests.oracles.generate` from the root of the repository.

One module per file. Each has `entries()`, a deterministic list, and each entry can be computed alone from its inputs, so that
tests recompute a sample without regenerating the file.
"""
