"""PyDP's names for our noise: names, values, noise, guarantees, and PyDP itself where it is installed.

Evidence: `stairnoise.Laplace`, `Gaussian` and `PartitionSelection` for the noise and the accounting. Draws are judged by the
inequalities of Dvoretzky-Kiefer-Wolfowitz (with Massart's constant) and of Hoeffding: a right program fails one of these checks
with a probability of at most 1e-9.
"""

import copy
import math
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.compat import pydp
from stairnoise.mechanisms.discrete_gaussian.calibration import Tail
from tests.combinations import looped

N = 20_000
FALSE_ALARM = 1e-9
# P(sup |F_n - F| > d) <= 2 exp(-2 n d²), and the same for the frequency of one event.
DISTANCE = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * N))

STRATEGIES = ("truncated_geometric", "laplace", "gaussian")
MECHANISMS = [
    (pydp.LaplaceMechanism(0.5, 3), sn.Laplace(0.5, 3)),
    (pydp.LaplaceMechanism(epsilon=2), sn.Laplace(2, 1)),
    (pydp.GaussianMechanism(1, 1e-5, 2.5), sn.Gaussian(1, 1e-5, 2.5)),
    (pydp.GaussianMechanism(epsilon=800, delta=0.7, sensitivity=1), sn.Gaussian(800, 0.7, 1)),
    (pydp.GaussianMechanism.create_from_standard_deviation(2.5), sn.Gaussian(std=2.5)),
]


def test_values_have_pydps_names() -> None:
    laplace = pydp.LaplaceMechanism(epsilon=0.5, sensitivity=3)
    assert (laplace.epsilon, laplace.sensitivity, laplace.diversity) == (0.5, 3.0, 6.0)
    gaussian = pydp.GaussianMechanism(1, 1e-5, 2.0)
    assert (gaussian.epsilon, gaussian.delta, gaussian.l2_sensitivity) == (1.0, 1e-5, 2.0)
    assert gaussian.std == sn.Gaussian(1, 1e-5, 2.0).sigma
    noise = pydp.GaussianMechanism.create_from_standard_deviation(2.5)
    assert (noise.epsilon, noise.delta, noise.l2_sensitivity, noise.std) == (0.0, 0.0, 0.0, 2.5)
    selection = pydp.create_partition_strategy("Laplace", 1, 1e-5, 2, 7)
    assert (selection.epsilon, selection.delta, selection.max_partitions_contributed, selection.pre_threshold) == (
        1.0,
        1e-5,
        2,
        7,
    )


@looped(("theirs", "ours"), MECHANISMS)
def test_the_noise_and_the_accounting_are_those_of_our_mechanism(theirs: Any, ours: Any) -> None:
    assert theirs.mechanism == ours
    low, high, level = theirs.noise_confidence_interval(0.9, 12.5)
    assert (low, high) == ours.confidence_interval(12.5, 0.9)
    assert level == 0.9
    draws = np.sort([theirs.add_noise(7.0) - 7.0 for _ in range(N)])
    levels = ours.cdf(draws)
    assert max(np.max(np.arange(1, N + 1) / N - levels), np.max(levels - np.arange(N) / N)) < DISTANCE


def test_an_integer_gets_rounded_noise() -> None:
    mechanism = pydp.LaplaceMechanism(1, 2)
    draws = np.array([mechanism.add_noise(100) for _ in range(N)]) - 100
    for k in range(-4, 5):
        expected = mechanism.mechanism.cdf(k + 0.5) - mechanism.mechanism.cdf(k - 0.5)
        assert abs(np.mean(draws == k) - expected) < DISTANCE


def test_the_type_of_a_result_is_kept() -> None:
    mechanism = pydp.GaussianMechanism(1, 1e-5)
    assert {type(mechanism.add_noise(one)) for one in (3, np.int64(3), np.uint8(3))} == {int}
    assert {type(mechanism.add_noise(one)) for one in (3.0, np.float64(3), np.float32(3))} == {float}
    assert type(mechanism.add_noise(result=2**62)) is int


@looped("strategy", STRATEGIES)
@looped("pre_threshold", (None, 5))
def test_partitions_are_shown_with_the_stated_probability(strategy: str, pre_threshold: int | None) -> None:
    selection = pydp.create_partition_strategy(strategy, 1.0, 0.01, 2, pre_threshold)
    for people in (1, 3.5, 5, 9, math.ceil(selection.threshold)):
        chance = selection.probability_of_keep(people)
        values = [selection.noised_value_if_should_keep(people) for _ in range(N // 16)]
        shown = [value for value in values if value is not None]
        assert abs(len(shown) / (N // 16) - chance) < 4 * DISTANCE
        assert all(value >= selection.threshold for value in shown)
        kept = [selection.should_keep(people) for _ in range(N // 16)]
        assert abs(np.mean(kept) - chance) < 4 * DISTANCE
    for nobody in (0, -3) if pre_threshold is None else (0, -3, pre_threshold - 1):
        assert selection.probability_of_keep(nobody) == 0
        assert not any(selection.should_keep(nobody) for _ in range(20))


@looped("delta", (1e-9, 1e-3, 0.7))
@looped("k", (1, 3))
@looped("pre_threshold", (None, 4))
def test_truncated_geometric_is_our_partition_selection(delta: float, k: int, pre_threshold: int | None) -> None:
    selection = pydp.create_partition_strategy("truncated_geometric", 0.5, delta, k, pre_threshold)
    ours = sn.PartitionSelection(0.5, delta, k, "truncated_geometric", pre_threshold)
    assert [selection.probability_of_keep(n) for n in range(80)] == ours.probability(np.arange(80)).tolist()
    assert selection.probability_of_keep(7.9) == ours.probability(7)
    assert selection.threshold == ours.threshold


@looped("eps", (0.01, 1.0, 5.0))
@looped("delta", (1e-12, 1e-5, 0.9))
@looped("k", (1, 3, 1000))
def test_thresholds_hide_people_who_are_alone(eps: float, delta: float, k: int) -> None:
    """The tails are those of the noise that is drawn, on its lattice. A person alone in k groups is shown with at most δ, or δ/2.

    `Tail` adds up the discrete Gaussian distribution of the lattice.
    """
    selection: Any = pydp.create_partition_strategy("laplace", eps, delta, k)
    noise = selection._noise
    assert noise == sn.Laplace(eps, float(k))
    steps = math.ceil((selection.threshold - 1) / noise.granularity)
    log_shown = -steps * noise.granularity / noise.scale - math.log1p(math.exp(-noise.granularity / noise.scale))
    if steps > 0:
        assert -math.expm1(k * math.log1p(-math.exp(log_shown))) <= delta
    selection = pydp.create_partition_strategy("gaussian", eps, delta, k)
    noise = selection._noise
    assert noise == sn.Gaussian(eps, delta / 2, math.sqrt(k))
    tail = Tail(noise._lattices.sigma2, math.ceil((selection.threshold - 1) / noise.granularity))
    appears = -math.expm1(k * math.log1p(-math.exp(tail.log_sum())))
    assert delta / 2 * (1 - 1e-6) <= appears <= delta / 2


@looped(
    ("call", "text"),
    [
        (lambda: pydp.LaplaceMechanism(math.inf), "eps must be finite and greater than 0, got inf"),
        (lambda: pydp.LaplaceMechanism([1.0, 2.0]), "epsilon must be a single number"),  # type: ignore[arg-type]
        (lambda: pydp.LaplaceMechanism(1, 0), "sensitivity must be finite and greater than 0"),
        (lambda: pydp.GaussianMechanism(math.inf, 1e-5), "eps must be from"),
        (lambda: pydp.GaussianMechanism(1, 0), "delta must be greater than 0"),
        (lambda: pydp.GaussianMechanism(1, "1e-5"), "delta must be"),  # type: ignore[arg-type]
        (lambda: pydp.GaussianMechanism.create_from_standard_deviation(0), "std must be from"),
        (lambda: pydp.create_partition_strategy("best", 1, 1e-5, 1), 'strategy must be "truncated_geometric"'),
        (lambda: pydp.create_partition_strategy(None, 1, 1e-5, 1), "strategy must be"),  # type: ignore[arg-type]
        (lambda: pydp.create_partition_strategy("laplace", math.inf, 1e-5, 1), "eps must be finite"),
        (lambda: pydp.create_partition_strategy("laplace", 1, 1, 1), "delta must be greater than 0 and less than 1"),
        (lambda: pydp.create_partition_strategy("laplace", 1, 1e-5, 1.0), "must be an integer"),  # type: ignore[arg-type]
        (lambda: pydp.create_partition_strategy("laplace", 1, 1e-5, 1, 0), "pre_threshold must be an integer from 1"),
        (lambda: pydp.create_partition_strategy("laplace", 2**-40, 1e-5, 10**6), "epsilon must be large enough"),
    ],
)
def test_bad_parameters_are_refused(call: Any, text: str) -> None:
    with pytest.raises(sn.StairnoiseError, match=text):
        call()


@looped("value", [math.nan, math.inf, [1741.0, 2.0], "1741", None, True, np.array([1741])])
def test_bad_results_are_refused_without_naming_them(value: Any) -> None:
    strategies = [pydp.create_partition_strategy(name, 1, 1e-5, 1) for name in STRATEGIES]
    for call in (pydp.LaplaceMechanism(1).add_noise, strategies[0].should_keep, strategies[1].probability_of_keep):
        with pytest.raises(sn.StairnoiseError, match=r"^((?!1741).)*$"):
            call(value)


@looped("made", [one for one, _ in MECHANISMS] + [pydp.create_partition_strategy(name, 1, 1e-5, 2, 3) for name in STRATEGIES])
def test_a_copy_has_the_same_values_and_fresh_noise(made: Any) -> None:
    for twin in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert type(twin) is type(made)
        assert twin.epsilon == made.epsilon
        draw = "add_noise" if hasattr(made, "add_noise") else "noised_value_if_should_keep"
        assert getattr(twin, draw)(1e4) != getattr(made, draw)(1e4) or made.__class__.__name__ == "_TruncatedGeometric"


def test_neither_library_is_imported() -> None:
    program = "import sys; from stairnoise.compat import pydp; print({'pydp', 'pipeline_dp'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.fixture(name="theirs")
def _theirs() -> Any:
    pytest.importorskip("pydp", reason="python-dp is not installed")
    from pydp.algorithms import numerical_mechanisms, partition_selection

    return type("Both", (), {**vars(numerical_mechanisms), **vars(partition_selection)})


def test_pydp_takes_the_same_arguments(theirs: Any) -> None:
    for module in (theirs, pydp):
        assert module.LaplaceMechanism(epsilon=1.0, sensitivity=2.0).diversity == 2.0
        assert module.GaussianMechanism(epsilon=1.0, delta=1e-5, sensitivity=2.0).l2_sensitivity == 2.0
        assert module.GaussianMechanism(1.0, 1e-5).l2_sensitivity == module.LaplaceMechanism(1.0).sensitivity == 1.0
        noise = module.GaussianMechanism.create_from_standard_deviation(2.5)
        assert (noise.epsilon, noise.delta, noise.l2_sensitivity, noise.std) == (0.0, 0.0, 0.0, 2.5)
        assert {type(noise.add_noise(3)), type(noise.add_noise(result=3.0))} == {int, float}
        interval = module.GaussianMechanism(1.0, 1e-5).noise_confidence_interval(confidence_level=0.95, noised_result=10.0)
        assert (interval.lower_bound, interval.upper_bound) == pytest.approx((2.688, 17.312), rel=2e-3)
        assert interval.confidence_level == 0.95
        given = {"epsilon": 1.0, "delta": 1e-5, "max_partitions_contributed": 2}
        selection = module.create_partition_strategy(strategy="LAPLACE", **given, pre_threshold=None)
        assert selection.threshold == pytest.approx(24.02584, rel=1e-6)
        assert module.create_partition_strategy("gaussian", **given, pre_threshold=3).pre_threshold == 3


@looped("eps", (1e-3, 0.1, 1.0, 20.0, 700.0))
@looped("delta", (1e-12, 1e-5, 0.5, 0.9))
@looped("sensitivity", (1e-3, 1.0, 1e4))
def test_pydps_sigma_is_ours_and_up_to_a_thousandth_more(theirs: Any, eps: float, delta: float, sensitivity: float) -> None:
    ratio = theirs.GaussianMechanism(eps, delta, sensitivity).std / pydp.GaussianMechanism(eps, delta, sensitivity).std
    assert 1 <= ratio < 1.001


@looped("eps", (0.1, 1.0, 5.0))
@looped("delta", (1e-10, 1e-5, 0.1))
@looped("k", (1, 3, 100))
@looped("pre_threshold", (None, 7))
def test_pydps_partitions_are_shown_as_often(theirs: Any, eps: float, delta: float, k: int, pre_threshold: int | None) -> None:
    for name in ("truncated_geometric", "laplace"):
        selections = [module.create_partition_strategy(name, eps, delta, k, pre_threshold) for module in (theirs, pydp)]
        for n in (0, 1, 7, 20, 200):
            chances = [selection.probability_of_keep(n) for selection in selections]
            assert chances[0] == pytest.approx(chances[1], rel=1e-3)
    selections = [module.create_partition_strategy("gaussian", eps, delta, k, None) for module in (theirs, pydp)]
    # The larger σ makes a larger threshold.
    assert 1 <= selections[0].threshold / selections[1].threshold < 1.001


def test_pydps_interval_of_a_standard_deviation_has_no_width(theirs: Any) -> None:
    intervals = [module.GaussianMechanism.create_from_standard_deviation(2.5) for module in (theirs, pydp)]
    widths = [one.upper_bound - one.lower_bound for one in (made.noise_confidence_interval(0.95, 10.0) for made in intervals)]
    assert widths == [0, pytest.approx(9.7998, rel=1e-4)]


def test_pydp_adds_no_gaussian_noise_from_an_epsilon_of_710_on(theirs: Any) -> None:
    assert theirs.GaussianMechanism(709, 1e-5, 1).std == pytest.approx(0.0297, rel=1e-2)
    assert theirs.GaussianMechanism(710, 1e-5, 1).std < 1e-300
    assert pydp.GaussianMechanism(710, 1e-5, 1).std == pytest.approx(0.02969, rel=1e-3)
