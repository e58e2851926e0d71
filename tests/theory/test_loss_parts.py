"""Every form of one release's loss answers the same questions, and its models enclose it."""

import math
from fractions import Fraction

import numpy as np
import pytest

from stairnoise.accounting.curve import Curve
from stairnoise.accounting.losses.largest import Largest
from stairnoise.accounting.losses.listed import Listed
from stairnoise.accounting.losses.runs import Runs
from stairnoise.distributions.slopes import Slopes
from stairnoise.mechanisms.discrete_gaussian.loss import LatticeGaussian
from stairnoise.mechanisms.laplace.loss import Steps
from stairnoise.mechanisms.staircase.loss import Atoms
from stairnoise.mechanisms.truncated_staircase.loss import ended_atoms

SLOPES = Slopes((Fraction(1, 8), Fraction(1, 3)), (5,), 30, 12)
PARTS = {
    "atoms": Atoms(np.array(0.7), np.array(0.4), np.array(-0.6)),
    "steps": Steps(np.array(0.7), np.array(7.0)),
    "a continuum of steps": Steps(np.array(0.7), np.array(math.inf)),
    "ended atoms": ended_atoms(0.7, 4, 2, 30),
    "listed": Listed(("two",), np.log([0.6, 0.4]), np.log([0.4, 0.6]), math.log(1.5)),
    "runs": Runs(("slopes",), SLOPES, 4),
    "lattice gaussian": LatticeGaussian(9.0, 2.0),
    "largest": Largest([Runs(("slopes",), SLOPES, shift) for shift in (4, -4)]),
}


@pytest.mark.parametrize("name", PARTS)
def test_models_enclose_the_loss(name):
    part, t = PARTS[name], np.linspace(0, 2, 21)
    with np.errstate(all="ignore"):
        models = (part.upper_model(0.01), 1), (part.lower_model(0.01), -1)
    for model, sign in models:
        seen = max(math.floor(model.top / 0.01) + 1, 1)
        curve = Curve(model.top, 0.01, model.masses[:seen], infinite=model.infinite, symmetric=False, allowance=sign * 1e-9)
        difference = sign * (curve.profile(t) - part.profile(t))
        assert (difference >= -1e-12).all()
        assert (difference < 0.01).all()


def test_no_mass_is_below_zero():
    """A loss within rounding of a node gives its whole probability to this node; rounding must not give more."""
    part = ended_atoms(0.03851339484821701, 6442450944, 3196059648, 3772197435033)
    for n in range(1000, 1200):
        assert part.upper_model(part.top / n).masses.min() >= 0


@pytest.mark.parametrize("name", PARTS)
def test_a_loss_is_on_its_own_lattice_or_has_none(name):
    part = PARTS[name]
    step = part.own_step()
    if step is None:
        with pytest.raises(ArithmeticError):
            part.on_lattice(Fraction(1))
        return
    masses = part.on_lattice(step / 3)
    assert masses.sum() == pytest.approx(1, abs=1e-14)
    curve = Curve(part.top, float(step / 3), masses[: (masses.size + 1) // 2])
    t = np.linspace(0, 1, 21)
    assert curve.profile(t) == pytest.approx(part.profile(t), abs=1e-14)


@pytest.mark.parametrize("name", PARTS)
def test_powers_are_those_of_closed_forms_alone(name):
    part = PARTS[name]
    if part.composes_in_closed_form:
        assert part.powers(1) == pytest.approx([float(part.p), float(part.zero)])
    else:
        with pytest.raises(ArithmeticError):
            part.powers(1)


@pytest.mark.parametrize("name", PARTS)
def test_keys_tell_parts_apart(name):
    assert [other for other, part in PARTS.items() if part.key() == PARTS[name].key()] == [name]
