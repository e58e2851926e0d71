"""stairnoise: exact, cryptographically random noise for differential privacy.

Mechanisms for real numbers: `Staircase`, `Laplace`. For integers: `DiscreteStaircase`,
`DiscreteLaplace`. Each has ``release`` to protect true answers and ``sample`` to study the noise.
Other mechanisms cover (ε, δ) releases (`Gaussian`, `DiscreteGaussian`, `TruncatedStaircase`,
`TruncatedDiscreteStaircase`, `TruncatedLaplace`, `DiscreteCanonical`), vectors
(`MultivariateStaircase`), distributed noise (`GeneralizedDiscreteLaplace`,
`MultiScaleDiscreteLaplace`, `Arete`, `Skellam`), categories (`RandomizedResponse`) and selection (`StaircaseSelection`,
`ExponentialMechanism`, `PermuteAndFlip`, `PartitionSelection`). `LatticeNoise` has probabilities
of your own.
"""

import typing as _typing
from importlib import import_module as _import_module

from stairnoise import _lazy
from stairnoise._cpu import cpu_tiers
from stairnoise._errors import (
    BudgetError,
    CopyError,
    LazyError,
    LedgerError,
    ParameterError,
    ParameterTypeError,
    StairnoiseError,
)
from stairnoise._errors import meant as _known_name
from stairnoise._native import __version__
from stairnoise._sample import sample
from stairnoise.registry import ROWS as _ROWS
from stairnoise.registry import SELECTIONS as _SELECTIONS
from stairnoise.rng import SecureRng, SeededRng

if _typing.TYPE_CHECKING:
    from stairnoise._selftest import SelftestReport, selftest
    from stairnoise.accounting.ledger.ledger import Ledger, Spending
    from stairnoise.accounting.privacy_loss import PrivacyLoss
    from stairnoise.bit_generator import SecureBitGenerator
    from stairnoise.calibration import calibrate
    from stairnoise.comparison import Comparison, compare
    from stairnoise.inference import binomial_interval, binomial_test
    from stairnoise.keyed.rng import KeyedRng
    from stairnoise.mechanism.additive import AdditiveMechanism
    from stairnoise.mechanism.base import Mechanism
    from stairnoise.mechanism.guarantee import Guarantee
    from stairnoise.mechanism.selection import SelectionMechanism
    from stairnoise.mechanisms.arete.mechanism import Arete
    from stairnoise.mechanisms.discrete_canonical.mechanism import DiscreteCanonical
    from stairnoise.mechanisms.discrete_gaussian.mechanism import DiscreteGaussian
    from stairnoise.mechanisms.discrete_laplace.mechanism import DiscreteLaplace
    from stairnoise.mechanisms.discrete_staircase.mechanism import DiscreteStaircase
    from stairnoise.mechanisms.exponential_mechanism.mechanism import ExponentialMechanism
    from stairnoise.mechanisms.gaussian.mechanism import Gaussian
    from stairnoise.mechanisms.generalized_discrete_laplace.mechanism import GeneralizedDiscreteLaplace
    from stairnoise.mechanisms.laplace.mechanism import Laplace
    from stairnoise.mechanisms.lattice_noise.mechanism import LatticeNoise
    from stairnoise.mechanisms.merged_laplace.mechanism import MergedLaplace
    from stairnoise.mechanisms.multi_scale_discrete_laplace.mechanism import MultiScaleDiscreteLaplace
    from stairnoise.mechanisms.multivariate_staircase.mechanism import MultivariateStaircase
    from stairnoise.mechanisms.partition_selection.mechanism import PartitionSelection
    from stairnoise.mechanisms.permute_and_flip.mechanism import PermuteAndFlip
    from stairnoise.mechanisms.randomized_response.mechanism import RandomizedResponse
    from stairnoise.mechanisms.skellam.mechanism import Skellam
    from stairnoise.mechanisms.staircase.mechanism import Staircase
    from stairnoise.mechanisms.staircase_selection.mechanism import StaircaseSelection
    from stairnoise.mechanisms.truncated_discrete_staircase.mechanism import TruncatedDiscreteStaircase
    from stairnoise.mechanisms.truncated_laplace.mechanism import TruncatedLaplace
    from stairnoise.mechanisms.truncated_staircase.mechanism import TruncatedStaircase
    from stairnoise.optimal import expected_cost, optimal_cost, optimal_gamma, optimal_r
    from stairnoise.residues import centered_residue

__all__ = [  # noqa: RUF022 - grouped by meaning
    # Their base classes
    "Mechanism",
    "AdditiveMechanism",
    "SelectionMechanism",
    # Mechanisms for numbers
    "Staircase",
    "Laplace",
    "DiscreteStaircase",
    "DiscreteLaplace",
    # With a delta
    "Gaussian",
    "DiscreteGaussian",
    "TruncatedStaircase",
    "TruncatedDiscreteStaircase",
    "TruncatedLaplace",
    "DiscreteCanonical",
    # With several rates
    "MergedLaplace",
    # With probabilities of your own
    "LatticeNoise",
    # For vectors
    "MultivariateStaircase",
    # For categories
    "RandomizedResponse",
    # In shares
    "GeneralizedDiscreteLaplace",
    "MultiScaleDiscreteLaplace",
    "Arete",
    "Skellam",
    # One of several candidates
    "StaircaseSelection",
    "ExponentialMechanism",
    "PermuteAndFlip",
    # Some of many groups
    "PartitionSelection",
    # Noise in one call
    "sample",
    # Choice of a mechanism and of its shape
    "compare",
    "Comparison",
    "calibrate",
    "optimal_gamma",
    "optimal_r",
    "optimal_cost",
    "expected_cost",
    # The sum of releases modulo m
    "centered_residue",
    # What a released count says
    "binomial_test",
    "binomial_interval",
    # What a release promises and reveals
    "Guarantee",
    "PrivacyLoss",
    # What many releases have cost
    "Ledger",
    "Spending",
    # Randomness
    "SecureRng",
    "SeededRng",
    "KeyedRng",
    "SecureBitGenerator",
    # The machine
    "cpu_tiers",
    "selftest",
    "SelftestReport",
    # Errors
    "StairnoiseError",
    "ParameterError",
    "ParameterTypeError",
    "LazyError",
    "CopyError",
    "LedgerError",
    "BudgetError",
    # Version
    "__version__",
]

_BASES = ("Mechanism", "AdditiveMechanism", "SelectionMechanism")

# Loaded on first use (PEP 562), so that programs which only draw noise do not wait for the theory.
_MODULES = {
    **{row.class_name: row.module for row in _ROWS},
    **_SELECTIONS,
    "AdditiveMechanism": "stairnoise.mechanism.additive",
    "Comparison": "stairnoise.comparison",
    "Guarantee": "stairnoise.mechanism.guarantee",
    "KeyedRng": "stairnoise.keyed.rng",
    "Ledger": "stairnoise.accounting.ledger.ledger",
    "Mechanism": "stairnoise.mechanism.base",
    "PrivacyLoss": "stairnoise.accounting.privacy_loss",
    "Spending": "stairnoise.accounting.ledger.ledger",
    "SecureBitGenerator": "stairnoise.bit_generator",
    "SelectionMechanism": "stairnoise.mechanism.selection",
    "SelftestReport": "stairnoise._selftest",
    "binomial_interval": "stairnoise.inference",
    "binomial_test": "stairnoise.inference",
    "calibrate": "stairnoise.calibration",
    "centered_residue": "stairnoise.residues",
    "compare": "stairnoise.comparison",
    "expected_cost": "stairnoise.optimal",
    "optimal_cost": "stairnoise.optimal",
    "optimal_gamma": "stairnoise.optimal",
    "optimal_r": "stairnoise.optimal",
    "random": "stairnoise.random",
    "selftest": "stairnoise._selftest",
}


def __getattr__(name: str) -> _typing.Any:
    if name.startswith("_"):
        return _lazy.lazy_module(__name__, name)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{_meant(name)}")
    module = _import_module(_MODULES[name])
    value = getattr(module, name, module)
    globals()[name] = value
    return value


def _meant(name: str) -> str:
    """Suggest what an unknown name meant: a method of the mechanisms, or a similar name."""
    if hasattr(__getattr__("Staircase"), name):
        return f"; it is a method of the mechanisms, as in Staircase(eps=1).{name}"
    return _known_name(name, [known for known in __all__ if known not in _BASES])


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
