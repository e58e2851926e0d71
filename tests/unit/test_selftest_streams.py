"""The self-test's checks of keys, words, generators and instruction sets: each fails when what it checks is wrong.

Draws are seeded, so that outcomes are the same in every run; checks of fresh keys fail by chance with probability below 2**-200.
"""

import copy
import json
import os
import re

import numpy as np
import pytest

import stairnoise as sn
from stairnoise._selftest import contract, generators, instruction_sets, known_answers, laws, random_words
from tests.unit.selftest_outcomes import failed, failures, run

# Known answers


@pytest.fixture
def answers(monkeypatch):
    """A copy of the answers that a test may spoil."""
    mine = copy.deepcopy(known_answers.answers())
    monkeypatch.setattr(known_answers, "answers", lambda: mine)
    return mine


def spoil(value):
    return value + 1 if isinstance(value, int) else float(np.nextafter(np.float32(value), np.float32(1e38)))


@pytest.mark.parametrize(("kind", "where"), [("draws", "values"), ("selections", "values"), ("releases", "outputs")])
def test_one_wrong_answer_is_found(answers, kind, where):
    for law in {entry["law"] for entry in answers[kind]}:
        entry = next(entry for entry in answers[kind] if entry["law"] == law and entry["values"])
        place = entry[where] if where == "values" else next(iter(entry[where].values()))
        before, place[-1] = place[-1], spoil(place[-1])
        name = f"{law}: {kind if kind != 'draws' else 'values'}"
        assert failures(run("known answers", f"^{name}")) == {name}
        place[-1] = before
        outcome = run("known answers", f"^{name}")[name] if law == "Laplace" else None
        assert outcome is None or not failed(outcome)


def test_a_negative_zero_is_not_zero(answers):
    entry = next(entry for entry in answers["releases"] if entry["law"] == "Laplace")
    entry["outputs"] = {dtype: [0.0 * x for x in output] for dtype, output in entry["outputs"].items()}
    outcome = known_answers._check([entry], lambda e: ([-0.0], [0.0]))
    assert (outcome.statistic, outcome.limit) == (1, 0)


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


def test_a_law_that_draws_otherwise_is_found(monkeypatch):
    right = sn.Laplace.sample
    monkeypatch.setattr(sn.Laplace, "sample", lambda self, *a, **k: right(self, *a, **k) + self.granularity)
    assert failures(run("known answers", "Laplace: ")) == {"Laplace: values"}


# Random words


def test_a_wrong_cipher_is_found(monkeypatch):
    monkeypatch.setattr(contract, "_ROUNDS", 13)
    assert failures(run("random words", "pure Python")) == {
        "AES-256: pure Python against FIPS-197 and NIST SP 800-38A",
        "AES-256: words of a fresh key against pure Python",
        "AES-256: children of a fresh key against pure Python",
        "DiscreteLaplace under a fresh key against pure Python",
    }


def test_a_library_with_another_key_is_found(monkeypatch):
    """As if the last byte of the key were not used."""
    right = sn.SecureRng.from_key
    monkeypatch.setattr(sn.SecureRng, "from_key", lambda key: right(key[:-1] + bytes([key[-1] ^ 1])))
    assert len(failures(run("random words", "fresh key"))) == 3


def test_a_fill_that_is_counted_wrongly_is_found(monkeypatch):
    monkeypatch.setattr(
        contract.Key, "word", lambda self, fill, index: contract._lane(self.block(0, 0, 1, index // 2), index % 2)
    )
    assert "AES-256: words of a fresh key against pure Python" in failures(run("random words", "fresh key"))


def fair() -> np.ndarray:
    return np.random.Generator(np.random.PCG64DXSM(3)).integers(2**16, size=2**18, dtype=np.uint16)


def test_statistics_accept_fair_bits():
    assert not failed(random_words.statistics(fair()))


def biased(words):
    """Bit 52 is set with probability 17/32."""
    return words | ((words >> 1 & words >> 2 & words >> 4 & words >> 7) & 2**4)


def sticky(words):
    """One bit of one word in 16 is that of the word before."""
    rare = np.arange(words.size) % 16 == 0
    return np.where(rare, words ^ (words ^ np.roll(words, 1)) & 4, words).astype(np.uint16)


def stuttering(words):
    """One word in 16 is the one before."""
    rare = np.arange(words.size) % 16 == 0
    return np.where(rare, np.roll(words, 1), words).astype(np.uint16)


def without_a_byte(words):
    return np.where(words >> 8 == 77, words ^ (1 << 8), words).astype(np.uint16)


def two_halves_alike(words):
    return np.concatenate([words[: words.size // 2]] * 2)


def alternating(words):
    return np.full_like(words, 0x5555) ^ np.where(np.arange(words.size) % 2, 0xFFFF, 0).astype(np.uint16)


@pytest.mark.parametrize(
    ("weaken", "finding"),
    [
        (biased, "ones in bit 52"),
        (sticky, "bit 50 equal to that of the word 1 before"),
        (stuttering, "serial"),
        (without_a_byte, "top byte 77"),
        (two_halves_alike, "equal to that of the word 131072 before"),
        (alternating, "differ from the next|word 1 before|word 2 before|byte"),
        (lambda words: words | 1 << 15, "ones in bit 63"),
    ],
)
def test_statistics_find_a_weak_stream(weaken, finding):
    outcome = random_words.statistics(weaken(fair()))
    assert failed(outcome)
    assert re.search(finding, outcome.detail)


# Generators


def test_repeated_draws_are_found():
    assert failed(generators.distinct([(1, 2), (3, 4), (1, 2)]))
    assert not failed(generators.distinct([(1, 2), (3, 4), (1, 3)]))


def test_generators_that_are_all_the_same_are_found(monkeypatch):
    monkeypatch.setattr(sn, "SecureRng", lambda: sn.SeededRng(0))
    assert failed(generators.distinct(generators._new_ones()))


def test_a_reseed_that_does_nothing_is_found(monkeypatch):
    monkeypatch.setattr(sn.SecureRng, "reseed", lambda self: self.__init__())
    assert not failed(generators.distinct(generators._reseeded()))
    monkeypatch.setattr(sn.SecureRng, "reseed", lambda self: setattr(self, "_held", sn.SecureRng.from_key(bytes(32))._stream))
    assert failed(generators.distinct(generators._reseeded()))


def test_children_that_repeat_are_found(monkeypatch):
    right = sn.SeededRng.spawn
    monkeypatch.setattr(sn.SeededRng, "spawn", lambda self, k: right(self.at(0), k))  # a view, whose count of children is lost
    assert failed(generators.distinct(generators._family(sn.SeededRng(0))))


def test_entropy_that_repeats_or_is_missing_is_found(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda n: b"\1" * n)
    assert failed(generators.check_entropy())
    fresh = iter(range(10**6))
    monkeypatch.setattr(os, "urandom", lambda n: bytes(n) if (i := next(fresh)) == 5 else i.to_bytes(n, "big"))
    assert failed(generators.check_entropy())


def test_copies_that_are_allowed_are_found(monkeypatch):
    assert not failed(generators.check_copies())
    monkeypatch.setattr(sn.SecureRng, "__copy__", lambda self: self, raising=False)
    outcome = generators.check_copies()
    assert (outcome.statistic, outcome.detail) == (2, "2 accepted")


def test_seeds_that_are_allowed_are_found(monkeypatch):
    assert not failed(generators.check_seeds())
    monkeypatch.setattr(sn.ExponentialMechanism, "select", sn.ExponentialMechanism.sample)
    assert failed(generators.check_seeds())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forks_that_repeat_are_found(monkeypatch):
    """A key from outside is the parent's in the child too, by its contract."""
    found = json.loads(generators.run_main("stairnoise._selftest.generators"))
    assert len(found) == 2 + 8 * 10 + 10
    monkeypatch.setattr(generators, "run_main", lambda module: json.dumps([*found, found[5]]))
    assert failed(generators.distinct(generators._forked()))


def test_what_a_process_draws_is_all_it_has():
    drawn = generators.draws([sn.SeededRng(0), sn.SeededRng(1)])
    assert len({tuple(words) for words in drawn}) == 4


# Instruction sets


@pytest.fixture(scope="module")
def drawn():
    return json.loads(generators.run_main("stairnoise._selftest.instruction_sets", STAIRNOISE_CPU="portable"))


def test_digests_that_differ_are_found(drawn):
    assert not failed(instruction_sets.compare_tiers(drawn, drawn))
    assert not failed(instruction_sets.compare_threads(drawn))
    for law in drawn["digests"]:
        other = copy.deepcopy(drawn)
        name = next(iter(other["digests"][law]))
        other["digests"][law][name] = "0" * 64
        outcome = instruction_sets.compare_tiers(drawn, other)
        assert (outcome.statistic, outcome.detail) == (1, law)
        other["digests"][law]["2 threads"] = "0" * 64
        assert law in instruction_sets.compare_threads(other).detail
    del other["digests"][law]
    assert law in instruction_sets.compare_tiers(drawn, other).detail


def test_digests_depend_on_every_value(drawn, monkeypatch):
    law = laws.laws()[0]
    counter = instruction_sets.Digests(1)
    assert counter._digest(instruction_sets.of_fills(law, 0)) == drawn["digests"][laws.short(law)]["fills"]
    assert counter._digest(instruction_sets.of_fills(law, 1)) != drawn["digests"][laws.short(law)]["fills"]
    assert counter.values == 2 * 2 * sum(instruction_sets.LENGTHS)


def test_another_tier_than_was_asked_for_is_an_error(monkeypatch):
    monkeypatch.setattr(
        instruction_sets, "run_main", lambda module, **environment: json.dumps({"tier": "other", "file": "x", "digests": {}})
    )
    with pytest.raises(RuntimeError, match="was asked for"):
        instruction_sets._draw("portable", {})
    report = sn.selftest(subjects=["instruction sets"])
    assert len(report.failures) == len(report.checks)


def test_a_process_that_fails_says_why():
    with pytest.raises(RuntimeError, match=r"instruction_sets in another process: .*STAIRNOISE_CPU"):
        generators.run_main("stairnoise._selftest.instruction_sets", STAIRNOISE_CPU="abacus")
