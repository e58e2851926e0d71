"""The built site in headless Chromium: every page loads by itself, search finds, and Explore works by keyboard.

Evidence: the browser's own console, list of requests, layout and focus. `make test-site` builds the site first.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stairnoise as sn

pytestmark = pytest.mark.long
WIDTHS = (375, 1280)
KINDS = (
    "index", "start", "tutorials/histogram", "how_to/seeds", "mechanisms", "explore", "theory/staircase", "theory/gaussian",
    "api/index", "api/generated/stairnoise.Staircase", "trust/security", "changelog", "contract",
)  # fmt: skip


def wide(browser: Any, width: int, height: int = 900) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    )


def scheme(browser: Any, name: str) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})


def wait_for(condition: Callable[[], Any], seconds: float = 30) -> Any:
    """Return what the condition returns as soon as it is true."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "nothing came in time"
        time.sleep(0.05)
    return found


def requested(browser: Any) -> set[str]:
    """Addresses that were asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}


def complaints(browser: Any) -> list[str]:
    """What the console says since the last call, but for notes."""
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def test_every_page_loads_by_itself_and_fits(browser: Any, address: str, site: Path) -> None:
    """No complaint, no request elsewhere, and nothing wider than the screen, at both widths."""
    names = sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html") if "_static" not in page.parts)
    complaints(browser), requested(browser)
    wrong: dict[str, Any] = {}
    for name in names:
        wide(browser, WIDTHS[1])
        browser.get(f"{address}/{name}")
        for width in WIDTHS:
            wide(browser, width)
            if (shown := browser.execute_script("return document.documentElement.scrollWidth")) > width:
                wrong[f"{name} at {width}"] = shown
        said = complaints(browser)
        elsewhere = {url for url in requested(browser) if not url.startswith((address, "data:"))}
        if said or elsewhere:
            wrong[name] = (said, elsewhere)
    print(f"{len(names)} pages")
    assert wrong == {}


def test_search_finds_release(browser: Any, address: str) -> None:
    browser.get(f"{address}/search.html?q=release")
    found = wait_for(lambda: browser.find_elements("css selector", "#search-results li a"))
    wait_for(lambda: "found" in browser.find_element("css selector", "#search-results .search-summary").text)
    found = browser.find_elements("css selector", "#search-results li a")
    links = [link.get_attribute("href") for link in found]
    assert len(links) > 10
    assert any("api/generated/" in link and "release" in link for link in links)
    browser.get(links[0])
    assert "release" in browser.find_element("tag name", "main").text.lower()


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_text_is_readable_in_light_and_dark(browser: Any, address: str, name: str, colours: str) -> None:
    """The page follows the system, and its text has a contrast of 4.5 at least (WCAG 2.2, 1.4.3)."""
    wide(browser, WIDTHS[1])
    scheme(browser, colours)
    browser.get(f"{address}/{name}.html")
    browser.execute_script("localStorage.clear()")
    browser.refresh()
    assert browser.execute_script("return document.documentElement.dataset.theme") == colours
    low = browser.execute_script(
        """
        const light = (colour) => {
          const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map((v) => v / 255)
            .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = (node) => {
          for (; node; node = node.parentElement) {
            const colour = getComputedStyle(node).backgroundColor;
            if (!colour.endsWith(", 0)")) return colour;
          }
          return "rgb(255, 255, 255)";
        };
        const low = new Set();
        for (const node of document.querySelectorAll("main :is(p, td, th, li, pre, h1, a, code, label, math)")) {
          if (!node.textContent.trim() || !node.checkVisibility()) continue;
          const [a, b] = [light(getComputedStyle(node).color), light(ground(node))].sort((x, y) => y - x);
          if ((a + 0.05) / (b + 0.05) < 4.5) low.add(`${node.tagName}.${node.className}: ${node.textContent.slice(0, 30)}`);
        }
        return [...low];
        """
    )
    assert low == []


def test_explore_works_by_keyboard(browser: Any, address: str, site: Path) -> None:
    """Tab goes from group to group, arrows choose, and picture, table and sentence follow; the numbers are those of the page."""
    from selenium.webdriver import ActionChains, Keys

    wide(browser, WIDTHS[1])
    browser.get(f"{address}/explore.html")
    groups = ["kind", "eps", "sensitivity", "delta", "releases"]

    def ask(expression: str) -> Any:
        return browser.execute_script(f"return {expression}")

    def every(selector: str, of_item: str) -> list[Any]:
        found: list[Any] = ask(f"""[...document.querySelectorAll("{selector}")].map((item) => {of_item})""")
        return found

    def chosen() -> list[str]:
        return every("#explore-form input:checked", "item.value")

    def agrees() -> bool:
        cell = numbers["cells"][" ".join(chosen())]
        rows = ask(
            "[...document.querySelectorAll('#explore-table tbody tr')].map((row) => [...row.cells].map((c) => c.textContent))"
        )
        shown = [[name, *(None if text == "–" else float(text) for text in texts)] for name, *texts in rows]
        legend = ask(
            "[...document.querySelectorAll('#explore-legend li')].filter((li) => !li.hidden).map((li) => li.textContent.trim())"
        )
        drawn = ask("[...document.querySelectorAll('#explore-picture path')].filter((path) => path.getAttribute('d')).length")
        said = browser.find_element("id", "explore-says").text
        label = browser.find_element("id", "explore-picture").get_attribute("aria-label")
        return (
            shown == cell["rows"]
            and legend == list(cell["curves"])
            and drawn == len(legend)
            and said == numbers["texts"][cell["says"]]
            and all(name in label for name in legend)
        )

    numbers = json.loads(ask("document.getElementById('explore-cells').textContent"))
    assert agrees()
    browser.execute_script("document.querySelector('#explore-form input:checked').focus()")
    seen = {tuple(chosen())}
    for group in range(5):
        before = chosen()
        assert ask("document.activeElement.name") == groups[group]
        ActionChains(browser).send_keys(Keys.ARROW_RIGHT).perform()
        after = chosen()
        assert [a != b for a, b in zip(before, after, strict=True)] == [i == group for i in range(5)]
        assert agrees()
        seen.add(tuple(after))
        ActionChains(browser).send_keys(Keys.TAB).perform()
    assert len(seen) == 6
    table = eval(browser.find_element("id", "explore-asks").text, {"sn": sn})
    assert [row.mechanism for row in table] == [name for name, *_ in numbers["cells"][" ".join(chosen())]["rows"]]
    assert browser.find_element("id", "explore-says").get_attribute("aria-live") == "polite"


def test_copy_buttons(browser: Any, address: str) -> None:
    browser.get(f"{address}/tutorials/histogram.html")
    wait_for(lambda: browser.find_elements("css selector", "button.copybtn"))
    blocks = browser.find_elements("css selector", "div.highlight pre")
    assert len(browser.find_elements("css selector", "button.copybtn")) == len(blocks) > 5
