"""The self-test: is what is installed on this machine what the documentation says?

| module | subject |
|---|---|
| `known_answers` | draws, releases and selections under known keys, against an oracle's values |
| `random_words` | words against AES-256 and against fair bits |
| `generators` | fresh keys, nothing repeated, refusals |
| `instruction_sets` | instruction sets and threads draw the same bytes |
| `mechanisms` | every mechanism against its distribution |
| `contract` | AES-256 and the contract in pure Python |
| `events` | how far counts are from probabilities |
| `report` | what was found, and on which machine |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone
from math import nan
from time import perf_counter
from typing import Any

from stairnoise._errors import ParameterError, ParameterTypeError, received
from stairnoise._selftest import generators, instruction_sets, known_answers, random_words
from stairnoise._selftest import mechanisms as mechanisms
from stairnoise._selftest.report import Outcome, Planned, SelftestCheck, SelftestReport, facts
from stairnoise.rng import SecureRng, SeededRng

__all__ = ["SelftestReport", "selftest"]

Progress = Callable[[int, int, str], None]

# The subjects run in this order.
SUBJECTS: dict[str, Callable[[Any], Iterator[Planned]]] = {
    known_answers.SUBJECT: lambda rng: known_answers.planned(),
    random_words.SUBJECT: lambda rng: random_words.planned(rng),
    generators.SUBJECT: lambda rng: generators.planned(rng),
    instruction_sets.SUBJECT: lambda rng: instruction_sets.planned(),
    mechanisms.SUBJECT: lambda rng: mechanisms.planned(rng),
}


def selftest(
    *, seed: int | None = None, subjects: Iterable[str] | None = None, progress: Progress | None = None
) -> SelftestReport:
    """Test the installed library on this machine, in under a minute.

    It checks five things. Known keys give the values that an independent implementation computed. The random words
    are those of AES-256 and look like fair bits. No generator repeats another. Every instruction set and every
    number of threads gives the same bytes. The noise of every mechanism has its distribution.

    Parameters
    ----------
    seed : int or None
        An integer from 0 to 2**128 - 1: the statistical checks draw the same values in every run. None: the
        operating system gives the keys, so that every run tests new values. Checks of fresh keys and of the
        operating system's randomness are new in every run.
    subjects : iterable of str, or None
        Some of "known answers", "random words", "generators", "instruction sets", "mechanisms". None: all of them.
    progress : callable or None
        It is called as ``progress(done, total, name)`` before every check and once at the end.

    Returns
    -------
    SelftestReport
        Its `passed` says whether every check passed. A check that raises an error has failed; the others go on.

    Raises
    ------
    ParameterError, ParameterTypeError
        `seed` is out of range or not an integer, or a subject is unknown.

    Notes
    -----
    Where all is right, a statistical check fails with probability at most 1e-10, and any check of the whole test
    with probability below 1e-7. The bound is Chernoff's in Hoeffding's form [1]_, which holds for every sample
    size. Chance decides none of the other checks, but for equal draws of 256 fair bits.

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
    rng: Any = SecureRng() if seed is None else SeededRng(seed, allow_release=True)
    chosen = _chosen(subjects)
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    start = perf_counter()
    checks = tuple(_run_all([check for subject in chosen for check in _planned(subject, rng)], progress))
    return SelftestReport(checks, chosen, facts(), seed, started, perf_counter() - start)


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
    """List the checks. If that fails, return one check that fails with the reason."""
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
