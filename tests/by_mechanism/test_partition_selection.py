"""PartitionSelection: its guarantee by sums over all outcomes, its optimality by linear programs, arguments and columns."""

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from mpmath import iv

import stairnoise as sn
from tests.oracles import intervals
from tests.oracles.partition_selection import Partitions, Shown

PAIRS = [(0.1, 0.01), (0.5, 1e-3), (1.0, 1e-3), (1.0, 1e-6), (1.0, 0.5), (2.0, 0.05), (4.0, 1e-4), (8.0, 1e-6), (0.02, 0.3)]
pairs = pytest.mark.parametrize(("eps", "delta"), PAIRS)


def outcomes(steps, n):
    """Return {value: probability} of a group of n people. None means hidden; a value is n - N, up to a constant."""
    found = {n - needed: step for needed, step in enumerate(steps, 1) if needed <= n}
    hidden = steps[n:]
    return {**found, None: sum(hidden[1:], hidden[0])} if hidden else found


def hockey_stick(p, q, growth, zero):
    """Return Σ (p - e^ε q)₊ over all outcomes."""
    # In interval arithmetic an excess of 0 is an interval around 0, whose upper end is added.
    return sum((excess for excess in differences(p, q, growth, zero) if excess.b > 0), zero)


def differences(p, q, growth, zero):
    return [chance - growth * q.get(outcome, zero) for outcome, chance in p.items()]


# The guarantee


@pairs
def test_every_release_has_exactly_the_delta(eps, delta):
    """Evidence: the definition of (ε, δ), over all outcomes of the joint release and every pair of neighbours, in 600 bits.

    The steps come from the recursion of the contract, which golden vectors tie to what is drawn. The divergence is δ up to the
    width of the intervals wherever a new count can be shown, and never more.
    """
    mechanism = Shown(Partitions(eps, delta, 1))
    bits, exact = 600, Fraction(delta)
    with intervals.precision(bits):
        shown = [*mechanism._at(bits), iv.mpf(1)]
        steps = [after - before for before, after in itertools.pairwise(shown)]
        growth, zero, width = intervals.exp(mechanism.eps), iv.mpf(0), iv.mpf(2) ** -400
        worst = []
        for n in range(mechanism.certain + 3):
            a, b = outcomes(steps, n), outcomes(steps, n + 1)
            for p, q in ((a, b), (b, a)):
                total = hockey_stick(p, q, growth, zero)
                assert total.b <= (intervals.rational(exact) + width).a, (n, total)
                worst.append(total)
        assert max(w.a for w in worst) >= (intervals.rational(exact) - width).b


@pairs
def test_no_group_of_nobody_is_shown_and_release_shows_what_select_shows(eps, delta):
    """Evidence: the same words; and counts of 0 under 10⁵ words."""
    mechanism = sn.PartitionSelection(eps, delta)
    rng = sn.SeededRng(5, allow_release=True)
    counts = np.arange(50_000) % (mechanism.always_shown + 2)
    shown, values = mechanism.release(counts, rng=rng.at(0))
    assert np.array_equal(mechanism.select(counts, rng=rng.at(0)), shown)
    assert np.array_equal(values != 0, shown)
    assert values[shown].min() >= mechanism.threshold
    assert shown[counts >= mechanism.always_shown].all()
    nobody = np.zeros(100_000, np.int64)
    assert not mechanism.select(nobody, rng=rng).any()
    assert not mechanism.release(nobody, rng=rng)[1].any()


def joint(mechanism, n):
    """Return the outcomes of one group in floating point, by the mechanism's own functions."""
    chances = np.diff(mechanism.probability(np.arange(mechanism.always_shown + 1)))
    return outcomes(chances.tolist(), n)


@pytest.mark.parametrize(("eps", "delta", "k"), [(1.0, 0.1, 2), (3.0, 0.2, 2), (4.0, 0.4, 3), (8.0, 0.3, 3)])
def test_a_person_in_k_groups_has_the_guarantee(eps, delta, k):
    """Evidence: the definition, over all outcomes of vectors of counts in which a person adds 1 to each of k groups."""
    mechanism = sn.PartitionSelection(eps, delta, k)
    sizes = range(mechanism.always_shown + 2)
    some = sizes if k == 2 else (0, 1, mechanism.threshold, mechanism.always_shown)
    growth, worst = math.exp(eps), 0.0
    for counts in itertools.product(some, repeat=k):
        alone, joined = ([joint(mechanism, n + one) for n in counts] for one in (0, 1))
        for p, q in ((alone, joined), (joined, alone)):
            total = 0.0
            for outcome in itertools.product(*p):
                chance = math.prod(item[x] for item, x in zip(p, outcome, strict=True))
                other = math.prod(item.get(x, 0.0) for item, x in zip(q, outcome, strict=True))
                total += max(0.0, chance - growth * other)
            worst = max(worst, total)
    assert worst <= delta * (1 + 1e-12)
    # The union bound is close: at least this part of δ is used.
    assert worst > 0.5 * delta


@pairs
def test_nothing_shows_more(eps, delta):
    """Evidence: for each n, a linear program over all (ε, δ)-private rules maximises π(n)."""
    optimize = pytest.importorskip("scipy.optimize")
    mechanism = sn.PartitionSelection(eps, delta)
    most = min(mechanism.always_shown, 40)
    growth, rows, bounds = math.exp(eps), [], []
    for n in range(most):
        for shown, other in ((n, n + 1), (n + 1, n)):
            row = np.zeros(most + 1)
            row[shown], row[other] = 1, -growth
            rows += [row, -row]
            # p(shown) <= e^ε p(other) + δ, and 1 - p(shown) <= e^ε (1 - p(other)) + δ.
            bounds += [delta, growth - 1 + delta]
    box = [(0, 0), *((0, 1) for _ in range(most))]
    expected = mechanism.probability(np.arange(most + 1))
    for n in {1, 2, most // 3, most // 2, most - 1, most}:
        objective = np.zeros(most + 1)
        objective[n] = -1
        found = optimize.linprog(objective, np.array(rows), np.array(bounds), bounds=box, method="highs")
        assert -found.fun == pytest.approx(expected[n], rel=1e-5, abs=1e-6), n


# The mechanism's own functions


@pairs
def test_probability_is_the_recursion(eps, delta):
    """Evidence: the recursion in intervals, by the oracle."""
    made, mechanism = Shown(Partitions(eps, delta, 1)), sn.PartitionSelection(eps, delta)
    found = mechanism.probability(np.arange(made.certain + 5))
    with intervals.precision(300):
        expected = [float(x.mid) for x in made._at(300)] + [1.0] * 5
    assert found == pytest.approx(expected, rel=1e-12, abs=0)
    assert (mechanism.threshold, mechanism.always_shown) == (made.median, made.certain)
    assert type(mechanism.probability(3)) is float
    assert mechanism.probability([[0, 10**15]]).tolist() == [[0.0, 1.0]]


@pairs
def test_moments_of_the_noise(eps, delta):
    """Evidence: the definition, from the probabilities."""
    mechanism = sn.PartitionSelection(eps, delta)
    chances = np.diff(mechanism.probability(np.arange(mechanism.always_shown + 1)))
    noise = mechanism.threshold - np.arange(1, chances.size + 1)
    mean = float((chances * noise).sum())
    assert mechanism.noise_mean() == pytest.approx(mean, abs=1e-9)
    assert mechanism.noise_std() == pytest.approx(math.sqrt((chances * (noise - mean) ** 2).sum()), rel=1e-9)
    assert abs(mean) < 0.6


@pairs
def test_privacy_loss_is_that_of_the_noise(eps, delta):
    """Evidence: the definition of the profile, from the probabilities."""
    mechanism = sn.PartitionSelection(eps, delta)
    steps = np.diff(mechanism.probability(np.arange(mechanism.always_shown + 1)))
    loss = mechanism.privacy_loss()
    for t in (0.0, eps / 2, eps, 1.5 * eps):
        below, above = np.append(steps, 0.0), np.append(0.0, steps)
        sums = [np.maximum(p - math.exp(t) * q, 0).sum() for p, q in ((below, above), (above, below))]
        assert loss.privacy_profile(t) == pytest.approx(max(sums), rel=1e-8)
    assert loss.eps_for_delta(delta * (1 + 1e-9)) <= eps * (1 + 1e-9)


def test_guarantee():
    assert sn.PartitionSelection(1, 1e-6).guarantee() == sn.Guarantee(1.0, 1e-6, None, 1, 1)
    several = sn.PartitionSelection(1, 1e-6, max_partitions_contributed=2)
    assert several.guarantee() == sn.Guarantee(1.0, 1e-6, None, 1, 2)
    assert several.privacy_loss().releases == 2
    one = sn.PartitionSelection(0.5, 5e-7)
    assert several.probability(range(40)).tolist() == one.probability(range(40)).tolist()


@pytest.mark.parametrize(("eps", "delta"), [(750.0, 0.1), (1e300, 1e-30), (2.0**-40, 2.0**-128), (1e-9, 0.5)])
def test_the_ends_of_the_parameters(eps, delta):
    mechanism = sn.PartitionSelection(eps, delta)
    assert mechanism.probability([0, 1]).tolist() == [0.0, delta]
    assert mechanism.select([0, mechanism.always_shown]).tolist() == [False, True]
    shown, values = mechanism.release([0, 2**62])
    assert shown.tolist() == [False, True]
    assert values[1] > 2**61


def test_is_a_value():
    mechanism = sn.PartitionSelection(1, 1e-6, 2)
    assert repr(mechanism) == "PartitionSelection(eps=1.0, delta=1e-06, max_partitions_contributed=2)"
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism != sn.PartitionSelection(1, 1e-6)
    with pytest.raises(AttributeError, match="immutable"):
        mechanism.eps = 2


# Arguments

MECHANISM = sn.PartitionSelection(1, 1e-3)


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        ((0, 0.1), sn.ParameterError, "eps must be finite and greater than 0, got 0.0"),
        ((1, 0), sn.ParameterError, "delta must be from 2**-128 to 0.5, got 0.0"),
        ((1, 0.6), sn.ParameterError, "delta must be from 2**-128 to 0.5, got 0.6"),
        ((1, math.nan), sn.ParameterError, "delta must be from 2**-128 to 0.5, got nan"),
        ((1e-13, 0.1), sn.ParameterError, "eps must be at least 2**-40 for each partition, got 1e-13"),
        ((1, 1e-38, 10), sn.ParameterError, "delta must be at least 2**-128 for each partition, got 1e-38"),
        (([1, 2], 0.1), sn.ParameterError, "eps must be a single number, got an array of dtype float64 and shape (2,)"),
        ((1, 0.1, 0), sn.ParameterError, "max_partitions_contributed must be an integer from 1 to 2**53 - 1, got 0"),
        ((1, 0.1, 2.0), sn.ParameterTypeError, "max_partitions_contributed must be an integer, got 2.0"),
    ],
)
def test_refused_parameters(arguments, kind, text):
    with pytest.raises(kind) as caught:
        sn.PartitionSelection(*arguments)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("counts", "kind", "text"),
    [
        (-1, sn.ParameterError, "counts must be at least 0, got one that is not"),
        ([[1, 2], [3, -77]], sn.ParameterError, "counts must be at least 0, got one that is not at index (1, 1)"),
        (np.array([5, -77], np.int8), sn.ParameterError, "counts must be at least 0, got one that is not at index (1,)"),
        (1.0, sn.ParameterTypeError, "counts must be integers, got a value of type float"),
        (np.array([77.5]), sn.ParameterTypeError, "counts must be integers, got an array of dtype float64 and shape (1,)"),
        ([2**63], sn.ParameterError, "counts must be at least 0 and below 2**63, got one that is not at index (0,)"),
        ([True], sn.ParameterTypeError, "counts must be a real number or an array of real numbers, got a value of type bool"),
        ("77", sn.ParameterTypeError, "counts must be a real number or an array of real numbers, got a value of type str"),
        (None, sn.ParameterTypeError, "counts must be a real number or an array of real numbers, got a value of type NoneType"),
    ],
)
def test_refused_counts(counts, kind, text):
    rng = sn.SeededRng(1, allow_release=True)
    for draw in (MECHANISM.select, MECHANISM.release):
        with pytest.raises(kind) as caught:
            draw(counts, rng=rng)
        assert str(caught.value).startswith(text)
        assert "77" not in str(caught.value)
    # Nothing was drawn.
    twin = sn.SeededRng(1, allow_release=True)
    assert MECHANISM.release([9] * 50, rng=rng)[1].tolist() == MECHANISM.release([9] * 50, rng=twin)[1].tolist()


def test_refused_generators():
    for draw in (MECHANISM.select, MECHANISM.release):
        with pytest.raises(sn.ParameterError, match="rng must be a SecureRng for a release"):
            draw([1], rng=sn.SeededRng(1))
        with pytest.raises(sn.ParameterTypeError, match="rng must be a SecureRng"):
            draw([1], rng=3)


def test_shapes_and_dtypes():
    for dtype in ("int8", "uint8", "int16", "uint32", "int64", "uint64", ">i4"):
        counts = np.array([[0, 100, 0], [100, 0, 100]], dtype)
        shown, values = MECHANISM.release(counts[:, ::-1])
        assert shown.dtype == np.bool_
        assert values.dtype == np.int64
        assert np.array_equal(shown, counts[:, ::-1] > 0)
        assert np.array_equal(MECHANISM.select(counts.T), counts.T > 0)
    assert MECHANISM.select(0) is False
    assert MECHANISM.select(np.int32(100)) is True
    shown, value = MECHANISM.release(100)
    assert shown is True
    assert type(value) is int
    assert [item.shape for item in MECHANISM.release([])] == [(0,), (0,)]
    assert MECHANISM.select(np.empty((3, 0), np.int64)).shape == (3, 0)
    assert MECHANISM.release(2**63 - 1)[1] > 2**62


# Columns


@pytest.mark.parametrize("k", [1, 10])
def test_a_single_count_is_answered_like_an_array_of_it(k):
    mechanism = sn.PartitionSelection(1, 1e-3, k)
    for fill, count in itertools.product(range(20), (0, 1, 5, 20, 2**63 - 1)):
        key = bytes([fill]) * 32
        for number in (count, np.int64(count), np.uint64(count)):
            one, array = sn.SecureRng.from_key(key), sn.SecureRng.from_key(key)
            assert (mechanism.select(number, rng=one),) == tuple(mechanism.select([number], rng=array))
            assert mechanism.release(number, rng=one) == tuple(part[0] for part in mechanism.release([number], rng=array))
            assert mechanism.probability(number) == mechanism.probability([number])[0]
    assert type(mechanism.select(3)) is bool
    assert tuple(map(type, mechanism.release(3))) == (bool, int)


def test_pandas():
    pd = pytest.importorskip("pandas")
    for dtype in ("int64", "UInt16", "Int64", "int8"):
        counts = pd.Series([0, 100, 0, 120], index=list("abcd"), name="n", dtype=dtype)
        shown, values = MECHANISM.release(counts)
        assert type(shown) is np.ndarray
        assert values[shown].index.tolist() == ["b", "d"]
        assert (values.dtype, values.name) == ("Int64" if dtype[0] in "UI" else "int64", "n")
        assert MECHANISM.select(counts).tolist() == [False, True, False, True]
    assert MECHANISM.release(pd.Series([127] * 50, dtype="int8"))[1].max() > 127
    with pytest.raises(sn.ParameterError, match=r"counts must not be null, got a null at index \(1,\)"):
        MECHANISM.release(pd.Series([77, None], dtype="Int64"))
    with pytest.raises(sn.ParameterTypeError, match="counts must be a column of real numbers, got a Series of dtype"):
        MECHANISM.select(pd.Series(["a"]))
    with pytest.raises(sn.ParameterTypeError, match="counts must be integers, got a value of type Series"):
        MECHANISM.select(pd.Series([77.5]))
    with pytest.raises(sn.ParameterTypeError, match="counts must be a single column, got a value of type DataFrame"):
        MECHANISM.release(pd.DataFrame({"n": [1]}))
    with pytest.raises(sn.ParameterError, match=r"counts must be at least 0, got one that is not at index \(0,\)"):
        MECHANISM.release(pd.Series([-77]))


def test_polars_and_arrow():
    polars = pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    for counts in (polars.Series("n", [0, 100, 90], dtype=polars.UInt16), pyarrow.array([0, 100, 90], pyarrow.uint16())):
        shown, values = MECHANISM.release(counts)
        assert shown.tolist() == [False, True, True]
        assert type(values) in (polars.Series, pyarrow.Int64Array)
        assert values[0] in (0, pyarrow.scalar(0, pyarrow.int64()))
    frame = polars.DataFrame({"city": ["a", "b"], "n": [0, 100]})
    shown, values = MECHANISM.release(frame["n"])
    assert frame.with_columns(values).filter(shown)["city"].to_list() == ["b"]
    with pytest.raises(sn.LazyError, match="counts must be in memory, got a lazy value of type LazyFrame of polars"):
        MECHANISM.release(frame.lazy())


def test_what_is_too_long_to_list_or_to_compose():
    long = sn.PartitionSelection(1e-9, 1e-9)
    for moment in (long.noise_mean, long.noise_std):
        with pytest.raises(sn.ParameterError, match=r"^eps/max_partitions_contributed must leave at most 2"):
            moment()
    many = sn.PartitionSelection(1e9, 1e-3, 2**20)
    with pytest.raises(sn.ParameterError, match=r"^max_partitions_contributed must be at most 2\*\*14 .* got 1048576"):
        many.privacy_loss()
    assert many.guarantee().eps == 1e9
