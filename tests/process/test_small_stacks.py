"""Every mechanism draws in a thread with a stack of 128 KiB, musl's default. Evidence: the process survives.

Each case runs in such a thread of another process. The process prints a case's name before the case begins, so a stack overflow
has a name; the remaining cases then run in a new process.
"""

import os
import re
import subprocess
import sys

import pytest

import stairnoise as sn
from stairnoise.registry import ROWS
from tests.combinations import rest_long
from tests.examples import UNLISTED

PROGRAM = """
import sys, threading
from functools import partial
import numpy as np
import stairnoise as sn
from stairnoise.registry import ROWS

eps = np.linspace(0.1, 2, 100)
MECHANISMS = {
    **{f"{row.name} {i}": partial(row.make, one) for row in ROWS if row.of_numbers for i, one in enumerate(row.examples)},
    "Laplace": lambda: sn.Laplace(1, 1),
    "Laplace of many steps": lambda: sn.Laplace(3e-6, 1),
    "Staircase of few stairs": lambda: sn.Staircase(4, 1),
    "Staircase": lambda: sn.Staircase(0.3, 1),
    "Staircase l2": lambda: sn.Staircase(0.3, 1, gamma="l2"),
    "DiscreteLaplace of few values": lambda: sn.DiscreteLaplace(4, 1),
    "DiscreteLaplace": lambda: sn.DiscreteLaplace(0.1, 1),
    "DiscreteStaircase of few stairs": lambda: sn.DiscreteStaircase(3, 9),
    "DiscreteStaircase": lambda: sn.DiscreteStaircase(0.1, 9),
    "many Laplace": lambda: sn.Laplace(eps, eps),
    "many Staircase": lambda: sn.Staircase(eps, 1),
    "many Staircase l2": lambda: sn.Staircase(eps, 1, gamma="l2"),
    "many Staircase of numbers": lambda: sn.Staircase(eps, eps, gamma=eps / 3),
    "many DiscreteLaplace": lambda: sn.DiscreteLaplace(eps, 3),
    "many DiscreteStaircase": lambda: sn.DiscreteStaircase(eps, 9),
    "many Gaussian": lambda: sn.Gaussian(sigma=eps),
    "many Gaussian of few": lambda: sn.Gaussian(sigma=np.repeat([1.0, 3.0], 50)),
    "many DiscreteGaussian": lambda: sn.DiscreteGaussian(eps),
    "many DiscreteStaircase of numbers": lambda: sn.DiscreteStaircase(eps, 9, r=np.arange(100) % 9 + 1),
}
DRAWS = {
    "sample of few": lambda mechanism: mechanism.sample((1, 100)),
    "sample": lambda mechanism: mechanism.sample((50, 100)),
    "sample of narrow floats or integers": lambda noise: noise.sample((50, 100), dtype=noise.sample((1, 100)).dtype.kind + "4"),
    "sample, strided": lambda mechanism: mechanism.sample(out=np.zeros((50, 200), mechanism.sample((1, 100)).dtype)[:, ::2]),
    "release of one": lambda mechanism: mechanism.release(3),
    "release of few": lambda mechanism: mechanism.release(np.ones(100)),
    "release": lambda mechanism: mechanism.release(np.ones((50, 100))),
    "release of integers": lambda mechanism: mechanism.release(np.ones((50, 100), int)),
    "release, strided": lambda mechanism: mechanism.release(np.ones((50, 300))[:, ::3], out=np.zeros((50, 200))[:, ::2]),
    "release of one value repeated": lambda noise: noise.release(np.broadcast_to(3.0, (50, 100)), out=np.zeros((100, 50)).T),
}
def costs():
    return np.arange(300.0).reshape(60, 5) % 7

CASES = {
    f"{key}: {draw}": (lambda make=make, run=run: run(make()))
    for key, make in MECHANISMS.items()
    for draw, run in DRAWS.items()
}
for norm in ("l1", "l2", "linf"):
    for dim in (1, 3, 200):
        def vectors(norm=norm, dim=dim):
            mechanism = sn.MultivariateStaircase(1, 1, dim, norm=norm)
            mechanism.sample(50)
            mechanism.sample(out=np.zeros((50, 2 * dim))[:, ::2])
            mechanism.release(np.ones((50, dim)))
            mechanism.release(np.ones((50, 2 * dim))[:, ::2], out=np.zeros((dim, 50)).T)
        CASES[f"MultivariateStaircase {norm} {dim}"] = vectors
for mechanism in (sn.ExponentialMechanism, sn.StaircaseSelection, sn.PermuteAndFlip):
    def select(mechanism=mechanism):
        mechanism = mechanism(1, 1)
        mechanism.select(costs())
        mechanism.select(costs().T)
        mechanism.select(np.arange(3000.0), size=1000)
        mechanism.select(costs(), out=np.zeros(120, int)[::2])
        mechanism.top(costs(), 3)
        mechanism.probabilities(np.arange(100.0))
    CASES[mechanism.__name__] = select
def partitions():
    mechanism, counts = sn.PartitionSelection(1, 1e-6), np.arange(3000) % 60
    mechanism.select(counts)
    mechanism.release(counts[::2])
    sn.PartitionSelection(1e-6, 1e-6).release(counts[:3] + 10**7)
CASES["PartitionSelection"] = partitions
def categories(mechanism):
    mechanism.sample((50, 100))
    mechanism.release(1)
    mechanism.release(np.ones((50, 100), int))
    mechanism.release(np.ones((50, 300), int)[:, ::3], out=np.zeros((50, 200), int)[:, ::2])
for row in ROWS:
    if row.kind == "category":
        CASES[row.class_name] = lambda row=row: [categories(mechanism) for mechanism in row.mechanisms()]
for mechanism in ("Staircase", "discrete_gaussian 1", "many Staircase", "many Gaussian of few"):
    CASES[f"{mechanism}: two threads"] = lambda make=MECHANISMS[mechanism]: make().sample((2700, 100), threads=2)
CASES["one"] = lambda: [MECHANISMS[mechanism]().sample() for mechanism in MECHANISMS if not mechanism.startswith("many")]
CASES["sn.sample"] = lambda: sn.sample(1000, 1)
CASES["generators"] = lambda: [sn.SecureRng().spawn(3), sn.SecureRng().at(5)]

threading.stack_size(128 << 10)
failed = []
def run(case):
    try:
        CASES[case]()
    except BaseException as error:
        failed.append(f"{case}: {error!r}")
for case in list(CASES)[int(sys.argv[1]) :]:
    print(case, flush=True)
    thread = threading.Thread(target=run, args=(case,))
    thread.start()
    thread.join()
sys.exit("\\n".join(failed) or 0)
"""


@pytest.mark.parametrize("tier", rest_long(sn.cpu_tiers()[:: max(1, len(sn.cpu_tiers()) - 1)], sn.cpu_tiers()))
def test_everything_draws_in_a_thread_with_a_small_stack(tier):
    died, begun = [], 0
    # Four overflows are enough to know, because each takes a process.
    while len(died) < 4:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(begun)],
            env={**os.environ, "STAIRNOISE_CPU": tier},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        cases = done.stdout.splitlines()
        if done.returncode >= 0:
            break
        died.append(cases[-1])
        begun += len(cases)
    assert not died, "these cases overflow the stack"
    assert done.returncode == 0, done.stderr


def test_everything_that_draws_is_among_the_cases():
    mechanisms = [name for name in sn.__all__ if hasattr(getattr(sn, name), "sample") or hasattr(getattr(sn, name), "select")]
    assert len(mechanisms) > 12
    assert {row.class_name for row in ROWS} <= set(mechanisms)
    others = set(mechanisms) - UNLISTED - {row.class_name for row in ROWS if row.kind != "vector"}
    assert [name for name in others if not re.search(rf"\bsn\.{name}\b", PROGRAM)] == []
