"""README.md and docs/mechanisms.md are correct: code and command run, and numbers about distributions are recomputed here."""

import importlib
import math
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import stairnoise
import stairnoise as sn
from stairnoise import query
from tests.combinations import rest_long

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs/mechanisms.md").read_text(encoding="utf-8")
CALLS = re.findall(r"`([\w.]+(?:\(.*?\))?)`(?=[;,]| \|)", README.split("## Find the call")[1].split("\n## ")[0])
# What the table's calls name.
NAMES: dict[str, Any] = {"sn": sn, "query": query, "stairnoise": stairnoise, "values": [2, 3], "k": 3, "eps": 1, "sensitivity": 1}
NAMES["source"] = ROOT / "docs" / "data" / "people.csv"


def test_it_is_short() -> None:
    assert len(README.encode()) <= 9000
    assert len(README.splitlines()) <= 118


def shape(text: str) -> list[str]:
    """Return the words of an output in which every released number is 0."""
    return re.sub(r"(?<![\w.\[])\d+(?![\w,.)])", "0", text).replace("[ 0", "[0").split()


def test_python_prints_what_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), NAMES)
    assert shape(capsys.readouterr().out) == shape("\n".join(re.findall(r"^# (.*)", code, re.MULTILINE)))


def test_the_command_prints_what_is_shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb")
    main = pytest.importorskip("stairnoise.cli").main
    monkeypatch.chdir(ROOT)
    ((command, shown),) = re.findall(r"\n    stairnoise (.*?)\n\n```text\n(.*?)```", README, re.DOTALL)
    assert main(shlex.split(command.replace("\\\n", ""))) == 0
    assert shape(capsys.readouterr().out) == shape(shown)


@pytest.mark.parametrize("call", CALLS)
def test_a_call_of_the_table_works(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if "source" in call:
        pytest.importorskip("duckdb")
    mechanism = sn.DiscreteLaplace(eps=1, sensitivity=1)
    importlib.import_module("stairnoise.engines")
    assert eval(call, {**NAMES, "mechanism": mechanism, "release": mechanism.release, "private": 3}) is not None


def test_the_command_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb")
    monkeypatch.chdir(ROOT)
    (call,) = re.findall(r"`(query\.count\(\"docs.*?)`", README, re.DOTALL)
    found = [row[0] for row in eval(call.replace("\n", " "), NAMES)]
    assert found == ["[18, 30)", "[30, 45)", "[45, 60)", "[60, 100)"]


def test_the_table_has_every_call() -> None:
    assert len(CALLS) >= 14


# ---------------------------------------------------------------- moments, from the literature


def geometric(eps: float) -> tuple[float, float, float]:
    c = 1 / math.expm1(eps)
    return c, c * (1 + c), c * (1 + c) * (1 + 2 * c)


def abs_mean(eps: float, gamma: float) -> float:
    c, v, _ = geometric(eps)
    t = 2 * (gamma + c)
    return t / 4 + v / t


def variance(eps: float, gamma: float) -> float:
    c, v, k3 = geometric(eps)
    t = 2 * (gamma + c)
    return t**2 / 12 + v + 2 / 3 * k3 / t


def gamma_l1(eps: float) -> float:
    return 1 / (1 + math.exp(eps / 2))


def gamma_l2(eps: float) -> float:
    b = math.exp(-eps)
    return ((b * (1 + b) / 2) ** (1 / 3) - b) / (1 - b)


def quantile(eps: float, gamma: float, alpha: float) -> float:
    """Return t with P(|X| > t) = alpha."""
    c, _, _ = geometric(eps)
    j = 0 if alpha >= c / (gamma + c) else math.floor(math.log(c / (alpha * (gamma + c))) / eps) + 1
    return j + gamma + c - alpha * math.exp(eps * j) * (gamma + c)


ROWS = re.findall(r"^\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)


def test_table_of_gains() -> None:
    assert [row[0] for row in ROWS] == ["0.5", "1", "2", "4", "8"]
    for eps, against_variance, against_mean in (map(float, row) for row in ROWS):
        assert against_variance == round(variance(eps, gamma_l2(eps)) * eps**2 / 2, 2)
        assert against_mean == round(abs_mean(eps, gamma_l1(eps)) * eps, 2)
    assert "at ε = 4, 0.55 of that of Laplace noise." in README


def test_gain_at_small_eps_is_about_one_percent_or_less() -> None:
    assert "Below ε = 0.5 the gain is about 1 % or less" in PAGE
    assert "Below ε = 0.5 prefer Laplace noise: the gain is 1 % at most." in README
    for eps in (0.001, 0.01, 0.1, 0.3, 0.5):
        assert 1 - variance(eps, gamma_l2(eps)) * eps**2 / 2 < 0.0105
        assert 1 - abs_mean(eps, gamma_l1(eps)) * eps < 0.0105


def test_price_of_the_other_shape() -> None:
    assert '`"l1"` costs 12 % extra\n  variance at ε = 4 and 94 % at ε = 8' in PAGE
    for eps, percent in ((4, 12), (8, 94)):
        assert round(100 * (variance(eps, gamma_l1(eps)) / variance(eps, gamma_l2(eps)) - 1)) == percent


def test_quantiles() -> None:
    said = 'the 95 % quantile of $|X|$ is 0.749 for Laplace, 0.762 for `"l1"` and 0.629 for `"l2"`'
    assert said in PAGE
    found = [-math.log(0.05) / 4, quantile(4, gamma_l1(4), 0.05), quantile(4, gamma_l2(4), 0.05)]
    assert [round(q, 3) for q in found] == [0.749, 0.762, 0.629]


# ---------------------------------------------------------------- composition


def composed_eps(mass: NDArray[np.float64], step: float, folds: int, delta: float) -> float:
    """Return ε at `delta` after `folds` draws whose privacy loss is `mass` on step·(-m .. m)."""
    m = (mass.size - 1) // 2
    n = 2 * m * folds + 1
    size = 1 << (n - 1).bit_length()
    total = np.maximum(np.fft.irfft(np.fft.rfft(mass, size) ** folds, size)[:n], 0)
    loss = step * (np.arange(n) - m * folds)
    low, high = 0.0, step * m * folds
    for _ in range(60):
        middle = (low + high) / 2
        exceeds = np.sum(total * -np.expm1(np.minimum(middle - loss, 0))) > delta
        low, high = (middle, high) if exceeds else (low, middle)
    return high


def composed_laplace(eps: float, folds: int, delta: float) -> float:
    """Compose a loss with atoms at both ends and a density between; rounding up and down brackets the result."""
    count = 400
    step = eps / count
    grid = step * np.arange(-count, count + 1)
    between = np.diff(np.exp(-(eps - grid) / 2) / 2)
    bounds = []
    for shift in (slice(1, None), slice(None, -1)):
        mass = np.zeros(grid.size)
        mass[0] = math.exp(-eps) / 2
        mass[-1] = 0.5
        mass[shift] += between
        bounds.append(composed_eps(mass, step, folds, delta))
    assert 0 <= bounds[0] - bounds[1] < 6e-3 * bounds[0]
    return (bounds[0] + bounds[1]) / 2


def composed_staircase(eps: float, folds: int, delta: float) -> float:
    """Compose losses eps, 0 and -eps with the probabilities of docs/privacy.md; γ is below 1/2."""
    b, gamma = math.exp(-eps), gamma_l2(eps)
    p = (2 * gamma + b / (1 - b)) / (2 * gamma + 2 * b / (1 - b))
    return composed_eps(np.array([b * p, 1 - p - b * p, p]), eps, folds, delta)


@pytest.mark.parametrize("text", rest_long(["0.5", "4"], ["0.5", "1", "2", "4"]))
def test_composition(text: str) -> None:
    """Bisection finds the staircase's ε at equal variance. Tolerance: the table's rounding, and 0.001 for the bracket."""
    row = PAGE.split("| Laplace's ε per answer |")[1].split(f"\n| {text} | ")[1].splitlines()[0]
    said, eps = [float(cell) for cell in row.rstrip(" |").split(" | ")], float(text)
    low, high = eps / 20, eps
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if variance(middle, gamma_l2(middle)) > 2 / eps**2 else (low, middle)
    for folds, cell in zip((1, 10, 100, 1000), said, strict=True):
        assert abs(composed_staircase(high, folds, 1e-6) / composed_laplace(eps, folds, 1e-6) - cell) < 0.0065
