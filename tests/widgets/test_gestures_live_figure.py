"""Gestures on live figures: the numbers, the verdict and the tour of each."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from agreement import agrees_with_course_lib, has
from appearance import SPILLED
from clock import hurry, observed, plays, rests, turn
from gestures import DRAWN, Keyboard, Mouse, centre, operate_every_control, press, widgets
from judges.live_figure import number_in
from live_figures import DATA, EXPECTED, KINDS_OF_STACKS, make, number_words
from playwright.sync_api import Locator, Page, expect
from reading import NOTE_VALUES, VALUES, send, state_of
from widget_page import Alone, bare_page, open_folds

from course_lib.widgets.live.live_figure import FIGURES

VERDICT = ".cw-verdict"
SMALLEST_TYPE = """(el) => Math.min(...[...el.querySelectorAll("svg text")].map((text) => {
  const { a, b } = text.getScreenCTM();
  return Math.hypot(a, b) * parseFloat(getComputedStyle(text).fontSize);
}))"""
OPACITIES = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return [...data].filter((_, i) => i % 4 === 3);
}"""


def put(figure: Locator, **given: object) -> None:
    send(figure, **given)
    agrees_with_course_lib(figure)


def reading(figure: Locator, name: str) -> float:
    return number_in(figure.locator(f"[data-reading={name}]").text_content())


def outcome(figure: Locator) -> str | None:
    return figure.locator(VERDICT).get_attribute("data-outcome")


def place(figure: Locator, panel: str, across: float, down: float) -> tuple[float, float]:
    """A point of a panel, as shares of its width and height."""
    box = figure.locator(f"[data-measure={panel}]").bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


# The verdict on a question, by the values of knobs.
JUDGED = {
    "root-d": [({"power": 0.0}, "bad"), ({"power": 0.5}, "good")],
    "roofline": [({"tile": 8}, "bad"), ({"tile": 512}, "good")],
    "spectral-radius": [
        *(({"radius": radius}, "bad") for radius in (0.85, 1.2)),
        *(({"radius": radius}, "open") for radius in (0.95, 1.03)),
        ({"radius": 1.0}, "good"),
    ],
    "deep-stack": [({"kind": "bare"}, "bad"), ({"kind": "pre"}, "good")],
    "codes-that-die": [({"noise": 20.0}, "bad"), ({"noise": 0.002}, "good")],
    "disc-of-pendulums": [
        ({"method": "explicit_euler"}, "bad"),
        ({"method": "symplectic_euler"}, "good"),
    ],
    "shadow-energy": [({"dt": 1.99}, "good"), ({"dt": 2.0}, "bad"), ({"dt": 2.1}, "bad")],
    "fading-modes": [({"power": -2}, "open"), ({"power": 6}, "good"), ({"power": 12}, "bad")],
    "error-of-blends": [
        ({"law": "fixed", "factor": 1, "intervals": 1024}, "bad"),
        ({"law": "ratio", "factor": 0.3}, "open"),
        ({"law": "logarithm", "factor": 2}, "good"),
    ],
    "kv-cache": [({"cached": False}, "bad"), ({"cached": True}, "good")],
    "drafts": [({"town": 1, "call": 1}, "bad"), ({"town": 0, "call": 1}, "open")],
    "shared-keys": [
        ({"parts": 1, "heads": 8}, "bad"),
        ({"parts": 5, "heads": 8}, "good"),
        ({"parts": 6, "heads": 8}, "bad"),
        ({"parts": 5, "heads": 8, "key_count": 20}, "bad"),
    ],
    "programs": [({"last_first": False}, "bad"), ({"last_first": True}, "good")],
    "hidden-night": [
        ({"asked": False}, "open"),
        ({"asked": True, "folded": False, "guess": 0.0}, "bad"),
        ({"asked": True, "guess": 0.9}, "good"),
    ],
    "stated-bands": [
        ({"way": 0}, "good"),
        ({"way": 1, "stated": 50}, "bad"),
        ({"way": 1, "period": "right"}, "open"),
    ],
    "boosted-jet": [
        ({"direction": "beam"}, "good"),
        ({"direction": "jet"}, "bad"),
        ({"shift": 0.0}, "open"),
    ],
    "listening": [({"joined": False}, "bad"), ({"joined": True}, "good")],
}


def test_every_figure_fits_its_window_tells_success_from_failure_and_follows_its_knobs(
    open_page: Callable[..., Page], tmp_path: Path
):
    url = bare_page(tmp_path, *map(make, FIGURES))
    page = open_page(url, width=390, reduced_motion=True)
    for name, figure in zip(FIGURES, widgets(page), strict=True):
        centre(figure)
        observed(page)
        assert figure.evaluate(SPILLED) == [], name
        assert figure.evaluate(SMALLEST_TYPE) >= 10, name
        assert figure.locator(".cw").bounding_box()["height"] < 1100, name
        agrees_with_course_lib(figure)
        for knobs, wanted in JUDGED.get(name, []):
            put(figure, **knobs)
            verdict = expect(figure.locator(VERDICT), f"{name} with {knobs}")
            verdict.to_have_attribute("data-outcome", wanted)
            sign = {"good": "✓", "bad": "✗", "open": ""}[wanted]
            said = figure.locator(VERDICT).inner_text()
            assert "".join(c for c in said if c in "✓✗") == sign, name


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "root-d"])
def test_every_control_of_every_figure_reacts_to_the_keyboard_and_every_handle_to_the_mouse(
    alone: Alone, name: str
):
    figure = alone(make(name))
    operate_every_control(figure, Keyboard(figure.page))
    figure = alone(make(name))
    operate_every_control(figure, Mouse(figure.page), DRAWN)


def test_published_speeds_stand_at_the_sizes_for_which_they_were_measured(alone: Alone):
    figure = alone(make("roofline"), reduced_motion=True)
    speed = figure.get_by_text("in tiles: 646")
    expect(speed).to_be_visible()
    put(figure, features=64)
    expect(speed).to_have_count(0)


def test_of_a_disc_of_pendulums_nearly_kept_is_not_kept(alone: Alone):
    figure = alone(make("disc-of-pendulums", method="runge_kutta_4"), reduced_motion=True)
    area, verdict = figure.locator("[data-reading=area]"), figure.locator(VERDICT)
    for dt, text in ((0.5, "0.9981"), (0.25, "0.99996")):  # to the significant digit
        send(figure, dt=dt)
        expect(area).to_have_text(text)
        expect(verdict).to_contain_text("lost: almost kept, but not kept")
    # A saddle tears the rim, and the remaining points do not measure it.
    send(figure, dt=0.5, steps=24, angle=-1.77, momentum=-2.0)
    observed(figure.page)
    exact = EXPECTED["disc-of-pendulums"](state_of(figure))["area"]
    assert float(area.text_content()) == pytest.approx(exact, abs=0.0006)
    assert outcome(figure) == "bad"
    for angle, momentum in ((1.6, 2.0), (0.0, 1.6)):
        send(figure, method="symplectic_euler", angle=angle, momentum=momentum)
        expect(area).to_have_text("1.000")


def test_a_letter_is_drawn_from_the_codes_that_are_alive(alone: Alone):
    figure, data = alone(make("codes-that-die", noise=0.5)), DATA["codes-that-die"]()
    exact = [np.interp(0.5, data["levels"], pixel) for pixel in np.transpose(data["redrawn"])]
    drawn = figure.get_by_label("from 4 codes").evaluate(OPACITIES)
    np.testing.assert_allclose(drawn, np.multiply(255, exact), atol=1.5)


# The distance of the two balls of each tower.
APART = """(el) => Object.fromEntries([...el.querySelectorAll("[data-tower]")].map((tower) => {
  const [a, b] = [...tower.querySelectorAll("circle")].map((ball) => Number(ball.cx.baseVal.value));
  return [tower.dataset.tower, b - a];
}))"""


def in_powers(text: str) -> float:
    """A number as plain text, or with one or two digits and a power of ten."""
    return float(text.replace("·10", "e").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


def test_towers_show_how_tokens_differ_and_what_arrives_of_each_gradient(alone: Alone):
    figure = alone(make("deep-stack", layer=5, gain=0.9), reduced_motion=True)
    drawn, state = figure.evaluate(APART), state_of(figure)
    said = {k: EXPECTED["deep-stack"](state | {"kind": k}) for k in KINDS_OF_STACKS}
    scale = drawn["pre"] / said["pre"]["left"]
    assert scale > 20
    assert drawn == pytest.approx({k: scale * one["left"] for k, one in said.items()}, abs=0.05)
    arrives = map(in_powers, figure.locator("[data-arrives]").all_text_contents())
    assert list(arrives) == pytest.approx([one["first"] for one in said.values()], rel=0.051)


def test_the_verdict_on_a_stack_comes_when_it_is_complete(alone: Alone):
    figure = alone(make("deep-stack", moving=True), clock=True)
    fates = figure.locator(".cw-stack-fate:visible")
    turn(figure, 2)
    assert outcome(figure) == "open"
    assert fates.count() == 0
    hurry(figure, 10)
    assert outcome(figure) == "bad"
    assert fates.count() == len(KINDS_OF_STACKS)


def test_a_piece_that_is_pointed_at_lights_the_words_that_it_looks_at(alone: Alone):
    figure = alone(make("translator", place=1), reduced_motion=True)
    words = len(number_words().english[make("translator").number - 1])
    for panel, at in (("paths", 2), ("map", 3)):
        names = figure.locator(f"[data-measure={panel}] text:not([data-weight])")
        names.nth(words + at).hover(force=True)
        has(figure, place=at)


def test_a_number_that_is_typed_is_translated_and_what_is_none_is_refused(alone: Alone):
    figure = alone(make("translator"), reduced_motion=True)
    field = figure.get_by_role("textbox", name="Number")
    for text, number in (("43", 43), ("0", 43), ("10000", 43), ("forty", 43), ("12", 12)):
        field.fill(text)
        has(figure, number=number)
        refused = field.get_attribute("aria-invalid")
        assert (refused == "true") == (text != str(number))
    press(figure, "A mistake")
    has(figure, number=13)
    assert outcome(figure) == "bad"


def test_energies_oscillate_and_the_total_stays_within_its_stated_bound(alone: Alone):
    figure = alone(make("resonance"), reduced_motion=True)
    told = figure.locator("[data-measure=layers] svg").get_attribute("aria-label")
    off = EXPECTED["resonance"](state_of(figure))["total"]
    assert off <= number_in(told.split("total stays within ")[1]) <= 1.11 * off
    put(figure, alike=True)
    Keyboard(figure.page).move(figure.get_by_role("button", name="all four balls"))
    agrees_with_course_lib(figure)
    assert len(set(state_of(figure)["placed"][:4])) == 1


def test_a_ball_stays_under_the_hand_and_the_balls_go_on_until_they_are_stopped(alone: Alone):
    figure = alone(make("resonance", moving=True), clock=True)
    moment, ball = figure.locator(".cw-live-moment"), figure.locator("[data-ball='1']")
    turn(figure, 1)
    assert moment.inner_text() != "step 0"
    end = place(figure, "table", 0.7, 0.35)
    Mouse(figure.page).take(centre(ball), end)
    turn(figure, 1)
    assert moment.inner_text() == "step 0"
    assert centre(ball) == pytest.approx(end, abs=1.5)
    figure.page.mouse.up()
    turn(figure, 1)
    assert moment.inner_text() != "step 0"
    agrees_with_course_lib(figure)
    press(figure, "Pause")
    assert rests(figure)
    press(figure, "Begin elsewhere")
    has(figure, placed=[], start=1)


KNOBS = {
    "root-d": "dimension",
    "disc-of-pendulums": "steps",
    "spectral-radius": "radius",
    "shadow-energy": "dt",
    "fading-modes": "power",
    "roofline": "tile",
    "codes-that-die": "noise",
    "error-of-blends": "intervals",
    "deep-stack": "depth",
    "translator": "place",
    "listening": "rounds",
}
# The end of a tour, if not the first value of its knob.
ENDS = {"spectral-radius": 1}
TURN_BACK = {"spectral-radius", "shadow-energy", "fading-modes"}


def test_a_knob_goes_by_itself_once_when_it_is_seen(open_page: Callable[..., Page], tmp_path: Path):
    url = bare_page(tmp_path, *(make(name, moving=True) for name in KNOBS))
    figures = widgets(open_page(url, height=15_000, clock=True))
    for knob, figure in zip(KNOBS.values(), figures, strict=True):
        figure.evaluate(NOTE_VALUES, knob)
    hurry(figures[0], 12)  # the longest tour
    for (name, knob), figure in zip(KNOBS.items(), figures, strict=True):
        assert not plays(figure), name
        agrees_with_course_lib(figure)
        stands = state_of(figure)[knob]
        end = ENDS.get(name, getattr(make(name), knob))
        assert name == "translator" or stands == pytest.approx(end), name
        values = figure.evaluate(VALUES)
        assert len(set(values)) >= 3, name
        top = values.index(max(values))
        there, back = values[1:top], values[max(1, top) :]
        assert values[1:] == sorted(there) + sorted(back, reverse=True), name
        assert (top < len(values) - 1) == (name in TURN_BACK)
    assert rests(figures[0])


def test_what_is_chosen_anew_is_played_from_the_beginning_unless_a_hand_has_the_knob(
    alone: Alone,
):
    figure = alone(make("listening", moving=True), clock=True)
    for seconds, graph in ((4, "grid"), (7, "tree")):
        hurry(figure, 1.1 * seconds)
        assert plays(figure) == (seconds == 4)
        figure.get_by_text(graph, exact=True).click()
        assert state_of(figure)["rounds"] == 1
    hurry(figure, 12)  # the longest tour
    has(figure, rounds=make("listening").rounds, graph="tree")
    figure.get_by_role("slider", name="Rounds").press("ArrowLeft")
    before = state_of(figure)["rounds"]
    figure.get_by_text("grid", exact=True).click()
    assert rests(figure)
    has(figure, rounds=before)


@pytest.mark.parametrize("touch", ["another knob", "Python"])
def test_using_a_figure_ends_its_tour(alone: Alone, touch: str):
    figure = alone(make("root-d", moving=True), height=120, clock=True)
    assert rests(figure)  # until half of it is in view
    figure.page.set_viewport_size({"width": 900, "height": 700})
    turn(figure, 2)
    assert plays(figure)
    if touch == "Python":
        send(figure, dimension=900)
    else:
        open_folds(figure)
        figure.get_by_role("slider", name="Divide by").press("End")
    turn(figure, 0.1)
    assert not plays(figure)
    before = state_of(figure)
    assert rests(figure)
    assert state_of(figure) == before
    assert (before["dimension"] == 900) == (touch == "Python")
