"""The self-test: does the installed library draw the documented values on this machine?

| module | subject |
|---|---|
| `known_answers` | draws, releases and selections under known keys, against an oracle's values |
| `random_words` | words and values under a new key, against AES-256 and the contract in pure Python |
| `generators` | new keys, nothing repeated |
| `instruction_sets` | instruction sets and threads draw the same bytes |
| `contract` | AES-256 and the contract in pure Python |
| `report` | the result, and the machine |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone
from time import perf_counter

from stairnoise._parameters import refuse, refuse_type
from stairnoise._selftest import generators, instruction_sets, known_answers, random_words
from stairnoise._selftest.report import Outcome, Planned, SelftestCheck, SelftestReport, facts

__all__ = ["SelftestReport", "selftest"]

Progress = Callable[[int, int, str], None]

# The subjects run in this order.
SUBJECTS: dict[str, Callable[[], Iterator[Planned]]] = {
    "known answers": known_answers.planned,
    "random words": random_words.planned,
    "generators": generators.planned,
    "instruction sets": instruction_sets.planned,
}


def selftest(*, subjects: Iterable[str] | None = None, progress: Progress | None = None) -> SelftestReport:
    """Test the installed library on this machine, in less than a minute.

    It checks four things. Known keys give the values that an independent implementation computed. Words and values under a
    new key equal those of AES-256 and of the contract. No generator repeats another. Every instruction set and every number of
    threads gives the same bytes.

    Parameters
    ----------
    subjects : iterable of str, or None
        Some of "known answers", "random words", "generators", "instruction sets". None: all of them.
    progress : callable or None
        It is called as ``progress(done, total, name)`` before every check and once at the end.

    Returns
    -------
    SelftestReport
        Its `passed` says whether every check passed. A check that raises an error has failed; the others go on.

    Raises
    ------
    ParameterError, ParameterTypeError
        A subject is unknown.

    Notes
    -----
    No check depends on chance, except that two draws of 256 random bits could be equal.

    Examples
    --------
    >>> import stairnoise as sn
    >>> report = sn.selftest(subjects=["generators"])
    >>> report.passed, report.failures
    (True, ())
    """
    chosen = _chosen(subjects)
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    start = perf_counter()
    checks = tuple(_run_all([check for subject in chosen for check in _planned(subject)], progress))
    return SelftestReport(checks, chosen, facts(), started, perf_counter() - start)


selftest.__module__ = "stairnoise"


def _chosen(subjects: Iterable[str] | None) -> tuple[str, ...]:
    if subjects is None:
        return tuple(SUBJECTS)
    refuse_type("subjects", subjects, not isinstance(subjects, str), "a list of words")
    wanted = list(subjects)
    for subject in wanted:
        refuse("subjects", subject, subject in SUBJECTS, f"among {', '.join(map(repr, SUBJECTS))}")
    return tuple(subject for subject in SUBJECTS if subject in wanted)


def _planned(subject: str) -> list[tuple[str, Planned]]:
    """List the checks of a subject. If that fails, return one check that fails with the reason."""
    try:
        return [(subject, check) for check in SUBJECTS[subject]()]
    except Exception as error:
        reason = error

        def fail() -> Outcome:
            raise reason

        return [(subject, Planned("the list of checks", fail))]


def _run_all(planned: list[tuple[str, Planned]], progress: Progress | None) -> Iterator[SelftestCheck]:
    tell = progress or (lambda done, total, name: None)
    for done, (subject, check) in enumerate(planned):
        tell(done, len(planned), f"{subject}: {check.name}")
        yield _run(subject, check)
    tell(len(planned), len(planned), "")


def _run(subject: str, check: Planned) -> SelftestCheck:
    start = perf_counter()
    try:
        outcome = check.run()
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the extension is no Exception
        outcome = Outcome(0, None, f"{type(error).__name__}: {' '.join(str(error).split())}")
    return SelftestCheck(subject, check.name, *outcome[:2], outcome.mismatches == 0, outcome.detail, perf_counter() - start)
