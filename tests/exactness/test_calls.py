"""Calls on one generator, and parameters at the ends of their ranges, agree with the oracle. Deterministic: no false
alarm.
"""

from typing import Any

import pytest

import stairnoise as sn
from tests.combinations import looped
from tests.oracles.generate import calls, refusals
from tests.oracles.generate.encoding import decoded, float_of, read

MECHANISM = sn.DiscreteLaplace(calls.EPS, calls.SENSITIVITY)


def two_calls(rng: sn.SeededRng) -> list[list[int]]:
    return [MECHANISM.sample(calls.SHORT, rng=rng).tolist() for _ in range(2)]


def result(rng: sn.SeededRng, costs: list[float], name: str, number: int) -> Any:
    """Return the result of one call."""
    exponential, flips = sn.ExponentialMechanism(calls.EPS, 1), sn.PermuteAndFlip(calls.EPS, 1)
    if name == "spawn":
        return [two_calls(child) for child in rng.spawn(number)]
    if name == "at":
        return two_calls(rng.at(number))
    if name == "sample":
        return MECHANISM.sample(number, rng=rng).tolist()
    if name == "top":
        return exponential.top(costs, number, rng=rng).tolist()
    return (flips if name == "flip" else exponential).select(costs, number, rng=rng).tolist()


@pytest.mark.parametrize("entry", read("calls"), ids=lambda entry: entry["seed"][-2:])
def test_each_call_takes_the_fill_or_the_child_that_it_takes(entry: dict[str, Any]) -> None:
    rng = sn.SeededRng(int(entry["seed"]), allow_release=True)
    costs = [float_of(cost) for cost in entry["costs"]]
    assert [result(rng, costs, *call) for call in entry["calls"]] == entry["results"]


@looped("entry", read("refused"))
def test_parameters_are_refused_where_the_contract_refuses_them(entry: dict[str, Any]) -> None:
    arguments = decoded(entry["arguments"])
    if entry["law"] == "truncated_laplace":
        make = lambda: sn.TruncatedLaplace(*arguments)  # noqa: E731
    else:
        *mechanism, n_parties, _ = arguments
        make = lambda: sn.MultiScaleDiscreteLaplace(*mechanism).share(n_parties)  # noqa: E731
    if entry["refused"]:
        with pytest.raises(sn.ParameterError, match=r"^(delta|lower|upper|eps|sensitivity) must be "):
            make()
    else:
        make()


def test_both_files_are_the_oracles() -> None:
    assert read("calls") == list(calls.entries())
    assert read("refused") == list(refusals.entries())
