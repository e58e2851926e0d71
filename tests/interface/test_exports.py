"""The public names, and the cost of importing them."""

import doctest
import importlib.util
import inspect
import pickle
import subprocess
import sys

import pytest

import stairnoise as sn
from stairnoise.registry import ROWS
from tests.combinations import looped
from tests.examples import BASES

MECHANISMS = [row.class_name for row in ROWS]
SELECTIONS = ["ExponentialMechanism", "PartitionSelection", "PermuteAndFlip", "StaircaseSelection"]
PUBLIC = [
    *MECHANISMS,
    *SELECTIONS,
    "AdditiveMechanism",
    "BudgetError",
    "Comparison",
    "CopyError",
    "Guarantee",
    "KeyedRng",
    "LazyError",
    "Ledger",
    "LedgerError",
    "Mechanism",
    "NoNoise",
    "ParameterError",
    "ParameterTypeError",
    "PrivacyLoss",
    "Quantile",
    "SecureBitGenerator",
    "SecureRng",
    "SeededRng",
    "SelectionMechanism",
    "SelftestReport",
    "Spending",
    "StairnoiseError",
    "__version__",
    "add_noise",
    "binomial_interval",
    "binomial_test",
    "calibrate",
    "centered_residue",
    "compare",
    "cpu_tiers",
    "expected_cost",
    "optimal_cost",
    "optimal_gamma",
    "optimal_r",
    "plot_release",
    "quantile",
    "quantile_accuracy",
    "sample",
    "selftest",
]
OBJECTS = [name for name in PUBLIC if name != "__version__"]


def test_all_is_the_list_of_public_names():
    assert sorted(sn.__all__) == sorted(PUBLIC)


def test_every_name_is_listed_and_an_unknown_one_is_refused():
    assert set(PUBLIC) <= set(dir(sn))
    with pytest.raises(AttributeError, match="module 'stairnoise' has no attribute 'optimal_eps'"):
        _ = sn.optimal_eps


def test_nothing_else_is_public_but_modules():
    others = {name for name in vars(sn) if not name.startswith("_")} - set(sn.__all__)
    assert {name for name in others if not inspect.ismodule(vars(sn)[name])} == set()


@looped("name", OBJECTS)
def test_public_objects_say_that_they_live_in_stairnoise(name):
    assert getattr(sn, name).__module__ == "stairnoise"


@looped("name", OBJECTS)
def test_public_objects_are_documented(name):
    thing = getattr(sn, name)
    assert inspect.getdoc(thing)
    for member, value in inspect.getmembers(thing, lambda value: inspect.isfunction(value) or isinstance(value, property)):
        assert member.startswith("_") or inspect.getdoc(value), member


@looped("name", OBJECTS)
def test_classes_and_functions_pickle_by_reference(name):
    thing = getattr(sn, name)
    assert pickle.loads(pickle.dumps(thing)) is thing


def test_base_classes_are_those_of_every_mechanism():
    for row in ROWS:
        assert issubclass(row.load(), sn.Mechanism)
        assert issubclass(row.load(), sn.AdditiveMechanism) == row.of_numbers
    selections = {name for name in SELECTIONS if issubclass(getattr(sn, name), sn.SelectionMechanism)}
    assert selections == {"ExponentialMechanism", "PermuteAndFlip", "StaircaseSelection"}


@pytest.mark.parametrize("name", sorted(BASES))
def test_a_base_class_is_not_constructed(name):
    with pytest.raises(sn.ParameterTypeError, match=f"^{name} is a base class: construct a mechanism such as "):
        getattr(sn, name)()


@looped("name", [name for name in OBJECTS if inspect.isclass(getattr(sn, name))])
def test_methods_pickle_and_are_named_by_no_private_class(name):
    """Python's errors about arguments begin with the method's qualified name."""
    methods = inspect.getmembers(getattr(sn, name), inspect.isfunction)
    for method, value in methods:
        if method[0] != "_" and value.__module__.startswith("stairnoise"):
            owner, _, last = value.__qualname__.rpartition(".")
            assert last == method
            assert not owner.startswith("_")
            assert pickle.loads(pickle.dumps(value)) is value


def test_an_error_about_arguments_names_the_method():
    with pytest.raises(TypeError, match=r"^Mechanism\.release\(\) missing 1 required positional argument: 'values'"):
        sn.Laplace(1).release()
    with pytest.raises(TypeError, match=r"^Generator\.spawn\(\) missing"):
        sn.SecureRng().spawn()


@looped("name", MECHANISMS + SELECTIONS)
def test_mechanisms_document_their_parameters_errors_source_and_an_example(name):
    text = inspect.getdoc(getattr(sn, name))
    for section in ("Parameters", "Raises", "References", "Examples"):
        assert f"\n{section}\n---" in text


# Packages that the examples of methods need.
NEEDED = {"as_scipy": "scipy", "plot": "matplotlib", "plot_error": "matplotlib", "plot_release": "matplotlib"}


@pytest.mark.parametrize("name", OBJECTS)
def test_examples_run(name):
    for test in doctest.DocTestFinder().find(getattr(sn, name), name, module=False):
        needed = NEEDED.get(test.name.rpartition(".")[2])
        if needed is None or importlib.util.find_spec(needed):
            assert doctest.DocTestRunner().run(test).failed == 0


def test_some_examples_exist():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [t for name in OBJECTS for t in finder.find(getattr(sn, name), name, module=False)]
    assert sum(len(test.examples) for test in found) > 30


@pytest.mark.slow
def test_import_loads_no_optional_dependency():
    code = "import sys, stairnoise; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "stairnoise.rng" in loaded
    heavy = {"typer", "click", "rich", "matplotlib", "scipy", "pandas", "polars", "pyarrow", "dataclasses", "numpy.ma", "sqlite3"}
    assert loaded & (heavy - _loaded_by_numpy()) == set()
    assert not loaded & set(sn._MODULES.values())


def _loaded_by_numpy():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, numpy; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())
