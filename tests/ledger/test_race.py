"""Processes that race for one budget never exceed it, and can spend all of it.

Evidence: the processes themselves count their wins; the times of the attempts show that the attempts overlapped.
"""

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import pytest

import stairnoise as sn
from tests.ledger.racing import race, reporting, take_all

SPAWN = multiprocessing.get_context("spawn")


def together(target, *arguments, processes=2):
    """Run a function in several processes at once; return each process's report by its number."""
    barrier, outcomes = SPAWN.Barrier(processes), SPAWN.Queue()
    shared = (target, barrier, *arguments, outcomes)
    workers = [SPAWN.Process(target=reporting, args=(*shared, number)) for number in range(processes)]
    for worker in workers:
        worker.start()
    reports = dict(outcomes.get(timeout=500) for _ in workers)
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    assert [report for report in reports.values() if isinstance(report, str)] == []
    return [reports[number] for number in range(processes)]


def overlap(first, second):
    return max(first[1], second[1]) < min(first[2], second[2])


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [20, pytest.param(1000, marks=pytest.mark.long)])
def test_of_two_processes_exactly_one_gets_the_last_eps(tmp_path, rounds):
    """Both processes also try to make the file. All processes of a machine share the clock of the times."""
    first, second = together(race, str(tmp_path), rounds)
    assert [one[0] + other[0] for one, other in zip(first, second, strict=True)] == [1] * rounds
    assert sum(map(overlap, first, second)) > 0.9 * rounds
    for turn in range(rounds):
        (row,) = sn.Ledger(tmp_path / str(turn)).report()
        assert row.data == f"process {0 if first[turn][0] else 1}"


@pytest.mark.slow
def test_processes_share_a_budget_to_the_last(tmp_path):
    ledger = sn.Ledger(tmp_path / "file", 1.0)
    taken = together(take_all, str(ledger.path), processes=3)
    assert sum(taken) == len(ledger.report()) == 32
    assert ledger.total() == 1.0


def test_threads_share_one_ledger(tmp_path):
    ledger, mechanism = sn.Ledger(tmp_path / "file", 1.0), sn.DiscreteLaplace(eps=0.125)

    def spend(_):
        try:
            ledger.spend(mechanism, data="people")
        except sn.BudgetError:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(spend, range(12))) == 8
    assert ledger.total() == 1.0
