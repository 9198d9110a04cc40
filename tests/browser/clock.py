"""The clock of a page, turned by the test: what moves stands at the chosen moment on any machine.

Playwright's clock owns ``Date``, timers, ``performance.now`` and animation frames. In a page that
is opened with ``clock=True`` it stands, from before the first script on, until ``turn``.
"""

import re

from playwright.sync_api import BrowserContext, Locator, Page

# Milliseconds that a test waits for what comes by itself. No test measures time by it: the machine
# may be slow, and the page is not wrong.
PATIENCE = 60_000
CLOCK = {"clock": True}  # what opens a page in which time stands
A_FRAME = 0.016  # seconds of Playwright's clock
# `courseFrame` is the browser's own way to wait for a frame.
KEEP_FRAMES = "window.courseFrame = window.requestAnimationFrame.bind(window);"
COUNT_FRAMES = """
  const ask = window.requestAnimationFrame;
  window.courseFrames = 0;
  window.requestAnimationFrame = (draw) => {
    window.courseFrames += 1;
    return ask(draw);
  };
"""
# Observers of size and sight speak between two frames that the browser itself draws.
OBSERVED = """async () => {
  const frame = window.courseFrame ?? requestAnimationFrame;
  for (let i = 0; i < 3; i += 1) await new Promise(frame);
}"""
STANDS = "() => 'courseFrame' in window"


def stop_clock(context: BrowserContext) -> None:
    """Let the clock stand in the pages that are opened from now on."""
    context.add_init_script(KEEP_FRAMES)
    context.clock.install(time=0)
    context.clock.pause_at(1)
    context.add_init_script(COUNT_FRAMES)


def clock_stands(page: Page) -> bool:
    """Whether time passes in the page only as the test turns its clock."""
    return page.evaluate(STANDS)


def observed(page: Page) -> None:
    """Wait until the page knows sizes and what is in sight; no time of its own passes."""
    page.evaluate(OBSERVED)


def turn(shown: Locator | Page, seconds: float) -> None:
    """Let so many seconds pass at once, with all their frames; the last one is drawn."""
    page = shown.page if isinstance(shown, Locator) else shown
    observed(page)
    page.clock.run_for(round(1000 * seconds))
    observed(page)


def hurry(shown: Locator, seconds: float) -> None:
    """Let time pass in the longest frames that a widget takes for one."""
    for _ in range(round(10 * seconds)):
        shown.page.clock.fast_forward(100)
    observed(shown.page)


def frames_asked(shown: Locator | Page) -> int:
    """How many frames the page has asked for until now."""
    return shown.evaluate("() => courseFrames")


def rests(shown: Locator | Page) -> bool:
    """Whether the page asks for no frame any more, once it has drawn what happened."""
    turn(shown, 0.1)
    before = frames_asked(shown)
    turn(shown, 1)
    return frames_asked(shown) == before


def plays(shown: Locator | Page) -> bool:
    """Whether a button waits to stop what moves by itself."""
    return shown.get_by_role("button", name=re.compile("❚❚|■")).count() > 0
