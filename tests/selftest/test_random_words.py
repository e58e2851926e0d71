"""The self-test's checks of random words fail when the words are wrong."""

import stairnoise as sn
from stairnoise._selftest import contract
from tests.selftest.outcomes import failures, run


def test_a_wrong_cipher_is_found(monkeypatch):
    monkeypatch.setattr(contract, "_ROUNDS", 13)
    assert failures(run("random words", "pure Python")) == {
        "AES-256: pure Python against FIPS-197 and NIST SP 800-38A",
        "AES-256: words of a new key against pure Python",
        "AES-256: children of a new key against pure Python",
    }


def test_a_library_with_another_key_is_found(monkeypatch):
    """The stub behaves as if the key's last byte were ignored."""
    right = sn.SecureRng.from_key
    monkeypatch.setattr(sn.SecureRng, "from_key", lambda key: right(key[:-1] + bytes([key[-1] ^ 1])))
    assert len(failures(run("random words", "new key"))) == 2


def test_a_fill_that_is_counted_wrongly_is_found(monkeypatch):
    word = contract.Key.word
    monkeypatch.setattr(contract.Key, "word", lambda key, fill, index: word(key, 1, index))
    assert "AES-256: words of a new key against pure Python" in failures(run("random words", "new key"))
