"""Randomized response: parameters, probabilities, privacy by definition, estimates, labels and columns.

Evidence: fractions and brute force over all outcomes, dp_accounting, exact coverage of the intervals, and chi-square tests with
fixed seeds whose false-alarm rate is 1e-6 each. The oracle's exact shifts are in tests/exactness.
"""

import datetime
import math
import random
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

import stairnoise as sn
from tests.combinations import in_turn, rest_long

LABELS = ("car", "bus", "bike")
PARAMETERS = [(1.0, 2), (0.1, 5), (2.5, 3), (0.7, 7), (6.0, 4), (2.0**-40, 3), (50.0, 2)]
each_parameters = pytest.mark.parametrize(("eps", "k"), PARAMETERS)


def seeded(seed: int = 1) -> sn.SeededRng:
    return sn.SeededRng(seed, allow_release=True)


# Parameters


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 2), "eps must be finite and at least 2**-40, got 0.0"),
        ((math.nan, 2), "eps must be finite and at least 2**-40, got nan"),
        ((math.inf, 2), "eps must be finite and at least 2**-40, got inf"),
        ((1e-13, 2), "eps must be finite and at least 2**-40, got 1e-13"),
        (([1, 2], 2), "eps must be a single number, got an array of dtype float64 and shape (2,)"),
        ((1, 1), "categories must be an integer from 2 to 2**53, got 1"),
        ((1, 2**53 + 1), "categories must be an integer from 2 to 2**53, got 9007199254740993"),
        ((1, 2.0), "categories must be an integer, or a list of labels, got 2.0"),
        ((1, True), "categories must be an integer, or a list of labels, got True"),
        ((1, "ab"), "categories must be an integer, or a list of labels, got 'ab'"),
        ((1, ["a"]), "categories must be at least two different labels, got ['a']"),
        ((1, ["a", "b", "a"]), "categories must be at least two different labels, got ['a', 'b', 'a']"),
        ((1, ["a", 1]), "categories must be all texts or all integers, got ['a', 1]"),
        ((1, [1, True]), "categories must be all texts or all integers, got [1, True]"),
        ((1, [1, 2**63]), "categories must be all texts or all integers, got [1, 9223372036854775808]"),
    ],
)
def test_refused_parameters(arguments: tuple[Any, Any], text: str) -> None:
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError)) as caught:
        sn.RandomizedResponse(*arguments)
    assert str(caught.value) == text


def test_parameters() -> None:
    mechanism = sn.RandomizedResponse(1, np.array(["a", "b"]).tolist())
    assert (mechanism.eps, mechanism.categories, mechanism.n_categories) == (1.0, ("a", "b"), 2)
    assert sn.RandomizedResponse(1, np.int64(3)).categories == 3
    assert sn.RandomizedResponse(1, ["a", "b"]) != sn.RandomizedResponse(1, ["b", "a"])


# Probabilities


def matrix(eps: float, k: int) -> list[list[Fraction]]:
    """Return P(i → j) with e^eps as the exact value of a float64."""
    power = Fraction(math.exp(eps))
    return [[(power if i == j else Fraction(1)) / (power + k - 1) for j in range(k)] for i in range(k)]


@pytest.mark.parametrize(("eps", "k"), [(1.0, 2), (0.1, 5), (2.5, 3), (0.7, 40)])
@pytest.mark.parametrize("true", [0, -1])
def test_frequencies_are_the_probabilities(eps: float, k: int, true: int) -> None:
    n, true = 200_000, true % k
    mechanism = sn.RandomizedResponse(eps, k)
    counts = np.bincount(mechanism.release(np.full(n, true), rng=seeded()), minlength=k)
    assert stats.chisquare(counts, [float(p) * n for p in matrix(eps, k)[true]]).pvalue > 1e-6
    assert float(matrix(eps, k)[0][0]) == pytest.approx(mechanism.keep_probability, rel=1e-12)


def test_neighbours_are_independent() -> None:
    shifts = sn.RandomizedResponse(0.5, 4).sample(400_000, rng=seeded())
    for apart in (1, 2, 64):
        pairs = np.bincount(4 * shifts[:-apart] + shifts[apart:], minlength=16).reshape(4, 4)
        assert stats.chi2_contingency(pairs).pvalue > 1e-6


def test_a_release_adds_the_shift_of_sample() -> None:
    mechanism = sn.RandomizedResponse(1, 5)
    true = np.arange(1000) % 5
    expected = (true + mechanism.sample(1000, rng=seeded(3))) % 5
    assert np.array_equal(mechanism.release(true, rng=seeded(3)), expected)
    assert np.array_equal(sn.sample(1000, 1, mechanism="randomized_response", categories=5, rng=seeded(3)), (expected - true) % 5)


# Privacy


@each_parameters
def test_the_loss_is_that_of_all_outcomes(eps: float, k: int) -> None:
    """δ(t) = Σ max(0, P(0 → j) - e^t P(1 → j)), and the Rényi divergence, for fractions."""
    first, second = matrix(eps, k)[:2]
    loss = sn.RandomizedResponse(eps, k).privacy_loss()
    for t in (0.0, eps / 3, 0.9 * eps, eps):
        delta = sum((max(Fraction(0), p - Fraction(math.exp(t)) * q) for p, q in zip(first, second, strict=True)), Fraction(0))
        assert loss.privacy_profile(t) == pytest.approx(float(delta), rel=1e-9, abs=1e-15)
    for alpha in (1.5, 2.0, 10.0):
        moment = sum(float(p) * float(p / q) ** (alpha - 1) for p, q in zip(first, second, strict=True))
        assert loss.rdp(alpha) == pytest.approx(math.log(moment) / (alpha - 1), rel=1e-6, abs=1e-22)
    assert loss.eps == eps


@pytest.mark.parametrize(("eps", "k", "m"), [(1.0, 2, 3), (0.4, 3, 4), (2.0, 4, 3)])
def test_several_values_by_all_their_outcomes(eps: float, k: int, m: int) -> None:
    """All k**m outcomes of a person who changes m values, for `compose` and `for_partitions`."""

    def delta(one: float, t: float) -> float:
        first, second = matrix(one, k)[:2]
        total = 0.0
        for outcome in product(range(k), repeat=m):
            p, q = (math.prod(float(row[j]) for j in outcome) for row in (first, second))
            total += max(0.0, p - math.exp(t) * q)
        return total

    mechanism = sn.RandomizedResponse(eps, k)
    for t in (0.0, eps, 1.7 * eps):
        assert mechanism.compose(m).privacy_profile(t) == pytest.approx(delta(eps, t), rel=1e-9)
    item = mechanism.for_partitions(m)
    assert m * Fraction(item.eps) <= Fraction(eps)
    assert delta(item.eps, eps) < 1e-15
    assert delta(item.eps, eps * 0.99) > 0
    assert np.array_equal(
        mechanism.release(np.arange(300) % k, max_partitions_contributed=m, rng=seeded()),
        item.release(np.arange(300) % k, rng=seeded()),
    )


def test_random_parameters_against_dp_accounting() -> None:
    """dp_accounting's loss of the same probabilities; a grid of 1e-4 gives δ within 1e-3 of the exact one."""
    accounting = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    choose = random.Random(46)
    for _ in range(6):
        eps, k, m = choose.uniform(0.05, 3), choose.randrange(2, 12), choose.randrange(1, 6)
        first, second = matrix(eps, k)[:2]
        logs = [{j: math.log(row[j]) for j in range(k)} for row in (second, first)]
        other = accounting.from_two_probability_mass_functions(*logs, value_discretization_interval=1e-4)
        for t in (0.5 * eps, m * eps * 0.8):
            found = sn.RandomizedResponse(eps, k).compose(m).privacy_profile(t)
            assert found <= other.self_compose(m).get_delta_for_epsilon(t) + 1e-12
            assert found >= other.self_compose(m).get_delta_for_epsilon(t + m * 1e-4) - 1e-12


def test_guarantees() -> None:
    mechanism = sn.RandomizedResponse(1, 3)
    assert mechanism.guarantee().sensitivity is None
    assert repr(mechanism.guarantee()) == "Guarantee: one value, whatever it becomes, is 1.0-differentially private."
    assert (
        repr(mechanism.guarantee(max_partitions_contributed=3))
        == "Guarantee: 3 values, whatever they become, are 1.0-differentially private together."
    )
    with pytest.raises(sn.ParameterError, match="sensitivity must be left out for a RandomizedResponse"):
        mechanism.guarantee(2)
    with pytest.raises(sn.ParameterTypeError, match="mechanism must be a mechanism of numbers, got RandomizedResponse"):
        sn.binomial_test(1, 2, mechanism=mechanism)


# Estimates


@each_parameters
def test_estimates_have_no_bias(eps: float, k: int) -> None:
    """The estimate is linear, so the expected counts give the truth. The test rounds them, because counts are integers."""
    n = 2**14
    shares = np.arange(1, k + 1) / (k * (k + 1) / 2)
    expected = np.array([[float(p) for p in row] for row in matrix(eps, k)]).T @ shares
    counts = np.round(expected * n).astype(np.int64)
    between = math.expm1(eps) / (math.exp(eps) + k - 1)
    found, low, high = sn.RandomizedResponse(eps, k).estimate(counts)
    assert np.abs(found - shares).max() < 0.51 / n / between * (1 + k) + 1e-9
    assert ((low <= shares) & (shares <= high)).all()


def binomial(n: int, p: float) -> Any:
    return stats.binom.pmf(np.arange(n + 1), n, p)


@pytest.mark.parametrize(("eps", "k", "n"), [(1.0, 2, 9), (0.5, 5, 14), (3.0, 9, 9), (6.0, 3, 12)])
@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_intervals_cover_the_truth(eps: float, k: int, n: int, confidence: float) -> None:
    """The exact probability, for people drawn at random and for given people, of every share that n people can have."""
    mechanism = sn.RandomizedResponse(eps, k)
    ends = [mechanism.estimate([c, n - c, *[0] * (k - 2)], confidence) for c in range(n + 1)]
    p = mechanism.keep_probability
    q = (1 - p) / (k - 1)
    covered = []
    for those in range(n + 1):
        share = those / n
        inside = np.array([low[0] <= share <= high[0] for _, low, high in ends])
        drawn = binomial(n, q + (p - q) * share)
        given = np.convolve(binomial(those, p), binomial(n - those, q))
        covered += [(drawn * inside).sum(), (given * inside).sum()]
    assert min(covered) >= confidence - 1e-9
    assert min(covered) < 1


def test_the_interval_is_clopper_and_pearsons() -> None:
    counts, n = np.array([0, 3, 500, 497, 1000]), 2000
    mechanism = sn.RandomizedResponse(2.0, 5)
    p = mechanism.keep_probability
    q = (1 - p) / 4
    low = np.where(counts > 0, stats.beta.ppf(0.05, counts, n - counts + 1), 0)
    high = stats.beta.ppf(0.95, counts + 1, n - counts)
    found = mechanism.estimate(counts, 0.9)
    np.testing.assert_allclose(found[0], (counts / n - q) / (p - q), rtol=1e-12)
    np.testing.assert_allclose(found[1], np.clip((low - q) / (p - q), 0, 1), atol=1e-9)
    np.testing.assert_allclose(found[2], np.clip((high - q) / (p - q), 0, 1), atol=1e-9)


PEOPLE, CONFIDENCES = (1, 2, 30, 10**4, 2**32), (0.5, 0.95, 1 - 1e-12)


@pytest.mark.parametrize(("n", "confidence"), rest_long(in_turn(PEOPLE, CONFIDENCES), product(PEOPLE, CONFIDENCES)))
def test_ends_by_the_beta_distribution(n: int, confidence: float) -> None:
    """Interval ends are SciPy's quantiles rounded outwards, down to a count of 0."""
    p = sn.RandomizedResponse(700, 2)
    for count in {0, 1, n // 3, n // 2, n - 1, n}:
        _, low, high = p.estimate([count, n - count], confidence)
        beyond = (1 - confidence) / 2
        least = stats.beta.ppf(beyond, count, n - count + 1) if count else 0.0
        most = stats.beta.isf(beyond, count + 1, n - count) if count < n else 1.0
        np.testing.assert_allclose((low[0], high[0]), (least, most), rtol=1e-8)


@pytest.mark.parametrize(
    ("counts", "confidence", "text"),
    [
        ([1, 2], 0.95, "counts must be one for each of the 3 categories, got a value of type list"),
        ([1, 2, -1], 0.95, "counts must be from 0 to 2**32, got one that is not at index (2,)"),
        ([0, 0, 0], 0.95, "counts must add up to a number from 1 to 2**32, got a value of type list"),
        ([1.0, 2, 3], 0.95, "counts must be integers, got one that is not at index (0,)"),
        ([1, 2, 3], 1, "confidence must be less than 1, got 1.0"),
        ([1, 2, 3], 0.3, "confidence must be from 0.5 to 1, got 0.3"),
    ],
)
def test_refused_counts(counts: Any, confidence: float, text: str) -> None:
    with pytest.raises((sn.ParameterError, sn.ParameterTypeError)) as caught:
        sn.RandomizedResponse(1, 3).estimate(counts, confidence)
    assert str(caught.value).startswith(text)


# Releases of numbers


def test_shapes_types_and_outputs() -> None:
    mechanism = sn.RandomizedResponse(60, 5)
    assert mechanism.release(3) == 3
    assert type(mechanism.release(np.int8(3))) is int
    table = np.arange(12).reshape(3, 4) % 5
    for values in (table, table.tolist(), table.astype("uint8"), table[:, ::-1][:, ::-1], np.asfortranarray(table)):
        released = mechanism.release(values)
        assert released.dtype == np.int64
        assert np.array_equal(released, table)
    for dtype in ("int64", "uint64", "uint32"):
        out = np.zeros((4, 3), dtype).T
        assert mechanism.release(table, out=out) is out
        assert np.array_equal(out, table)
    same = table.copy()
    assert np.array_equal(mechanism.release(same, out=same), table)
    assert mechanism.release(np.zeros((0, 2), int)).shape == (0, 2)
    with pytest.raises(sn.ParameterError, match=r"^out must have dtype int64, uint64 or uint32, got int32$"):
        mechanism.release(table, out=np.zeros((3, 4), "int32"))


def test_the_number_of_threads_and_the_length_do_not_matter() -> None:
    mechanism, true = sn.RandomizedResponse(1, 7), np.arange(2**19) % 7
    whole = mechanism.release(true, rng=seeded(5), threads=1)
    assert np.array_equal(mechanism.release(true, rng=seeded(5), threads=2), whole)
    for n in (1, 7, 40, 300, 5000):
        assert np.array_equal(mechanism.release(true[:n], rng=seeded(5)), whole[:n])


@pytest.mark.parametrize("values", [5, -1, [0, 5], [[0], [-1]], 2**62, [0, 2**70]])
def test_a_number_outside_is_not_named(values: Any) -> None:
    with pytest.raises(sn.ParameterError) as caught:
        sn.RandomizedResponse(1, 5).release(values)
    shown = str(caught.value)
    assert shown.startswith(("values must be categories from 0 to 4, got one that is not", "values must be within int64"))
    assert "4611686018427387904" not in shown


@pytest.mark.parametrize("values", [1.0, [0.0, 1.0], "a", True, None, [True]])
def test_other_types_are_refused(values: Any) -> None:
    with pytest.raises(sn.ParameterTypeError, match=r"^values must be"):
        sn.RandomizedResponse(1, 5).release(values)


@pytest.mark.parametrize("categories", [3, ["a", "b"]])
def test_what_memory_does_not_hold_is_refused_before_it_is_read(categories: Any) -> None:
    with pytest.raises(MemoryError):
        sn.RandomizedResponse(1, categories).release(np.broadcast_to(1 if categories == 3 else "a", 2**50))


def test_a_seed_is_refused_unless_allowed() -> None:
    with pytest.raises(sn.ParameterError, match="allow_release"):
        sn.RandomizedResponse(1, 5).release(1, rng=sn.SeededRng(1))  # type: ignore[call-overload]


# Keyed releases


def test_keyed_releases_repeat_and_do_not_depend_on_order() -> None:
    rng = sn.KeyedRng(bytes(32), "r")
    mechanism, true = sn.RandomizedResponse(0.3, 4), np.arange(500) % 4
    people = [f"person {i}" for i in range(500)]

    def released(values: Any, labels: Any, **options: Any) -> Any:
        return mechanism.release(values, labels=labels, statistic="answer", rng=rng, **options)

    whole = released(true, people)
    assert set(whole) == {0, 1, 2, 3}
    order = np.random.default_rng(1).permutation(500)
    assert np.array_equal(released(true[order], [people[i] for i in order]), whole[order])
    assert released(3, "person 3") == whole[3]
    out = np.zeros(500, "uint32")
    assert np.array_equal(released(true, people, out=out), whole)
    named = sn.RandomizedResponse(0.3, ["a", "b", "c", "d"])
    texts = named.release(np.array(list("abcd"))[true], labels=people, statistic="answer", rng=rng)
    assert np.array_equal(texts, np.array(list("abcd"))[whole])


# Labels and columns


def test_labels_are_matched_by_value() -> None:
    mechanism = sn.RandomizedResponse(60, LABELS)
    assert mechanism.release("bus") == "bus"
    assert type(mechanism.release("bus")) is str
    texts = ["bike", "car", "car", "bus"]
    for values in (texts, tuple(texts), np.array(texts), np.array(texts, object)):
        assert mechanism.release(values).tolist() == texts
    years = sn.RandomizedResponse(60, [2024, 2026])
    assert years.release(np.array([2026, 2024], "int16")).tolist() == [2026, 2024]
    assert years.release(2026) == 2026


@pytest.mark.parametrize("values", ["train", ["car", "train"], np.array(["train"], object), ["car", 1]])
def test_a_label_outside_is_not_named(values: Any) -> None:
    with pytest.raises(sn.ParameterError, match=r"^values must be among the categories, got one that is not") as caught:
        sn.RandomizedResponse(1, LABELS).release(values)
    assert "train" not in str(caught.value)


@pytest.mark.parametrize("values", [1.5, [1.5], np.array([1.5]), {"car"}, np.ma.masked_array([1], [True])])
def test_values_of_other_types_are_no_labels(values: Any) -> None:
    with pytest.raises(sn.ParameterTypeError, match=r"^values must"):
        sn.RandomizedResponse(1, LABELS).release(values)


def holders() -> dict[str, Any]:
    """Return columns of three values and a null; some have a dictionary in another order with an unused entry."""
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    texts = ["bus", "car", None, "bus"]
    return {
        "pandas": pd.Series(texts, name="x", index=[3, 1, 4, 1]),
        "pandas category": pd.Series(pd.Categorical(texts, categories=["never", "bus", "car"]), name="x"),
        "pandas index": pd.Index(texts, name="x"),
        "pandas array": pd.array(pd.Categorical(texts)),
        "pandas arrow": pd.Series(texts, dtype=pd.ArrowDtype(pa.string())),
        "polars": pl.Series("x", texts),
        "polars categorical": pl.Series("x", texts, dtype=pl.Categorical),
        "polars enum": pl.Series("x", texts, dtype=pl.Enum(["never", "car", "bus"])),
        "arrow": pa.array(texts),
        "arrow dictionary": pa.array(["never", *texts]).dictionary_encode()[1:],
        "arrow chunks": pa.chunked_array([texts[:1], texts[1:]]).dictionary_encode(),
    }


HOLDERS = (
    *("pandas", "pandas category", "pandas index", "pandas array", "pandas arrow"),
    *("polars", "polars categorical", "polars enum", "arrow", "arrow dictionary", "arrow chunks"),
)


def described(column: Any) -> tuple[list[str], list[Any]]:
    """Return the categories declared by a column's type, and the column's values."""
    if type(column).__module__.startswith("polars"):
        return column.dtype.categories.to_list(), column.to_list()
    if type(column).__module__.startswith("pyarrow"):
        chunk = column.chunk(0) if hasattr(column, "chunks") else column
        return chunk.dictionary.to_pylist(), column.to_pylist()
    values = [None if value != value else value for value in column.tolist()]
    return list(column.dtype.categories), values


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_column_comes_back_with_the_declared_categories(holder: str) -> None:
    column = holders()[holder]
    mechanism = sn.RandomizedResponse(60, LABELS)
    with pytest.raises(sn.ParameterError, match=r'^values must not be null without nulls="zero" or nulls="keep", got a null at'):
        mechanism.release(column)
    for nulls, expected in (("keep", None), ("zero", "car")):
        found = mechanism.release(column, nulls=nulls)
        assert described(found) == (list(LABELS), ["bus", "car", expected, "bus"])
        if holder.startswith(("pandas", "polars")):
            assert getattr(found, "name", None) == getattr(column, "name", None)
        if type(found).__name__ == "Series" and hasattr(found, "index"):
            assert list(found.index) == list(column.index)
    # The noise is that of the positions, whatever codes the column has.
    codes = sn.RandomizedResponse(0.5, 3).release([1, 0, 0, 1], rng=seeded(8))
    found = sn.RandomizedResponse(0.5, LABELS).release(column, nulls="zero", rng=seeded(8))
    assert described(found)[1] == [LABELS[code] for code in codes]


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_label_of_a_column_outside_is_not_named(holder: str) -> None:
    with pytest.raises(sn.ParameterError, match=r"^values must be among the categories, got one that is not at index \(0,\)$"):
        sn.RandomizedResponse(1, ["car", "never"]).release(holders()[holder], nulls="keep")


def test_columns_of_integers() -> None:
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    numbers, years = sn.RandomizedResponse(60, 4), sn.RandomizedResponse(60, [2024, 2026])
    for make in (pd.Series, pl.Series, pa.array):
        assert list(map(int, numbers.release(make([3, 0, 1])))) == [3, 0, 1]
        with pytest.raises(sn.ParameterError, match=r"^values must be categories from 0 to 3, got one that is not at index"):
            numbers.release(make([3, 4]))
        with pytest.raises(sn.ParameterTypeError, match=r"^values must be integers, the numbers of categories"):
            numbers.release(make([1.0, 2.0]))
        with pytest.raises(sn.ParameterError, match=r"^values must be among the categories"):
            years.release(make([datetime.date(2026, 1, 1)]))
    assert years.release(pl.Series([2026, None]), nulls="keep").to_list() == [2026, None]
    assert list(years.release(pd.Series([2026, 2024])).cat.categories) == [2024, 2026]


def test_frames() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"way": ["car", "bus"], "back": ["bike", "bike"], "n": [1, 2]})
    mechanism = sn.RandomizedResponse(60, LABELS)
    found = mechanism.release(frame, columns=["way", "back"], max_partitions_contributed=2)
    assert found.to_dict(as_series=False) == frame.to_dict(as_series=False)
    assert found["way"].dtype == pl.Enum(LABELS)
    with pytest.raises(sn.ParameterError, match=r"at index \(0,\) of column 'n'"):
        mechanism.release(frame, columns=["way", "n"])
    with pytest.raises(sn.ParameterError, match=r"^out must be left out for labels and for columns"):
        mechanism.release(frame["way"], out=np.zeros(2, int))
    with pytest.raises(sn.LazyError):
        mechanism.release(frame.lazy())
