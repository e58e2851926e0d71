"""A hostile value for any ledger argument gives a result, or a refusal that names the argument and spends nothing."""

import re

import pytest

import stairnoise as sn
from tests.property.hostile.pool import POOL

KEYED = sn.KeyedRng(bytes(32), "2026-Q3")
GOOD = {
    "mechanism": sn.DiscreteLaplace(1.5),
    "data": "people",
    "release": None,
    "statistic": "count",
    "fingerprint": "0" * 64,
    "max_partitions_contributed": 1,
    "sensitivity": None,
    "l2_sensitivity": None,
    "rng": KEYED,
}


def judged(function, *arguments, **options):
    """Return whether a call was refused; any other error, or a bad error message, fails the test."""
    refusal = None
    try:
        function(*arguments, **options)
    except (sn.StairnoiseError, MemoryError) as error:
        refusal = error
    if isinstance(refusal, sn.StairnoiseError):
        assert re.search(r"\b(must|cannot)\b", str(refusal))
        assert re.search(r"\bgot ", str(refusal)) or isinstance(refusal, sn.LedgerError)
    return refusal is not None


halves = pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.long)])


def half_of_the_pool(half, argument, arguments):
    """Arguments alternate between the two halves, so each value is tried with some argument."""
    return list(POOL.items())[(half + list(arguments).index(argument)) % 2 :: 2]


@halves
@pytest.mark.parametrize("argument", GOOD)
def test_spend(tmp_path, argument, half):
    ledger = sn.Ledger(tmp_path / "file", 1e6)
    for name, make in half_of_the_pool(half, argument, GOOD):
        value, rows = make(), len(ledger.report())
        try:
            refused = judged(ledger.spend, **{**GOOD, argument: value})
        except Exception as error:
            pytest.fail(f"{argument} = {name}: {error!r}")
        assert not (refused and len(ledger.report()) != rows)


MADE_OF = ("budget", "delta", "timeout")


@halves
@pytest.mark.parametrize("argument", MADE_OF)
def test_make(tmp_path, argument, half):
    for number, (name, make) in enumerate(half_of_the_pool(half, argument, MADE_OF)):
        path = tmp_path / str(number)
        try:
            refused = judged(sn.Ledger, path, **{"budget": 1.0, "delta": 1e-6, argument: make()})
        except Exception as error:
            pytest.fail(f"{argument} = {name}: {error!r}")
        assert not (refused and path.exists())


def test_make_at_a_path_that_is_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, make in POOL.items():
        value = make()
        if isinstance(value, str):
            continue
        with pytest.raises(sn.StairnoiseError, match=r"^path must be the name of a file, got "):
            sn.Ledger(value, 1.0)
        assert list(tmp_path.iterdir()) == [], name


NAMES = ["", "\0", "a\0b", "\ud800", "x" * 5000, b"bytes", "."]


@pytest.mark.parametrize("path", NAMES, ids=range(len(NAMES)))
def test_names_that_no_file_can_have(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sn.StairnoiseError):
        sn.Ledger(path, 1.0)
    assert list(tmp_path.iterdir()) == []
