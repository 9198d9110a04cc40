"""No figure throws, logs an error or displays NaN, whatever hand, keyboard, link or window do.

``make fuzz EVENTS=2000 SEED=1`` runs the same for longer, and with other events.
"""

import os
import random
from collections.abc import Callable
from urllib.parse import quote

import live_figures
import pytest
from agreement import STRANGE
from browser_fixtures import Watch
from clock import CLOCK, turn
from gestures import CONTROLS, PUT, usable
from playwright.sync_api import ElementHandle, Locator
from small_widgets import ARGUMENTS, make
from widget_page import Alone, open_folds

from course_lib.widgets.live.live_figure import FIGURES

EVENTS = int(os.environ.get("EVENTS", "30"))
SEED = int(os.environ.get("SEED", "0"))
MADE = {kind: lambda kind=kind: make(kind) for kind in ARGUMENTS if kind != "LiveFigure"} | {
    name: lambda name=name: live_figures.make(name) for name in FIGURES
}
KEYS = (
    *("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Shift+ArrowRight", "PageUp", "PageDown"),
    *("Home", "End", "Space", "Enter", "Escape", "Tab", "Backspace", "Delete", "a", "5", "-"),
)
# A figure draws what is pending before an event of a hand or key, as before this one.
COME = "(el) => el.dispatchEvent(new KeyboardEvent('keydown', { key: 'Shift', bubbles: true }))"
TEXTS = ("", "-", "0", "-1e9", "1e400", "nan", "a", "bad cab", "ſﬃ\u202e", "</script><b>", "🂡" * 99)


class Visitor:
    """Does one random thing after the other to a figure."""

    def __init__(self, figure: Locator, traits: list[str], chance: random.Random) -> None:
        self.figure, self.page, self.chance = figure, figure.page, chance
        self.traits, self.held = traits, False

    def control(self, kinds: str = CONTROLS) -> ElementHandle | None:
        """One that is still there when a hand comes to it."""
        found = [one for one in self.figure.locator(kinds).all() if usable(one)]
        if not found:
            return None
        chosen = self.chance.choice(found).element_handle()
        chosen.evaluate(COME)
        return chosen if chosen.evaluate("(el) => el.isConnected && !el.disabled") else None

    def place(self) -> tuple[float, float]:
        """A point of the figure, or a little outside."""
        box = self.figure.bounding_box() or {"x": 0, "y": 0, "width": 300, "height": 300}
        across, down = self.chance.uniform(-0.1, 1.1), self.chance.uniform(-0.1, 1.1)
        return box["x"] + across * box["width"], box["y"] + down * box["height"]

    def press(self) -> None:
        """Without the mouse, which may hold something meanwhile."""
        if control := self.control("button, input:not([type=range], [type=text]), summary"):
            control.evaluate("(el) => el.click()")

    def slide(self) -> None:
        if slider := self.control("input[type=range]"):
            slider.evaluate(PUT, self.chance.choice([0, 1, self.chance.random()]))

    def select(self) -> None:
        if choice := self.control("select"):
            choice.select_option(index=self.chance.randrange(choice.evaluate("(el) => el.length")))

    def write(self) -> None:
        if field := self.control("input[type=text], textarea"):
            field.fill(self.chance.choice(TEXTS))

    def key(self) -> None:
        if control := self.control():
            control.focus()
        for _ in range(self.chance.choice([1, 1, 3, 12])):
            self.page.keyboard.press(self.chance.choice(KEYS))

    def mouse(self) -> None:
        """Take something, move it, or let it go: other events may come between."""
        self.page.mouse.move(*self.place(), steps=2)
        if self.chance.random() < 0.6:
            (self.page.mouse.up if self.held else self.page.mouse.down)()
            self.held = not self.held

    def link(self) -> None:
        value = quote(self.chance.choice([*TEXTS, "0.5", "0,0", "1;2", "true", "3"]))
        name = self.chance.choice([*self.traits, "nothing"])
        self.figure.evaluate(
            "(el, query) => { location.hash = `${el.id}?${query}`; }", f"{name}={value}"
        )

    def window(self) -> None:
        size = {"width": self.chance.choice([320, 390, 768, 1280, 1920]), "height": 900}
        self.page.set_viewport_size(size)
        scheme, motion = self.chance.choice(["light", "dark"]), ["reduce", "no-preference"]
        self.page.emulate_media(color_scheme=scheme, reduced_motion=self.chance.choice(motion))

    def scroll(self) -> None:
        self.page.mouse.wheel(0, self.chance.choice([-3000, 200, 3000]))

    def wait(self) -> None:
        turn(self.page, self.chance.choice([0.016, 0.1, 1]))


DEEDS: tuple[tuple[Callable[[Visitor], None], int], ...] = (
    *((Visitor.press, 5), (Visitor.slide, 4), (Visitor.select, 2), (Visitor.write, 2)),
    *((Visitor.key, 3), (Visitor.mouse, 6), (Visitor.link, 2), (Visitor.window, 1)),
    *((Visitor.scroll, 1), (Visitor.wait, 4)),
)


@pytest.mark.parametrize("kind", MADE)
def test_random_events_do_not_make_a_figure_fail(alone: Alone, watch: Watch, kind: str):
    shown = MADE[kind]()
    figure = alone(shown, below='<p style="height: 3000px"></p>', **CLOCK)
    open_folds(figure)
    chance = random.Random(f"{kind} {SEED}")  # noqa: S311 - no cryptography
    visitor, done = Visitor(figure, list(shown.limits()), chance), []
    for _ in range(EVENTS):
        [(deed, _)] = chance.choices(DEEDS, [often for _, often in DEEDS])
        done.append(deed.__name__)
        deed(visitor)
        told = f"{kind}, seed {SEED}, after {len(done)} events: {done[-12:]}"
        assert watch.errors == [], told
        assert (found := figure.evaluate(STRANGE)) is None, f"{told}: {found}"
