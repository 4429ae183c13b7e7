"""A published site with a page of every type, served on 127.0.0.1, and Debian's Chromium to open it."""

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from tests.browser.rows import all_rows
from tests.graph.conftest import graph_at

CHROMIUM = Path("/usr/bin/chromium")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A file server that logs nothing."""

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="session")
def driver():
    """Playwright's API; everything here is skipped where it or the browser is absent, before a site is published."""
    if not CHROMIUM.exists():
        pytest.skip(f"no browser: {CHROMIUM} is absent")
    return pytest.importorskip("playwright.sync_api", reason="no browser: playwright is not installed")


@pytest.fixture(scope="session")
def site(driver, tmp_path_factory) -> Path:
    """The folder that the graph publishes from rows by hand."""
    home = tmp_path_factory.mktemp("browser")
    with dg.instance_for_test(temp_dir=str(home)) as instance:
        graph = graph_at(home / "home", instance)
        cells = {cell for name, rows in all_rows().items() for cell in graph.put_rows(name, rows)}
        for cell in sorted(cells):
            graph.derive(cell)
        for gpu in sorted({cell.partition("|")[0] for cell in cells}):
            graph.runs.run("build_pages", partition=gpu)
        graph.runs.run("publish_site")
    return home / "home" / "site"


@pytest.fixture(scope="session")
def address(site) -> Iterator[str]:
    """Where the site is served, with its last slash."""
    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def browser(driver, address):
    """Chromium of the system, without its sandbox, which a container lacks.

    After the site: Playwright's event loop runs from here on, and a Dagster run starts its own.
    """
    with driver.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


LEFT = ("net::ERR_ABORTED",)
"""How a request ends whose page is loaded again, or left, meanwhile. What is not there ends otherwise."""


@pytest.fixture
def open_page(browser, address):
    """Opens a path of the site in a window of its own; its troubles are in ``page.troubles``."""
    with contextlib.ExitStack() as stack:

        def opened(path: str, width_px: int = 1280, **options):
            context = browser.new_context(viewport={"width": width_px, "height": 900}, **options)
            stack.callback(context.close)
            page = context.new_page()
            page.troubles = []
            page.on("console", lambda m: page.troubles.append(m.text) if m.type in ("error", "warning") else None)
            page.on("pageerror", lambda error: page.troubles.append(str(error)))
            page.on(
                "requestfailed", lambda r: page.troubles.append(f"failed: {r.url}") if r.failure not in LEFT else None
            )
            page.on("response", lambda r: page.troubles.append(f"{r.status}: {r.url}") if r.status >= 400 else None)
            page.on("request", lambda r: page.troubles.append(r.url) if not r.url.startswith(address) else None)
            page.goto(address + path)
            return page

        yield opened
