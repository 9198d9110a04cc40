import numpy as np
import pytest

from course_lib.widgets import Prediction

from .scraped import Found, number_in, scraper


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


READ = scraper("""return {
  gap: one("[data-reading=off]")?.innerText,
  truths: all(".cw-p-truth, .cw-p-true, .cw-p-bar").length,
  all: one(".cw").innerText,
  answer: one(".cw-p-answer")?.innerText,
};""")


def displayed(state: Found, page: Found) -> None:
    gap = page["gap"]
    if not state["revealed"]:
        assert (gap, page["truths"]) == (None, 0)
        assert state["answer"] not in page["all"]
        return
    assert page["truths"] == max(1, len(state["options"]))
    assert state["answer"] in page["answer"]
    asked = Prediction(**{n: v for n, v in state.items() if n != "x" or len(v)})
    off = asked.off()
    assert (gap == "You hit it") == hit(asked)
    if off is None:
        assert gap == ""
    elif not hit(asked):
        # A line of steps has no more digits than the reader's steps.
        stepped = asked.kind == "place" and asked.step and not asked.xlog
        room = asked.step / 10 if stepped else 0
        assert number_in(gap) == pytest.approx(off, rel=0.006, abs=room)


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
