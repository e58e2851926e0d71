"""The self-test: that it passes here, and that every one of its checks fails when what it checks is wrong.

Draws are seeded, so that outcomes are the same in every run; checks of fresh keys fail by chance with probability below 2**-200.
"""

import copy
import json
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import _selftest
from stairnoise._selftest import (
    aes256,
    contract,
    forking,
    generators,
    keystream,
    known_answers,
    laws,
    mechanisms,
    processes,
    tiers,
)
from stairnoise._selftest.report import Outcome, Planned, SelftestReport

ROOT = Path(__file__).resolve().parents[2]
SMALL = 2**14


def failed(outcome: Outcome) -> bool:
    return not outcome.statistic <= outcome.limit


def run(subject: str, names: str = "") -> dict[str, Outcome]:
    """The checks of a subject whose names match, by their names."""
    rng = sn.SeededRng(1, allow_release=True)
    return {check.name: check.run() for check in _selftest.SUBJECTS[subject](rng) if re.search(names, check.name)}


def failures(outcomes: dict[str, Outcome]) -> set[str]:
    return {name for name, outcome in outcomes.items() if failed(outcome)}


# All is right


@pytest.mark.parametrize("subject", ["known answers", "random words", "generators", "instruction sets"])
def test_a_subject_passes(subject):
    report = sn.selftest(subjects=[subject], seed=1)
    assert report.failures == ()
    assert report.passed
    assert {check.subject for check in report.checks} == {subject}
    assert all(check.values > 0 for check in report.checks)


def test_laws_pass_with_fewer_values(monkeypatch):
    monkeypatch.setattr(laws, "VALUES", SMALL)
    monkeypatch.setattr(laws, "_VECTOR_VALUES", SMALL)
    assert sn.selftest(subjects=["laws"], seed=1).failures == ()


@pytest.mark.long
def test_all_of_it_passes_with_the_operating_systems_keys():
    """Fails by chance with the probability that the report states, below 1e-7."""
    report = sn.selftest()
    assert report.failures == ()
    assert report.false_alarm < 1e-7
    assert report.seconds < 120  # twice what the documentation promises, for a busy machine


def test_every_mechanism_has_its_checks():
    """All classes with sample or select are drawn from, by law and by known answers, and every instruction set draws them."""
    classes = {name for name in sn.__all__ if isinstance(getattr(sn, name), type) and hasattr(getattr(sn, name), "sample")}
    assert len(classes) == 14
    by_law = {check.name.partition("(")[0] for check in laws.planned(None)}
    by_answer = {check.name.partition(":")[0] for check in known_answers.planned()}
    assert classes <= by_law
    assert classes <= by_answer
    tested = [*mechanisms.laws(), *mechanisms.vectors(), *(choice.mechanism for choice in mechanisms.choices())]
    assert {type(law).__name__ for law in tested} == classes


def test_releases_of_every_law_are_checked():
    releases = {check.name.partition("(")[0] for check in laws.planned(None) if "release" in check.name}
    assert {type(law).__name__ for law in (*mechanisms.laws(), *mechanisms.vectors())} <= releases


def test_a_seed_repeats_the_draws(monkeypatch):
    monkeypatch.setattr(keystream, "_WORDS", SMALL)
    monkeypatch.setattr(keystream, "_SHORT_FILLS", 2)
    one, two = (sn.selftest(subjects=["random words"], seed=7) for _ in range(2))
    assert [check.statistic for check in one.checks] == [check.statistic for check in two.checks]
    other = sn.selftest(subjects=["random words"], seed=8)
    assert [check.statistic for check in one.checks] != [check.statistic for check in other.checks]


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
    monkeypatch.setattr(aes256, "_ROUNDS", 13)
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
    assert not failed(keystream.statistics(fair()))


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
    outcome = keystream.statistics(weaken(fair()))
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
    monkeypatch.setattr(sn.SecureRng, "reseed", lambda self: setattr(self, "_stream", sn.SecureRng.from_key(bytes(32))._stream))
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
    found = json.loads(processes.run_main("stairnoise._selftest.forking"))
    assert len(found) == 2 + 8 * 10 + 10
    monkeypatch.setattr(generators, "run_main", lambda module: json.dumps([*found, found[5]]))
    assert failed(generators.distinct(generators._forked()))


def test_what_a_process_draws_is_all_it_has():
    drawn = forking.draws([sn.SeededRng(0), sn.SeededRng(1)])
    assert len({tuple(words) for words in drawn}) == 4


# Instruction sets


@pytest.fixture(scope="module")
def drawn():
    return json.loads(processes.run_main("stairnoise._selftest.digests", STAIRNOISE_CPU="portable"))


def test_digests_that_differ_are_found(drawn):
    assert not failed(tiers.compare_tiers(drawn, drawn))
    assert not failed(tiers.compare_threads(drawn))
    for law in drawn["digests"]:
        other = copy.deepcopy(drawn)
        name = next(iter(other["digests"][law]))
        other["digests"][law][name] = "0" * 64
        outcome = tiers.compare_tiers(drawn, other)
        assert (outcome.statistic, outcome.detail) == (1, law)
        other["digests"][law]["2 threads"] = "0" * 64
        assert law in tiers.compare_threads(other).detail
    del other["digests"][law]
    assert law in tiers.compare_tiers(drawn, other).detail


def test_digests_depend_on_every_value(drawn, monkeypatch):
    from stairnoise._selftest import digests

    law = mechanisms.laws()[0]
    counter = digests.Digests(1)
    assert counter._digest(digests.of_fills(law, 0)) == drawn["digests"][mechanisms.short(law)]["fills"]
    assert counter._digest(digests.of_fills(law, 1)) != drawn["digests"][mechanisms.short(law)]["fills"]
    assert counter.values == 2 * 2 * sum(digests.LENGTHS)


def test_another_tier_than_was_asked_for_is_an_error(monkeypatch):
    monkeypatch.setattr(
        tiers, "run_main", lambda module, **environment: json.dumps({"tier": "other", "file": "x", "digests": {}})
    )
    with pytest.raises(RuntimeError, match="was asked for"):
        tiers._draw("portable", {})
    report = sn.selftest(subjects=["instruction sets"])
    assert len(report.failures) == len(report.checks)


def test_a_process_that_fails_says_why():
    with pytest.raises(RuntimeError, match=r"digests in another process: .*STAIRNOISE_CPU"):
        processes.run_main("stairnoise._selftest.digests", STAIRNOISE_CPU="abacus")


# Laws


def mutated(law, factor):
    """The law with another privacy parameter, variance or scale."""
    given = dict(law._named_arguments())
    name = next(name for name in ("eps", "sigma2", "a", "theta") if name in given)
    value = given[name]
    given[name] = tuple(factor * x for x in value) if isinstance(value, tuple) else factor * value
    return type(law)(**given)


def identify(value):
    return mechanisms.short(value) if hasattr(value, "_named_arguments") else None


LARGE = [law for law in mechanisms.laws() if getattr(law, "n_parties", 1) == 1]


@pytest.mark.parametrize("law", LARGE, ids=identify)
def test_two_percent_are_found(law):
    for factor in (0.98, 1.02):
        wrong = mutated(law, factor)
        assert failed(laws._check(law, lambda rng, wrong=wrong: wrong.sample(laws.VALUES, rng=rng), sn.SeededRng(1)))


def test_central_intervals_find_what_half_lines_do_not():
    """A scale changes P(|X| <= x) by twice what it changes P(X <= x)."""
    law, wrong = sn.Laplace(1.0), sn.Laplace(1.012)
    outcome = laws._check(law, lambda rng: wrong.sample(laws.VALUES, rng=rng), sn.SeededRng(1))
    assert failed(outcome)
    assert re.match(r"-\S+ < X <= ", outcome.detail)


@pytest.mark.parametrize("law", [*mechanisms.laws(), *mechanisms.vectors()], ids=identify)
def test_five_percent_are_found(law):
    wrong = mutated(law, 1.05)
    if hasattr(law, "dim"):
        outcome = laws._check_vectors(law, lambda _, rng: laws._sampled_vectors(wrong, rng), sn.SeededRng(1))
    else:
        outcome = laws._check(law, lambda rng: wrong.sample(laws.VALUES, rng=rng), sn.SeededRng(1))
    assert failed(outcome)
    assert "expected" in outcome.detail


@pytest.mark.parametrize("choice", mechanisms.choices(), ids=lambda choice: identify(choice.mechanism))
def test_five_percent_are_found_in_choices(choice):
    wrong = mutated(choice.mechanism, 1.05)
    selected = wrong.sample(choice.costs, laws._SELECTIONS, rng=sn.SeededRng(1))
    assert failed(laws._compare_selected(selected, choice.mechanism.probabilities(choice.costs), selected.size))


def expect_failure(monkeypatch, cls, mutant, *, name="values", but=()):
    """Every check of that name of the class fails with the mutant in place of `sample`, and no other check."""
    monkeypatch.setattr(laws, "VALUES", 2**17)
    monkeypatch.setattr(laws, "_VECTOR_VALUES", 2**17)
    monkeypatch.setattr(cls, "sample", mutant)
    found = failures(
        {check.name: check.run() for check in laws.planned(sn.SeededRng(1, allow_release=True)) if cls.__name__ in check.name}
    )
    assert any(check.endswith(name) for check in found)
    return found


def test_floating_point_laplace_is_found(monkeypatch):
    """Its law is right and its values are not on the lattice, which is where attacks on floating point begin."""

    def textbook(self, size=None, *, rng=None, **_):
        u = np.random.default_rng(1).random(size) - 0.5
        return -np.sign(u) * np.log1p(-2 * np.abs(u)) * (self.sensitivity / self.eps)

    found = expect_failure(monkeypatch, sn.Laplace, textbook)
    assert "Laplace(eps=1): values" in found
    assert "Laplace(eps=1): releases" not in found


def test_laplace_on_the_lattice_with_a_wrong_scale_is_found(monkeypatch):
    def wrong(self, size=None, *, rng=None, **_):
        scale = 1.05 * self.sensitivity / self.eps
        return np.rint(np.random.default_rng(1).laplace(0, scale, size) / self.granularity) * self.granularity

    assert "Laplace(eps=1): values" in expect_failure(monkeypatch, sn.Laplace, wrong)


def test_exchanged_parameters_are_found():
    law = sn.DiscreteStaircase(0.3, 100, 30)
    swapped = sn.DiscreteStaircase(0.3, 100, 70)
    assert failed(laws._check(law, lambda rng: swapped.sample(laws.VALUES, rng=rng), sn.SeededRng(1)))
    law, swapped = sn.Arete(0.5, 1.0, 0.25), sn.Arete(0.5, 0.25, 1.0)
    assert failed(laws._check(law, lambda rng: swapped.sample(laws.VALUES, rng=rng), sn.SeededRng(1)))


def neighbours_alike(values):
    """One value in a hundred repeats the one before."""
    again = np.arange(values.size) % 100 == 99
    return np.where(again, np.roll(values, 1), values)


def second_half_repeats(values):
    half = len(values) // 2
    return np.concatenate([values[:half], values[:half]])


@pytest.mark.parametrize(
    ("wrong", "finding"),
    [
        (neighbours_alike, "of the values 2i"),
        (second_half_repeats, "of the values i and i"),
        (abs, "X"),
        (lambda values: np.where(np.abs(values) > 9, 0, values), "X"),
        (lambda values: np.where(values == values.max(), np.nan, values), "no multiple"),
        (lambda values: values / 3, "no multiple"),
        (lambda values: -(values + 1), "X"),
    ],
)
def test_what_else_may_be_wrong_with_values(wrong, finding):
    law = sn.DiscreteLaplace(1.0)
    outcome = laws._check(law, lambda rng: wrong(law.sample(laws.VALUES, rng=rng)), sn.SeededRng(1))
    assert failed(outcome)
    assert finding in outcome.detail


def test_one_value_beyond_the_bounds_is_found():
    law = sn.TruncatedLaplace(1.0, 1e-6)

    def draw(rng):
        values = law.sample(laws.VALUES, rng=rng)
        values[5] = law.upper + 1
        return values

    assert "outside" in laws._check(law, draw, sn.SeededRng(1)).detail


def test_a_release_without_its_partitions_is_found():
    law, partitions, noise = mechanisms.divided()[0]
    assert not failed(laws._check(noise, lambda rng: laws._released(law, partitions, rng), sn.SeededRng(1, allow_release=True)))
    assert failed(laws._check(noise, lambda rng: laws._released(law, 1, rng), sn.SeededRng(1, allow_release=True)))


def test_missing_shares_are_found():
    law = sn.GeneralizedDiscreteLaplace(1.5, 0.4)
    four = law.share(5, 4)
    assert failed(laws._check(law, lambda rng: four.sample(laws.VALUES, rng=rng), sn.SeededRng(1)))


def test_an_element_with_another_parameter_is_found():
    law, elements = mechanisms.arrays()[0]
    assert not failed(laws._check_array(law, elements, sn.SeededRng(1)))
    outcome = laws._check_array(law, (*elements[:2], sn.Staircase(1.5)), sn.SeededRng(1))
    assert (outcome.statistic, outcome.detail) == (1, repr(sn.Staircase(1.5)))


def first_axis_larger(vectors):
    """The same norms in two dimensions, but another direction."""
    return np.abs(np.sort(np.abs(vectors), axis=1)[:, ::-1]) * np.sign(vectors)


@pytest.mark.parametrize(
    ("wrong", "finding"),
    [
        (first_axis_larger, "share of the norm"),
        (lambda v: v * [1, -1] * np.sign(v[:, :1]), "orthant"),
        (lambda v: np.where(np.abs(v).sum(axis=1, keepdims=True) < 2, v, v[::-1]), "norm"),
        (second_half_repeats, "norm of the values i and i"),
        (lambda v: np.where(np.arange(len(v))[:, None] % 9 == 1, np.roll(v, 1, axis=0), v), "norm of the values 2i"),
        (lambda v: v / 3, "no multiple"),
    ],
)
def test_what_may_be_wrong_with_vectors(wrong, finding):
    law = mechanisms.vectors()[0]
    outcome = laws._check_vectors(law, lambda law, rng: wrong(laws._sampled_vectors(law, rng)), sn.SeededRng(1))
    assert failed(outcome)
    assert finding in outcome.detail


def large_norms_in_the_first_axis(vectors):
    """The same norms and the same shares of them, but the larger the norm, the larger the share; in places drawn by lot."""
    norm = np.abs(vectors).sum(axis=1)
    share = np.sort(np.abs(vectors[:, 0]) / norm)[np.argsort(np.argsort(norm))]
    step = mechanisms.vectors()[0].granularity
    first = np.rint(share * norm / step) * step
    return np.copysign(np.stack([first, norm - first], axis=1), vectors)


def test_directions_that_depend_on_the_norm_are_found():
    def draw(law, rng):
        return large_norms_in_the_first_axis(laws._sampled_vectors(law, rng))

    outcome = laws._check_vectors(mechanisms.vectors()[0], draw, sn.SeededRng(1))
    assert failed(outcome)
    assert re.match("(small|large) norm, (small|large) share", outcome.detail)


def test_another_norm_is_found():
    """All norms have the same law of ‖X‖, so that this takes the directions."""
    for one in mechanisms.vectors():
        others = {"l1", "l2", "linf"} - {one.norm}
        for norm in others:
            other = sn.MultivariateStaircase(one.eps, one.sensitivity, one.dim, norm=norm)
            assert failed(
                laws._check_vectors(one, lambda _, rng, other=other: laws._sampled_vectors(other, rng), sn.SeededRng(1))
            )


def test_rows_that_take_their_neighbours_costs_are_found(monkeypatch):
    right = sn.ExponentialMechanism.select

    def shifted(self, costs, size=None, **options):
        return right(self, np.roll(costs, 1, axis=0) if np.ndim(costs) > 1 else costs, size, **options)

    mechanism, costs = mechanisms.choices()[3]
    assert not failed(laws._check_rows(mechanism, costs, sn.SeededRng(1, allow_release=True)))
    monkeypatch.setattr(sn.ExponentialMechanism, "select", shifted)
    assert failed(laws._check_rows(mechanism, costs, sn.SeededRng(1, allow_release=True)))


def test_an_index_of_no_candidate_is_found():
    outcome = laws._compare_selected(np.array([0, 1, 2, 1] * 10), np.array([0.5, 0.5]), 40)
    assert math.isinf(outcome.statistic)
    assert outcome.detail == "no candidate: 10 times"


# What breaks off


class Panic(BaseException):
    """As the extension's panics are."""


@pytest.fixture
def stub(monkeypatch):
    """A subject with the given checks in place of all."""

    def replace(*runs):
        planned = [Planned("stub", f"check {number}", run) for number, run in enumerate(runs)]
        monkeypatch.setattr(_selftest, "SUBJECTS", {"stub": lambda rng: iter(planned)})

    return replace


def passing() -> Outcome:
    return Outcome(10, "nats", 1.5, 20.0, 1e-9)


def raising(error):
    def run():
        raise error

    return run


@pytest.mark.parametrize("error", [ValueError("broken\n in two lines"), MemoryError(), Panic("index out of bounds")])
def test_a_check_that_raises_has_failed_and_the_others_go_on(stub, error):
    stub(passing, raising(error), passing)
    report = sn.selftest()
    assert [check.passed for check in report.checks] == [True, False, True]
    assert report.failures[0].detail == f"{type(error).__name__}: {' '.join(str(error).split())}"
    assert not report.passed
    assert json.loads(report.to_json())["checks"][1]["statistic"] is None


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_who_interrupts_ends_it(stub, error):
    stub(passing, raising(error))
    with pytest.raises(type(error)):
        sn.selftest()


def test_a_subject_whose_list_cannot_be_made_has_failed(monkeypatch):
    def broken(rng):
        raise OSError("no known answers")
        yield

    monkeypatch.setattr(_selftest, "SUBJECTS", {"first": broken, "second": lambda rng: iter([Planned("second", "b", passing)])})
    report = sn.selftest()
    assert [(check.subject, check.passed) for check in report.checks] == [("first", False), ("second", True)]
    assert report.failures[0].detail == "OSError: no known answers"


def test_nan_fails(stub):
    stub(lambda: Outcome(10, "nats", math.nan, 20.0, 1e-9))
    assert not sn.selftest().passed


def test_nothing_is_no_pass(stub):
    stub()
    assert not sn.selftest().passed


@pytest.mark.parametrize(("seed", "error"), [(-1, sn.ParameterError), (2**128, sn.ParameterError), ("1", sn.ParameterTypeError)])
def test_seeds_out_of_range(seed, error):
    with pytest.raises(error, match="seed"):
        sn.selftest(seed=seed)


def test_unknown_subjects():
    with pytest.raises(sn.ParameterError, match=r"subjects must be among 'known answers', .*, got 'weather'"):
        sn.selftest(subjects=["laws", "weather"])
    with pytest.raises(sn.ParameterTypeError, match="subjects must be a list of words, got 'laws'"):
        sn.selftest(subjects="laws")


# The report


def test_progress_is_told(stub):
    stub(passing, passing)
    told = []
    sn.selftest(progress=lambda *state: told.append(state))
    assert told == [(0, 2, "stub: check 0"), (1, 2, "stub: check 1"), (2, 2, "")]


def test_report_adds_up(stub, tmp_path):
    stub(passing, lambda: Outcome(5, "nats", math.inf, 20.0, 2e-9, "no multiple: 3 times"), passing)
    report = sn.selftest(seed=3)
    assert report.false_alarm == pytest.approx(4e-9, rel=1e-12)
    assert report.values == 25
    report.save(tmp_path / "report.json")
    written = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert written == report.to_dict()
    assert (written["format"], written["passed"], written["seed"]) == ("stairnoise-selftest/1", False, "3")
    assert [check["passed"] for check in written["checks"]] == [True, False, True]
    assert written["checks"][1]["statistic"] is None
    machine = written["machine"]
    assert machine["instruction_sets"] == sn.cpu_tiers()
    assert (machine["stairnoise"], machine["numpy"]) == (sn.__version__, np.__version__)
    assert re.fullmatch("[0-9a-f]{64}", machine["extension_sha256"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", written["started"])


def test_report_prints(stub):
    stub(passing, lambda: Outcome(5, "nats", 33.25, 20.0, 2e-9, "no multiple: 3 times"))
    text = str(sn.selftest())
    assert re.search(r"^stub +check 0 +10 +1\.5 +20 +1e-09 +ok$", text, re.M)
    assert re.search(r"^stub +check 1 +5 +33\.2 +20 +2e-09 +FAILED$", text, re.M)
    assert text.endswith("stub, check 1: no multiple: 3 times\nFAILED: 1 of 2 checks.")
    stub(passing)
    assert str(sn.selftest()).endswith(
        "All 1 checks passed. The probability that any of them fails on a machine where all is right is below 1e-09."
    )


def test_the_page_describes_every_field(stub):
    stub(passing)
    page = (ROOT / "docs" / "selftest.md").read_text(encoding="utf-8")
    report = sn.selftest().to_dict()
    for fields in (report, report["machine"], report["checks"][0]):
        assert [name for name in fields if f"`{name}`" not in page] == []
    assert [name for name in _selftest_subjects() if name not in page] == []


def _selftest_subjects():
    return ("known answers", "random words", "generators", "instruction sets", "laws")


def test_report_is_a_value():
    report = SelftestReport((), (), {}, None, "", 0.0)
    with pytest.raises(AttributeError):
        report.seed = 1
