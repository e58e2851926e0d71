"""400 000 vectors of each mechanism through the public API, seeds fixed, against exact probabilities and moments.

Evidence: the whole mechanism in two dimensions (chi-square over pieces of the stairs), the mechanism of the norm, uniformity on
its spheres, moments of coordinates, and the privacy loss across a shift of one sensitivity. False alarms: at most one in a
million for each test (ALPHA, or its parts together), 2e-6 where a test has two, 1e-4 for the module when the seeds change; none
while they stay.
"""

import math
from functools import cache
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

import stairnoise as sn
from tests.combinations import in_full, rest_long
from tests.statistical import checks

ALPHA = 1e-6
TOTAL = in_full(400_000, 1_000_000)
NORMS = ("l1", "l2", "linf")
DIMS = (1, 2, 3, 4, 5, 10)
ORDER = {"l1": 1, "l2": 2, "linf": np.inf}


@cache
def mechanism(norm: str, dim: int) -> sn.MultivariateStaircase:
    return sn.MultivariateStaircase(1.5, 2.0, dim, 0.5, norm)  # type: ignore[arg-type]


@cache
def draws(norm: str, dim: int) -> NDArray[np.float64]:
    return mechanism(norm, dim).sample(TOTAL, rng=sn.SeededRng(1000 * dim + NORMS.index(norm)))


def pieces(norm: str, x: NDArray[np.float64], radius: float) -> NDArray[np.int64]:
    """Return the number of the piece that a point of the plane is in, or -1 far away.

    For the largest magnitude pieces are squares, for the sum of magnitudes too, turned by 45 degrees; for the Euclidean norm
    rings of one area, in eight sectors.
    """
    if norm == "l2":
        ring = np.floor(2 * (x**2).sum(axis=1) / radius**2).astype(np.int64)
        sector = np.floor((np.arctan2(x[:, 1], x[:, 0]) / np.pi + 1) * 4).astype(np.int64) % 8
        return np.where(ring < 200, 8 * ring + sector, -1)
    first, second = (x[:, 0] + x[:, 1], x[:, 0] - x[:, 1]) if norm == "l1" else (x[:, 0], x[:, 1])
    row, column = np.floor(first / radius).astype(np.int64) + 15, np.floor(second / radius).astype(np.int64) + 15
    inside = (row >= 0) & (row < 30) & (column >= 0) & (column < 30)
    return np.where(inside, 30 * row + column, -1)


@pytest.mark.parametrize("norm", NORMS)
def test_the_mechanism_in_the_plane(norm: str) -> None:
    """With gamma = 1/2 the stairs' edges are odd multiples of the central radius, so no edge crosses a square.

    None crosses a ring, because squares of odd numbers, doubled, are whole: the density is constant on every piece.
    """
    noise, radius = mechanism(norm, 2), 1.0
    found = pieces(norm, draws(norm, 2), radius)
    count = 1600 if norm == "l2" else 900
    if norm == "l2":
        ring = np.arange(200)
        centre = np.sqrt((ring + 0.5) / 2) * radius
        probabilities = np.repeat(noise.pdf(np.stack([centre, 0 * centre], axis=1)) * math.pi * radius**2 / 16, 8)
    else:
        index = (np.arange(30) - 15 + 0.5) * radius
        first, second = (axis.ravel() for axis in np.meshgrid(index, index, indexing="ij"))
        centres = np.stack([(first + second) / 2, (first - second) / 2] if norm == "l1" else [first, second], axis=1)
        probabilities = noise.pdf(centres) * radius**2 / (2 if norm == "l1" else 1)
    counts = np.bincount(found[found >= 0], minlength=count)
    rest = TOTAL - int(counts.sum())
    checks.check_distribution(np.append(counts, rest), np.append(probabilities, 1 - probabilities.sum()), ALPHA)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("norm", NORMS)
def test_the_mechanism_of_the_norm(norm: str, dim: int) -> None:
    size = np.linalg.norm(draws(norm, dim), ORDER[norm], axis=1)
    edges = mechanism(norm, dim).norm_ppf(np.linspace(0, 1, 201))
    counts, _ = np.histogram(size, edges)
    checks.check_distribution(counts, np.full(200, 1 / 200), ALPHA)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("norm", NORMS)
def test_moments_of_every_coordinate(norm: str, dim: int) -> None:
    noise, x = mechanism(norm, dim), draws(norm, dim)
    for i in range(dim):
        square = x[:, i] ** 2
        checks.check_mean(float(square.mean()), noise.var(), float(square.std()) / math.sqrt(TOTAL), ALPHA / dim)
        checks.check_mean(float(x[:, i].mean()), 0.0, noise.std() / math.sqrt(TOTAL), ALPHA / dim)


@pytest.mark.parametrize("dim", [3, 4, 5])
@pytest.mark.parametrize("norm", NORMS)
def test_uniform_in_the_ball(norm: str, dim: int) -> None:
    """Among vectors in the central step, all signs are equally likely, and so are all orders of the magnitudes."""
    x = draws(norm, dim)
    x = x[np.linalg.norm(x, ORDER[norm], axis=1) < 1.0]
    quadrant = (x > 0) @ (2 ** np.arange(dim))
    checks.check_distribution(np.bincount(quadrant, minlength=2**dim), np.full(2**dim, 2.0**-dim), ALPHA)
    digits = dim ** np.arange(dim)
    orders = np.sort(np.array(list(permutations(range(dim)))) @ digits)
    counts = np.bincount(np.searchsorted(orders, np.argsort(np.abs(x), axis=1) @ digits), minlength=orders.size)
    checks.check_distribution(counts, np.full(orders.size, 1 / orders.size), ALPHA)


@pytest.mark.parametrize("dim", rest_long([3, 10], [3, 4, 5, 10]))
def test_the_round_mechanism_looks_alike_from_everywhere(dim: int) -> None:
    """Fourth moments along coordinates and along directions that no construction favours."""
    x = draws("l2", dim)
    random = np.random.default_rng(3)
    fourth = [(np.mean(x[:, i] ** 4), np.std(x[:, i] ** 4)) for i in (0, dim - 1)]
    for _ in range(3):
        direction = random.standard_normal(dim)
        turned = (x @ (direction / np.linalg.norm(direction))) ** 4
        fourth.append((turned.mean(), turned.std()))
    # E (u·X)^4 = 3 E R^4/(d(d + 2)) for all unit vectors u.
    expected = 3 * mechanism("l2", dim).expected_norm(4) / (dim * (dim + 2))
    for mean, std in fourth:
        checks.check_mean(float(mean), expected, float(std) / math.sqrt(TOTAL), ALPHA / 5)


@pytest.mark.parametrize("norm", NORMS)
def test_privacy_loss_across_a_shift(norm: str) -> None:
    """Probabilities of small boxes and of the boxes one sensitivity away differ by at most the factor e^eps."""
    noise, x = mechanism(norm, 2), draws(norm, 2)
    shift = np.array([0.6, -1.4]) if norm == "l1" else np.array([2.0, 0.0]) if norm == "l2" else np.array([2.0, -2.0])
    edges = np.arange(-6, 6.01, 0.5)
    here, _, _ = np.histogram2d(x[:, 0], x[:, 1], (edges, edges))
    there, _, _ = np.histogram2d(x[:, 0] + shift[0], x[:, 1] + shift[1], (edges, edges))
    first, second = here.ravel().astype(np.int64), there.ravel().astype(np.int64)
    checks.check_loss_at_most(first, second, noise.eps, ALPHA)
    checks.check_loss_at_most(second, first, noise.eps, ALPHA)
