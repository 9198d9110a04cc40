"""A real browser, and the built book over http and from files.

A test fails at its end if a page opened through ``open_page`` logged an error, threw one, or sent a
request to another host.
"""

import functools
import http.server
import os
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import chromium as chromiums
import firefox as firefoxes
import numpy as np
import pytest
from chromium import NO_CHROMIUM, asked_once, fetch, playwrights_own
from clock import A_FRAME, PATIENCE, stop_clock, turn
from course_site import SITE
from firefox import NO_FIREFOX
from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Locator,
    Page,
    expect,
    sync_playwright,
)
from playwright.sync_api import TimeoutError as NotInTime

expect.set_options(timeout=PATIENCE)
# A window costs half as much without Chromium's two hidden pages for its address bar and without
# its spare renderer. The first of these lists is Playwright's own, which ours replaces. Chromium
# ignores unknown names.
SWITCHED_OFF = [
    *("AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync", "AimEnabled"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades"),
    *("LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints"),
    *("PaintHolding", "PreconnectToSearch", "TcpPortRandomizationWin"),
    *("ThirdPartyStoragePartitioning", "msEdgeUpdateLaunchServicesPreferredVersion"),
    "msForceBrowserSignIn",
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess"),
]

# The resolver finds no other host, so that requests to others always fail.
ARGUMENTS = [
    f"--disable-features={','.join(SWITCHED_OFF)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        asked = getattr(item, "fixturenames", ())  # a notebook's cell has none
        if "chromium" in asked or "firefox" in asked:
            item.add_marker(pytest.mark.browser)
        if "site" in asked:
            item.add_marker(pytest.mark.book)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give all tests without a browser one location, for a single line in the summary."""
    report = yield
    if report.skipped and isinstance(report.longrepr, tuple):
        why = report.longrepr[2]
        if NO_CHROMIUM in why or NO_FIREFOX in why:
            report.longrepr = (__file__, 1, why)
    return report


def found(installed: Callable[[], str | None]) -> str | None:
    """The path of a browser, if there is one; a wrong variable fails the test."""
    try:
        return installed()
    except ValueError as error:
        pytest.fail(str(error), pytrace=False)


def do_without(fault: str) -> NoReturn:
    """Skip tests without a browser, but never in CI."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(fault)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a Chromium; without one, Playwright's own, which the first worker fetches."""
    if path := found(chromiums.installed):
        return path
    own = playwrights_own()
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    fault = asked_once(shared / "chromium", lambda: fetch(own))
    if fault:
        do_without(fault)
    return own


@pytest.fixture(scope="session")
def firefox() -> str:
    return found(firefoxes.installed) or do_without(NO_FIREFOX)


@dataclass
class Chromium:
    """One Chromium for consecutive files on a worker.

    Playwright's event loop must not outlive them: a notebook test that runs next in the same
    process starts its own, and so does Firefox.
    """

    running: ExitStack = field(default_factory=ExitStack)
    browser: Browser | None = None

    def opened(self, path: str) -> Browser:
        if self.browser is None or not self.browser.is_connected():
            self.close()
            playwright = self.running.enter_context(sync_playwright())
            self.browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
            self.running.callback(self.browser.close)
        return self.browser

    def close(self) -> None:
        self.browser = None
        self.running.close()


CHROMIUM = Chromium()


def drives_chromium(item: pytest.Item) -> bool:
    """Whether a test uses the ``browser`` of this file, not of its own."""
    fixtures = getattr(item, "_fixtureinfo", None)  # a notebook's cell has none
    browsers = fixtures.name2fixturedefs.get("browser", []) if fixtures else []
    return bool(browsers) and browsers[-1].func.__module__ == __name__


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, None, None]:
    """Close Chromium after the last test of a file, unless the next file uses it."""
    try:
        return (yield)
    finally:
        if nextitem is None or (nextitem.path != item.path and not drives_chromium(nextitem)):
            CHROMIUM.close()


@pytest.fixture(scope="module")
def browser(chromium: str) -> Browser:
    return CHROMIUM.opened(chromium)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Log nothing: pytest's output is for results."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # a page asks for many files at once

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a browser that closes a page during a response."""


@dataclass
class Folder:
    """A folder that is served over http and can also be opened as files."""

    path: Path
    host: str

    def url(self, page: str, *, scheme: str = "http") -> str:
        return f"http://{self.host}/{page}" if scheme == "http" else (self.path / page).as_uri()


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[Path], Folder]]:
    """Serves folders, each on a free port of this machine."""
    with ExitStack() as running:

        def start(folder: Path) -> Folder:
            handler = functools.partial(QuietHandler, directory=folder)
            server = running.enter_context(Server(("127.0.0.1", 0), handler))
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
            thread.start()
            running.callback(server.shutdown)
            return Folder(folder, f"127.0.0.1:{server.server_port}")

        yield start


@pytest.fixture(scope="session")
def site(serve: Callable[[Path], Folder]) -> Folder:
    if not (SITE / "index.html").is_file():
        pytest.fail(f"there is no book in {SITE}; run `make book` first", pytrace=False)
    return serve(SITE)


@dataclass
class Watch:
    """The errors and foreign requests of the pages of one test."""

    allowed: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    expected_errors: tuple[str, ...] = ()
    awaited: set[str] = field(default_factory=set)

    def attach(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", lambda request: self._request(request.url))
        page.on("request", lambda request: self.awaited.add(request.url))
        for end in ("requestfinished", "requestfailed"):
            page.on(end, lambda request: self.awaited.discard(request.url))
        page.on("websocket", lambda socket: self._request(socket.url))

    def _console(self, message: ConsoleMessage) -> None:
        text = f"{message.text} ({message.location.get('url', '')})"
        if message.type == "error" and not any(e in text for e in self.expected_errors):
            self.errors.append(text)

    def _request(self, url: str) -> None:
        host = urlsplit(url).netloc
        if host and host not in self.allowed:
            self.strangers.append(url)

    def verdict(self) -> None:
        assert self.strangers == [], "the page sent requests to other hosts"
        assert self.errors == [], "the page logged errors"


@pytest.fixture
def watch() -> Iterator[Watch]:
    watch = Watch()
    yield watch
    watch.verdict()


def opened(
    browser: Browser,
    watch: Watch,
    url: str,
    *,
    width: int = 1280,
    height: int = 900,
    theme: str = "light",
    touch: bool = False,
    scripts: bool = True,
    reduced_motion: bool = False,
    init: str = "",
    clock: bool = False,
    formulas: bool = True,
) -> Page:
    """Open a page in a new window, and wait until all its widgets are alive.

    Half of the time to open a lecture is for its ``formulas``, which tests of widgets can skip.
    With a ``clock`` the page has drawn its first frame, and only the test moves time.
    """
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=theme,
        has_touch=touch,
        java_script_enabled=scripts,
        reduced_motion="reduce" if reduced_motion else "no-preference",
    )
    context.set_default_timeout(PATIENCE)
    if clock:
        stop_clock(context)
    if init:
        context.add_init_script(init)
    if not formulas:
        empty = {"body": "", "content_type": "text/javascript"}
        context.route("**/_static/mathjax/**", lambda route: route.fulfill(**empty))
    page = context.new_page()
    watch.attach(page)
    try:
        visit(page, watch, url, scripts=scripts)
        if clock:
            turn(page, A_FRAME)
    except BaseException:
        context.close()
        raise
    return page


def visit(page: Page, watch: Watch, url: str, *, scripts: bool = True) -> None:
    """Go to a page in a watched window, and wait until all its widgets are alive."""
    watch.allowed.add(urlsplit(url).netloc)
    try:
        page.goto(url)
        if scripts:
            all_alive(page)
    except NotInTime as error:
        error.add_note(f"still awaited: {sorted(watch.awaited) or 'nothing'}")
        raise


@pytest.fixture
def open_page(browser: Browser, watch: Watch) -> Iterator[Callable[..., Page]]:
    """Opens a page in a new window; takes the options of ``opened``."""
    with ExitStack() as pages:

        def open_page(url: str, **options: Any) -> Page:
            page = opened(browser, watch, url, **options)
            pages.callback(page.context.close)
            return page

        yield open_page


@pytest.fixture
def alone(open_page: Callable[..., Page], tmp_path: Path) -> Callable[..., Locator]:
    """Opens a page with only one widget and the content ``below``; returns the widget."""
    from widget_page import bare_page

    def alone(shown: Any, *, below: str = "", **options: Any) -> Locator:
        page = open_page(bare_page(tmp_path, shown, below=below), **options)
        [widget] = page.locator(".cw-host").all()
        return widget

    return alone


def all_alive(page: Page) -> None:
    """Wait until every widget of the page has started; name those that did not."""
    page.wait_for_load_state("load")
    asleep = ".cw-host:not([data-alive=true])"
    try:
        page.wait_for_function(f"() => document.querySelector('{asleep}') === null")
    except NotInTime:
        pytest.fail(f"not alive: {page.locator(asleep).all_inner_texts()}", pytrace=False)


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def javascript(blank: Page) -> Callable[..., list[Any]]:
    """Calls a function that a module exports, once for each list of arguments."""
    from in_the_page import called

    return functools.partial(called, blank)


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(20_17)
