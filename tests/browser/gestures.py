"""A reader's hand on a widget: with the mouse, with the keyboard, with a finger.

``operate_every_control`` tries all controls of a widget, and those that appear only once a certain
choice is made. After each operation the widget's state must have changed, and the numbers that it
displays must be those that course_lib computes from the new state.
"""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from agreement import agrees_with_course_lib
from playwright.sync_api import Locator, Page, expect
from reading import STATE, eventually
from widget_page import open_folds

CONTROLS = "input, select, button, a[href], summary, [tabindex]"
DRAWN = "[tabindex]:not(input, select, button, a, summary)"  # handles, strips, lists: no browser's
STOPS = ("❚❚", "■")
SHOW = "▶ Watch"
THUMB = 16
MOST_CONTROLS = 200
Point = tuple[float, float]


def widgets(page: Page) -> list[Locator]:
    found = page.locator(".cw-host").all()
    assert found, "the page has no widget"
    return found


def usable(control: Locator) -> bool:
    return control.is_visible() and control.is_enabled()


NAME = """(el) => el.labels?.[0]?.textContent || el.getAttribute("aria-label") || el.textContent
  || el.outerHTML.slice(0, 120)"""
KIND = "(el) => el.type ?? { slider: 'strip', listbox: 'list' }[el.role] ?? 'handle'"
# The state, and the texts beside the controls: what a hand changes need not concern Python.
SNAPSHOT = f"""(el) => JSON.stringify([({STATE})(el),
  [...el.querySelectorAll("output")].map((text) => text.textContent)])"""


def name_of(control: Locator) -> str:
    """The control as its reader knows it, for messages."""
    return control.evaluate(NAME)


def snapshot(widget: Locator) -> str:
    """The widget's state in the page, as text."""
    return widget.evaluate(SNAPSHOT)


@contextmanager
def changes(widget: Locator, deed: str) -> Iterator[None]:
    """What is done within must change the widget's state, and its numbers must follow."""
    # The state stays in the page: that of a language model is long.
    widget.evaluate(f"(el) => {{ el.courseBefore = ({SNAPSHOT})(el); }}")
    yield

    def changed() -> None:
        now = widget.evaluate(f"(el) => ({SNAPSHOT})(el) !== el.courseBefore")
        assert now, f"{widget.get_attribute('data-widget')}: {deed} is idle"

    eventually(widget, changed)
    agrees_with_course_lib(widget)


def spot(element: Locator, share: float = 0.5, margin: float = 0) -> Point:
    """The point ``share`` of the way along an element, brought to the middle of the window."""
    x, y, width, height = element.evaluate(
        """(el) => {
          el.scrollIntoView({ block: "center", behavior: "instant" });
          const box = el.getBoundingClientRect();
          return [box.x, box.y, box.width, box.height];
        }"""
    )
    assert width > 0 or height > 0, "the element is not displayed"
    return x + width / 2 + (share - 0.5) * (width - margin), y + height / 2


def centre(element: Locator) -> Point:
    """The middle of an element, which is brought to the middle of the window."""
    return spot(element)


def along(slider: Locator, share: float) -> Point:
    """The point at which a slider stands when it is ``share`` of the way from least to most."""
    return spot(slider, share, THUMB)


def press(widget: Locator, name: str) -> None:
    """Click the button of this name."""
    widget.get_by_role("button", name=name).click()


def put(slider: Locator, share: float) -> float:
    """Put a browser's own slider there in one deed; gives the number at which it stands."""
    return slider.evaluate(
        """(slider, share) => {
          slider.value = Number(slider.min) + share * (slider.max - slider.min);
          slider.dispatchEvent(new Event("input", { bubbles: true }));
          return Number(slider.value);
        }""",
        share,
    )


def time_of(widget: Locator) -> float:
    """The moment that a film shows."""
    return float(widget.locator("[data-time]").get_attribute("data-time"))


def look_at_time(widget: Locator, share: float) -> None:
    """Put the slider of time there."""
    moment = put(widget.get_by_role("slider", name="Time"), share)

    def is_there() -> None:
        assert math.isclose(time_of(widget), moment, abs_tol=1e-6)

    eventually(widget, is_there)


def elsewhere(slider: Locator) -> float:
    """A share of the slider's length well away from where it stands."""
    share = slider.evaluate(
        """(el) => {
          const of = (name) => Number(el[name] ?? el.getAttribute(`aria-value${name}`));
          const value = Number(el.value ?? el.getAttribute("aria-valuenow"));
          return (value - of("min")) / (of("max") - of("min"));
        }"""
    )
    return 0.2 if share > 0.5 else 0.8


def grip(handle: Locator) -> Point:
    """A point by which a handle can be taken, where no other handle lies on top of it."""
    centre(handle)
    point = handle.evaluate(
        """(el) => {
          const shares = [0.5, 0.3, 0.7, 0.15, 0.85];
          for (const shape of [el, ...el.querySelectorAll("*")]) {
            const box = shape.getBoundingClientRect();
            for (const across of shares) {
              for (const down of shares) {
                const [x, y] = [box.x + across * box.width, box.y + down * box.height];
                if (el.contains(document.elementFromPoint(x, y))) return [x, y];
              }
            }
          }
          return null;
        }"""
    )
    assert point is not None, f"{name_of(handle)} lies wholly beneath others"
    return point[0], point[1]


def inward(handle: Locator, start: Point) -> Point:
    """A point near a handle, towards the middle of its picture: at an edge it may be stopped."""
    middle = handle.evaluate(
        """(el) => {
          const box = (el.ownerSVGElement ?? el.parentElement).getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2];
        }"""
    )
    (x, y), (middle_x, middle_y) = start, middle
    return x + (9 if x < middle_x else -9), y + (14 if y < middle_y else -14)


class Hand(ABC):
    """One way to operate controls."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def operate(self, widget: Locator, control: Locator) -> None:
        """Operate one control in the way that its kind asks for."""
        kind, name = control.evaluate(f"(el) => [({KIND})(el), ({NAME})(el)]")
        if name == SHOW:
            self.watch(widget, control)
            return
        if name.startswith(STOPS):
            name = self.stop(widget, control, name)
        deed = {
            "range": self.slide,
            "checkbox": self.press,
            "button": self.press,
            "select-one": self.select,
            "strip": self.point,
            "list": self.pick,
            "text": self.write,
            "handle": self.move,
        }
        with changes(widget, f"{type(self).__name__} on {name}"):
            deed[kind](control)
        if kind == "button" and name_of(control) != name:
            self.press(control)  # what it started, it also stops

    def stop(self, widget: Locator, control: Locator, name: str) -> str:
        """Stop what plays by itself, and give the name that the button has then.

        Nothing but that name need change: the stop may come before anything has moved.
        """

        def stopped() -> None:
            assert name_of(control) != name, f"{type(self).__name__} on {name} stops nothing"

        self.press(control)
        eventually(widget, stopped)
        agrees_with_course_lib(widget)
        return name_of(control)

    def watch(self, widget: Locator, control: Locator) -> None:
        """Begin a show and end it: it takes its own course and leaves the state as it was."""
        for expected in ("■ Stop", SHOW):
            self.press(control)
            expect(control).to_have_text(expected)
        agrees_with_course_lib(widget)

    def write(self, control: Locator) -> None:
        """Take the last letter away: what is left is text of the same kind."""
        control.focus()
        self.page.keyboard.press("End")
        self.page.keyboard.press("Backspace")

    def select(self, control: Locator) -> None:
        """The list itself is drawn by the system and lies outside the page."""
        # Unlike a click this does not scroll, and a widget off screen rests.
        control.scroll_into_view_if_needed()
        index, count = control.evaluate("el => [el.selectedIndex, el.length]")
        control.select_option(index=index - 1 if index == count - 1 else index + 1)

    @abstractmethod
    def slide(self, control: Locator) -> None: ...

    @abstractmethod
    def press(self, control: Locator) -> None: ...

    @abstractmethod
    def move(self, control: Locator) -> None: ...

    @abstractmethod
    def point(self, control: Locator) -> None: ...

    @abstractmethod
    def pick(self, control: Locator) -> None:
        """Select something in a list, or take it out."""

    @abstractmethod
    def choose(self, radio: Locator) -> None: ...


class Mouse(Hand):
    """Clicks and drags."""

    def take(self, start: Point, end: Point, *, steps: int = 3) -> None:
        """Drag without letting go."""
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=steps)

    def drag(self, start: Point, end: Point, *, steps: int = 3) -> None:
        self.take(start, end, steps=steps)
        self.page.mouse.up()

    def slide(self, control: Locator) -> None:
        target = elsewhere(control)
        self.drag(along(control, 1 - target), along(control, target))

    def press(self, control: Locator) -> None:
        control.click()

    def move(self, control: Locator) -> None:
        x, y = grip(control)
        # A handle that snaps leaves its place only for another one.
        whole = control.locator("xpath=ancestor::*[local-name() = 'svg'][1]")
        snaps = control.evaluate("el => el.closest('[data-snaps]') !== null")
        self.drag((x, y), centre(whole) if snaps else inward(control, (x, y)))

    def point(self, control: Locator) -> None:
        self.page.mouse.click(*along(control, elsewhere(control)))

    def pick(self, control: Locator) -> None:
        self.page.mouse.click(*centre(control))

    def choose(self, radio: Locator) -> None:
        label_of(radio).click()


class Keyboard(Hand):
    """Arrow keys and the space bar."""

    def slide(self, control: Locator) -> None:
        control.focus()
        self.page.keyboard.press("ArrowLeft" if elsewhere(control) < 0.5 else "ArrowRight")

    def press(self, control: Locator) -> None:
        control.focus()
        self.page.keyboard.press("Space")

    def select(self, control: Locator) -> None:
        control.focus()
        last = control.evaluate("el => el.selectedIndex === el.length - 1")
        self.page.keyboard.press("ArrowUp" if last else "ArrowDown")

    def move(self, control: Locator) -> None:
        control.focus()
        for key in ("ArrowUp", "ArrowLeft", "Shift+ArrowDown", "Shift+ArrowRight"):
            self.page.keyboard.press(key)

    def point(self, control: Locator) -> None:
        self.slide(control)

    def pick(self, control: Locator) -> None:
        self.press(control)

    def choose(self, radio: Locator) -> None:
        """Walk along the group, as a reader must, from the choice that is on."""
        group = radio.get_attribute("name")
        self.page.locator(f'input[name="{group}"]:checked').focus()
        for _ in range(self.page.locator(f'input[name="{group}"]').count()):
            if radio.is_checked():
                return
            self.page.keyboard.press("ArrowRight")
        assert radio.is_checked(), f"the arrow keys never reach {name_of(radio)}"


class Finger(Hand):
    """Taps and swipes of one finger."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.session = page.context.new_cdp_session(page)

    def _touch(self, kind: str, *points: Point) -> None:
        touches = [{"x": x, "y": y} for x, y in points]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touches})

    def drag(self, start: Point, end: Point) -> None:
        (x0, y0), (x1, y1) = start, end
        shares = (0.25, 0.5, 0.75, 1)
        self.stroke(start, *((x0 + s * (x1 - x0), y0 + s * (y1 - y0)) for s in shares))

    def stroke(self, start: Point, *way: Point) -> None:
        self._touch("touchStart", start)
        for point in way:
            self._touch("touchMove", point)
        self._touch("touchEnd")

    def slide(self, control: Locator) -> None:
        target = elsewhere(control)
        self.drag(along(control, 1 - target), along(control, target))

    def press(self, control: Locator) -> None:
        control.tap()

    def move(self, control: Locator) -> None:
        x, y = grip(control)
        self.drag((x, y), inward(control, (x, y)))

    def point(self, control: Locator) -> None:
        self.page.touchscreen.tap(*along(control, elsewhere(control)))

    def pick(self, control: Locator) -> None:
        self.page.touchscreen.tap(*centre(control))

    def choose(self, radio: Locator) -> None:
        label_of(radio).tap()


def label_of(control: Locator) -> Locator:
    return control.page.locator(f'label[for="{control.get_attribute("id")}"]')


def operate_every_control(widget: Locator, hand: Hand, controls: str = CONTROLS) -> None:
    """Operate each control once, those too that come with another one's deed, and make each choice.

    Fails if a control never shows itself. The ``controls`` are all, or those that we draw.
    """
    # Reset would take away again what another control has brought; a fold changes no state.
    left_out = ":not([type=radio], .cw-reset, summary, [data-course-touched])"
    untouched = widget.locator(f":is({controls}){left_out}")
    touches = itertools.count()

    def operate_what_shows() -> None:
        open_folds(widget)
        while control := next(filter(usable, untouched.all()), None):
            touch = next(touches)
            assert touch < MOST_CONTROLS, f"controls come without end, as {name_of(control)}"
            # What is operated may bring others before it, so it is known by a mark of its own.
            control.evaluate("(el, touch) => { el.dataset.courseTouched = touch; }", touch)
            hand.operate(widget, widget.locator(f'[data-course-touched="{touch}"]'))

    operate_what_shows()
    for radio in widget.locator("[type=radio]").all():
        if radio.is_checked():
            continue
        with changes(widget, f"{type(hand).__name__} on {name_of(radio)}"):
            hand.choose(radio)
        operate_what_shows()
    assert untouched.count() == 0, f"never within reach: {[name_of(c) for c in untouched.all()]}"
