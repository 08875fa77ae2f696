"""A real browser on the built site, served from this machine and from nowhere else."""

from __future__ import annotations

import atexit
import functools
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from site_build import built

from conftest import needs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
"""Debian's: Playwright's own would be downloaded."""

LONGEST = 10_000
"""Milliseconds to wait for what a page shows."""

BASE = "/d9m/"
"""Path of the site at its host."""


def need_browser() -> None:
    """Skip the test where there is no browser to drive."""
    needs(bool(find_spec("playwright")), "Playwright", "pip install 'd9m[dev]'")
    needs(CHROMIUM is not None, "Chromium", "apt-get install chromium")


@functools.cache
def site() -> str:
    """The address of the built site, served until the tests end."""
    need_browser()
    handler = functools.partial(_Quiet, directory=str(built()))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}{BASE}"


class _Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def translate_path(self, path: str) -> str:
        return super().translate_path(
            path.removeprefix(BASE.rstrip("/")) if path.startswith(BASE) else "/none"
        )

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the library
        """Say nothing."""


@functools.cache
def window() -> Browser:
    """A browser, open until the tests end."""
    need_browser()
    from playwright.sync_api import sync_playwright

    playwright = sync_playwright().start()
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
    atexit.register(playwright.stop)
    atexit.register(browser.close)
    return browser


@functools.cache
def _usual() -> BrowserContext:
    """What pages share that ask for nothing special: scripts and tables come once."""
    return window().new_context()


def blank(**options: Any) -> Page:
    """A window of its own, with nothing in it and nothing in its cache yet."""
    page = window().new_context(**options).new_page()
    page.set_default_timeout(LONGEST)
    return page


def opened(path: str = "", **options: Any) -> Page:
    """A page that has loaded, in a window of its own if it has options."""
    page = blank(**options) if options else _usual().new_page()
    page.set_default_timeout(LONGEST)
    page.goto(site() + path)
    return page
