"""``compare``: every number in the table and the recommendation agrees with the papers' formulas, written again here."""

import copy
import math
import pickle
import re
import sys
from typing import NamedTuple

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import _candidates
from stairnoise.registry import BY_NAME, ROWS, Compared
from tests.combinations import looped


class Expected(NamedTuple):
    mean_abs: float
    square: float
    bound_95: float
    p_zero: float | None


def staircase(eps, D, cost):
    """Moments and quantile from the mixture of uniform distributions on (gamma + m) D, summed; the gammas of the paper."""
    b = math.exp(-eps)
    gamma = 1 / (1 + math.exp(eps / 2)) if cost == "l1" else ((b * (1 + b) / 2) ** (1 / 3) - b) / (1 - b)
    m = np.arange(int(60 / eps) + 2)
    weights = b**m * (m + gamma)
    radius = (m + gamma) * D
    weights /= weights.sum()
    low, high = 0.0, float(radius[-1])
    for _ in range(200):
        t = (low + high) / 2
        low, high = (low, t) if np.sum(weights * np.maximum(0, 1 - t / radius)) <= 0.05 else (t, high)
    return Expected(float(np.sum(weights * radius) / 2), float(np.sum(weights * radius**2) / 3), high, None)


def laplace(eps, D):
    return Expected(D / eps, 2 * (D / eps) ** 2, -math.log(0.05) * D / eps, None)


def lattice(weight, last):
    """Return all measures by summation of the unnormalised probabilities of 0, 1, 2, ..."""
    k = np.arange(last)
    p = np.array([weight(i) for i in range(last)])
    p[1:] *= 2
    p /= p.sum()
    tail = p[::-1].cumsum()[::-1] - p  # P(|X| > k)
    return Expected(float(np.sum(k * p)), float(np.sum(k**2 * p)), int(np.argmax(tail <= 0.05)), float(p[0]))


def discrete_staircase(eps, D, cost):
    """Return the best of all r by trying each."""
    last = D * int(60 / eps + 3)
    mechanisms = [lattice(lambda i, r=r: math.exp(-eps * (0 if i < r else (i - r) // D + 1)), last) for r in range(1, D + 1)]
    return min(mechanisms, key=lambda mechanism: mechanism.mean_abs if cost == "l1" else mechanism.square)


def discrete_laplace(eps, D):
    return lattice(lambda i: math.exp(-eps * i / D), D * int(60 / eps + 3))


def expected(eps, D):
    rows = {f"Staircase {cost}": staircase(eps, D, cost) for cost in ("l1", "l2")} | {"Laplace": laplace(eps, D)}
    if float(D).is_integer():
        rows |= {f"DiscreteStaircase {cost}": discrete_staircase(eps, int(D), cost) for cost in ("l1", "l2")}
        rows |= {"DiscreteLaplace": discrete_laplace(eps, int(D))}
    return rows


@pytest.mark.parametrize("cost", ["l1", "l2"])
@pytest.mark.parametrize(("eps", "D"), [(0.3, 1), (1, 5), (1, 0.5), (4, 1), (4, 7), (8, 2.5), (10, 3)])
def test_every_number_of_the_table(eps, D, cost):
    table = sn.compare(eps, D, cost=cost)
    rows = expected(eps, D)
    assert [row.name for row in table] == list(rows)
    for row in table:
        want = rows[row.name]
        other = rows["DiscreteLaplace" if row.name.startswith("Discrete") else "Laplace"]
        ratio = want.mean_abs / other.mean_abs if cost == "l1" else want.square / other.square
        assert row.mean_abs == pytest.approx(want.mean_abs, rel=1e-9)
        assert row.std == pytest.approx(want.square**0.5, rel=1e-9)
        assert row.bound_95 == pytest.approx(want.bound_95, rel=1e-9)
        assert type(row.bound_95) is (float if want.p_zero is None else int)
        assert row.p_zero == (None if want.p_zero is None else pytest.approx(want.p_zero, rel=1e-9))
        assert row.ratio == pytest.approx(ratio, rel=1e-9)
    assert table.notes == () if float(D).is_integer() else len(table.notes) == 1


def test_mechanisms_of_the_rows():
    table = sn.compare(2, 3)
    assert [row.mechanism for row in table] == [
        sn.Staircase(2, 3, "l1"), sn.Staircase(2, 3, "l2"), sn.Laplace(2, 3),
        sn.DiscreteStaircase(2, 3, "l1"), sn.DiscreteStaircase(2, 3, "l2"), sn.DiscreteLaplace(2, 3),
    ]  # fmt: skip


def test_integer_mechanisms_are_left_out_with_a_note():
    table = sn.compare(1, 0.5)
    assert [row.name for row in table] == ["Staircase l1", "Staircase l2", "Laplace"]
    assert table.notes == (
        "Left out: DiscreteStaircase l1, DiscreteStaircase l2, DiscreteLaplace; "
        "sensitivity must be a whole number for a discrete mechanism, got 0.5",
    )
    assert table.notes[0] in " ".join(repr(table).split())


def test_another_mechanism_is_one_more_line(monkeypatch):
    half = _candidates.Candidate(BY_NAME["staircase"], Compared("Staircase 1/2", "Laplace", fixed=(0.5,)))
    monkeypatch.setattr(_candidates, "CANDIDATES", _candidates.CANDIDATES | {"Staircase 1/2": half})
    row = sn.compare(4)["Staircase 1/2"]
    assert row.ratio == pytest.approx(sn.Staircase(4, 1, 0.5).abs_moment(1) * 4)


# Other mechanisms


# The table lists mechanisms for integers last.
BY_KIND = sorted(ROWS, key=lambda row: row.kind)
NEED_A_DELTA = [line.name for row in BY_KIND for line in row.compared if line.when == "delta"]
TAKE_A_DELTA = [line.name for row in BY_KIND for line in row.compared if "delta" in line.takes]


def truncated_laplace(eps, delta):
    """E|X| and E X² of the Laplace distribution between the bounds of the symmetric (eps, delta) member, by a fine sum."""
    end = math.log1p(math.expm1(eps) / (2 * delta)) / eps
    x = (np.arange(400_000) + 0.5) * end / 400_000
    density = np.exp(-eps * x)
    return float(np.sum(density * x) / density.sum()), float(np.sum(density * x**2) / density.sum())


def test_a_delta_adds_the_mechanisms_that_need_one():
    pure, table = sn.compare(1, 3), sn.compare(1, 3, delta=1e-4)
    added = [row.name for row in table if row.name not in {row.name for row in pure}]
    # Canonical noise needs sensitivity 1.
    assert added == [name for name in NEED_A_DELTA if name != "DiscreteCanonical"]
    assert table.notes[0].startswith("Left out: DiscreteCanonical; sensitivity must be 1")
    assert table.delta == 1e-4
    first, second = truncated_laplace(1, 1e-4)
    row = table["TruncatedLaplace"]
    assert row.mean_abs == pytest.approx(3 * first, rel=1e-6)
    assert row.std == pytest.approx(3 * math.sqrt(second), rel=1e-6)
    sigma = table["Gaussian"].std
    assert table["Gaussian"].mean_abs == pytest.approx(sigma * math.sqrt(2 / math.pi), rel=1e-12)
    lost = [math.erfc(-x / math.sqrt(2)) / 2 for x in (1.5 / sigma - sigma / 3, -1.5 / sigma - sigma / 3)]
    assert lost[0] - math.e * lost[1] == pytest.approx(1e-4, rel=1e-6)
    assert table["DiscreteGaussian"].mechanism == sn.DiscreteGaussian.from_eps(1, 1e-4, 3)


@pytest.mark.slow
def test_all_names_every_mechanism_or_says_why_not():
    table = sn.compare(6, 2.5, mechanisms="all")
    named = {row.name for row in table} | set(re.findall(r"\b[A-Z][A-Za-z]+(?: l[12])?(?=[,;])", " ".join(table.notes)))
    assert named == set(_candidates.CANDIDATES)
    assert table["MergedLaplace"].ratio < 1
    assert table["Arete"].mechanism == sn.Arete.from_eps(6, 2.5)
    assert any(note.startswith(f"Left out: {', '.join(TAKE_A_DELTA)}; delta must be given") for note in table.notes)
    integers = sn.compare(6, 3, mechanisms=["MultiScaleDiscreteLaplace", "GeneralizedDiscreteLaplace"])
    assert [row.name for row in integers] == ["MultiScaleDiscreteLaplace", "GeneralizedDiscreteLaplace"]
    assert integers[0].std == pytest.approx(math.sqrt(14 / (math.cosh(6) - 1)), rel=1e-9)
    assert integers.recommendation == ""
    assert repr(integers).count("\n\n") == 0


def radial(eps, dim, gamma, p):
    """E‖X‖**p from the mixture of balls of radius m + gamma, summed."""
    m = np.arange(2000)
    weights = np.exp(-eps * m) * (m + gamma) ** dim
    return float(np.sum(weights * (m + gamma) ** p) / weights.sum() * dim / (dim + p))


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("cost", ["l1", "l2"])
def test_vectors(norm, cost):
    eps, dim, change = 2.0, 3, 1.5
    table = sn.compare(eps, change, cost, dim=dim, norm=norm)
    laplace = {"l1": dim / eps, "l2": dim * (dim + 1) / eps**2}[cost]
    for row in table[:2]:
        assert row.mean_abs == pytest.approx(change * radial(eps, dim, row.mechanism.gamma, 1), rel=1e-9)
        assert row.std == pytest.approx(change * math.sqrt(radial(eps, dim, row.mechanism.gamma, 2)), rel=1e-9)
        assert row.ratio == pytest.approx(radial(eps, dim, row.mechanism.gamma, {"l1": 1, "l2": 2}[cost]) / laplace, rel=1e-9)
        assert row.mechanism.norm_sf(row.bound_95) == pytest.approx(0.05, rel=1e-9)
    assert (len(table) == 3) is (norm == "l1")
    if norm == "l1":
        t = table["Laplace per coordinate"].bound_95 * eps / change
        assert math.exp(-t) * (1 + t + t * t / 2) == pytest.approx(0.05, rel=1e-9)
    assert table.headings[1] == "E‖X‖"
    assert (table.subject, table.recommendation) == ("vector", "")


def test_choices():
    costs, eps = np.array([3, 0.5, 1.25, 4]), 2.0
    table = sn.compare(eps, costs=costs)
    chances = np.exp(-eps * costs / 2)
    chances /= chances.sum()
    row = table["ExponentialMechanism"]
    assert row.mean_abs == pytest.approx(float(chances @ (costs - 0.5)), rel=1e-12)
    assert row.std == pytest.approx(math.sqrt(chances @ (costs - 0.5) ** 2), rel=1e-12)
    assert (row.bound_95, row.p_zero) == (2.5, pytest.approx(chances[1]))
    assert table["StaircaseSelection"].ratio == pytest.approx(
        sum(table["StaircaseSelection"].mechanism.probabilities(costs) * (costs - 0.5)) / row.mean_abs, rel=1e-12
    )
    flips = table["PermuteAndFlip"]
    assert flips.mean_abs == pytest.approx(flips.mechanism.expected_cost(costs) - 0.5, rel=1e-12)
    assert (round(flips.mean_abs, 3), round(row.mean_abs, 3)) == (0.300, 0.420)
    assert flips.ratio == pytest.approx(flips.mean_abs / row.mean_abs, rel=1e-12)
    assert table.headings[1] == "E error"


@pytest.mark.parametrize("arguments", [{"dim": 3, "norm": "linf"}, {"costs": [1, 2]}, {"delta": 0.1, "mechanisms": ["Gaussian"]}])
def test_others_are_copied_and_pickled(arguments):
    table = sn.compare(2, **arguments)
    for twin in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert twin == table
        assert repr(twin) == repr(table)
    assert table != sn.compare(2)


# Recommendation


def said(pattern, text):
    found = re.search(pattern, text)
    assert found, (pattern, text)
    return [float(number.replace(",", "")) for number in found.groups()]


@pytest.mark.parametrize("cost", ["l1", "l2"])
@pytest.mark.parametrize(
    ("eps", "choice"),
    [
        (0.3, "choose Laplace."),
        (0.5, "choose Laplace."),
        (1, "choose the staircase for ten releases or fewer at a delta up to 1e-6, Laplace for thousands."),
        (3.49, "choose the staircase for ten releases or fewer at a delta up to 1e-6, Laplace for thousands."),
        (3.5, "choose the staircase."),
        (8, "choose the staircase."),
    ],
)
def test_choice_and_gain(eps, choice, cost):
    text = sn.compare(eps, cost=cost).recommendation
    assert text.startswith(f"eps = {eps}: {choice} ")
    ours, theirs = staircase(eps, 1, cost), laplace(eps, 1)
    quantity, ratio = ("E|X|", ours.mean_abs / theirs.mean_abs) if cost == "l1" else ("variance", ours.square / theirs.square)
    start = rf"The staircase's {re.escape(quantity)} is "
    if ratio > 0.5:
        assert said(start + r"([\d.]+) % below Laplace's\.", text)[0] == float(f"{100 * (1 - ratio):.2g}")
    else:
        assert said(start + r"1/([\d.]+) of Laplace's\.", text)[0] == float(f"{1 / ratio:.3g}")


@pytest.mark.parametrize("cost", ["l1", "l2"])
@pytest.mark.parametrize("eps", [0.5, 1, 2, 3, 4, 5, 6])
def test_quantile_caveat(eps, cost):
    """The staircase for E|X| has the larger 95 % quantile at 0.5, 1, 3 and 4, as a published table shows."""
    text = sn.compare(eps, cost=cost).recommendation
    ours, theirs = staircase(eps, 1, cost).bound_95, laplace(eps, 1).bound_95
    caveat = r"Its 95 % bound is the larger one, though: ([\d.]+\d) against ([\d.]+\d)\."
    assert (re.search(caveat, text) is not None) is (ours > theirs * (1 + 1e-3))
    if cost == "l1":
        assert (ours > theirs) is (eps in (0.5, 1, 3, 4))
    if ours > theirs * (1 + 1e-3):
        first, second = said(caveat, text)
        assert first > second
        assert first == pytest.approx(ours, rel=5e-3)
        assert second == pytest.approx(theirs, rel=5e-3)


def test_integers():
    assert sn.compare(1).recommendation.endswith("at sensitivity 1 the discrete staircase is the discrete Laplace distribution.")
    text = sn.compare(4, 7, cost="l2").recommendation
    ratio = discrete_staircase(4, 7, "l2").square / discrete_laplace(4, 7).square
    gain = said(r"For integers the discrete staircase's variance is ([\d.]+) % below the discrete Laplace's\.", text)[0]
    assert gain == float(f"{100 * (1 - ratio):.2g}")
    assert "integers" not in sn.compare(1, 0.5).recommendation


@looped("sensitivity", [1, 3, 2.0**-900, 2.0**60, 2.0**900])
@looped("eps", [2.0**-30, 1e-6, 30, 700, 5000])
def test_extreme_parameters(eps, sensitivity):
    table = sn.compare(eps, sensitivity)
    assert "nan" not in table.recommendation
    assert repr(table)


def test_nothing_is_said_about_moments_that_float64_cannot_hold():
    table = sn.compare(5000, 3)
    assert math.isnan(table["DiscreteStaircase l1"].ratio)
    assert "integers" not in table.recommendation


def test_a_mechanism_without_a_laplace_mechanism_beside_it():
    """Discrete Gaussian noise with a large δ can fit its lattice where discrete Laplace noise does not."""
    eps, sensitivity = 2.0**-40, 2**16
    with pytest.raises(sn.ParameterError):
        sn.DiscreteLaplace(eps, sensitivity)
    table = sn.compare(eps, sensitivity, delta=0.4, mechanisms=["DiscreteGaussian", "DiscreteLaplace"])
    assert [row.name for row in table] == ["DiscreteGaussian"]
    assert math.isnan(table["DiscreteGaussian"].ratio)


def test_a_small_difference_is_not_made_much_of():
    text = sn.compare(1e-6).recommendation
    assert "less than 0.01 % below" in text
    assert "composes" not in text
    assert "bound" not in text


# The object


def test_text_is_aligned_and_complete():
    table = sn.compare(1, 5)
    assert str(table) == repr(table)
    head, *lines = repr(table).splitlines()
    assert re.split(r"  +", head) == ["mechanism", "E|X|", "std", "95 % bound", "P(0)", "E|X| ratio"]
    assert {len(line) for line in lines[:6]} == {len(head)}
    for line, row in zip(lines[:6], table, strict=True):
        fields = re.split(r"  +", line)
        assert fields[0] == row.name
        for cell, value in zip(fields[1:], (row.mean_abs, row.std, row.bound_95, row.p_zero, row.ratio), strict=True):
            assert cell == "–" if value is None else float(cell) == pytest.approx(value, rel=5e-4)
    assert max(map(len, lines)) <= 80
    assert " ".join(lines[7:]) == table.recommendation
    assert "E X² ratio" in repr(sn.compare(1, cost="l2"))


def test_html_has_the_same_cells():
    table = sn.compare(1, 0.5)
    html = table._repr_html_()
    fields = re.findall("<td>(.*?)</td>", html)
    assert fields == [cell for fields in table.texts() for cell in fields]
    assert html.count("<p>") == 2


def test_sequence():
    table = sn.compare(2)
    assert len(table) == len(list(table)) == 6
    assert table[2] is table["Laplace"]
    assert table[:2] == tuple(table)[:2]
    with pytest.raises(KeyError, match=r"mechanism must be one of Staircase l1, .*, got 'Gauss'"):
        table["Gauss"]


def test_immutable_and_comparable():
    table = sn.compare(2, 3, cost="l2")
    with pytest.raises(AttributeError, match="cannot assign to field 'eps'"):
        table.eps = 3
    with pytest.raises(AttributeError, match="cannot delete field 'eps'"):
        del table.eps
    assert (table.eps, table.sensitivity, table.cost) == (2, 3, "l2")
    for twin in (sn.compare(2, 3, cost="l2"), copy.copy(table), pickle.loads(pickle.dumps(table))):
        assert twin == table
        assert hash(twin) == hash(table)
        assert repr(twin) == repr(table)
    assert table != sn.compare(2, 3)
    assert table != 2


def test_to_dicts():
    table = sn.compare(1, 0.5)
    dicts = table.to_dicts()
    assert list(dicts[0]) == ["name", "mean_abs", "std", "bound_95", "p_zero", "ratio"]
    assert [tuple(row.values()) for row in dicts] == [(row[0], *row[2:]) for row in table]


@pytest.mark.slow
def test_to_frame():
    pandas = pytest.importorskip("pandas")
    table = sn.compare(1, 5)
    frame = table.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.index) == [row.name for row in table]
    assert frame.loc["DiscreteLaplace", "p_zero"] == table["DiscreteLaplace"].p_zero
    assert math.isnan(frame.loc["Laplace", "p_zero"])
    assert set(frame.dtypes) == {np.dtype(float)}
    assert frame["ratio"].tolist() == [row.ratio for row in table]


def test_to_frame_without_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError) as caught:
        sn.compare(1).to_frame()
    assert str(caught.value) == "to_frame needs pandas: pip install pandas"


# Bad input


@looped(("arguments", "error", "text"), [
        ({"eps": 0}, sn.ParameterError, "eps must be finite and greater than 0, got 0.0"),
        ({"eps": float("nan")}, sn.ParameterError, "eps must be finite and greater than 0, got nan"),
        ({"eps": "1"}, sn.ParameterTypeError, "eps must be a real number or an array of real numbers, got '1'"),
        ({"eps": [1, 2]}, sn.ParameterError, "eps must be a single number, got an array of dtype float64 and shape (2,)"),
        ({"eps": 1, "sensitivity": -1}, sn.ParameterError, "sensitivity must be finite and greater than 0, got -1.0"),
        ({"eps": 1, "sensitivity": [1]}, sn.ParameterError, "sensitivity must be a single number, got an array"),
        ({"eps": 1, "cost": "l3"}, sn.ParameterError, 'cost must be "l1" or "l2", got \'l3\''),
        ({"eps": 1, "cost": 1}, sn.ParameterTypeError, 'cost must be "l1" or "l2", got 1'),
        ({"eps": 1, "delta": 0.0}, sn.ParameterError, "delta must be greater than 0 and less than 1, got 0.0"),
        ({"eps": 1, "delta": "x"}, sn.ParameterTypeError, "delta must be a real number"),
        ({"eps": 1, "mechanisms": "Laplace"}, sn.ParameterTypeError, 'mechanisms must be None, "all" or a sequence of names'),
        ({"eps": 1, "mechanisms": ["Cauchy"]}, sn.ParameterError, "mechanisms must be out of Staircase l1, "),
        ({"eps": 1, "mechanisms": ["Laplace", []]}, sn.ParameterError, "mechanisms must be out of Staircase l1, "),
        ({"eps": 1, "mechanisms": []}, sn.ParameterError, "mechanisms must have at least one name, got []"),
        ({"eps": 1, "mechanisms": np.array(["all"] * 2)}, sn.ParameterTypeError, 'mechanisms must be None, "all" or'),
        ({"eps": 1, "mechanisms": memoryview(b"all")}, sn.ParameterTypeError, 'mechanisms must be None, "all" or'),
        ({"eps": 1, "costs": []}, sn.ParameterError, "costs must be a sequence of numbers, got an array of shape (0,)"),
        ({"eps": 1, "mechanisms": ["Gaussian"]}, sn.ParameterError, "delta must be given for a mechanism that has no pure"),
        ({"eps": 1, "dim": 2, "costs": [1]}, sn.ParameterError, "costs must be None where dim is given, got dim 2"),
        ({"eps": 1, "dim": 2, "mechanisms": "all"}, sn.ParameterError, "mechanisms must be None for a vector or a choice"),
        ({"eps": 1, "dim": 1}, sn.ParameterError, "dim must be"),
        ({"eps": 1, "dim": 2, "norm": "l3"}, sn.ParameterError, 'norm must be "l1", "l2" or "linf"'),
        ({"eps": 1, "costs": [[1, 2]]}, sn.ParameterError, "costs must be a sequence of numbers, got an array of shape (1, 2)"),
        ({"eps": 1, "costs": [1, -2]}, sn.ParameterError, "costs must be"),
        ({"eps": 1e-15}, sn.ParameterError, "eps and sensitivity must give a lattice that fits 64-bit integers"),
    ])  # fmt: skip
def test_bad_input(arguments, error, text):
    with pytest.raises(error) as caught:
        sn.compare(**arguments)
    assert str(caught.value).startswith(text)


def test_costs_whose_squares_leave_float64():
    """A candidate that is never selected adds nothing; any other candidate adds its square."""
    far = sn.compare(1, costs=[0.0, 1e300])
    assert [row.mean_abs for row in far] == [0.0, 0.0, 0.0]
    assert [row.std for row in far] == [0.0, 0.0, 0.0]
    near = sn.compare(1, sensitivity=1e300, costs=[0.0, 1e300])
    reference = sn.compare(1, costs=[0.0, 1.0])
    assert [row.std for row in near] == pytest.approx([row.std * 1e300 for row in reference], rel=1e-14)
    beside = sn.compare(1, costs=[0.0, 1.0, 1e300])
    assert [row.std for row in beside] == pytest.approx([row.std for row in reference], rel=1e-14)
    never = sn.compare(1, costs=[0.0, 1.0, math.inf])
    assert [row.mean_abs for row in never] == pytest.approx([row.mean_abs for row in sn.compare(1, costs=[0.0, 1.0])], rel=1e-14)


@pytest.mark.parametrize(("eps", "delta"), [(0.1, 0.3), (1, 1e-6), (8, 1e-6)])
@pytest.mark.parametrize("cost", ["l1", "l2"])
def test_the_better_bounded_noise_is_recommended(eps, delta, cost):
    table = sn.compare(eps, delta=delta, cost=cost)
    assert table[f"TruncatedStaircase {cost}"].ratio < table["TruncatedLaplace"].ratio
    assert "For one release with bounded noise choose the truncated staircase: its" in table.recommendation
    assert "bounded noise" not in sn.compare(eps, cost=cost).recommendation
