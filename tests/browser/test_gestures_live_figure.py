"""Live figures under a hand: each with its own numbers, its own verdict and its own tour."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bare import Alone, bare_page
from clock import observed, rests, turn
from displayed import agrees_with_course_lib
from hands import (
    Keyboard,
    centre,
    open_folds,
    widgets,
)
from kinds.live_figure import number_in
from live_figures import DATA, EXPECTED, KINDS_OF_STACKS, make
from looks import SPILLED
from playwright.sync_api import Locator, Page, expect
from reading import NOTE_VALUES, VALUES, eventually, state_of

from course_lib.widgets.live_figure import FIGURES

VERDICT = ".cw-live-verdict"
SET = "(el, given) => Object.entries(given).forEach(([k, v]) => el.courseModel.set(k, v))"
SMALLEST_TYPE = """(el) => Math.min(...[...el.querySelectorAll("svg text")].map((text) => {
  const { a, b } = text.getScreenCTM();
  return Math.hypot(a, b) * parseFloat(getComputedStyle(text).fontSize);
}))"""
OPACITIES = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return [...data].filter((_, i) => i % 4 === 3);
}"""


def plays(figure: Locator) -> bool:
    return figure.get_by_role("button", name="Pause").count() == 1


def hurry(figure: Locator, seconds: float) -> None:
    """Let time pass in the longest frames that a figure takes for one."""
    for _ in range(round(10 * seconds)):
        figure.page.clock.fast_forward(100)
    observed(figure.page)


def played(figure: Locator) -> None:
    hurry(figure, 1)
    assert plays(figure)
    hurry(figure, 11)  # the longest tour
    assert not plays(figure)


def put(figure: Locator, **given: object) -> None:
    figure.evaluate(SET, given)
    agrees_with_course_lib(figure)


def reading(figure: Locator, name: str) -> float:
    return number_in(figure.locator(f"[data-reading={name}]").text_content())


def outcome(figure: Locator) -> str | None:
    return figure.locator(VERDICT).get_attribute("data-outcome")


def drag(figure: Locator, handle: Locator, to: tuple[float, float]) -> None:
    box = handle.bounding_box()
    mouse = figure.page.mouse
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    mouse.down()
    mouse.move(*to, steps=4)
    mouse.up()
    agrees_with_course_lib(figure)


def place(figure: Locator, panel: str, across: float, down: float) -> tuple[float, float]:
    """A point of a panel, as shares of its width and height."""
    box = figure.locator(f"[data-measure={panel}]").bounding_box()
    return box["x"] + across * box["width"], box["y"] + down * box["height"]


# All figures ------------------------------------------------------------------------------------


ELSEWHERE = {
    "root-d": {"dimension": 64, "power": 0.3, "seed": 7},
    "spectral-radius": {"radius": 0.9, "angle": 75, "stretch": 3.0, "tanh": True},
    "roofline": {"query_count": 512, "key_count": 2048, "features": 64, "tile": 16},
    "disc-of-pendulums": {"dt": 0.4, "steps": 9, "angle": 0.5, "momentum": 1.0},
    "codes-that-die": {"noise": 0.5, "beta": 3.0},
    "error-of-blends": {"law": "ratio", "intervals": 30, "factor": 0.5, "shape": "root"}
    | {"where": "reflected", "all": True},
    "deep-stack": {"gain": 1.2, "kind": "post", "biases": False, "seed": 3, "layer": 20},
    "translator": {"number": 2986, "place": 3},
    "resonance": {"epsilon": 0.05, "apart": 0.05, "start": 2, "alike": True},
    "listening": {"rounds": 5, "graph": "ring", "layer": "sum", "listener": 3, "joined": True},
}


def test_every_figure_fits_its_window_says_how_it_is_and_follows_each_of_its_knobs(
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
        verdict = figure.locator(VERDICT)
        sign = {"good": "✓", "bad": "✗", "open": ""}[outcome(figure)]
        assert "".join(c for c in verdict.inner_text() if c in "✓✗") == sign, name
        panels = figure.locator(".cw-live-panels").bounding_box()
        assert verdict.bounding_box()["y"] < panels["y"], name
        agrees_with_course_lib(figure)
        put(figure, **ELSEWHERE[name])


def test_success_and_failure_are_told_apart(open_page: Callable[..., Page], tmp_path: Path):
    told = [
        ("bad", make("root-d", power=0.0)),
        ("good", make("root-d", power=0.5)),
        ("bad", make("roofline", tile=8)),
        ("good", make("roofline", tile=512)),
        ("bad", make("spectral-radius", radius=0.85)),
        ("open", make("spectral-radius", radius=0.95)),
        ("good", make("spectral-radius", radius=1.0)),
        ("open", make("spectral-radius", radius=1.03)),
        ("bad", make("spectral-radius", radius=1.2)),
        ("bad", make("deep-stack", kind="bare")),
        ("good", make("deep-stack", kind="pre")),
        ("bad", make("codes-that-die", noise=20.0)),
        ("good", make("codes-that-die", noise=0.002)),
        ("bad", make("disc-of-pendulums")),
        ("good", make("disc-of-pendulums", method="symplectic_euler")),
        ("bad", make("listening")),
        (
            "good",
            make("listening", graph="grid", layer="normalized", rounds=16, listener=24),
        ),
        ("good", make("listening", joined=True)),
    ]
    url = bare_page(tmp_path, *(figure for _, figure in told))
    page = open_page(url, height=15_000, reduced_motion=True)
    expected = [(wanted, figure.figure) for wanted, figure in told]
    found = [(outcome(figure), state_of(figure)["figure"]) for figure in widgets(page)]
    assert found == expected


# Scores, and what they are divided by ------------------------------------------------------------


def test_divided_by_the_root_the_weights_stay_shared_in_every_dimension(alone: Alone):
    figure = alone(make("root-d"), reduced_motion=True)
    handle = figure.get_by_role("button", name="dimension")
    for across, dimension in ((-0.1, 1), (1.1, 1024)):
        drag(figure, handle, place(figure, "fan", across, 0.3))
        assert state_of(figure)["dimension"] == dimension
    says = figure.locator(".cw-live-readings + .cw-hint")
    assert reading(figure, "largest") > 0.95
    expect(says).to_contain_text("hardly any gradient comes through")
    tick = figure.get_by_role("checkbox", name="Divide by √d")
    tick.click()
    agrees_with_course_lib(figure)
    assert state_of(figure)["power"] == 0.5
    assert reading(figure, "largest") < 0.5
    assert figure.get_by_text("score / √d", exact=True).count() == 1
    assert "again" in figure.locator(VERDICT).inner_text()
    put(figure, dimension=2)  # where no key had drowned the others
    assert "again" not in figure.locator(VERDICT).inner_text()
    put(figure, dimension=1024, power=1.0)
    expect(says).to_contain_text("All keys weigh nearly the same")
    expect(tick).not_to_be_checked()


# A disc of pendulums -----------------------------------------------------------------------------

RADII = """(el) => [...el.querySelectorAll("[data-measure=area] circle")]
  .map((circle) => circle.r.baseVal.value)"""


def test_symplectic_euler_keeps_the_area_of_a_disc_wherever_the_hand_puts_it(alone: Alone):
    figure = alone(make("disc-of-pendulums"), reduced_motion=True)
    for steps in (8, 18):
        put(figure, steps=steps)
        ratio = EXPECTED["disc-of-pendulums"](state_of(figure))["area"]
        mine, first = figure.evaluate(RADII)
        assert (mine / first) ** 2 == pytest.approx(ratio, abs=0.006)
    figure.get_by_text("symplectic Euler", exact=True).click()
    handle = figure.get_by_role("button", name="disc around")
    drag(figure, handle, place(figure, "space", 0.6, 0.6))
    figure.get_by_role("button", name="Step").click()
    agrees_with_course_lib(figure)
    assert state_of(figure)["steps"] == 19
    expect(figure.locator(VERDICT)).to_contain_text("✓Area kept: 1.000 times")
    # A saddle tears the rim, and the points that are left do not measure it.
    for angle, momentum in ((1.6, 2.0), (0.0, 1.6)):
        figure.evaluate(SET, {"dt": 0.5, "steps": 24, "angle": angle, "momentum": momentum})
        observed(figure.page)
        assert figure.locator("[data-reading=area]").text_content() == "1.000"


def test_runge_kutta_is_not_said_to_keep_what_it_loses(alone: Alone):
    figure = alone(make("disc-of-pendulums", method="runge_kutta_4"), reduced_motion=True)
    area, verdict = figure.locator("[data-reading=area]"), figure.locator(VERDICT)
    for dt, text in ((0.5, "0.9981"), (0.25, "0.99996")):  # to the digit that tells
        figure.evaluate(SET, {"dt": dt})
        observed(figure.page)
        assert area.text_content() == text
        expect(verdict).to_contain_text("lost: nearly kept, not kept")
    figure.evaluate(SET, {"dt": 0.5, "steps": 24, "angle": -1.77, "momentum": -2.0})
    observed(figure.page)
    ratio = EXPECTED["disc-of-pendulums"](state_of(figure))["area"]
    assert float(area.text_content()) == pytest.approx(ratio, abs=0.0006)
    assert outcome(figure) == "bad"
    share = float(verdict.inner_text().strip("✗ \n").split()[0])
    assert share == pytest.approx(100 * (1 - ratio), rel=0.01)


# Codes that die, eigenvalues, blends -------------------------------------------------------------


def test_a_hand_raises_the_water_until_no_code_is_alive(alone: Alone):
    figure = alone(make("codes-that-die", noise=0.5))
    levels, pictures = DATA["codes-that-die"]()["levels"], DATA["codes-that-die"]()["redrawn"]
    exact = [np.interp(0.5, levels, pixel) for pixel in np.transpose(pictures)]
    drawn = figure.get_by_label("from 4 codes").evaluate(OPACITIES)
    np.testing.assert_allclose(drawn, np.multiply(255, exact), atol=1.5)
    handle = figure.get_by_role("button", name="water at")
    for down, noise in ((-0.2, 20), (1.2, 0.002)):
        drag(figure, handle, place(figure, "eigenvalues", 0.9, down))
        assert state_of(figure)["noise"] == pytest.approx(noise)
    put(figure, noise=0.1, beta=8.0)
    says = figure.locator(".cw-live .cw-hint").inner_text()
    assert "β = 8 moves the water from s² to 0.8." in says
    assert says.endswith(" 4 of 7 codes rise above the water.")


def test_an_eigenvalue_follows_its_handle_and_the_signal_runs_beyond_radius_1(alone: Alone):
    figure = alone(make("spectral-radius", radius=0.7), reduced_motion=True)
    says = figure.locator(".cw-live .cw-hint")
    assert "dies out" in says.inner_text()
    handle = figure.get_by_role("button", name="eigenvalue")
    drag(figure, handle, place(figure, "plane", 0.8, 0.05))
    assert state_of(figure)["radius"] > 1
    assert "explodes" in says.inner_text()
    figure.get_by_role("checkbox").press("Space")
    agrees_with_course_lib(figure)
    assert "neither state nor gradient runs away" in says.inner_text()
    put(figure, tanh=False, radius=0.95)
    assert not re.search("explodes|dies out", says.inner_text())


def test_nodes_come_closer_under_a_hand_and_only_one_rule_follows_the_hats(alone: Alone):
    figure = alone(make("error-of-blends"), reduced_motion=True)
    handle, orders = figure.get_by_role("button", name="intervals"), {}
    for law, rule, factor in (
        ("fixed", "fixed 0.001", 1),
        ("ratio", "0.3 h²", 0.3),
        ("logarithm", "2 h² ln(1/h)/π²", 2),
    ):
        figure.get_by_role("radio", name=rule, exact=True).check()
        agrees_with_course_lib(figure)
        assert (state_of(figure)["law"], state_of(figure)["factor"]) == (law, factor)
        for across, intervals in ((-0.1, 4), (1.1, 1024)):
            drag(figure, handle, place(figure, "curves", across, 0.2))
            assert state_of(figure)["intervals"] == intervals
        orders[law] = reading(figure, "softmax-power")
        assert outcome(figure) == {"fixed": "bad", "ratio": "open", "logarithm": "good"}[law]
        put(figure, intervals=64)
        assert outcome(figure) != "good"  # none is praised before the smallest h
    assert orders["fixed"] == 0
    assert orders["ratio"] == 1
    assert 1.8 <= orders["logarithm"] < 2


# Deep stacks -------------------------------------------------------------------------------------

# How far apart the two balls of each tower stand.
APART = """(el) => Object.fromEntries([...el.querySelectorAll("[data-tower]")].map((tower) => {
  const [a, b] = [...tower.querySelectorAll("circle")].map((ball) => Number(ball.cx.baseVal.value));
  return [tower.dataset.tower, b - a];
}))"""


def in_powers(text: str) -> float:
    """A number as it is, or with one digit or two and a power of ten."""
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
    figure.page.mouse.click(*place(figure, "towers", 0.97, 0.97))
    agrees_with_course_lib(figure)
    assert state_of(figure)["kind"] == "pre"
    assert state_of(figure)["layer"] <= 2
    put(figure, layer=60, depth=8)
    assert "after layer 8" in figure.inner_text()


def test_a_stack_is_judged_once_it_stands_and_one_that_is_taken_stands_whole(alone: Alone):
    figure = alone(make("deep-stack", moving=True), clock=True)
    verdict, fates = figure.locator(VERDICT), figure.locator(".cw-stack-fate:visible")
    turn(figure, 2)
    assert outcome(figure) == "open"
    assert f", {state_of(figure)['depth']}: " in verdict.inner_text()
    assert fates.count() == 0
    hurry(figure, 10)
    assert verdict.inner_text() == "✗\nbare: nothing survives"
    assert fates.count() == len(KINDS_OF_STACKS)
    figure.get_by_role("button", name="Play").click()
    turn(figure, 2)
    figure.get_by_role("radio", name="pre-norm").check()
    assert rests(figure)
    assert state_of(figure)["depth"] == make("deep-stack").depth
    assert state_of(figure)["kind"] == "pre"
    agrees_with_course_lib(figure)


# A translator ------------------------------------------------------------------------------------

CELLS = """(el) => [...el.querySelectorAll("[data-weight]")].map((text) =>
  [Number(text.dataset.weight), Number(text.textContent),
    Number(text.previousElementSibling.getAttribute("fill-opacity"))])"""


def test_a_piece_that_is_pointed_at_lights_the_words_that_it_looks_at(alone: Alone):
    figure = alone(make("translator", place=1), reduced_motion=True)
    for panel, piece, at in (("paths", "drei", 4), ("map", "vierzig", 6)):
        figure.locator(f"[data-measure={panel}] text", has_text=piece).hover(force=True)

        def reached(at: int = at) -> None:
            assert state_of(figure)["place"] == at

        eventually(figure, reached)
        agrees_with_course_lib(figure)
    button = figure.get_by_role("button", name="piece")
    for key, at in (("Right", 7), ("Left", 6), ("Down", 7), ("Up", 6)):
        button.press(f"Arrow{key}")
        assert state_of(figure)["place"] == at
    agrees_with_course_lib(figure)
    weight, told, opacity = np.transpose(figure.evaluate(CELLS))
    np.testing.assert_allclose(told, weight, atol=0.0051)
    assert np.corrcoef(weight, opacity)[0, 1] > 0.9


def test_another_number_is_written_from_its_first_piece_and_judged_at_its_end(alone: Alone):
    figure = alone(make("translator", place=4), clock=True)
    right = "zweitausendneunhundertsechsundachtzig"
    for number, wanted, said in (
        (2986, "bad", "But what it wrote is wrong"),
        (7543, "good", "And what it wrote is right"),
    ):
        figure.get_by_label("Number", exact=True).select_option(str(number))
        assert state_of(figure)["place"] == 0
        hurry(figure, 12)
        agrees_with_course_lib(figure)
        assert outcome(figure) == wanted
        assert said in figure.locator(VERDICT).inner_text()
        assert (f"Right is {right}." in figure.inner_text()) == (wanted == "bad")


# Resonance ---------------------------------------------------------------------------------------


def test_energy_wanders_in_tune_and_the_total_stays_within_what_is_said(alone: Alone):
    figure = alone(make("resonance"), reduced_motion=True)
    told = figure.locator("[data-measure=layers] svg").get_attribute("aria-label")
    off = EXPECTED["resonance"](state_of(figure))["total"]
    assert off <= number_in(told.split("total stays within ")[1]) <= 1.11 * off
    assert re.search(r"Ball [1-4] has \d+ %", figure.locator(VERDICT).inner_text())
    in_tune = reading(figure, "swing")
    figure.get_by_label("Out of tune by").press("End")
    agrees_with_course_lib(figure)
    assert reading(figure, "swing") < in_tune / 4
    put(figure, alike=True)
    assert "All have 25" in figure.locator(VERDICT).inner_text()
    Keyboard(figure.page).move(figure.get_by_role("button", name="all four balls"))
    agrees_with_course_lib(figure)
    assert len(set(state_of(figure)["placed"][:4])) == 1


def test_a_ball_stays_under_the_hand_and_the_balls_go_on_until_they_are_stopped(alone: Alone):
    figure = alone(make("resonance", moving=True), clock=True)
    moment, mouse = figure.locator(".cw-live-moment"), figure.page.mouse
    turn(figure, 1)
    assert moment.inner_text() != "step 0"
    assert figure.locator(".cw-live-unseen").bounding_box()["width"] > 0
    end = place(figure, "table", 0.7, 0.35)
    grip = figure.locator("[data-ball='1']").bounding_box()
    mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    mouse.down()
    mouse.move(*end, steps=4)
    turn(figure, 1)
    assert moment.inner_text() == "step 0"
    held = figure.locator("[data-ball='1']").bounding_box()
    middle = held["x"] + held["width"] / 2, held["y"] + held["height"] / 2
    assert middle == pytest.approx(end, abs=1.5)
    mouse.up()
    turn(figure, 1)
    assert moment.inner_text() != "step 0"
    agrees_with_course_lib(figure)
    figure.get_by_role("button", name="Pause").click()
    assert rests(figure)
    before = moment.inner_text()
    figure.get_by_role("button", name="Step").click()
    turn(figure, 0.1)
    assert moment.inner_text() != before
    figure.get_by_role("button", name="Begin elsewhere").click()
    agrees_with_course_lib(figure)
    assert (state_of(figure)["placed"], state_of(figure)["start"]) == ([], 1)


# Listening ---------------------------------------------------------------------------------------

# The node that is marked as the far one.
MARKED = """(el) => {
  const ring = el.querySelector("[data-measure=graph] circle[stroke-dasharray]");
  return [ring.cx.baseVal.value, ring.cy.baseVal.value].map(Math.round);
}"""


def test_an_edge_to_the_far_node_lets_it_be_heard_and_goes_again(alone: Alone):
    figure = alone(make("listening"), reduced_motion=True)
    verdict, graph = figure.locator(VERDICT), figure.locator("[data-measure=graph]")
    before, marked = reading(figure, "share"), figure.evaluate(MARKED)
    for rounds in (1, 4, 9):
        put(figure, rounds=rounds)
        assert figure.evaluate(MARKED) == marked
        assert (f"Not yet: {rounds} of 9 steps" in verdict.inner_text()) == (rounds < 9)
        assert ("Over-squashed" in verdict.inner_text()) == (rounds == 9)
        figure.get_by_role("button", name="Join the far node").click()
        agrees_with_course_lib(figure)
        course = figure.locator(".cw-live-joined").get_attribute("d")
        ends = [float(part) for part in re.findall(r"-?[\d.]+", course)]
        assert ends[-2:] == pytest.approx(marked, abs=1)
        expect(graph).to_contain_text("dashed: the far node, joined to it")
        if rounds == 9:
            assert reading(figure, "share") > 300 * before
            expect(verdict).to_contain_text("Joined: 1 in 8.9 in place of 1 in 3,300")
        figure.get_by_role("button", name="Cut that edge").click()
        expect(figure.locator(".cw-live-joined")).to_have_count(0)
    assert reading(figure, "share") == before


# Tours -------------------------------------------------------------------------------------------

KNOBS = {
    "root-d": "dimension",
    "disc-of-pendulums": "steps",
    "spectral-radius": "radius",
    "roofline": "tile",
    "codes-that-die": "noise",
    "error-of-blends": "intervals",
    "deep-stack": "depth",
    "translator": "place",
    "listening": "rounds",
}
# Where a tour ends, if not where its knob stood.
ENDS = {"spectral-radius": 1}


@pytest.mark.parametrize(("name", "knob"), KNOBS.items())
def test_a_knob_goes_by_itself_once_and_again_when_played(alone: Alone, name: str, knob: str):
    figure = alone(make(name, moving=True), clock=True)
    figure.evaluate(NOTE_VALUES, knob)
    played(figure)
    agrees_with_course_lib(figure)
    stands = state_of(figure)[knob]
    end = ENDS.get(name, getattr(make(name), knob))
    assert name == "translator" or stands == pytest.approx(end)
    assert rests(figure)
    values = figure.evaluate(VALUES)
    assert len(set(values)) >= 3
    top = values.index(max(values))
    assert values[1:] == sorted(values[1:top]) + sorted(values[max(1, top) :], reverse=True)
    assert (top < len(values) - 1) == (name == "spectral-radius")


def test_what_is_chosen_anew_is_played_from_the_beginning_unless_a_hand_has_the_knob(
    alone: Alone,
):
    figure = alone(make("listening", moving=True), clock=True)
    for seconds, graph in ((4, "grid"), (7, "tree")):
        hurry(figure, 1.1 * seconds)
        assert plays(figure) == (seconds == 4)
        figure.get_by_text(graph, exact=True).click()
        assert state_of(figure)["rounds"] == 1
    turn(figure, 2)
    figure.get_by_role("button", name="Join").click()
    drag(figure, figure.get_by_role("button", name="listens"), place(figure, "graph", 0.5, 0.05))
    played(figure)
    state = state_of(figure)
    assert (state["rounds"], state["graph"]) == (make("listening").rounds, "tree")
    assert state["joined"]
    agrees_with_course_lib(figure)
    figure.get_by_role("slider", name="Rounds").press("ArrowLeft")
    before = state_of(figure)["rounds"]
    figure.get_by_text("grid", exact=True).click()
    assert rests(figure)
    assert state_of(figure)["rounds"] == before


@pytest.mark.parametrize("touch", ["another knob", "Python"])
def test_whoever_takes_a_figure_on_its_tour_has_it(alone: Alone, touch: str):
    figure = alone(make("root-d", moving=True), height=120, clock=True)
    assert rests(figure)  # until half of it is seen
    figure.page.set_viewport_size({"width": 900, "height": 700})
    turn(figure, 2)
    assert plays(figure)
    if touch == "Python":
        figure.evaluate(SET, {"dimension": 900})
    else:
        open_folds(figure)
        figure.get_by_role("slider", name="Divide by").press("End")
    turn(figure, 0.1)
    assert not plays(figure)
    before = state_of(figure)
    assert rests(figure)
    assert state_of(figure) == before
    assert (before["dimension"] == 900) == (touch == "Python")
