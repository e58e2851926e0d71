"""The generators: new keys, and no repetition in spawned generators, threads and forked processes.

`run_main` starts another process, which runs `main` to check forks.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from stairnoise._selftest.random_words import top_bits
from stairnoise._selftest.report import Outcome, Planned
from stairnoise.bit_generator import SecureBitGenerator
from stairnoise.rng import SecureRng

_GENERATORS = 64
_WORDS = 16  # of 16 bits each
_FORKS = 8
_TIMEOUT = 120  # seconds
# With this process's `sys.path`, the other process imports the same package.
_CODE = """
import sys, json
sys.path[:] = json.loads(sys.argv[2])
from importlib import import_module
import_module(sys.argv[1]).main()
"""


def planned() -> Iterator[Planned]:
    """Return the checks."""
    yield Planned("the operating system gives random bytes", check_entropy)
    yield Planned("SecureRng() differs from every other", lambda: distinct(_new_ones()))
    yield Planned("reseed() gives a new key", lambda: distinct(_reseeded()))
    yield Planned("fills and spawned generators differ", lambda: distinct(_family(SecureRng())))
    yield Planned("threads that share a generator differ", lambda: distinct(_threads(SecureRng())))
    if hasattr(os, "fork"):
        yield Planned("forked children differ from their parent", lambda: distinct(_forked()))
    yield Planned("SecureBitGenerator() differs from every other", lambda: distinct(_bit_generators()))


def distinct(drawn: list[tuple[int, ...]]) -> Outcome:
    """Compare all pairs. Two draws of n random bits are equal with probability 2**-n."""
    repeated = len(drawn) - len(set(drawn))
    return Outcome(len(drawn), repeated, f"{repeated} of {len(drawn)} repeat another" if repeated else "")


def _draw(rng: Any) -> tuple[int, ...]:
    """Draw words of 16 bits; a bit generator gives four of them in a word."""
    if isinstance(rng, SecureBitGenerator):
        return tuple(rng.random_raw(_WORDS // 4).view(np.uint16).tolist())
    return tuple(top_bits(rng, _WORDS).tolist())


def check_entropy() -> Outcome:
    """Check that no two requests give the same bytes, and none gives zeros."""
    blocks = [tuple(os.urandom(2 * _WORDS)) for _ in range(_GENERATORS)]
    return distinct([*blocks, (0,) * (2 * _WORDS)])


def _new_ones() -> list[tuple[int, ...]]:
    return [_draw(None), *(_draw(SecureRng()) for _ in range(_GENERATORS))]


def _reseeded() -> list[tuple[int, ...]]:
    rng = SecureRng.from_key(bytes(32))
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
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda _: _draw(rng), range(128)))


def _bit_generators() -> list[tuple[int, ...]]:
    """Draw twice from each, from children, and from children of children."""
    new = [SecureBitGenerator() for _ in range(_GENERATORS)]
    children = new[0].spawn(_GENERATORS)
    return [_draw(member) for member in 2 * [*new, *children, *children[0].spawn(_GENERATORS)]]


def _forked() -> list[tuple[int, ...]]:
    """Fork in another process, which has one thread."""
    return [tuple(words) for words in json.loads(run_main("stairnoise._selftest.generators"))]


# Other processes


def run_main(module: str, **environment: str) -> str:
    """Run ``main`` of a module with this interpreter, and return what it prints.

    Raises
    ------
    RuntimeError
        The process failed. The text has the last line that it wrote to stderr.
    """
    command, env = [sys.executable, "-c", _CODE, module, json.dumps(sys.path)], {**os.environ, **environment}
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_TIMEOUT)
    if done.returncode:
        last = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise RuntimeError(f"{module} in another process: {last}")
    return done.stdout


def draws(generators: list[Any]) -> list[list[int]]:
    """Draw twice from every generator."""
    return [list(_draw(rng)) for rng in generators for _ in range(2)]


def in_child(generators: list[Any]) -> list[list[int]]:
    """Return what a forked child draws."""
    context = multiprocessing.get_context("fork")
    reader, writer = context.Pipe(duplex=False)
    child = context.Process(target=lambda: writer.send(draws(generators)))
    child.start()
    # So that a child that fails ends the pipe.
    writer.close()
    found: list[list[int]] = reader.recv()
    child.join()
    return found


def main() -> None:
    """Print the draws of this process and of its forked children. All of them must differ."""
    used, unused, words = SecureRng(), SecureRng(), SecureBitGenerator()
    found = [list(_draw(rng)) for rng in (None, used, words)]
    generators = [None, used, unused, *SecureRng().spawn(2), words, *words.spawn(2)]
    for _ in range(_FORKS):
        found += in_child(generators)
    print(json.dumps([*found, *draws(generators)]))
