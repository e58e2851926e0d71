"""Figures: what is drawn is what the library computes, files repeat byte by byte, and bad input is refused.

Drawn data are compared with the mechanisms, whose own tests have other sources; the few numbers and formulas that
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
from stairnoise import figures

matplotlib = pytest.importorskip("matplotlib")
figure = pytest.importorskip("matplotlib.figure")

ROOT = Path(__file__).resolve().parents[2]
NAMES = list(figures.FIGURES)


@pytest.fixture
def ax():
    return figure.Figure().subplots()


def steps(axes):
    """The stairs on some axes by their label: heights and edges."""
    return {patch.get_label(): patch.get_data() for patch in axes.patches}


def lines(axes):
    """The labelled lines on some axes by their label."""
    return {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}


def check_stairs(values, edges, mechanism):
    """Each step is the density inside it, and the density is constant there."""
    for f in (0.001, 0.5, 0.999):
        assert values == pytest.approx(mechanism.pdf(edges[:-1] + f * np.diff(edges)), rel=1e-12)


# plot of a mechanism


@pytest.mark.parametrize("gamma", ["l1", "l2", 0.3, 1.0])
@pytest.mark.parametrize(("eps", "D"), [(0.1, 1), (1, 2.5), (4, 1), (30, 0.5)])
def test_plot_staircase(ax, eps, D, gamma):
    mechanism = sn.Staircase(eps, D, gamma)
    assert mechanism.plot(ax) is ax
    values, edges, _ = steps(ax)["Staircase"]
    check_stairs(values, edges, mechanism)
    positive = edges[edges > 0]
    assert positive == pytest.approx((mechanism.gamma + np.arange(positive.size)) * D)
    assert edges == pytest.approx(-edges[::-1])
    assert edges[-1] >= mechanism.error_bound(0.99)
    other = sn.Laplace(eps, D)
    line = lines(ax)["Laplace"]
    assert np.array_equal(line.get_ydata(), other.pdf(line.get_xdata()))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Laplace", "Staircase"]
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == (repr(mechanism), "noise", "probability density")


def test_plot_of_more_stairs_than_anybody_sees(ax):
    mechanism = sn.Staircase(1e-6)
    mechanism.plot(ax)
    values, edges, _ = steps(ax)["Staircase"]
    assert values.size < 3000
    assert np.array_equal(values, mechanism.pdf((edges[1:] + edges[:-1]) / 2))


@pytest.mark.parametrize(("eps", "D", "r"), [(1, 5, 3), (0.5, 1, 1), (20, 4, "l2")])
def test_plot_discrete_staircase(ax, eps, D, r):
    mechanism = sn.DiscreteStaircase(eps, D, r)
    mechanism.plot(ax)
    for label, drawn in (("DiscreteStaircase", mechanism), ("DiscreteLaplace", sn.DiscreteLaplace(eps, D))):
        line = lines(ax)[label]
        k = line.get_xdata()
        assert np.array_equal(k, np.arange(-k[-1], k[-1] + 1))
        assert np.array_equal(line.get_ydata(), drawn.pmf(k))
        assert k[-1] >= max(mechanism.error_bound(0.99), mechanism.r + D - 1)
    (stems,) = ax.collections
    tops = [segment[1] for segment in stems.get_segments()]
    assert np.array_equal(tops, np.column_stack([k, mechanism.pmf(k)]))
    assert ax.get_ylabel() == "probability"


@pytest.mark.parametrize(
    "mechanism", [sn.DiscreteStaircase(0.001, 7), sn.DiscreteStaircase(4, 10**12), sn.DiscreteLaplace(2.0**-40)]
)
def test_plot_of_many_integers_is_a_line(ax, mechanism):
    mechanism.plot(ax)
    line = lines(ax)[type(mechanism).__name__]
    assert 1000 < line.get_xdata().size < 3000
    assert np.array_equal(line.get_ydata(), mechanism.pmf(line.get_xdata()))
    assert line.get_ydata().min() > 0  # all are integers
    assert not ax.collections


@pytest.mark.parametrize("mechanism", [sn.Laplace(2, 3), sn.DiscreteLaplace(0.5, 2), sn.DiscreteLaplace(30)])
def test_plot_laplace_alone(ax, mechanism):
    mechanism.plot(ax)
    assert list(lines(ax)) == [type(mechanism).__name__]
    line = lines(ax)[type(mechanism).__name__]
    function = mechanism.pdf if isinstance(mechanism, sn.Laplace) else mechanism.pmf
    assert np.array_equal(line.get_ydata(), function(line.get_xdata()))
    assert line.get_xdata()[-1] >= 1


def test_plot_without_laplace(ax):
    sn.Staircase(1).plot(ax, laplace=False)
    assert not lines(ax)


def test_histogram_of_a_continuous_mechanism(ax):
    mechanism = sn.Staircase(1)
    mechanism.plot(ax, samples=5000, rng=sn.SeededRng(3), bins=37)
    shares, edges, _ = steps(ax)["5,000 samples"]
    noise = mechanism.sample(5000, rng=sn.SeededRng(3))
    assert shares.size == 37
    inside = [np.count_nonzero((noise >= a) & (noise < b)) for a, b in itertools.pairwise(edges)]
    assert shares * np.diff(edges) * 5000 == pytest.approx(inside)
    assert sum(inside) < 5000  # what is out of sight counts


def test_histogram_of_a_discrete_mechanism(ax):
    sn.DiscreteLaplace(1).plot(ax, samples=[0, 0, 1, -2, 10**9])
    shares, edges, _ = steps(ax)["5 samples"]
    by_integer = dict(zip((edges[1:] + edges[:-1]) / 2, shares, strict=True))
    assert set(np.diff(edges)) == {1}
    assert {k: share for k, share in by_integer.items() if share} == pytest.approx({0: 0.4, 1: 0.2, -2: 0.2})


def test_histogram_with_several_integers_to_a_bar(ax):
    mechanism = sn.DiscreteStaircase(0.01, 3)
    noise = mechanism.sample(10_000, rng=sn.SeededRng(1))
    mechanism.plot(ax, samples=noise, bins=50)
    shares, edges, _ = steps(ax)["10,000 samples"]
    width = edges[1] - edges[0]
    assert shares.size <= 50
    assert width == int(width) > 1
    assert edges[0] % 1 == 0.5
    # A seeded draw: 200 expected in the central bars, five standard deviations are 0.36 of that.
    centre = abs(edges[:-1]) < 100
    assert shares[centre] == pytest.approx(mechanism.pmf(np.floor(edges[:-1][centre] + width / 2)), rel=0.4)


def test_plot_without_axes_makes_a_figure_that_pyplot_shows(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    ax = sn.Staircase(1).plot()
    try:
        (new,) = set(pyplot.get_fignums()) - set(before)
        assert pyplot.figure(new) is ax.figure
    finally:
        pyplot.close(ax.figure)


@pytest.mark.parametrize(
    ("mechanism", "arguments", "error", "text"),
    [
        (sn.Staircase([1, 2]), {}, sn.ParameterError, "plot must have scalar parameters, got parameters of shape (2,)"),
        (sn.Laplace(1), {"samples": 0}, sn.ParameterError, "samples must be an integer from 1 to"),
        (sn.Laplace(1), {"samples": []}, sn.ParameterError, "samples must have at least one value, got a value of type list"),
        (sn.Laplace(1), {"samples": "x"}, sn.ParameterTypeError, "samples must be a real number or an array"),
        (sn.Laplace(1), {"samples": True}, sn.ParameterTypeError, "samples must be a real number or an array"),
        (sn.Laplace(1), {"rng": sn.SeededRng(1)}, sn.ParameterError, "rng must be left out unless samples is a number"),
        (sn.Laplace(1), {"samples": 5, "rng": 1}, sn.ParameterTypeError, "rng must be"),
        (sn.Laplace(1), {"bins": 0}, sn.ParameterError, "bins must be an integer from 1 to"),
        (sn.Laplace(1), {"bins": 1.5}, sn.ParameterTypeError, "bins must be an integer, got 1.5"),
    ],
)
def test_plot_refuses(ax, mechanism, arguments, error, text):
    with pytest.raises(error) as caught:
        mechanism.plot(ax, **arguments)
    assert str(caught.value).startswith(text)
    assert not ax.has_data()


# The classic figures


@pytest.mark.slow
def test_densities():
    left, right = figures.densities(eps=2, sensitivity=3, gamma="l2").axes
    mechanism, other = sn.Staircase(2, 3, "l2"), sn.Laplace(2, 3)
    for axes in (left, right):
        ((label, (values, edges, _)),) = steps(axes).items()
        check_stairs(values, edges, mechanism)
        assert float(label.removeprefix("staircase, γ = ")) == pytest.approx(mechanism.gamma, rel=1e-3)
        line = lines(axes)["Laplace"]
        assert np.array_equal(line.get_ydata(), other.pdf(line.get_xdata()))
    assert (left.get_yscale(), right.get_yscale()) == ("linear", "log")


def test_optimal_gamma():
    (axes,) = figures.optimal_gamma(costs=("l1", "l2", 3.0)).axes
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
    """14.84 and 23.61 at eps = 10, from the closed forms of the least E|X| and E X²."""
    (axes,) = figures.gain().axes
    b = math.exp(-10)
    amplitude = (1 / 10) * 2 * math.sinh(5)
    power = (2 / 10**2) * (1 - b) ** 2 / (2 ** (-2 / 3) * (b * (1 + b)) ** (2 / 3) + b)
    assert {text.get_text() for text in axes.texts} == {f"{amplitude:.2f}", f"{power:.2f}"} == {"14.84", "23.61"}
    for (label, line), text, p in zip(lines(axes).items(), axes.texts, (2, 1), strict=True):
        eps = line.get_xdata()
        assert (eps[0], eps[-1]) == (pytest.approx(0.1), pytest.approx(20))
        assert label == ("amplitude: E|X|" if p == 1 else "power: E X²")
        ours = sn.Staircase(eps, 1.0, f"l{p}").abs_moment(p)
        assert np.array_equal(line.get_ydata(), sn.Laplace(eps).abs_moment(p) / ours)
        assert text.xy[0] == 10
        assert text.xy[1] == pytest.approx(float(text.get_text()), rel=1e-3)


@pytest.mark.parametrize("eps", [0.05, 3.0, 30.0])
def test_gain_at_another_eps(eps):
    (axes,) = figures.gain(eps=eps).axes
    assert min(line.get_xdata()[0] for line in lines(axes).values()) <= eps * (1 + 1e-12)
    assert max(line.get_xdata()[-1] for line in lines(axes).values()) >= eps * (1 - 1e-12)
    amplitude = 2 * math.sinh(eps / 2) / eps
    assert float(axes.texts[1].get_text()) == pytest.approx(amplitude, rel=1e-3)
    assert f"ε = {eps:g}" in axes.get_title(loc="left")


def test_mean_error():
    (axes,) = figures.mean_error().axes
    drawn = lines(axes)
    eps = drawn["Laplace"].get_xdata()
    assert drawn["Laplace"].get_ydata() == pytest.approx(1 / eps)
    assert drawn["staircase, γ* for E|X|"].get_ydata() == pytest.approx(1 / (2 * np.sinh(eps / 2)))
    # γ = 1 and γ → 0 are one mechanism, whose E|X| is (Δ/2) coth(ε/2).
    one = drawn["staircase, γ = 1 or γ → 0"].get_ydata()
    assert one == pytest.approx(0.5 / np.tanh(eps / 2))
    assert one == pytest.approx(sn.Staircase(eps, 1.0, 1e-12).abs_moment(1), rel=1e-3) or eps[-1] > 20
    for gamma in (0.01, 0.5):
        c = 1 / np.expm1(eps)
        t = 2 * (gamma + c)
        assert drawn[f"staircase, γ = {gamma}"].get_ydata() == pytest.approx(t / 4 + c * (1 + c) / t)
    assert len(drawn) == 5


def test_discrete_pmf():
    linear, log = figures.discrete_pmf().axes
    assert (linear.get_yscale(), log.get_yscale()) == ("linear", "log")
    (staircase, laplace), logarithmic = (
        [lines(axes)[name] for name in ("discrete staircase, r = 3", "discrete Laplace")] for axes in (linear, log)
    )
    for upper, lower in zip((staircase, laplace), logarithmic, strict=True):
        assert np.array_equal(upper.get_xydata(), lower.get_xydata())
    k = staircase.get_xdata()
    assert np.array_equal(staircase.get_ydata(), sn.DiscreteStaircase(1, 5, 3).pmf(k))
    assert np.array_equal(laplace.get_ydata(), sn.DiscreteLaplace(1, 5).pmf(laplace.get_xdata()))
    # r = 3, Δ = 5: five integers in the centre, then five to every stair, each lower by e.
    heights, widths = np.unique(np.round(staircase.get_ydata(), 12), return_counts=True)
    assert widths.tolist() == [10, 10, 10, 10, 5]
    assert heights[1:] / heights[:-1] == pytest.approx(math.e)


def test_discrete_variance():
    drawn_axes = figures.discrete_variance(eps=6, sensitivity=5).axes
    for axes, fixed in zip(drawn_axes, ("eps", "sensitivity"), strict=True):
        drawn = lines(axes)
        x = drawn["discrete Laplace"].get_xdata()
        eps, D = (6.0, x) if fixed == "eps" else (x, 5)
        assert np.array_equal(drawn["discrete Laplace"].get_ydata(), sn.DiscreteLaplace(eps, D).var())
        one = drawn["discrete staircase, r = 1"].get_ydata()
        best = drawn["discrete staircase, best r"].get_ydata()
        limit = drawn["limit of r = 1 as ε grows"].get_ydata()
        assert np.array_equal(one, sn.DiscreteStaircase(eps, D, 1).var())
        assert np.array_equal(best, sn.DiscreteStaircase(eps, D, "l2").var())
        assert (best <= one * (1 + 1e-12)).all()
        # At large eps X is 0, or one of ±1 .. ±Δ with probability e^(-eps) each.
        assert limit == pytest.approx(sum(2 * k**2 * (k <= np.asarray(D)) for k in range(1, 101)) * np.exp(-eps))
        # No mechanism has a sensitivity between two integers, so that no line joins the dots there.
        joined = [name for name, line in drawn.items() if line.get_linestyle() != "None"]
        assert len(joined) == (1 if fixed == "eps" else 4)
    # With eps on the axis the limit is one: the ratio tends to 1.
    assert limit[-1] / one[-1] == pytest.approx(1, rel=1e-4)
    assert limit[0] / one[0] < 0.1


def test_bounded():
    """The ratios at the marks are the issue's; the one-sided forms are the same staircase, moved by A."""
    linear, log, sides, ratio = figures.bounded().axes
    assert [axes.get_yscale() for axes in (linear, log, sides, ratio)] == ["linear", "log", "log", "linear"]
    mechanism = sn.TruncatedStaircase(4, 1e-6, gamma="l2")
    for axes in (linear, log):
        check_stairs(*steps(axes)["truncated staircase"][:2], mechanism)
        x, density = lines(axes)["truncated Laplace"].get_data()
        assert np.array_equal(density, sn.TruncatedLaplace(4, 1e-6).pdf(x))
    # Both ends are in the picture.
    assert log.get_xlim()[1] > mechanism.upper
    for name, bounds in (("lower=0", (0, None)), ("upper=0", (None, 0))):
        check_stairs(*steps(sides)[name][:2], sn.TruncatedStaircase(4, 1e-6, 1, "l2", *bounds))
    assert [text.get_text() for text in ratio.texts] == ["0.959", "0.845", "0.520", "0.108"]
    at = np.interp([text.xy[0] for text in ratio.texts], *ratio.lines[0].get_data())
    assert at == pytest.approx([0.959, 0.845, 0.52, 0.108], abs=2e-3)


@pytest.mark.slow
def test_panels_without_a_sensitivity_are_left_out():
    """Three sensitivities fill three of two by two panels."""
    drawn = figures.infinitely_divisible_variance((1, 2, 3)).axes
    assert [axes.get_title(loc="left") for axes in drawn] == ["Δ = 1", "Δ = 2", "Δ = 3"]


def test_infinitely_divisible_variance():
    """At large eps the multi-scale mechanism costs what r = 1 does; the generalized mechanism is never worse than discrete
    Laplace.
    """
    drawn_axes = figures.infinitely_divisible_variance((1, 10)).axes
    assert drawn_axes[0].get_ylim() == drawn_axes[1].get_ylim()
    assert [bool(axes.texts) for axes in drawn_axes] == [True, False]
    one_line = [line.get_ydata() for line in lines(drawn_axes[0]).values()]
    assert all(variance == pytest.approx(one_line[0], rel=1e-9) for variance in one_line[1:])
    for axes, D in zip(drawn_axes, (1, 10), strict=True):
        assert axes.get_title(loc="left") == f"Δ = {D}"
        drawn = lines(axes)
        eps = drawn["discrete Laplace"].get_xdata()
        found = {name: np.array(line.get_ydata()) for name, line in drawn.items()}
        assert np.array_equal(found["discrete Laplace"], sn.DiscreteLaplace(eps, D).var())
        assert np.array_equal(found["discrete staircase, best r"], sn.DiscreteStaircase(eps, D, "l2").var())
        assert np.array_equal(found["discrete staircase, r = 1"], sn.DiscreteStaircase(eps, D, 1).var())
        multi_scale = found["multi-scale discrete Laplace"]
        assert multi_scale == pytest.approx(D * (D + 1) * (2 * D + 1) / 6 / (np.cosh(eps) - 1), rel=1e-12)
        assert multi_scale[-1] == pytest.approx(found["discrete staircase, r = 1"][-1], rel=1e-3)
        generalized = found["generalized discrete Laplace, best β and a"]
        assert (generalized <= found["discrete Laplace"] * (1 + 1e-12)).all()
        assert (generalized >= found["discrete staircase, best r"] * (1 - 1e-9)).all()
    assert generalized[-1] < found["discrete Laplace"][-1] / 1000


@pytest.mark.parametrize(("eps", "D", "gamma", "delta"), [(1, 1, 0.5, 1e-3), (4, 2.5, 0.125, 1e-6), (0.25, 1, 1.0, 0.1)])
def test_selection(eps, D, gamma, delta):
    """Probabilities from the papers' formulas: the weights of ten candidates, the best coin among nine, and the recursion."""
    left, right = figures.selection(eps, D, gamma, delta).axes
    drawn = lines(left)
    assert list(drawn) == ["permute-and-flip", "exponential mechanism"]
    cost, flips = drawn["permute-and-flip"].get_data()
    a = np.exp(-eps * cost / (2 * D))
    # The best one's coin falls heads. It is the answer unless one of the m heads among the nine others is taken.
    m = np.arange(10)
    heads = np.array([math.comb(9, k) for k in m]) * a[:, None] ** m * (1 - a[:, None]) ** (9 - m)
    assert flips == pytest.approx((heads / (1 + m)).sum(axis=1), rel=1e-9)
    assert drawn["exponential mechanism"].get_ydata() == pytest.approx(1 / (1 + 9 * a), rel=1e-12)
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
    left, right = figures.selection(eps=2.0**-30).axes
    assert not steps(left)
    cost, probability = lines(left)["staircase"].get_data()
    assert cost.size <= 1000
    assert probability == pytest.approx(1 / (1 + 9 * np.exp(-(2.0**-31) * cost)), rel=1e-6)
    n, shown = right.lines[0].get_data()
    assert n.size <= 1000
    assert shown == pytest.approx(n / 1000, rel=1e-5)  # at so small an ε, each person adds δ


@functools.cache
def laid_out(name):
    """A figure with its own defaults, every text of which has its place."""
    drawn = figures.draw(name)
    with figures.house_style():
        drawn.draw_without_rendering()
    return drawn


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_text_is_cut_off_or_overlaps(name):
    drawn = laid_out(name)
    whole = drawn.bbox
    legends = [legend.get_window_extent() for legend in drawn.legends]
    assert len(legends) == 1
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


@functools.cache
def svg(name):
    """The file of a figure with its own defaults."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figure.svg"
        figures.save(figures.draw(name), file)
        return file.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.long) for name in NAMES[1:])])
def test_files_repeat(name, tmp_path):
    figures.save(figures.draw(name), tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text(encoding="utf-8") == svg(name)
    assert xml.etree.ElementTree.fromstring(svg(name)).tag == "{http://www.w3.org/2000/svg}svg"
    assert "dc:date" not in svg(name)
    assert f"<title>{html.escape(figures.draw(name).get_suptitle(), quote=False)}</title>" in svg(name)


@pytest.mark.parametrize("name", NAMES)
def test_ticks_are_written_in_one_way(name):
    """Plain numbers on every axis, no powers of ten."""
    texts = [
        text.get_text() for axes in laid_out(name).axes for axis in (axes.xaxis, axes.yaxis) for text in axis.get_ticklabels()
    ]
    assert texts
    assert [text for text in texts if not re.fullmatch(r"(−?[\d,]+(\.\d+)?)?", text)] == []


@pytest.mark.slow
def test_letters_are_as_large_as_a_telephone_s():
    """At 375 pixels, the width of a telephone, ten points are ten pixels."""
    for name in NAMES:
        assert laid_out(name).get_figwidth() * 72 <= 375


@pytest.mark.slow
def test_bitmaps_repeat(tmp_path):
    files = [tmp_path / "0.png", tmp_path / "1.png"]
    for file in files:
        figures.save(figures.gain(), file)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert files[0].read_bytes().startswith(b"\x89PNG")


def test_a_figure_without_a_title_is_saved(tmp_path):
    figures.save(figure.Figure(), tmp_path / "a.svg")
    assert "<title>" not in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_settings_of_the_user_change_nothing(tmp_path):
    with matplotlib.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path", "axes.grid": False}):
        figures.save(figures.draw("gain"), tmp_path / "gain.svg")
        assert matplotlib.rcParams["font.size"] == 30
    assert (tmp_path / "gain.svg").read_text(encoding="utf-8") == svg("gain")


@pytest.mark.slow
def test_figures_need_neither_pyplot_nor_a_display(tmp_path):
    code = (
        "import sys\n"
        "from stairnoise import figures\n"
        "assert not any(name.startswith('matplotlib') for name in sys.modules)\n"
        f"figures.save(figures.densities(), {str(tmp_path / 'a.png')!r})\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("name", "options", "error", "text"),
    [
        ("x", {}, sn.ParameterError, "name must be one of densities, optimal_gamma, gain, "),
        (None, {}, sn.ParameterTypeError, "name must be one of densities"),
        ("gain", {"gamma": 1}, sn.ParameterError, "gamma must be left out for the figure 'gain', got 1"),
        ("gain", {"eps": 0}, sn.ParameterError, "eps must be finite and greater than 0, got 0.0"),
        ("gain", {"eps": [1, 2]}, sn.ParameterError, "eps must be a single number"),
        (
            "densities",
            {"sensitivity": [1, 2]},
            sn.ParameterError,
            "densities must have scalar parameters, got parameters of shape (2,)",
        ),
        ("discrete_pmf", {"r": 9}, sn.ParameterError, "r must be"),
        ("discrete_variance", {"sensitivity": 1.5}, sn.ParameterError, "sensitivity must be a whole number"),
    ],
)
def test_bad_input(name, options, error, text):
    with pytest.raises(error) as caught:
        figures.draw(name, **options)
    assert str(caught.value).startswith(text)


@pytest.mark.parametrize("file", ["x.jpg", "x", "x.PNG", ".png"])
def test_other_suffixes(file, tmp_path):
    with pytest.raises(sn.ParameterError, match=r"output must end in \.png or \.svg, got '"):
        figures.save(figure.Figure(), tmp_path / file)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (sn.Staircase(1).plot, figures.densities, lambda: figures.draw("gain")):
        with pytest.raises(ModuleNotFoundError) as caught:
            call()
        assert str(caught.value) == "plots need matplotlib: pip install matplotlib"


def test_what_matplotlib_lacks_is_not_blamed_on_the_extra(monkeypatch, tmp_path):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    (tmp_path / "matplotlib.py").write_text("import something_it_needs\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match=r"^No module named 'something_it_needs'$"):
        sn.Staircase(1).plot()


# docs/figures.md


PAGE = (ROOT / "docs" / "figures.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    (stairnoise plot .+)$", PAGE, re.MULTILINE)


def test_the_page_shows_every_figure_and_its_command():
    drawn = [command.split()[2] for command in COMMANDS]
    assert drawn == list(figures.FIGURES)
    assert [command.split()[-2:] for command in COMMANDS] == [["-o", f"docs/figures/{name}.svg"] for name in drawn]
    assert re.findall(r"!\[.+\]\(figures/(\w+)\.svg\)", PAGE) == drawn
    assert {file.stem for file in (ROOT / "docs/figures").iterdir()} == set(drawn)


@pytest.mark.parametrize("name", NAMES)
def test_the_committed_figure_is_current(name):
    """Its texts are those of today's figure, and, where the same Matplotlib made it, its curves to a tenth of a pixel."""
    old, new = (ROOT / f"docs/figures/{name}.svg").read_text(encoding="utf-8"), svg(name)
    assert re.findall(r"<text[^>]*>(.*?)</text>", old) == re.findall(r"<text[^>]*>(.*?)</text>", new)
    maker = r"<dc:title>(Matplotlib v[^,]*),"
    if re.findall(maker, old) == re.findall(maker, new):
        curves = [re.findall(r"-?\d+\.?\d*", " ".join(re.findall(r' d="([^"]*)"', text))) for text in (old, new)]
        assert np.allclose(*(np.array(numbers, float) for numbers in curves), rtol=0, atol=0.1)


@pytest.mark.parametrize("block", re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL), ids=itertools.count(1))
def test_the_page_s_python_runs(block):
    exec(compile(block, "docs/figures.md", "exec"), {"__name__": "__figures__"})
