"""The registry: one row for each mechanism that adds noise.

`sample`, `compare`, the command line, the self-test and the tests of all mechanisms read it and have no lists of their own.
The rows are plain data. A class is loaded on first use, so importing this module imports no mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from stairnoise._options import TypedDict
    from stairnoise._types import Array, Number

    class Parameters(TypedDict, total=False):
        """Parameters of mechanisms that `sample` takes, besides those that it names; arrays have types of their own there."""

        lower: Number | None
        upper: Number | None
        breakpoints: Number | Sequence[Number]
        weights: Array
        tail_ratio: Number | None
        granularity: Number
        alpha: Number
        theta: Number
        lam: Number
        beta: Number
        a: Number
        mu: Number
        n_parties: int
        present: int
        dim: int
        norm: Literal["l1", "l2", "linf"]
        categories: int | Sequence[str] | Sequence[int]


OfReals = Literal["staircase", "laplace", "merged_laplace", "arete", "truncated_laplace", "truncated_staircase", "gaussian"]
OfIntegers = Literal[
    "discrete_staircase",
    "discrete_laplace",
    "generalized_discrete_laplace",
    "lattice_noise",
    "multi_scale_discrete_laplace",
    "truncated_discrete_staircase",
    "discrete_canonical",
    "discrete_gaussian",
    "skellam",
    "randomized_response",
]
OfVectors = Literal["multivariate_staircase"]
MechanismName = Literal[OfReals, OfIntegers, OfVectors]
Group = Literal["one number", "with a delta", "several rates", "shares", "vectors", "given weights", "categories"]
NOTHING: Mapping[str, tuple[str, ...]] = MappingProxyType({})


class Example(NamedTuple):
    """Arguments of a mechanism's class, or of its class method `by`."""

    arguments: dict[str, Any]
    by: str = ""


class Compared(NamedTuple):
    """A line of `compare`: its name, and how to make the mechanism for an ε, a sensitivity and perhaps a δ."""

    name: str
    baseline: str
    """Name of the line whose error divides the error of this line."""
    takes: tuple[str, ...] = ("eps", "sensitivity")
    """First arguments, in order; "change" is the sensitivity as an integer."""
    fixed: tuple[Any, ...] = ()
    """Other arguments, after those of `takes`."""
    by: str = ""
    """The class method that makes the mechanism; "" means the class itself."""
    when: Literal["always", "delta", "named"] = "always"
    """Whether `compare` shows it always, with a delta, or only if the caller names it."""
    given: bool = False
    """Whether the sensitivity must be given, because the mechanism stores its noise alone."""


class Row(NamedTuple):
    """The facts about a mechanism that are known before its class is loaded."""

    name: MechanismName
    """Name in ``sample(mechanism=...)``, and of the file."""
    kind: Literal["continuous", "discrete", "vector", "category"]
    """Whether a value is a number on a lattice finer than the integers, an integer, a vector, or one of several categories."""
    group: Group
    """Purpose, by which the documentation groups the mechanisms."""
    examples: tuple[Example, ...]
    """Examples that together take every path through the sampler."""
    arrays: Example | None = None
    """An example with array parameters; None if parameters must be single numbers."""
    compared: tuple[Compared, ...] = ()
    instead: Mapping[str, tuple[str, ...]] = NOTHING
    """A parameter that replaces others, and these others: they have no default, but can be None."""
    sampled: bool = True
    """Whether ``stairnoise sample`` offers it, because its parameters are single numbers and words."""
    released: bool = False
    """Whether ``stairnoise release`` offers it, because ε and a sensitivity are enough to make it."""

    @property
    def of_numbers(self) -> bool:
        """Whether the mechanism adds noise to single numbers."""
        return self.kind in ("continuous", "discrete")

    @property
    def class_name(self) -> str:
        """Name of the class: "discrete_laplace" is `DiscreteLaplace`."""
        return "".join(map(str.capitalize, self.name.split("_")))

    @property
    def module(self) -> str:
        """Name of the module that has the class."""
        return f"stairnoise.mechanisms.{self.name}.mechanism"

    def load(self) -> Any:
        """Load and return the class."""
        return _class(self.module, self.class_name)

    def make(self, example: Example) -> Any:
        """Return the mechanism of an example."""
        mechanism = self.load()
        return (getattr(mechanism, example.by) if example.by else mechanism)(**example.arguments)

    def mechanisms(self) -> tuple[Any, ...]:
        """Return the mechanisms of all examples with single parameters."""
        return tuple(map(self.make, self.examples))


@cache
def _class(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


def _example(by: str = "", **arguments: Any) -> Example:
    return Example(arguments, by)


def _for_each_cost(name: str, baseline: str, **others: Any) -> tuple[Compared, ...]:
    """Return the lines of the shapes that minimise E|X| and E X²."""
    return tuple(Compared(f"{name} {cost}", baseline, fixed=(cost,), **others) for cost in ("l1", "l2"))


ROWS: tuple[Row, ...] = (
    Row(
        "staircase",
        "continuous",
        "one number",
        (
            _example(eps=1.0, sensitivity=1.0),
            _example(eps=6.0, sensitivity=0.3, gamma="l2"),
            _example(eps=0.05, sensitivity=10.0, gamma=0.25),
        ),
        arrays=_example(eps=(0.1, 1.0, 6.0), sensitivity=(1.0, 2.0, 5.0)),
        compared=_for_each_cost("Staircase", "Laplace"),
        released=True,
    ),
    Row(
        "discrete_staircase",
        "discrete",
        "one number",
        (_example(eps=1.0, sensitivity=5), _example(eps=0.3, sensitivity=100, r=30), _example(eps=2.0, sensitivity=1)),
        arrays=_example(eps=(0.1, 1.0, 6.0), sensitivity=(1, 2, 5)),
        compared=_for_each_cost("DiscreteStaircase", "DiscreteLaplace"),
        released=True,
    ),
    Row(
        "laplace",
        "continuous",
        "one number",
        (_example(eps=1.0, sensitivity=1.0), _example(eps=0.01, sensitivity=3.0), _example(scale=3.0)),
        arrays=_example(eps=(0.1, 1.0, 6.0), sensitivity=(1.0, 2.0, 5.0)),
        compared=(Compared("Laplace", "Laplace"),),
        instead={"scale": ("eps",), "std": ("eps",)},
        released=True,
    ),
    Row(
        "discrete_laplace",
        "discrete",
        "one number",
        (_example(eps=1.0, sensitivity=1), _example(eps=0.1, sensitivity=3)),
        arrays=_example(eps=(0.1, 1.0, 6.0), sensitivity=(1, 2, 5)),
        compared=(Compared("DiscreteLaplace", "DiscreteLaplace"),),
        released=True,
    ),
    Row(
        "merged_laplace",
        "continuous",
        "several rates",
        (_example(eps=[0.2, 0.5, 1.0], breakpoints=[1.0, 3.0], sensitivity=1.0),),
        compared=(Compared("MergedLaplace", "Laplace", by="from_eps", when="named"),),
        sampled=False,
    ),
    Row(
        "arete",
        "continuous",
        "shares",
        (_example(alpha=0.5, theta=1.0, lam=0.25), _example(alpha=0.5, theta=1.0, lam=0.25, n_parties=10)),
        compared=(Compared("Arete", "Laplace", by="from_eps", when="named", given=True),),
    ),
    Row(
        "truncated_laplace",
        "continuous",
        "with a delta",
        (_example(eps=1.0, delta=1e-6, sensitivity=1.0), _example(eps=0.5, delta=1e-3, sensitivity=1.0, upper=20.0)),
        compared=(Compared("TruncatedLaplace", "Laplace", ("eps", "delta", "sensitivity"), when="delta"),),
    ),
    Row(
        "truncated_staircase",
        "continuous",
        "with a delta",
        (
            _example(eps=1.0, delta=1e-6, sensitivity=1.0),
            _example(eps=4.0, delta=1e-3, sensitivity=1.0, gamma=0.25, lower=0.0),
            _example(eps=0.05, delta=1e-6, sensitivity=10.0, gamma="l2"),
        ),
        compared=_for_each_cost("TruncatedStaircase", "Laplace", takes=("eps", "delta", "sensitivity"), when="delta"),
    ),
    Row(
        "gaussian",
        "continuous",
        "with a delta",
        (_example(eps=1.0, delta=1e-6, sensitivity=1.0), _example(std=3.0)),
        arrays=_example(eps=(0.1, 1.0, 6.0), delta=(1e-6, 1e-6, 1e-3), sensitivity=(1.0, 2.0, 5.0)),
        compared=(Compared("Gaussian", "Laplace", ("eps", "delta", "sensitivity"), when="delta"),),
        instead={"sigma": ("eps", "delta"), "std": ("eps", "delta")},
    ),
    Row(
        "generalized_discrete_laplace",
        "discrete",
        "shares",
        (_example(beta=1.5, a=0.4), _example(beta=1.5, a=0.4, n_parties=10)),
        compared=(
            Compared("GeneralizedDiscreteLaplace", "DiscreteLaplace", ("eps", "change"), by="from_eps", when="named", given=True),
        ),
    ),
    Row(
        "multi_scale_discrete_laplace",
        "discrete",
        "shares",
        (_example(eps=1.0, sensitivity=3), _example(eps=1.0, sensitivity=3, n_parties=5, present=4)),
        compared=(Compared("MultiScaleDiscreteLaplace", "DiscreteLaplace", ("eps", "change"), when="named"),),
    ),
    Row(
        "truncated_discrete_staircase",
        "discrete",
        "with a delta",
        (
            _example(eps=1.0, delta=1e-6, sensitivity=10),
            _example(eps=0.3, delta=1e-3, sensitivity=3, r=2, lower=0),
            _example(eps=0.05, delta=1e-6, sensitivity=10, r="l2"),
        ),
        compared=_for_each_cost("TruncatedDiscreteStaircase", "DiscreteLaplace", takes=("eps", "delta", "change"), when="delta"),
    ),
    Row(
        "discrete_canonical",
        "discrete",
        "with a delta",
        (
            _example(eps=1.0, delta=1e-6, sensitivity=1),
            _example(eps=0.1, delta=0.01, sensitivity=1),
            _example(eps=0.5, delta=0.0, sensitivity=1),
        ),
        compared=(Compared("DiscreteCanonical", "DiscreteLaplace", ("eps", "delta", "change"), when="delta"),),
    ),
    Row(
        "discrete_gaussian",
        "discrete",
        "with a delta",
        (_example(sigma2=0.25), _example(sigma2=150.0)),
        arrays=_example(sigma2=(0.25, 9.0, 150.0)),
        compared=(Compared("DiscreteGaussian", "DiscreteLaplace", ("eps", "delta", "change"), by="from_eps", when="delta"),),
        instead={"sigma": ("sigma2",)},
    ),
    Row(
        "lattice_noise",
        "discrete",
        "given weights",
        (
            _example(weights=[1.0, 2.0, 4.0, 2.0, 1.0], tail_ratio=0.5, sensitivity=1),
            _example(weights=[1.0, 0.0, 2.0, 30.0, 800.0, 9000.0, 5000.0, 50.0, 0.5], sensitivity=2),
            _example("from_pmf", weights=[float(12 - abs(k)) for k in range(-10, 11)], tail_ratio=0.875, sensitivity=3),
        ),
        sampled=False,
    ),
    Row(
        "skellam",
        "discrete",
        "shares",
        (_example(mu=0.5), _example(mu=150.0), _example(mu=150.0, n_parties=10)),
        compared=(Compared("Skellam", "DiscreteLaplace", ("eps", "delta", "change"), by="from_eps", when="named"),),
    ),
    Row(
        "randomized_response",
        "category",
        "categories",
        (_example(eps=1.0, categories=3), _example(eps=4.0, categories=2), _example(eps=0.1, categories=5)),
        sampled=False,
    ),
    Row(
        "multivariate_staircase",
        "vector",
        "vectors",
        (
            _example(eps=1.0, sensitivity=1.0, dim=2, norm="l1"),
            _example(eps=4.0, sensitivity=1.0, dim=3, norm="l1"),
            _example(eps=1.0, sensitivity=1.0, dim=2, norm="l2"),
            _example(eps=4.0, sensitivity=1.0, dim=3, norm="l2"),
            _example(eps=2.0, sensitivity=1.0, dim=3, norm="linf"),
        ),
    ),
)

# The classes of mechanisms that select candidates or groups, and their modules.
SELECTIONS = {
    "StaircaseSelection": "stairnoise.mechanisms.staircase_selection.mechanism",
    "ExponentialMechanism": "stairnoise.mechanisms.exponential_mechanism.mechanism",
    "PermuteAndFlip": "stairnoise.mechanisms.permute_and_flip.mechanism",
    "PartitionSelection": "stairnoise.mechanisms.partition_selection.mechanism",
}

BY_NAME: dict[str, Row] = {row.name: row for row in ROWS}
_NAMES: dict[str, MechanismName] = {row.class_name: row.name for row in ROWS}


def load(name: MechanismName) -> Any:
    """Return the class of a mechanism by its name in ``sample(mechanism=...)``."""
    return BY_NAME[name].load()


def load_selection(name: str) -> Any:
    """Return the class of a mechanism that selects, by its name."""
    return _class(SELECTIONS[name], name)


def name_of(mechanism: Any) -> MechanismName:
    """Return the name of a mechanism's class, or of the base class that has one."""
    return next(_NAMES[kind.__name__] for kind in type(mechanism).__mro__ if kind.__name__ in _NAMES)
