"""Residues of many parties add up, for mechanisms, answers and moduli that Hypothesis chooses.

Evidence: sums in Python's integers of answers and of noise of the same keys. Deterministic: no false alarms.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import stairnoise as sn

moduli = st.one_of(
    st.integers(2, 2**64), st.integers(2, 20), st.integers(0, 64).map(lambda bits: max(2, 2**bits)), st.integers(2**63, 2**64)
)
answers = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-5, 5), st.sampled_from([-(2**63), 2**63 - 1]))
parties = st.one_of(
    st.builds(lambda mu, n: sn.Skellam(mu).share(n), st.floats(1, 2**20), st.integers(1, 50)),
    st.builds(lambda eps, n: sn.MultiScaleDiscreteLaplace(eps, 2).share(n), st.floats(0.1, 5), st.integers(1, 50)),
    st.builds(sn.DiscreteLaplace, st.floats(2.0**-38, 5), st.integers(1, 2**14)),
    st.builds(sn.DiscreteGaussian, st.floats(0.5, 2.0**90)),
)


@given(party=parties, rows=st.lists(st.lists(answers, min_size=3, max_size=3), min_size=1, max_size=6), m=moduli)
def test_residues_add_up_to_the_residue_of_the_sum(party, rows, m):
    total, truth = [0] * 3, [0] * 3
    for seed, row in enumerate(rows):
        noise = party.sample(3, rng=sn.SeededRng(seed))
        residues = party.release_modulo(row, m, rng=sn.SeededRng(seed, allow_release=True))
        assert all(0 <= residue < m for residue in residues.tolist())
        total = [a + b for a, b in zip(total, residues.tolist(), strict=True)]
        truth = [a + b + int(x) for a, b, x in zip(truth, row, noise, strict=True)]
    assert [a % m for a in total] == [a % m for a in truth]
    read = sn.centered_residue(total, m)
    for found, sum_ in zip(read.tolist(), truth, strict=True):
        assert (found - sum_) % m == 0
        assert -(m // 2) <= found <= (m - 1) // 2
        assert found == sum_ or not -(m // 2) <= sum_ <= (m - 1) // 2


@given(values=st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20), m=moduli)
def test_centering_adds_a_multiple_of_the_modulus(values, m):
    for array in (values, np.array(values, np.uint64), np.array(values, np.uint64).view(np.int64)):
        plain = array if isinstance(array, list) else array.tolist()
        found = sn.centered_residue(array, m).tolist()
        assert all((a - b) % m == 0 and -(m // 2) <= a <= (m - 1) // 2 for a, b in zip(found, plain, strict=True))
