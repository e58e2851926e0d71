"""Fixtures for the built site and a browser. If one is missing, its tests are skipped with the command that makes it."""

import functools
import http.server
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
HTML = DOCS / "_build" / "html"
sys.path.append(str(DOCS / "_ext"))


@pytest.fixture(scope="session")
def site() -> Path:
    """The folder of the built site."""
    if not (HTML / "index.html").is_file():
        pytest.skip("the site is not built: make docs")
    return HTML


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """The address of a local server of the built site."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """The system's headless Chromium."""
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    # Root in a container has no sandbox and little shared memory.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    found = webdriver.Chrome(options, webdriver.ChromeService(driver))
    found.set_page_load_timeout(60)
    yield found
    found.quit()
