"""Every public callable, with arguments that it accepts."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import stairnoise as sn
from stairnoise.mechanism.selection import SelectionMechanism
from stairnoise.registry import ROWS

MECHANISMS = ["Staircase", "Laplace", "DiscreteStaircase", "DiscreteLaplace"]

# Arguments by name that some call accepts; a call's own arguments take precedence.
ARGUMENTS: dict[str, Any] = {
    "a": 1.0,
    "allow_release": True,
    "alpha": 0.05,
    "alternative": "less",
    "arrays": np.zeros(3),
    "beta": 0.5,
    "bind": "value",
    "bounds": True,
    "breakpoints": [1.0],
    "candidates": None,
    "cls": sn.Laplace,
    "columns": None,
    "confidence": 0.9,
    "chunk_size": 2,
    "cost": "l1",
    "costs": [1.0, 2.0, 0.5],
    "counts": [0, 7, 100],
    "d_in": 2.0,
    "delta": 1e-6,
    "dim": 3,
    "dtype": None,
    "eps": 1.5,
    "false_alarm": 0.1,
    "gamma": 0.25,
    "granularity": 1.0,
    "index": 3,
    "integers": False,
    "interval": 0.01,
    "k": 2,
    "key": bytes(32),
    "l2_sensitivity": 2.0,
    "labels": None,
    "lam": 0.5,
    "lattice": True,
    "lower": None,
    "max_partitions_contributed": 1,
    "mechanism": "staircase",
    "mechanisms": None,
    "moments": "mvsk",
    "mu": 4.0,
    "monotonic": True,
    "modulus": 7,
    "multiplicities": None,
    "n": 3,
    "n_children": 2,
    "n_parties": 3,
    "norm": "l2",
    "neighbours": "add_remove",
    "nulls": "refuse",
    "of": "value",
    "order": 3,
    "out": None,
    "p": 1.5,
    "pre_threshold": 2,
    "present": 2,
    "q": [0.1, 0.5, 0.9],
    "r": 1,
    "release": "r",
    "released": [1, 2, 3],
    "releases": 2,
    "rows_per_person": 1,
    "scores": None,
    "secret": bytes(32),
    "seed": 7,
    "sensitivity": 2,
    "sigma": None,
    "sigma2": 4.0,
    "scale": None,
    "size": None,
    "statistic": None,
    "std": None,
    "strategy": "laplace",
    "step": 1,
    "t": 3.0,
    "tail_ratio": 0.5,
    "terms": 1,
    "theta": 1.0,
    "threads": None,
    "upper": None,
    "values": [1, 2, 0],
    "weights": [1.0, 2.0, 1.0],
    "x": [0.5, -1.0, 3.0],
}

# Parameters of the registry's first examples, if the list above lacks them.
ARGUMENTS = {name: value for row in ROWS for name, value in row.examples[0].arguments.items()} | ARGUMENTS

OWN_ARGUMENTS: dict[str, dict[str, Any]] = {
    "Arete": {"alpha": 0.5},
    "Arete.for_partitions": {"k": 1},
    # A mechanism with array parameters refuses this argument.
    "DiscreteGaussian.release": {"l2_sensitivity": None},
    "DiscreteCanonical": {"sensitivity": 1},
    "DiscreteCanonical.eps_for_error": {"sensitivity": 1},
    "DiscreteGaussian.rho": {"l2_sensitivity": None},
    "GeneralizedDiscreteLaplace.for_partitions": {"k": 1},
    "GeneralizedDiscreteLaplace.from_eps": {"a": 0.5},
    "Skellam.rdp_bound": {"alpha": 2.5, "sensitivity": 2, "l2_sensitivity": 1.5},
    "KeyedRng.fingerprint": {"labels": ["a", "b", "c"]},
    "LatticeNoise.for_partitions": {"k": 1},
    "MergedLaplace": {"eps": [1.0, 2.0]},
    "MergedLaplace.from_eps": {"eps": 1.5},
    "MultiScaleDiscreteLaplace.privacy_eps": {"sensitivity": None},
    **{f"{name}.sample_chunks": {"size": (2, 3)} for name in (*(row.class_name for row in ROWS), "NoNoise")},
    "add_noise": {"integers": "keep", "std": 0.5},
    "binomial_interval": {"mechanism": sn.DiscreteLaplace(1.5)},
    "binomial_test": {"mechanism": sn.DiscreteLaplace(1.5), "p": 0.25},
    # Several quantiles take several fills.
    "quantile": {"bounds": (0, 3), "q": 0.5, "mechanism": "permute_and_flip", "interval": False},
    "quantile_accuracy": {"candidates": 100, "mechanism": "permute_and_flip"},
    "compare": {"dim": None, "costs": None, "norm": "l1", "releases": None},
    "expected_cost": {"mechanism": sn.Laplace(1.5)},
    "sample": {"gamma": None, "r": None},
}

# Arguments of a release that belong together.
BY_KEY: dict[str, Any] = {"labels": ["a", "b", "c"], "statistic": "count", "rng": sn.KeyedRng(bytes(32), "r")}

# For each class, the mechanisms whose methods are called.
EXAMPLES: dict[str, list[Any]] = {
    **{row.class_name: [row.make(row.examples[0])] for row in ROWS},
    "Staircase": [sn.Staircase(1.5, 2.0, 0.25), sn.Staircase([[0.5], [2.0]], [1.0, 3.0, 10.0])],
    "Laplace": [sn.Laplace(1.5, 2.0), sn.Laplace([[0.5], [2.0]], [1.0, 3.0, 10.0])],
    "DiscreteStaircase": [sn.DiscreteStaircase(1.5, 3, 2), sn.DiscreteStaircase([[0.5], [2.0]], [1, 3, 10])],
    "DiscreteLaplace": [sn.DiscreteLaplace(1.5, 3), sn.DiscreteLaplace([[0.5], [2.0]], [1, 3, 10])],
    "Gaussian": [sn.Gaussian(1.5, 1e-6, 2.0), sn.Gaussian([[0.5], [2.0]], 1e-6, [1.0, 3.0, 10.0])],
    "DiscreteGaussian": [sn.DiscreteGaussian(4.0), sn.DiscreteGaussian([[0.5], [2.0]])],
    "MultivariateStaircase": [sn.MultivariateStaircase(1.5, 2.0, 3, 0.25, "l2")],
    "StaircaseSelection": [sn.StaircaseSelection(1.5, 1)],
    "ExponentialMechanism": [sn.ExponentialMechanism(1.5, 1)],
    "PermuteAndFlip": [sn.PermuteAndFlip(1.5, 1)],
    "PartitionSelection": [
        sn.PartitionSelection(1.5, 1e-3, 2),
        sn.PartitionSelection(1.5, 1e-3, 9),
        sn.PartitionSelection(1.5, 1e-3, 2, "laplace", 3),
    ],
    "NoNoise": [sn.NoNoise()],
    "Comparison": [sn.compare(1.5)],
    "Guarantee": [sn.Laplace(1.5).guarantee()],
    "PrivacyLoss": [sn.Laplace(1.5).privacy_loss(), sn.Staircase(1.5).privacy_loss().compose(3)],
    "KeyedRng": [sn.KeyedRng(bytes(32), "r")],
    "SecureBitGenerator": [sn.SecureBitGenerator(bytes(32))],
    "SecureRng": [sn.SecureRng.from_key(bytes(32))],
    "SeededRng": [sn.SeededRng(1)],
}

# Names that the fuzzer skips, with reasons.
LEFT_OUT: dict[str, str] = {
    "__version__": "a text",
    "Mechanism": "a base class: tests/interface/test_exports.py",
    "AdditiveMechanism": "a base class",
    "SelectionMechanism": "a base class",
    "StairnoiseError": "an exception: it takes what every exception takes",
    "ParameterError": "an exception",
    "ParameterTypeError": "an exception",
    "LazyError": "an exception",
    "CopyError": "an exception",
    "Comparison": "made by compare; its constructor is not for callers",
    "Guarantee": "made by the method guarantee; a record that checks nothing",
    "Quantile": "made by quantile; a record that checks nothing",
    "PrivacyLoss": "made by privacy_loss; its constructor takes nothing and refuses",
    "Comparison.count": "of collections.abc.Sequence",
    "Comparison.index": "of collections.abc.Sequence",
    "SecureBitGenerator.random_raw": "of NumPy's base class",
    "SecureBitGenerator.jumped": "refuses whatever it is given: tests/generators/test_bit_generator.py",
    "SecureBitGenerator.advance": "refuses whatever it is given",
    "selftest": "draws millions of values; tests/selftest/test_selftest.py has its bad arguments",
    "Ledger": "makes files; tests/ledger/test_hostile_arguments.py has its bad arguments",
    "LedgerError": "an exception",
    "BudgetError": "an exception",
    "Spending": "made by Ledger.spend; a record that checks nothing",
    "SelftestReport": "made by selftest; its constructor is not for callers",
    **dict.fromkeys(["plot_error", "plot_release"], "draw with Matplotlib; tests/by_method/test_plot.py has their bad arguments"),
    "plot": "draws with Matplotlib, at 50 ms a call; tests/by_method/test_plot.py has its bad arguments",
}


# Hostile values that the fuzzer skips for some arguments: arguments, values, reason.
SKIPPED: list[tuple[set[str], set[str], str]] = [
    ({"size", "n"}, {"2147483648", "4294967296"}, "memory that some machines have"),
    ({"k", "n_children"}, {"1048576"}, "so many generators take a second"),
    ({"cost"}, {"type", "function", "float32"}, "a function of the caller's, whose errors are its own"),
    ({"mechanisms"}, {"'all'"}, "a good value, that takes seconds"),
]


def is_skipped(argument: str, value: str) -> bool:
    """Return whether a hostile value is skipped for an argument."""
    return any(argument in arguments and value in values for arguments, values, _ in SKIPPED)


class Call(NamedTuple):
    """A public callable with arguments that it accepts."""

    label: str
    function: Callable[..., Any]
    arguments: dict[str, Any]

    def good(self) -> dict[str, Any]:
        """Return the arguments, with a new generator if one draws from a stream."""
        seeded = {"rng": sn.SeededRng(1, allow_release=True)} if self.arguments.get("rng", self) is None else {}
        return self.arguments | seeded

    def __str__(self) -> str:
        return self.label


def calls() -> Iterator[Call]:
    """Return every public callable that takes an argument; methods once for each example."""
    for name, thing in members():
        if name in LEFT_OUT:
            continue
        found = _call(name, thing)
        if found.arguments:
            yield found
    for mechanism in (EXAMPLES["DiscreteLaplace"][0], EXAMPLES["Laplace"][0]):
        found = _call(f"{type(mechanism).__name__}.release by key", mechanism.release)
        yield found._replace(arguments=found.arguments | BY_KEY)
    mechanism = EXAMPLES["PermuteAndFlip"][0]
    for method in (
        mechanism.select,
        mechanism.sample,
        mechanism.top,
        mechanism.probabilities,
        mechanism.log_probabilities,
        mechanism.expected_cost,
    ):
        found = _call(f"PermuteAndFlip.{method.__name__}", method)
        yield found._replace(label=f"{found.label} by scores", arguments=found.arguments | {"costs": None, "scores": [3, 1, 2]})
    for name, width, others in (
        ("Gaussian", "sigma", ("eps", "delta")),
        ("Gaussian", "std", ("eps", "delta", "sensitivity")),
        ("Laplace", "scale", ("eps", "sensitivity")),
        ("Laplace", "std", ("eps", "sensitivity")),
        ("DiscreteGaussian", "sigma", ("sigma2",)),
    ):
        found = _call(name, getattr(sn, name))
        arguments = found.arguments | dict.fromkeys(others) | {width: 2.0}
        yield found._replace(label=f"{name} by {width}", arguments=arguments)


def members() -> Iterator[tuple[str, Any]]:
    """Yield names and callables for everything public: functions, classes, and methods of every example."""
    for name in sn.__all__:
        thing = getattr(sn, name)
        yield name, thing
        if not inspect.isclass(thing) or issubclass(thing, Exception) or (name in LEFT_OUT and name not in EXAMPLES):
            continue
        for member, attribute in inspect.getmembers(thing):
            if member.startswith("_") or not callable(attribute) or member in LEFT_OUT:
                continue
            if inspect.ismethod(attribute):
                yield f"{name}.{member}", attribute
            else:
                yield from (
                    (f"{name}.{member}", getattr(example, member)) for example in EXAMPLES[name] if takes(example, member)
                )


def takes(example: Any, method: str) -> bool:
    """Return whether a method accepts any arguments; with array parameters, a mechanism can refuse all."""
    return method not in ("privacy_map", "release_modulo") or not example._parameter_shape


_NONE = object()
# Noise alone whose scale is so small that a change by 1 has no privacy.
_NO_PRIVACY = ("sensitivity must be at most 2**20 times the scale", "sensitivity must be at most 2**20 times the std")
_LISTED = "eps/max_partitions_contributed must leave at most 2**22 values of noise"
_MAY_REFUSE = {"noise_mean": _LISTED, "noise_std": _LISTED, "privacy_loss": "max_partitions_contributed must be at most 2**14"}


def _call(label: str, function: Callable[..., Any]) -> Call:
    own = {"size": 3} if label.endswith(".privacy_map") else OWN_ARGUMENTS.get(label, {})
    parameters = inspect.signature(function).parameters
    optional = "sensitivity" in parameters and parameters["sensitivity"].default is None
    # A mechanism made for one sensitivity refuses another one in its methods.
    if optional and inspect.ismethod(function) and not getattr(function.__self__, "_any_sensitivity", False):
        own = {"sensitivity": None} | own
    names = named(function)
    arguments = {name: None if name == "rng" else own[name] if name in own else ARGUMENTS[name] for name in names}
    return Call(label, function, arguments)


def readings(thing: Any) -> Iterator[tuple[str, Any]]:
    """Read every property of a returned object, and call every method that needs no argument."""
    for name in dir(type(thing)):
        # The state of a bit generator can be neither read nor jumped: tests/generators/test_bit_generator.py.
        if name.startswith(("_", "plot")) or name in ("as_scipy", "to_dp_accounting", "to_frame", "reseed", "state", "jumped"):
            continue
        try:
            value = _reading(thing, name)
        except sn.ParameterError as error:
            # A result that is too long to list or compose is refused, by the name of the responsible argument.
            selection = type(thing) is sn.PartitionSelection and str(error).startswith(_MAY_REFUSE.get(name, "never"))
            if not selection and not str(error).startswith(_NO_PRIVACY):
                raise
            continue
        if value is not _NONE:
            yield name, value


def _reading(thing: Any, name: str) -> Any:
    """Return the value of a property, or of a method that needs no argument."""
    attribute = getattr(type(thing), name)
    value = getattr(thing, name)
    if isinstance(attribute, property) or not callable(value):
        return value
    if not inspect.ismethod(value) or inspect.isclass(value.__self__):
        return _NONE
    if name == "guarantee" and getattr(thing, "_stated", False) is None:
        return _NONE
    # A selection needs one of two arguments, so neither is required by itself.
    if isinstance(thing, SelectionMechanism) and name in ("select", "top", "probabilities", "log_probabilities", "expected_cost"):
        return _NONE
    return _NONE if name in ("sample", "release") or _required(value) else value()


def named(function: Callable[..., Any]) -> list[str]:
    """Return the names of parameters that have a name."""
    return list(_parameters(function))


def _parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Return the parameters that have a name; if a method takes `**options`, add those of the overridden method."""
    found = dict(inspect.signature(function).parameters)
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in found.values()) and inspect.ismethod(function):
        above = [vars(base).get(function.__name__) for base in type(function.__self__).__mro__]
        overridden = [method for method in above if method not in (None, function.__func__)]
        for method in overridden[:1]:
            found |= {name: p for name, p in inspect.signature(method).parameters.items() if name not in ("self", *found)}
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {name: p for name, p in found.items() if p.kind not in several}


def _required(function: Callable[..., Any]) -> list[str]:
    parameters = _parameters(function)
    return [name for name in named(function) if parameters[name].default is inspect.Parameter.empty]
