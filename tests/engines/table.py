"""One table and one key, the answers that every engine must give, and the checks for these answers.

The unkeyed functions of the negative controls have seeds, so an engine's results with them differ between runs only where
its threads do.
"""

from typing import Any

import numpy as np

import stairnoise as sn

RELEASE, STATISTIC = "persons 2026-Q3", "count"
MECHANISM = sn.DiscreteLaplace(eps=0.1, sensitivity=1)
LABELS = [None, "", "Zürich", "chur", "Chur", "o'brien; --", *(f"city {i}" for i in range(34))]
COUNTS = [3 + 7 * i % 40 for i in range(len(LABELS))]
# About half of the answers are above this threshold.
THRESHOLD = 22


def secret() -> bytes:
    """The function that workers call for the secret; pickle stores its name only."""
    return bytes(range(32))


KEYED = sn.KeyedRng(secret, RELEASE)


def answers(mechanism: Any = MECHANISM, labels: Any = LABELS, values: Any = COUNTS) -> dict[Any, Any]:
    """Return the answers of `release` for an array."""
    released = mechanism.release(np.array(values), labels=labels, statistic=STATISTIC, rng=KEYED)
    return dict(zip(labels, released.tolist(), strict=True))


EXPECTED = answers()


def persons() -> list[str | None]:
    """Return the labels, each repeated as often as its count."""
    return [label for label, count in zip(LABELS, COUNTS, strict=True) for _ in range(count)]


def one_answer(rows: Any) -> dict[Any, Any]:
    """Require one answer for each label, and return it. A row is a label and its answers; labels may be in several rows."""
    found: dict[Any, set[Any]] = {}
    for label, *answers in rows:
        found.setdefault(label, set()).update(answers)
    several = sum(len(answers) > 1 for answers in found.values())
    assert not several, f"{several} of {len(found)} labels have several answers"
    return {label: answers.pop() for label, answers in found.items()}


def above(rows: Any) -> dict[Any, Any]:
    """Do what `one_answer` does, for a query that selects answers above the threshold."""
    found = one_answer(rows)
    broken = sum(answer <= THRESHOLD for answer in found.values())
    assert not broken, f"{broken} of {len(found)} answers should have been left out"
    return found


def unkeyed() -> Any:
    """Return a function that adds fresh noise to an array."""
    rng = sn.SeededRng(19, allow_release=True)
    return lambda values: MECHANISM.release(values, rng=rng)
