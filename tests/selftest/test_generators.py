"""The self-test's checks of generators fail when generators repeat themselves.

These tests fail by chance with probability below 2**-200.
"""

import json
import os

import pytest

import stairnoise as sn
from stairnoise._selftest import generators
from tests.selftest.outcomes import failed


def test_repeated_draws_are_found():
    assert failed(generators.distinct([(1, 2), (3, 4), (1, 2)]))
    assert not failed(generators.distinct([(1, 2), (3, 4), (1, 3)]))


def test_generators_that_are_all_the_same_are_found(monkeypatch):
    monkeypatch.setattr(generators, "SecureRng", lambda: sn.SeededRng(0))
    assert failed(generators.distinct(generators._new_ones()))


def test_a_reseed_that_does_nothing_is_found(monkeypatch):
    monkeypatch.setattr(sn.SecureRng, "reseed", lambda self: self.__init__())
    assert not failed(generators.distinct(generators._reseeded()))
    monkeypatch.setattr(sn.SecureRng, "reseed", lambda self: setattr(self, "_held", sn.SecureRng.from_key(bytes(32))._stream))
    assert failed(generators.distinct(generators._reseeded()))


def test_children_that_repeat_are_found(monkeypatch):
    right = sn.SecureRng.spawn
    monkeypatch.setattr(sn.SecureRng, "spawn", lambda self, k: [right(sn.SecureRng.from_key(bytes(32)), 1)[0] for _ in range(k)])
    assert failed(generators.distinct(generators._family(sn.SecureRng())))


def test_entropy_that_repeats_or_is_missing_is_found(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda n: b"\1" * n)
    assert failed(generators.check_entropy())
    fresh = iter(range(10**6))
    monkeypatch.setattr(os, "urandom", lambda n: bytes(n) if (i := next(fresh)) == 5 else i.to_bytes(n, "big"))
    assert failed(generators.check_entropy())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_forks_that_repeat_are_found(monkeypatch):
    """By contract, a keyed generator is the same in parent and child."""
    found = json.loads(generators.run_main("stairnoise._selftest.generators"))
    assert len(found) == 3 + 8 * 16 + 16
    monkeypatch.setattr(generators, "run_main", lambda module: json.dumps([*found, found[5]]))
    assert failed(generators.distinct(generators._forked()))


def test_what_a_process_draws_is_all_it_has():
    drawn = generators.draws([sn.SeededRng(0), sn.SeededRng(1)])
    assert len({tuple(words) for words in drawn}) == 4
