"""Processes that spend from one ledger at the same time."""

import time
import traceback

import stairnoise as sn


def race(barrier, directory, rounds, outcomes, number):
    """In each round, make or open the same new ledger and try to spend all of it; report wins and times of the attempts."""
    mechanism = sn.DiscreteLaplace(eps=1)
    found = []
    for turn in range(rounds):
        barrier.wait(60)
        start = time.monotonic()
        ledger = sn.Ledger(f"{directory}/{turn}", 1.0)
        try:
            ledger.spend(mechanism, data=f"process {number}")
        except sn.BudgetError:
            won = False
        else:
            won = True
        found.append((won, start, time.monotonic()))
    outcomes.put((number, found))


def take_all(barrier, path, outcomes, number):
    """Spend until the ledger refuses; report the number of releases."""
    ledger, mechanism, taken = sn.Ledger(path), sn.DiscreteLaplace(eps=2.0**-5), 0
    barrier.wait(60)
    try:
        while True:
            ledger.spend(mechanism, data=f"process {number}")
            taken += 1
    except sn.BudgetError:
        outcomes.put((number, taken))


def reporting(target, barrier, *arguments):
    """Run a worker and report its result; an error is reported too and ends the other workers."""
    *_, outcomes, number = arguments
    try:
        target(barrier, *arguments)
    except BaseException:
        barrier.abort()
        outcomes.put((number, traceback.format_exc()))
