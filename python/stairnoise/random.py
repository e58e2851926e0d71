"""`default_rng` for Dask, which looks for it in the module `random` of the package of a bit generator."""

from __future__ import annotations

import numpy as np

from stairnoise.bit_generator import SecureBitGenerator


def default_rng(bit_generator: SecureBitGenerator | None = None) -> np.random.Generator:
    """Return NumPy's `Generator` on a `SecureBitGenerator`. None: a new one."""
    return np.random.Generator(SecureBitGenerator() if bit_generator is None else bit_generator)
