"""The page Explore shows the library's numbers.

Evidence: `compare`, `error_bound` and the density, computed again for settings of each kind, against numbers and curves in the
built page. Numbers on the page have four digits, so they agree to 5e-4 relative.
"""

import json
import math
import re
from pathlib import Path
from typing import Any

import explore_numbers
import pytest

import stairnoise as sn
from tests.combinations import looped

# At least one setting for each kind, sensitivity, δ and number of releases; slow settings are left to the build.
SETTINGS = [
    ("real", 4, 1, None, 1),
    ("real", 0.1, 10, None, 30),
    ("real", 4, 5, 1e-6, 1),
    ("real", 2, 10, 1e-9, 7),
    ("integer", 1, 1, None, 1),
    ("integer", 4, 1, 1e-9, 1),
    ("integer", 0.5, 10, None, 7),
    ("integer", 2, 5, 1e-6, 1),
    ("integer", 0.25, 10, 1e-6, 30),
]


def page(site: Path) -> dict[str, Any]:
    found = re.search(
        r'<script type="application/json" id="explore-views">(.*?)</script>', (site / "explore.html").read_text(encoding="utf-8")
    )
    assert found is not None
    numbers: dict[str, Any] = json.loads(found[1])
    return numbers


def test_every_setting_is_there(site: Path) -> None:
    numbers = page(site)
    found, texts = numbers["views"], numbers["texts"]
    every = {
        explore_numbers.key(kind, eps, sensitivity, delta, releases)
        for kind in explore_numbers.KINDS
        for eps in explore_numbers.EPS
        for sensitivity in explore_numbers.SENSITIVITY
        for delta in explore_numbers.DELTA
        for releases in explore_numbers.RELEASES
    }
    assert set(found) == every
    for name, view in found.items():
        kind, _, sensitivity, delta, _ = name.split(" ")
        names = explore_numbers.mechanisms(kind, float(sensitivity), float(delta) or None)
        left_out = re.findall(r"Left out: (\w+);", texts[view["notes"]])
        assert sorted([row[0] for row in view["rows"]] + left_out) == sorted(names)
        assert all(number is None or math.isfinite(number) for row in view["rows"] for number in row[1:])


@looped("setting", SETTINGS)
def test_numbers_are_the_librarys(site: Path, setting: tuple[str, float, float, float | None, int]) -> None:
    """The page scales real numbers from sensitivity 1; the test computes them at the setting's sensitivity."""
    kind, eps, sensitivity, delta, releases = setting
    numbers = page(site)
    view = numbers["views"][explore_numbers.key(*setting)]
    names = explore_numbers.mechanisms(kind, sensitivity, delta)
    table = sn.compare(eps, sensitivity, delta=delta, releases=releases, mechanisms=names)
    assert numbers["texts"][view["says"]] == table.recommendation
    assert numbers["texts"][view["notes"]] == " ".join(f"{note}." for note in table.notes)
    for name, mean, std, bound, p_zero, ratio in view["rows"]:
        row = table[name]
        assert mean == pytest.approx(row.mean_abs, rel=6e-4)
        assert std == pytest.approx(row.mechanism.std(), rel=6e-4)
        assert bound == pytest.approx(row.mechanism.error_bound(0.95), rel=6e-4)
        assert p_zero == (None if kind == "real" else pytest.approx(row.mechanism.pmf(0), rel=6e-4))
        assert ratio == pytest.approx(row.ratio, rel=6e-4)
    means = [row[1] for row in view["rows"]]
    assert means == sorted(means)


@pytest.mark.parametrize("setting", SETTINGS[:2] + SETTINGS[4:5], ids=lambda setting: " ".join(map(str, setting)))
def test_curves_are_the_densities(site: Path, setting: tuple[str, float, float, float | None, int]) -> None:
    """The picture is 240 units high, and points are rounded to a tenth of a unit."""
    kind, eps, sensitivity, delta, releases = setting
    numbers = page(site)
    view = numbers["views"][explore_numbers.key(*setting)]
    mechanisms = {
        row.name: row.mechanism
        for row in sn.compare(
            eps,
            sensitivity,
            delta=delta,
            releases=releases,
            mechanisms=explore_numbers.mechanisms(kind, sensitivity, delta),
        )
    }
    points = {}
    for name, index in view["curves"].items():
        flat = [float(number) for number in numbers["texts"][index].split(" ")]
        x = [view["limit"] * number / (explore_numbers.WIDTH / 2) for number in flat[::2]]
        heights = [mechanisms[name].pdf(v) if kind == "real" else mechanisms[name].pmf(math.floor(v + 0.5)) for v in x]
        points[name] = (heights, [1 - y / explore_numbers.HEIGHT for y in flat[1::2]])
    top = max(max(heights) for heights, _ in points.values())
    assert top <= view["top"] <= 1.5 * top
    for heights, drawn in points.values():
        assert drawn == pytest.approx([height / view["top"] for height in heights], abs=0.06 / explore_numbers.HEIGHT)


def test_the_page_opens_where_the_staircase_is_seen(site: Path) -> None:
    """Staircase noise at ε = 4 falls at two edges by a factor of e⁴ each, and beside it is Laplace noise alone."""
    view = page(site)["views"][explore_numbers.key(*pytest.importorskip("explore").DEFAULT)]
    assert [row[0] for row in view["rows"]] == ["Staircase", "Laplace"]
    mechanism = sn.Staircase(4)
    assert mechanism.gamma < 1 + mechanism.gamma < view["limit"]


def test_without_a_script_the_page_shows_one_setting(site: Path) -> None:
    text = (site / "explore.html").read_text(encoding="utf-8")
    numbers = page(site)
    view = numbers["views"][explore_numbers.key(*pytest.importorskip("explore").DEFAULT)]
    assert '<form id="explore-form" class="explore" hidden>' in text
    for name, mean, *_ in view["rows"]:
        assert f'<tr><th scope="row">{name}</th><td>{mean:g}</td>' in text
