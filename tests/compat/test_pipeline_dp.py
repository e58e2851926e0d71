"""PipelineDP's own interface on its local backend, with our noise in the place of PyDP's.

The tests are ours, of PipelineDP's public classes: what is installed has none.

Evidence: `stairnoise.Laplace`, `Gaussian` and `PartitionSelection` for the budget that PipelineDP's accountant gives to a metric.
The noise is judged by the inequalities of Dvoretzky-Kiefer-Wolfowitz (with Massart's constant) and Hoeffding: a right program
fails one of these checks with a probability of at most 1e-9.
"""

import importlib.metadata
import inspect
import math
import re
from typing import Any

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.compat import pydp

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]

pipeline_dp = pytest.importorskip("pipeline_dp", reason="PipelineDP is not installed: scripts/test_systems.sh")

GROUPS, PEOPLE = 4000, 3
DISTANCE = math.sqrt(math.log(2 / 1e-9) / (2 * GROUPS))
EPS, DELTA = 1.5, 1e-5
# (person, group, value): three people in every group, with the values 1, 2 and 3.
ROWS = [(PEOPLE * group + i, group, i + 1) for group in range(GROUPS) for i in range(PEOPLE)]
RECIPE = "\n".join(re.findall(r"^    (.*)$", inspect.getdoc(pydp) or "", re.MULTILINE))

Metrics, Kind, Strategy = pipeline_dp.Metrics, pipeline_dp.NoiseKind, pipeline_dp.PartitionSelectionStrategy


@pytest.fixture(name="recipe", autouse=True)
def _recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the recipe in the module's docstring; PyDP's noise comes back after the test."""
    computations, selection = pipeline_dp.dp_computations, pipeline_dp.partition_selection
    monkeypatch.setattr(computations, "dp_mechanisms", computations.dp_mechanisms)
    monkeypatch.setattr(selection, "partition_selection", selection.partition_selection)
    assert len(RECIPE.splitlines()) <= 10
    exec(RECIPE, {})
    assert computations.dp_mechanisms is selection.partition_selection is pydp


def aggregated(metrics: list[Any], kind: Any = Kind.LAPLACE, rows: Any = ROWS, **given: Any) -> dict[int, Any]:
    """Return PipelineDP's results by group; the groups are public unless a strategy is given."""
    accountant = given.pop("accountant", None) or pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPS, total_delta=DELTA)
    public = None if {"partition_selection_strategy", "post_aggregation_thresholding"} & given.keys() else range(GROUPS)
    bounds = {"max_partitions_contributed": 1, "max_contributions_per_partition": 1, "min_value": 0, "max_value": 3}
    params = pipeline_dp.AggregateParams(metrics=metrics, noise_kind=kind, **bounds | given)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    result = engine.aggregate(rows, params, extractors(), public_partitions=public and list(public))
    accountant.compute_budgets()
    return dict(result)


def selected(strategy: Any, *, accountant: Any = None, k: int = 1, rows: Any = ROWS, **given: Any) -> set[int]:
    accountant = accountant or pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPS, total_delta=0.01)
    params = pipeline_dp.SelectPartitionsParams(max_partitions_contributed=k, partition_selection_strategy=strategy, **given)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    result = engine.select_partitions(rows, params, extractors())
    accountant.compute_budgets()
    return set(result)


def extractors() -> Any:
    return pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0], partition_extractor=lambda row: row[1], value_extractor=lambda row: row[2]
    )


def check_noise(values: Any, truth: float, mechanism: Any) -> None:
    """The values have this noise, and are on its lattice, on which PyDP's are not."""
    noise = np.sort(np.array(list(values), float) - truth)
    levels, places = mechanism.cdf(noise), np.arange(GROUPS + 1) / GROUPS
    assert noise.size == GROUPS
    assert max(np.max(places[1:] - levels), np.max(levels - places[:-1])) < DISTANCE
    assert np.all(noise / mechanism.granularity % 1 == 0)


NOISE = {
    Kind.LAPLACE: lambda sensitivity: sn.Laplace(EPS, sensitivity),
    Kind.GAUSSIAN: lambda sensitivity: sn.Gaussian(EPS, DELTA, sensitivity),
}


@pytest.mark.parametrize("kind", list(NOISE))
@pytest.mark.parametrize(("metric", "truth", "sensitivity"), [("COUNT", 3, 1), ("PRIVACY_ID_COUNT", 3, 1), ("SUM", 6, 3)])
def test_counts_and_sums_have_our_noise(kind: Any, metric: str, truth: float, sensitivity: float) -> None:
    found = aggregated([getattr(Metrics, metric)], kind, output_noise_stddev=True)
    mechanism = NOISE[kind](sensitivity)
    check_noise([getattr(result, metric.lower()) for result in found.values()], truth, mechanism)
    stated = {getattr(result, f"{metric.lower()}_noise_stddev") for result in found.values()}
    assert list(stated) == pytest.approx([float(mechanism.std())])


@pytest.mark.parametrize(("kind", "factor"), [(Kind.LAPLACE, 4), (Kind.GAUSSIAN, 2)])
def test_several_groups_of_a_person_widen_the_noise(kind: Any, factor: float) -> None:
    found = aggregated([Metrics.COUNT], kind, max_partitions_contributed=4)
    check_noise([result.count for result in found.values()], 3, NOISE[kind](factor))


@pytest.mark.parametrize(("kind", "norm", "sensitivity"), [(Kind.LAPLACE, "l1", 6), (Kind.GAUSSIAN, "l2", 3 * math.sqrt(2))])
def test_vector_sums_have_our_noise(kind: Any, norm: str, sensitivity: float) -> None:
    """Without a pipeline, because PipelineDP 0.3.1 cannot sum the empty vectors of public groups."""
    computations = pipeline_dp.dp_computations
    bounds = {"max_norm": 3, "l0_sensitivity": 2, "linf_sensitivity": 3, "norm_kind": pipeline_dp.aggregate_params.NormKind(norm)}
    params = computations.AdditiveVectorNoiseParams(eps=EPS, delta=DELTA, noise_kind=kind, **bounds)
    check_noise(computations.add_noise_vector(np.full(GROUPS, 6.0), params), 6, NOISE[kind](sensitivity))


def test_means_divide_a_sum_about_the_middle_by_a_count() -> None:
    """PipelineDP gives half of ε to each. The bounds of all 2·4000 draws hold together with a probability of 1 - 1e-9."""
    many = [(100 * group + i, group, 2) for group in range(40) for i in range(100)]
    found = aggregated([Metrics.MEAN], rows=many)
    level = 1 - 1e-9 / 8000
    count, total = sn.Laplace(EPS / 2, 1).error_bound(level), sn.Laplace(EPS / 2, 1.5).error_bound(level)
    means = [found[group].mean for group in range(40)]
    # The normalised sum is 100·(2 - 1.5).
    assert all(abs(mean - 2) <= (total + 0.5 * count) / (100 - count) for mean in means)
    assert len(set(means)) == 40


def test_variances_are_of_three_noisy_numbers() -> None:
    many = [(1000 * group + i, group, 3 * (i % 2)) for group in range(40) for i in range(1000)]
    found = aggregated([Metrics.VARIANCE], rows=many)
    level = 1 - 1e-9 / 12000
    count = sn.Laplace(EPS / 3, 1).error_bound(level)
    # Normalised sums of 0 about 1.5 and 4.5, with sensitivities 1.5 and 4.5.
    mean, squares = (sn.Laplace(EPS / 3, width).error_bound(level) / (1000 - count) for width in (1.5, 4.5))
    variances = [found[group].variance for group in range(40)]
    assert all(abs(variance - 2.25) <= squares + 2 * 1.5 * mean + mean**2 for variance in variances)
    assert len(set(variances)) == 40


STRATEGIES = {
    Strategy.TRUNCATED_GEOMETRIC: "truncated_geometric",
    Strategy.LAPLACE_THRESHOLDING: "laplace",
    Strategy.GAUSSIAN_THRESHOLDING: "gaussian",
}


@pytest.mark.parametrize("strategy", list(STRATEGIES))
@pytest.mark.parametrize("pre_threshold", [None, 2])
def test_private_groups_are_shown_with_our_probability(strategy: Any, pre_threshold: int | None) -> None:
    ours = pydp.create_partition_strategy(STRATEGIES[strategy], EPS, 0.01, 1, pre_threshold)
    shown = selected(strategy, pre_threshold=pre_threshold)
    assert abs(len(shown) / GROUPS - ours.probability_of_keep(PEOPLE)) < DISTANCE
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=2 * EPS, total_delta=0.01)
    given = {"partition_selection_strategy": strategy, "pre_threshold": pre_threshold, "accountant": accountant}
    found = aggregated([Metrics.COUNT], **given)
    # ε is divided into two halves, and all of δ is for the selection.
    assert abs(len(found) / GROUPS - ours.probability_of_keep(PEOPLE)) < DISTANCE


def test_truncated_geometric_selection_is_our_partition_selection() -> None:
    shown = selected(Strategy.TRUNCATED_GEOMETRIC, k=3)
    chance = sn.PartitionSelection(EPS, 0.01, 3, "truncated_geometric").probability(PEOPLE)
    assert abs(len(shown) / GROUPS - chance) < DISTANCE


def test_weights_need_not_be_whole() -> None:
    """A person in three groups adds 1/√3 to each of them. PipelineDP takes 30 ms for a group, so there are few."""
    groups = 150
    rows = [(4 * (group // 3) + i, group, 1) for group in range(groups) for i in range(4)]
    shown = selected(Strategy.WEIGHTED_GAUSSIAN_THRESHOLDING, k=3, rows=rows)
    chance = pydp.create_partition_strategy("gaussian", EPS, 0.01, 3).probability_of_keep(4 / math.sqrt(3))
    assert abs(len(shown) / groups - chance) < DISTANCE * math.sqrt(GROUPS / groups)


@pytest.mark.parametrize("kind", list(NOISE))
@pytest.mark.parametrize("pre_threshold", [None, 2])
def test_groups_are_shown_by_their_noisy_count(kind: Any, pre_threshold: int | None) -> None:
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPS, total_delta=0.01)
    given = {"post_aggregation_thresholding": True, "pre_threshold": pre_threshold, "accountant": accountant}
    found = aggregated([Metrics.PRIVACY_ID_COUNT], kind, **given)
    ours = pydp.create_partition_strategy(kind.value, EPS, 0.01, 1, pre_threshold)
    assert abs(len(found) / GROUPS - ours.probability_of_keep(PEOPLE)) < DISTANCE
    assert all(result.privacy_id_count >= ours.threshold for result in found.values())


@pytest.mark.parametrize("kind", list(NOISE))
def test_the_accountant_of_privacy_losses_gets_the_noise_that_it_counts(kind: Any) -> None:
    accountant = pipeline_dp.PLDBudgetAccountant(total_epsilon=EPS, total_delta=DELTA)
    found = aggregated([Metrics.COUNT], kind, accountant=accountant)
    std = accountant.mechanism_specs[0].noise_standard_deviation
    mechanism: Any = sn.Gaussian(std=std) if kind is Kind.GAUSSIAN else sn.Laplace(std=std)
    noise = np.sort([result.count - 3 for result in found.values()])
    places = np.arange(GROUPS + 1) / GROUPS
    levels = mechanism.cdf(noise)
    assert max(np.max(places[1:] - levels), np.max(levels - places[:-1])) < DISTANCE


@pytest.mark.parametrize("kind", list(NOISE))
@pytest.mark.parametrize("k", [1, 5])
def test_thresholds_have_the_noise_that_the_accountant_of_privacy_losses_counts(kind: Any, k: int) -> None:
    """PipelineDP asks for (ε, 2δ) and relies on half of δ for the noise: √k or k times the noise of one group."""
    of = {Kind.LAPLACE: "create_laplace_thresholding", Kind.GAUSSIAN: "create_gaussian_thresholding"}[kind]
    strategy = getattr(pipeline_dp.partition_selection, of)(2.5, 1e-6, k)
    std = strategy._noise.std()
    assert std == pytest.approx(2.5 * (k if kind is Kind.LAPLACE else math.sqrt(k)), rel=1e-8)


def test_reports_name_the_parameters_of_our_noise() -> None:
    from pipeline_dp.report_generator import ExplainComputationReport

    for kind in NOISE:
        report = ExplainComputationReport()
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPS, total_delta=DELTA)
        params = pipeline_dp.AggregateParams(
            metrics=[Metrics.COUNT], noise_kind=kind, max_partitions_contributed=1, max_contributions_per_partition=1
        )
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        engine.aggregate(ROWS[:3], params, extractors(), [0], out_explain_computation_report=report)
        accountant.compute_budgets()
        mechanism = NOISE[kind](1)
        assert f"parameter={mechanism.scale if kind is Kind.LAPLACE else mechanism.sigma}" in report.text()


# Expected differences: what PipelineDP does otherwise with PyDP's noise.


@pytest.fixture(name="theirs")
def _theirs(recipe: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put PyDP's noise back."""
    from pydp.algorithms import numerical_mechanisms, partition_selection

    monkeypatch.setattr(pipeline_dp.dp_computations, "dp_mechanisms", numerical_mechanisms)
    monkeypatch.setattr(pipeline_dp.partition_selection, "partition_selection", partition_selection)


def test_sigma_with_pydp_is_up_to_a_thousandth_more(theirs: None) -> None:
    """PyDP's search stops above the least σ: tests that expect its decimals fail with ours."""
    assert pipeline_dp.dp_computations.compute_sigma(1.0, 1e-5, math.sqrt(2)) == pytest.approx(5.2784, abs=1e-4)
    assert pydp.GaussianMechanism(1.0, 1e-5, math.sqrt(2)).std == pytest.approx(5.2759, abs=1e-4)


def test_an_epsilon_of_710_has_no_noise_with_pydp(theirs: None) -> None:
    """Tests that take a huge ε for no noise fail with ours."""
    assert pipeline_dp.dp_computations.apply_gaussian_mechanism(20, 1000, 1e-5, 1) == 20
    assert pydp.GaussianMechanism(1000, 1e-5, 1).add_noise(20.0) != 20


def test_pydp_cannot_return_a_noisy_count_beside_a_pre_threshold(theirs: None) -> None:
    """With PyDP's noise PipelineDP stops here; with ours it returns the count."""
    given = {"post_aggregation_thresholding": True, "pre_threshold": 2}
    with pytest.raises(AttributeError, match="noised_value_if_should_keep"):
        aggregated([Metrics.PRIVACY_ID_COUNT], **given)


def test_percentiles_keep_pydps_noise() -> None:
    """PyDP adds the noise of a quantile tree in C++, which no name in Python replaces."""
    from pydp.algorithms import quantile_tree

    assert pipeline_dp.dp_computations.quantile_tree is quantile_tree
    assert not hasattr(pydp, "QuantileTree")


def test_errors_are_ours() -> None:
    """PyDP raises RuntimeError for a bad parameter, and makes a number of NaN."""
    with pytest.raises(sn.ParameterError, match="eps must be"):
        pipeline_dp.dp_computations.apply_laplace_mechanism(1, -1.0, 1)
    with pytest.raises(sn.ParameterError, match="finite"):
        pipeline_dp.dp_computations.apply_laplace_mechanism(math.nan, 1.0, 1)


def test_these_are_the_pinned_versions() -> None:
    assert [importlib.metadata.version(name) for name in ("pipeline-dp", "python-dp")] == ["0.3.1", "1.1.5"]
