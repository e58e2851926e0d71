"""What the registry says of every mechanism, and the questions that every law answers."""

import inspect
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.mechanism.additive import ContinuousLaw, DiscreteLaw, Law, LawOfNumbers
from stairnoise.mechanism.array_gaussian import GaussianArrays
from stairnoise.mechanism.array_parameters import ArrayParameters
from stairnoise.registry import ROWS, load

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
BASES = {"continuous": ContinuousLaw, "discrete": DiscreteLaw, "vector": Law}


@each_row
def test_every_law_answers_the_questions_itself(row):
    law = row.load()
    questions = ["_functions", "_divided_among", "_named_arguments", "guarantee", "_promise"]
    if row.kind != "vector":
        questions += ["_loss", "_sum_bound", "_edges", "_laplace", "_expected_cost", "_frozen"]
    if issubclass(law, ArrayParameters):
        questions.append("_least_eps")
    if issubclass(law, GaussianArrays):
        questions.append("_element")
    for name in questions:
        assert callable(inspect.getattr_static(law, name).__get__(None, law)), name


@each_row
def test_rows_say_what_the_classes_are(row):
    law = row.load()
    assert law is getattr(sn, row.class_name) is load(row.name)
    assert issubclass(law, BASES[row.kind])
    assert issubclass(law, LawOfNumbers) == (row.kind != "vector")
    assert issubclass(law, (ArrayParameters, GaussianArrays)) == (row.arrays is not None)
    assert {made._integers for made in row.laws()} == {row.kind == "discrete"}
    assert Path(law.__init__.__code__.co_filename).stem == row.name


@each_row
def test_examples_make_laws_of_the_class(row):
    laws = row.laws()
    assert laws
    assert all(type(law) is row.load() for law in laws)
    if row.arrays is not None:
        assert row.make(row.arrays).sample().shape == (3,)
    if row.divided is not None:
        assert row.make(row.divided.law).for_partitions(row.divided.partitions) == row.make(row.divided.noise)


@each_row
def test_the_tail_of_one_draw_is_the_error_bound(row):
    if row.kind != "vector":
        for law in row.laws():
            steps = law._sum_bound(1, 0.05)
            assert abs(steps * law.granularity - law.error_bound(0.95)) <= 2 * law.granularity


@each_row
def test_one_signature_on_every_law(row):
    law = row.load()
    if row.kind == "vector":
        return
    for name in ("privacy_loss", "privacy_profile", "rdp", "tradeoff", "compose", "guarantee"):
        assert inspect.signature(getattr(law, name)) == inspect.signature(getattr(sn.Laplace, name)), name


@each_row
def test_the_density_is_asked_about_where_it_is_known(row):
    for law in row.laws():
        if row.kind == "vector":
            continue
        if row.kind == "discrete":
            assert law.privacy_loss(lattice=False) == law.privacy_loss()
        elif isinstance(law, ArrayParameters):
            assert law.privacy_loss(lattice=False) != law.privacy_loss()
        else:
            text = rf"lattice must be True for a {row.class_name}, .*, got False"
            with pytest.raises(sn.ParameterError, match=text):
                law.privacy_loss(lattice=False)
            with pytest.raises(sn.ParameterError, match=text):
                sn.privacy.privacy_loss(law, lattice=False)


def test_sigma_and_sigma2_of_both_gaussian_laws():
    law, whole = sn.Gaussian(1, 1e-6, 3.0), sn.DiscreteGaussian(9)
    assert law.sigma2 == pytest.approx(law.sigma**2, rel=1e-15)
    assert (whole.sigma, whole.sigma2) == (3.0, 9.0)
    assert sn.Gaussian(1, 1e-6, 1e200).sigma2 == np.inf


def test_rates_of_a_merged_law():
    law = sn.MergedLaplace([0.2, 0.5], [1.0])
    assert law.rates == law.eps == (0.2, 0.5)
