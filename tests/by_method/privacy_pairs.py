"""Oracles for the privacy of one release and of many: neighbours' distributions as lists of (P, Q), and measures of them.

The oracles do not use that losses have three values: they shift the probabilities of the noise, and sum.
"""

import itertools

import mpmath as mp

import stairnoise as sn

TOLERANCE = 1e-12
# The probability that the sums leave out.
TRUNCATED = 1e-30


def close(value, exact, tolerance=TOLERANCE, floor=2.0**-1022):
    return abs(mp.mpf(value) - exact) <= tolerance * abs(exact) + floor


def pmf(mechanism):
    """Return the probability of an integer by the formula that the class documents."""
    eps, D = mp.mpf(mechanism.eps), mechanism.sensitivity
    if isinstance(mechanism, sn.DiscreteLaplace):
        ratio = mp.exp(-eps / D)
        return lambda i: (1 - ratio) / (1 + ratio) * ratio ** abs(i)
    b = mp.exp(-eps)
    height = (1 - b) / (2 * mechanism.r + 2 * b * (D - mechanism.r) - (1 - b))
    return lambda i: height * b ** (0 if abs(i) < mechanism.r else (abs(i) - mechanism.r) // D + 1)


def lattice_pair(mechanism):
    """Return (P, Q) at every integer with a probability of 1e-30 or more, around 0 and around Δ."""
    probability = pmf(mechanism)
    reach = int(mechanism.sensitivity * (80 / mechanism.eps + 2)) + 2
    return [(probability(i), probability(i - mechanism.sensitivity)) for i in range(-reach, reach + mechanism.sensitivity + 1)]


def staircase_pair(eps, gamma):
    """Return (P, Q) on every interval where both densities of a staircase with Δ = 1 are constant; tails in whole steps."""
    eps, gamma = mp.mpf(eps), mp.mpf(gamma)
    b = mp.exp(-eps)
    height = (1 - b) / (2 * (gamma + b * (1 - gamma)))

    def density(x):
        return height * b ** (0 if abs(x) < gamma else mp.floor(abs(x) - gamma) + 1)

    reach = int(80 / eps) + 3
    edges = sorted({sign * (gamma + m) + shift for sign in (1, -1) for m in range(reach) for shift in (0, 1)})
    middles = [((left + right) / 2, right - left) for left, right in itertools.pairwise(edges) if right - left > 1e-40]
    return [(density(x) * width, density(x - 1) * width) for x, width in middles]


def merged(pair):
    """Merge outcomes of equal likelihood ratio, which changes no test and no divergence."""
    total = {}
    for p, q in pair:
        key = round(mp.log(p / q), 25)
        a, b = total.get(key, (0, 0))
        total[key] = (a + p, b + q)
    return list(total.values())


def product(pair, k):
    """Return the product distribution, outcome by outcome."""
    result = [(mp.mpf(1), mp.mpf(1))]
    for _ in range(k):
        result = merged([(p * u, q * v) for p, q in result for u, v in pair])
    return result


def hockey_stick(pair, eps):
    return mp.fsum(max(p - mp.exp(mp.mpf(eps)) * q, 0) for p, q in pair)


def renyi(pair, alpha):
    if alpha == 1:
        return mp.fsum(p * mp.log(p / q) for p, q in pair)
    return mp.log(mp.fsum(p ** mp.mpf(alpha) * q ** (1 - mp.mpf(alpha)) for p, q in pair)) / (mp.mpf(alpha) - 1)


def neyman_pearson(pair, alpha):
    """Return the minimum miss probability: alarms go to the largest P/Q first, and proportionally at the last ratio."""
    left, missed = mp.mpf(alpha), mp.mpf(1)
    for p, q in sorted(pair, key=lambda pq: pq[1] / pq[0]):
        share = min(1, left / q)
        left -= share * q
        missed -= share * p
    return max(missed, 0)


DISCRETE = [
    sn.DiscreteLaplace(0.3),
    sn.DiscreteLaplace(1, 2),
    sn.DiscreteLaplace(1, 5),
    sn.DiscreteLaplace(6, 7),
    sn.DiscreteStaircase(1, 5, 2),
    sn.DiscreteStaircase(0.5, 4, 4),
    sn.DiscreteStaircase(3, 6, 1),
    sn.DiscreteStaircase(8, 9),
]
GAMMAS = [(0.4, 0.25), (1.0, 0.5), (2.0, 0.1), (5.0, 0.75), (1.5, 1.0)]
CASES = [(mechanism.privacy_loss(), lattice_pair, (mechanism,), repr(mechanism)) for mechanism in DISCRETE] + [
    (sn.Staircase(eps, 3.0, gamma).privacy_loss(lattice=False), staircase_pair, (eps, gamma), f"Staircase({eps}, {gamma})")
    for eps, gamma in GAMMAS
]
