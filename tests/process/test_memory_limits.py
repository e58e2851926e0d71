"""If the system has no memory left, a call raises MemoryError and the process goes on.

Evidence: real limits on the address space of real processes. The limits rise in steps, from one at which the first allocation
fails, past those at which later allocations fail, to one at which the call succeeds.
"""

import os
import subprocess
import sys
import sysconfig

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux's memory limits")

# Each case runs in a new process, forked from one that has imported everything. It runs in a thread, because a thread's stack is
# reserved in advance; if a process's main stack cannot grow, the kernel ends the process.
_PARENT = """
import importlib, os, pkgutil, resource, sys, threading
import numpy as np
import stairnoise as sn

# CPython's compiler may end in a SystemError where it finds no memory: nothing is left to be imported or compiled.
for module in pkgutil.walk_packages(sn.__path__, "stairnoise."):
    if not module.name.startswith(("stairnoise.cli", "stairnoise.compat.", "stairnoise.figures", "stairnoise._scipy")):
        importlib.import_module(module.name)
sn.sample(3, eps=1.0)
# OpenBLAS, which the theory uses, ends the process where it finds no memory at first.
np.ones((99, 99)) @ np.ones((99, 99))
# NumPy asks the C library for a backtrace before it reuses a temporary array, and that loads another library at first.
np.ones(10**5) * 2 + np.ones(10**5) * 2 - 1


def used():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()


def ending(call, names, extra):
    resource.setrlimit(resource.RLIMIT_AS, (used() + extra, resource.RLIM_INFINITY))
    try:
        eval(call, names)
        return "success"
    except MemoryError:
        return "MemoryError"
    except SystemError as error:
        # CPython before 3.14 may lose a MemoryError as it leaves a frame (python/cpython#131173), in plain Python too.
        if sys.version_info >= (3, 14) or str(error) != "error return without exception set":
            raise
        return "MemoryError"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


def run(name, prepare, call):
    names = {"np": np, "sn": sn}
    exec(prepare, names)
    call = compile(call, name, "eval")
    found = []
    for extra in (0, *(2**i for i in range(14, 31, 2))):
        found.append(ending(call, names, extra))
        if found[-1] == "success":
            break
    print(name, *found, sep="|", flush=True)


for name, (prepare, call) in CALLS.items():
    if os.fork() == 0:
        thread = threading.Thread(target=run, args=(name, prepare, call))
        thread.start()
        thread.join()
        os._exit(0)
    _, status = os.wait()
    if status != 0:
        print(name, f"status {status}", sep="|", flush=True)
"""

_ROWS = "v = np.random.default_rng(1).uniform(0, 50, (4, 10**6))"
_SEGMENTS = "e, b = np.linspace(1, 2, {0}).tolist(), np.linspace(0.1, 9, {0} - 1).tolist()"

CALLS = {
    "a long sample": ("d = sn.Laplace(1.0)", "d.sample(10**6)"),
    "vectors": ("d = sn.MultivariateStaircase(2.0, dim=64)", "d.sample(10**4)"),
    "large vectors": ("d = sn.MultivariateStaircase(2.0, dim=4096)", "d.sample(40)"),
    "vectors in the l2 norm": ('d = sn.MultivariateStaircase(2.0, dim=8, norm="l2")', "d.sample(10**5)"),
    "vectors released": ("d = sn.MultivariateStaircase(2.0, 1.0, dim=64); v = np.zeros((10**4, 64))", "d.release(v)"),
    "shares": ("d = sn.MultiScaleDiscreteLaplace(1.0, 20).share(n_parties=3)", "d.sample(10**5)"),
    "strided releases": ("d = sn.Laplace(1.0, 1.0); v = np.zeros((1000, 1000))[::2, ::2]", "d.release(v)"),
    "arrays of parameters": ("e = np.linspace(1, 2, 10**6)", "sn.Laplace(e).sample(e.shape)"),
    "arrays with doubtful values": ("e = np.linspace(701, 800, 10**5)", "sn.Staircase(e).sample(e.shape)"),
    "strided arrays of parameters": (
        "e = np.linspace(1, 2, 10**6)[::2]; d = sn.Staircase(e, 1.0); v = np.zeros(e.shape)",
        "d.release(v)",
    ),
    "granularities": ("e = np.linspace(1, 2, 10**6)", "sn.Laplace(e).granularity"),
    "children": ("rng = sn.SecureRng()", "len(rng.spawn(2**16))"),
    "bit generators": ("bits = sn.SecureBitGenerator()", "len(bits.spawn(2**13))"),
    "used children": ("rng = sn.SecureRng.from_key(bytes(32))", "[sn.sample(1, eps=1.0, rng=r) for r in rng.spawn(2**13)]"),
    "rows of costs": (_ROWS + "; s = sn.StaircaseSelection(1.0, 1.0)", "s.select(v)"),
    "coins of rows": (_ROWS + "; s = sn.PermuteAndFlip(1.0, 1.0)", "s.select(v)"),
    "coins of rows that come again": (_ROWS + "; s = sn.PermuteAndFlip(1.0)", "s.sample(v[0], 100)"),
    "several of rows": (_ROWS + "; s = sn.PermuteAndFlip(1.0, 1.0)", "s.top(v, 2)"),
    "rows that come again": (_ROWS + "; s = sn.StaircaseSelection(1.0)", "s.sample(v[0], 100)"),
    "rows that floats do not decide": (_ROWS + "[:, :10000]; s = sn.ExponentialMechanism(1e-200, 1.0)", "s.select(v)"),
    "a table": ("", "sn.GeneralizedDiscreteLaplace(1.0, 2**-11).sample(3)"),
    "tables": ("", "sn.Arete(1.0, 1.0, 1.0).share(n_parties=10).sample(3)"),
    "shares of many scales": ("", "sn.MultiScaleDiscreteLaplace(1.0, 2**16)"),
    "some segments": (_SEGMENTS.format(256), "sn.MergedLaplace(e, b, 1.0).sample(10**5, threads=1)[:0]"),
    "many segments": (_SEGMENTS.format(1024), "sn.MergedLaplace(e, b, 1.0).sample(10**5, threads=1)[:0]"),
    "many weights": ("w = np.ones(2**17 + 1)", "sn.LatticeNoise(w).sample(10**6, threads=1)[:0]"),
    # The shape is given, because the search for the best shape broadcasts, and NumPy 2.4 raises a buffer's MemoryError while it
    # does not hold the interpreter's lock, which ends the process.
    "balls": ("", "sn.MultivariateStaircase(0.02, dim=1000, gamma=0.6).sample(1)"),
}


def endings():
    program = f"CALLS = {CALLS!r}\n{_PARENT}"
    # A thread's own arena would add memory beyond the limit.
    environment = os.environ | {"MALLOC_ARENA_MAX": "1", "MALLOC_TOP_PAD_": "0", "MALLOC_TRIM_THRESHOLD_": "0"}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300)
    lines = [line.split("|") for line in ended.stdout.splitlines()]
    return {name: found for name, *found in lines}, ended.stderr


def test_lack_of_memory_is_an_exception():
    found, errors = endings()
    assert found.keys() == CALLS.keys(), errors
    for name, (*failures, last) in found.items():
        # Free-threaded CPython reserves memory for small objects before the limit is set.
        if failures or name != "children" or not sysconfig.get_config_var("Py_GIL_DISABLED"):
            assert set(failures) == {"MemoryError"}, (name, failures, last, errors)
        assert last == "success", (name, last, errors)
