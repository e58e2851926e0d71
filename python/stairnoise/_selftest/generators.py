"""The generators: fresh keys, no repetition in children and forks, and the refusals that prevent reuse."""

from __future__ import annotations

import copy
import json
import os
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import stairnoise as sn
from stairnoise._selftest.keystream import top_bits
from stairnoise._selftest.processes import run_main
from stairnoise._selftest.report import Outcome, Planned

SUBJECT = "generators"
_GENERATORS = 64
_WORDS = 16  # of 16 bits each


def planned(rng: Any) -> Iterator[Planned]:
    """Return the checks; those of the operating system's randomness are new in every run."""
    yield Planned(SUBJECT, "the operating system gives random bytes", check_entropy)
    yield Planned(SUBJECT, "SecureRng() differs from every other", lambda: distinct(_new_ones()))
    yield Planned(SUBJECT, "reseed() gives a new key", lambda: distinct(_reseeded()))
    yield Planned(SUBJECT, "fills and spawned generators differ", lambda: distinct(_family(rng.spawn(1)[0])))
    yield Planned(SUBJECT, "threads that share a generator differ", lambda: distinct(_threads(sn.SecureRng())))
    if hasattr(os, "fork"):
        yield Planned(SUBJECT, "forked children differ from their parent", lambda: distinct(_forked()))
    yield Planned(SUBJECT, "copies and pickles are refused", check_copies)
    yield Planned(SUBJECT, "seeds are refused for releases", check_seeds)


def distinct(drawn: list[tuple[int, ...]]) -> Outcome:
    """Compare all pairs; each is equal by chance with the probability 2 to the minus number of bits."""
    repeated = len(drawn) - len(set(drawn))
    pairs = len(drawn) * (len(drawn) - 1) // 2
    rate = pairs * 2.0 ** (-16 * min(map(len, drawn)))
    detail = f"{repeated} of {len(drawn)} repeat another" if repeated else ""
    return Outcome(len(drawn), "mismatches", repeated, 0, rate, detail)


def _draw(rng: Any) -> tuple[int, ...]:
    return tuple(top_bits(rng, _WORDS).tolist())


def check_entropy() -> Outcome:
    """Two requests differ, and do not give zeros."""
    blocks = [tuple(os.urandom(2 * _WORDS)) for _ in range(_GENERATORS)]
    return distinct([*blocks, (0,) * (2 * _WORDS)])._replace(false_alarm=_GENERATORS**2 * 2.0 ** (-16 * _WORDS))


def _new_ones() -> list[tuple[int, ...]]:
    return [_draw(None), *(_draw(sn.SecureRng()) for _ in range(_GENERATORS))]


def _reseeded() -> list[tuple[int, ...]]:
    rng = sn.SecureRng.from_key(bytes(32))
    drawn = [_draw(rng)]
    for _ in range(_GENERATORS):
        rng.reseed()
        drawn.append(_draw(rng))
    return drawn


def _family(rng: Any) -> list[tuple[int, ...]]:
    children = [*rng.spawn(_GENERATORS), *rng.spawn(1)]
    grandchildren = children[0].spawn(_GENERATORS)
    return [_draw(member) for member in (rng, rng, *children, *children, *grandchildren)]


def _threads(rng: Any) -> list[tuple[int, ...]]:
    drawn: list[tuple[int, ...]] = []
    workers = [threading.Thread(target=lambda: drawn.extend([_draw(rng) for _ in range(32)])) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return drawn


def _forked() -> list[tuple[int, ...]]:
    """Fork in a process of its own, which has no other threads."""
    return [tuple(words) for words in json.loads(run_main("stairnoise._selftest.forking"))]


def check_copies() -> Outcome:
    """Count the ways to copy that are not refused."""
    generators = (sn.SecureRng(), sn.SecureRng.from_key(bytes(32)), sn.SeededRng(0))
    ways: tuple[Callable[[Any], Any], ...] = (copy.copy, copy.deepcopy, pickle.dumps)
    return _refused(sn.CopyError, [lambda r=rng, way=way: way(r) for rng in generators for way in ways])  # type: ignore[misc]


def check_seeds() -> Outcome:
    """Count the releases that take a seed."""
    rng: Any = sn.SeededRng(0)
    return _refused(
        sn.ParameterError,
        [
            lambda: sn.Staircase(1.0).release(1.0, rng=rng),
            lambda: sn.DiscreteLaplace(1.0).release([1, 2], rng=rng),
            lambda: sn.Gaussian(1.0, 1e-6).release(1.0, rng=rng),
            lambda: sn.MultivariateStaircase(1.0).release([1.0, 2.0], rng=rng),
            lambda: sn.ExponentialMechanism(1.0).select([0.0, 1.0], rng=rng),
        ],
    )


def _refused(error: type[Exception], attempts: list[Callable[[], Any]]) -> Outcome:
    accepted = 0
    for attempt in attempts:
        try:
            attempt()
        except error:
            continue
        accepted += 1
    return Outcome(len(attempts), "mismatches", accepted, 0, 0.0, f"{accepted} accepted" if accepted else "")
