"""``release_modulo``: exact sums modulo m, their privacy, when a total can be read, and refusals that draw nothing.

Evidence: sums in Python's integers with the noise of the same key, and distributions in exact fractions. Deterministic: no
false alarms.
"""

import math
import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.registry import ROWS
from tests.combinations import looped

INTEGERS = [
    *(row.make(row.examples[0]) for row in ROWS if row.kind == "discrete" and row.class_name != "LatticeNoise"),
    sn.LatticeNoise([1, 2, 5, 2, 1], 0.5),
    sn.Skellam(1e4).share(10),
    sn.GeneralizedDiscreteLaplace(0.3, 0.01).share(7, 3),
    sn.DiscreteGaussian(sigma=2.0**44),
    sn.DiscreteLaplace(2.0**-39, 2**13),
]
ENDS = np.array([0, 1, -1, 1000, -(2**31), 2**53 + 1, 2**62, -(2**62), 2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1])
MODULI = [2, 3, 7, 1000, 2**16 + 1, 2**32, 2**61 - 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 59, 2**64 - 1, 2**64]
integers = pytest.mark.parametrize("mechanism", INTEGERS, ids=repr)


def seeded():
    return sn.SeededRng(4, allow_release=True)


def exact(values, noise, m):
    return [(int(x) + int(n)) % m for x, n in zip(np.ravel(values), np.ravel(noise), strict=True)]


@integers
@pytest.mark.parametrize("n", [1, 9, 300])
def test_residues_are_those_of_exact_sums(mechanism, n):
    values = np.resize(ENDS, n)
    noise = mechanism.sample(n, rng=seeded())
    for m in MODULI:
        residues = mechanism.release_modulo(values, m, rng=seeded())
        assert residues.dtype == np.uint64
        assert residues.tolist() == exact(values, noise, m), m


@integers
def test_long_releases_have_the_same_residues_on_any_number_of_threads(mechanism):
    n = 2**18 + 5
    values = np.resize(ENDS, n)
    noise = mechanism.sample(n, rng=seeded(), threads=1).astype(np.uint64)
    expected = values.astype(np.uint64) + noise  # the sum wraps, which is right for 2**64
    for threads in (1, 3):
        assert np.array_equal(mechanism.release_modulo(values, 2**64, rng=seeded(), threads=threads), expected)
    part = mechanism.release_modulo(values, 2**61 - 1, rng=seeded())[-500:]
    assert part.tolist() == exact(values[-500:], noise[-500:].astype(np.int64), 2**61 - 1)


def test_release_saturates_and_release_modulo_does_not():
    mechanism, top = sn.DiscreteLaplace(0.01), np.full(100, 2**63 - 1)
    noise = mechanism.sample(100, rng=seeded())
    assert (noise > 0).any()
    assert mechanism.release(top, rng=seeded()).max() == 2**63 - 1
    residues = sn.centered_residue(mechanism.release_modulo(top, 2**64, rng=seeded()), 2**64)
    assert np.array_equal(residues, top + noise)  # both sums wrap


@pytest.mark.parametrize("m", [2**32, 2**61 - 1, 2**64])
def test_a_release_has_the_residues_of_release_where_that_does_not_saturate(m):
    mechanism, values = sn.Skellam(100).share(20), np.arange(-50, 50)
    released = mechanism.release(values, rng=seeded())
    assert mechanism.release_modulo(values, m, rng=seeded()).tolist() == [int(x) % m for x in released]


def test_residues_of_shares_add_up_to_the_sum():
    """Residues of 20 parties with different keys add up for every modulus; the total is read if it fits."""
    whole = sn.Skellam(400)
    party, keys = whole.share(20), [sn.SeededRng(i, allow_release=True) for i in range(20)]
    choose = np.random.default_rng(3)
    answers = choose.integers(-500, 500, (20, 6))
    noise = np.array([party.sample(6, rng=sn.SeededRng(i)) for i in range(20)])
    truth = answers.sum(axis=0) + noise.sum(axis=0)
    for m in MODULI:
        view = [key.at(0) for key in keys]
        residues = [party.release_modulo(row, m, rng=key) for row, key in zip(answers, view, strict=True)]
        total = [sum(int(row[i]) for row in residues) % m for i in range(6)]
        assert total == [int(x) % m for x in truth]
        if m > 2 * np.abs(truth).max():
            assert sn.centered_residue(total, m).tolist() == truth.tolist()


def test_several_partitions_get_the_wider_noise():
    mechanism, values = sn.DiscreteLaplace(1.0, 3), np.arange(40)
    wide = mechanism.for_partitions(5).sample(40, rng=seeded())
    residues = mechanism.release_modulo(values, 10**9 + 7, max_partitions_contributed=5, rng=seeded())
    assert residues.tolist() == exact(values, wide, 10**9 + 7)
    with pytest.raises(sn.ParameterError, match="max_partitions_contributed must"):
        sn.GeneralizedDiscreteLaplace(1, 1).release_modulo(values, 7, max_partitions_contributed=2)


@integers
def test_a_call_takes_one_fill(mechanism):
    rng = seeded()
    first = mechanism.release_modulo([5, 6], 2**40, rng=rng)
    second = mechanism.release_modulo([5, 6], 2**40, rng=rng)
    rng = seeded()
    noise = [mechanism.sample(2, rng=rng) for _ in range(2)]
    assert [first.tolist(), second.tolist()] == [exact([5, 6], drawn, 2**40) for drawn in noise]


def test_fresh_noise_without_a_generator():
    mechanism = sn.DiscreteLaplace(1e-6)
    assert (mechanism.release_modulo(np.zeros(50, int), 2**64) != mechanism.release_modulo(np.zeros(50, int), 2**64)).any()


# Inputs and outputs


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3), True + 2])
def test_a_number_gives_a_python_int(value):
    found = sn.DiscreteLaplace(1).release_modulo(value, 2**64, rng=seeded())
    assert type(found) is int
    assert found == (3 + sn.DiscreteLaplace(1).sample(rng=seeded())) % 2**64


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4", ">u8"])
def test_integers_of_every_type(dtype):
    values = np.array([0, 3, 100], dtype)
    expected = exact(values, sn.DiscreteLaplace(1).sample(3, rng=seeded()), 97)
    assert sn.DiscreteLaplace(1).release_modulo(values, 97, rng=seeded()).tolist() == expected


@pytest.mark.parametrize("values", [[], [1, 2], (3, 4), range(5), [[1, 2], [3, 4]], np.zeros((2, 0, 3), int)])
def test_shapes_are_kept(values):
    found = sn.DiscreteLaplace(1).release_modulo(values, 5)
    assert (found.shape, found.dtype) == (np.shape(values), np.uint64)


def test_values_at_any_strides():
    values = np.arange(240).reshape(10, 24)
    for view in (values.T, values[::-2, ::3], np.broadcast_to(values[:1], (6, 24)), values.view(np.matrix)):
        plain = sn.DiscreteLaplace(0.1).release_modulo(view.copy(), 1009, rng=seeded())
        assert np.array_equal(sn.DiscreteLaplace(0.1).release_modulo(view, 1009, rng=seeded()), plain)


@pytest.mark.parametrize(("dtype", "most"), [("uint64", 2**64), ("int64", 2**63), ("uint32", 2**32)])
def test_out_of_every_dtype(dtype, most):
    mechanism, values = sn.DiscreteLaplace(1e-3), np.arange(-20, 20).reshape(4, 10)
    expected = mechanism.release_modulo(values, most, rng=seeded())
    out = np.zeros((8, 10), dtype)[::2]
    assert mechanism.release_modulo(values, most, out=out, rng=seeded()) is out
    assert out.tolist() == expected.tolist()
    assert out.max() > most * 0.99
    if most < 2**64:
        before = out.copy()
        with pytest.raises(sn.ParameterError, match=f"out must have dtype .*, got {dtype}"):
            mechanism.release_modulo(values, most + 1, out=out)
        assert np.array_equal(out, before)


@pytest.mark.parametrize("dtype", ["float64", "int32", "bool", ">u8"])
def test_other_dtypes_of_out_are_refused(dtype):
    with pytest.raises(sn.ParameterError, match=r"out must have dtype uint64, int64 or uint32, got"):
        sn.DiscreteLaplace(1).release_modulo([1, 2], 7, out=np.zeros(2, dtype))


@pytest.mark.parametrize("n", [6, 5000])
def test_out_may_be_the_values(n):
    mechanism, values = sn.DiscreteLaplace(0.1), np.resize(ENDS, n)
    expected = mechanism.release_modulo(values, 2**64, rng=seeded())
    unsigned, own = values.view(np.uint64), values.copy()
    # Values that are read as int64 are in the same memory as their residues.
    mechanism.release_modulo(values, 2**64, out=unsigned, rng=seeded())
    assert np.array_equal(unsigned, expected)
    mechanism.release_modulo(own, 2**63, out=own, rng=seeded())
    assert np.array_equal(own.astype(np.uint64), expected % np.uint64(2**63))
    shifted = np.resize(ENDS, n + 1)
    before = shifted[:-1].copy()
    mechanism.release_modulo(shifted[:-1], 2**63, out=shifted[1:], rng=seeded())
    assert shifted[1:].tolist() == [x % 2**63 for x in exact(before, mechanism.sample(n, rng=seeded()), 2**64)]


def test_memory_of_others_is_filled():
    from array import array

    out = array("Q", [0] * 3)
    assert sn.DiscreteLaplace(1).release_modulo([1, 2, 3], 2**64, out=out, rng=seeded()) is out
    assert list(out) == sn.DiscreteLaplace(1).release_modulo([1, 2, 3], 2**64, rng=seeded()).tolist()


# Refusals


@pytest.mark.parametrize(
    ("values", "kind", "text"),
    [
        (2.0, sn.ParameterTypeError, r"^values must be integers, got a value of type float \(as an array: dtype float64"),
        (np.array([1.0, 2.0]), sn.ParameterTypeError, r"^values must be integers, .* of dtype float64 and shape \(2,\)$"),
        (np.array([1.0, math.nan]), sn.ParameterTypeError, "^values must be integers, got an array"),
        ([1, 2.0], sn.ParameterTypeError, "^values must be integers, got a value of type list"),
        ([True, False], sn.ParameterTypeError, "^values must be a real number or an array of real numbers"),
        (None, sn.ParameterTypeError, "^values must be a real number"),
        ("7", sn.ParameterTypeError, "^values must be a real number"),
        (np.ma.masked_array([1, 2], [0, 1]), sn.ParameterTypeError, "^values must not be a masked array"),
        (2**63, sn.ParameterError, "^values must be within int64, got one that is not$"),
        ([0, -(2**63) - 1], sn.ParameterError, r"^values must be within int64, got one that is not at index \(1,\)$"),
        (np.array([1, 2**63], np.uint64), sn.ParameterError, r"^values must be within int64, .* at index \(1,\)$"),
    ],
)  # fmt: skip
def test_values_that_are_refused(values, kind, text):
    rng = seeded()
    with pytest.raises(kind, match=text):
        sn.DiscreteLaplace(1).release_modulo(values, 7, rng=rng)
    assert rng._stream.fill_count == 0


@pytest.mark.parametrize(
    ("modulus", "kind", "text"),
    [
        (1, sn.ParameterError, r"^modulus must be an integer from 2 to 2\*\*64, got 1$"),
        (0, sn.ParameterError, "got 0$"),
        (-(2**32), sn.ParameterError, "got -4294967296$"),
        (2**64 + 1, sn.ParameterError, "got 18446744073709551617$"),
        pytest.param(10**5000, sn.ParameterError, "that cannot be written out$", id="10**5000"),
        (2.0**32, sn.ParameterTypeError, r"^modulus must be an integer, got 4294967296\.0$"),
        (math.nan, sn.ParameterTypeError, "^modulus must be an integer, got nan$"),
        (True, sn.ParameterTypeError, "^modulus must be an integer, got True$"),
        (None, sn.ParameterTypeError, "^modulus must be an integer, got None$"),
        ("7", sn.ParameterTypeError, "^modulus must be an integer, got '7'$"),
        ([7], sn.ParameterTypeError, r"^modulus must be an integer, got \[7\]$"),
    ],
)
def test_moduli_that_are_refused(modulus, kind, text):
    rng = seeded()
    with pytest.raises(kind, match=text):
        sn.DiscreteLaplace(1).release_modulo([1, 2], modulus, rng=rng)
    with pytest.raises(kind, match=text):
        sn.centered_residue([1, 2], modulus)
    assert rng._stream.fill_count == 0


def test_a_modulus_may_be_an_integer_of_numpy():
    assert sn.DiscreteLaplace(50).release_modulo(-1, np.uint64(2**64 - 1), rng=seeded()) == 2**64 - 2


def test_generators_that_are_refused():
    mechanism = sn.DiscreteLaplace(1)
    with pytest.raises(sn.ParameterError, match="rng must be a SecureRng for a release"):
        mechanism.release_modulo([1], 7, rng=sn.SeededRng(1))
    with pytest.raises(sn.ParameterTypeError, match="the noise of a KeyedRng belongs to labels"):
        mechanism.release_modulo([1], 7, rng=sn.KeyedRng(bytes(32), "r"))
    with pytest.raises(sn.ParameterTypeError, match="rng must be a SecureRng"):
        mechanism.release_modulo([1], 7, rng=np.random.default_rng(1))


@pytest.mark.parametrize("mechanism", [sn.DiscreteLaplace([1.0, 2.0]), sn.DiscreteGaussian(np.array([[4.0], [9.0]]))], ids=repr)
def test_array_parameters_are_refused(mechanism):
    with pytest.raises(sn.ParameterError, match=r"^release_modulo must have a mechanism of single parameters, got parameters of"):
        mechanism.release_modulo([1, 2], 7, rng=seeded())


def test_a_lattice_other_than_the_integers_is_refused():
    mechanism = sn.LatticeNoise([1, 2, 1], 0.5, granularity=0.25)
    with pytest.raises(sn.ParameterError, match=r"^granularity must be 1 for release_modulo, got 0\.25$"):
        mechanism.release_modulo([1, 2], 7, rng=seeded())
    for row in ROWS:
        assert hasattr(row.load(), "release_modulo") == (row.kind == "discrete"), row.class_name


def test_columns_are_read_as_arrays_and_nulls_are_refused():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    mechanism = sn.DiscreteLaplace(1)
    expected = mechanism.release_modulo([1, 2, 3], 7, rng=seeded())
    for column in (pandas.Series([1, 2, 3]), polars.Series([1, 2, 3])):
        found = mechanism.release_modulo(column, 7, rng=seeded())
        assert type(found) is np.ndarray
        assert np.array_equal(found, expected)
    for column in (pandas.Series([1, None]), pandas.Series([1, None], dtype="Int64"), polars.Series([1, None])):
        with pytest.raises(sn.ParameterTypeError, match=r"^values must be"):
            mechanism.release_modulo(column, 7)
    with pytest.raises(sn.LazyError):
        mechanism.release_modulo(polars.LazyFrame({"a": [1]}), 7)


# The privacy of residues, in exact fractions


def two_sided(ratio, reach):
    """Return probabilities of two-sided geometric noise from -reach to reach, as if the tails beyond existed."""
    return {k: (1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-reach, reach + 1)}


def residue_mechanism(probabilities, answer, m):
    """Return the distribution of (answer + noise) mod m."""
    found = [Fraction(0)] * m
    for noise, probability in probabilities.items():
        found[(answer + noise) % m] += probability
    return found


def wrapped(ratio, answer, m):
    """Return the distribution of (answer + X) mod m for unbounded two-sided geometric X, summed as geometric series."""
    head = (1 - ratio) / (1 + ratio) / (1 - ratio**m)
    return [head * (ratio ** ((r - answer) % m) + ratio ** (m - (r - answer) % m)) for r in range(m)]


def hockey_stick(p, q, factor):
    return sum((max(a - factor * b, Fraction(0)) for a, b in zip(p, q, strict=True)), Fraction(0))


@looped("ratio", [Fraction(1, 2), Fraction(2, 3), Fraction(9, 10)])
@looped("m", range(2, 12))
def test_residues_of_neighbours_have_at_most_the_ratio_of_their_sums(ratio, m):
    """Two-sided geometric noise of this ratio is ln(1/ratio**change)-private."""
    for change in (1, 3):
        for answer in range(-m, m):
            here, there = wrapped(ratio, answer, m), wrapped(ratio, answer + change, m)
            assert sum(here) == 1
            assert max(a / b for a, b in zip(here, there, strict=True)) <= 1 / ratio**change
            assert max(b / a for a, b in zip(here, there, strict=True)) <= 1 / ratio**change


def test_residues_of_any_noise_have_at_most_the_delta_of_their_sums():
    """Noise has random weights, so a change makes some sums impossible; δ(ε) of residues is at most δ(ε) of sums."""
    choose = random.Random(5)
    for _ in range(60):
        weights = [Fraction(choose.randrange(1, 50)) for _ in range(choose.randrange(2, 12))]
        noise = {k: weight / sum(weights) for k, weight in enumerate(weights, -len(weights) // 2)}
        m, change, factor = choose.randrange(2, 9), choose.randrange(1, 4), Fraction(choose.randrange(10, 40), 10)
        apart = 100  # no sum wraps
        sums = hockey_stick(residue_mechanism(noise, 40, apart), residue_mechanism(noise, 40 + change, apart), factor)
        residues = hockey_stick(residue_mechanism(noise, 40, m), residue_mechanism(noise, 40 + change, m), factor)
        assert residues <= sums


@pytest.mark.parametrize("m", [2, 3, 5, 8])
def test_the_sum_of_residues_has_the_distribution_of_the_residue_of_the_sum(m):
    """Three parties with the noise ±1, 0, 2 of different weights: all 4**3 cases, in fractions."""
    parties = [{-1: Fraction(i, 10), 0: Fraction(4, 10), 1: Fraction(5 - i, 10), 2: Fraction(1, 10)} for i in range(1, 4)]
    answers = (4, -7, 11)
    by_residues, by_sums = [Fraction(0)] * m, [Fraction(0)] * m
    for a, pa in parties[0].items():
        for b, pb in parties[1].items():
            for c, pc in parties[2].items():
                residues = [(x + noise) % m for x, noise in zip(answers, (a, b, c), strict=True)]
                by_residues[sum(residues) % m] += pa * pb * pc
                by_sums[(sum(answers) + a + b + c) % m] += pa * pb * pc
    assert by_residues == by_sums
    assert sum(by_sums) == 1


# When a total can be read


@pytest.mark.parametrize(
    "mechanism", [sn.DiscreteLaplace(0.5), sn.Skellam(30), sn.DiscreteStaircase(1, 4), sn.DiscreteGaussian(9)], ids=repr
)
@pytest.mark.parametrize("beta", [0.3, 1e-3, 1e-9])
def test_the_modulus_of_the_docstring_fails_with_at_most_beta(mechanism, beta):
    """The probability of a wrong reading is summed over all noise, for every true sum up to the bound."""
    bound = 20
    m = 2 * (bound + mechanism._tail_bound(beta)) + 1
    noise = np.arange(-4000, 4001)
    probabilities = mechanism.pmf(noise)
    failing = []
    for truth in range(-bound, bound + 1):
        read = sn.centered_residue((truth + noise) % m, m)
        failing.append(probabilities[read != truth + noise].sum())
        # The formula of docs/distributed.md.
        assert failing[-1] == pytest.approx(mechanism.sf((m - 1) // 2 - truth) + mechanism.cdf(-(m // 2) - truth - 1), rel=1e-9)
    assert max(failing) <= beta
    assert all(a >= b for a, b in pairwise(failing[: bound + 1])), "the largest true sums must be the worst"
