import numpy as np
import pytest
import torch

from course_lib.widgets import Prediction

WHY = {"answer": "Because."}


def test_a_question_and_its_answer_can_be_read_without_scripts():
    text = Prediction.place(
        "How many bends?", truth=torch.tensor(17), between=(0, 40), unit="bends", **WHY
    ).describe()
    assert "How many bends? Answer: 17 bends. Because." in text
    text = Prediction.choose("Who?", options={"a": 0.25, "b": torch.tensor(1.5)}, **WHY).describe()
    assert "Who? Answer: b (a 0.25, b 1.5). Because." in text
    text = Prediction.sketch("How?", x=[1, 2], truth=[0.5, 0.25], up=(0, 1), **WHY).describe()
    assert "The curve runs from 0.5 at 1 to 0.25 at 2. Because." in text


def test_the_error_of_a_guess_is_a_distance_or_a_factor():
    told = {"truth": 8, "guess": [2], **WHY}
    assert Prediction.place("Where?", between=(0, 10), **told).off() == 6
    assert Prediction.place("Where?", between=(1, 10), log=True, **told).off() == pytest.approx(4)
    assert Prediction.place("Where?", truth=1, between=(0, 2), **WHY).off() is None
    # A choice by the margin of the right one.
    told = {"options": {"a": 1, "b": 4, "c": -2}, **WHY}
    assert Prediction.choose("Who?", guess=[0], **told).off() == 3
    assert Prediction.choose("Who?", wanted="smallest", guess=[2], **told).off() == 0
    with pytest.raises(ValueError, match="above zero"):
        Prediction.choose("Who?", log=True, **told)
    told |= {"options": {"a": 0.02, "b": 5.0}}
    assert Prediction.choose("Who?", guess=[0], log=True, **told).off() == pytest.approx(250)
    # A curve by its mean distance.
    x = np.linspace(0, 24, 25)
    curve = {"x": x, "truth": x + 3, "up": (1, 30), "guess": np.clip(x, 1, 30).tolist(), **WHY}
    assert Prediction.sketch("How?", **curve).off() == pytest.approx((24 * 3 + 2) / 25)
    flat = {"x": [1, 2, 5], "truth": [4, 4, 4], "up": (1, 10), "guess": [2] * 25, **WHY}
    assert Prediction.sketch("How?", ylog=True, **flat).off() == pytest.approx(2)
    assert Prediction.sketch("How?", **flat).across.tolist() == [1, 5]
