"""A release needs a stated sensitivity, for every mechanism and every type of true answers, whatever their values are.

Evidence: every mechanism of the registry, made with and without its sensitivity, and asked for a release of every type.
"""

import copy
import pickle
import secrets
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stairnoise as sn
from stairnoise.cli.commands import run
from stairnoise.engines import add_to_sqlite, release_part
from stairnoise.registry import ROWS, Example, Row, name_of
from tests.examples import DIVIDED, each_mechanism

UNSTATED = "sensitivity must be stated for a release"
# Mechanisms whose parameters describe only their noise.
NOISE_ALONE = {"arete", "generalized_discrete_laplace", "discrete_gaussian", "lattice_noise", "skellam"}
CONTINUOUS = [row for row in ROWS if row.kind in ("continuous", "vector") and row.name not in NOISE_ALONE]
DISCRETE = [row for row in ROWS if row.kind == "discrete" and row.name not in NOISE_ALONE]
FROM_EPS = [
    (sn.DiscreteGaussian.from_eps, (1, 1e-6)),
    (sn.Skellam.from_eps, (1, 1e-6)),
    (lambda *given: sn.Skellam.from_eps(*given).share(3), (1, 1e-6)),
    (lambda *given: sn.DiscreteGaussian.from_eps(*given).for_partitions(2), (1, 1e-6)),
]
INTEGERS: list[Any] = [3, [1, 2], (1, 2), [], [[1], [2]], np.int8(3), np.arange(2), np.arange(2, dtype=np.uint64)]
FLOATS: list[Any] = [3.0, [1, 2.0], (1.0, 2), np.float32(3), np.zeros(2), np.zeros(2, np.float32), np.zeros(0), np.float64(3)]


def without(row: Row, example: Example | None = None) -> Any:
    """Return the mechanism of a row's example, with no stated sensitivity."""
    arguments = dict((example or row.examples[0]).arguments)
    arguments.pop("sensitivity")
    return row.make(Example(arguments, (example or row.examples[0]).by))


def values(mechanism: Any) -> Any:
    return np.ones(mechanism._value_shape)


@pytest.mark.parametrize("row", CONTINUOUS, ids=lambda row: row.name)
def test_real_noise_is_released_with_a_stated_sensitivity_only(row: Row) -> None:
    mechanism, stated = without(row), row.make(row.examples[0])
    for answers in (
        values(mechanism),
        values(mechanism).tolist(),
        values(mechanism).astype(int),
        values(mechanism).astype(int).tolist(),
    ):
        for options in ({}, {"threads": 1}, {"max_partitions_contributed": 2}, {"out": np.empty(mechanism._value_shape)}):
            with pytest.raises(sn.ParameterError, match=rf"^{UNSTATED}: write {row.class_name}\(\.\.\., sens"):
                mechanism.release(answers, **options)
        stated.release(answers)
    assert mechanism.sample(3).shape == (3, *mechanism._value_shape)
    assert mechanism.sensitivity == 1
    assert mechanism.guarantee().sensitivity == 1


@pytest.mark.parametrize("row", [row for row in (*CONTINUOUS, *DISCRETE) if row.arrays is not None], ids=lambda row: row.name)
def test_array_parameters(row: Row) -> None:
    assert row.arrays is not None
    mechanism, answers = without(row, row.arrays), np.ones(row.make(row.arrays)._parameter_shape)
    with pytest.raises(sn.ParameterError, match=UNSTATED):
        mechanism.release(answers)
    if row.kind == "discrete":
        mechanism.release(answers.astype(int))
    row.make(row.arrays).release(answers)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism != row.make(row.arrays)
    assert "sensitivity" not in repr(mechanism)


@pytest.mark.parametrize("row", DISCRETE, ids=lambda row: row.name)
def test_whole_noise_takes_integers_without_one(row: Row) -> None:
    mechanism, stated = without(row), row.make(row.examples[0])
    for answers in INTEGERS:
        mechanism.release(answers)
        mechanism.release(answers, threads=1)
    mechanism.release_modulo([1, 2], 7)
    for answers in FLOATS:
        for options in ({}, {"threads": 1}, {"max_partitions_contributed": 2}):
            with pytest.raises(sn.ParameterError, match=f"^{UNSTATED} of floats: "):
                mechanism.release(answers, **options)
        stated.release(answers)


@pytest.mark.parametrize(("make", "arguments"), FROM_EPS)
def test_noise_for_an_eps_takes_integers_without_one(make: Any, arguments: tuple[float, ...]) -> None:
    mechanism, stated = make(*arguments), make(*arguments, 1)
    mechanism.release([1, 2])
    with pytest.raises(sn.ParameterError, match=rf"{UNSTATED} of floats.*write \w+\.from_eps\(\.\.\., sensitivity=\.\.\.\)"):
        mechanism.release([1.0, 2])
    stated.release([1.0, 2])
    assert "sensitivity" not in repr(mechanism)
    assert "sensitivity=1" in repr(stated)
    for made in (mechanism, stated):
        assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == eval(repr(made), vars(sn)) == made
    assert mechanism != stated


NUMBERS = st.one_of(st.integers(-(2**53), 2**53), st.integers(-(2**53), 2**53).map(float))


@given(st.lists(NUMBERS, max_size=5))
def test_the_type_decides_and_never_a_value(answers: list[float]) -> None:
    mechanism = sn.DiscreteLaplace(1.0)
    if any(type(answer) is float for answer in answers):
        with pytest.raises(sn.ParameterError, match=UNSTATED):
            mechanism.release(answers)
    else:
        mechanism.release(answers)


@pytest.mark.parametrize(
    ("mechanism", "remedy"),
    [
        (sn.Gaussian(sigma=2), r"write Gaussian\(\.\.\., sensitivity=\.\.\.\)"),
        (sn.Gaussian(std=2), r"pass sensitivity=\.\.\."),
        (sn.Laplace(scale=2), r"pass sensitivity=\.\.\."),
        (sn.DiscreteGaussian(4), r"pass sensitivity=\.\.\."),
        (sn.DiscreteGaussian(sigma=2), r"pass sensitivity=\.\.\."),
        (sn.Skellam(4), r"pass sensitivity=\.\.\."),
        (sn.Arete(0.5, 1.0, 0.25), r"pass sensitivity=\.\.\."),
        (sn.GeneralizedDiscreteLaplace(1.5, 0.4), r"pass sensitivity=\.\.\."),
        (sn.LatticeNoise([1, 2, 1], 0.5), r"write LatticeNoise\(\.\.\., sensitivity=\.\.\.\)"),
    ],
    ids=repr,
)
def test_noise_alone_is_released_and_promises_nothing(mechanism: Any, remedy: str, tmp_path: Path) -> None:
    assert np.shape(mechanism.release([1.5, 2.5])) == (2,)
    ledger = sn.Ledger(tmp_path / "ledger", budget=100, delta=1e-6, composed=True)
    for ask in (
        mechanism.guarantee,
        lambda: ledger.spend(mechanism, data="people"),
        pickle.loads(pickle.dumps(mechanism)).guarantee,
    ):
        with pytest.raises(sn.ParameterError, match=rf"^sensitivity must be stated for a guarantee: {remedy} with .*, got None$"):
            ask()
    assert mechanism._repr_html_() is not None
    assert mechanism.privacy_loss() is not None


def test_a_sensitivity_of_noise_is_kept(tmp_path: Path) -> None:
    mechanisms = [
        sn.Gaussian(sigma=2, sensitivity=3),
        sn.Skellam(400, 3).share(2).share(2, 2),
        sn.Arete.from_eps(12, 3.0).share(2, 2),
        sn.GeneralizedDiscreteLaplace.from_eps(5, 3),
        sn.LatticeNoise([1, 2, 1], 0.5, sensitivity=3),
    ]
    for mechanism in mechanisms:
        assert mechanism.guarantee().sensitivity == pickle.loads(pickle.dumps(mechanism)).guarantee().sensitivity == 3
    ledger = sn.Ledger(tmp_path / "ledger", budget=1000, delta=1e-6, composed=True)
    for mechanism in (mechanisms[0], sn.Gaussian(1, 1e-6), sn.DiscreteGaussian.from_eps(1, 1e-6)):
        ledger.spend(mechanism, data="people")
    assert sn.Ledger(tmp_path / "ledger").total() > 0  # the sensitivity is read from the file


@each_mechanism
def test_a_mechanism_is_the_same_after_copying_pickling_and_printing(mechanism: Any) -> None:
    for made in (mechanism, *unstated(mechanism)):
        assert made == mechanism or ("sensitivity" in repr(mechanism)) > ("sensitivity" in repr(made))
        for again in (pickle.loads(pickle.dumps(made)), copy.copy(made), copy.deepcopy(made), eval(repr(made), vars(sn).copy())):
            assert again == made
            assert hash(again) == hash(made)
            assert (again._stated, again._takes_floats) == (made._stated, made._takes_floats)
        if name_of(mechanism) in DIVIDED:
            wider = made.for_partitions(2)
            assert (wider._stated, wider._takes_floats) == (made._stated, made._takes_floats)
    assert mechanism not in unstated(mechanism)


def unstated(mechanism: Any) -> list[Any]:
    """Return the same mechanism with no stated sensitivity; None if it has no sensitivity, or an r above sensitivity 1."""
    if not mechanism._stated or getattr(mechanism, "r", 1) > 1 or not hasattr(mechanism, "sensitivity"):
        return []
    return [type(mechanism)(**mechanism._named_arguments() | {"sensitivity": None})]


def test_columns_and_frames() -> None:
    pd, pa, pl = (pytest.importorskip(name) for name in ("pandas", "pyarrow", "polars"))
    mechanism, real = sn.DiscreteLaplace(1), sn.Laplace(1)
    table = {"whole": [1, 2], "real": [1.0, 2.0]}
    for frame in (pd.DataFrame(table), pa.table(table), pl.DataFrame(table)):
        mechanism.release(frame["whole"])
        mechanism.release(frame, columns="whole")
        for ask in (
            lambda frame=frame: mechanism.release(frame["real"]),
            lambda frame=frame: mechanism.release(frame, columns=["whole", "real"], max_partitions_contributed=2),
            lambda frame=frame: real.release(frame["whole"]),
            lambda frame=frame: real.release(frame, columns=["whole"]),
            lambda frame=frame: sn.MultivariateStaircase(1).release(frame, columns=["whole", "real"]),
        ):
            with pytest.raises(sn.ParameterError, match=UNSTATED):
                ask()


def test_keyed_releases_and_engines() -> None:
    import sqlite3

    keyed = sn.KeyedRng(secrets.token_bytes(32), "release")
    rows = {"labels": ["a", "b"], "statistic": "sum", "rng": keyed}
    mechanism = sn.DiscreteLaplace(1)
    mechanism.release([1, 2], **rows)
    with pytest.raises(sn.ParameterError, match=UNSTATED):
        mechanism.release([1.0, 2], **rows)
    with pytest.raises(sn.ParameterError, match=UNSTATED):
        sn.Laplace(1).release([1, 2], **rows)
    con = sqlite3.connect(":memory:")
    with pytest.raises(sn.ParameterError, match=UNSTATED):
        add_to_sqlite(con, "noisy", sn.Laplace(1), keyed, "sum", label_type="text")
    add_to_sqlite(con, "noisy", mechanism, keyed, "sum", label_type="text")
    assert isinstance(con.execute("select noisy('a', 3)").fetchone()[0], int)
    with pytest.raises(sqlite3.OperationalError):
        con.execute("select noisy('a', 3.0)").fetchone()
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"city": ["a"], "n": [1], "total": [1.0]})
    release_part(frame, mechanism, keyed, "city", "n", "sum", label_type="text")
    with pytest.raises(sn.ParameterError, match=UNSTATED):
        release_part(frame, mechanism, keyed, "city", "total", "sum", label_type="text")


@pytest.mark.parametrize("kind", [sn.StaircaseSelection, sn.ExponentialMechanism, sn.PermuteAndFlip])
def test_selections(kind: Any) -> None:
    mechanism, stated = kind(1), kind(1, 1)
    for costs in ([1, 2], np.arange(3), [[1, 2], [3, 4]]):
        mechanism.select(costs)
        mechanism.top(scores=np.negative(costs), k=1)
    for costs in ([1, 2.0], np.zeros(3), [[1, 2], [3, 4.0]]):
        for ask in (
            lambda mechanism, costs=costs: mechanism.select(costs),
            lambda mechanism, costs=costs: mechanism.top(scores=np.negative(costs), k=1),
        ):
            with pytest.raises(sn.ParameterError, match="sensitivity must be stated for a selection by floats: "):
                ask(mechanism)
            ask(stated)
        mechanism.sample(costs)
        mechanism.probabilities(costs)
    assert mechanism.sensitivity == 1
    assert repr(mechanism) == repr(stated).replace(", sensitivity=1.0", "")
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism != stated


def test_calibrated_and_compared_mechanisms() -> None:
    for mechanism in (
        sn.calibrate(sn.Laplace, eps=1),
        sn.compare(1)["Laplace"].mechanism,
        sn.calibrate(sn.Gaussian, eps=1, delta=1e-6),
    ):
        with pytest.raises(sn.ParameterError, match=UNSTATED):
            mechanism.release(1.0)
    sn.calibrate(sn.Laplace, eps=1, sensitivity=1).release(1.0)
    table = sn.compare(1, sensitivity=1)
    table["Laplace"].mechanism.release(1.0)
    assert pickle.loads(pickle.dumps(sn.compare(1))) == sn.compare(1) != table
    alone = "sensitivity must be stated for a mechanism made from its noise alone, got None"
    with pytest.raises(sn.ParameterError, match=f"^{alone}$"):
        sn.calibrate(sn.Arete, eps=1)
    assert f"Left out: Arete, GeneralizedDiscreteLaplace; {alone}" in sn.compare(1, mechanisms="all").notes
    assert sn.compare(1, 1, mechanisms="all")["Arete"].mechanism.sensitivity == 1


def test_the_command_line_asks_for_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "pay.csv"
    file.write_text("pay\n1\n2\n")
    assert run(["release", str(file), "--column", "pay"]) != 0
    assert "--sensitivity" in capsys.readouterr().err
    assert run(["release", str(file), "--column", "pay", "--sensitivity", "100"]) == 0
