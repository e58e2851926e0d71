"""DiscreteLaplace: its distribution functions.

Evidence: 500-digit arithmetic on the definition. Deterministic: no false alarms.
"""

from fractions import Fraction

import mpmath as mp
import pytest

import stairnoise as sn
from tests.by_mechanism.definitions import EPS, StairOracle, check_lattice
from tests.combinations import looped

pytestmark = pytest.mark.usefixtures("many_digits")


@looped("eps", EPS[1:])
@looped("D", [1, 3, 1000])
def test_discrete_laplace(eps, D):
    mechanism = sn.DiscreteLaplace(eps, D)
    oracle = StairOracle(mp.mpf(eps) / D, 1, Fraction(1, 2))
    for i in (0, 1, 2, *(int(D * f / eps) for f in (0.3, 1.1, 17.3, 333.3, 700))):
        check_lattice(mechanism, oracle, i)
        check_lattice(mechanism, oracle, -i)
