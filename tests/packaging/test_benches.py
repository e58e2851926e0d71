"""The benchmarks run, their baseline is right, and records become tables and figures."""

import json
import os
import re
import socket
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benches import laws, peers, report
from benches.__main__ import PYTEST

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("eps", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("gamma", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("array", [False, True])
def test_algorithm_1_draws_the_staircase(eps: float, gamma: float, array: bool) -> None:
    """|X| against its survival function at 20 points: 6 standard errors, false alarm below 4e-8 over all 18 cases."""
    n = 200_000
    rng = np.random.default_rng(20261120)
    parameters = (np.full(n, eps), np.full(n, gamma)) if array else (eps, gamma)
    x = peers.algorithm_1(rng, np.zeros(n), parameters[0], 2.0, parameters[1])
    c = 1 / np.expm1(eps)
    for t in np.linspace(0.05, 4.0, 20) / eps:
        j = 0 if t < gamma * 2 else np.floor(t / 2 - gamma) + 1
        sf = np.exp(-eps * j) * ((j + gamma) * 2 - t + 2 * c) / (2 * (gamma + c))
        found = np.mean(np.abs(x) > t)
        assert abs(found - sf) <= 6 * np.sqrt(sf * (1 - sf) / n)
    assert abs(np.mean(x > 0) - 0.5) <= 6 * 0.5 / np.sqrt(n)


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.work)
def test_moments_are_sums_over_the_probabilities(law: laws.Law) -> None:
    """E|X| and E X² of each law against direct summation (discrete) or a fine Riemann sum (continuous)."""
    d, eps = law.sensitivity, law.eps
    if law.discrete:
        x, width = np.arange(-400.0, 401.0), 1.0
    else:
        width = 1e-5
        x = np.arange(-12, 12, width) + width / 2
    size = np.abs(x)
    if law.mechanism.endswith("staircase"):
        edge = law.shape if law.discrete else law.shape * d
        weight = np.exp(-eps * np.where(size < edge, 0, np.floor((size - edge) / d) + 1))
    else:
        weight = np.exp(-eps * size / d)
    weight /= weight.sum()
    assert (weight * size).sum() == pytest.approx(law.abs_mean, rel=1e-4)
    assert (weight * size**2).sum() == pytest.approx(law.second_moment, rel=1e-4)


def test_the_check_of_outputs_can_fail() -> None:
    """A tenth too wide, off centre, and not whole: each is noticed."""
    rng = np.random.default_rng(3)
    law = laws.laplace(4)
    x = rng.laplace(0, 0.25, 100_000)
    law.check(x)
    for wrong in (1.1 * x, x + 0.01):
        with pytest.raises(AssertionError, match="standard errors"):
            law.check(wrong)
    with pytest.raises(AssertionError, match="not whole"):
        laws.discrete_laplace(4).check(x)
    with pytest.raises(AssertionError, match="too few values"):
        law.check(x[:10])


def test_an_absent_peer_is_named() -> None:
    absent = replace(peers.PEERS[0], package="no_such_package_of_ours")
    assert absent.absent() == "no_such_package_of_ours is not installed"
    assert peers.PEERS[0].absent() is None
    assert peers.version("no_such_package_of_ours") == "absent"


def test_every_benchmark_runs() -> None:
    """Every benchmark once, small: benchmarks that nobody runs rot."""
    small = {"STAIRNOISE_BENCH_N": "200000", "STAIRNOISE_BENCH_SECONDS": "0.01"}
    done = subprocess.run(
        [*PYTEST, "--benchmark-disable"], cwd=ROOT, env=os.environ | small, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "passed" in done.stdout


def a_record() -> dict[str, Any]:
    results = [
        {
            "work": "fill",
            "contender": "fill",
            "n": 10**7,
            "median_ns": 0.25,
            "min_ns": 0.2,
            "rounds": 9,
        },
        {
            "work": "w",
            "contender": "stairnoise",
            "n": 10**7,
            "median_ns": 2.0,
            "min_ns": 1.9,
            "rounds": 9,
        },
        {
            "work": "w",
            "contender": "NumPy laplace",
            "n": 10**7,
            "median_ns": 13.0,
            "min_ns": 1.0,
            "rounds": 9,
        },
        {
            "work": "w",
            "contender": "slow",
            "n": 10**4,
            "median_ns": 5000.0,
            "min_ns": 1.0,
            "rounds": 5,
        },
    ]
    return {
        "format": 1,
        "date": "2026-01-02",
        "command": "make bench",
        "threads": 1,
        "cpu": {"model": "Example CPU", "family": "1-2", "features": ["aes"]},
        "system": "Linux x86_64",
        "versions": {"stairnoise": "0.1.0"},
        "absent": {"Someone's sampler": "someone is not installed"},
        "import_ms": {"numpy": 80.0, "stairnoise_after_numpy": 3.0},
        "results": results,
    }


def test_a_record_becomes_figures() -> None:
    figures = report.readme_figures(a_record(), "2026-01-02-example")
    assert "| w | stairnoise | 10^7 | 2 | 1 |" in figures
    assert "| w | NumPy laplace | 10^7 | 13.0 | 6.5 |" in figures
    assert "| w | slow | 10^4 | 5000 | 2500 |" in figures
    assert "Someone's sampler (someone is not installed)" in figures
    table = report.table(a_record())
    assert "| w | 10^7 | stairnoise | 2 | 8 | 1 |  |" in table
    assert "Absent: Someone's sampler (someone is not installed)." in table


def test_figures_replace_figures_only() -> None:
    text = f"before\n{report.BEGIN}\nold\n{report.END}\nafter"
    new = f"{report.BEGIN}\nnew\n{report.END}"
    assert report.replace_figures(text, new) == f"before\n{new}\nafter"
    with pytest.raises(ValueError, match="lost the markers"):
        report.replace_figures("no markers", new)


def test_readme_quotes_the_newest_record() -> None:
    record, stem = report.newest()
    text = report.README.read_text(encoding="utf-8")
    assert report.replace_figures(text, report.readme_figures(record, stem)) == text


@pytest.mark.parametrize("path", sorted(report.RECORDS.glob("*.json")), ids=lambda path: path.stem)
def test_records_name_no_machine_and_keep_their_table(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert socket.gethostname() not in text
    assert not re.search(r"/(home|root|work|tmp|usr|Users)/", text)
    assert path.with_suffix(".md").read_text(encoding="utf-8") == report.table(json.loads(text))
