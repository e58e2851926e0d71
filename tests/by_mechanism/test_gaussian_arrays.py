"""Gaussian noise with arrays of parameters. Deterministic: no false alarms.

Evidence: each element draws, releases and answers the same as the mechanism of its scalar parameters.
"""

import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
import stairnoise.optimal as so
from stairnoise.mechanisms.gaussian import calibration as gaussian_sigma
from tests.combinations import looped
from tests.examples import promise

EPS, DELTA, CHANGE = np.array([0.1, 1.0, 6.0, 1.0]), np.array([1e-6, 1e-6, 1e-3, 1e-9]), np.array([1.0, 2.0, 0.1, 1e6])
SIGMA, SIGMA2 = np.array([0.3, 1.0, 1000.0, 1.0]), np.array([0.25, 9.0, 1e6, 2.0**70])

# An array of four parameters, and the parameters of each element.
MECHANISMS: dict[str, tuple[Any, Callable[[int], Any]]] = {
    "of eps": (sn.Gaussian(EPS, DELTA, CHANGE), lambda i: sn.Gaussian(EPS[i], DELTA[i], CHANGE[i])),
    "of eps alone": (sn.Gaussian(EPS, 1e-6, sensitivity=1), lambda i: sn.Gaussian(EPS[i], 1e-6, sensitivity=1)),
    "of sigma": (sn.Gaussian(sigma=SIGMA, sensitivity=2), lambda i: sn.Gaussian(sigma=SIGMA[i], sensitivity=2)),
    "for 3 values": (
        sn.Gaussian(sigma=SIGMA, sensitivity=1).for_partitions(3),
        lambda i: sn.Gaussian(sigma=SIGMA[i], sensitivity=1).for_partitions(3),
    ),
    "discrete": (sn.DiscreteGaussian(SIGMA2), lambda i: sn.DiscreteGaussian(SIGMA2[i])),
    "discrete, of sigma": (sn.DiscreteGaussian(sigma=SIGMA), lambda i: sn.DiscreteGaussian(sigma=SIGMA[i])),
    "discrete, of eps": (
        sn.DiscreteGaussian.from_eps(EPS, DELTA, [1, 2, 3, 1]),
        lambda i: sn.DiscreteGaussian.from_eps(EPS[i], DELTA[i], [1, 2, 3, 1][i]),
    ),
    "discrete, for 2 values": (
        sn.DiscreteGaussian.from_eps(EPS, 1e-6, sensitivity=1).for_partitions(2),
        lambda i: sn.DiscreteGaussian.from_eps(EPS[i], 1e-6, sensitivity=1).for_partitions(2),
    ),
}
each_name = pytest.mark.parametrize("name", MECHANISMS)


@cache
def element(name: str, i: int) -> Any:
    """Return the mechanism of an element's scalar parameters."""
    return MECHANISMS[name][1](i)


def elementwise(name: str, answer: Callable[[Any], Any]) -> Any:
    return np.array([answer(element(name, i)) for i in range(4)])


def drawn_alone(name: str, shape: tuple[int, ...], **options: Any) -> Any:
    """Draw with the mechanism of each column, and put the columns together."""
    found = [element(name, i).sample(shape, rng=sn.SeededRng(5), **options)[..., i] for i in range(4)]
    return np.stack(found, axis=-1)


@each_name
@pytest.mark.parametrize("rows", [1, 3, 40, 3000])
def test_values_are_those_of_the_scalar_mechanism(name: str, rows: int) -> None:
    mechanism = MECHANISMS[name][0]
    for dtype in mechanism._dtypes:
        expected = drawn_alone(name, (rows, 4), dtype=dtype)
        for threads in (1, 3):
            np.testing.assert_array_equal(
                mechanism.sample((rows, 4), rng=sn.SeededRng(5), dtype=dtype, threads=threads), expected
            )
    expected = drawn_alone(name, (rows, 4))
    if rows == 1:
        np.testing.assert_array_equal(mechanism.sample(rng=sn.SeededRng(5)), expected[0])
    strided = np.zeros((4, 2 * rows, 3), expected.dtype)[::-1, ::2, 1].T
    assert mechanism.sample(out=strided, rng=sn.SeededRng(5)) is strided
    np.testing.assert_array_equal(strided, expected)
    part = mechanism.sample((rows - rows // 3, 4), rng=sn.SeededRng(5).at(rows // 3 * 4))
    np.testing.assert_array_equal(part, expected[rows // 3 :])
    chunks = list(mechanism.sample_chunks((rows, 4), 7, rng=sn.SeededRng(5)))
    np.testing.assert_array_equal(np.concatenate(chunks), expected)


@pytest.mark.parametrize("name", ["of eps", "discrete"])
def test_long_arrays_on_threads(name: str) -> None:
    """More than 2**18 values are shared by threads."""
    mechanism, rows = MECHANISMS[name][0], 2**16 + 5
    expected = drawn_alone(name, (rows, 4), threads=1)
    np.testing.assert_array_equal(mechanism.sample((rows, 4), rng=sn.SeededRng(5), threads=3), expected)
    by_columns = mechanism.sample(out=np.empty((rows, 4), expected.dtype, "F"), rng=sn.SeededRng(5), threads=2)
    np.testing.assert_array_equal(by_columns, expected)


@pytest.mark.parametrize("columns", [1, 3])
def test_chunks_of_parameters_that_differ_by_the_row(columns: int) -> None:
    mechanism = sn.DiscreteGaussian(np.arange(1.0, 20 * columns + 1).reshape(20, columns))
    whole = mechanism.sample((20, 3), rng=sn.SeededRng(6))
    chunks = list(mechanism.sample_chunks((20, 3), 6, rng=sn.SeededRng(6)))
    np.testing.assert_array_equal(np.concatenate(chunks), whole)


def test_parameters_that_are_all_different() -> None:
    sigma = np.linspace(1, 2, 5000)
    noise = sn.Gaussian(sigma=sigma).sample(rng=sn.SeededRng(2))
    for i in (0, 1, 77, 4096, 4999):
        assert noise[i] == sn.Gaussian(sigma=sigma[i]).sample(1, rng=sn.SeededRng(2).at(i))[0]


@each_name
@pytest.mark.parametrize("k", [1, 3])
def test_releases_are_those_of_the_scalar_mechanism(name: str, k: int) -> None:
    """Releases in place too, into float64, float32 and integer arrays, contiguous and strided."""
    mechanism = MECHANISMS[name][0]
    true = (np.arange(120).reshape(30, 4) * 37 % 101).astype(np.int64)
    for dtype in ("int64", "float64", "float32"):
        if dtype == "int64" and not mechanism._integers:
            continue
        values = true.astype(dtype)

        def options() -> Any:
            return {"rng": sn.SeededRng(7, allow_release=True), "max_partitions_contributed": k}

        alone = [element(name, i).release(values, **options())[:, i] for i in range(4)]
        expected = np.stack(alone, axis=-1)
        assert expected.dtype == dtype
        np.testing.assert_array_equal(mechanism.release(values, **options()), expected)
        assert mechanism.release(values, out=values, **options()) is values
        np.testing.assert_array_equal(values, expected)
        strided = np.zeros((4, 60, 2), dtype)[:, ::2, 1].T
        strided[...] = true
        assert mechanism.release(strided, out=strided, **options()) is strided
        np.testing.assert_array_equal(strided, expected)


def test_one_answer_for_every_parameter() -> None:
    mechanism = sn.Gaussian(sigma=SIGMA)
    released = mechanism.release(10.0, rng=sn.SeededRng(1, allow_release=True))
    assert released.shape == (4,)
    np.testing.assert_array_equal(released, mechanism.release([10.0] * 4, rng=sn.SeededRng(1, allow_release=True)))


FUNCTIONS = ("cdf", "sf", "logcdf", "logsf")


@each_name
def test_the_distribution_is_that_of_every_element(name: str) -> None:
    mechanism = MECHANISMS[name][0]
    density = ("pmf", "logpmf") if mechanism._integers else ("pdf", "logpdf")
    x, q = np.array([[-3.0], [0.0], [0.5], [1e3], [np.nan]]), np.array([[1e-9], [0.3], [0.5], [1.0]])
    calls = [
        *((f, x) for f in (*FUNCTIONS, *density)),
        ("ppf", q),
        ("isf", q),
        ("error_bound", 1 - q[:3]),
    ]
    for function, given in calls:
        found = getattr(mechanism, function)(given)
        expected = elementwise(name, lambda one, f=function, given=given: getattr(one, f)(given[:, 0])).T  # type: ignore[misc]
        np.testing.assert_array_equal(found, expected, err_msg=function)
        assert found.dtype == expected.dtype
    for method in ("mean", "var", "std", "median", "entropy"):
        np.testing.assert_array_equal(getattr(mechanism, method)(), elementwise(name, lambda one, m=method: getattr(one, m)()))  # type: ignore[misc]
    for order in (0, 1, 2, 7, 20):
        np.testing.assert_array_equal(mechanism.moment(order), elementwise(name, lambda one, p=order: one.moment(p)))  # type: ignore[misc]
    np.testing.assert_array_equal(mechanism.abs_moment(1.5), elementwise(name, lambda one: one.abs_moment(1.5)))
    np.testing.assert_array_equal(mechanism.stats("mvsk"), elementwise(name, lambda one: one.stats("mvsk")).T)
    np.testing.assert_array_equal(mechanism.interval(0.9), elementwise(name, lambda one: one.interval(0.9)).T)
    np.testing.assert_array_equal(mechanism.support(), elementwise(name, lambda one: one.support()).T)
    np.testing.assert_array_equal(
        mechanism.granularity, 1 if mechanism._integers else elementwise(name, lambda one: one.granularity)
    )


@each_name
def test_errors_and_costs_are_those_of_every_element(name: str) -> None:
    mechanism = MECHANISMS[name][0]
    for options in ({}, {"of": "sum", "terms": 5}, {"of": "mean", "terms": 3}, {"max_partitions_contributed": 2}):
        expected = elementwise(name, lambda one, options=options: one.confidence_interval(12, 0.9, **options)).T  # type: ignore[misc]
        np.testing.assert_array_equal(mechanism.confidence_interval(12, 0.9, **options), expected)
    np.testing.assert_array_equal(so.expected_cost(mechanism, "l2"), elementwise(name, lambda one: so.expected_cost(one, "l2")))
    powers = np.array([[0.5], [1.0], [2.0]])
    expected = elementwise(name, lambda one: so.expected_cost(one, powers[:, 0])).T
    np.testing.assert_array_equal(so.expected_cost(mechanism, powers), expected)


def test_costs_that_are_functions() -> None:
    def cost(x: Any) -> Any:
        return x > 2

    for mechanism, alone in (
        (sn.Gaussian(sigma=[1.0, 2.0]), lambda s: sn.Gaussian(sigma=s)),
        (sn.DiscreteGaussian(sigma=[1.0, 2.0]), lambda s: sn.DiscreteGaussian(sigma=s)),
    ):
        np.testing.assert_array_equal(so.expected_cost(mechanism, cost), [so.expected_cost(alone(s), cost) for s in (1.0, 2.0)])


@each_name
def test_privacy_is_that_of_every_element(name: str) -> None:
    mechanism = MECHANISMS[name][0]
    for method, level in (("privacy_profile", 0.5), ("rdp", 3.0), ("rdp", 1.0), ("tradeoff", 0.1)):
        expected = elementwise(name, lambda one, m=method, x=level: getattr(one, m)(x))  # type: ignore[misc]
        np.testing.assert_allclose(getattr(mechanism, method)(level), expected, rtol=1e-13)
        levels = np.full((3, 1), level)
        np.testing.assert_allclose(getattr(mechanism, method)(levels), np.broadcast_to(expected, (3, 4)), rtol=1e-13)
    loss = mechanism.privacy_loss()
    assert (loss.eps == np.inf).all()
    for measure in ("mean", "var"):
        np.testing.assert_array_equal(
            getattr(loss, measure)(), elementwise(name, lambda one, m=measure: getattr(one.privacy_loss(), m)())
        )  # type: ignore[misc]
    eps = loss.eps_for_delta(1e-5)
    np.testing.assert_allclose(eps, elementwise(name, lambda one: one.privacy_loss().eps_for_delta(1e-5)), rtol=1e-12)
    assert (mechanism.privacy_profile(eps) <= 1e-5).all()
    assert loss == mechanism.privacy_loss()
    assert hash(loss) == hash(mechanism.privacy_loss())
    assert pickle.loads(pickle.dumps(loss)) == loss
    with pytest.raises(
        sn.ParameterError, match=r"composition must be of mechanisms with scalar parameters, got parameters of shape \(4,\)"
    ):
        mechanism.compose(2)


@each_name
@pytest.mark.parametrize("k", [1, 5])
def test_guarantees_are_those_of_every_element(name: str, k: int) -> None:
    mechanism = MECHANISMS[name][0]
    whole = promise(mechanism, max_partitions_contributed=k)
    alone = [promise(element(name, i), max_partitions_contributed=k) for i in range(4)]
    for field in ("eps", "delta", "rho", "sensitivity"):
        expected = [getattr(one, field) for one in alone]
        if expected[0] is None:
            assert getattr(whole, field) is None
        else:
            np.testing.assert_array_equal(np.broadcast_to(getattr(whole, field), 4), expected)
    assert whole.partitions == alone[0].partitions
    assert "differentially private" in repr(whole)
    wide = mechanism.for_partitions(5)
    np.testing.assert_array_equal(wide.sigma, elementwise(name, lambda one: one.for_partitions(5).sigma))
    for parameter in ("sigma", "sigma2"):
        np.testing.assert_array_equal(getattr(mechanism, parameter), elementwise(name, lambda one, p=parameter: getattr(one, p)))  # type: ignore[misc]


@each_name
def test_text_pickle_and_equality(name: str) -> None:
    mechanism = MECHANISMS[name][0]
    again = pickle.loads(pickle.dumps(mechanism))
    assert again == mechanism
    assert hash(again) == hash(mechanism)
    made = eval(repr(mechanism), {"Gaussian": sn.Gaussian, "DiscreteGaussian": sn.DiscreteGaussian, "array": np.array})
    np.testing.assert_array_equal(made.sigma2, mechanism.sigma2)
    assert made == mechanism
    assert mechanism not in {other for key, (other, _) in MECHANISMS.items() if key != name}


def test_an_eps_is_stated_for_the_sensitivity_it_was_made_for() -> None:
    mechanism = sn.DiscreteGaussian.from_eps(1.0, 1e-6, [1, 2])
    assert mechanism.guarantee().eps == 1.0
    promise = mechanism.guarantee(sensitivity=1)
    assert promise.eps is promise.delta is None
    np.testing.assert_array_equal(promise.rho, mechanism.rho(1))
    assert sn.DiscreteGaussian.from_eps([1.0, 2.0], 1e-6, 3).guarantee(sensitivity=3).eps.tolist() == [1.0, 2.0]


def test_parameters_are_copies_that_nobody_changes() -> None:
    sigma2 = np.array([1.0, 4.0])
    mechanism = sn.DiscreteGaussian(sigma2)
    sigma2[0] = 100.0
    assert mechanism.sigma2.tolist() == [1.0, 4.0]
    with pytest.raises(ValueError, match="read-only"):
        mechanism.sigma2[0] = 5
    in_place = np.array([2.0, 3.0])
    expected = sn.sample(mechanism="gaussian", sigma=in_place.copy(), rng=sn.SeededRng(3))
    assert sn.sample(mechanism="gaussian", sigma=in_place, out=in_place, rng=sn.SeededRng(3)) is in_place
    np.testing.assert_array_equal(in_place, expected)


def test_each_different_set_of_parameters_is_calibrated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, calibrate = [], gaussian_sigma.calibrate
    monkeypatch.setattr(gaussian_sigma, "calibrate", lambda *given: calls.append(given) or calibrate(*given))
    mechanism = sn.Gaussian(np.tile([[0.5], [1.0]], (50, 1)), 1e-6, np.tile([1.0, 2.0, 1.0], 40))
    assert mechanism.sigma.shape == (100, 120)
    assert sorted(calls) == [(eps, 1e-6, change, 1) for eps in (0.5, 1.0) for change in (1.0, 2.0)]


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 2)])
def test_empty_arrays(shape: tuple[int, ...]) -> None:
    for mechanism in (
        sn.Gaussian(np.empty(shape), 1e-6, sensitivity=1),
        sn.Gaussian(sigma=np.empty(shape), sensitivity=1),
        sn.DiscreteGaussian(np.empty(shape)),
    ):
        assert (
            mechanism.sample().shape
            == mechanism.release(np.empty(shape)).shape
            == mechanism.cdf(0.0).shape
            == mechanism.var().shape
            == shape
        )
        assert mechanism.privacy_profile(1.0).shape == promise(mechanism).rho.shape == shape
        assert mechanism.for_partitions(3).sigma.shape == shape


BAD: list[tuple[Any, str]] = [
    (
        lambda: sn.Gaussian([1, 2, 0], 1e-6, sensitivity=1),
        "eps must be from 2**-40 to 2**20 for Gaussian noise, got 0.0 at index (2,)",
    ),
    (
        lambda: sn.Gaussian([1, 2], [[0.5], [1]], sensitivity=1),
        "delta must be greater than 0 and less than 1, got 1.0 at index (1, 0)",
    ),
    (lambda: sn.Gaussian([1, 2], 1e-6, [1, np.inf]), "sensitivity must be finite and greater than 0, got inf at index (1,)"),
    (
        lambda: sn.Gaussian([1, 2.0**-39, 2.0**-40], 1e-20, sensitivity=1),
        "eps and delta must give a standard deviation below 2**34 times the sensitivity, rounded down to a power of two, "
        "got eps 1.8189894035458565e-12 and delta 1e-20 at index (1,)",
    ),
    (
        lambda: sn.Gaussian([1, 2], [1e-6] * 3, sensitivity=1),
        "eps and delta and sensitivity must have shapes that broadcast, got ",
    ),
    (lambda: sn.Gaussian(sigma=[1, np.nan]), "sigma must be finite and greater than 0, got nan at index (1,)"),
    (
        lambda: sn.Gaussian(sigma=[1, 1e-9], sensitivity=[[1], [2]]),
        "sigma must be at least 2**-20 times the sensitivity (std needs no sensitivity), "
        "got sigma 1e-09 and sensitivity 1.0 at index (0, 1)",
    ),
    (
        lambda: sn.Gaussian(sigma=[1, 1e30]),
        "sigma must be below 2**34 times the sensitivity, rounded down to a power of two "
        "(std needs no sensitivity), got sigma 1e+30 and sensitivity 1.0 at index (1,)",
    ),
    (lambda: sn.DiscreteGaussian([[1, 0]]), "sigma2 must be from 2**-20 to 2**90, got 0.0 at index (0, 1)"),
    (lambda: sn.DiscreteGaussian(sigma=[1, 0]), "sigma must be from 2**-10 to 2**45, got 0.0 at index (1,)"),
    (
        lambda: sn.DiscreteGaussian.from_eps(1, 1e-6, [1, 1.5]),
        "sensitivity must be an integer from 1 to 2**40, got 1.5 at index (1,)",
    ),
    (lambda: sn.DiscreteGaussian.from_eps([1, -1], 1e-6), "eps must be greater than 0 and at most 2**20, got -1.0 at index (1,)"),
    (
        lambda: sn.DiscreteGaussian([1, 2.0**89]).for_partitions(4),
        "k must leave a sigma2 that fits 64-bit integers, got 4: sigma2 must be from 2**-20 to 2**90, got ",
    ),
    (lambda: sn.Gaussian(sigma=[1, 2]).cdf([1, 2, 3]), "x and parameters must have shapes that broadcast, got "),
    (
        lambda: sn.DiscreteGaussian([1, 2]).release([1, 2], l2_sensitivity=1),
        "l2_sensitivity must be left out for array parameters, whose values have no rho in common, got 1",
    ),
    (
        lambda: sn.DiscreteGaussian([1, 2]).rho(l2_sensitivity=1),
        "l2_sensitivity must be left out for array parameters, whose values have no rho in common, got 1",
    ),
    (
        lambda: sn.Gaussian(sigma=[1, 2]).as_scipy(),
        "as_scipy must have scalar parameters, got parameters of shape (2,)",
    ),
    (lambda: sn.Gaussian(sigma=[1, 2]).release([1, np.nan]), "values must be finite, got one that is not at index (1,)"),
    (
        lambda: sn.Gaussian(sigma=[1, 1e-3], sensitivity=[1, 1e-3]).release([1e26, 1e26]),
        "values must be below 2**126 times the granularity in magnitude, got a larger one at index (1,)",
    ),
    (
        lambda: sn.Gaussian(sigma=[1, 2]).release([1.0] * 3),
        "values must have a shape that broadcasts with the parameters, of shape (2,)",
    ),
]


@looped(("call", "text"), BAD)
def test_what_is_refused_and_how(call: Any, text: str) -> None:
    with pytest.raises(sn.ParameterError) as caught:
        call()
    assert str(caught.value).startswith(text)


def test_what_is_refused_takes_no_fill_and_writes_nothing() -> None:
    rng, out = sn.SeededRng(1, allow_release=True), np.array([1.0, np.nan])
    with pytest.raises(sn.ParameterError):
        sn.Gaussian(sigma=[1, 2]).release(out, out=out, rng=rng)
    assert rng._stream.fill_count == 0
    assert out[0] == 1.0
