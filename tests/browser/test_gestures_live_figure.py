"""Live figures under a hand: every control of each, and how each keeps within its frame."""

import pytest
from bare import Alone
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE, HALF_A_SECOND
from hands import Finger, Hand, Keyboard, Mouse, operate_every_control, snapshot
from live_figures import EXPECTED, make
from looks import SPILLED
from playwright.sync_api import Locator, expect
from reading import eventually, state_of

from course_lib.widgets.live_figure import FIGURES

HIGHEST = {390: 1100, 704: 600, 1280: 600}
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
    for width in (200, 390, 704, 1280):
        figure = alone(make(name), width=width)
        assert figure.evaluate(SPILLED) == []
        assert figure.evaluate(SMALLEST_TYPE) >= 10
        if width in HIGHEST:
            assert figure.locator(".cw").bounding_box()["height"] < HIGHEST[width]


@every_figure
def test_a_figure_that_nobody_touches_asks_for_no_frame(alone: Alone, name: str):
    figure = alone(make(name), reduced_motion=True, init=COUNT_FRAMES)
    assert figure.page.evaluate(FRAMES_WHILE_IDLE) == 0


LEGENDS = ".cw-legend svg"
LATER_SHEET = """() => {
  const style = document.createElement("style");
  style.textContent = ".cw svg { width: 100%; }";
  document.head.append(style);
}"""


def test_a_sheet_that_another_widget_brings_leaves_the_legends_small(alone: Alone):
    figure = alone(make("spectral-radius"))
    figure.page.evaluate(LATER_SHEET)
    widths = figure.locator(LEGENDS).evaluate_all("all => all.map((e) => e.clientWidth)")
    assert len(widths) == 3
    assert max(widths) <= 24


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


def test_symplectic_euler_keeps_the_area_of_a_disc_wherever_the_hand_puts_it(alone: Alone):
    figure = alone(make("disc-of-pendulums"), reduced_motion=True)
    figure.get_by_text("symplectic Euler", exact=True).click()
    box = figure.locator("[data-measure=space]").bounding_box()
    handle = figure.get_by_role("button", name="disc around")
    drag(figure, handle, (box["x"] + 0.6 * box["width"], box["y"] + 0.6 * box["height"]))
    assert state_of(figure)["steps"] == 0
    for _ in range(3):
        figure.get_by_role("button", name="Step").click()
    agrees_with_course_lib(figure)
    assert state_of(figure)["steps"] == 3
    area = figure.locator("[data-reading=area]")
    assert area.inner_text() == "1 times the first"


def test_what_is_told_of_a_disc_names_the_start_and_the_last_step(alone: Alone):
    figure = alone(make("disc-of-pendulums"), reduced_motion=True)
    areas = {}
    for steps in (8, 9, 10):
        figure.evaluate("(el, steps) => el.courseModel.set('steps', steps)", steps)
        agrees_with_course_lib(figure)
        areas[steps] = EXPECTED["disc-of-pendulums"](state_of(figure))["area"]
        told = figure.locator(".cw-live-readings + .cw-hint").inner_text()
        assert float(told.split()[0]) == pytest.approx(areas[steps], abs=0.006)
        assert "times the area of the start" in told
    change = 100 * (areas[10] / areas[9] - 1)
    assert ("grew" in told) == (change > 0)
    assert float(told.split()[-2]) == pytest.approx(abs(change), rel=0.01)


def test_a_hand_raises_the_water_until_no_code_is_alive(alone: Alone):
    figure = alone(make("codes-that-die"))
    box = figure.locator("[data-measure=eigenvalues]").bounding_box()
    handle = figure.get_by_role("button", name="water at")
    for y, noise in ((box["y"] - 40, 20), (box["y"] + box["height"] + 40, 0.002)):
        drag(figure, handle, (box["x"] + 0.9 * box["width"], y))
        assert state_of(figure)["noise"] == pytest.approx(noise)
        agrees_with_course_lib(figure)
    alive = figure.locator("[data-reading=alive]")
    assert alive.inner_text() == "7"


def test_an_eigenvalue_follows_its_handle_and_the_state_runs_beyond_radius_1(alone: Alone):
    figure = alone(make("spectral-radius"))
    says = figure.locator(".cw-live .cw-hint")
    assert "dies out" in says.inner_text()
    handle = figure.get_by_role("button", name="eigenvalue")
    box = figure.locator("[data-measure=plane]").bounding_box()
    drag(figure, handle, (box["x"] + 4 * box["width"] / 5, box["y"] + 20))
    assert state_of(figure)["radius"] > 1
    agrees_with_course_lib(figure)
    assert "explodes" in says.inner_text()
    figure.get_by_role("checkbox").press("Space")
    agrees_with_course_lib(figure)
    assert "neither state nor gradient runs away" in says.inner_text()


def test_nodes_come_closer_under_a_hand_and_only_one_rule_follows_the_hats(alone: Alone):
    figure = alone(make("error-of-blends"))
    box = figure.locator("[data-measure=curves]").bounding_box()
    orders = {}
    for law, factor in {"fixed": 1, "ratio": 0.3, "logarithm": 2}.items():
        figure.evaluate(
            "(el, [law, c]) => { el.courseModel.set('law', law); el.courseModel.set('factor', c) }",
            [law, factor],
        )
        handle = figure.get_by_role("button", name="intervals")
        for x, intervals in ((box["x"] + box["width"] + 40, 4), (box["x"] - 40, 1024)):
            drag(figure, handle, (x, box["y"] + 60))
            assert state_of(figure)["intervals"] == intervals
            agrees_with_course_lib(figure)
        orders[law] = float(figure.locator("[data-reading=softmax-power]").inner_text())
    assert orders["fixed"] == 0
    assert orders["ratio"] == 1
    assert 1.8 < orders["logarithm"] < 2


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


def test_a_translation_that_is_wrong_is_said_to_be_so(alone: Alone):
    figure = alone(make("translator", place=7))
    figure.get_by_label("Number", exact=True).select_option("2986")
    agrees_with_course_lib(figure)
    assert "That is wrong; zweitausendneunhundertsechsundachtzig is right." in figure.inner_text()


def test_energy_wanders_in_tune_and_hardly_out_of_tune(alone: Alone):
    figure = alone(make("resonance"), reduced_motion=True)
    swing = figure.locator("[data-reading=swing]")
    in_tune = float(swing.inner_text().split()[0])
    figure.get_by_label("Frequencies apart").press("End")
    agrees_with_course_lib(figure)
    assert float(swing.inner_text().split()[0]) < in_tune / 4


@pytest.mark.parametrize("width", [390, 756])
def test_a_number_has_room_on_its_ball_or_stands_beside_it(alone: Alone, width: int):
    figure = alone(make("resonance"), reduced_motion=True, width=width)
    panel = figure.locator("[data-measure=table] svg")
    for _ in range(6):
        balls = panel.locator("circle:not([stroke-dasharray])").all()
        numbers = panel.locator("text.cw-halo").all()
        assert [number.text_content() for number in numbers] == ["1", "2", "3", "4"]
        for ball, number in zip(balls, numbers, strict=True):
            a, b = ball.bounding_box(), number.bounding_box()
            middle = [part["x"] + part["width"] / 2 for part in (a, b)]
            if float(ball.get_attribute("r")) < 9:
                assert abs(middle[0] - middle[1]) + abs(a["y"] - b["y"]) > 4
            else:
                assert a["x"] < b["x"]
                assert b["x"] + b["width"] < a["x"] + a["width"]
        figure.get_by_role("button", name="Step").click()


def test_a_far_node_vanishes_in_a_tree_and_all_hear_alike_in_the_end(alone: Alone):
    figure = alone(make("listening"), reduced_motion=True)
    share, differ = (figure.locator(f"[data-reading={name}]") for name in ("share", "differ"))
    assert float(share.inner_text().split()[0]) < 1
    figure.get_by_text("grid", exact=True).click()
    figure.get_by_text("both, normalized", exact=True).click()
    agrees_with_course_lib(figure)
    before = float(differ.inner_text().split()[0])
    figure.get_by_role("slider", name="Rounds").press("End")
    agrees_with_course_lib(figure)
    assert float(differ.inner_text().split()[0]) < before / 2


def test_a_press_chooses_who_listens(alone: Alone):
    figure = alone(make("listening"), reduced_motion=True)
    box = figure.locator("[data-measure=graph]").bounding_box()
    figure.page.mouse.click(box["x"] + box["width"] - 20, box["y"] + 0.9 * box["height"])
    agrees_with_course_lib(figure)
    assert state_of(figure)["listener"] == 62


@pytest.mark.parametrize("name", ["spectral-radius", "resonance"])
def test_what_has_no_end_moves_by_itself_until_it_is_stopped(name: str, alone: Alone):
    figure = alone(make(name, moving=True), init=COUNT_FRAMES)
    moment = figure.locator(".cw-live-moment")
    first = moment.inner_text()
    expect(moment).not_to_have_text(first)
    figure.get_by_role("button", name="Pause").click()
    before = moment.inner_text()
    figure.page.evaluate(FRAMES_WHILE_IDLE)
    assert moment.inner_text() == before
    figure.get_by_role("button", name="Step").click()
    expect(moment).not_to_have_text(before)


KNOBS = {
    "root-d": "dimension",
    "disc-of-pendulums": "steps",
    "roofline": "tile",
    "codes-that-die": "noise",
    "error-of-blends": "intervals",
    "deep-stack": "depth",
    "translator": "place",
    "listening": "rounds",
}
# Each value that the knob of a tour takes from now on.
NOTE_VALUES = """(el, knob) => {
  el.courseValues = [];
  el.courseModel.on(`change:${knob}`, () => el.courseValues.push(el.courseModel.get(knob)));
}"""


def ended(figure: Locator) -> None:
    expect(figure.get_by_role("button", name="▶ Play")).to_be_visible(timeout=30_000)


def played(figure: Locator) -> None:
    figure.get_by_role("button", name="Pause").wait_for()
    ended(figure)


@pytest.mark.parametrize(("name", "knob"), KNOBS.items())
def test_a_knob_goes_by_itself_once_and_again_when_played(name: str, knob: str, alone: Alone):
    figure = alone(make(name, moving=True), init=COUNT_FRAMES)
    played(figure)
    agrees_with_course_lib(figure)
    stands = state_of(figure)[knob]
    assert name == "translator" or stands == pytest.approx(getattr(make(name), knob))
    assert figure.page.evaluate(FRAMES_WHILE_IDLE) == 0
    figure.evaluate(NOTE_VALUES, knob)
    figure.get_by_role("button", name="Play").click()
    played(figure)
    values = figure.evaluate("el => el.courseValues")
    assert len(set(values)) >= 3
    assert values == sorted(values)
    assert values[-1] == stands


def test_a_tour_from_its_very_beginning_goes_all_the_way(alone: Alone):
    figure = alone(make("listening", rounds=1))
    figure.get_by_role("button", name="Play").click()
    played(figure)
    assert state_of(figure)["rounds"] == 30


@pytest.mark.parametrize("touch", ["another knob", "the same knob", "Python"])
def test_whoever_takes_a_figure_on_its_tour_has_it(touch: str, alone: Alone):
    figure = alone(make("root-d", moving=True))
    figure.get_by_role("button", name="Pause").wait_for()
    if touch == "Python":
        figure.evaluate("el => el.courseModel.set('dimension', 900)")
    else:
        label = {"another knob": "Divide by", "the same knob": "Dimension d"}[touch]
        figure.get_by_role("slider", name=label).press("End")
    ended(figure)
    before = state_of(figure)
    figure.page.evaluate(HALF_A_SECOND)
    assert state_of(figure) == before
    reached = {"Python": 900, "the same knob": 1024}
    assert before["dimension"] == reached.get(touch, before["dimension"])


@pytest.mark.parametrize("by", ["reader", "Python"])
def test_no_tour_begins_where_somebody_asked_for_none(by: str, alone: Alone):
    figure = alone(make("root-d", moving=by == "reader"), reduced_motion=by == "reader")
    figure.page.evaluate(HALF_A_SECOND)
    assert state_of(figure)["dimension"] == make("root-d").dimension


def test_a_tour_waits_until_half_of_the_figure_is_seen(alone: Alone):
    figure = alone(make("root-d", moving=True), height=120)
    figure.page.evaluate("() => { document.querySelector('h1').style.height = '90px'; }")
    figure.page.evaluate(HALF_A_SECOND)
    assert figure.get_by_role("button", name="Pause").count() == 0
    figure.page.set_viewport_size({"width": 900, "height": 700})
    figure.get_by_role("button", name="Pause").wait_for()
