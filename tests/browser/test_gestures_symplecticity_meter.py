"""SymplecticityMeter by hand: success in words, no force at all, huge numbers, the theme."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bare import Alone
from displayed import agrees_with_course_lib
from frames import SOME_FRAMES
from playwright.sync_api import Locator
from reading import eventually

from course_lib.widgets import SymplecticityMeter

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]
WINDOW = np.random.default_rng(5).normal(size=(3, 2))
MATRIX = np.array([[0.5, -0.4], [1.1, 0.3]])
# The colour of the most opaque pixel.
DEEPEST = """(el) => {
  const canvas = el.querySelector("canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let deepest = 3;
  for (let at = 3; at < data.length; at += 4) if (data[at] > data[deepest]) deepest = at;
  return [...data.slice(deepest - 3, deepest)];
}"""


@pytest.fixture
def shown(alone: Alone) -> Shown:
    """Opens a page with one SymplecticityMeter and gives that widget."""

    def shown(z: Any = WINDOW, A: Any = MATRIX, *, width: int = 1280, **given: Any) -> Locator:
        return alone(SymplecticityMeter(z, A, **given), width=width)

    return shown


def test_success_is_said_where_the_square_is_empty(shown: Shown):
    widget = shown(formula="shortcut", softmax="matrix", matrix="general")
    assert widget.locator(".cw-seal").count() == 0
    widget.get_by_role("radio", name="S Z Aᵀ + Sᵀ Z A").check()
    eventually(widget, lambda: assert_sealed(widget, "✓ M = Mᵀ"))
    words = widget.locator(".cw-seal text").first.bounding_box()
    square = widget.locator("canvas").bounding_box()
    assert square["x"] < words["x"]
    assert words["x"] + words["width"] < square["x"] + square["width"]
    assert square["y"] < words["y"] < square["y"] + square["height"]
    agrees_with_course_lib(widget)


def assert_sealed(widget: Locator, words: str) -> None:
    assert words in widget.locator(".cw-seal").text_content()


def test_no_force_at_all_is_symplectic_and_paints_nothing(shown: Shown):
    widget = shown(A=np.zeros((2, 2)))
    assert_sealed(widget, "✓ M = 0 = Mᵀ")
    assert widget.locator("[data-reading=asymmetry]").inner_text() == "0"
    assert "NaN" not in widget.locator(".cw").evaluate("el => el.outerHTML")
    agrees_with_course_lib(widget)


@pytest.mark.parametrize("size", [1e38, 1e-38])
@pytest.mark.parametrize("formula", ["full", "shortcut"])
def test_a_window_of_any_size_is_drawn_without_a_strange_number(
    shown: Shown, size: float, formula: str
):
    widget = shown(WINDOW / np.abs(WINDOW).max() * size, formula=formula, matrix="general")
    found = re.search("NaN|Infinity|undefined", widget.locator(".cw").evaluate("e => e.outerHTML"))
    assert found is None


def test_the_cells_follow_the_theme_at_once(shown: Shown):
    widget = shown(matrix="general")
    assert widget.evaluate(DEEPEST) == pytest.approx([0xC0, 0x4C, 0x00], abs=3)
    widget.page.evaluate("() => { document.documentElement.dataset.theme = 'dark'; }")
    widget.evaluate(SOME_FRAMES)
    assert widget.evaluate(DEEPEST) == pytest.approx([0xFF, 0x9A, 0x52], abs=3)


def test_in_a_column_of_200_pixels_nothing_sticks_out(shown: Shown):
    widget = shown(width=200)
    assert widget.page.evaluate("() => document.documentElement.scrollWidth") <= 200
