"""What holds for every widget on every page before a hand touches it."""

from collections.abc import Callable

import pytest
from conftest import Folder
from course_site import pages
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE
from hands import CONTROLS, Keyboard, centre, usable, widgets
from playwright.sync_api import Page


@pytest.fixture(params=pages(with_widgets=True))
def page_path(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_every_widget_is_alive_and_displays_what_course_lib_computes(
    site: Folder, open_page: Callable[..., Page], page_path: str, scheme: str
):
    page = open_page(site.url(page_path, scheme=scheme))
    for widget in widgets(page):
        assert widget.get_attribute("data-alive") == "true"
        agrees_with_course_lib(widget)


def test_every_control_has_a_name(site: Folder, open_page: Callable[..., Page], page_path: str):
    page = open_page(site.url(page_path), formulas=False)
    for widget in widgets(page):
        nameless = widget.locator(CONTROLS).evaluate_all(
            """(controls) => controls.filter((e) => e.tabIndex >= 0
              && !(e.labels?.length && e.labels[0].textContent.trim())
              && !e.getAttribute("aria-label") && !e.textContent.trim()).map((e) => e.outerHTML)"""
        )
        assert nameless == []


@pytest.mark.parametrize("width", [390, 1920])
def test_widgets_fit_the_window_and_their_controls_are_within_reach(
    site: Folder, open_page: Callable[..., Page], page_path: str, width: int
):
    page = open_page(site.url(page_path), width=width, touch=width < 600, formulas=False)
    for widget in widgets(page):
        spilled = widget.evaluate(
            """(el) => [...el.querySelectorAll("*")].filter((e) => e.checkVisibility()
              && !e.closest(".cw-announcer")
              && (e.getBoundingClientRect().right > innerWidth + 1
                  || e.getBoundingClientRect().left < -1)
              && !e.closest("[data-scrolls]")).map((e) => e.outerHTML.slice(0, 200))"""
        )
        assert spilled == [], f"{widget.get_attribute('data-widget')} reaches out of the window"
        for control in filter(usable, widget.locator(CONTROLS).all()):
            x, y = centre(control)
            hit = control.evaluate(
                """(el, [x, y]) => {
                  const top = document.elementFromPoint(x, y);
                  return el.closest(".cw-host").contains(top);
                }""",
                [x, y],
            )
            assert hit, f"{control.get_attribute('aria-label')} cannot be touched at {x}, {y}"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_of_a_widget_stands_out_from_its_ground(
    site: Folder, open_page: Callable[..., Page], page_path: str, theme: str
):
    page = open_page(site.url(page_path), theme=theme, formulas=False)
    assert page.evaluate("() => document.documentElement.dataset.theme") == theme
    for widget in widgets(page):
        faint = widget.evaluate(CONTRAST)
        assert faint == []


# WCAG 2.2, criterion 1.4.3. An SVG text stands on its own halo, or else on the widget's paper.
CONTRAST = """(el) => {
  const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (colour) => {
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = colour;
    brush.fillRect(0, 0, 1, 1);
    return brush.getImageData(0, 0, 1, 1).data;
  };
  const luminance = (colour) => {
    const [r, g, b] = [...rgb(colour)].map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (at === e && at instanceof SVGTextElement && style.stroke !== "none") return style.stroke;
      if (rgb(style.backgroundColor)[3] === 255) return style.backgroundColor;
    }
    return "white";
  };
  const faint = [];
  for (const e of el.querySelectorAll("*")) {
    const own = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
    if (!own || !e.checkVisibility() || e.closest(".cw-announcer, option")) continue;
    const style = getComputedStyle(e);
    const ink = e instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [luminance(ink), luminance(ground(e))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) faint.push([e.textContent.slice(0, 40), ink, ground(e), contrast]);
  }
  return faint;
}"""


def test_a_widget_follows_the_theme_button_at_once(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), theme="light", formulas=False)
    paper = "el => getComputedStyle(el.querySelector('.cw')).backgroundColor"
    before = [widget.evaluate(paper) for widget in widgets(page)]
    for _ in range(3):
        page.locator(".theme-switch-button").first.click()
        if page.evaluate("() => document.documentElement.dataset.theme") == "dark":
            break
    after = [widget.evaluate(paper) for widget in widgets(page)]
    assert all(a != b for a, b in zip(after, before, strict=True))


# What moves for longer than a hundredth of a second: the theme shortens all motion to less.
LASTING_MOTION = """(el) => [...el.querySelectorAll("*")].filter((e) => {
  const style = getComputedStyle(e);
  const lasts = (times) => times.split(",").some((time) => parseFloat(time) > 0.01);
  return (style.animationName !== "none" && lasts(style.animationDuration))
    || lasts(style.transitionDuration)
    || e.getAnimations().some((a) => a.effect.getComputedTiming().endTime > 10);
}).map((e) => e.outerHTML.slice(0, 200))"""


def test_nothing_moves_by_itself_for_readers_who_asked_for_less_motion(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), reduced_motion=True, formulas=False)
    for widget in widgets(page):
        for slider in widget.locator("input[type=range]:visible").all():
            Keyboard(page).slide(slider)
        moving = widget.evaluate(LASTING_MOTION)
        assert moving == []


def test_a_widget_that_nobody_touches_asks_for_no_frame(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), init=COUNT_FRAMES, formulas=False)
    for widget in widgets(page):
        centre(widget)
        assert page.evaluate(FRAMES_WHILE_IDLE) == 0


def test_a_page_without_scripts_says_what_each_widget_shows(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), scripts=False)
    for widget in widgets(page):
        words = widget.locator("p")
        assert words.is_visible()
        assert len(words.inner_text().split()) >= 8
