"""Prediction: a small one, what it displays, and what course_lib says it should."""

import math
import re

import numpy as np
import pytest
from playwright.sync_api import Locator
from reading import SCIENTIFIC, scientific_number, state_of

from course_lib.widgets import Prediction

DEPTH = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
READ = np.array([0.62, 0.81, 0.9, 0.84, 0.4, 0.12])


def make(name: str = "How much is still read after so many layers?") -> Prediction:
    return Prediction.sketch(
        name,
        x=DEPTH,
        truth=100 * READ,
        up=(0, 100),
        xlog=True,
        xlabel="layers",
        ylabel="right (%)",
        unit="%",
        answer="Each layer blends neighbours, and in the end all are alike.",
    )


def placed(**given: object) -> Prediction:
    return Prediction.place(
        "How many steps until it goes over the top?",
        **{"truth": 137.0, "between": (1, 10_000), "log": True, "unit": "steps"} | given,
        answer="Each step adds a little energy.",
    )


def chosen(**given: object) -> Prediction:
    return Prediction.choose(
        "Who is ahead?",
        options={"counting pairs": 2.41, "an LSTM": 1.93, "a transformer": 1.88},
        **{"wanted": "smallest", "unit": "nats"} | given,
        answer="It looks back as far as it needs to.",
    )


def displayed(widget: Locator) -> None:
    state = state_of(widget)
    given = {n: v for n, v in state.items() if n != "x" or len(v)}
    gap = widget.locator("[data-reading=off]")
    truths = widget.locator(".cw-p-truth, .cw-p-true, .cw-p-bar")
    if not state["revealed"]:
        assert gap.count() == truths.count() == 0
        assert state["answer"] not in widget.locator(".cw").inner_text()
        return
    assert truths.count() == max(1, len(state["options"]))
    assert state["answer"] in widget.locator(".cw-p-answer").inner_text()
    off = Prediction(**given).off()
    text = gap.inner_text()
    if off is None or text == "right":
        assert off in (None, 0.0, 1.0)
        assert (text == "right") == (off is not None)
        return
    assert shown_number(text) == pytest.approx(off, rel=0.006)


def shown_number(text: str) -> float:
    """The number in a text: 1,234 or 0.52 or 2.5·10⁻⁵."""
    if found := SCIENTIFIC.search(text):
        return scientific_number(found[0])
    number = float(re.search(r"[\d,]+(?:\.\d+)?", text)[0].replace(",", ""))
    assert math.isfinite(number)
    return number
