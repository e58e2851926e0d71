"""boundaries_geometric.json and boundaries_staircase.json: words around the edges where |X| changes.

Edge j is S(j): v < S(j) means |X| >= j. Its binary expansion is cut into the 63 bits of a word and the extension words that
follow; the cases are those bits, one more, one less, and continuations that decide only at the second or third word.
"""

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.oracles import draw, intervals
from tests.oracles.generate.encoding import float_bits, float_of, word_hex
from tests.oracles.generate.parameters import Parameters
from tests.oracles.lattice import Lattice, lattice, mechanism
from tests.oracles.survival import LARGEST, Mechanism, below, magnitude

ONES = 2**64 - 1
SIGN = 2**63
DEEP = (Fraction(1, 2**63), Fraction(1, 2**64), Fraction(3, 2**90), Fraction(1, 2**127), Fraction(1, 2**200))

EPS = (1e-3, 0.1, 0.5, 1.0, 2.0, 4.0, 10.0, 20.0, 50.0)


def geometric_sets() -> Iterator[Parameters]:
    for eps in EPS:
        for sensitivity_steps in (1.0, 10.0, 1e6):
            yield Parameters("discrete_laplace", eps, sensitivity_steps)
        yield Parameters("laplace", eps, 3.0)
    yield Parameters("discrete_laplace", 1.0, 2.0**53)
    yield Parameters("discrete_laplace", 2.0**-40, 8000.0)
    yield Parameters("discrete_laplace", 700.0, 1.0)


def staircase_sets() -> Iterator[Parameters]:
    for eps in EPS:
        for sensitivity_steps, shapes in ((1.0, (1.0,)), (10.0, (1.0, "l1", 10.0)), (1e6, ("l2",))):
            for shape in shapes:
                yield Parameters("discrete_staircase", eps, sensitivity_steps, shape)
    for eps in (0.1, 4.0, 20.0):
        yield Parameters("staircase", eps, 1.0, "l1")
        yield Parameters("discrete_staircase", eps, 1e6, 1.0)
    yield Parameters("staircase", 27.5, 0.1, "l2")
    yield Parameters("discrete_staircase", 1.0, 2.0**53, "l2")
    yield Parameters("discrete_staircase", 700.0, 10.0, 10.0)


def entry(eps_bits: str, where: Lattice, edges: list[int], seed: int) -> dict[str, Any]:
    """All cases of some edges of one mechanism."""
    target = mechanism(float_of(eps_bits), where)
    choose = random.Random(seed)
    tail_is_short = below(target, Fraction(1, 2**2000), LARGEST)  # otherwise a word of zeros would take all 8192 words
    cases = []
    for edge in edges:
        for bits, extension in around(target, edge):
            if bits == 0 and not any(extension) and not tail_is_short:
                continue
            word = bits + SIGN * choose.randrange(2)
            value, words = draw.listed(target, word, extension)
            cases.append([word_hex(word), [f"{e:x}" for e in extension], words - 1, value])
    found = {"eps": eps_bits, "cells": where.sensitivity_steps, "r": where.r}
    return found | {"edges": edges, "seed": seed, "cases": cases}


def entries(sets: Iterator[Parameters], edges_each: int) -> Iterator[dict[str, Any]]:
    for seed, parameters in enumerate(sets):
        where = lattice(*parameters)
        edges = _edges(mechanism(parameters.eps, where), where, edges_each, random.Random(seed))
        yield entry(float_bits(parameters.eps), where, edges, seed)


def around(target: Mechanism, edge: int) -> Iterator[tuple[int, list[int]]]:
    """(63 bits, extension words) below, at and above S(edge)."""
    bits, first, second = _expansion(target, edge)
    if bits > 0:
        yield bits - 1, [ONES, ONES]
    if bits + 1 < SIGN:
        yield bits + 1, []
    yield bits, []
    yield bits, [ONES]
    yield bits, [first]
    yield bits, [first, ONES]
    if first > 0:
        yield bits, [first - 1, ONES]
    if first < ONES:
        yield bits, [first + 1]
    yield bits, [first, second]
    if second < ONES:
        yield bits, [first, second + 1]


def _expansion(target: Mechanism, edge: int) -> tuple[int, int, int]:
    scaled = intervals.floor(lambda: target.survival(edge) * 2**191)
    return scaled >> 128, scaled >> 64 & ONES, scaled & ONES


def _edges(target: Mechanism, where: Lattice, count: int, choose: random.Random) -> list[int]:
    """First, last and stair edges, edges deep in the tail, then random ones, up to `count`."""
    last = magnitude(target, Fraction(1, 2**63))
    if last <= count:
        return list(range(1, last + 2))
    stairs = (
        [where.r - 1, where.r, where.r + 1, where.r + where.sensitivity_steps]
        if where.r
        else [where.sensitivity_steps, where.sensitivity_steps + 1]
    )
    found = {1, 2, last, last + 1, *stairs, *(magnitude(target, v) for v in DEEP)}
    found = {edge for edge in found if 1 <= edge <= LARGEST}
    while len(found) < count:
        found.add(magnitude(target, Fraction(choose.getrandbits(63) | 1, 2**63)) or 1)
        found.add(choose.randrange(1, last + 1))
    return sorted(found)
