import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from addresses import go_to, query_of
from agreement import agrees_with_course_lib
from appearance import FAINT_TEXTS, SMALL_LETTERS, SPILLED
from browser_fixtures import all_alive
from clock import frames_asked, observed, rests, turn
from gestures import (
    CONTROLS,
    DRAWN,
    Finger,
    Hand,
    Keyboard,
    Mouse,
    operate_every_control,
    snapshot,
    usable,
    widgets,
)
from matplotlib.image import imread
from playwright.sync_api import JSHandle, Locator, Page, expect
from reading import decoded, eventually, state_of
from small_widgets import ARGUMENTS, TAKE_TEXT, make
from test_widgets_refusals import CHANGED, sent_by_page
from widget_page import Alone, bare_page

from course_lib import widgets as course_widgets
from course_lib.widgets import Widget
from course_lib.widgets.kit.modules import HERE, module_source

Mounted = Callable[..., tuple[Page, JSHandle]]
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><!--<script>"
MOST_NUMBERS = 64  # of one trait in an address
SET_IN_PYTHON_ALONE = {"TinyGPT": {"seed"}}
of_every_kind = pytest.mark.parametrize("kind", ARGUMENTS)
# Widgets in which no control disables another.
FOR_A_HAND = {
    "JetExplorer": {"jet": 1},  # its hardest particle is in the middle, where the test presses
    "MechanicsStage": {"rollouts": None},  # room for each integrator that is switched on in passing
    # A slider makes tiles small, so that a short drag reaches another one.
    "TileStepper": {"query_tile": 8, "key_tile": 9, "step": 2},
}


def for_a_hand(kind: str) -> Widget:
    return make(kind, **FOR_A_HAND.get(kind, {}))


# A hand on it ----------------------------------------------------------------------------------


def answers_and_returns(widget: Locator, hand: Hand, controls: str) -> None:
    """Operate the controls of a new widget; Reset restores its first state."""
    agrees_with_course_lib(widget)
    before = snapshot(widget)
    operate_every_control(widget, hand, controls)
    hand.press(widget.get_by_role("button", name="Reset"))
    becomes(widget, before)
    agrees_with_course_lib(widget)


def becomes(widget: Locator, before: str) -> None:
    def same() -> None:
        assert snapshot(widget) == before

    eventually(widget, same)


@of_every_kind
def test_every_choice_and_handle_reacts_to_the_mouse_and_the_next_widget_does_not(
    open_page: Callable[..., Page], tmp_path: Path, kind: str
):
    page = open_page(bare_page(tmp_path, for_a_hand(kind), for_a_hand(kind)))
    first, second = widgets(page)
    before = snapshot(second)
    answers_and_returns(first, Mouse(page), DRAWN)
    assert snapshot(second) == before
    agrees_with_course_lib(second)
    identifiers = page.locator("[id]").evaluate_all("elements => elements.map((e) => e.id)")
    assert len(set(identifiers)) == len(identifiers)


@of_every_kind
def test_every_choice_and_handle_reacts_to_touch_on_a_phone(alone: Alone, kind: str):
    widget = alone(for_a_hand(kind), width=390, height=844, touch=True)
    assert_within_the_window(widget, 390)
    answers_and_returns(widget, Finger(widget.page), DRAWN)
    assert_within_the_window(widget, 390)


def assert_within_the_window(widget: Locator, width: int) -> None:
    observed(widget.page)
    assert widget.evaluate(SPILLED) == []
    assert widget.evaluate("() => document.scrollingElement.scrollWidth") <= width


@of_every_kind
def test_the_keyboard_reaches_every_control_each_answers_and_tab_leads_out_again(
    alone: Alone, kind: str
):
    below = '<button type="button">next</button>'
    widget = alone(for_a_hand(kind), below=below)
    answers_and_returns(widget, Keyboard(widget.page), CONTROLS)
    stops = widget.evaluate(FOCUS_FIRST_STOP, CONTROLS)
    reached = []
    for _ in range(stops):
        reached.append(widget.evaluate("el => el.courseStops.indexOf(document.activeElement)"))
        outline = widget.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", "the control that has the focus does not show it"
        widget.page.keyboard.press("Tab")
    assert reached == list(range(stops))
    assert not widget.evaluate("el => el.contains(document.activeElement)"), "Tab is trapped"


FOCUS_FIRST_STOP = """(el, selector) => {
  const seen = (e) => e.checkVisibility({ visibilityProperty: true });
  const stop = (e) => e.tabIndex >= 0 && !e.disabled && seen(e)
    && (e.type !== "radio" || e.checked);
  el.courseStops = [...el.querySelectorAll(selector)].filter(stop);
  el.courseStops[0].focus();
  return el.courseStops.length;
}"""


@of_every_kind
def test_an_address_sets_every_control_a_reload_keeps_it_and_reset_clears_it(
    alone: Alone, kind: str
):
    made = make(kind)
    known = made.limits().keys() - SET_IN_PYTHON_ALONE.get(kind, set())
    if not known:
        pytest.skip("no address carries what belongs to the reader alone")
    asked = {n: v for n, v in CHANGED[kind].items() if n in known and np.size(v) <= MOST_NUMBERS}
    widget = alone(made, clock=True)
    page, first = widget.page, snapshot(widget)
    wanted = {name: decoded(sent_by_page(made, name, value)) for name, value in asked.items()}

    def followed() -> None:
        state = state_of(widget)
        for name, value in wanted.items():
            assert np.array_equal(state[name], value), name

    go_to(page, f"{widget.get_attribute('id')}?{query_of(asked)}")
    eventually(widget, followed)
    page.reload()
    all_alive(page)
    eventually(widget, followed)
    agrees_with_course_lib(widget)
    assert widget.get_by_role("alert").all_inner_texts() == []
    widget.get_by_role("button", name="Reset").click()
    becomes(widget, first)
    turn(page, 1)
    assert "#" not in page.url


@of_every_kind
def test_a_narrow_window_is_enough_a_fold_gives_back_its_room_and_a_button_keeps_the_focus(
    alone: Alone, kind: str
):
    widget = alone(make(kind), width=200, reduced_motion=True)
    assert_within_the_window(widget, 200)
    widget.page.set_viewport_size({"width": 704, "height": 900})
    observed(widget.page)
    height = "(el) => el.querySelector('.cw').getBoundingClientRect().height"
    for fold in widget.locator("details").all():
        line, content = fold.locator("> summary"), fold.locator("> :not(summary)").first
        shut = widget.evaluate(height)
        line.click()
        expect(content).to_be_visible()
        assert widget.evaluate(height) >= shut
        line.press("Enter")
        expect(content).not_to_be_visible()
        observed(widget.page)
        assert abs(widget.evaluate(height) - shut) < 1
    for i in range(widget.locator("button:visible").count()):
        button = widget.locator("button:visible").nth(i)
        if not (button.count() and button.is_enabled()):
            continue
        button.focus()
        widget.page.keyboard.press("Enter")
        observed(widget.page)
        if button.count() and not button.is_enabled():
            assert button.evaluate("(e) => e === document.activeElement"), button.inner_text()


# Data is data ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TAKE_TEXT)
def test_markup_in_the_data_is_text_with_scripts_and_without(alone: Alone, kind: str):
    widget = alone(make(kind, HOSTILE))
    # Controls that a choice hides at the end were shown at the start.
    told = widget.text_content()
    operate_every_control(widget, Mouse(widget.page), DRAWN)
    assert widget.page.title() == "bare"
    assert widget.page.locator("img").count() == 0
    assert HOSTILE in told + widget.text_content()

    widget = alone(make(kind, HOSTILE), scripts=False)
    assert widget.page.locator("img").count() == 0
    assert make(kind, HOSTILE).describe() in widget.locator("p").text_content()


@pytest.mark.parametrize("kind", TAKE_TEXT)
def test_names_of_javascript_properties_are_names_like_others(alone: Alone, kind: str):
    widget = alone(make(kind, "__proto__"))
    agrees_with_course_lib(widget)
    assert "__proto__" in widget.text_content()


# How it looks ----------------------------------------------------------------------------------


@of_every_kind
def test_on_a_wide_screen_in_light_and_dark_texts_stand_out_and_every_control_has_a_name(
    alone: Alone, kind: str
):
    widget = alone(make(kind), width=1920)
    assert_within_the_window(widget, 1920)
    assert widget.evaluate(FAINT_TEXTS) == []
    assert widget.locator(CONTROLS).evaluate_all(NAMELESS) == []
    widget.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    observed(widget.page)
    assert widget.evaluate(FAINT_TEXTS) == []
    turned = pixels_of(widget)
    born = alone(make(kind), width=1920, init=DARK_FROM_THE_START)
    assert born.evaluate("() => document.documentElement.dataset.theme") == "dark"
    # A browser may antialias an edge differently when it draws it again.
    assert np.abs(turned - pixels_of(born)).max() < SMOOTHING, "a pixel of the light theme is left"
    born.evaluate(ADD_STYLE, KIT_STYLES)
    assert np.abs(turned - pixels_of(born)).max() < SMOOTHING, "it looks otherwise beside others"


def pixels_of(widget: Locator) -> np.ndarray:
    return imread(io.BytesIO(widget.locator(".cw").screenshot(animations="disabled")))


NAMELESS = """(controls) => controls.filter((e) => e.tabIndex >= 0
  && !(e.labels?.length && e.labels[0].textContent.trim())
  && !e.getAttribute("aria-label") && !e.textContent.trim()).map((e) => e.outerHTML)"""
SMOOTHING = 0.05
ADD_STYLE = """(_, css) => {
  document.head.append(Object.assign(document.createElement("style"), { textContent: css }));
}"""
KIT_STYLES = "".join(sheet.read_text(encoding="utf-8") for sheet in (HERE / "kit").glob("*.css"))
DARK_FROM_THE_START = """
new MutationObserver((_, observer) => {
  if (!document.documentElement) return;
  observer.disconnect();
  document.documentElement.dataset.theme = "dark";
}).observe(document, { childList: true });
"""


# How far the figure, and what is in it, are from filling the window beside its scroll bar.
BEYOND = """(e) => {
  const [wide, box] = [document.documentElement.getBoundingClientRect(), e.getBoundingClientRect()];
  return [box.width - wide.width, box.height - innerHeight,
    e.scrollWidth - e.clientWidth, e.scrollHeight - e.clientHeight];
}"""
# Where all stands, and what has the focus.
STANDS = """(el) => {
  const boxes = [el, ...el.querySelectorAll("*"), ...document.querySelectorAll("body > *")]
    .map((e) => e.getBoundingClientRect().toJSON());
  return JSON.stringify([scrollY, document.activeElement.className, boxes]);
}"""


@of_every_kind
def test_enlarged_it_fills_the_window_in_large_letters_reacts_and_gives_the_page_back(
    alone: Alone, kind: str
):
    widget = alone(for_a_hand(kind), width=1920, height=1080, reduced_motion=True, below=HIGH)
    page, figure = widget.page, widget.locator(".cw")
    widget.get_by_role("button", name="Enlarge").focus()
    observed(page)
    before = widget.evaluate(STANDS)
    page.keyboard.press("f")
    observed(page)
    expect(widget.get_by_role("button", name="Close")).to_be_focused()
    assert figure.evaluate(BEYOND) == [0, 0, 0, 0]
    assert page.evaluate(SMALL_LETTERS, 19.9) == []
    page.keyboard.press("Escape")
    observed(page)
    assert widget.evaluate(STANDS) == before
    page.keyboard.press("f")
    drawn = filter(usable, figure.locator(f"{DRAWN}, input:not([type=radio]), select").all())
    Mouse(page).operate(widget, next(drawn))


HIGH = '<div style="height: 400vh"></div>'


# Animations longer than a hundredth of a second: the theme shortens all to less.
LASTING_MOTION = """(el) => [...el.querySelectorAll("*")].filter((e) => {
  const style = getComputedStyle(e);
  const lasts = (times) => times.split(",").some((time) => parseFloat(time) > 0.01);
  return (style.animationName !== "none" && lasts(style.animationDuration))
    || lasts(style.transitionDuration)
    || e.getAnimations().some((a) => a.effect.getComputedTiming().endTime > 10);
}).map((e) => e.outerHTML.slice(0, 200))"""


@of_every_kind
def test_with_reduced_motion_nothing_moves_by_itself(alone: Alone, kind: str):
    moves = "moving" in getattr(course_widgets, kind).class_traits()
    made = make(kind, **{"moving": True} if moves else {})
    widget = alone(made, reduced_motion=True, clock=True)
    assert rests(widget)
    for slider in widget.locator("input[type=range]:visible").all():
        Keyboard(widget.page).slide(slider)
    assert widget.evaluate(LASTING_MOTION) == []
    assert rests(widget)


# What it leaves alone --------------------------------------------------------------------------


def test_an_idle_or_invisible_widget_rests_and_catches_up_when_visible(alone: Alone):
    widget = alone(make("SoftLookup"), below='<div style="height: 400vh"></div>', clock=True)
    page = widget.page
    assert rests(page)
    page.evaluate("() => window.scrollTo(0, document.body.scrollHeight)")
    assert rests(page)
    asked = frames_asked(page)
    widget.evaluate("el => el.courseModel.set('temperature', 2.25)")
    turn(page, 1)
    assert frames_asked(page) == asked
    page.evaluate("() => window.scrollTo(0, 0)")
    agrees_with_course_lib(widget)


# A model of the page, and the hosts that observe for a widget.
MOUNT = """async ([address, state]) => {
  const observed = new Set();
  for (const name of ["ResizeObserver", "IntersectionObserver", "MutationObserver"]) {
    const Own = window[name];
    window[name] = class extends Own {
      observe(...given) { observed.add(this); super.observe(...given); }
      disconnect() { observed.delete(this); super.disconnect(); }
    };
  }
  const listening = [];
  const model = {
    get: (name) => state[name],
    set: (name, value) => { state[name] = value; },
    save_changes: () => {},
    on: (event, listener) => listening.push([event, listener]),
    off: (event, listener) => {
      const at = listening.findIndex(([e, l]) => e === event && l === listener);
      if (at >= 0) listening.splice(at, 1);
    },
  };
  const el = document.createElement("div");
  document.body.append(el);
  const stop = await (await import(address)).default.render({ model, el });
  const count = () => [listening.length, observed.size, el.childNodes.length];
  return { el, listening, stop, count };
}"""
REFUSE = """async ({ el, listening }) => {
  const said = async () => {
    for (let i = 0; i < 2; i += 1) await new Promise(requestAnimationFrame);
    return el.querySelector("[role=alert]")?.textContent ?? "";
  };
  const [, hear] = listening.find(([event]) => event === "msg:custom");
  hear({ refused: "temperature must lie between 0.02 and 10" });
  const after = await said();
  el.querySelector("input[type=range]").dispatchEvent(new Event("input"));
  return [after, await said()];
}"""


@pytest.fixture
def mounted(open_page: Callable[..., Page], tmp_path: Path) -> Mounted:
    def mounted(widget: Widget, **options: bool) -> tuple[Page, JSHandle]:
        (tmp_path / "empty.html").write_text("<!doctype html><title>empty</title><body></body>")
        page = open_page((tmp_path / "empty.html").as_uri(), **options)
        address = page.evaluate(
            "text => URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))",
            module_source(widget._module),
        )
        return page, page.evaluate_handle(MOUNT, [address, widget.page_state()])

    return mounted


# One that leaves listening to the kit, and one that listens itself.
@pytest.mark.parametrize("kind", ["SoftLookup", "Prediction"])
def test_a_removed_widget_leaves_no_listeners_behind(mounted: Mounted, kind: str):
    page, widget = mounted(make(kind), clock=True)
    listeners, observers, nodes = widget.evaluate("({ count }) => count()")
    assert min(listeners, observers) > 0
    assert nodes == 1
    assert widget.evaluate("({ stop, count }) => { stop(); return count(); }") == [0, 0, 0]
    asked = frames_asked(page)
    turn(page, 1)  # an announcement waits for half a second
    assert frames_asked(page) == asked


def test_refusals_of_python_are_shown_until_the_next_action(mounted: Mounted):
    _, widget = mounted(make("SoftLookup"))
    said, later = widget.evaluate(REFUSE)
    assert said == "Python did not take this: temperature must lie between 0.02 and 10"
    assert later == ""
