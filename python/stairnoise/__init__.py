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
from stairnoise._errors import BudgetError, CopyError, LazyError, LedgerError, ParameterError, ParameterTypeError, StairnoiseError
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
    from stairnoise.arrays import add_noise
    from stairnoise.bit_generator import SecureBitGenerator
    from stairnoise.calibration import calibrate
    from stairnoise.comparison import Comparison, compare
    from stairnoise.figures.release import plot_release
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
    from stairnoise.mechanisms.no_noise.mechanism import NoNoise
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
    from stairnoise.quantiles.quantile import Quantile, quantile, quantile_accuracy
    from stairnoise.residues import centered_residue

# The bases of mechanisms
__all__ = ["AdditiveMechanism", "Mechanism", "SelectionMechanism"]
# Mechanisms for numbers: with ε alone, with a δ, with several rates, with probabilities of your own
__all__ += ["DiscreteLaplace", "DiscreteStaircase", "Laplace", "Staircase"]
__all__ += ["DiscreteCanonical", "DiscreteGaussian", "Gaussian"]
__all__ += ["TruncatedDiscreteStaircase", "TruncatedLaplace", "TruncatedStaircase"]
__all__ += ["LatticeNoise", "MergedLaplace"]
# For vectors, for categories, in shares
__all__ += ["MultivariateStaircase", "RandomizedResponse"]
__all__ += ["Arete", "GeneralizedDiscreteLaplace", "MultiScaleDiscreteLaplace", "Skellam"]
# One of several candidates, and some of many groups
__all__ += ["ExponentialMechanism", "PartitionSelection", "PermuteAndFlip", "StaircaseSelection"]
# Medians and other quantiles
__all__ += ["Quantile", "quantile", "quantile_accuracy"]
# Noise in one call, the choice of a mechanism and of its shape, sums of releases modulo m, tests of a released count
__all__ += ["Comparison", "add_noise", "calibrate", "compare", "sample"]
__all__ += ["expected_cost", "optimal_cost", "optimal_gamma", "optimal_r"]
__all__ += ["binomial_interval", "binomial_test", "centered_residue"]
# A picture of released values
__all__ += ["plot_release"]
# Guarantees, privacy losses, and the cost of many releases
__all__ += ["Guarantee", "Ledger", "PrivacyLoss", "Spending"]
# No noise, by explicit choice only: the registry does not have it
__all__ += ["NoNoise"]
# Randomness, and the machine
__all__ += ["KeyedRng", "SecureBitGenerator", "SecureRng", "SeededRng"]
__all__ += ["SelftestReport", "__version__", "cpu_tiers", "selftest"]
# Errors
__all__ += ["BudgetError", "CopyError", "LazyError", "LedgerError", "ParameterError", "ParameterTypeError", "StairnoiseError"]

_BASES = ("Mechanism", "AdditiveMechanism", "SelectionMechanism")

# Loaded on first use (PEP 562), so that programs which only draw noise do not wait for the theory.
_MODULES = {
    **{row.class_name: row.module for row in _ROWS},
    **_SELECTIONS,
    **dict.fromkeys(["SelftestReport", "selftest"], "stairnoise._selftest"),
    **dict.fromkeys(["Ledger", "Spending"], "stairnoise.accounting.ledger.ledger"),
    "PrivacyLoss": "stairnoise.accounting.privacy_loss",
    "add_noise": "stairnoise.arrays",
    "SecureBitGenerator": "stairnoise.bit_generator",
    "calibrate": "stairnoise.calibration",
    **dict.fromkeys(["Comparison", "compare"], "stairnoise.comparison"),
    "plot_release": "stairnoise.figures.release",
    **dict.fromkeys(["binomial_interval", "binomial_test"], "stairnoise.inference"),
    "KeyedRng": "stairnoise.keyed.rng",
    "NoNoise": "stairnoise.mechanisms.no_noise.mechanism",
    "AdditiveMechanism": "stairnoise.mechanism.additive",
    "Guarantee": "stairnoise.mechanism.guarantee",
    "Mechanism": "stairnoise.mechanism.base",
    "SelectionMechanism": "stairnoise.mechanism.selection",
    **dict.fromkeys(["expected_cost", "optimal_cost", "optimal_gamma", "optimal_r"], "stairnoise.optimal"),
    **dict.fromkeys(["Quantile", "quantile", "quantile_accuracy"], "stairnoise.quantiles.quantile"),
    "random": "stairnoise.random",
    "centered_residue": "stairnoise.residues",
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
    """Suggest a method of the mechanisms, or a similar name, for an unknown name."""
    if hasattr(__getattr__("Staircase"), name):
        return f"; it is a method of the mechanisms, as in Staircase(eps=1).{name}"
    return _known_name(name, [known for known in __all__ if known not in _BASES])


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
