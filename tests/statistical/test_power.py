"""The checks accept a correct sampler, and each check rejects the mistakes that it is made for.

False alarms: at most one in a million for each check of the right sampler when the seed changes; none while it stays.
Their power depends on the samplers here and on 4 million draws, not on the library, so only long runs have these tests.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from tests.oracles import moments
from tests.oracles.survival import Staircase
from tests.statistical import checks, mutants
from tests.statistical.summary import Summary

pytestmark = pytest.mark.long

ALPHA = 1e-6
EPS, CELLS, FIRST = 1.0, 5, 2
TOTAL = 4_000_000
TOTAL_FOR_TAIL = 20_000_000  # probability 2^-20 expects 19 draws, so 0 draws are rejected
CHUNK = 1_000_000


@cache
def summary(sampler: Callable[..., mutants.Integers]) -> Summary:
    rng = np.random.default_rng(2024)
    total = TOTAL_FOR_TAIL if sampler is mutants.short_uniform else TOTAL

    def chunks() -> Iterator[mutants.Integers]:
        for _ in range(total // CHUNK):
            yield sampler(rng, CHUNK, EPS, CELLS, FIRST)

    return Summary(Staircase(Fraction(EPS), CELLS, FIRST), total).gather(chunks())


def distribution(drawn: Summary) -> None:
    checks.check_distribution(drawn.counts, drawn.grid.probabilities, ALPHA)


def zero(drawn: Summary) -> None:
    checks.check_share(drawn.zeros, drawn.total, float(moments.pmf(drawn.mechanism, 0)), ALPHA)


def symmetry(drawn: Summary) -> None:
    checks.check_symmetry(drawn.counts, ALPHA)


def tail(drawn: Summary) -> None:
    checks.check_share(drawn.beyond, drawn.total, float(moments.survival(drawn.mechanism, drawn.far)), ALPHA)


def loss_at_most(drawn: Summary) -> None:
    lower, upper, _ = drawn.pairs
    checks.check_loss_at_most(lower, upper, EPS, ALPHA)


def loss_equals(drawn: Summary) -> None:
    lower, upper, nonnegative = drawn.pairs
    checks.check_loss_equals(lower[nonnegative], upper[nonnegative], EPS, ALPHA)


def mean_absolute(drawn: Summary) -> None:
    checks.check_mean(drawn.mean(1), drawn.expectation(1), drawn.standard_error(1), ALPHA)


def mean_square(drawn: Summary) -> None:
    checks.check_mean(drawn.mean(2), drawn.expectation(2), drawn.standard_error(2), ALPHA)


CHECKS = (distribution, zero, symmetry, tail, loss_at_most, loss_equals, mean_absolute, mean_square)

REJECTED_BY = {
    mutants.stairs_exchanged: (distribution, zero, mean_absolute),
    mutants.zero_twice: (distribution, zero, loss_at_most, loss_equals, mean_absolute),
    mutants.zero_missing: (distribution, zero, loss_equals, mean_absolute),
    mutants.redraw_keeps_sign: (distribution, zero, symmetry),
    mutants.short_uniform: (tail,),
    mutants.smaller_noise: (distribution, zero, loss_at_most, loss_equals, mean_absolute, mean_square),
    mutants.larger_noise: (distribution, zero, loss_equals, mean_absolute, mean_square),
}


@pytest.mark.parametrize("check", CHECKS)
def test_right_sampler_passes(check: Callable[[Summary], None]) -> None:
    check(summary(mutants.right))


@pytest.mark.parametrize(("mutant", "check"), [(mutant, check) for mutant, found in REJECTED_BY.items() for check in found])
def test_mutant_is_rejected(mutant: Callable[..., mutants.Integers], check: Callable[[Summary], None]) -> None:
    with pytest.raises(AssertionError, match=r"probability .* under the mechanism"):
        check(summary(mutant))


def test_every_check_rejects_something() -> None:
    assert {check for found in REJECTED_BY.values() for check in found} == set(CHECKS)
