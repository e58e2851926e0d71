"""Rules of Gauss on [0, 1]: nodes and weights, made when first asked for, as `numpy.polynomial` takes 10 ms to load.

References
----------
.. [1] Olver and others, NIST Handbook of Mathematical Functions, 3.5(iv) and 3.5(v).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from stairnoise._types import Floats


@cache
def gauss_legendre(points: int) -> tuple[Floats, Floats]:
    """Gauss and Legendre's rule, exact for polynomials of degree 2 points - 1."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    return (nodes + 1) / 2, weights / 2


@cache
def lobatto() -> tuple[Floats, Floats]:
    """Lobatto's rule of 16 points: the ends, and the extremes of Legendre's polynomial of degree 15."""
    degree = 15
    legendre = np.polynomial.Legendre.basis(degree)
    inner = np.real(legendre.deriv().roots())  # all are real; NumPy 2.5 and later give complex numbers
    for _ in range(3):
        inner = inner - legendre.deriv()(inner) / legendre.deriv(2)(inner)
    nodes = np.concatenate([[-1.0], inner, [1.0]])
    return (nodes + 1) / 2, 1 / (degree * (degree + 1) * legendre(nodes) ** 2)
