"""How guests come to a PartyMemory, and what it draws at the edge of what it takes."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from bare import Alone
from clock import rests, turn
from displayed import agrees_with_course_lib
from playwright.sync_api import Locator, expect
from reading import NOTE_VALUES, VALUES, state_of

from course_lib.widgets import PartyMemory
from course_lib.widgets.traits import LONGEST_NAME

pytestmark = pytest.mark.usefixtures("plain_calls")


@pytest.fixture
def shown(alone: Alone) -> Callable[..., Locator]:
    """Opens a page with one party, and gives it."""

    def shown(
        images: np.ndarray, names: list[str], score: list[float], *, window=None, **given: object
    ) -> Locator:
        numbers = np.array(score, dtype=np.float32)
        queries = {"Who?": [1.0]}
        party = PartyMemory(
            images, names, score=numbers, keys=numbers[:, None], queries=queries, **given
        )
        return alone(party, **(window or {}))

    return shown


@pytest.mark.parametrize("score", [[1e30, -1e30, 1e30], [0.0, 0.0, 0.0]], ids=["huge", "zero"])
@pytest.mark.parametrize("shape", [(1, 7), (7, 1), (1, 1), (1, 256), (256, 1)], ids=str)
def test_a_picture_of_one_row_or_column_is_remembered_in_every_way(
    shown: Callable[..., Locator], shape: tuple[int, int], score: list[float]
):
    images = np.random.default_rng(5).uniform(size=(3, *shape))
    widget = shown(images, ["Ada", "Ben", "Cleo"], score)
    for mode in state_of(widget)["modes"]:
        widget.evaluate("(el, mode) => el.courseModel.set('mode', mode)", mode)
        agrees_with_course_lib(widget)
        assert "NaN" not in widget.inner_html()
    for picture in widget.locator("canvas:visible").all():
        box = picture.bounding_box()
        assert min(box["width"], box["height"]) >= 12
        assert max(box["width"], box["height"]) <= 176


def test_a_name_without_end_is_cut(shown: Callable[..., Locator]):
    widget = shown(np.ones((2, 4, 4)), ["x" * LONGEST_NAME, "Ben"], [0.0, 1.0])
    assert widget.locator(".cw-guest-name").first.bounding_box()["height"] < 100
    agrees_with_course_lib(widget)


THREE = (np.ones((3, 2, 2)), ["Ada", "Ben", "Cleo"], [0.0, 1.0, 2.0])


@pytest.mark.parametrize(("end", "arrived"), [("Stop", 1), ("Reset", 3)])
def test_nobody_arrives_once_a_party_is_stopped_or_reset(
    shown: Callable[..., Locator], end: str, arrived: int
):
    widget = shown(*THREE, window={"clock": True})
    widget.get_by_role("button", name="Let them arrive").click()
    turn(widget, 1)
    assert state_of(widget)["arrived"] == 1
    widget.get_by_role("button", name=end).click()
    turn(widget, 3)
    assert widget.get_by_role("button", name="Let them arrive").is_visible()
    assert state_of(widget)["arrived"] == arrived
    agrees_with_course_lib(widget)


# How much ink each pixel of the memory has.
INK = """(el) => {
  const sheet = [...el.querySelectorAll("canvas.cw-picture")].at(-1);
  const { data } = sheet.getContext("2d").getImageData(0, 0, sheet.width, sheet.height);
  return [...data].filter((_, i) => i % 4 === 3);
}"""


def test_guests_come_one_by_one_into_an_empty_room_and_their_ink_lands_pixel_by_pixel(
    shown: Callable[..., Locator],
):
    given = {"arrived": 0, "moving": True, "mode": "forgetting", "decay": 1.0}
    widget = shown(*THREE, **given, window={"clock": True})
    assert state_of(widget)["arrived"] == 0
    assert widget.evaluate(INK) == [0, 0, 0, 0]
    turn(widget, 1.25)
    # The lowest row leaves first: a pixel of it has landed when one above it is on its way.
    assert widget.evaluate(INK)[1:3] == [0, 255]
    for guest in (1, 2, 3):
        for seconds, flies in ((0.6, True), (1.1, False)):
            assert state_of(widget)["arrived"] == guest
            assert widget.locator(".cw-party-air").is_visible() == flies
            if not flies:
                agrees_with_course_lib(widget)
            turn(widget, seconds)


def test_a_party_in_motion_stands_still_for_readers_who_asked_for_less(
    shown: Callable[..., Locator],
):
    still = {"reduced_motion": True, "clock": True}
    widget = shown(*THREE, arrived=0, moving=True, window=still)
    assert rests(widget)
    assert state_of(widget)["arrived"] == 0
    agrees_with_course_lib(widget)
    for arrived in (1, 2, 3, 0):
        widget.get_by_role("button", name="Next guest").click()
        assert state_of(widget)["arrived"] == arrived
        agrees_with_course_lib(widget)
        assert rests(widget)
    widget.get_by_role("button", name="Let them arrive").click()
    assert state_of(widget)["arrived"] == 3
    agrees_with_course_lib(widget)


def test_the_next_guest_comes_alone(shown: Callable[..., Locator]):
    widget = shown(*THREE, arrived=0, window={"clock": True})
    widget.get_by_role("button", name="Next guest").click()
    turn(widget, 4)
    agrees_with_course_lib(widget)
    assert widget.get_by_role("button", name="Let them arrive").is_visible()
    assert state_of(widget)["arrived"] == 1


QUESTIONS = {"Who is early?": [1.0], "Who is late?": [-1.0], "Anybody?": [0.0]}


def questioned(alone: Alone, *, window: dict[str, Any] | None = None, **given: Any) -> Locator:
    images, names, score = THREE
    options = {"queries": QUESTIONS, "mode": "query", "question": "Who is late?"} | given
    party = PartyMemory(images, names, keys=np.array(score)[:, None], **options)
    return alone(party, **window or {})


def test_all_questions_are_asked_in_turn_once_and_the_first_one_stands_at_the_end(alone: Alone):
    widget = questioned(alone, moving=True, window={"clock": True})
    widget.evaluate(NOTE_VALUES, "question")
    turn(widget, 10)
    assert widget.get_by_role("button", name="Ask in turn").is_visible()
    assert widget.evaluate(VALUES) == ["Anybody?", "Who is early?", "Who is late?"]
    assert answer_of(widget) == "Ada"
    agrees_with_course_lib(widget)
    assert rests(widget)


def answer_of(widget: Locator) -> str:
    return widget.locator(".cw-party-answer strong").text_content().strip()


def test_of_many_questions_a_few_that_lie_far_apart_are_asked_and_are_answered(
    alone: Alone,
):
    queries = {f"Who is {i}?": [i - 6.0] for i in range(13)}
    asked = {"queries": queries, "question": "Who is 1?"}
    widget = questioned(alone, moving=True, **asked, window={"clock": True})
    widget.evaluate(NOTE_VALUES, "question")
    assert answer_of(widget) == "Ada"
    turn(widget, 15)
    assert widget.get_by_role("button", name="Ask in turn").is_visible()
    assert widget.evaluate(VALUES) == [f"Who is {i}?" for i in (4, 6, 9, 11, 1)]


def test_an_answer_its_weights_and_its_picture_come_together(alone: Alone):
    given = {"fits": FITS, "question": "Anybody?", "moving": True}
    widget = questioned(alone, **given, window={"clock": True})
    air = widget.locator(".cw-party-air")
    parts = (".cw-guest-weight", ".cw-party-answer strong", ".cw-party-verdict")
    for flies in (True, False, True, False):
        turn(widget, 1)
        assert air.is_visible() == flies
        assert [widget.locator(part).first.is_visible() for part in parts] == [not flies] * 3


INK_OF_EVIDENCE = """(el) => [...el.querySelectorAll(".cw-guest-evidence")].map((one) => {
  const text = document.createRange();
  text.selectNodeContents(one);
  const { left, right } = text.getBoundingClientRect();
  return [left, right];
})"""


def test_on_a_telephone_what_five_guests_weigh_by_stands_apart(shown: Callable[..., Locator]):
    score = [-111.1, -116.5, -103.0, -105.7, 111.5]
    names = ["seven", "three", "one", "eight", "four"]
    widget = shown(np.zeros((5, 8, 8)), names, score, window={"width": 390}, mode="query")
    ink = widget.evaluate(INK_OF_EVIDENCE)
    assert len(ink) == len(names)
    assert all(before[1] + 2 < after[0] for before, after in pairwise(ink))
    assert widget.locator(".cw-guest-evidence").first.inner_text().split() == ["k·q", "=", "−111.1"]


def test_a_product_and_a_value_stay_on_one_line(alone: Alone):
    images, names, score = THREE
    widget = alone(PartyMemory(images, names, score=score, mode="forgetting"), width=720)
    product = widget.locator(".cw-party-rule span").first
    assert product.evaluate("(el) => el.getClientRects().length") == 1
    slider = widget.get_by_role("slider", name="Keep").bounding_box()
    value = widget.locator(".cw-party-only:not([hidden]) output").bounding_box()
    assert slider["y"] < value["y"] + value["height"] / 2 < slider["y"] + slider["height"]


def test_the_next_question_is_answered_by_the_guest_whom_it_looks_at_most(alone: Alone):
    widget = questioned(alone, window={"clock": True})
    for _ in range(2):
        widget.get_by_role("button", name="Next question").click()
        turn(widget, 2)
        assert widget.get_by_role("button", name="Ask in turn").is_visible()
    assert state_of(widget)["question"] == "Who is early?"
    assert answer_of(widget) == "Cleo"
    agrees_with_course_lib(widget)


FITS = {"Who is early?": ["Ada"], "Who is late?": ["Ada", "Ben"], "Anybody?": []}


@pytest.mark.parametrize(
    ("question", "outcome", "sign", "said"),
    [
        ("Who is late?", "good", "✓", "Right."),
        ("Who is early?", "bad", "✗", "Wrong: Ada is right."),
        ("Anybody?", "bad", "✗", "Nobody here fits, and somebody gets the weight all the same."),
    ],
)
def test_an_answer_is_said_to_be_right_or_wrong_where_that_is_known(
    alone: Alone, question: str, outcome: str, sign: str, said: str
):
    widget = questioned(alone, question=question, fits=FITS)
    answer = widget.locator(".cw-party-answer")
    expect(answer).to_have_attribute("data-outcome", outcome)
    assert sign in answer.locator("strong").inner_text()
    assert widget.locator(".cw-party-verdict").inner_text() == said
    agrees_with_course_lib(widget)


def test_nothing_moves_when_a_verdict_changes(alone: Alone):
    for width in (390, 704):
        widget = questioned(alone, fits=FITS, window={"width": width, "reduced_motion": True})
        heights = set()
        for question in QUESTIONS:
            widget.get_by_label("Ask", exact=True).select_option(question)
            expect(widget.locator(".cw-party-answer em")).to_have_text(question)
            heights.add(round(widget.locator(".cw").bounding_box()["height"]))
        assert len(heights) == 1


def test_questions_stand_still_for_readers_who_asked_for_less_motion(alone: Alone):
    still = {"reduced_motion": True, "clock": True}
    widget = questioned(alone, moving=True, window=still)
    assert rests(widget)
    for name, question in (("Ask in turn", "Who is late?"), ("Next question", "Anybody?")):
        widget.get_by_role("button", name=name).click()
        assert state_of(widget)["question"] == question
        agrees_with_course_lib(widget)
        assert rests(widget)
