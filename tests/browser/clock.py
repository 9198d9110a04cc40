"""A page clock under control of the test, so that animations are at an exact moment.

Playwright's clock owns ``Date``, timers, ``performance.now`` and animation frames. In a page opened
with ``clock=True`` it stops before the first script, until ``turn``.
"""

import re

from playwright.sync_api import BrowserContext, Locator, Page

# Milliseconds that a test waits for the page. Long enough for a slow machine; no test measures time
# by it.
PATIENCE = 60_000
CLOCK = {"clock": True}  # options of a page with a stopped clock
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
# Resize and intersection observers run between two real frames of the browser.
OBSERVED = """async () => {
  const frame = window.courseFrame ?? requestAnimationFrame;
  for (let i = 0; i < 3; i += 1) await new Promise(frame);
}"""
STANDS = "() => 'courseFrame' in window"


def stop_clock(context: BrowserContext) -> None:
    """Stop the clock in pages that are opened from now on."""
    context.add_init_script(KEEP_FRAMES)
    context.clock.install(time=0)
    context.clock.pause_at(1)
    context.add_init_script(COUNT_FRAMES)


def clock_stands(page: Page) -> bool:
    return page.evaluate(STANDS)


def observed(page: Page) -> None:
    """Wait until resize and intersection observers have run; the page's clock stays."""
    page.evaluate(OBSERVED)


def turn(shown: Locator | Page, seconds: float) -> None:
    """Let ``seconds`` pass at once, with all their frames; the last one is drawn."""
    page = shown.page if isinstance(shown, Locator) else shown
    observed(page)
    page.clock.run_for(round(1000 * seconds))
    observed(page)


def hurry(shown: Locator, seconds: float) -> None:
    """Let time pass in the longest frames that a widget accepts."""
    for _ in range(round(10 * seconds)):
        shown.page.clock.fast_forward(100)
    observed(shown.page)


def frames_asked(shown: Locator | Page) -> int:
    return shown.evaluate("() => courseFrames")


def rests(shown: Locator | Page) -> bool:
    """Whether the page requests no more frames after drawing the last change."""
    turn(shown, 0.1)
    before = frames_asked(shown)
    turn(shown, 1)
    return frames_asked(shown) == before


def plays(shown: Locator | Page) -> bool:
    """Whether there is a button that stops an animation."""
    return shown.get_by_role("button", name=re.compile("❚❚|■")).count() > 0
