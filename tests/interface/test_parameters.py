"""The check of numeric parameters: which numbers are refused, with which errors, and which are converted exactly."""

import numbers
from collections import UserList, deque
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import stairnoise as sn
from stairnoise._parameters import argument, count, exact_array, flag, lent, number_array, real, single
from tests.combinations import looped

NOT_NUMBERS = [
    ("4", "'4'"),
    (None, "None"),
    (1j, "1j"),
    (True, "True"),
    (np.True_, "True"),
    (b"4", "a value of type bytes"),
    ({4}, "a value of type set"),
    (object, "<class 'object'>"),
    ([1.0, "4"], "'4' at index (1,)"),
    ([1.0, True], "True at index (1,)"),
    ([1.0, None], "None at index (1,)"),
    ([[1.0, 2.0], [3.0]], "[1.0, 2.0] at index (0,)"),
    (np.array(["4"]), "an array of dtype <U1 and shape (1,)"),
    (np.array([1 + 0j]), "an array of dtype complex128 and shape (1,)"),
    (np.array([True]), "an array of dtype bool and shape (1,)"),
    (np.array([1.0], object), "an array of dtype object and shape (1,)"),
    (np.array([1], "m8[s]"), "an array of dtype timedelta64[s] and shape (1,)"),
    (np.timedelta64(1, "s"), ""),
    (np.datetime64("2020-01-01"), ""),
    (np.array([1], "M8[s]"), "an array of dtype datetime64[s] and shape (1,)"),
    (np.zeros(1, [("x", "f8")]), "an array of dtype VoidDType and shape (1,)"),
]

MECHANISMS_BY_PARAMETER = {
    "eps": sn.Staircase,
    "sensitivity": lambda value: sn.DiscreteLaplace(1, value),
    "gamma": lambda value: sn.Staircase(1, 1, value),
    "r": lambda value: sn.DiscreteStaircase(1, 5, value),
}


@looped("name", MECHANISMS_BY_PARAMETER)
@looped(("value", "shown"), NOT_NUMBERS)
def test_not_a_number(name, value, shown):
    if value is None and name == "sensitivity":
        assert MECHANISMS_BY_PARAMETER[name](value) == sn.DiscreteLaplace(1)
        return
    if isinstance(value, str) and name in ("gamma", "r"):
        error, rule = sn.ParameterError, f'{name} must be "l1", "l2" or a number, got '
    else:
        error = sn.ParameterTypeError
        rule = f"{name} must be a real number or an array of real numbers, got "
    with pytest.raises(error) as caught:
        MECHANISMS_BY_PARAMETER[name](value)
    assert str(caught.value).startswith(rule)
    assert str(caught.value).endswith(shown)


def test_masked_arrays_are_refused():
    text = r"eps must not be a masked array: pass its filled\(\) or compressed\(\) form, got an"
    with pytest.raises(sn.ParameterTypeError, match=text):
        sn.Laplace(np.ma.array([1.0, 2.0], mask=[False, True]), sensitivity=1)


@pytest.mark.parametrize(
    "wrap", [lambda item: [item], lambda item: ([1.0], (item,)), lambda item: [[[item]], 2.0], lambda item: [1, 2.0, item]]
)
@pytest.mark.parametrize("item", [np.ma.array([1.0, 2.0], mask=[False, True]), np.ma.masked])
def test_masked_arrays_are_refused_in_lists_too(wrap, item):
    """NumPy would use the numbers under the mask."""
    for call in (sn.Laplace, sn.Laplace(1.0, sensitivity=1).release, sn.Laplace(1.0, sensitivity=1).cdf):
        with pytest.raises(sn.ParameterTypeError, match="must not be a masked array"):
            call(wrap(item))


class Offers:
    """An object of another library that offers an array."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


@pytest.mark.parametrize("wrap", [lambda item: item, lambda item: [item], lambda item: [[[1.0, 2.0]], deque([item])]])
def test_masked_arrays_of_other_libraries_are_refused(wrap):
    for call in (sn.Laplace, sn.Laplace(1.0, sensitivity=1).release, sn.Laplace(1.0, sensitivity=1).cdf):
        call(wrap(Offers(np.array([1.0, 2.0]))))
        with pytest.raises(sn.ParameterTypeError, match="must not be a masked array"):
            call(wrap(Offers(np.ma.array([1.0, 2.0], mask=[False, True]))))


def outcome(call, value):
    try:
        return np.asarray(call(value)).tolist()
    except (sn.ParameterError, sn.ParameterTypeError) as error:
        return type(error), str(error)


@looped("kind", [UserList, deque, lambda items: [UserList(items)]])
@looped(
    ("items", "refused"),
    [
        ([], None),
        ([1, 2.5], None),
        ([[1, 2], (3, 4.5)], None),
        ([2**53 + 1, 2**53 + 3], None),
        ([True, 2.5], "a real number"),
        ([[1.0], [True]], "a real number"),
        (["4"], "a real number"),
        ([2**53 + 1, 0.5], "exactly representable"),
        ([np.ma.masked, 1.0], "a masked array"),
        ([1.0, np.ma.array([2.0])], "a masked array"),
    ],
)
def test_other_sequences_are_read_as_lists(kind, items, refused):
    """Evidence: a list of the same numbers. NumPy would round a sequence's wide number and accept True as 1."""
    nested = isinstance(kind([]), list)
    for call in (lambda value: number_array(value, "values"), lambda value: real(value, "eps")):
        found = outcome(call, kind(items))
        assert found == outcome(call, [items] if nested else items)
        assert refused is None or refused in found[1]


class Broken(Sequence):
    """A sequence that cannot be read."""

    def __len__(self):
        return 2

    def __getitem__(self, index):
        raise RuntimeError("secret")


@pytest.mark.parametrize("value", [Broken(), [1.0, Broken()], UserList([Broken()])])
def test_a_sequence_that_cannot_be_read_is_refused_without_its_text(value):
    with pytest.raises(sn.ParameterTypeError, match=r"^eps must be a real number or an array of real numbers, got ") as caught:
        sn.Laplace(value, sensitivity=1)
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


def _deep(levels):
    items = 1.0
    for _ in range(levels):
        items = [items]
    return items


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1 makes arrays of lists of such lists")
@pytest.mark.parametrize(
    "make", [lambda: _deep(33), lambda: _deep(60), lambda: np.ones((1,) * 33)], ids=["list", "deep list", "array"]
)
def test_more_dimensions_than_numpy_broadcasts_are_refused(make):
    for name, call in {
        "eps": sn.Staircase,
        "released": sn.Laplace(1.0, sensitivity=1).confidence_interval,
        "x": sn.Laplace(1.0, sensitivity=1).cdf,
    }.items():
        with pytest.raises(sn.ParameterError, match=rf"^{name} must have at most 32 dimensions, got (33|60)$"):
            call(make())
    deepest = sn.Laplace(np.ones((1,) * 32), sensitivity=1)
    assert deepest.sample().shape == deepest.cdf(_deep(32)).shape == deepest.release(_deep(32)).shape == (1,) * 32


class Strange(numbers.Number):
    """A number that no function converts, and whose text raises."""

    def __repr__(self):
        raise RuntimeError("never")


@numbers.Integral.register
class Uncountable:
    """An integer whose conversion raises."""

    def __int__(self):
        raise RuntimeError("secret")

    __index__ = __float__ = __repr__ = __int__


RAGGED = [np.ones((2, 3)), np.ones((2, 4))]


@pytest.mark.parametrize("value", [Strange(), [1.0, Strange()], RAGGED, Uncountable(), [1, Uncountable()]], ids=lambda value: "")
def test_numbers_that_are_not_floats_are_refused(value):
    for name, call in {
        "eps": sn.Staircase,
        "values": sn.Laplace(1.0, sensitivity=1).release,
        "x": sn.Laplace(1.0, sensitivity=1).cdf,
    }.items():
        with pytest.raises(sn.ParameterTypeError, match=rf"^{name} must be a real number or an array of real numbers, got "):
            call(value)


@pytest.mark.parametrize("value", [Fraction(1, 2), [Fraction(1, 2), 1.0]])
def test_lack_of_memory_is_not_a_wrong_number(value, monkeypatch):
    def nothing_left(number):
        raise MemoryError("7")

    monkeypatch.setattr(Fraction, "__float__", nothing_left, raising=False)
    with pytest.raises(MemoryError, match=r"^no memory to convert eps$") as refused:
        sn.Laplace(value, sensitivity=1)
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2**53 + 1, "9007199254740993"),
        (Fraction(1, 3), "Fraction(1, 3)"),
        (Decimal("0.1"), "Decimal('0.1')"),
        ([1.0, 2**53 + 1], "9007199254740993 at index (1,)"),
        ([[2**70 + 1]], "1180591620717411303425 at index (0, 0)"),
        (np.array([1, 2**53 + 1]), "9007199254740993 at index (1,)"),
        (np.array([2**53 + 1]), "9007199254740993 at index (0,)"),
        (np.array([2**54 + 1, 2**54 + 3]), "18014398509481985 at index (0,)"),
        (np.array([2**64 - 1], np.uint64), "18446744073709551615 at index (0,)"),
    ],
)
@pytest.mark.parametrize("name", ["eps", "sensitivity"])
def test_numbers_that_float64_would_round_are_refused(name, value, shown):
    with pytest.raises(sn.ParameterError) as caught:
        MECHANISMS_BY_PARAMETER[name](value)
    rule = f"{name} must be exactly representable in float64, got "
    assert str(caught.value) == rule + shown


@pytest.mark.parametrize(
    "value", [Decimal("NaN"), [Fraction(1), float("nan")], np.longdouble("nan"), np.array([np.nan], np.longdouble)]
)
def test_no_number_is_refused_by_its_range_whatever_its_kind(value):
    """NaN does not equal itself, but conversion does not round it."""
    with pytest.raises(sn.ParameterError, match=r"^eps must be finite and greater than 0, got nan"):
        sn.Laplace(value, sensitivity=1)


@pytest.mark.parametrize("value", [10**400, [10**400, 1.5], Fraction(10**400), [10**400]])
def test_numbers_beyond_float64_are_refused(value):
    text = "sensitivity must be exactly representable in float64, got "
    with pytest.raises(sn.ParameterError, match=text):
        sn.Laplace(1, value)


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is float64 here")
def test_long_doubles_must_be_exact():
    assert sn.Laplace(np.longdouble(0.5), sensitivity=1).eps == 0.5
    assert sn.Laplace(np.array([0.5], np.longdouble), sensitivity=1).eps.dtype == np.float64
    with pytest.raises(sn.ParameterError, match="eps must be exactly representable in float64"):
        sn.Laplace(np.array([np.longdouble(1) / 3]), sensitivity=1)


@pytest.mark.parametrize(
    "value",
    [
        4, 4.0, np.float64(4), np.float32(4), np.int8(4), Fraction(4), Decimal(4), np.array(4.0),
        np.array(4, np.uint16),
    ],
)  # fmt: skip
def test_scalars_become_python_floats(value):
    d = sn.Laplace(value, sensitivity=1)
    assert type(d.eps) is float
    assert d == sn.Laplace(4.0, sensitivity=1)


@pytest.mark.parametrize(
    "value",
    [
        [1, 2.5], (1, 2.5), np.array([1, 2.5]), np.float32([1, 2.5]), np.array([1, 2.5], ">f8"),
        [Fraction(1), Decimal("2.5")], memoryview(np.array([1, 2.5])),
        np.array([2.5, 1])[::-1],
    ],
)  # fmt: skip
def test_arrays_become_read_only_float64(value):
    eps = sn.Laplace(value, sensitivity=1).eps
    assert eps.dtype == np.dtype("=f8")
    assert eps.tolist() == [1, 2.5]
    assert not eps.flags.writeable
    # The extension reads this memory where it is, because nobody can write to it.
    with pytest.raises(ValueError, match="WRITEABLE"):
        eps.flags.writeable = True


@pytest.mark.parametrize("value", [4, 4.0, np.float64(4), Fraction(4), np.array(4)])
def test_a_single_number(value):
    number = single(value, "eps")
    assert type(number) is float
    assert number == 4.0


@pytest.mark.parametrize("value", [[4.0], np.array([4.0]), []])
def test_an_array_is_no_single_number(value):
    with pytest.raises(sn.ParameterError, match=rf"^eps must be a single number, got .* shape \({len(value)},\)$"):
        single(value, "eps")


def test_wide_exact_integers_are_fine():
    assert sn.Laplace(1, 2**70).sensitivity == 2.0**70
    assert sn.Laplace(1, [2**70]).sensitivity.tolist() == [2.0**70]
    assert sn.Laplace(1, np.array([2**62])).sensitivity.tolist() == [2.0**62]


def test_arrays_are_copied():
    eps = np.array([1.0, 2.0])
    d = sn.Laplace(eps, sensitivity=1)
    eps[0] = 7
    assert d.eps.tolist() == [1, 2]


def test_arrays_are_copied_only_where_they_must_be():
    """Evidence: whether returned arrays share memory, as the docstrings of the check specify."""
    memory = np.arange(1.0, 25.0)
    whole = memory[:12].reshape(3, 4)
    for array in (whole, whole.T):
        assert not np.shares_memory(real(array, "eps"), array)
        for same in (exact_array(array, "eps"), argument(array, "x"), lent(array, "eps"), lent(array, "eps", memory[12:])):
            assert np.shares_memory(same, array)
            assert np.array_equal(same, array)
        for out in (memory, whole[0], memory[12:].data):
            assert not np.shares_memory(lent(array, "eps", out), array)
    assert not np.shares_memory(lent(whole[:, ::2], "eps"), whole)
    number = lent(np.array(2.0), "eps")
    assert type(number) is float
    assert number == 2.0


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: sn.Laplace([1, 2], [1, 2, 3]),
         "eps and sensitivity must have shapes that broadcast, "
         "got eps of shape (2,), sensitivity of shape (3,)"),
        (lambda: sn.Staircase([1, 2], 1, [0.5, 0.5, 0.5]),
         "eps and sensitivity and gamma must have shapes that broadcast, "
         "got eps of shape (2,), sensitivity of shape (), gamma of shape (3,)"),
        (lambda: sn.DiscreteStaircase(np.ones((2, 1)), 5, np.ones((3, 2))),
         "eps and sensitivity and r must have shapes that broadcast, "
         "got eps of shape (2, 1), sensitivity of shape (), r of shape (3, 2)"),
    ],
)  # fmt: skip
def test_shapes_that_do_not_broadcast(make, text):
    with pytest.raises(sn.ParameterError) as caught:
        make()
    assert str(caught.value) == text


OUT_OF_RANGE = [
    *[
        (mechanism, {"eps": value}, f"eps must be finite and greater than 0, got {shown}")
        for mechanism in (sn.Staircase, sn.DiscreteStaircase, sn.Laplace, sn.DiscreteLaplace)
        for value, shown in [
            (0, "0.0"), (-0.0, "-0.0"), (-1, "-1.0"), (float("nan"), "nan"),
            (float("inf"), "inf"), (float("-inf"), "-inf"),
        ]
    ],
    *[
        (mechanism, {"eps": 1, "sensitivity": value},
         f"sensitivity must be finite and greater than 0, got {shown}")
        for mechanism in (sn.Staircase, sn.DiscreteStaircase, sn.Laplace, sn.DiscreteLaplace)
        for value, shown in [(0, "0.0"), (-3, "-3.0"), (float("nan"), "nan"), (float("inf"), "inf")]
    ],
    *[
        (mechanism, {"eps": 1, "sensitivity": 1.5},
         "sensitivity must be a whole number for a discrete mechanism, got 1.5")
        for mechanism in (sn.DiscreteStaircase, sn.DiscreteLaplace)
    ],
    *[
        (sn.Staircase, {"eps": 1, "gamma": value},
         f"gamma must be greater than 0 and at most 1, got {shown}")
        for value, shown in [(0, "0.0"), (-0.1, "-0.1"), (1.25, "1.25"), (float("nan"), "nan")]
    ],
    *[
        (sn.DiscreteStaircase, {"eps": 1, "sensitivity": 5, "r": value},
         f"r must be a whole number from 1 to the sensitivity 5.0, got {shown}")
        for value, shown in [(0, "0.0"), (6, "6.0"), (1.5, "1.5"), (-1, "-1.0"),
                             (float("nan"), "nan"), (float("inf"), "inf")]
    ],
    *[
        (mechanism, {"eps": 2.0**-41},
         "eps and sensitivity must give a lattice that fits 64-bit integers "
         "(eps at least 2**-40; the sensitivity times 1 + 1/eps at most 2**54 steps of the lattice), "
         "got eps 4.547473508864641e-13 and sensitivity 1.0")
        for mechanism in (sn.Staircase, sn.DiscreteStaircase, sn.Laplace, sn.DiscreteLaplace)
    ],
    (sn.DiscreteLaplace, {"eps": 1, "sensitivity": 2**54},
     "eps and sensitivity must give a lattice that fits 64-bit integers "
     "(eps at least 2**-40; the sensitivity times 1 + 1/eps at most 2**54 steps of the lattice), "
     "got eps 1.0 and sensitivity 1.8014398509481984e16"),
    (sn.Laplace, {"eps": 1, "sensitivity": 2.0**1000},
     "sensitivity must give a granularity from 2**-1074 to 2**960, "
     "got 1.0715086071862673e301 (granularity 2**967)"),
    (sn.Staircase, {"eps": 1, "sensitivity": 5e-324},
     "sensitivity must give a granularity from 2**-1074 to 2**960, "
     "got 5e-324 (granularity 2**-1106)"),
]  # fmt: skip


@looped(("mechanism", "arguments", "text"), OUT_OF_RANGE)
def test_out_of_range(mechanism, arguments, text):
    with pytest.raises(sn.ParameterError) as caught:
        mechanism(**arguments)
    assert str(caught.value) == text


@looped(("mechanism", "arguments", "text"), OUT_OF_RANGE)
def test_out_of_range_beside_an_empty_parameter(mechanism, arguments, text):
    """An empty mechanism has no element to check, but the scalar parameter must be checked."""
    *_, (name, _) = arguments.items()
    empty = "sensitivity" if name == "eps" else "eps"
    with pytest.raises(sn.ParameterError) as caught:
        mechanism(**arguments | {empty: []})
    assert str(caught.value).split(" must ")[0] == text.split(" must ")[0]
    assert str(caught.value).split("got ")[1].startswith(text.split("got ")[1].split(" and ")[0])


@looped(("mechanism", "arguments", "text"), OUT_OF_RANGE)
def test_out_of_range_in_an_array_names_the_index(mechanism, arguments, text):
    *_, (name, value) = arguments.items()
    good = {"eps": 1.0, "sensitivity": 5.0, "gamma": 0.5, "r": 2.0}[name]
    values = np.full((2, 3), good)
    values[1, 2] = value
    with pytest.raises(sn.ParameterError) as caught:
        mechanism(**arguments | {name: values})
    assert str(caught.value) == f"{text} at index (1, 2)"


class Raises:
    """An array of another library whose conversion fails."""

    def __init__(self, error):
        self.error = error

    def __array__(self, *_args, **_options):
        raise self.error


@pytest.mark.parametrize("value", [Raises(ValueError("secret")), Raises(RuntimeError("secret"))])
def test_a_conversion_that_fails_is_a_type_error_without_its_text(value):
    with pytest.raises(sn.ParameterTypeError, match=r"^eps must be a real number") as caught:
        sn.Laplace(value, sensitivity=1)
    assert "secret" not in str(caught.value)


def test_a_conversion_without_memory_says_so():
    with pytest.raises(MemoryError, match=r"^no memory to convert eps$"):
        sn.Laplace(Raises(MemoryError("secret")), sensitivity=1)


def test_arguments_of_functions_are_rounded_and_parameters_are_not():
    """Evidence: the nearest float64 from `float`."""
    mechanism = sn.Laplace(1.0, 2.0**53)
    finite = (2**53 + 1, Fraction(2**54, 3), [2**53 + 1, 0.5], [Fraction(1, 3)])
    rounded = [(x, np.vectorize(float, otypes=[float])(x)) for x in finite]
    for x, nearest in [*rounded, (10**400, np.inf), (-(10**400), -np.inf)]:
        assert np.array_equal(mechanism.cdf(x), mechanism.cdf(nearest))
        with pytest.raises(sn.ParameterError, match=r"^eps must be exactly representable"):
            sn.Laplace(x, sensitivity=1)


@pytest.mark.parametrize("x", [Decimal("sNaN"), [Decimal("sNaN"), 1.0]])
def test_a_signalling_nan_is_no_number_that_rounds(x):
    for name, call in {"x": sn.Laplace(1.0, sensitivity=1).cdf, "eps": sn.Laplace}.items():
        with pytest.raises(sn.ParameterError, match=rf"^{name} must be exactly representable in float64, got "):
            call(x)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint64])
def test_the_ends_of_a_count_are_allowed(kind):
    chunks = sn.Laplace(1.0, sensitivity=1).sample_chunks
    assert len(next(chunks(5, kind(1)))) == 1
    assert len(next(chunks(5, kind(2**63 - 1)))) == 5
    with pytest.raises(sn.ParameterError, match=r"^chunk_size must be an integer from 1 to 2\*\*63 - 1, got 0$"):
        chunks(5, kind(0))


@pytest.mark.parametrize(
    ("most", "shown"),
    [
        (1, "1"),
        (511, "511"),
        (512, "512"),
        (1000, "1000"),
        (1023, "2**10 - 1"),
        (1024, "2**10"),
        (1025, "1025"),
        (2**63, "2**63"),
    ],
)
def test_large_limits_are_powers_of_two(most, shown):
    with pytest.raises(sn.ParameterError) as caught:
        count(most + 1, "k", least=1, most=most)
    assert str(caught.value) == f"k must be an integer from 1 to {shown}, got {most + 1}"


@pytest.mark.parametrize("value", [True, False, np.True_, np.False_])
def test_a_flag_is_a_bool(value):
    assert flag(value, "lattice") is bool(value)


@pytest.mark.parametrize("value", [0, 1, 2, 1.0, 0.0, "no", None, [], [True], np.array([True])])
def test_nothing_else_is_a_flag(value):
    with pytest.raises(sn.ParameterTypeError, match=r"^lattice must be True or False, got "):
        flag(value, "lattice")
