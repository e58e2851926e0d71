"""Ctrl-C ends every long call with KeyboardInterrupt.

Evidence: real processes get a real SIGINT during the call. A call nominally ends within a second; the bound is generous for busy
machines, and each call would take several times as long.
"""

import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

_BOUND = 5.0

# A shell starts a command in the background with SIGINT ignored, and children inherit that.
_CHILD = """
import signal, sys
import numpy as np
import stairnoise as sn
signal.signal(signal.SIGINT, signal.default_int_handler)
{prepare}
print("ready", flush=True)
try:
    while True:
        {call}
except KeyboardInterrupt:
    sys.exit(42)
"""

CALLS = {
    "vectors": ("d = sn.MultivariateStaircase(2.0, dim=512)", "d.sample(10**6)"),
    "vectors in the l2 norm": ('d = sn.MultivariateStaircase(2.0, dim=64, norm="l2")', "d.sample(10**6)"),
    "large vectors": ("d = sn.MultivariateStaircase(2.0, dim=4096)", "d.sample(10**5)"),
    "vectors released": (
        "d = sn.MultivariateStaircase(2.0, 1.0, dim=512); v = np.broadcast_to(1.0, (10**6, 512))",
        "d.release(v)",
    ),
    "shares": ("d = sn.MultiScaleDiscreteLaplace(1.0, 2**16).share(n_parties=3)", "d.sample(10**6)"),
    "shares released": ("d = sn.MultiScaleDiscreteLaplace(1.0, 2**10).share(n_parties=3); v = np.zeros(10**6)", "d.release(v)"),
    "keyed rows": (
        "d = sn.MultiScaleDiscreteLaplace(1.0, 2**10).share(n_parties=3); v = np.zeros(10**6, int); g = np.arange(10**6); "
        "k = sn.KeyedRng(bytes(32), 'r')",
        "d.release(v, labels=g, statistic='s', rng=k)",
    ),
    "granularities": ("d = np.linspace(1, 2, 10**7)", 'sn.Staircase(d, 1, "l2").granularity'),
    "children": ("rng = sn.SecureRng()", "rng.spawn(2**20)"),
    "several of rows": ("s = sn.PermuteAndFlip(1.0, 1.0); v = np.broadcast_to(np.arange(1000.0), (10**6, 1000))", "s.top(v, 3)"),
    "rows of costs": ("s = sn.StaircaseSelection(1, 1); v = np.broadcast_to(np.arange(1000.0), (10**6, 1000))", "s.select(v)"),
    "many segments": (
        "e, b = np.linspace(1, 2, 1024).tolist(), np.linspace(0.1, 9, 1023).tolist()",
        "sn.MergedLaplace(e, b, 1.0).sample(10**6)",
    ),
    "a long convolution": (
        "from stairnoise.accounting.convolution import _directly; mechanism = np.exp(-np.arange(2.0**18) / 2**16)",
        "_directly([(mechanism, 2)], 2**18)",
    ),
    "a large mechanism": ("", "sn.MultivariateStaircase((4096 + 128) / 2**16, dim=4096)"),
}


# Calls that share their loops with other cases.
LONG = {"large vectors", "vectors released", "shares released", "rows of costs"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in CALLS])
def test_ctrl_c_ends(name):
    prepare, call = CALLS[name]
    child = _CHILD.format(prepare=prepare, call=call)
    with subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.15)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            _, errors = process.communicate(timeout=60)
            assert process.returncode == 42, errors
            assert time.monotonic() - began < _BOUND
        finally:
            process.kill()
