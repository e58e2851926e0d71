"""A private table in a notebook: its HTML, and `plot`. Both show the released numbers, and groups can be any text."""

import html.parser

import pytest

import stairnoise as sn
from stairnoise import query
from tests.query.persons import visits_of

pyplot = pytest.importorskip("matplotlib.pyplot")
figure = pytest.importorskip("matplotlib.figure")

GROUPS = ["Paris", "<script>x</script>", "$x$", "a\x1b[0mb", "n" * 99, None]


@pytest.fixture(scope="module")
def table():
    con = visits_of([(group, 7) for group in GROUPS[:3] for _ in range(90)])
    asked = {"by": "city", "groups": GROUPS, "row_is_person": True, "eps": 4, "count": True, "mean": {"spent": (0, 9)}}
    return query.table(con, "visits", rng=sn.SeededRng(1, allow_release=True), **asked)


def fields(text):
    """Return the tags of HTML, and the texts of its cells."""
    tags, found = set(), []

    class Reader(html.parser.HTMLParser):
        def handle_starttag(self, tag, attrs):
            tags.add(tag)

        def handle_data(self, data):
            found.append(data)

    Reader().feed(text)
    return tags, found


def test_html(table):
    tags, found = fields(table._repr_html_())
    assert tags == {"table", "thead", "tbody", "tr", "th", "td", "p"}
    assert found[: len(table.columns)] == list(table.headings)
    assert found[len(table.columns) : -2] == [field for row in table.texts() for field in row]
    assert "<script>x</script>" in found
    assert "a\\x1b[0mb" in found


def test_html_of_many_rows():
    con = visits_of([("Paris", 7)])
    many = query.count(con, "visits", by="city", groups=[str(n) for n in range(99)], row_is_person=True, eps=1)
    shown = many._repr_html_()
    assert shown.count("<tr>") == 61
    assert "... and 39 more rows" in shown


def test_a_dot_and_a_bar_for_each_group(table):
    ax = table.plot(ax=figure.Figure().subplots())
    dots, _, (bars,) = ax.containers[0]
    values, bounds = zip(*(row[1:3] for row in table), strict=True)
    assert tuple(dots.get_xdata()) == values
    assert [tuple(end[0] for end in bar) for bar in bars.get_segments()] == [
        (value - bound, value + bound) for value, bound in zip(values, bounds, strict=True)
    ]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == ["Paris", "<script>x</script>", "$x$", "a\\x1b[0mb", "n" * 24 + "…", "NULL"]
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    assert ax.get_xlabel() == "count\nbars: 95 % for the true value"
    # The first group is at the top.
    assert ax.get_ylim()[0] > ax.get_ylim()[1]


def test_the_bars_of_means(table):
    """They end where the intervals end, and a group that may be empty has none."""
    ax = table.plot("mean_spent", ax=figure.Figure().subplots())
    rows = [row for row in table.to_dicts() if not row["may_be_empty"]]
    assert 0 < len(rows) < len(table)
    bars = ax.containers[0][2][0].get_segments()
    for bar, row in zip(bars, rows, strict=True):
        assert [end[0] for end in bar] == pytest.approx([row["mean_spent_low"], row["mean_spent_high"]])
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels[-1] == "NULL (may be empty)"


def test_pictures_of_little():
    con = visits_of([])
    whole = query.count(con, "visits", row_is_person=True, eps=1)
    assert [label.get_text() for label in whole.plot().get_yticklabels()] == ["all rows"]
    hidden = query.count(con, "visits", by="city", row_is_person=True, eps=1, delta=1e-9)
    assert len(hidden) == 0
    assert hidden.plot().get_yticklabels() == []
    pyplot.close("all")


def test_another_statistic_is_refused(table):
    with pytest.raises(sn.ParameterError, match="statistic must be one of the columns 'count', 'mean_spent', got 'mean_spend'"):
        table.plot("mean_spend")
