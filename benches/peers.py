"""Alternatives to stairnoise: NumPy, and packages that may or may not be installed.

If a peer does not import, its benchmark is skipped with the reason, and the record names the peer.
Peers use their own random generator, seeded if they allow it. Only OpenDP claims an exact mechanism.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benches.mechanisms import CoreMechanism
from benches.timing import Draw

BLOCK = 1 << 14
"""Values at a time in Algorithm 1, so that temporaries stay in the second-level cache (a fifth faster here)."""


@dataclass(frozen=True)
class Peer:
    """A package's way to draw one mechanism."""

    name: str
    mechanism: str
    make: Callable[[CoreMechanism, int], Draw]
    package: str = "numpy"
    most: int = 10**7
    """The largest n to time."""
    note: str = ""
    secure: bool = False
    """Whether it draws an exact mechanism with a secure generator, as stairnoise does."""

    def absent(self) -> str | None:
        """Return why this peer cannot run here, or None."""
        return reason_absent(self.package)


def reason_absent(package: str) -> str | None:
    """Return why `package` cannot be used here, or None."""
    try:
        importlib.import_module(package)
    except ModuleNotFoundError as error:
        return f"{error.name} is not installed"
    except Exception as error:  # a broken installation: name the error, but no path
        return f"{package} does not import: {type(error).__name__}"
    return None


def version(package: str) -> str:
    """Return the installed version of `package`, or 'absent'."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


# ---------------------------------------------------------------- NumPy


def algorithm_1(
    rng: np.random.Generator,
    out: NDArray[np.float64],
    eps: NDArray[np.float64] | float,
    sensitivity: float,
    gamma: NDArray[np.float64] | float,
) -> NDArray[np.float64]:
    """Fill `out` with staircase noise: Algorithm 1 of Geng & Viswanath (arXiv 1212.1186), vectorised.

    X = S·((1−B)·((G+γU)Δ) + B·((G+γ+(1−γ)U)Δ)) with a fair sign S, a geometric G from 0, U uniform on [0, 1)
    and P(B=0) = γ/(γ+(1−γ)e^−ε). `out` is one-dimensional; `eps` and `gamma` are numbers or arrays of its shape.
    """
    eps = np.broadcast_to(np.asarray(eps, dtype=np.float64), out.shape)
    gamma = np.broadcast_to(np.asarray(gamma, dtype=np.float64), out.shape)
    constant = eps.strides == (0,) and gamma.strides == (0,)
    for start in range(0, out.size, BLOCK):
        x = out[start : start + BLOCK]
        e = eps[0] if constant else eps[start : start + BLOCK]
        g = gamma[0] if constant else gamma[start : start + BLOCK]
        inner = rng.random(x.size) < g / (g + (1 - g) * np.exp(-e))
        rng.random(out=x)
        x *= np.where(inner, g, 1 - g)
        x += np.where(inner, 0.0, g)
        x += rng.geometric(-np.expm1(-e), x.size) - 1
        x *= sensitivity
        np.negative(x, out=x, where=rng.random(x.size) < 0.5)
    return out


def _numpy_algorithm_1(mechanism: CoreMechanism, n: int) -> Draw:
    rng, out = np.random.default_rng(1), np.zeros(n)
    assert mechanism.shape is not None
    gamma = mechanism.shape
    return lambda: algorithm_1(rng, out, mechanism.eps, mechanism.sensitivity, gamma)


def _numpy_laplace(mechanism: CoreMechanism, n: int) -> Draw:
    rng, scale = np.random.default_rng(1), mechanism.sensitivity / mechanism.eps
    return lambda: rng.laplace(0.0, scale, n)


def _numpy_geometric_difference(mechanism: CoreMechanism, n: int) -> Draw:
    rng, p = np.random.default_rng(1), -math.expm1(-mechanism.eps / mechanism.sensitivity)
    out = np.zeros(n, np.int64)
    return lambda: np.subtract(rng.geometric(p, n), rng.geometric(p, n), out=out)


# ---------------------------------------------------------------- packages


def _mkl_laplace(mechanism: CoreMechanism, n: int) -> Draw:
    return importlib.import_module("benches.mkl").laplace(mechanism.sensitivity / mechanism.eps, np.zeros(n))[0]  # type: ignore[no-any-return]


def _mkl_geometric_difference(mechanism: CoreMechanism, n: int) -> Draw:
    samplers = importlib.import_module("benches.mkl")
    return samplers.geometric_difference(mechanism.eps / mechanism.sensitivity, np.zeros(n, np.int64))[0]  # type: ignore[no-any-return]


def numba_algorithm_1(mechanism: CoreMechanism, n: int) -> Callable[[], NDArray[np.float64]]:
    """Return Algorithm 1 as a compiled loop; only its first draw runs the compiler."""
    numba = importlib.import_module("numba")

    def loop(
        rng: np.random.Generator,
        out: NDArray[np.float64],
        eps: float,
        sensitivity: float,
        gamma: float,
    ) -> NDArray[np.float64]:
        b = math.exp(-eps)
        for i in range(out.size):
            stairs = math.floor(rng.standard_exponential() / eps)  # geometric: P(G >= m) = e^(-eps m)
            u = rng.random()
            if rng.random() < gamma / (gamma + (1 - gamma) * b):
                x = stairs + gamma * u
            else:
                x = stairs + gamma + (1 - gamma) * u
            out[i] = x * sensitivity if rng.random() < 0.5 else -x * sensitivity
        return out

    compiled = numba.njit(loop)
    rng, out = np.random.default_rng(1), np.zeros(n)
    return lambda: compiled(rng, out, mechanism.eps, float(mechanism.sensitivity), mechanism.shape)


def _opendp_laplace(mechanism: CoreMechanism, n: int) -> Draw:
    dp = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    atom = dp.atom_domain(T=int) if mechanism.discrete else dp.atom_domain(T=float, nan=False)
    metric = dp.l1_distance(T=int if mechanism.discrete else float)
    scale = mechanism.sensitivity / mechanism.eps
    measurement = dp.m.make_laplace(dp.vector_domain(atom), metric, scale=scale)
    zeros = [0 if mechanism.discrete else 0.0] * n
    return lambda: measurement(zeros)


def _diffprivlib_staircase(made: CoreMechanism, n: int) -> Draw:
    mechanisms = importlib.import_module("diffprivlib.mechanisms")
    mechanism = mechanisms.Staircase(epsilon=made.eps, sensitivity=made.sensitivity, random_state=1)
    return lambda: [mechanism.randomise(0.0) for _ in range(n)]


_ALLOCATES = "allocates its result"
_ALLOCATES_PARTS = "allocates what it subtracts"
_PLAIN = "64-bit floats, not a secure generator"

_FASTEST = f"{_PLAIN}; the fastest of MKL's generators here"
_EXACT = "exact and secure; lists"

PEERS = (
    Peer("NumPy, Algorithm 1", "staircase", _numpy_algorithm_1, note=_PLAIN),
    Peer("numba, Algorithm 1", "staircase", numba_algorithm_1, "numba", note=_PLAIN),
    Peer("diffprivlib Staircase", "staircase", _diffprivlib_staircase, "diffprivlib", 10**4, f"{_PLAIN}; one call per value"),
    Peer("NumPy laplace", "laplace", _numpy_laplace, note=f"{_PLAIN}; {_ALLOCATES}"),
    Peer("MKL laplace", "laplace", _mkl_laplace, "benches.mkl", note=_FASTEST),
    Peer("OpenDP laplace, floats", "laplace", _opendp_laplace, "opendp", 10**4, _EXACT, secure=True),
    Peer("NumPy geometric, difference", "discrete_laplace", _numpy_geometric_difference, note=f"{_PLAIN}; {_ALLOCATES_PARTS}"),
    Peer("MKL geometric, difference", "discrete_laplace", _mkl_geometric_difference, "benches.mkl", note=_FASTEST),
    Peer("OpenDP laplace, integers", "discrete_laplace", _opendp_laplace, "opendp", 10**4, _EXACT, secure=True),
)

PACKAGES = ("numpy", "scipy", "mkl", "opendp", "diffprivlib", "python-dp", "numba")
