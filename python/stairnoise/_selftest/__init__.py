"""The self-test: is what is installed on this machine what the documentation says?

| module | subject |
|---|---|
| `known_answers` | draws and releases under known keys, against the oracle's values |
| `aes256`, `contract`, `keystream` | random words: AES in pure Python, the contract, statistics |
| `tiers`, `digests` | instruction sets and threads draw the same bytes |
| `mechanisms`, `laws`, `cells`, `events` | every mechanism against its law |
| `generators`, `forking` | fresh keys, nothing repeated, refusals |
| `machine`, `report` | what ran, and what was found |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone
from math import nan
from time import perf_counter
from typing import Any

import stairnoise as sn
from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._selftest import generators, keystream, known_answers, laws, machine, tiers
from stairnoise._selftest.report import Outcome, Planned, SelftestCheck, SelftestReport

__all__ = ["SelftestReport", "selftest"]

Progress = Callable[[int, int, str], None]

# In the order in which they run.
SUBJECTS: dict[str, Callable[[Any], Iterator[Planned]]] = {
    known_answers.SUBJECT: lambda rng: known_answers.planned(),
    keystream.SUBJECT: lambda rng: keystream.planned(rng),
    generators.SUBJECT: lambda rng: generators.planned(rng),
    tiers.SUBJECT: lambda rng: tiers.planned(),
    laws.SUBJECT: lambda rng: laws.planned(rng),
}


def selftest(
    *, seed: int | None = None, subjects: Iterable[str] | None = None, progress: Progress | None = None
) -> SelftestReport:
    """Test the installed library on this machine, in under a minute.

    Known keys give the values that an independent implementation computed; the random words are those of AES-256
    and look like fair bits; no generator repeats another; every instruction set and number of threads gives the
    same bytes; and every mechanism has its law.

    Parameters
    ----------
    seed : int or None
        From 0 to 2**128 - 1: the statistical checks draw the same values in every run. None: keys from the
        operating system, so that every run tests new values. Checks of fresh keys and of the operating system
        are new in every run.
    subjects : iterable of str, or None
        Some of "known answers", "random words", "generators", "instruction sets", "laws". None: all.
    progress : callable or None
        Called as ``progress(done, total, name)`` before every check and once at the end.

    Returns
    -------
    SelftestReport
        Its `passed` says whether every check passed. A check that breaks off has failed, and the others go on.

    Raises
    ------
    ParameterError, ParameterTypeError
        `seed` is out of range or not an integer, or a subject is another word.

    Notes
    -----
    Statistical checks fail with probability at most 1e-9 each where all is right, by Chernoff's bound in
    Hoeffding's form [1]_, which holds for every sample size; the others leave nothing to chance.

    References
    ----------
    .. [1] Hoeffding, "Probability Inequalities for Sums of Bounded Random Variables", Journal of the American
       Statistical Association 58, 1963, theorem 1.

    Examples
    --------
    >>> import stairnoise as sn
    >>> report = sn.selftest(subjects=["generators"])
    >>> report.passed, report.failures, report.false_alarm < 1e-70
    (True, (), True)
    """
    rng: Any = sn.SecureRng() if seed is None else sn.SeededRng(seed, allow_release=True)
    chosen = _chosen(subjects)
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    start = perf_counter()
    checks = tuple(_run_all([check for subject in chosen for check in _planned(subject, rng)], progress))
    return SelftestReport(checks, chosen, machine.facts(), seed, started, perf_counter() - start)


selftest.__module__ = "stairnoise"


def _chosen(subjects: Iterable[str] | None) -> tuple[str, ...]:
    if subjects is None:
        return tuple(SUBJECTS)
    if isinstance(subjects, str):
        raise ParameterTypeError(f"subjects must be a list of words, got {received(subjects)}")
    wanted = list(subjects)
    for subject in wanted:
        if subject not in SUBJECTS:
            raise ParameterError(f"subjects must be among {', '.join(map(repr, SUBJECTS))}, got {received(subject)}")
    return tuple(subject for subject in SUBJECTS if subject in wanted)


def _planned(subject: str, rng: Any) -> list[Planned]:
    """List the checks; if that fails there is one, which says so."""
    try:
        return list(SUBJECTS[subject](rng))
    except Exception as error:
        reason = error

        def fail() -> Outcome:
            raise reason

        return [Planned(subject, "the list of checks", fail)]


def _run_all(planned: list[Planned], progress: Progress | None) -> Iterator[SelftestCheck]:
    for done, check in enumerate(planned):
        if progress is not None:
            progress(done, len(planned), f"{check.subject}: {check.name}")
        yield _run(check)
    if progress is not None:
        progress(len(planned), len(planned), "")


def _run(check: Planned) -> SelftestCheck:
    start = perf_counter()
    try:
        outcome = check.run()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the extension is no Exception
        outcome = Outcome(0, "", nan, nan, 0.0, f"{type(error).__name__}: {' '.join(str(error).split())}")
    passed = outcome.statistic <= outcome.limit
    return SelftestCheck(check.subject, check.name, *outcome[:5], passed, outcome.detail, perf_counter() - start)
