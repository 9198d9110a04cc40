"""LiveFigure: compare its display with course_lib."""

import pytest
from live_figures import EXPECTED
from playwright.sync_api import Locator
from reading import state_of

from .scraped import number_in

# A power from two numbers of nodes is known to one decimal.
ONE_DIGIT = {"softmax-power"}


def displayed(widget: Locator) -> None:
    state = state_of(widget)
    expected = EXPECTED[state["figure"]](state)
    readings = widget.locator("[data-reading]")
    names = readings.evaluate_all("all => all.map((e) => e.dataset.reading)")
    assert names == list(expected)
    for name, text in zip(names, readings.all_text_contents(), strict=True):
        rel, doubt = (0, 0.0501) if name in ONE_DIGIT else (0.006, 6e-4)
        assert number_in(text) == pytest.approx(
            expected[name], rel=0.051 if "·" in text else rel, abs=doubt
        )
