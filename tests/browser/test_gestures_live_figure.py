"""Live figures under a hand: every control of each, and how each keeps within its frame."""

import pytest
from bare import Alone
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE
from hands import Finger, Hand, Keyboard, Mouse, operate_every_control, snapshot
from live_figures import EXPECTED, make
from looks import SPILLED
from playwright.sync_api import Locator
from reading import eventually, state_of

from course_lib.widgets.live_figure import FIGURES

HIGHEST = 600
SMALLEST_TYPE = """(el) => Math.min(...[...el.querySelectorAll("svg text")].map((text) => {
  const { a, b } = text.getScreenCTM();
  return Math.hypot(a, b) * parseFloat(getComputedStyle(text).fontSize);
}))"""
every_figure = pytest.mark.parametrize("name", FIGURES)


@every_figure
@pytest.mark.parametrize(
    ("hand", "window"),
    [(Mouse, {}), (Keyboard, {}), (Finger, {"width": 390, "height": 844, "touch": True})],
    ids=["mouse", "keyboard", "finger"],
)
def test_every_knob_of_every_figure_answers_and_reset_brings_all_back(
    alone: Alone, name: str, hand: type[Hand], window: dict[str, object]
):
    figure = alone(make(name), reduced_motion=True, **window)
    agrees_with_course_lib(figure)
    before = snapshot(figure)
    operate_every_control(figure, hand(figure.page))
    hand(figure.page).press(figure.get_by_role("button", name="Reset"))

    def as_before() -> None:
        assert snapshot(figure) == before

    eventually(figure, as_before)
    agrees_with_course_lib(figure)


@every_figure
def test_a_figure_fits_a_window_of_any_width_and_its_text_can_be_read(alone: Alone, name: str):
    for width in (200, 390, 1280):
        figure = alone(make(name), width=width)
        assert figure.evaluate(SPILLED) == []
        assert figure.evaluate(SMALLEST_TYPE) >= 10
    assert figure.locator(".cw").bounding_box()["height"] < HIGHEST


@every_figure
def test_a_figure_that_nobody_touches_asks_for_no_frame(alone: Alone, name: str):
    figure = alone(make(name), reduced_motion=True, init=COUNT_FRAMES)
    assert figure.page.evaluate(FRAMES_WHILE_IDLE) == 0


def drag(figure: Locator, handle: Locator, to: tuple[float, float]) -> None:
    box = handle.bounding_box()
    mouse = figure.page.mouse
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    mouse.down()
    mouse.move(*to, steps=4)
    mouse.up()


def test_the_dimension_follows_its_handle_from_end_to_end(alone: Alone):
    figure = alone(make("root-d"))
    handle = figure.get_by_role("button", name="dimension")
    box = figure.locator("[data-measure=fan]").bounding_box()
    for x, dimension in ((box["x"] - 50, 1), (box["x"] + box["width"] + 50, 1024)):
        drag(figure, handle, (x, box["y"] + 40))
        assert state_of(figure)["dimension"] == dimension
    agrees_with_course_lib(figure)


def test_divided_by_the_root_the_weights_stay_shared_in_every_dimension(alone: Alone):
    figure = alone(make("root-d"))
    largest = figure.locator("[data-reading=largest]")
    figure.evaluate("el => el.courseModel.set('dimension', 1024)")
    agrees_with_course_lib(figure)
    assert float(largest.inner_text()) > 0.95
    figure.evaluate("el => el.courseModel.set('power', 0.5)")
    agrees_with_course_lib(figure)
    assert float(largest.inner_text()) < 0.5


def test_a_press_anywhere_takes_the_layer_there_and_a_shorter_stack_holds_it(alone: Alone):
    figure = alone(make("deep-stack"))
    box = figure.locator("[data-measure=gradient]").bounding_box()
    figure.page.mouse.click(box["x"] + box["width"] - 12, box["y"] + 100)
    assert state_of(figure)["layer"] >= 59
    agrees_with_course_lib(figure)
    figure.evaluate("el => el.courseModel.set('depth', 8)")
    agrees_with_course_lib(figure)
    assert figure.locator("[data-reading=gradient]").inner_text() == "1"


def test_only_stacks_with_a_way_around_keep_tokens_apart_and_the_gradient_alive(alone: Alone):
    figure = alone(make("deep-stack", layer=60))
    alive = {}
    for kind in ("bare", "norm", "around", "post", "pre"):
        figure.evaluate("(el, kind) => el.courseModel.set('kind', kind)", kind)
        agrees_with_course_lib(figure)
        run = EXPECTED["deep-stack"](state_of(figure))
        alive[kind] = run["left"] > 0.1 and run["first"] > 0.1
    assert alive == {"bare": False, "norm": False, "around": True, "post": True, "pre": True}


def test_a_piece_that_is_pointed_at_lights_the_words_that_it_looks_at(alone: Alone):
    figure = alone(make("translator"))
    agrees_with_course_lib(figure)
    for panel in ("paths", "map"):
        for piece in ("drei", "vierzig"):
            figure.locator(f"[data-measure={panel}] text", has_text=piece).hover(force=True)
            place = {"drei": 4, "vierzig": 6}[piece]

            def reached(place: int = place) -> None:
                assert state_of(figure)["place"] == place

            eventually(figure, reached)
            agrees_with_course_lib(figure)


def test_steps_write_a_number_piece_by_piece_and_begin_again(alone: Alone):
    figure = alone(make("translator", place=5), reduced_motion=True)
    step = figure.get_by_role("button", name="Step")
    for place in (6, 7, 0, 1):
        step.click()
        assert state_of(figure)["place"] == place
        agrees_with_course_lib(figure)
    figure.get_by_label("Number", exact=True).select_option("2986")
    agrees_with_course_lib(figure)
    assert "That is wrong; zweitausendneunhundertsechsundachtzig is right." in figure.inner_text()
