"""What docs/coming_from states about other libraries' noise: its scale, its neighbours, and which selections agree.

Evidence: draws of the other library against the distribution that the page names, written here from textbooks. Some
libraries take no seed, so the false-alarm rate is small: 1e-9 for each comparison (Dvoretzky, Kiefer, Wolfowitz and
Massart's bound for distribution functions, Hoeffding's for frequencies). A scale wrong by a factor of 2 is noticed.
Tests of a library that is not installed are skipped by name; CONTRIBUTING explains how to install them.
"""

import json
import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stairnoise as sn

ALPHA = 1e-9
N = 4000
EPS = 1.0
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def check_cdf(noise: Sequence[float], cdf: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> None:
    """Require that the empirical distribution function is near `cdf` at every observed value."""
    values, counts = np.unique(np.asarray(noise, dtype=float), return_counts=True)
    furthest = np.abs(np.cumsum(counts) / len(noise) - cdf(values)).max()
    assert furthest <= math.sqrt(math.log(2 / ALPHA) / (2 * len(noise)))


def check_frequencies(chosen: Sequence[int], probabilities: NDArray[np.float64]) -> None:
    found = np.bincount(chosen, minlength=len(probabilities)) / len(chosen)
    assert np.abs(found - probabilities).max() <= math.sqrt(math.log(2 * len(probabilities) / ALPHA) / (2 * len(chosen)))


def laplace(scale: float, *, shift: float = 0.0) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return the distribution function of Laplace noise at x + shift: shift 1/2 for rounding to integers, 1 for rounding down."""

    def cdf(x: NDArray[np.float64]) -> NDArray[np.float64]:
        tail = np.exp(-np.abs(x + shift) / scale) / 2
        return np.where(x + shift < 0, tail, 1 - tail)

    return cdf


def geometric(eps: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return the distribution function of two-sided geometric noise."""

    def cdf(x: NDArray[np.float64]) -> NDArray[np.float64]:
        ratio, k = math.exp(-eps), np.floor(x)
        return np.where(k < 0, ratio ** np.abs(k) / (1 + ratio), 1 - ratio ** (np.maximum(k, 0) + 1) / (1 + ratio))

    return cdf


SCORES = [0, 1, 2, 3, 5]


def exponential() -> NDArray[np.float64]:
    """Return the probabilities of the exponential mechanism with eps / 2, if one person only raises scores."""
    weights = np.exp(EPS / 2 * np.array(SCORES))
    return weights / weights.sum()


def permute_and_flip() -> NDArray[np.float64]:
    """Return the probabilities of permute-and-flip: one coin for each candidate, then a uniform choice among the heads."""
    coins = np.exp(EPS / 2 * (np.array(SCORES) - max(SCORES)))
    found = np.zeros(len(coins))
    for heads in range(1, 1 << len(coins)):
        which = np.array([heads >> i & 1 for i in range(len(coins))], dtype=bool)
        found[which] += np.where(which, coins, 1 - coins).prod() / which.sum()
    return found


# ---------------------------------------------------------------- stairnoise and NumPy


def test_stairnoise() -> None:
    rng = sn.SeededRng(1)
    check_cdf(sn.DiscreteLaplace(EPS).sample(N, rng=rng).tolist(), geometric(EPS))
    check_cdf(sn.DiscreteLaplace(EPS, sensitivity=100).sample(N, rng=rng).tolist(), geometric(EPS / 100))
    first = sn.PermuteAndFlip(EPS / 2, monotonic=True)
    assert first.probabilities(scores=SCORES) == pytest.approx(permute_and_flip())


def test_numpy_gumbel_noise_is_the_exponential_mechanism() -> None:
    noisy = np.array(SCORES) + np.random.default_rng(2).gumbel(scale=2 / EPS, size=(N, 5))
    check_frequencies(noisy.argmax(axis=1).tolist(), exponential())


# ---------------------------------------------------------------- diffprivlib


@pytest.fixture(name="tools")
def _tools() -> Any:
    return pytest.importorskip("diffprivlib").tools


def test_diffprivlib_counts_and_histograms_have_noise_for_a_change_of_one(tools: Any) -> None:
    row = np.repeat([True, False], 50)
    check_cdf([tools.count_nonzero(row, epsilon=EPS, random_state=i) - 50 for i in range(N)], geometric(EPS))
    errors = [tools.histogram(row, epsilon=EPS, bins=2, range=(0, 1), random_state=i)[0][1] - 50 for i in range(N)]
    check_cdf(errors, geometric(EPS))


def test_diffprivlib_sums_and_means_have_noise_for_a_replaced_row(tools: Any) -> None:
    row = np.full(100, 80.0)
    check_cdf([tools.sum(row, epsilon=EPS, bounds=(60, 100), random_state=i) - 8000 for i in range(N)], laplace(40))
    check_cdf([tools.mean(row, epsilon=EPS, bounds=(60, 100), random_state=i) - 80 for i in range(N)], laplace(0.4))


def test_diffprivlib_selects_by_permute_and_flip(tools: Any) -> None:
    from diffprivlib.mechanisms import PermuteAndFlip

    mechanism = PermuteAndFlip(epsilon=EPS / 2, sensitivity=1, monotonic=True, utility=SCORES, random_state=1)
    check_frequencies([mechanism.randomise() for _ in range(N)], permute_and_flip())


def test_diffprivlib_mechanisms_do_not_write_into_the_accountant(tools: Any) -> None:
    from diffprivlib import BudgetAccountant
    from diffprivlib.mechanisms import Laplace

    with BudgetAccountant() as accountant:
        Laplace(epsilon=1, sensitivity=1).randomise(0)
        assert accountant.total() == (0, 0)
        tools.sum(np.ones(10), epsilon=1, bounds=(0, 1))
        assert accountant.total() == (1, 0)


# ---------------------------------------------------------------- OpenDP


def by_opendp(expression: str) -> Any:
    """Evaluate an expression in another process, because OpenDP starts threads, after which other tests cannot fork."""
    if find_spec("opendp") is None:
        pytest.skip("opendp is missing")
    program = f"""
import json, opendp.prelude as dp
dp.enable_features("contrib")
integers = dp.vector_domain(dp.atom_domain(T=int))
print(json.dumps({expression}))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_opendp_draws_the_same_integers() -> None:
    for scale in (1 / EPS, 100 / EPS):
        draws = by_opendp(f"dp.m.make_laplace(integers, dp.l1_distance(T=int), scale={scale})([0] * {N})")
        check_cdf(draws, geometric(1 / scale))


def test_opendp_counts_added_and_removed_rows() -> None:
    total = "(integers, dp.symmetric_distance()) >> dp.t.then_clamp((60, 100)) >> dp.t.then_sum()"
    assert by_opendp(f"({total}).map(1)") == 100
    assert by_opendp("dp.discrete_laplacian_scale_to_accuracy(1.0, 0.05)") == pytest.approx(3.38, abs=0.005)


def test_opendp_selects_by_permute_and_flip() -> None:
    space = "integers, dp.linf_distance(T=int, monotonic=True), dp.max_divergence()"
    first = f"dp.m.make_noisy_top_k({space}, k=1, scale={2 / EPS})"
    assert by_opendp(f"{first}.map(1)") == EPS / 2
    check_frequencies(by_opendp(f"[f({SCORES})[0] for f in [{first}] for _ in range({N})]"), permute_and_flip())


# ---------------------------------------------------------------- PyDP


@pytest.fixture(name="pydp")
def _pydp() -> Any:
    pytest.importorskip("pydp")
    from pydp.algorithms import laplacian

    return laplacian


def test_pydp_counts(pydp: Any) -> None:
    def noise(**given: Any) -> list[float]:
        return [pydp.Count(epsilon=EPS, dtype="int", **given).quick_result([1] * 50) - 50 for _ in range(N)]

    check_cdf(noise(), laplace(1 / EPS, shift=0.5))
    check_cdf(noise(l0_sensitivity=5), laplace(5 / EPS, shift=0.5))


def test_pydp_sums_have_noise_for_an_added_row(pydp: Any) -> None:
    def noise() -> float:
        return pydp.BoundedSum(epsilon=EPS, lower_bound=60, upper_bound=100, dtype="int").quick_result([80] * 50) - 4000

    check_cdf([noise() for _ in range(N)], laplace(100 / EPS, shift=0.5))


def test_pydp_means_divide_a_sum_about_the_middle_by_a_count(pydp: Any) -> None:
    """At the middle, the sum is pure noise; the noise of the count, 10 000, changes the mean by 0.1 %."""

    def noise() -> float:
        return pydp.BoundedMean(epsilon=EPS, lower_bound=0, upper_bound=100, dtype="int").quick_result([50] * 10_000) - 50

    check_cdf([noise() for _ in range(N // 2)], laplace(50 / (EPS / 2) / 10_000))


# ---------------------------------------------------------------- SmartNoise SQL


@pytest.fixture(name="reader")
def _reader() -> Any:
    snsql = pytest.importorskip("snsql")
    import pandas as pd

    people = pd.DataFrame({"city": np.repeat(np.arange(2000), 40).astype(str), "spent": 80})
    columns = {"city": {"type": "string"}, "spent": {"type": "int", "lower": 60, "upper": 100}}
    table = {"row_privacy": True, "censor_dims": False, "clamp_counts": False, "rows": len(people)} | columns
    return snsql.from_df(people, privacy=snsql.Privacy(epsilon=EPS, delta=0.0), metadata={"": {"main": {"people": table}}})


def test_smartnoise_counts_are_cut_to_an_integer(reader: Any) -> None:
    rows = reader.execute("SELECT city, COUNT(*) AS n FROM main.people GROUP BY city")[1:]
    check_cdf([n - 40 for _, n in rows], laplace(1 / EPS, shift=1))


def test_smartnoise_sums_have_noise_for_an_added_row(reader: Any) -> None:
    rows = reader.execute("SELECT city, SUM(spent) AS francs FROM main.people GROUP BY city")[1:]
    check_cdf([francs - 3200 for _, francs in rows], laplace(100 / EPS, shift=1))


def test_smartnoise_spends_epsilon_for_each_column(reader: Any) -> None:
    costs = {
        "COUNT(*)": 1,
        "SUM(spent)": 1,
        "AVG(spent)": 2,
        "COUNT(*), SUM(spent)": 2,
    }
    for columns, cost in costs.items():
        assert reader.get_privacy_cost(f"SELECT {columns} FROM main.people")[0] == cost * EPS
