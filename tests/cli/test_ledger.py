"""``stairnoise ledger``: it shows every row at every width, and names unchanged.

Evidence: the rows that `Ledger.report` returns.
"""

import contextlib

import pytest

import stairnoise as sn
from stairnoise.cli import main


@pytest.fixture
def ledger(tmp_path):
    made = sn.Ledger(tmp_path / "people.ledger", 4.0, delta=1e-6, composed=True)
    rng = sn.KeyedRng(bytes(32), "2026-Q3")
    made.spend(sn.DiscreteLaplace(0.5), data="census", release="[red]\x1b[31m", statistic="count")
    made.spend([sn.Laplace(0.5, 100), sn.Gaussian(0.5, 1e-7)], data="census", max_partitions_contributed=3)
    made.spend(sn.DiscreteGaussian(1000), sensitivity=1, data="census", statistic="visits", rng=rng, fingerprint="0" * 64)
    return made


def show(capsys, path):
    code = main(["ledger", str(path)])
    return code, *capsys.readouterr()


@pytest.mark.parametrize("columns", ["40", "80", "120", None])
def test_nothing_is_cropped_and_names_are_shown_as_they_are(capsys, monkeypatch, ledger, columns):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    code, out, err = show(capsys, ledger.path)
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= int(columns or 500)
    shown = "".join(out.split())
    for text in (r"[red]\x1b[31m", "Laplace(eps=0.5", "sensitivity=100.0)", "visits", "keyed", "itsloss", "0.5,1e-07"):
        if columns != "40":  # a long cell wraps, with the other columns in between
            assert text in shown
    if columns is None:
        assert "Laplace(eps=0.5, sensitivity=100.0), 3 values of one person" in out
    assert "spent1.393of4atdelta=1e-06,composed,left2.607" in shown
    assert 1.392 < ledger.total() <= 1.393


def test_a_refused_release_is_shown(capsys, tmp_path):
    ledger, rng = sn.Ledger(tmp_path / "file", 4.0), sn.KeyedRng(bytes(32), "2026-Q3")
    for mark in ("0" * 64, "1" * 64):
        with contextlib.suppress(sn.LedgerError):
            ledger.spend(sn.DiscreteLaplace(0.5), data="census", statistic="count", rng=rng, fingerprint=mark)
    code, out, _ = show(capsys, ledger.path)
    assert code == 0
    assert [line.split()[-2:] for line in out.splitlines() if "2026-Q3" in line] == [["0.5", "0.5"], ["refused", "0.5"]]


def test_an_empty_ledger(capsys, tmp_path):
    sn.Ledger(tmp_path / "file", 1.0)
    assert show(capsys, tmp_path / "file") == (0, "spent 0 of 1, left 1\n", "")


def test_a_file_that_is_no_ledger_ends_in_one_line(capsys, tmp_path):
    (tmp_path / "file").write_text("name\n" * 1000)
    assert show(capsys, tmp_path / "file") == (2, "", f"error: {tmp_path / 'file'} is not a ledger, or is damaged\n")
    assert show(capsys, tmp_path / "none")[2] == f"error: {tmp_path / 'none'} does not exist\n"
