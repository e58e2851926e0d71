"""The built site in headless Chromium: every page loads by itself, search finds, and Explore works by keyboard.

Evidence: the browser's own console, list of requests, layout and focus. `make test-site` builds the site first.
"""

import importlib.util
import io
import itertools
import json
import re
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import stairnoise as sn

pytestmark = pytest.mark.long
WIDTHS = (375, 1280)


def wide(browser: Any, width: int, height: int = 900) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    )


def scheme(browser: Any, name: str) -> None:
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]})


def wait_for(condition: Callable[[], Any], seconds: float = 120) -> Any:
    """Return the condition's result as soon as it is true."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "the condition was never true in time"
        time.sleep(0.05)
    return found


def requested(browser: Any) -> set[str]:
    """Return the addresses requested since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}


def complaints(browser: Any) -> list[str]:
    """Return the console's warnings and errors since the last call."""
    return [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


# Elements beyond the screen that do not scroll by themselves (the theme lets the whole article scroll), and formulas whose
# start, top or bottom is hidden. A text can overflow a narrow paragraph, so the article's own scroll width is also checked.
CUT = """
    const own = (node) => ["auto", "scroll", "hidden"].includes(getComputedStyle(node).overflowX);
    const scrolls = (node) => !node.classList.contains("bd-article-container") && (own(node) || scrolls(node.parentElement));
    const wide = [...document.querySelectorAll(".bd-article-container *")].filter((node) => {
      const { right, width } = node.getBoundingClientRect();
      return width > 1 && right > arguments[0] + 1 && node.checkVisibility() && !scrolls(node);
    });
    const left = [...document.querySelectorAll(".formula math")].filter(
      (node) => node.getBoundingClientRect().left < node.parentElement.getBoundingClientRect().left - 1
    );
    const low = [...document.querySelectorAll(".formula")].filter((node) => node.scrollHeight > node.clientHeight + 1);
    const long = [...document.querySelectorAll(".bd-article-container")].filter((it) => it.scrollWidth > it.clientWidth + 1);
    return [...wide, ...left, ...low, ...long].slice(0, 3).map((node) => node.outerHTML.slice(0, 80));
"""


# Text whose contrast with its background is below 4.5.
PALE = """
    const parts = (colour) => {
      const [r, g, b, alpha = 1] = colour.match(/[\\d.]+/g).map(Number);
      return [...(colour.startsWith("color(") ? [r, g, b] : [r / 255, g / 255, b / 255]), alpha];
    };
    const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3]));
    const ground = (node) => {
      if (!node) return [1, 1, 1];
      const own = parts(getComputedStyle(node).backgroundColor);
      return own[3] === 1 ? own : over(own, ground(node.parentElement));
    };
    const light = (colour) => {
      const [r, g, b] = colour.map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const low = new Set();
    for (const node of document.querySelectorAll("body *")) {
      const text = [...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data.trim()).join("");
      if (!text || !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const below = ground(node);
      const [a, b] = [light(over(parts(getComputedStyle(node).color), below)), light(below)].sort((x, y) => y - x);
      if ((a + 0.05) / (b + 0.05) < 4.5) low.add(`${node.tagName}.${node.className}: ${text.slice(0, 30)}`);
    }
    return [...low].slice(0, 5);
"""


# Where a page's text begins, and the code that is wider than its block.
LAYOUT = """
    const wide = [...document.querySelectorAll("pre")].filter((block) => block.scrollWidth > block.clientWidth);
    return [document.querySelector("h1").getBoundingClientRect().left, wide.map((block) => block.textContent.slice(0, 60))];
"""


def unseen(browser: Any, width: int) -> list[str]:
    """Return the parts of the page that are beyond a screen of this width, cut off, or too pale."""
    shown = browser.execute_script("return document.documentElement.scrollWidth")
    found = [f"{shown} wide"] if shown > width else []
    return [*found, *browser.execute_script(CUT, width), *browser.execute_script(PALE)]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_every_page(browser: Any, address: str, site: Path, width: int, colours: str) -> None:
    """Pages have the system's colours, one left edge, no warning, foreign request or cut text; contrast >= 4.5 (WCAG 2.2)."""
    names = sorted(page.relative_to(site).as_posix() for page in site.rglob("*.html") if "_static" not in page.parts)
    assert len(names) > 100
    wide(browser, width)
    scheme(browser, colours)
    browser.get(f"{address}/index.html")
    browser.execute_script("localStorage.clear()")
    complaints(browser), requested(browser)
    wrong = []
    for name in names:
        browser.get(f"{address}/{name}")
        found = unseen(browser, width) + complaints(browser)
        found += [url for url in requested(browser) if not url.startswith((f"{address}/", "data:"))]
        if (shown := browser.execute_script("return document.documentElement.dataset.theme")) != colours:
            found += [f"{shown} colours"]
        left, cut = browser.execute_script(LAYOUT)
        found += [f"text begins at {left} pixels"] if left != (256 if width == WIDTHS[1] else 16) else []
        found += cut if width == WIDTHS[1] else []
        wrong += [f"{name}: {what}" for what in found]
    print(f"{len(names)} pages")
    assert not wrong, "\n".join(wrong)


# One page of each kind.
KINDS = (
    *("index", "start", "README", "mechanisms", "explore", "figures", "glossary", "changelog", "genindex", "search", "query"),
    *("choose/index", "theory/staircase", "tutorials/histogram", "coming_from/opendp", "evidence/timing"),
    *("api/index", "api/command_line", "api/generated/stairnoise.Staircase"),
)

# What axe-core finds on a page, except in lists of sources, whose roles are Docutils'.
AXE = """
    const found = (rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 120)}`);
    axe.run({ exclude: [".citation-list"] }).then(({ violations }) => arguments[0](violations.flatMap(found)));
"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_axe_finds_nothing(browser: Any, address: str, width: int, colours: str) -> None:
    """axe-core's rules hold (names, roles, contrast, order of headings, size of targets)."""
    package = importlib.util.find_spec("axe_playwright_python")
    if package is None or package.origin is None:
        pytest.skip("the group `docs` is not installed")
    script = Path(package.origin).with_name("axe.min.js").read_text(encoding="utf-8")
    wide(browser, width)
    scheme(browser, colours)
    wrong = []
    for name in KINDS:
        browser.get(f"{address}/{name}.html" + "?q=release" * (name == "search"))
        if name == "search":
            wait_for(lambda: "found" in browser.find_element("css selector", "#search-results").text)
        browser.execute_script(script)
        wrong += [f"{name}: {what}" for what in browser.execute_async_script(AXE)]
    assert not wrong, "\n".join(wrong)


WORDS = {
    "average": "questions",
    "bigquery": "query",
    "budget": "ledger",
    "cite": "trust/index",
    "command line": "api/command_line",
    "csv": "query",
    "diffprivlib": "coming_from/diffprivlib",
    "epsilon": "which_epsilon",
    "error bars": "accuracy",
    "group by": "query",
    "histogram": "tutorials/histogram",
    "install": "start",
    "ledger": "ledger",
    "machine learning": "private_training",
    "median": "quantiles",
    "missing values": "columns",
    "null": "columns",
    "pandas": "columns",
    "plot": "figures",
    "pytest": "how_to/seeds",
    "salary mean": "questions",
    "seed": "how_to/seeds",
    "sensitivity": "glossary",
    "spark": "engines",
    "speed": "scale",
    "staircase": "api/generated/stairnoise.Staircase",
    "vulnerability": "trust/security",
}


def search(browser: Any, address: str, words: str) -> list[str]:
    """Return the pages that the search finds, each once, best first."""
    browser.get(f"{address}/search.html?{urllib.parse.urlencode({'q': words})}")
    # Rows are added one by one, and excerpts later.
    summary = "return document.querySelector('#search-results .search-summary')?.textContent ?? ''"
    wait_for(lambda: "found" in browser.execute_script(summary))
    links = [link.get_attribute("href") for link in browser.find_elements("css selector", "#search-results li > a")]
    return list(dict.fromkeys(re.sub(r"\.html.*", "", link).removeprefix(f"{address}/") for link in links))


def test_search_finds_what_readers_call_it(browser: Any, address: str) -> None:
    """The right page is among the first three."""
    found = {words: search(browser, address, words)[:3] for words in WORDS}
    assert {words: pages for words, pages in found.items() if WORDS[words] not in pages} == {}


@pytest.mark.parametrize("word", ["memory", "proof", "mutant"])
def test_evidence_ranks_last(browser: Any, address: str, word: str) -> None:
    pages = search(browser, address, word)
    evidence = [page.startswith("evidence/") for page in pages]
    assert any(evidence)
    assert evidence == sorted(evidence)


def test_search_by_keyboard(browser: Any, address: str) -> None:
    """Ctrl+K opens the field; results have contrast, and nothing is cut."""
    from selenium.webdriver import ActionChains, Keys

    wide(browser, WIDTHS[1])
    complaints(browser)
    browser.get(f"{address}/index.html")
    ActionChains(browser).key_down(Keys.CONTROL).send_keys("k").key_up(Keys.CONTROL).perform()
    wait_for(lambda: browser.execute_script("return document.activeElement.name === 'q'"))
    ActionChains(browser).send_keys("release", Keys.ENTER).perform()
    summary = "return document.querySelector('#search-results .search-summary')?.textContent ?? ''"
    wait_for(lambda: "found" in browser.execute_script(summary))
    links = [link.get_attribute("href") for link in browser.find_elements("css selector", "#search-results li a")]
    assert len(links) > 10
    assert any("api/generated/" in link for link in links)
    assert not complaints(browser)
    for width, colours in itertools.product(WIDTHS, ("light", "dark")):
        wide(browser, width)
        scheme(browser, colours)
        browser.refresh()
        wait_for(lambda: "found" in browser.execute_script(summary))
        assert unseen(browser, width) == []


GROUPS = ["kind", "eps", "sensitivity", "delta", "releases"]


class Explorer:
    """The page Explore in the browser, and the numbers that it contains."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser = browser
        browser.get(f"{address}/explore.html")
        self.numbers = json.loads(self.ask("document.getElementById('explore-views').textContent"))

    def ask(self, expression: str) -> Any:
        return self.browser.execute_script(f"return {expression}")

    def every(self, selector: str, of_item: str) -> list[Any]:
        found: list[Any] = self.ask(f"""[...document.querySelectorAll("{selector}")].map((item) => {of_item})""")
        return found

    def chosen(self) -> list[str]:
        """Return the settings as a reader sees them."""
        shown = self.every("#explore-form output", "item.textContent")
        return self.every("#explore-form input:checked", "item.value") + ["0" if text == "none" else text for text in shown]

    def legend(self, of_item: str = "item.textContent.trim()") -> list[Any]:
        return self.every("#explore-legend li:not([hidden])", of_item)

    def check(self, hidden: tuple[str, ...] = ()) -> None:
        """Require that picture, table, sentences and address show the settings."""
        view = self.numbers["views"][" ".join(self.chosen())]
        rows = self.every("#explore-table tbody tr", "[...item.cells].map((cell) => cell.textContent)")
        assert [[name, *(None if text == "–" else float(text) for text in texts)] for name, *texts in rows] == view["rows"]
        assert self.legend() == list(view["curves"])
        seen = [name for name in view["curves"] if name not in hidden]
        assert self.legend("item.querySelector('input').checked") == [name in seen for name in view["curves"]]
        assert len(self.ask("[...document.querySelectorAll('#explore-picture path[d^=M]')]")) == len(seen)
        assert self.browser.find_element("id", "explore-says").text == self.numbers["texts"][view["says"]]
        label = self.browser.find_element("id", "explore-picture").get_attribute("aria-label")
        assert [name for name in view["curves"] if f" {name}" in re.split("[,.]", label.replace(":", ","))] == seen
        ticks = [float(text) for text in self.every("#explore-picture text", "item.textContent")]
        assert ticks[:5] == pytest.approx([view["limit"] * (i / 2 - 1) for i in range(5)], rel=1e-3)
        assert ticks[5:] == pytest.approx([view["top"] * i / 4 for i in range(5)], rel=1e-3)
        asked = urllib.parse.parse_qs(self.ask("location.search.slice(1)"))
        assert [asked[name] for name in GROUPS] == [[text] for text in self.chosen()]
        assert asked.get("hide", []) == list(hidden)


def test_explore_works_by_keyboard(browser: Any, address: str) -> None:
    """Tab goes from control to control, arrows choose, and picture, table and sentence follow with the page's numbers."""
    from selenium.webdriver import ActionChains, Keys

    wide(browser, WIDTHS[1])
    explorer = Explorer(browser, address)
    explorer.check()
    browser.execute_script("document.querySelector('#explore-form input:checked').focus()")
    for group, name in enumerate(GROUPS):
        before = explorer.chosen()
        assert explorer.ask("document.activeElement.name") == name
        ActionChains(browser).send_keys(Keys.ARROW_LEFT if name == "eps" else Keys.ARROW_RIGHT).perform()
        after = explorer.chosen()
        assert [a != b for a, b in zip(before, after, strict=True)] == [i == group for i in range(5)]
        explorer.check()
        ActionChains(browser).send_keys(Keys.TAB).perform()
    table = eval(browser.find_element("id", "explore-asks").text, {"sn": sn})
    rows = explorer.numbers["views"][" ".join(explorer.chosen())]["rows"]
    assert [row.name for row in table] == [name for name, *_ in rows]
    assert [row.mean_abs for row in table] == pytest.approx([mean for _, mean, *_ in rows], rel=6e-4)
    assert browser.find_element("id", "explore-says").get_attribute("aria-live") == "polite"


def test_explore_hides_a_mechanism_and_its_address_keeps_the_choice(browser: Any, address: str) -> None:
    from selenium.webdriver import Keys

    wide(browser, WIDTHS[1])
    explorer = Explorer(browser, address)
    first = explorer.chosen()
    browser.find_elements("css selector", "#explore-legend input")[1].send_keys(Keys.SPACE)
    explorer.check(hidden=("Laplace",))
    browser.find_element("name", "releases").send_keys(Keys.END)
    assert explorer.chosen() == [*first[:4], "30"]
    browser.refresh()
    assert explorer.chosen() == [*first[:4], "30"]
    explorer.check(hidden=("Laplace",))
    browser.get(f"{address}/explore.html?eps=3&kind=text&delta=1e-06&hide=<b>")  # of which δ alone is a choice
    assert explorer.chosen() == [*first[:3], "1e-06", first[4]]
    explorer.check(hidden=("<b>",))


@pytest.mark.parametrize("width", WIDTHS)
def test_explore_has_names_for_a_screen_reader(browser: Any, address: str, width: int) -> None:
    """The browser's accessibility tree has a table on a telephone too, where names stand above their numbers."""
    wide(browser, width)
    browser.get(f"{address}/explore.html?delta=1e-06")
    wait_for(lambda: browser.find_elements("css selector", "input[type=radio]"))
    nodes = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    names: dict[str, list[str]] = {}
    for node in nodes:
        names.setdefault(node.get("role", {}).get("value", ""), []).append(node.get("name", {}).get("value", ""))
    assert [name.strip() for name in names["radio"]] == ["a real number", "a count or another integer"]
    assert "You release" in names["group"] + names.get("radiogroup", [])
    assert [name.split(":")[0] for name in names["slider"]] == [
        "ε of all releases together",
        "Sensitivity Δ",
        "δ of all releases together",
        "Releases",
    ]
    assert len(names["checkbox"]) == 3
    assert any(name.startswith("Noise from -") for name in names["image"])
    assert "Error of one release, the smallest mean error first" in names["table"]
    assert len(names["columnheader"]) == 6
    assert names["rowheader"] == ["TruncatedStaircase", "Staircase", "TruncatedLaplace", "Laplace", "Gaussian"]
    assert len(names["cell"]) == 25
    assert all(names["columnheader"] + names["rowheader"])


# Returns settings whose table is too wide for its place, or a number too wide for its cell.
BESIDE = """
    const form = document.getElementById("explore-form");
    const table = document.getElementById("explore-table");
    const choices = (item) => (item.max ? [...Array(Number(item.max) + 1).keys()] : [...item].map((radio) => radio.value));
    const more = (some, name) => some.flatMap((one) => choices(form.elements[name]).map((value) => [...one, [name, value]]));
    const settings = arguments[0].reduce(more, [[]]);
    const beside = (node) => node.scrollWidth > node.clientWidth + 1;
    return [settings.length, settings.filter((setting) => {
      setting.forEach(([name, value]) => { form.elements[name].value = value; });
      form.dispatchEvent(new Event("input"));
      return [table.parentElement, ...table.querySelectorAll("th, td")].some(beside);
    })];
"""


def test_explore_shows_its_table_whole_on_a_telephone(browser: Any, address: str) -> None:
    """No setting makes the table scroll, because a scrolling table would hide its last column."""
    wide(browser, WIDTHS[0])
    browser.get(f"{address}/explore.html")
    settings, beside = browser.execute_script(BESIDE, GROUPS)
    assert settings == 2 * 6 * 3 * 3 * 3
    assert beside == []


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_explore_is_drawn_in_colours_that_are_seen(browser: Any, address: str, colours: str) -> None:
    """Curves have a contrast of at least 3 (WCAG 2.2, 1.4.11), and on a telephone letters are 11 pixels high."""
    wide(browser, WIDTHS[0])
    scheme(browser, colours)
    browser.get(f"{address}/explore.html?delta=1e-06")
    strokes = browser.execute_script(
        "return [...document.querySelectorAll('#explore-picture path')].map((path) => getComputedStyle(path).stroke)"
    )
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert len(strokes) == 3
    assert min(contrast(stroke, ground) for stroke in strokes) >= 3
    heights = browser.execute_script(
        "return [...document.querySelectorAll('#explore-picture text')].map((text) => text.getBoundingClientRect().height)"
    )
    assert min(heights) >= 11


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as a browser writes them, rgb(1, 2, 3)."""

    def light(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("name", ["theory/gaussian", "theory/multivariate_staircase", "theory/selection", "figures"])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_a_figure_has_the_ground_of_its_page(browser: Any, address: str, name: str, colours: str) -> None:
    """In a screenshot, the figure's commonest colour is the page's colour, and the figure has other colours too."""
    image = pytest.importorskip("PIL.Image")
    wide(browser, WIDTHS[1])
    scheme(browser, colours)
    browser.get(f"{address}/{name}.html")
    figure = browser.find_element("css selector", "article img")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", figure)  # not hidden under the page's header
    wait_for(lambda: browser.execute_script("return arguments[0].complete && arguments[0].naturalWidth > 0", figure))
    pixels = image.open(io.BytesIO(figure.screenshot_as_png)).convert("RGB")
    many, common = max(pixels.getcolors(pixels.width * pixels.height))
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert common == pytest.approx([int(part) for part in re.findall(r"\d+", ground)[:3]], abs=3)
    assert many < 0.99 * pixels.width * pixels.height


def test_copy_buttons(browser: Any, address: str) -> None:
    browser.get(f"{address}/query.html")
    wait_for(lambda: browser.find_elements("css selector", "button.copybtn"))
    blocks = browser.find_elements("css selector", "div.highlight pre")
    assert len(browser.find_elements("css selector", "button.copybtn")) == len(blocks) > 5
