"""stairnoise: exact, cryptographically random noise for differential privacy.

Laws of real numbers: `Staircase`, `Laplace`. Laws of integers: `DiscreteStaircase`,
`DiscreteLaplace`. Each has ``release`` to protect true answers and ``sample`` to study the noise.
"""

from stairnoise._compare import compare
from stairnoise._cpu import cpu_tiers
from stairnoise._errors import CopyError, ParameterError, ParameterTypeError, StairnoiseError
from stairnoise._native import __version__
from stairnoise._sample import sample
from stairnoise.discrete_laplace import DiscreteLaplace
from stairnoise.discrete_staircase import DiscreteStaircase
from stairnoise.laplace import Laplace
from stairnoise.rng import SecureRng, SeededRng
from stairnoise.staircase import Staircase

__all__ = [  # noqa: RUF022 - grouped by meaning
    # Laws
    "Staircase",
    "Laplace",
    "DiscreteStaircase",
    "DiscreteLaplace",
    # Noise in one call
    "sample",
    # Which law
    "compare",
    # Randomness
    "SecureRng",
    "SeededRng",
    # The machine
    "cpu_tiers",
    # Errors
    "StairnoiseError",
    "ParameterError",
    "ParameterTypeError",
    "CopyError",
    # Version
    "__version__",
]
