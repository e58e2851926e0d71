"""``plot`` of a mechanism: the picture shows what the library computes, and bad input is refused.

Drawn data are compared with the mechanisms, whose own tests have independent evidence.
"""

import itertools
import sys

import numpy as np
import pytest

import stairnoise as sn
from stairnoise.figures import style

matplotlib = pytest.importorskip("matplotlib")
figure = pytest.importorskip("matplotlib.figure")


@pytest.fixture
def ax():
    return figure.Figure().subplots()


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
    assert len(ax.get_legend().get_texts()) == 1
    assert list(lines(ax)) == [type(mechanism).__name__]
    line = lines(ax)[type(mechanism).__name__]
    function = mechanism.pdf if isinstance(mechanism, sn.Laplace) else mechanism.pmf
    assert np.array_equal(line.get_ydata(), function(line.get_xdata()))
    assert line.get_xdata()[-1] >= 1


def test_a_second_mechanism(ax):
    """It gets another colour and says its ε; title and names of axes stay, and the limits hold both. Laplace is drawn once."""
    sn.Staircase(1).plot(ax)
    narrow = ax.get_ylim()
    sn.Staircase(4).plot(ax)
    sn.Gaussian(1, 0.5).plot(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "Laplace",
        "Staircase",
        "Staircase, ε = 4",
        "Gaussian, ε = 1",
    ]
    colors = [patch.get_edgecolor() for patch in ax.patches] + [line.get_color() for line in ax.lines]
    assert len(set(map(matplotlib.colors.to_hex, colors))) == 4
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == (repr(sn.Staircase(1)), "noise", "probability density")
    assert (ax.get_ylim()[0], narrow[0]) == (0, 0)
    assert ax.get_ylim()[1] > sn.Staircase(4).pdf(0) > narrow[1]
    assert ax.get_xlim()[0] < steps(ax)["Staircase"][1][0]


@pytest.mark.parametrize("mechanism", [sn.TruncatedDiscreteStaircase(1, 1e-3, 5), sn.MultiScaleDiscreteLaplace(1, 3)])
def test_a_wide_legend_is_above_the_peak(mechanism):
    with style.house_style():
        drawn, [axes] = style.new_figure("", height=3.2)
        mechanism.plot(axes)
        drawn.draw_without_rendering()
        peak = max(line.get_ydata().max() for line in axes.lines)
        assert axes.get_legend().get_window_extent().y0 > axes.transData.transform((0, peak))[1]


def test_a_title_that_is_there_stays(ax):
    ax.set_title("mine")
    sn.DiscreteLaplace(1).plot(ax, laplace=True).set_xlabel("people")
    sn.DiscreteStaircase(1, 3).plot(ax, laplace=True)
    assert (ax.get_title(), ax.get_xlabel()) == ("mine", "people")
    assert [text.get_text() for text in ax.get_legend().get_texts()].count("DiscreteLaplace") == 2


@pytest.mark.parametrize("mechanism", [sn.Staircase(1), sn.Laplace(1), sn.DiscreteLaplace(1), sn.DiscreteLaplace(0.001)])
def test_keywords_of_matplotlib(ax, mechanism):
    mechanism.plot(ax, laplace=False, label="mine", c="red", lw=3, alpha=0.5)
    artists = [*ax.patches, *ax.lines, *ax.collections]
    for artist in artists:
        color = artist.get_edgecolor() if hasattr(artist, "get_edgecolor") else artist.get_color()
        assert matplotlib.colors.to_hex(np.ravel(color)[:3] if not isinstance(color, str) else color) == "#ff0000"
        assert artist.get_alpha() == 0.5
        assert np.ravel(artist.get_linewidth()) == [3]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mine"]


def test_a_new_figure_looks_like_the_command_line_s(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    from matplotlib import pyplot

    ax = sn.Staircase(1).plot()
    try:
        with style.house_style():
            _, [same] = style.new_figure("")
            sn.Staircase(1).plot(same)
        assert tuple(ax.figure.get_size_inches()) == tuple(same.figure.get_size_inches())
        assert ax.get_title(loc="left") == same.get_title(loc="left") == repr(sn.Staircase(1))
        for axes in (ax, same):
            assert not axes.spines["top"].get_visible()
            assert not axes.get_legend().get_frame_on()
            assert axes.xaxis.get_gridlines()[0].get_visible()
        sn.Laplace(1).plot(ax)
        assert not ax.get_legend().get_frame_on()
    finally:
        pyplot.close(ax.figure)


# The error against ε


@pytest.mark.parametrize(
    ("mechanism", "made"),
    [
        (sn.Staircase(2, 3, "l2"), lambda eps: sn.Staircase(eps, 3, "l2")),
        (sn.Gaussian(2, 1e-6), lambda eps: sn.Gaussian(eps, 1e-6)),
        (sn.DiscreteGaussian.from_eps(2, 1e-6, 4), lambda eps: sn.DiscreteGaussian.from_eps(eps, 1e-6, 4)),
        (sn.TruncatedLaplace(2, 1e-3, 5), lambda eps: sn.TruncatedLaplace(eps, 1e-3, 5)),
    ],
)
def test_the_error_against_eps(ax, mechanism, made):
    eps = [1, 2, 4.5]
    mechanism.plot_error(ax, eps=eps)
    curve, own = ax.lines
    assert curve.get_xdata().tolist() == eps
    assert curve.get_ydata().tolist() == [made(e).abs_moment(1) for e in eps]
    assert (own.get_xdata().tolist(), own.get_ydata().tolist()) == ([2], [mechanism.abs_moment(1)])
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_ylabel()) == ("log", "log", "E|X|")
    mechanism.plot_error(ax, confidence=0.9, label="bound", color="red")
    bound = lines(ax)["bound"]
    assert (bound.get_xdata()[0], bound.get_xdata()[-1]) == pytest.approx((0.4, 10))
    assert bound.get_ydata().tolist() == [made(e).error_bound(0.9) for e in bound.get_xdata().tolist()]


def test_an_error_of_zero_has_a_linear_scale(ax):
    sn.DiscreteLaplace(4).plot_error(ax, confidence=0.95)
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_ylabel()) == ("log", "linear", "95 % bound of |X|")
    assert min(ax.lines[0].get_ydata()) == 0


@pytest.mark.parametrize(
    ("mechanism", "arguments", "text"),
    [
        (sn.Staircase([1, 2]), {}, "plot_error must have scalar parameters"),
        (sn.DiscreteGaussian(3), {}, "plot_error must be called on a mechanism made from one eps, got DiscreteGaussian("),
        (sn.MergedLaplace([16, 4], [0.125]), {}, "plot_error must be called on a mechanism made from one eps"),
        (sn.Laplace(scale=3), {}, "plot_error must be called on a mechanism made from one eps"),
        (sn.Laplace(1), {"eps": [1, 0]}, "eps must be finite and greater than 0"),
        (sn.Laplace(1), {"confidence": 95}, "confidence must be"),
    ],
)
def test_plot_error_refuses(ax, mechanism, arguments, text):
    with pytest.raises(sn.ParameterError) as caught:
        mechanism.plot_error(ax, **arguments)
    assert str(caught.value).startswith(text)
    assert not ax.has_data()


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
    assert sum(inside) < 5000  # values outside the picture count


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
    # The draw is seeded. The central bars expect 200 values; five standard deviations are 0.36 of that.
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


# Files


def test_a_figure_without_a_title_is_saved(tmp_path):
    style.save(figure.Figure(), tmp_path / "a.svg")
    assert "<title>" not in (tmp_path / "a.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", ["x.jpg", "x", "x.PNG", ".png"])
def test_other_suffixes(file, tmp_path):
    with pytest.raises(sn.ParameterError, match=r"output must end in \.png or \.svg, got '"):
        style.save(figure.Figure(), tmp_path / file)
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (sn.Staircase(1).plot, style.house_style):
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


# Released values


def ends(ax):
    """Return the ends of the bars of the last release drawn."""
    (bars,) = ax.containers[-1][2]
    return [np.array(bar).T.tolist() for bar in bars.get_segments()]


@pytest.mark.parametrize("mechanism", [sn.DiscreteLaplace(1), sn.Staircase(1, 2)])
@pytest.mark.parametrize("k", [1, 3])
def test_plot_release(ax, mechanism, k):
    private = mechanism.release([3, 50, 7], max_partitions_contributed=k)
    low, high = mechanism.confidence_interval(private, 0.9, max_partitions_contributed=k)
    arguments = {"confidence": 0.9, "max_partitions_contributed": k, "ax": ax}
    assert sn.plot_release(private, mechanism, **arguments) is ax
    assert ax.containers[0][0].get_xydata().tolist() == list(map(list, enumerate(private.tolist())))
    assert ends(ax) == [[[x, x], pytest.approx([a, b])] for x, a, b in zip(range(3), low, high, strict=True)]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("index", "bars: 90 % for the true value")
    sn.plot_release(private, mechanism, **arguments, c="red", label="again")
    assert ax.containers[1][0].get_color() == "red"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["again"]
    assert ax.containers[0][0].get_color() == style.STAIRCASE.color


def test_a_release_with_labels_has_rows(ax):
    labels = ["Paris", "$x$", "a\x1b[0m" + "n" * 99]
    sn.plot_release([3, 50, 7], sn.DiscreteLaplace(1), labels, ax=ax)
    assert ax.containers[0][0].get_xydata().tolist() == [[3, 0], [50, 1], [7, 2]]
    assert ends(ax) == [[[value - 3, value + 3], [row, row]] for row, value in enumerate((3, 50, 7))]
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert shown[:2] == labels[:2]
    assert shown[2].startswith("a\\x1b[0mnnn")
    assert shown[2].endswith("n…")
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    assert ax.get_ylim()[0] > ax.get_ylim()[1]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (([1], sn.PermuteAndFlip(1)), sn.ParameterTypeError, "mechanism must be one that adds noise to numbers, got"),
        (([1], sn.Laplace), sn.ParameterTypeError, "mechanism must be one that adds noise to numbers, got"),
        (([1], 1), sn.ParameterTypeError, "mechanism must be one that adds noise to numbers, got 1"),
        ((1, sn.Laplace(1)), sn.ParameterError, "values must have one dimension, got 0"),
        (([[1]], sn.Laplace(1)), sn.ParameterError, "values must have one dimension, got 2"),
        ((["a"], sn.Laplace(1)), sn.ParameterTypeError, "values must be"),
        (([1, 2], sn.Laplace(1), ["a"]), sn.ParameterError, "labels must be one for each value, of which there are 2"),
        (([1, 2], sn.Laplace(1), "ab"), sn.ParameterError, "labels must be one for each value, of which there are 2"),
    ],
)
def test_plot_release_refuses(arguments, error, text):
    with pytest.raises(error) as caught:
        sn.plot_release(*arguments)
    assert str(caught.value).startswith(text)
