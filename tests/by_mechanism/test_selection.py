"""StaircaseSelection and ExponentialMechanism: arguments, shapes, the mechanism of a row."""

import math
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import stairnoise as sn

MECHANISMS = {
    "staircase": sn.StaircaseSelection(1.5, 1.0, 0.375),
    "monotonic": sn.StaircaseSelection(1.5, 2.0, 1.0, monotonic=True),
    "exponential": sn.ExponentialMechanism(1.5, 2.0),
    "permute-and-flip": sn.PermuteAndFlip(1.5, 2.0),
}
every = pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS)


def reference(mechanism, costs):
    """Return P(i) by the definition with exact exponents and 60 digits; permute-and-flip's polynomial loses some digits."""
    share = Fraction(mechanism.eps) / (1 if mechanism.monotonic else 2)
    ratios = [Fraction(float(cost)) / Fraction(mechanism.sensitivity) for cost in costs]
    if isinstance(mechanism, sn.StaircaseSelection):
        gamma = Fraction(mechanism.gamma)
        ratios = [Fraction(0 if x < gamma else math.floor(x - gamma) + 1) for x in ratios]
    with mp.workdps(60):
        exponents = [share * (x - min(ratios)) for x in ratios]
        weights = [mp.exp(-mp.mpf(x.numerator) / x.denominator) for x in exponents]
        if isinstance(mechanism, sn.PermuteAndFlip):
            return [a * first(weights[:i] + weights[i + 1 :]) for i, a in enumerate(weights)]
        return [weight / mp.fsum(weights) for weight in weights]


def first(others):
    """The mean, over the place of a candidate in the random order, of the probability that no other is accepted before it."""
    return mp.fsum((-1) ** size * value / (size + 1) for size, value in enumerate(elementary(others)))


def elementary(numbers):
    """Return the elementary symmetric polynomials of degrees 0, 1, 2, ..."""
    sums = [mp.mpf(1)] + [mp.mpf(0)] * len(numbers)
    for x in numbers:
        for k in range(len(numbers), 0, -1):
            sums[k] += x * sums[k - 1]
    return sums


# The mechanism of a row


@every
def test_probabilities_are_those_of_the_definition(mechanism):
    choose = random.Random(1)
    rows = [
        [choose.choice((choose.uniform(0, 900), choose.uniform(0, 5), 0.375 * choose.randrange(9))) for _ in range(17)]
        for _ in range(40)
    ]
    found, logs, means = mechanism.probabilities(rows), mechanism.log_probabilities(rows), mechanism.expected_cost(rows)
    for costs, probabilities, log, mean in zip(rows, found, logs, means, strict=True):
        exact = reference(mechanism, costs)
        for p, log_p, truth in zip(probabilities, log, exact, strict=True):
            assert p == pytest.approx(float(truth), rel=1e-12, abs=1e-307)
            assert log_p == pytest.approx(float(mp.log(truth)), rel=1e-14, abs=1e-14)
        assert mean == pytest.approx(float(mp.fdot(exact, costs)), rel=1e-12)


@every
def test_extreme_costs_have_their_mechanism(mechanism):
    for costs in ([0.0, 5e-324, 1e-310], [1.7e308, 1.7e308], [0.0, 1.7e308, 2.0], [2.0**70, 2.0**70], [-0.0, 0.0]):
        exact = [float(p) for p in reference(mechanism, costs)]
        if isinstance(mechanism, sn.StaircaseSelection) and costs[0] > 1e300:
            exact = [0.5, 0.5]
        assert mechanism.probabilities(costs) == pytest.approx(exact, rel=1e-13)
        assert mechanism.expected_cost(costs) == pytest.approx(float(np.dot(exact, costs)), rel=1e-13)


@pytest.mark.parametrize(
    ("eps", "sensitivity", "costs"),
    [(1.0, 1.7e308, [-1.7e308, 1.7e308, 5e-324]), (2.0**-1030, 5e-324, [0.0, 1e-9, 1e-12]), (1e200, 1e200, [1.0, 3.0, -2.0])],
)
def test_exponential_weights_keep_their_accuracy_where_steps_would_overflow(eps, sensitivity, costs):
    mechanism = sn.ExponentialMechanism(eps, sensitivity)
    assert mechanism.probabilities(costs) == pytest.approx([float(p) for p in reference(mechanism, costs)], rel=1e-12)
    # Differences of costs overflow too, so the mean is computed from numbers a quarter as large.
    quarter = np.array(costs) / 4
    assert mechanism.expected_cost(costs) / 4 == pytest.approx(mechanism.probabilities(costs) @ quarter, rel=1e-9)


def test_stairs_are_exact_at_their_edges():
    for unit in (1.0, 0.1, 3.0, 1e-310):
        for gamma in (5e-324, 0.1, 0.375, 0.5, 1.0):
            edges = [unit * (k + gamma) for k in range(40)]
            costs = [x for edge in edges for x in (math.nextafter(edge, 0), edge, math.nextafter(edge, math.inf))]
            found = sn.StaircaseSelection(1, unit, gamma).stairs(costs)
            for cost, stair in zip(costs, found, strict=True):
                c, D, g = map(Fraction, (cost, unit, gamma))
                assert stair == (0 if c < g * D else math.floor(c / D - g) + 1), (cost, unit, gamma)


def test_stairs_saturate():
    stairs = sn.StaircaseSelection(1, sensitivity=1).stairs([2.0**62, 2.0**63, 1e300, 1.7e308])
    assert stairs.tolist() == [2**62, 2**63 - 1, 2**63 - 1, 2**63 - 1]
    assert sn.StaircaseSelection(1, 5e-324).stairs([1e300]).tolist() == [2**63 - 1]


def test_costs_in_whole_steps_make_both_mechanisms_one():
    costs = np.random.default_rng(1).integers(0, 30, (50, 9)) * 0.25
    for gamma in (1e-9, 0.5, 1.0):
        staircase, exponential = sn.StaircaseSelection(2, 0.25, gamma), sn.ExponentialMechanism(2, 0.25)
        assert staircase.probabilities(costs) == pytest.approx(exponential.probabilities(costs), rel=1e-13)
        rng = sn.SeededRng(3)
        assert np.array_equal(staircase.sample(costs, rng=rng.at(0)), exponential.sample(costs, rng=rng.at(0)))


# Drawing


@every
def test_a_batch_is_its_rows(mechanism):
    costs = np.random.default_rng(2).uniform(0, 9, (3, 4, 70))
    batch = mechanism.sample(costs, rng=sn.SeededRng(5))
    assert batch.shape == (3, 4)
    assert batch.dtype == np.int64
    for i, (place, index) in enumerate(np.ndenumerate(batch)):
        assert mechanism.sample(costs[place], rng=sn.SeededRng(5).at(i)) == index


@every
def test_size_repeats_rows_as_numpy_broadcasts_them(mechanism):
    costs = np.random.default_rng(3).uniform(0, 9, (5, 11))
    for shape, rows in (((7, 5), costs), ((5, 600), costs[:, None, :]), ((40,), costs[0]), ((2, 3, 5), costs), ((5,), costs)):
        drawn = mechanism.sample(rows, shape, rng=sn.SeededRng(8))
        spread = np.ascontiguousarray(np.broadcast_to(rows, (*shape, 11)))
        assert drawn.shape == shape
        assert np.array_equal(drawn, mechanism.sample(spread, rng=sn.SeededRng(8)))
    assert mechanism.sample(costs[0], 6, rng=sn.SeededRng(1)).shape == (6,)
    assert mechanism.sample(costs, (0, 5)).shape == (0, 5)
    assert mechanism.sample(np.empty((0, 3))).shape == (0,)
    with pytest.raises(
        sn.ParameterError, match=r"size must be a shape that the parameters, of shape \(5,\), broadcast to, got \(4,\)"
    ):
        mechanism.sample(costs, 4)


@every
def test_threads_and_slices_give_the_same_selections(mechanism):
    costs = np.random.default_rng(4).uniform(0, 9, (30_000, 40))
    whole = mechanism.sample(costs, rng=sn.SeededRng(6), threads=1)
    assert np.array_equal(whole, mechanism.sample(costs, rng=sn.SeededRng(6), threads=4))
    assert np.array_equal(whole[777:], mechanism.sample(costs[777:], rng=sn.SeededRng(6).at(777)))
    one = mechanism.sample(costs[0], 300_000, rng=sn.SeededRng(6), threads=1)
    assert np.array_equal(one, mechanism.sample(costs[0], 300_000, rng=sn.SeededRng(6), threads=3))


@every
def test_any_layout_and_kind_of_number(mechanism):
    costs = np.random.default_rng(5).integers(0, 9, (6, 8, 10))
    expected = mechanism.sample(costs, rng=sn.SeededRng(7))
    packed = np.zeros(costs.shape, [("cost", "<f8"), ("pad", "i1")])
    packed["cost"] = costs
    spread = np.zeros((6, 8, 30))
    spread[..., ::3] = costs
    for same in (
        costs.astype(float),
        costs.astype(np.float32),
        costs.astype(np.uint8),
        costs.astype(float)[:, ::-1][:, ::-1],
        np.asfortranarray(costs.astype(float)),
        costs.astype(float)[..., ::-1].copy()[..., ::-1],
        costs.astype(">f8"),
        spread[..., ::3],
        packed["cost"],
        costs.tolist(),
    ):
        assert np.array_equal(mechanism.sample(same, rng=sn.SeededRng(7)), expected)


@every
def test_out_is_filled_and_returned(mechanism):
    costs = np.random.default_rng(6).uniform(0, 9, (4, 5))
    expected = mechanism.sample(costs, rng=sn.SeededRng(1))
    room = np.full((4, 3), -1)
    for out in (np.empty(4, np.int64), room[:, 1], room[::-1, 2]):
        assert mechanism.sample(costs, rng=sn.SeededRng(1), out=out) is out
        assert np.array_equal(out, expected)
    assert (room[:, 0] == -1).all()
    # Costs and indices share memory.
    memory = costs.copy()
    mechanism.sample(memory, rng=sn.SeededRng(1), out=memory.view(np.int64)[:, 0])
    assert np.array_equal(memory.view(np.int64)[:, 0], expected)
    for wrong, text in (
        (np.empty(4), "dtype int64"),
        (np.empty(5, np.int64), "out must be"),
        (np.empty(4, np.int32), "dtype int64"),
    ):
        with pytest.raises(sn.ParameterError, match=text):
            mechanism.sample(costs, out=wrong)


@every
def test_a_single_row_gives_a_python_int(mechanism):
    assert type(mechanism.select([1, 2, 3])) is int
    assert mechanism.select([4.0]) == 0
    assert mechanism.select([4.0], 3).tolist() == [0, 0, 0]


@every
def test_one_plain_row_is_selected_as_by_the_general_checks(mechanism):
    """Evidence: equality with calls that give a size, for rows inside and outside what the extension takes itself."""
    draw = np.random.default_rng(9)
    floats, long = draw.uniform(0, 9, 30), draw.integers(0, 60, 1025)
    rows = [floats, floats.tolist(), [0.25, 1, -0.0, math.inf], [2**53, 2**53 - 1], [2**54, 0], (3, 1, 2), long, long[:1024]]
    one, general = sn.SeededRng(3, allow_release=True), sn.SeededRng(3)
    for row in rows:
        for name, given in (("costs", row), ("scores", -np.asarray(row, float))):
            for same in (given, given.tolist() if isinstance(given, np.ndarray) else given):
                assert mechanism.select(**{name: same}, rng=one) == mechanism.sample(**{name: same}, size=(), rng=general)
                assert mechanism.sample(**{name: same}, rng=one) == mechanism.sample(**{name: same}, size=(), rng=general)


@every
def test_select_is_a_release(mechanism):
    with pytest.raises(sn.ParameterError, match="rng must be a SecureRng for a release"):
        mechanism.select([1, 2], rng=sn.SeededRng(1))
    allowed = mechanism.select([1, 2, 0], 50, rng=sn.SeededRng(1, allow_release=True))
    assert np.array_equal(allowed, mechanism.sample([1, 2, 0], 50, rng=sn.SeededRng(1)))
    assert mechanism.select([1, 2], 5, rng=sn.SecureRng()).shape == (5,)
    with pytest.raises(sn.ParameterTypeError, match="rng must be"):
        mechanism.sample([1, 2], rng=np.random.default_rng())


@every
def test_a_refused_call_draws_nothing(mechanism):
    rng, out = sn.SeededRng(2), np.full(2, -7)
    for costs in ([[1.0, 2.0], [3.0, math.nan]], [[], []], np.ma.masked_array([[1.0, 2.0]] * 2), [["a", "b"]] * 2):
        with pytest.raises(sn.StairnoiseError):
            mechanism.sample(costs, rng=rng, out=out)
    assert out.tolist() == [-7, -7]
    assert (
        mechanism.sample([1.0, 2.0, 3.0], 9, rng=rng).tolist()
        == mechanism.sample([1.0, 2.0, 3.0], 9, rng=sn.SeededRng(2)).tolist()
    )


# Arguments


@every
def test_costs_that_are_none_are_refused_with_their_index(mechanism):
    many = np.ones((50, 60))
    for bad, index in ((math.nan, (49, 59)), (math.nan, (0, 0)), (-math.inf, (17, 3))):
        costs = many.copy()
        costs[index] = bad
        for same in (costs, np.asfortranarray(costs)):
            with pytest.raises(
                sn.ParameterError, match=rf"costs must be finite.*, got one that is not at index \({index[0]}, {index[1]}\)"
            ):
                mechanism.select(same)
    for empty in ([], np.empty((3, 0)), 4.0):
        with pytest.raises(sn.ParameterError, match="costs must have at least one candidate along the last axis, got shape"):
            mechanism.select(empty)
    with pytest.raises(
        sn.ParameterError, match=r"costs must be exactly representable in float64, got a value of type int at index \(1,\)"
    ):
        mechanism.select([0, 2**53 + 1])
    for kind in ([True, False], ["1"], [1j], None):
        with pytest.raises(sn.ParameterTypeError, match="costs must be a real number"):
            mechanism.select(kind)


def test_negative_costs_are_for_the_exponential_mechanism_only():
    with pytest.raises(
        sn.ParameterError, match=r"costs must be finite or inf, and at least 0, got one that is not at index \(1, 0\)"
    ):
        sn.StaircaseSelection(1, sensitivity=1).select([[0.0, -0.0], [-5e-324, 1.0]])
    shifted = sn.ExponentialMechanism(1, sensitivity=1).probabilities([-3.0, -2.0, 0.0])
    assert shifted == pytest.approx(sn.ExponentialMechanism(1, sensitivity=1).probabilities([0.0, 1.0, 3.0]), rel=1e-14)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 0.0, -1.0])
def test_parameters_out_of_range_are_refused(bad):
    for make in (sn.StaircaseSelection, sn.ExponentialMechanism, sn.PermuteAndFlip):
        with pytest.raises(sn.ParameterError, match=f"eps must be finite and greater than 0, got {bad}"):
            make(bad)
        with pytest.raises(sn.ParameterError, match=f"sensitivity must be finite and greater than 0, got {bad}"):
            make(1, bad)
    with pytest.raises(sn.ParameterError, match=f"gamma must be greater than 0 and at most 1, got {bad}"):
        sn.StaircaseSelection(1, 1, bad)


def test_parameters_of_the_wrong_kind_are_refused():
    with pytest.raises(sn.ParameterError, match="eps must be a single number, got an array"):
        sn.StaircaseSelection([1.0, 2.0], sensitivity=1)
    with pytest.raises(sn.ParameterError, match=r"gamma must be greater than 0 and at most 1, got 1\.0000000000000002"):
        sn.StaircaseSelection(1, 1, math.nextafter(1, 2))
    for make in (sn.StaircaseSelection, sn.ExponentialMechanism, sn.PermuteAndFlip):
        with pytest.raises(sn.ParameterTypeError, match="monotonic must be True or False, got 'no'"):
            make(1, monotonic="no")
        with pytest.raises(sn.ParameterTypeError, match="eps must be a real number"):
            make("1")


@every
def test_mechanisms_are_values(mechanism):
    import stairnoise
    from stairnoise import ExponentialMechanism, PermuteAndFlip, StaircaseSelection  # noqa: F401 - names that repr uses

    again = pickle.loads(pickle.dumps(mechanism))
    assert again == mechanism == eval(repr(mechanism))
    assert hash(again) == hash(mechanism)
    assert mechanism != stairnoise.StaircaseSelection(9, sensitivity=1)
    assert mechanism.probabilities([0, 1, 5]).tolist() == again.probabilities([0, 1, 5]).tolist()
    with pytest.raises(AttributeError, match="is immutable"):
        mechanism.eps = 2.0


def test_properties_are_what_was_given():
    mechanism = sn.StaircaseSelection(2, 3, 0.25, True)
    assert (mechanism.eps, mechanism.sensitivity, mechanism.gamma, mechanism.monotonic) == (2.0, 3.0, 0.25, True)


def test_more_rows_than_could_ever_be_looked_at():
    """Rows that repeat by stride 0 are read once. No memory holds the output, so the call fails before a draw."""
    rng = sn.SeededRng(1)
    for mechanism in (
        sn.StaircaseSelection(1.0, sensitivity=1),
        sn.ExponentialMechanism(1.0, sensitivity=1),
        sn.PermuteAndFlip(1.0, sensitivity=1),
    ):
        with pytest.raises(MemoryError):
            mechanism.sample(np.broadcast_to([1.0, 2.0], (2**50, 2)), rng=rng)
        with pytest.raises(sn.ParameterError, match=r"got one that is not at index \(0, 1\)$"):
            mechanism.sample(np.broadcast_to([1.0, math.nan], (2**50, 2)), rng=rng)
    assert rng._stream.fill_count == 0


# Labels


@every
def test_labels_of_pandas(mechanism):
    pandas = pytest.importorskip("pandas")
    costs, rng = [3.0, 0.0, 5.0, 1.0], sn.SeededRng(4, allow_release=True)
    series = pandas.Series(costs, ["Aarau", "Bern", "Chur", "Thun"])
    frame = pandas.DataFrame([costs, costs[::-1]], columns=[10, 20, 30, 40])
    names = series.index.to_numpy()
    one = mechanism.select(series, rng=rng.at(0))
    assert one == names[mechanism.select(costs, rng=rng.at(0))]
    assert np.array_equal(mechanism.sample(series, 9, rng=rng.at(0)), names[mechanism.sample(costs, 9, rng=rng.at(0))])
    assert np.array_equal(mechanism.top(series, 2, rng=rng.at(0)), names[mechanism.top(costs, 2, rng=rng.at(0))])
    assert np.array_equal(mechanism.select(frame, rng=rng.at(0)), 10 * (1 + mechanism.select(frame.to_numpy(), rng=rng.at(0))))
    out = np.empty((), np.int64)
    assert mechanism.select(series, out=out, rng=rng.at(0)) is out
    assert names[int(out)] == one
