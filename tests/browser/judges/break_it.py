"""BreakIt: compare its display with course_lib."""

import json

import pytest
from broken_claims import residual
from playwright.sync_api import Locator
from reading import state_of

from .scraped import number_in


def displayed(widget: Locator) -> None:
    state = state_of(widget)
    told = widget.locator(".cw-break-words").inner_text()
    error = widget.locator("[data-reading=error]").inner_text()
    if "breaks it" in told:
        given = json.loads(widget.locator("[data-case]").get_attribute("data-case"))
        exact = residual(state["claim"], given, state["bend"])
        assert exact > state["about"]["tolerance"]
        assert number_in(error) == pytest.approx(exact, rel=0.051 if "·" in error else 0.006)
    elif told.startswith("0 cases"):
        assert error == "0"
    else:
        assert error == "0" or "·10⁻" in error
