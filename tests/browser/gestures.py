"""Operate a widget by mouse, keyboard or touch.

``operate_every_control`` operates all controls of a widget, and those that only appear after a
certain choice. After each operation the widget's state must have changed, and the numbers that it
displays must be those that course_lib computes from the new state.
"""

import itertools
import math
from collections.abc import Iterator
from contextlib import contextmanager

from agreement import agrees_with_course_lib
from clock import observed
from playwright.sync_api import Locator, Page, expect
from reading import STATE, eventually
from widget_page import open_folds

CONTROLS = "input, select, button, a[href], summary, [tabindex]"
DRAWN = "[tabindex]:not(input, select, button, a, summary)"  # handles, strips, lists
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
# How a hand operates a control.
DEED = """(el) => ({ range: "slide", "select-one": "select", text: "write", checkbox: "press",
  button: "press" })[el.type] ?? { slider: "point", listbox: "pick" }[el.role] ?? 'move'"""
# The state, and the texts beside the controls, since some changes stay in the page.
SNAPSHOT = f"""(el) => JSON.stringify([({STATE})(el),
  [...el.querySelectorAll("output, input[type=text]")].map((it) => it.value)])"""


PUT = """(slider, share) => {
  slider.value = Number(slider.min) + share * (slider.max - slider.min);
  slider.dispatchEvent(new Event("input", { bubbles: true }));
  return Number(slider.value);
}"""


def name_of(control: Locator) -> str:
    return control.evaluate(NAME)


def snapshot(widget: Locator) -> str:
    return widget.evaluate(SNAPSHOT)


@contextmanager
def changes(widget: Locator, deed: str) -> Iterator[None]:
    """Assert that the action within changes the widget's state, and that its numbers follow."""
    # Compared in the page, since the state of a language model is long.
    widget.evaluate(f"(el) => {{ el.courseBefore = ({SNAPSHOT})(el); }}")
    yield

    def changed() -> None:
        now = widget.evaluate(f"(el) => ({SNAPSHOT})(el) !== el.courseBefore")
        assert now, f"{widget.get_attribute('data-widget')}: {deed} is idle"

    eventually(widget, changed)
    agrees_with_course_lib(widget)


def spot(element: Locator, across: float = 0.5, down: float = 0.5, *, margin: float = 0) -> Point:
    """A point at shares of an element's width and height, after scrolling it to the middle."""
    x, y, width, height = element.evaluate(
        """(el) => {
          el.scrollIntoView({ block: "center", behavior: "instant" });
          const box = el.getBoundingClientRect();
          return [box.x, box.y, box.width, box.height];
        }"""
    )
    assert width > 0 or height > 0, "the element is not displayed"
    return x + width / 2 + (across - 0.5) * (width - margin), y + down * height


centre = spot  # where no share is given


def along(slider: Locator, share: float) -> Point:
    return spot(slider, share, margin=THUMB)


def press(widget: Locator, name: str, *, exact: bool = False) -> None:
    """Click the button of this name, or whose name contains it."""
    widget.get_by_role("button", name=name, exact=exact).click()


def time_of(widget: Locator) -> float:
    return float(widget.locator("[data-time]").get_attribute("data-time"))


def look_at_time(widget: Locator, share: float) -> None:
    """Set the slider of time in one action."""
    moment = widget.get_by_role("slider", name="Time").evaluate(PUT, share)

    def is_there() -> None:
        assert math.isclose(time_of(widget), moment, abs_tol=1e-6)

    eventually(widget, is_there)


def elsewhere(slider: Locator) -> float:
    """A share of the slider's range far from its value."""
    share = slider.evaluate(
        """(el) => {
          const of = (name) => Number(el[name] ?? el.getAttribute(`aria-value${name}`));
          const value = Number(el.value ?? el.getAttribute("aria-valuenow"));
          return (value - of("min")) / (of("max") - of("min"));
        }"""
    )
    return 0.2 if share > 0.5 else 0.8


def grip(handle: Locator) -> Point:
    """A point of a handle that no other handle covers."""
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
    """A point near a handle, towards the middle of its picture, since edges may stop it."""
    middle = handle.evaluate(
        """(el) => {
          const box = (el.ownerSVGElement ?? el.parentElement).getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2];
        }"""
    )
    (x, y), (middle_x, middle_y) = start, middle
    return x + (9 if x < middle_x else -9), y + (14 if y < middle_y else -14)


class Hand:
    """One way to operate controls: a subclass has the deeds that this class lacks."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def operate(self, widget: Locator, control: Locator) -> None:
        deed, name = control.evaluate(f"(el) => [({DEED})(el), ({NAME})(el)]")
        if name == SHOW:  # it does not change the state
            for expected in ("■ Stop", SHOW):
                self.press(control)
                expect(control).to_have_text(expected)
            agrees_with_course_lib(widget)
            return
        if name.startswith(STOPS):
            # Only the name must change: the stop may come before anything has moved.
            self.press(control)
            expect(control).not_to_have_text(name)
            agrees_with_course_lib(widget)
            name = name_of(control)
        with changes(widget, f"{type(self).__name__} on {name}"):
            getattr(self, deed)(control)
        if deed == "press" and control.count() and name_of(control) != name:
            self.press(control)  # stop what it started
            observed(self.page)  # what it had brought is gone

    def write(self, control: Locator) -> None:
        """Delete the last letter, which leaves valid text."""
        control.focus()
        self.page.keyboard.press("End")
        self.page.keyboard.press("Backspace")

    def select(self, control: Locator) -> None:
        """Select without opening the list, which the system draws outside the page."""
        # Unlike a click this does not scroll, and a widget off screen rests.
        control.scroll_into_view_if_needed()
        index, count = control.evaluate("el => [el.selectedIndex, el.length]")
        control.select_option(index=index - 1 if index == count - 1 else index + 1)


class Pointer(Hand):
    """A mouse or a finger, which has the deeds ``tap``, ``drag`` and ``press``."""

    def slide(self, control: Locator) -> None:
        target = elsewhere(control)
        self.drag(along(control, 1 - target), along(control, target))

    def move(self, control: Locator) -> None:
        x, y = grip(control)
        # A handle that snaps moves only if the drag reaches another place.
        whole = control.locator("xpath=ancestor::*[local-name() = 'svg'][1]")
        snaps = control.evaluate("el => el.closest('[data-snaps]') !== null")
        self.drag((x, y), centre(whole) if snaps else inward(control, (x, y)))

    def point(self, control: Locator) -> None:
        self.tap(along(control, elsewhere(control)))

    def pick(self, control: Locator) -> None:
        self.tap(centre(control))

    def choose(self, radio: Locator) -> None:
        self.press(label_of(radio))


class Mouse(Pointer):
    def take(self, start: Point, end: Point, *, steps: int = 3) -> None:
        """Drag without letting go."""
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=steps)

    def drag(self, start: Point, end: Point, *, steps: int = 3) -> None:
        self.take(start, end, steps=steps)
        self.page.mouse.up()

    def tap(self, place: Point) -> None:
        self.page.mouse.click(*place)

    def press(self, control: Locator) -> None:
        control.click()


class Keyboard(Hand):
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

    point, pick = slide, press

    def choose(self, radio: Locator) -> None:
        """Move along the group from the current choice, as the keyboard does."""
        group = radio.get_attribute("name")
        self.page.locator(f'input[name="{group}"]:checked').focus()
        for _ in range(self.page.locator(f'input[name="{group}"]').count()):
            if radio.is_checked():
                return
            self.page.keyboard.press("ArrowRight")
        assert radio.is_checked(), f"the arrow keys never reach {name_of(radio)}"


class Finger(Pointer):
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

    def tap(self, place: Point) -> None:
        self.page.touchscreen.tap(*place)

    def press(self, control: Locator) -> None:
        control.tap()


def label_of(control: Locator) -> Locator:
    return control.page.locator(f'label[for="{control.get_attribute("id")}"]')


def operate_every_control(widget: Locator, hand: Hand, controls: str = CONTROLS) -> None:
    """Operate each control once, also those that others reveal, and make each choice.

    Fails if a control never appears. The ``controls`` are all, or those that we draw.
    """
    # Without Reset, which would hide revealed controls, and what changes no state.
    left_out = ":not([type=radio], .cw-foot > *, summary, [data-course-touched])"
    untouched = widget.locator(f":is({controls}){left_out}")
    touches = itertools.count()

    def operate_what_shows() -> None:
        open_folds(widget)
        while control := next(filter(usable, untouched.all()), None):
            touch = next(touches)
            assert touch < MOST_CONTROLS, f"controls come without end, as {name_of(control)}"
            # Controls are marked, since operating one may insert others before it.
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
