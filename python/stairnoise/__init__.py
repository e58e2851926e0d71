"""stairnoise: exact, cryptographically random noise for differential privacy.

Laws of real numbers: `Staircase`, `Laplace`. Laws of integers: `DiscreteStaircase`,
`DiscreteLaplace`. Each has ``release`` to protect true answers and ``sample`` to study the noise.
Their relatives are for releases with a δ (`Gaussian`, `DiscreteGaussian`, `TruncatedLaplace`), for
vectors (`MultivariateStaircase`), for noise in shares (`GeneralizedDiscreteLaplace`,
`MultiScaleDiscreteLaplace`, `Arete`) and for choices (`StaircaseSelection`, `ExponentialMechanism`).
"""

import typing as _typing

from stairnoise._cpu import cpu_tiers
from stairnoise._errors import CopyError, ParameterError, ParameterTypeError, StairnoiseError
from stairnoise._native import __version__
from stairnoise._sample import sample
from stairnoise.discrete_laplace import DiscreteLaplace
from stairnoise.discrete_staircase import DiscreteStaircase
from stairnoise.laplace import Laplace
from stairnoise.rng import SecureRng, SeededRng
from stairnoise.staircase import Staircase

if _typing.TYPE_CHECKING:
    from stairnoise._selftest import SelftestReport, selftest
    from stairnoise.arete import Arete
    from stairnoise.comparison import Comparison, compare
    from stairnoise.discrete_gaussian import DiscreteGaussian
    from stairnoise.gaussian import Gaussian
    from stairnoise.generalized_discrete_laplace import GeneralizedDiscreteLaplace
    from stairnoise.merged_laplace import MergedLaplace
    from stairnoise.multi_scale_discrete_laplace import MultiScaleDiscreteLaplace
    from stairnoise.multivariate_staircase import MultivariateStaircase
    from stairnoise.optimal import expected_cost, optimal_cost, optimal_gamma, optimal_r
    from stairnoise.privacy import PrivacyLoss
    from stairnoise.selection import ExponentialMechanism, StaircaseSelection
    from stairnoise.truncated_laplace import TruncatedLaplace

__all__ = [  # noqa: RUF022 - grouped by meaning
    # Laws
    "Staircase",
    "Laplace",
    "DiscreteStaircase",
    "DiscreteLaplace",
    # With a delta
    "Gaussian",
    "DiscreteGaussian",
    "TruncatedLaplace",
    # Of several rates
    "MergedLaplace",
    # For vectors
    "MultivariateStaircase",
    # In shares
    "GeneralizedDiscreteLaplace",
    "MultiScaleDiscreteLaplace",
    "Arete",
    # One of several candidates
    "StaircaseSelection",
    "ExponentialMechanism",
    # Noise in one call
    "sample",
    # Which law, which shape
    "compare",
    "Comparison",
    "optimal_gamma",
    "optimal_r",
    "optimal_cost",
    "expected_cost",
    # What it reveals
    "PrivacyLoss",
    # Randomness
    "SecureRng",
    "SeededRng",
    # The machine
    "cpu_tiers",
    "selftest",
    "SelftestReport",
    # Errors
    "StairnoiseError",
    "ParameterError",
    "ParameterTypeError",
    "CopyError",
    # Version
    "__version__",
]

# Loaded when first asked for (PEP 562): who only draws noise does not wait for the theory.
_MODULES = {
    "Arete": "arete",
    "Comparison": "comparison",
    "DiscreteGaussian": "discrete_gaussian",
    "ExponentialMechanism": "selection",
    "Gaussian": "gaussian",
    "GeneralizedDiscreteLaplace": "generalized_discrete_laplace",
    "MergedLaplace": "merged_laplace",
    "MultiScaleDiscreteLaplace": "multi_scale_discrete_laplace",
    "MultivariateStaircase": "multivariate_staircase",
    "PrivacyLoss": "privacy",
    "SelftestReport": "_selftest",
    "StaircaseSelection": "selection",
    "TruncatedLaplace": "truncated_laplace",
    "compare": "comparison",
    "expected_cost": "optimal",
    "optimal_cost": "optimal",
    "optimal_gamma": "optimal",
    "optimal_r": "optimal",
    "selftest": "_selftest",
}


def __getattr__(name: str) -> _typing.Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
