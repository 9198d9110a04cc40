"""How guests come to a PartyMemory, and what it draws at the edge of what it takes."""

from collections.abc import Callable

import numpy as np
import pytest
from bare import Alone
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE
from playwright.sync_api import Locator
from reading import state_of

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


# Both hands are in the page: one from outside may come after the next guest.
PRESS_TWICE = """async (el, names) => {
  for (const name of names) {
    [...el.querySelectorAll("button")].find((b) => b.textContent.includes(name)).click();
    await new Promise(requestAnimationFrame);
  }
}"""


@pytest.mark.parametrize(("end", "arrived"), [("Stop", 0), ("Reset", 3)])
def test_nobody_arrives_once_a_party_is_stopped_or_reset(
    shown: Callable[..., Locator], end: str, arrived: int
):
    widget = shown(np.ones((3, 2, 2)), ["Ada", "Ben", "Cleo"], [0.0, 1.0, 2.0])
    widget.evaluate(PRESS_TWICE, ["Let them arrive", end])
    assert widget.get_by_role("button", name="Let them arrive").is_visible()
    widget.page.wait_for_timeout(1000)
    assert state_of(widget)["arrived"] == arrived
    agrees_with_course_lib(widget)


THREE = (np.ones((3, 2, 2)), ["Ada", "Ben", "Cleo"], [0.0, 1.0, 2.0])
# What the memory holds in the middle of a flight lies between what it held before and will hold.
INK_WHILE_THEY_COME = """async (el) => {
  const sheet = [...el.querySelectorAll("canvas.cw-picture")].at(-1);
  const seen = [];
  while (el.courseModel.get("arrived") < 3 || !el.querySelector(".cw-party-air").hidden) {
    const { data } = sheet.getContext("2d").getImageData(0, 0, sheet.width, sheet.height);
    seen.push([el.courseModel.get("arrived"), data[3], data.at(-1)]);
    await new Promise(requestAnimationFrame);
  }
  return seen;
}"""


def test_a_party_in_motion_begins_empty_and_fills_by_itself_until_all_are_there(
    shown: Callable[..., Locator],
):
    widget = shown(*THREE, arrived=0, moving=True, mode="forgetting", decay=1.0)
    seen = widget.evaluate(INK_WHILE_THEY_COME)
    assert [n for n, *_ in seen] == sorted(n for n, *_ in seen)
    assert seen[0] == [0, 0, 0]
    # The lowest row of ink leaves first, so there is a frame in which it alone has landed.
    assert any(upper < 255 == lower for n, upper, lower in seen if n == 1)
    assert state_of(widget)["arrived"] == 3
    agrees_with_course_lib(widget)


def test_a_party_in_motion_stands_still_for_readers_who_asked_for_less(
    shown: Callable[..., Locator],
):
    still = {"reduced_motion": True, "init": COUNT_FRAMES}
    widget = shown(*THREE, arrived=0, moving=True, window=still)
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    assert state_of(widget)["arrived"] == 0
    agrees_with_course_lib(widget)
    for arrived in (1, 2, 3, 0):
        widget.get_by_role("button", name="Next guest").click()
        assert state_of(widget)["arrived"] == arrived
        agrees_with_course_lib(widget)
        assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    widget.get_by_role("button", name="Let them arrive").click()
    assert state_of(widget)["arrived"] == 3
    agrees_with_course_lib(widget)


def test_the_next_guest_comes_alone(shown: Callable[..., Locator]):
    widget = shown(*THREE, arrived=0)
    widget.get_by_role("button", name="Next guest").click()
    agrees_with_course_lib(widget)
    assert widget.get_by_role("button", name="Let them arrive").is_visible()
    assert state_of(widget)["arrived"] == 1
