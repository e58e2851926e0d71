"""`tests/combinations.py` returns all promised combinations, in few rows."""

from itertools import combinations, product

import pytest

from tests.combinations import in_turn, pairs


@pytest.mark.parametrize(
    ("lengths", "rows"), [((3,), 0), ((4, 6), 24), ((2, 2, 2), 4), ((11, 4, 6, 2), 66), ((20, 6, 3), 120), ((3, 3, 3, 3), 12)]
)
def test_pairs(lengths: tuple[int, ...], rows: int) -> None:
    lists = [[f"{n}{i}" for i in range(length)] for n, length in enumerate(lengths)]
    found = pairs(*lists)
    for i, j in combinations(range(len(lists)), 2):
        assert {(row[i], row[j]) for row in found} == set(product(lists[i], lists[j]))
    assert len(found) <= rows


def test_in_turn() -> None:
    assert in_turn("abc", [1, 2], iter("x")) == [("a", 1, "x"), ("b", 2, "x"), ("c", 1, "x")]
