"""The classic figures draw what the library computes, their files repeat byte for byte, and the page shows all of them.

Drawn data are compared with the mechanisms, whose own tests have independent evidence; the few numbers and formulas that
are written into a figure are computed here from the papers' closed forms.
"""

import functools
import html
import itertools
import math
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

import numpy as np
import pytest

import stairnoise as sn
from docs._ext import classic
from docs._ext.classic import FIGURES
from stairnoise.figures.style import house_style, save
from tests.combinations import rest_long

matplotlib = pytest.importorskip("matplotlib")

ROOT = Path(__file__).resolve().parents[2]
NAMES = list(FIGURES)
# Drawing these takes as long as drawing all the others.
DEAR = {"infinitely_divisible_variance", "discrete_variance"}


@functools.cache
def drawn_and_saved(name):
    """Return a figure and its file. Saving comes first: drawing before saving would move curves by over a tenth of a pixel."""
    drawn = FIGURES[name]()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figure.svg"
        save(drawn, file)
        return drawn, file.read_text(encoding="utf-8")


def svg(name):
    return drawn_and_saved(name)[1]


def steps(axes):
    """Return heights and edges of the steps on some axes by label."""
    return {patch.get_label(): patch.get_data() for patch in axes.patches}


def lines(axes):
    """Return the labelled lines on some axes by label."""
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def check_stairs(values, edges, mechanism):
    """Require that the density is constant inside each step, and equal to its height."""
    for f in (0.001, 0.5, 0.999):
        assert values == pytest.approx(mechanism.pdf(edges[:-1] + f * np.diff(edges)), rel=1e-12)


def test_private_histogram():
    true, released = classic.private_histogram(counts=[40, 0, 1], eps=2, seed=7).axes
    mechanism = sn.DiscreteLaplace(2)
    noisy = np.maximum(np.add(mechanism.sample(3, rng=sn.SeededRng(7)), [40, 0, 1]), 0)
    assert [bar.get_height() for bar in true.patches] == [40, 0, 1]
    assert [bar.get_height() for bar in released.patches] == noisy.tolist()
    ((_, _, (spans,)),) = released.containers[1:]
    assert [np.ptp(path.vertices[:, 1]) for path in spans.get_paths()] == [2 * mechanism.error_bound(0.95)] * 3
    true, released = ([bar.get_height() for bar in axes.patches] for axes in classic.private_histogram().axes)
    assert max(abs(np.subtract(true, released))) == sn.DiscreteLaplace(1).error_bound(0.95)


@pytest.mark.slow
def test_densities():
    left, right = classic.densities(eps=2, sensitivity=3, gamma="l2").axes
    mechanism, other = sn.Staircase(2, 3, "l2"), sn.Laplace(2, 3)
    for axes in (left, right):
        ((label, (values, edges, _)),) = steps(axes).items()
        check_stairs(values, edges, mechanism)
        assert float(label.removeprefix("staircase, γ = ")) == pytest.approx(mechanism.gamma, rel=1e-3)
        line = lines(axes)["Laplace"]
        assert np.array_equal(line.get_ydata(), other.pdf(line.get_xdata()))
    assert (left.get_yscale(), right.get_yscale()) == ("linear", "log")


def test_optimal_gamma():
    (axes,) = classic.optimal_gamma(costs=("l1", "l2", 3.0)).axes
    drawn = lines(axes)
    assert list(drawn) == ["least E|X|", "least E|X|²", "least E|X|³"]
    eps = drawn["least E|X|"].get_xdata()
    b = np.exp(-eps)
    assert (eps[0], eps[-1]) == (0.1, 20)
    assert drawn["least E|X|"].get_ydata() == pytest.approx(1 / (1 + np.exp(eps / 2)), rel=1e-12)
    gamma = drawn["least E|X|²"].get_ydata()
    assert ((1 - b) * gamma + b) ** 3 == pytest.approx(b * (1 + b) / 2, rel=1e-12)
    gamma = drawn["least E|X|³"].get_ydata()

    def cube(gamma):
        return np.array([sn.Staircase(e, 1.0, g).abs_moment(3) for e, g in zip(eps, gamma, strict=True)])

    assert (cube(gamma) <= cube(gamma * 1.01)).all()
    assert (cube(gamma) <= cube(gamma * 0.99)).all()


def test_gain():
    """14.84 and 23.61 at eps = 10, from the closed forms of the minimum E|X| and E X²."""
    (axes,) = classic.gain().axes
    b = math.exp(-10)
    amplitude = (1 / 10) * 2 * math.sinh(5)
    power = (2 / 10**2) * (1 - b) ** 2 / (2 ** (-2 / 3) * (b * (1 + b)) ** (2 / 3) + b)
    numbers = [text for text in axes.texts if text.get_text()[0].isdigit()]
    assert {text.get_text() for text in numbers} == {f"{amplitude:.2f}", f"{power:.2f}"} == {"14.84", "23.61"}
    assert [text.get_text() for text in axes.texts if text not in numbers] == list(lines(axes))
    for (label, line), text, p in zip(lines(axes).items(), numbers, (2, 1), strict=True):
        eps = line.get_xdata()
        assert (eps[0], eps[-1]) == (pytest.approx(0.1), pytest.approx(20))
        assert label == ("amplitude: E|X|" if p == 1 else "power: E X²")
        ours = sn.Staircase(eps, 1.0, f"l{p}").abs_moment(p)
        assert np.array_equal(line.get_ydata(), sn.Laplace(eps).abs_moment(p) / ours)
        assert text.xy[0] == 10
        assert text.xy[1] == pytest.approx(float(text.get_text()), rel=1e-3)


@pytest.mark.parametrize("eps", [0.05, 3.0, 30.0])
def test_gain_at_another_eps(eps):
    (axes,) = classic.gain(eps=eps).axes
    assert min(line.get_xdata()[0] for line in lines(axes).values()) <= eps * (1 + 1e-12)
    assert max(line.get_xdata()[-1] for line in lines(axes).values()) >= eps * (1 - 1e-12)
    amplitude = 2 * math.sinh(eps / 2) / eps
    assert float(axes.texts[-1].get_text()) == pytest.approx(amplitude, rel=1e-3)
    assert f"ε = {eps:g}" in axes.get_title(loc="left")


def test_mean_error():
    (axes,) = classic.mean_error().axes
    drawn = lines(axes)
    eps = drawn["Laplace"].get_xdata()
    assert drawn["Laplace"].get_ydata() == pytest.approx(1 / eps)
    assert drawn["best γ"].get_ydata() == pytest.approx(1 / (2 * np.sinh(eps / 2)))
    # γ = 1 and γ → 0 give one mechanism with E|X| = (Δ/2) coth(ε/2).
    one = drawn["γ = 1 or γ → 0"].get_ydata()
    assert one == pytest.approx(0.5 / np.tanh(eps / 2))
    assert one == pytest.approx(sn.Staircase(eps, 1.0, 1e-12).abs_moment(1), rel=1e-3) or eps[-1] > 20
    for gamma in (0.01, 0.5):
        c = 1 / np.expm1(eps)
        t = 2 * (gamma + c)
        assert drawn[f"γ = {gamma}"].get_ydata() == pytest.approx(t / 4 + c * (1 + c) / t)
    assert len(drawn) == 5
    assert [text.get_text() for text in axes.texts] == list(drawn)
    assert [text.get_color() for text in axes.texts] == [line.get_color() for line in drawn.values()]


def test_discrete_pmf():
    linear, log = classic.discrete_pmf().axes
    assert (linear.get_yscale(), log.get_yscale()) == ("linear", "log")
    (staircase, laplace), logarithmic = (
        [lines(axes)[name] for name in ("discrete staircase, r = 3", "discrete Laplace")] for axes in (linear, log)
    )
    for upper, lower in zip((staircase, laplace), logarithmic, strict=True):
        assert np.array_equal(upper.get_xydata(), lower.get_xydata())
    k = staircase.get_xdata()
    assert np.array_equal(staircase.get_ydata(), sn.DiscreteStaircase(1, 5, 3).pmf(k))
    assert np.array_equal(laplace.get_ydata(), sn.DiscreteLaplace(1, 5).pmf(laplace.get_xdata()))
    # r = 3, Δ = 5: five integers in the central step and in every other step; each step is lower by a factor e.
    heights, widths = np.unique(np.round(staircase.get_ydata(), 12), return_counts=True)
    assert widths.tolist() == [10, 10, 10, 10, 5]
    assert heights[1:] / heights[:-1] == pytest.approx(math.e)


def test_discrete_variance():
    drawn_axes = classic.discrete_variance(eps=6, sensitivity=5).axes
    for axes, fixed in zip(drawn_axes, ("eps", "sensitivity"), strict=True):
        drawn = lines(axes)
        x = drawn["discrete Laplace"].get_xdata()
        eps, D = (6.0, x) if fixed == "eps" else (x, 5)
        laplace = sn.DiscreteLaplace(eps, D).var()
        assert (drawn["discrete Laplace"].get_ydata() == 1).all()
        one = drawn["discrete staircase, r = 1"].get_ydata()
        best = drawn["discrete staircase, best r"].get_ydata()
        limit = drawn["limit of r = 1 as ε grows"].get_ydata()
        assert np.array_equal(one, sn.DiscreteStaircase(eps, D, 1).var() / laplace)
        assert np.array_equal(best, sn.DiscreteStaircase(eps, D, "l2").var() / laplace)
        assert (best <= one * (1 + 1e-12)).all()
        # At large eps, X is 0, or each of ±1 .. ±Δ with probability e^(-eps).
        leading = sum(2 * k**2 * (k <= np.asarray(D)) for k in range(1, 101)) * np.exp(-eps)
        assert limit == pytest.approx(leading / laplace)
        # Sensitivities are integers, so no line joins the dots.
        joined = [name for name, line in drawn.items() if line.get_linestyle() != "None"]
        assert len(joined) == (1 if fixed == "eps" else 4)
    # With eps on the axis, the ratio tends to 1.
    assert limit[-1] / one[-1] == pytest.approx(1, rel=1e-4)
    assert limit[0] / one[0] < 0.1


def test_bounded():
    """The ratios at the marks are written out here; the one-sided forms are the same staircase, moved by A."""
    linear, log, sides, ratio = classic.bounded().axes
    assert [axes.get_yscale() for axes in (linear, log, sides, ratio)] == ["linear", "log", "log", "linear"]
    mechanism = sn.TruncatedStaircase(4, 1e-6, gamma="l2")
    for axes in (linear, log):
        check_stairs(*steps(axes)["truncated staircase"][:2], mechanism)
        x, density = lines(axes)["truncated Laplace"].get_data()
        assert np.array_equal(density, sn.TruncatedLaplace(4, 1e-6).pdf(x))
    # Both ends are inside the picture.
    assert log.get_xlim()[1] > mechanism.upper
    for name, bounds in (("lower=0", (0, None)), ("upper=0", (None, 0))):
        check_stairs(*steps(sides)[name][:2], sn.TruncatedStaircase(4, 1e-6, 1, "l2", *bounds))
    assert [text.get_text() for text in ratio.texts] == ["0.959", "0.845", "0.520", "0.108"]
    at = np.interp([text.xy[0] for text in ratio.texts], *ratio.lines[0].get_data())
    assert at == pytest.approx([0.959, 0.845, 0.52, 0.108], abs=2e-3)


@pytest.mark.slow
def test_panels_without_a_sensitivity_are_left_out():
    """Three sensitivities fill three of the 2 × 2 panels."""
    drawn = classic.infinitely_divisible_variance((1, 2, 3)).axes
    assert [axes.get_title(loc="left") for axes in drawn] == ["Δ = 1", "Δ = 2", "Δ = 3"]


def test_infinitely_divisible_variance():
    """At large eps, the multi-scale mechanism has the variance of r = 1; the generalized mechanism is never worse than discrete
    Laplace.
    """
    drawn_axes = classic.infinitely_divisible_variance((1, 10)).axes
    assert drawn_axes[0].get_ylim() == drawn_axes[1].get_ylim()
    assert [bool(axes.texts) for axes in drawn_axes] == [True, False]
    one_line = [line.get_ydata() for line in lines(drawn_axes[0]).values()]
    assert all(variance == pytest.approx(one_line[0], rel=1e-9) for variance in one_line[1:])
    for axes, D in zip(drawn_axes, (1, 10), strict=True):
        assert axes.get_title(loc="left") == f"Δ = {D}"
        drawn = lines(axes)
        eps = drawn["discrete Laplace"].get_xdata()
        found = {name: np.array(line.get_ydata()) for name, line in drawn.items()}
        laplace = sn.DiscreteLaplace(eps, D).var()
        assert (found["discrete Laplace"] == 1).all()
        assert np.array_equal(found["staircase, best r"], sn.DiscreteStaircase(eps, D, "l2").var() / laplace)
        assert np.array_equal(found["staircase, r = 1"], sn.DiscreteStaircase(eps, D, 1).var() / laplace)
        multi_scale = found["multi-scale"]
        assert multi_scale == pytest.approx(D * (D + 1) * (2 * D + 1) / 6 / (np.cosh(eps) - 1) / laplace, rel=1e-12)
        assert multi_scale[-1] == pytest.approx(found["staircase, r = 1"][-1], rel=1e-3)
        generalized = found["generalized, best β and a"]
        assert (generalized <= 1 + 1e-12).all()
        assert (generalized >= found["staircase, best r"] * (1 - 1e-9)).all()
    assert generalized[-1] < 1e-3


@pytest.mark.parametrize(("eps", "D", "gamma", "delta"), [(1, 1, 0.5, 1e-3), (4, 2.5, 0.125, 1e-6), (0.25, 1, 1.0, 0.1)])
def test_selection(eps, D, gamma, delta):
    """Probabilities from the papers' formulas: the weights of ten candidates, the best coin among nine, and the recursion."""
    left, right = classic.selection(eps, D, gamma, delta).axes
    drawn = lines(left)
    assert list(drawn) == ["permute-and-flip", "exponential"]
    cost, flips = drawn["permute-and-flip"].get_data()
    a = np.exp(-eps * cost / (2 * D))
    # The best candidate's coin shows heads. It is the answer unless one of the m heads among the nine others is chosen.
    m = np.arange(10)
    heads = np.array([math.comb(9, k) for k in m]) * a[:, None] ** m * (1 - a[:, None]) ** (9 - m)
    assert flips == pytest.approx((heads / (1 + m)).sum(axis=1), rel=1e-9)
    assert drawn["exponential"].get_ydata() == pytest.approx(1 / (1 + 9 * a), rel=1e-12)
    assert 1 / (1 + 9 * a[-1]) >= 0.95
    values, edges, _ = steps(left)["staircase"]
    assert edges[1:-1] == pytest.approx((np.arange(edges.size - 2) + gamma) * D)
    assert values == pytest.approx(1 / (1 + 9 * np.exp(-eps * np.arange(values.size) / 2)), rel=1e-12)
    n, shown = right.lines[0].get_data()
    pi = [0.0]
    while pi[-1] < 1:
        pi.append(min(math.exp(eps) * pi[-1] + delta, 1 - math.exp(-eps) * (1 - pi[-1] - delta), 1.0))
    assert np.array_equal(n, np.arange(len(pi)))
    assert shown == pytest.approx(pi, rel=1e-9)


def test_selection_of_more_stairs_and_people_than_anybody_sees():
    left, right = classic.selection(eps=2.0**-30).axes
    assert not steps(left)
    cost, probability = lines(left)["staircase"].get_data()
    assert cost.size <= 1000
    assert probability == pytest.approx(1 / (1 + 9 * np.exp(-(2.0**-31) * cost)), rel=1e-6)
    n, shown = right.lines[0].get_data()
    assert n.size <= 1000
    assert shown == pytest.approx(n / 1000, rel=1e-5)  # at such a small ε, each person adds δ


@pytest.mark.slow
@pytest.mark.parametrize("name", rest_long([name for name in NAMES if name not in DEAR][::2], NAMES))
def test_every_text_has_its_place_and_can_be_read(name):
    """No text is cut off or overlaps another. Ticks are plain numbers. On a telephone of 375 pixels, 10 points are 10 pixels."""
    drawn, _ = drawn_and_saved(name)
    with house_style():
        drawn.draw_without_rendering()
    assert drawn.get_figwidth() * 72 <= 375
    ticks = [text.get_text() for axes in drawn.axes for axis in (axes.xaxis, axes.yaxis) for text in axis.get_ticklabels()]
    assert ticks
    assert [text for text in ticks if not re.fullmatch(r"(−?[\d,]+(\.\d+)?|10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?", text)] == []
    whole = drawn.bbox
    legends = [legend.get_window_extent() for legend in drawn.legends]
    named = {text.get_text() for text in drawn.axes[0].texts}
    assert len(legends) == 1 or drawn.axes[0].get_legend() or named >= set(lines(drawn.axes[0]))
    for axes in drawn.axes:
        box = axes.get_tightbbox()
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1
        assert all(legend.y1 <= box.y0 for legend in legends)
        assert axes.get_xlabel() or not axes.get_subplotspec().is_last_row()
    title = drawn._suptitle.get_window_extent()
    for box in (title, *legends):
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1
    assert drawn.axes[0].get_ylabel()
    # A title is told from the panels' titles, and nothing is below the lowest text.
    assert drawn._suptitle.get_fontweight() == "bold"
    foot = min(box.y0 for box in (*legends, *(axes.get_tightbbox() for axes in drawn.axes)))
    assert foot < 0.03 * whole.y1


@pytest.mark.slow
@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.long) for name in NAMES[1:])])
def test_files_repeat(name, tmp_path):
    save(FIGURES[name](), tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == svg(name)
    assert xml.etree.ElementTree.fromstring(svg(name)).tag == "{http://www.w3.org/2000/svg}svg"
    assert "dc:date" not in svg(name)
    assert f"<title>{html.escape(FIGURES[name]().get_suptitle(), quote=False)}</title>" in svg(name)


@pytest.mark.slow
def test_bitmaps_repeat(tmp_path):
    files = [tmp_path / "0.png", tmp_path / "1.png"]
    for file in files:
        save(classic.gain(), file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes().startswith(b"\x89PNG")


def test_settings_of_the_user_change_nothing(tmp_path):
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path", "axes.grid": False}):
        save(FIGURES["gain"](), tmp_path / "gain.svg")
        assert matplotlib.rcParams["font.size"] == 30
    assert (tmp_path / "gain.svg").read_text(encoding="utf-8") == svg("gain")


@pytest.mark.slow
def test_figures_need_neither_pyplot_nor_a_display(tmp_path):
    code = (
        "import sys\n"
        "from docs._ext.classic import densities\n"
        "from stairnoise.figures.style import save\n"
        "assert not any(name.startswith('matplotlib') for name in sys.modules)\n"
        f"save(densities(), {str(tmp_path / 'a.png')!r})\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a.png").stat().st_size > 1000


# docs/figures.md


PAGE = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")


def test_the_page_shows_every_figure():
    assert re.findall(r"!\[.+\]\(figures/(\w+)\.svg\)", PAGE) == NAMES
    assert {file.stem for file in (ROOT / "docs/figures").iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", rest_long([name for name in NAMES if name not in DEAR], NAMES))
def test_the_committed_figure_is_current(name):
    """Texts equal a newly drawn figure's texts; curves agree to a tenth of a pixel if the same Matplotlib drew both."""
    old, new = (ROOT / f"docs/figures/{name}.svg").read_text(encoding="utf-8"), svg(name)
    assert re.findall(r"<text[^>]*>(.*?)</text>", old) == re.findall(r"<text[^>]*>(.*?)</text>", new)
    maker = r"<dc:title>(Matplotlib v[^,]*),"
    if re.findall(maker, old) == re.findall(maker, new):
        curves = [re.findall(r"-?\d+\.?\d*", " ".join(re.findall(r' d="([^"]*)"', text))) for text in (old, new)]
        assert np.allclose(*(np.array(numbers, float) for numbers in curves), rtol=0, atol=0.1)


@pytest.mark.parametrize("block", re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL), ids=itertools.count(1))
def test_the_page_s_python_runs(block):
    exec(compile(block, "docs/figures.md", "exec"), {"__name__": "__figures__"})
