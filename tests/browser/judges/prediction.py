"""Prediction: compare its display with course_lib."""

import numpy as np
import pytest
from playwright.sync_api import Locator
from reading import state_of

from course_lib.widgets import Prediction

from .scraped import number_in

DEPTH = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
READ = np.array([0.62, 0.81, 0.9, 0.84, 0.4, 0.12])


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
    gap = widget.locator("[data-reading=off]")
    truths = widget.locator(".cw-p-truth, .cw-p-true, .cw-p-bar")
    if not state["revealed"]:
        assert gap.count() == truths.count() == 0
        assert state["answer"] not in widget.locator(".cw").inner_text()
        return
    assert truths.count() == max(1, len(state["options"]))
    assert state["answer"] in widget.locator(".cw-p-answer").inner_text()
    asked = Prediction(**{n: v for n, v in state.items() if n != "x" or len(v)})
    off, text = asked.off(), gap.inner_text()
    assert (text == "You hit it") == hit(asked)
    if off is None:
        assert text == ""
    elif not hit(asked):
        # A line of steps has no more digits than the reader's steps.
        stepped = asked.kind == "place" and asked.step and not asked.xlog
        room = asked.step / 10 if stepped else 0
        assert number_in(text) == pytest.approx(off, rel=0.006, abs=room)


def hit(asked: Prediction) -> bool:
    """Whether no possible guess is nearer to the truth."""
    if asked.kind == "choose" or asked.off() is None:
        return asked.off() == 0
    ends, log = (asked.up, asked.ylog) if asked.kind == "sketch" else (asked.across, asked.xlog)
    bent = np.log if log else np.asarray
    low, high = bent(ends.astype(float))
    if asked.kind == "sketch":
        return (float(bent(asked.off())) / (high - low)) < 0.005
    count = 100 if log or not asked.step else round((high - low) / asked.step)
    numbers = bent(np.array([asked.guess[0], float(asked.truth[0])]))
    guess, truth = np.floor((numbers - low) / (high - low) * count + 0.5)
    return bool(guess == truth)
