"""The distribution functions: any argument, any broadcasting, and relations between the functions.

Evidence: a mechanism of arrays against the scalar mechanism of each element; the definitions of cdf, quantile and density; no
function is compared with its own formula. Every warning is an error, as in all tests.
"""

import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import stairnoise as sn
from tests.combinations import in_full, looped

LINES = [sn.Staircase, sn.Laplace]
LATTICES = [sn.DiscreteStaircase, sn.DiscreteLaplace]
KINDS = LINES + LATTICES
AT_X = ("cdf", "sf", "logcdf", "logsf")
AT_Q = ("ppf", "isf")
# One unit in the last place of an exponent near 700 is 1.1e-13, and so is the relative error of its exp.
SLACK = 5e-13

eps_values = st.one_of(
    st.sampled_from([2.0**-40, 2.0**-38, 1e-6, 0.3, 1.0, math.log(2), 4.0, 50.0, 700.0]), st.floats(2.0**-38, 700)
)
extreme_eps = st.one_of(eps_values, st.sampled_from([745.2, 800.0, 1e4, 1e100]))
lengths = st.one_of(st.sampled_from([1.0, 0.1, 3.0, 1e-280, 1e280]), st.floats(1e-300, 1e280))
widths = st.one_of(st.sampled_from([1, 2, 7, 1000, 2**20, 2**53]), st.integers(1, 2**40))
gammas = st.one_of(st.sampled_from([0.5, 0.3, 1.0, 2.0**-60]), st.floats(2.0**-1000, 1))
specials = st.sampled_from(
    [0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 0.5, 1.0, -1.0, 2.0**53, -1e308, math.inf, -math.inf, math.nan]
)
probabilities = st.one_of(
    st.sampled_from([0.0, 5e-324, 1e-310, 1e-300, 1e-17, 0.25, 0.5, 1 - 2.0**-53, 1.0]),
    st.floats(0, 1),
    st.floats(-700, 0).map(math.exp),
)


def density(mechanism):
    return ("pmf", "logpmf") if hasattr(mechanism, "pmf") else ("pdf", "logpdf")


def functions(mechanism):
    return (*density(mechanism), *AT_X, *AT_Q)


def spread(mechanism):
    """Return the approximate width of the mechanism."""
    return np.asarray(mechanism.sensitivity) * np.maximum(1, 1 / np.asarray(mechanism.eps))


def shape_name(kind):
    return {sn.Staircase: "gamma", sn.DiscreteStaircase: "r"}.get(kind)


@st.composite
def parameters(draw, kind, eps=eps_values):
    """Draw one set of scalar parameters that the mechanism accepts."""
    privacy = draw(eps)
    if kind in LINES:
        values = [privacy, draw(lengths)]
        return [*values, draw(gammas)] if kind is sn.Staircase else values
    width = draw(widths)
    assume(width + width / privacy <= 2**53)
    return [privacy, width, draw(st.integers(1, width))] if kind is sn.DiscreteStaircase else [privacy, width]


@st.composite
def scalar_mechanisms(draw, kinds=KINDS, eps=eps_values):
    kind = draw(st.sampled_from(kinds))
    return kind(*draw(parameters(kind, eps)))


@st.composite
def arguments(draw, mechanism):
    """Draw a number at the scale of the mechanism, at the edge of a step, or anywhere."""
    factor = draw(st.floats(-800, 800))
    at_edge = (draw(st.integers(-50, 50)) + float(getattr(mechanism, "gamma", 0))) * float(mechanism.sensitivity)
    number = draw(st.one_of(specials, st.just(factor * float(spread(mechanism))), st.just(at_edge), st.floats()))
    return number if draw(st.booleans()) else float(np.round(number))


# ---------------------------------------------------------------- arrays against scalars


def near(a, b, units):
    """Return whether numbers are equal up to `units` in the last place; NaN equals NaN."""
    if a == b or (a != a and b != b):
        return True
    return abs(a - b) <= units * math.ulp(max(abs(a), abs(b)))


def agree(mechanism, name, a, b, point):
    """Return whether an evaluation by libm's exp agrees with one by NumPy's.

    A unit in the last place is allowed for an exponential or for its argument, so a quantile can differ as much as a cdf.
    Next to a jump of a discrete quantile, either integer is allowed.
    """
    if name in AT_Q and hasattr(mechanism, "pmf") and a != b:
        function = mechanism.cdf if name == "ppf" else mechanism.sf
        return abs(a - b) == 1 and any(near(function(k), point, 4) for k in (a, b))
    return near(a, b, 4) or abs(a - b) <= 1e-15 * abs(b)


@settings(max_examples=in_full(100, 150))
@given(st.data(), st.sampled_from(KINDS))
def test_arrays_are_their_elements(data, kind):
    """Parameters and argument broadcast in every way, also with empty axes."""
    number = 3 if shape_name(kind) else 2
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=number + 1, max_dims=3, max_side=3, min_side=0))
    *own, x_shape = shapes.input_shapes
    # The largest shape parameter fits every sensitivity, so one set serves all eps and sensitivities.
    sets = [data.draw(parameters(kind)) for _ in range(2)]
    if kind is sn.DiscreteStaircase:
        for one in sets:
            one[2] = min(one[2], sets[0][1], sets[1][1])
    if kind in LATTICES:
        assume(all(a[1] + a[1] / b[0] <= 2**53 for a in sets for b in sets))
    pick = st.integers(0, 1)
    arrays = [
        np.array([sets[data.draw(pick)][i] for _ in range(math.prod(shape))], float).reshape(shape) for i, shape in enumerate(own)
    ]
    mechanism = kind(*arrays)
    together = np.broadcast(*arrays, np.empty(x_shape))
    assert together.shape == shapes.result_shape
    example_mechanism = kind(*sets[0])
    for name in functions(mechanism):
        strategy = probabilities if name in AT_Q else arguments(example_mechanism)
        x = np.array([data.draw(strategy) for _ in range(min(4, math.prod(x_shape)))] * math.prod(x_shape))
        x = x[: math.prod(x_shape)].reshape(x_shape)
        result = getattr(mechanism, name)(x)
        assert np.shape(result) == shapes.result_shape
        assert type(result) is (float if shapes.result_shape == () else np.ndarray)
        flat = [np.broadcast_to(a, shapes.result_shape).ravel().tolist() for a in (*arrays, x, result)]
        for *own_values, point, value in zip(*flat, strict=True):
            alone = kind(*own_values)
            expected = getattr(alone, name)(point)
            assert type(expected) is float
            assert agree(alone, name, value, expected, point), (alone, name, point, value, expected)


@given(scalar_mechanisms())
@settings(max_examples=20)
def test_longer_than_a_block(mechanism):
    q = np.linspace(0, 1, 9001)
    for name in AT_Q:
        assert np.array_equal(getattr(mechanism, name)(q)[::997], getattr(mechanism, name)(q[::997].copy()))


@given(st.data(), scalar_mechanisms(), hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
def test_kinds_of_arrays(data, mechanism, shape):
    """Equal numbers in any container give equal values; the argument is neither changed nor returned."""
    numbers = data.draw(hnp.arrays(np.float32, shape, elements=st.floats(0, 1, width=32)))
    plain = numbers.astype(np.float64)
    padded = np.full((*shape, 2), np.nan)
    padded[..., 0] = plain
    unaligned = np.zeros(plain.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(shape)
    unaligned[...] = plain
    frozen = plain.copy()
    frozen.flags.writeable = False
    same = [
        numbers,
        plain.astype(">f8"),
        padded[..., 0],
        np.array(plain, order="F"),
        unaligned,
        frozen,
        plain.astype(np.longdouble),
    ]
    if plain.size:
        same += [plain.tolist(), plain[()]]
    for name in functions(mechanism):
        function = getattr(mechanism, name)
        expected = function(plain)
        if isinstance(expected, np.ndarray):
            assert expected.dtype == np.float64
            assert expected.flags.writeable
            assert expected.flags.owndata
        for other in same:
            before = np.array(other).tobytes()
            result = function(other)
            assert np.array_equal(result, expected, equal_nan=True)
            assert type(result) is type(expected)
            assert np.array(other).tobytes() == before
            assert not np.may_share_memory(np.asarray(result), np.asarray(other))


@given(scalar_mechanisms(), st.integers(-(2**70), 2**70) | st.fractions() | st.decimals(allow_nan=False) | st.just(10**400))
@example(sn.Staircase(1.0, 3.0), Fraction(1, 3))
@example(sn.DiscreteLaplace(1.0, 3), -(10**400))
@example(sn.Laplace(1.0), Decimal("1e-400"))
def test_exact_numbers_are_rounded(mechanism, number):
    """Integers, fractions and decimals of any size, alone and in lists, are the nearest float64 or infinite."""
    try:
        rounded = float(number)
    except OverflowError:
        rounded = math.inf if number > 0 else -math.inf
    for name in (*density(mechanism), *AT_X):
        function = getattr(mechanism, name)
        assert function(number) == function(rounded)
        assert function([number, 0]).tolist() == function([rounded, 0]).tolist()
    if isinstance(number, int) and -(2**63) <= number < 2**63:
        assert mechanism.cdf(np.int64(number)) == mechanism.cdf(rounded)
        assert mechanism.cdf(np.array([number])).tolist() == mechanism.cdf(np.array([float(np.int64(number))])).tolist()


@looped(
    "wrong",
    [
        *(None, "1", b"1", True, [True], np.True_, 1j, [1, 1j], np.array(["1"]), np.array([None]), {}, {1}, object()),
        *(np.array(1, "m8[s]"), np.ma.array([1.0]), np.ma.masked, [[1, 2], [3]]),
    ],
)
@looped("mechanism", [sn.Staircase(1.0), sn.DiscreteLaplace([1.0, 2.0])])
def test_what_is_no_number_is_refused(mechanism, wrong):
    for name in functions(mechanism):
        with pytest.raises(sn.ParameterTypeError, match=r"^[xkq] must "):
            getattr(mechanism, name)(wrong)
    for call, name in ((mechanism.interval, "confidence"), (mechanism.error_bound, "confidence")):
        with pytest.raises(sn.ParameterTypeError, match=f"^{name} must "):
            call(wrong)


def test_signalling_nan_is_refused():
    with pytest.raises(sn.ParameterError, match=r"^x must be exactly representable"):
        sn.Laplace(1.0).cdf(Decimal("sNaN"))


@pytest.mark.parametrize("mechanism", [kind([1.0, 2.0]) for kind in KINDS], ids=repr)
def test_shapes_that_do_not_broadcast(mechanism):
    three = np.array([0.5, 0.6, 0.7])
    calls = {getattr(mechanism, name): r"[xkq]" for name in functions(mechanism)}
    calls |= {mechanism.interval: "confidence", mechanism.error_bound: "confidence"}
    for call, name in calls.items():
        with pytest.raises(sn.ParameterError, match=rf"^{name} and parameters must have shapes .*\(3,\).*\(2,\)"):
            call(three)


@pytest.mark.parametrize("kind", KINDS)
def test_empty_and_outer_parameters(kind):
    empty = kind(np.empty((0,)))
    outer = kind([[0.5], [1.0], [2.0]], [[1, 2, 3, 4]])
    for name in functions(empty):
        assert getattr(empty, name)(0.5).shape == (0,)
        assert getattr(empty, name)([[0.5]]).shape == (1, 0)
        assert getattr(outer, name)(0.5).shape == (3, 4)
        assert getattr(outer, name)(np.full((2, 1, 1), 0.5)).shape == (2, 3, 4)
    assert outer.entropy().shape == outer.median().shape == outer.stats("k").shape == (3, 4)
    assert [end.shape for end in outer.interval(0.5)] == [(3, 4), (3, 4)]
    assert empty.entropy().shape == empty.stats("k").shape == (0,)


# ---------------------------------------------------------------- relations between the functions


@given(st.data(), scalar_mechanisms(eps=extreme_eps))
def test_probabilities(data, mechanism):
    """Probabilities are in [0, 1] and symmetric, cdf + sf = 1, and the logarithms agree."""
    x = data.draw(arguments(mechanism))
    cdf, sf, logcdf, logsf = (getattr(mechanism, name)(x) for name in AT_X)
    height, log_height = (getattr(mechanism, name)(x) for name in density(mechanism))
    if math.isnan(x):
        assert all(map(math.isnan, (cdf, sf, logcdf, logsf, height, log_height)))
        return
    assert 0 <= cdf <= 1
    assert 0 <= sf <= 1
    assert abs(cdf + sf - 1) <= 2.0**-52
    for plain, log in ((cdf, logcdf), (sf, logsf), (height, log_height)):
        assert log <= 0 or plain is height
        assert math.copysign(1, log) == -1 or log == 0 or plain is height
        if 2.0**-1022 <= plain < math.inf:
            assert math.exp(log) == pytest.approx(plain, rel=SLACK)
        if plain == 0:
            assert log < -744 or (plain is height and log <= -744)
    assert mechanism.sf(-x) == (cdf if not hasattr(mechanism, "pmf") else mechanism.sf(-x))
    if hasattr(mechanism, "pmf") and abs(x) < 2**52:
        assert mechanism.sf(-math.floor(x) - 1) == cdf
        assert mechanism.logsf(-math.floor(x) - 1) == logcdf
    name = density(mechanism)[0]
    assert getattr(mechanism, name)(-x) == height


@given(st.data(), scalar_mechanisms(eps=extreme_eps))
def test_no_flag_of_an_invalid_operation(data, mechanism):
    """A finite x or a probability q gives no NaN and no invalid flag, as a float, in an array or by `numpy.vectorize`."""
    x = data.draw(arguments(mechanism).filter(math.isfinite))
    q = data.draw(probabilities)
    # A point far beyond the scale can overflow on its way to a tail of 0.
    with np.errstate(all="ignore", invalid="raise", divide="raise"):
        for name in functions(mechanism):
            point = q if name in AT_Q else x
            scalar = getattr(mechanism, name)(point)
            assert not math.isnan(scalar)
            assert np.vectorize(getattr(mechanism, name))(point) == scalar
            assert not np.isnan(getattr(mechanism, name)([point, point])).any()


@given(st.data(), scalar_mechanisms())
def test_monotone(data, mechanism):
    """The functions are monotone even from one float64 to the next, at the edges of steps and elsewhere."""
    starts = [data.draw(arguments(mechanism)) for _ in range(3)]
    x = sorted(
        {y for s in starts if math.isfinite(s) for y in (s, math.nextafter(s, math.inf), math.nextafter(s, -math.inf))}
        | {-math.inf, math.inf}
    )
    for name, sign in (("cdf", 1), ("sf", -1), ("logcdf", 1), ("logsf", -1)):
        values = [getattr(mechanism, name)(y) for y in x]
        for before, after in itertools.pairwise(values[::sign]):
            assert after >= before or before - after <= SLACK * max(1e-300, abs(before)), (name, x, values)
    heights = [
        getattr(mechanism, density(mechanism)[1])(math.floor(y) if hasattr(mechanism, "pmf") else y)
        for y in x
        if 0 <= y < math.inf
    ]
    for before, after in itertools.pairwise(heights):
        assert after <= before or after - before <= SLACK * abs(before)


@given(scalar_mechanisms(LATTICES), probabilities)
@example(sn.DiscreteStaircase(1.0, 5, 2), 0.5)
@example(sn.DiscreteLaplace(2.0**-38, 3), 1e-300)
def test_discrete_quantiles_are_the_least_integers(mechanism, q):
    """Galois: ppf(q) <= k exactly where q <= cdf(k); isf(q) <= k exactly where sf(k) <= q."""
    for quantile, function, reaches in (
        (mechanism.ppf(q), mechanism.cdf, lambda k: mechanism.cdf(k) >= q),
        (mechanism.isf(q), mechanism.sf, lambda k: mechanism.sf(k) <= q),
    ):
        if math.isinf(quantile):
            assert q in (0, 1)
            continue
        assert quantile == math.floor(quantile)
        assert math.copysign(1, quantile) == 1 or quantile != 0
        # Beyond 2**51 the functions cannot distinguish an integer from its neighbours.
        if abs(quantile) < 2**51:
            assert reaches(quantile)
            assert not reaches(quantile - 1) or function(quantile - 1) == function(quantile)


@pytest.mark.parametrize(
    "mechanism", [sn.DiscreteLaplace(1.0), sn.DiscreteStaircase(1.0, 5), sn.DiscreteLaplace(2.0**-40)], ids=repr
)
def test_round_trip_in_the_tail_where_u_is_rounded(mechanism):
    """The upper tail for cdf and the lower tail for sf, as far as the function distinguishes neighbours."""
    k = np.arange(-120, 121)
    for function, inverse in ((mechanism.cdf, mechanism.ppf), (mechanism.sf, mechanism.isf)):
        value = function(k)
        distinct = (value != function(k - 1)) & (value > 0) & (value < 1)
        assert distinct.sum() > 60
        assert np.array_equal(inverse(value)[distinct], k[distinct])
        # Single floats, because NumPy's exponential of an array can differ from the C library's by a rounding.
        values = {i: function(i) for i in range(-121, 121)}
        distinct_alone = [i for i in k.tolist() if values[i] != values[i - 1] and 0 < values[i] < 1]
        assert len(distinct_alone) > 60
        assert [inverse(values[i]) for i in distinct_alone] == distinct_alone


@given(st.data(), scalar_mechanisms(LATTICES))
def test_discrete_round_trip(data, mechanism):
    """The round trip is exact where the cdf distinguishes neighbours."""
    k = data.draw(st.integers(-(2**50), 2**50) | st.integers(-3000, 3000))
    for function, inverse, step in ((mechanism.cdf, mechanism.ppf, -1), (mechanism.sf, mechanism.isf, -1)):
        value = function(k)
        if 0 < value < 1 and function(k + step) != value:
            assert inverse(value) == k
            shape = [[k, k + 1]]
            assert inverse(function(shape))[0, 0] == k
    total = mechanism.cdf(k - 1) + mechanism.pmf(k)
    assert total == pytest.approx(mechanism.cdf(k), rel=1e-12, abs=5e-324)


@given(scalar_mechanisms(LINES), probabilities.filter(lambda q: 1e-300 < q < 1))
def test_continuous_quantiles_invert(mechanism, q):
    """Quantiles invert the cdf as exactly as the spacing of float64 around them permits."""
    for quantile, function in ((mechanism.ppf(q), mechanism.cdf), (mechanism.isf(q), mechanism.sf)):
        # In logarithms, because the density of a wide mechanism underflows.
        unavoidable = math.exp(mechanism.logpdf(quantile * (1 - 2.0**-52)) + math.log(math.ulp(quantile)))
        assert abs(function(quantile) - q) <= SLACK * q + 4 * unavoidable


@given(st.data(), scalar_mechanisms(LINES, eps=st.floats(0.01, 50)))
def test_density_is_the_slope(data, mechanism):
    """Inside a step the cdf is a straight line; for Laplace noise, the tolerance is the error of a central difference."""
    assume(mechanism.pdf(0) < math.inf)
    unit = mechanism.sensitivity if isinstance(mechanism, sn.Staircase) else mechanism.sensitivity / mechanism.eps
    place = data.draw(st.integers(-8, 8)) + data.draw(st.floats(0.05, 0.95))
    x = place * unit
    inside = mechanism.gamma * mechanism.sensitivity if isinstance(mechanism, sn.Staircase) else 0
    x = math.copysign(abs(x) + inside, x)
    h = 0.01 * unit
    if isinstance(mechanism, sn.Staircase):
        assume(abs(x) - h > inside)
        offset = (abs(x) - inside) / unit % 1
        assume(0.02 < offset < 0.98)
    tail = mechanism.sf if x > 0 else mechanism.cdf
    slope = abs(tail(x + h) - tail(x - h)) / (2 * h)
    assert slope == pytest.approx(mechanism.pdf(x), rel=1e-9 if isinstance(mechanism, sn.Staircase) else 1e-4)


@given(scalar_mechanisms(LINES))
def test_scale(mechanism):
    """A power of two as unit changes no digit of a probability; skewness and kurtosis do not depend on the scale."""
    assume(mechanism.sensitivity > 1e-280)  # below, x would be subnormal in the smaller unit
    other = type(mechanism)(mechanism.eps, mechanism.sensitivity * 2.0**-30, *mechanism._arguments()[2:])
    x = np.array([-3.3, -0.7, 0.0, 0.2, 1.9]) * mechanism.sensitivity
    assert np.array_equal(mechanism.cdf(x), other.cdf(x * 2.0**-30))
    quantiles = np.asarray(mechanism.ppf([0.1, 0.9]))
    assume(np.abs(quantiles).min() > 1e-290)  # the moments of a narrow mechanism too
    assert np.array_equal(quantiles, other.ppf([0.1, 0.9]) * 2.0**30)
    assert mechanism.stats("sk") == other.stats("sk")
    assert math.isfinite(mechanism.stats("k"))
    assert mechanism.stats("k") > -1.2001


@pytest.mark.parametrize("kind", LINES)
def test_subnormal_sensitivity(kind):
    """A sensitivity far below the normal range makes nothing overflow, and quantiles scale with it."""
    mechanism, unit = kind(2.0**-30, 2.0**-1050), kind(2.0**-30)
    assert mechanism.cdf([0.0, 2.0**-1030]).tolist() == unit.cdf([0.0, 2.0**20]).tolist()
    assert mechanism.cdf(2.0**-1030) == unit.cdf(2.0**20)
    assert mechanism.ppf(0.2) == pytest.approx(unit.ppf(0.2) * 2.0**-1050, rel=1e-9)


def test_density_beyond_a_height_that_overflows():
    """1/(2 Δ (γ + c)) overflows, the second step does not, and the thousandth underflows to 0 and not to NaN."""
    mechanism = sn.Staircase(20.0, 1e-300, 2.0**-60)
    c = 1 / math.expm1(20)
    exact = Fraction(math.exp(-20)) / (2 * Fraction(1e-300) * (Fraction(2.0**-60) + Fraction(c)))
    assert mechanism.pdf([0.0, 5e-301, 1e-297]).tolist() == [mechanism.pdf(0.0), mechanism.pdf(5e-301), 0.0]
    assert mechanism.pdf(0.0) == math.inf
    assert mechanism.pdf(5e-301) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("eps", [340.0, 360.0, 380.0, 400.0, 460.0])
def test_survival_where_b_to_the_stair_is_below_float64(eps):
    """A narrow centre lifts the second step's survival far above exp(-2 eps), which underflows."""
    tail = sn.Staircase(eps, 4)
    assert tail.sf(6) == tail.cdf(-6) > 1e-308
    assert tail.sf(6) == pytest.approx(math.exp(tail.logsf(6)), rel=SLACK)
    assert tail.isf(tail.sf(6)) == pytest.approx(6, rel=1e-12)
    assert tail.sf([6]).tolist() == pytest.approx([tail.sf(6)], rel=1e-15)


def test_excess_kurtosis_where_the_moments_leave_float64():
    """E X⁴/(E X²)² - 3, from logarithms of mpmath's exact moments of the mixture of uniform distributions."""
    mp = pytest.importorskip("mpmath")
    with mp.workdps(50):
        mechanism = sn.Staircase(700.0, 1e-100, "l2")
        b, g = mp.exp(-700), mp.mpf(mechanism.gamma)
        second, fourth = ((g**p * g + mp.nsum(lambda m, p=p: b**m * (m + g) ** (p + 1), [1, 20])) / (p + 1) for p in (2, 4))
        norm = g + mp.nsum(lambda m: b**m * (m + g), [1, 20])
        exact = fourth * norm / second**2 - 3
    assert mechanism.stats("k") == pytest.approx(float(exact), rel=1e-12)
    assert sn.Laplace(1.0, 1e100).stats("k") == 3
    assert sn.DiscreteStaircase(700.0, 1).stats("k") == pytest.approx(math.exp(700) / 2, rel=1e-12)
