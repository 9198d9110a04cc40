from typing import Any

import numpy as np
import pytest
from agreement import agrees_with_course_lib, has
from clock import CLOCK, plays, rests, turn
from gestures import press
from judges.party_memory import READ
from playwright.sync_api import Locator, expect
from reading import NOTE_VALUES, VALUES, send, state_of
from widget_page import Alone

from course_lib.widgets import PartyMemory
from course_lib.widgets.kit.traits import LONGEST_NAME

QUESTIONS = {"Who is early?": [1.0], "Who is late?": [-1.0], "Anybody?": [0.0]}
FITS = {"Who is early?": ["Ada"], "Who is late?": ["Ada", "Ben"], "Anybody?": []}


def party(alone: Alone, window: dict[str, Any] | None = None, **given: Any) -> Locator:
    """A page with three guests, with the scores 0, 1 and 2 by default."""
    names = given.pop("names", ["Ada", "Ben", "Cleo"])
    images = given.pop("images", np.ones((3, 2, 2)))
    score = np.array(given.pop("score", [0.0, 1.0, 2.0]), dtype=np.float32)
    options = {"score": score, "keys": score[:, None], "queries": QUESTIONS} | given
    return alone(PartyMemory(images, names, **options), **window or {})


def asked(alone: Alone, window: dict[str, Any], **given: Any) -> Locator:
    return party(alone, window, **{"mode": "query", "question": "Who is late?"} | given)


@pytest.mark.parametrize(
    ("shape", "score"), [((1, 256), [1e30, -1e30, 1e30]), ((7, 1), [0.0, 0.0, 0.0])], ids=str
)
def test_a_picture_of_one_row_or_column_is_remembered_in_every_way(
    alone: Alone, shape: tuple[int, int], score: list[float]
):
    images = np.random.default_rng(5).uniform(size=(3, *shape))
    names = ["x" * LONGEST_NAME, "Ben", "Cleo"]
    widget = party(alone, images=images, names=names, score=score, queries={"Who?": [1.0]})
    for mode in state_of(widget)["modes"]:
        send(widget, mode=mode)
        agrees_with_course_lib(widget)
    for picture in widget.locator("canvas:visible").all():
        box = picture.bounding_box()
        assert min(box["width"], box["height"]) >= 12
        assert max(box["width"], box["height"]) <= 176
    assert widget.locator(".cw-guest-name").first.bounding_box()["height"] < 100


def memory(widget: Locator) -> list[int]:
    return widget.evaluate(READ)["ink"][-1]


def test_guests_come_one_by_one_into_an_empty_room_and_their_ink_lands_pixel_by_pixel(alone: Alone):
    widget = party(alone, CLOCK, arrived=0, moving=True, mode="forgetting", decay=1.0)
    assert state_of(widget)["arrived"] == 0
    assert memory(widget) == [0, 0, 0, 0]
    turn(widget, 1.25)
    # The lowest row leaves first: a pixel of it has landed when one above it is on its way.
    assert memory(widget)[1:3] == [0, 255]
    for guest in (1, 2, 3):
        for seconds, flies in ((0.6, True), (1.1, False)):
            assert state_of(widget)["arrived"] == guest
            assert widget.locator(".cw-party-air").is_visible() == flies
            if not flies:
                agrees_with_course_lib(widget)
            turn(widget, seconds)
    assert rests(widget)
    press(widget, "Let them arrive")
    turn(widget, 1)
    press(widget, "Stop")
    for arrived in (1, 2):
        turn(widget, 4)
        assert not plays(widget)
        has(widget, arrived=arrived)
        press(widget, "Next guest")


def test_all_questions_are_shown_once_in_turn_and_the_first_one_at_the_end(alone: Alone):
    widget = asked(alone, CLOCK, moving=True)
    widget.evaluate(NOTE_VALUES, "question")
    turn(widget, 10)
    assert not plays(widget)
    assert widget.evaluate(VALUES) == ["Anybody?", "Who is early?", "Who is late?"]
    answer = widget.locator(".cw-party-answer strong")
    expect(answer).to_have_text("Ada")
    assert rests(widget)
    for _ in range(2):
        press(widget, "Next question")
        turn(widget, 2)
    has(widget, question="Who is early?")
    expect(answer).to_have_text("Cleo")


def test_an_answer_comes_with_its_weights_and_is_right_or_wrong_where_that_is_known(alone: Alone):
    widget = asked(alone, CLOCK, fits=FITS, question="Anybody?", moving=True)
    air = widget.locator(".cw-party-air")
    parts = (".cw-guest-weight", ".cw-party-answer strong", ".cw-party-verdict")
    for flies in (True, False, True, False):
        turn(widget, 1)
        assert air.is_visible() == flies
        assert [widget.locator(part).first.is_visible() for part in parts] == [not flies] * 3
    widget = asked(alone, {"width": 390, "reduced_motion": True}, fits=FITS)
    answer, heights = widget.locator(".cw-party-answer"), set()
    for question, outcome, sign, said in [
        ("Who is late?", "good", "✓", "Right."),
        ("Who is early?", "bad", "✗", "Ada is right."),
        ("Anybody?", "bad", "✗", "Nobody here fits"),
    ]:
        widget.get_by_label("Ask", exact=True).select_option(question)
        expect(answer).to_have_attribute("data-outcome", outcome)
        expect(widget.locator(".cw-party-verdict")).to_contain_text(said)
        assert sign in answer.locator("strong").inner_text()
        agrees_with_course_lib(widget)
        heights.add(round(widget.locator(".cw").bounding_box()["height"]))
    assert len(heights) == 1
