"""Every control of every widget on every page answers to mouse, keyboard and finger."""

from collections.abc import Callable

import pytest
from conftest import Folder
from course_site import pages
from hands import CONTROLS, Finger, Keyboard, Mouse, operate_every_control, widgets
from playwright.sync_api import Page


@pytest.fixture(params=pages(with_widgets=True))
def page_path(request: pytest.FixtureRequest) -> str:
    return request.param


def test_every_control_answers_to_the_mouse(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), formulas=False)
    for widget in widgets(page):
        operate_every_control(widget, Mouse(page))


def test_every_control_answers_to_the_keyboard(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), formulas=False)
    for widget in widgets(page):
        operate_every_control(widget, Keyboard(page))


def test_every_control_answers_to_a_finger_on_a_small_screen(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), width=390, height=844, touch=True, formulas=False)
    for widget in widgets(page):
        operate_every_control(widget, Finger(page))


def test_tab_reaches_every_control_and_leaves_the_widget_again(
    site: Folder, open_page: Callable[..., Page], page_path: str
):
    page = open_page(site.url(page_path), formulas=False)
    for widget in widgets(page):
        stops = widget.evaluate(
            """(el, selector) => {
              const stop = (e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility()
                && (e.type !== "radio" || e.checked);
              const stops = [...el.querySelectorAll(selector)].filter(stop);
              el.courseStops = stops;
              stops[0].focus();
              return stops.length;
            }""",
            CONTROLS,
        )
        reached = []
        for _ in range(stops):
            reached.append(widget.evaluate("el => el.courseStops.indexOf(document.activeElement)"))
            outline = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", "the control that has the focus does not show it"
            page.keyboard.press("Tab")
        assert reached == list(range(stops))
        assert not widget.evaluate("el => el.contains(document.activeElement)"), "Tab is trapped"
