"""The registry's facts about every mechanism are true, and every mechanism has the common methods."""

import inspect
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.mechanism.additive import AdditiveMechanism
from stairnoise.mechanism.array_gaussian import GaussianArrays
from stairnoise.mechanism.array_parameters import ArrayParameters
from stairnoise.mechanism.base import Mechanism
from stairnoise.mechanism.continuous import ContinuousMechanism
from stairnoise.mechanism.discrete import DiscreteMechanism
from stairnoise.registry import ROWS, load
from tests.examples import DIVIDED

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
BASES = {"continuous": ContinuousMechanism, "discrete": DiscreteMechanism, "vector": Mechanism, "category": Mechanism}


@each_row
def test_every_mechanism_answers_the_questions_itself(row):
    mechanism = row.load()
    questions = ["_divided_among", "_named_arguments", "guarantee", "_promise", "_exact_parameters"]
    if row.kind != "category":
        questions.append("_functions")
    if row.kind != "vector":
        questions.append("_loss")
    if row.of_numbers:
        questions += ["_sum_bound", "_edges", "_laplace", "_expected_cost", "_frozen"]
    if issubclass(mechanism, ArrayParameters):
        questions.append("_least_eps")
    if issubclass(mechanism, GaussianArrays):
        questions.append("_element")
    for name in questions:
        assert callable(inspect.getattr_static(mechanism, name).__get__(None, mechanism)), name


@each_row
def test_rows_say_what_the_classes_are(row):
    mechanism = row.load()
    assert mechanism is getattr(sn, row.class_name) is load(row.name)
    assert issubclass(mechanism, BASES[row.kind])
    assert issubclass(mechanism, AdditiveMechanism) == row.of_numbers
    assert issubclass(mechanism, (ArrayParameters, GaussianArrays)) == (row.arrays is not None)
    assert {made._integers for made in row.mechanisms()} == {row.kind in ("discrete", "category")}
    assert Path(mechanism.__init__.__code__.co_filename).parent.name == row.name


@each_row
def test_examples_make_mechanisms_of_the_class(row):
    mechanisms = row.mechanisms()
    assert mechanisms
    assert all(type(mechanism) is row.load() for mechanism in mechanisms)
    if row.arrays is not None:
        assert row.make(row.arrays).sample().shape == (3,)
    if row.name in DIVIDED:
        whole, k, noise = DIVIDED[row.name]
        assert row.load()(**whole).for_partitions(k) == row.load()(**noise)


@each_row
def test_the_tail_of_one_draw_is_the_error_bound(row):
    if row.of_numbers:
        for mechanism in row.mechanisms()[::2]:
            steps = mechanism._sum_bound(1, 0.05)
            assert abs(steps * mechanism.granularity - mechanism.error_bound(0.95)) <= 2 * mechanism.granularity


@each_row
def test_one_signature_on_every_mechanism(row):
    mechanism = row.load()
    if not row.of_numbers:
        return
    for name in ("privacy_loss", "privacy_profile", "rdp", "tradeoff", "compose", "guarantee"):
        assert inspect.signature(getattr(mechanism, name)) == inspect.signature(getattr(sn.Laplace, name)), name


@each_row
def test_the_density_is_asked_about_where_it_is_known(row):
    for mechanism in row.mechanisms():
        if not row.of_numbers:
            continue
        if row.kind == "discrete":
            assert mechanism.privacy_loss(lattice=False) == mechanism.privacy_loss()
        elif isinstance(mechanism, ArrayParameters):
            assert mechanism.privacy_loss(lattice=False) != mechanism.privacy_loss()
        else:
            text = rf"lattice must be True for a {row.class_name}, .*, got False"
            with pytest.raises(sn.ParameterError, match=text):
                mechanism.privacy_loss(lattice=False)


def test_sigma_and_sigma2_of_both_gaussian_mechanisms():
    mechanism, whole = sn.Gaussian(1, 1e-6, 3.0), sn.DiscreteGaussian(9)
    assert mechanism.sigma2 == pytest.approx(mechanism.sigma**2, rel=1e-15)
    assert (whole.sigma, whole.sigma2) == (3.0, 9.0)
    assert sn.Gaussian(1, 1e-6, 1e200).sigma2 == np.inf


def test_rates_of_a_merged_mechanism():
    mechanism = sn.MergedLaplace([0.2, 0.5], [1.0])
    assert mechanism.rates == mechanism.eps == (0.2, 0.5)
