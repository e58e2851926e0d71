"""The self-test's known answers are the golden vectors, and a wrong answer is found."""

import copy
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from stairnoise._selftest import known_answers
from tests.oracles.generate import known_answers as generated
from tests.selftest.outcomes import failed, failures, run

# Shipped answers

# The file of the tested package, which can be installed outside the checkout.
SHIPPED = Path(known_answers.__file__).parents[1] / "data" / "known_answers.json"


def test_shipped_answers_are_made_of_the_vectors():
    """The file is equal byte for byte; `python -m tests.oracles.generate known_answers` writes it."""
    assert SHIPPED.read_text(encoding="utf-8") == generated.text()


def test_shipped_answers_stay_small():
    assert SHIPPED.stat().st_size < 200 * 1024


def test_an_answer_too_few_is_an_error():
    with pytest.raises(ValueError, match=r"^1 values instead of 2 for \{'law': 'x'\}$"):
        known_answers._check([{"law": "x"}], lambda entry: ([1.0], [1.0, 2.0]))


def test_known_answers_beyond_float64_saturate():
    largest = np.finfo(np.float64).max
    assert [known_answers.rounded(sign * Fraction(10) ** 400) for sign in (1, -1)] == [largest, -largest]
    assert known_answers.rounded(Fraction(1, 3)) == 1 / 3


# One wrong answer


@pytest.fixture
def answers(monkeypatch):
    """A copy of the answers that a test can spoil."""
    mine = copy.deepcopy(known_answers.answers())
    monkeypatch.setattr(known_answers, "answers", lambda: mine)
    return mine


def spoil(value):
    return value + 1 if isinstance(value, int) else float(np.nextafter(np.float32(value), np.float32(1e38)))


@pytest.mark.parametrize(("kind", "where"), [("draws", "values"), ("selections", "values"), ("releases", "outputs")])
def test_one_wrong_answer_is_found(answers, kind, where):
    for mechanism in {entry["law"] for entry in answers[kind]}:
        entry = next(entry for entry in answers[kind] if entry["law"] == mechanism and entry["values"])
        place = entry[where] if where == "values" else next(iter(entry[where].values()))
        before, place[-1] = place[-1], spoil(place[-1])
        name = f"{mechanism}: {kind if kind != 'draws' else 'values'}"
        assert failures(run("known answers", f"^{name}")) == {name}
        place[-1] = before
        outcome = run("known answers", f"^{name}")[name] if mechanism == "Laplace" else None
        assert outcome is None or not failed(outcome)


def test_a_negative_zero_is_not_zero(answers):
    entry = next(entry for entry in answers["releases"] if entry["law"] == "Laplace")
    entry["outputs"] = {dtype: [0.0 * x for x in output] for dtype, output in entry["outputs"].items()}
    outcome = known_answers._check([entry], lambda e: ([-0.0], [0.0]))
    assert outcome.mismatches == 1


def test_a_wrong_word_or_child_is_found(answers):
    word = answers["words"][3]["words"][2]
    word[2] = f"{int(word[2], 16) ^ 1 << 63:016x}"
    assert failures(run("known answers", "AES")) == {"AES-256: words", "AES-256: words, by pure Python"}
    word[2] = f"{int(word[2], 16) ^ 1 << 63 ^ 1:016x}"
    assert failures(run("known answers", "AES")) == {"AES-256: words, by pure Python"}
    child = answers["words"][2]["children"][0]
    child[1] = f"{int(child[1], 16) ^ 1:064x}"
    assert "AES-256: children of keys" in failures(run("known answers", "AES"))


def test_a_wrong_lattice_is_found(answers):
    entry = next(entry for entry in answers["draws"] if entry["law"] == "Staircase")
    entry["log2_g"] += 1
    assert failures(run("known answers", "^(Staircase|Laplace)")) == {"Staircase: values"}


def test_a_mechanism_that_draws_otherwise_is_found(monkeypatch):
    right = sn.Laplace.sample
    monkeypatch.setattr(sn.Laplace, "sample", lambda self, *a, **k: right(self, *a, **k) + self.granularity)
    assert failures(run("known answers", "Laplace: ")) == {"Laplace: values"}
