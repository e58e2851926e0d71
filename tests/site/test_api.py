"""Pages of classes are short and begin with what is used first; the command line's page has every option.

Evidence: the HTML, and its layout in the browser.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from public import NAMES

import stairnoise as sn
from tests.combinations import looped

MECHANISMS = [name for name in sn.__all__ if hasattr(getattr(sn, name), "sample")]


@looped("name", MECHANISMS)
def test_a_mechanism_begins_with_its_use(site: Path, name: str) -> None:
    text = (site / "api" / "generated" / f"stairnoise.{name}.html").read_text(encoding="utf-8")
    members = re.findall(rf'<dt class="sig sig-object py" id="stairnoise\.{name}\.(\w+)">', text)
    assert members[:2] == ["select" if issubclass(getattr(sn, name), sn.SelectionMechanism) else "release", "sample"]
    groups = re.findall(r"<h2>(\w+)<", text)
    assert groups == [
        group for group in ("Use", "Error", "Privacy", "Distribution", "Interoperability", "Attributes") if group in groups
    ]


def test_every_option_of_every_command_is_described(site: Path) -> None:
    typer = pytest.importorskip("typer")
    from stairnoise.cli.commands import app

    text = (site / "api" / "command_line.html").read_text(encoding="utf-8")
    sections = dict(re.findall(r'<section id="(\w+)">(.*?)</section>', text, re.DOTALL))
    commands = typer.main.get_command(app).commands
    assert not re.search("–[a-z]", text), "two hyphens are a dash"
    assert set(commands) == set(sections) - {"command"}
    for name, command in commands.items():
        for parameter in command.params:
            assert f"{parameter.opts[-1]}" in sections[name], parameter.opts


@pytest.mark.long
def test_a_page_takes_nine_screens(browser: Any, address: str, site: Path) -> None:
    """No page of the reference is higher than 8 000 pixels on a screen of 1280."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 1280, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    heights = {}
    for name in ("command_line", *(f"generated/{name}" for name in NAMES if name != "stairnoise.__version__")):
        browser.get(f"{address}/api/{name}.html")
        heights[name] = browser.execute_script("return document.documentElement.scrollHeight")
    assert {name: height for name, height in heights.items() if height > 8000} == {}


@pytest.mark.long
def test_an_address_unfolds_its_member(browser: Any, address: str) -> None:
    opened = "return [...document.querySelectorAll('details[open]')].map((it) => it.parentElement.previousElementSibling.id)"
    browser.get(f"{address}/api/command_line.html#query")
    summaries = browser.execute_script(
        "return [...document.querySelectorAll('details[open] > summary')].map((it) => it.innerText)"
    )
    assert "Who is protected" in summaries
    assert "Options" not in summaries
    for member in ("release", "compose"):
        browser.get(f"{address}/api/generated/stairnoise.Laplace.html#stairnoise.Laplace.{member}")
        assert f"stairnoise.Laplace.{member}" in browser.execute_script(opened)
