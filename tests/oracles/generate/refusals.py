"""refused.json: parameters at the ends of the ranges of truncated and multi-scale mechanisms, and whether the contract
refuses them.
"""

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tests.oracles import infinitely_divisible, truncated_laplace
from tests.oracles.generate.encoding import decoded, encoded
from tests.oracles.lattice import Refused

UP, DOWN = math.inf, -math.inf
# g is 2**-33, so that a bound of 2**29 has 2**62 steps.
FAR = 2.0**29
TRUNCATED: tuple[tuple[float, float, float, float | None, float | None], ...] = (
    *((1.0, delta, 1.0, None, None) for delta in (0.5, math.nextafter(0.5, UP), 2.0**-128, math.nextafter(2.0**-128, DOWN), 0.0)),
    *((1.0, 0.45, 1.0, lower, None) for lower in (-1.0, math.nextafter(-1.0, UP), math.nextafter(-1.0, DOWN), -0.0, 1.0, 2.0)),
    *((1.0, 0.45, 1.0, None, upper) for upper in (1.0, math.nextafter(1.0, DOWN), math.nextafter(1.0, UP), 0.0, -1.0, -2.0)),
    *((1.0, 0.01, 1.0, lower, None) for lower in (-FAR, math.nextafter(-FAR, UP), -2.0 * FAR)),
    *((1.0, 0.01, 1.0, None, upper) for upper in (FAR, math.nextafter(FAR, DOWN), UP)),
    # 0.1 is no whole number of steps: the bound has one step fewer than D.
    (1.0, 0.45, 0.1, -0.1, None),
    (1.0, 0.45, 0.1, -0.1, 0.1),
    (1.0, 0.4, 1.0, -1.0, 1.0),
    (1.0, 0.05, 1.0, None, 1.0),
)
MULTI_SCALE: tuple[tuple[float, int, int, int], ...] = tuple(
    (eps, sensitivity, n_parties, 1)
    for n_parties in (1, 2)
    for eps, sensitivity in (
        (2.0**-11, 1),
        (math.nextafter(2.0**-11, DOWN), 1),
        (2.0**10, 1),
        (math.nextafter(2.0**10, UP), 1),
        (1.0, 2**16),
        (1.0, 2**16 + 1),
    )
)


def check(mechanism: str, arguments: list[Any]) -> None:
    """Refuse what the contract refuses."""
    if mechanism == "truncated_laplace":
        eps, delta, sensitivity, lower, upper = arguments
        truncated_laplace.mechanism(eps, delta, sensitivity, lower, upper)
    else:
        eps, sensitivity, n_parties, present = arguments
        infinitely_divisible.check_multi_scale(eps, sensitivity, Fraction(present, n_parties))


def entry(inputs: dict[str, Any]) -> dict[str, Any]:
    """The mechanism and its arguments, completed by the oracle."""
    try:
        check(inputs["law"], decoded(inputs["arguments"]))
    except Refused:
        return inputs | {"refused": True}
    return inputs | {"refused": False}


def entries() -> Iterator[dict[str, Any]]:
    for mechanism, cases in (("truncated_laplace", TRUNCATED), ("multi_scale_discrete_laplace", MULTI_SCALE)):
        for arguments in cases:
            yield entry({"law": mechanism, "arguments": encoded(arguments)})
