"""MultivariateStaircase in thousands of dimensions: the work of a vector."""

import subprocess
import sys

import pytest

# Half a second's work. With the order of a vector's numbers found again for every coordinate it would be minutes, and at least in one case hours.
PROGRAM = """
import stairnoise as sn
for dim, eps, count in [(256, 0.006, 200), (1024, 1.0, 100), (1024, 0.02, 50), (4096, 0.0645, 10), (100_000, 1.6, 3), (100_000, 1e5, 3)]:
    for norm in ("l1", "l2", "linf"):
        noise = sn.MultivariateStaircase(eps, 1.0, dim, 0.5, norm).sample(count, rng=sn.SeededRng(1))
        assert noise.shape == (count, dim)
"""


def test_the_work_of_a_vector_does_not_grow_with_the_square_of_its_length() -> None:
    """No test of speed: the bound is a hundred times what it takes."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)
