"""Notebook tables show what the methods return, in escaped, plain HTML, and never raise an error."""

import re
import xml.etree.ElementTree

import numpy as np
import pytest

import stairnoise as sn
from stairnoise import _html
from stairnoise.registry import ROWS

MECHANISMS = [pytest.param(row, mechanism, id=repr(mechanism)) for row in ROWS for mechanism in row.mechanisms()]


def parts(text):
    """Return a table's caption and rows."""
    table = xml.etree.ElementTree.fromstring(text)
    assert table.tag == "table"
    rows = [[cell.text for cell in row] for row in table.find("tbody")]
    assert all([cell.tag for cell in row] == ["th", "td"] and row[0].get("scope") == "row" for row in table.find("tbody"))
    return table.find("caption").text, dict(rows)


@pytest.mark.parametrize(("row", "mechanism"), MECHANISMS)
def test_mechanisms(row, mechanism):
    caption, rows = parts(mechanism._repr_html_())
    assert caption == type(mechanism).__name__
    for name, value in mechanism._shown_arguments().items():
        assert rows.get(name) == (None if value is None else repr(value))
    assert float(rows["granularity"]) == pytest.approx(mechanism.granularity, rel=1e-5)
    stds = [float(text) for name, text in rows.items() if name.startswith("standard deviation")]
    assert stds == pytest.approx([mechanism.std()] if hasattr(mechanism, "std") else [], rel=1e-3)
    assert ("95 % of the noise" in rows) == (row.group != "shares" and hasattr(mechanism, "error_bound"))
    assert ("guarantee" in rows) == (row.group != "shares" and mechanism._stated is not None)
    if "guarantee" in rows:
        assert f"Guarantee: {rows['guarantee']}" == repr(mechanism.guarantee())
    if "95 % of the noise" in rows:
        bound, shown = mechanism.error_bound(0.95), float(re.search(r"[\d.e+-]+$", rows["95 % of the noise"])[0])
        assert bound <= shown <= bound * 1.001 + 1e-300


@pytest.mark.parametrize(
    "loss",
    [
        sn.Laplace(1, sensitivity=1).privacy_loss(),
        sn.Staircase(0.5, sensitivity=1).privacy_loss().compose(20),
        sn.Staircase(0.5, sensitivity=1).privacy_loss().compose(20) + sn.DiscreteLaplace(1, 3).privacy_loss(),
        sn.Gaussian(1, 1e-6, sensitivity=1).privacy_loss(),
        sn.TruncatedLaplace(1, 1e-3, sensitivity=1).privacy_loss(),
    ],
    ids=repr,
)
def test_privacy_losses(loss):
    caption, rows = parts(loss._repr_html_())
    assert caption == "PrivacyLoss"
    assert rows["releases"] == str(loss.releases)
    shown = {name: float(text) if text != "none" else float("inf") for name, text in rows.items() if "ε" in name}
    found = {
        "pure ε": loss.eps,
        "ε at δ = 1e-06": loss.eps_for_delta(1e-6),
        "ε at δ = 1e-09": loss.eps_for_delta(1e-9),
        "δ at ε = 0.1": loss.privacy_profile(0.1),
        "δ at ε = 1": loss.privacy_profile(1.0),
    }
    assert list(shown) == list(found)
    for name, value in found.items():
        assert value <= shown[name] or shown[name] == 1
        assert shown[name] == pytest.approx(value, rel=1.01e-3)


def test_what_takes_time_is_left_out(monkeypatch):
    """A table omits quantiles of noise in shares, and losses composed of many different ones."""

    def slow(*_):
        raise AssertionError

    mechanism = sn.Arete.from_eps(10, 1)
    monkeypatch.setattr(type(mechanism), "error_bound", slow)
    monkeypatch.setattr(type(mechanism), "guarantee", slow)
    assert "95 % of the noise" not in parts(mechanism._repr_html_())[1]
    loss = sn.DiscreteLaplace(1.0, 10**5).privacy_loss().compose(2)
    monkeypatch.setattr(sn.PrivacyLoss, "eps_for_delta", slow)
    assert list(parts(loss._repr_html_())[1]) == ["releases", "2 ×", "pure ε"]


@pytest.mark.parametrize(
    "shown",
    [sn.Laplace([1, 2], sensitivity=1), sn.Laplace([], sensitivity=1), sn.Laplace([1, 2], sensitivity=1).privacy_loss()],
    ids=repr,
)
def test_array_parameters_are_left_to_the_repr(shown):
    assert shown._repr_html_() is None


def test_what_cannot_be_computed_is_left_to_the_repr(monkeypatch):
    def broken(_):
        raise ZeroDivisionError

    monkeypatch.setattr(sn.Laplace, "std", broken)
    assert sn.Laplace(1, sensitivity=1)._repr_html_() is None


def test_texts_are_escaped_and_short():
    text = _html._table("<b>&", iter([("<script>", '"<img>' + "x" * 1000)]))
    assert parts(text) == ("<b>&", {"<script>": '"<img>' + "x" * 194 + "…"})
    assert "<script" not in text
    assert "style" not in sn.Laplace(1, sensitivity=1)._repr_html_()


def test_no_answer_is_in_a_table():
    mechanism = sn.Laplace(1, sensitivity=1)
    before = mechanism._repr_html_()
    mechanism.release(np.array([123456789.0]))
    assert mechanism._repr_html_() == before
