"""Gestures on live figures: the numbers, the verdict and the tour of each."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from agreement import agrees_with_course_lib, has
from appearance import SPILLED
from clock import hurry, observed, plays, rests, turn
from gestures import Keyboard, Mouse, centre, press, widgets
from judges.live_figure import number_in
from live_figures import DATA, EXPECTED, KINDS_OF_STACKS, make
from playwright.sync_api import Locator, Page, expect
from reading import NOTE_VALUES, VALUES, send, state_of
from widget_page import Alone, bare_page, open_folds

from course_lib.widgets.live_figure import FIGURES

VERDICT = ".cw-live-verdict"
SMALLEST_TYPE = """(el) => Math.min(...[...el.querySelectorAll("svg text")].map((text) => {
  const { a, b } = text.getScreenCTM();
  return Math.hypot(a, b) * parseFloat(getComputedStyle(text).fontSize);
}))"""
OPACITIES = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return [...data].filter((_, i) => i % 4 === 3);
}"""


def played(figure: Locator) -> None:
    hurry(figure, 1)
    assert plays(figure)
    hurry(figure, 11)  # the longest tour
    assert not plays(figure)


def put(figure: Locator, **given: object) -> None:
    send(figure, **given)
    agrees_with_course_lib(figure)


def reading(figure: Locator, name: str) -> float:
    return number_in(figure.locator(f"[data-reading={name}]").text_content())


def outcome(figure: Locator) -> str | None:
    return figure.locator(VERDICT).get_attribute("data-outcome")


def drag(figure: Locator, handle: str, panel: str, across: float, down: float) -> None:
    start = centre(figure.get_by_role("button", name=handle))
    Mouse(figure.page).drag(start, place(figure, panel, across, down))
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


# The verdict on a question, by the value of one knob.
JUDGED = {
    "root-d": ("power", {0.0: "bad", 0.5: "good"}),
    "roofline": ("tile", {8: "bad", 512: "good"}),
    "spectral-radius": (
        "radius",
        {0.85: "bad", 0.95: "open", 1.0: "good", 1.03: "open", 1.2: "bad"},
    ),
    "deep-stack": ("kind", {"bare": "bad", "pre": "good"}),
    "codes-that-die": ("noise", {20.0: "bad", 0.002: "good"}),
    "disc-of-pendulums": ("method", {"explicit_euler": "bad", "symplectic_euler": "good"}),
    "listening": ("joined", {False: "bad", True: "good"}),
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
        knob, outcomes = JUDGED.get(name, ("", {}))
        for value, wanted in outcomes.items():
            put(figure, **{knob: value})
            assert outcome(figure) == wanted, (name, value)
            sign = {"good": "✓", "bad": "✗", "open": ""}[wanted]
            said = figure.locator(VERDICT).inner_text()
            assert "".join(c for c in said if c in "✓✗") == sign, name
        put(figure, **ELSEWHERE[name])


# Scores, and what they are divided by ------------------------------------------------------------


def test_divided_by_the_root_the_weights_stay_shared_in_every_dimension(alone: Alone):
    figure = alone(make("root-d"), reduced_motion=True)
    verdict, tick = figure.locator(VERDICT), figure.get_by_role("checkbox", name="Divide by √d")
    for across, dimension in ((-0.1, 1), (1.1, 1024)):
        drag(figure, "dimension", "fan", across, 0.3)
        assert state_of(figure)["dimension"] == dimension
    assert reading(figure, "largest") > 0.95
    tick.click()
    has(figure, power=0.5)
    assert reading(figure, "largest") < 0.5
    expect(verdict).to_contain_text("again")
    put(figure, dimension=2)  # where no key dominates
    expect(verdict).not_to_contain_text("again")
    put(figure, dimension=1024, power=1.0)
    expect(figure.locator(".cw-hint").last).to_contain_text("nearly the same")
    expect(tick).not_to_be_checked()


# A roofline ---------------------------------------------------------------------------------------


def test_published_speeds_stand_at_the_sizes_for_which_they_were_measured(alone: Alone):
    figure = alone(make("roofline"), reduced_motion=True)
    speed = figure.get_by_text("in tiles: 646")
    expect(speed).to_be_visible()
    put(figure, features=64)
    expect(speed).to_have_count(0)


# A disc of pendulums -----------------------------------------------------------------------------

RADII = """(el) => [...el.querySelectorAll("[data-measure=area] circle")]
  .map((circle) => circle.r.baseVal.value)"""


def test_symplectic_euler_keeps_the_area_of_a_disc_wherever_the_hand_puts_it(alone: Alone):
    figure = alone(make("disc-of-pendulums"), reduced_motion=True)
    for steps in (8, 18):
        put(figure, steps=steps)
        mine, first = figure.evaluate(RADII)
        assert (mine / first) ** 2 == pytest.approx(exact_area(figure), abs=0.006)
    figure.get_by_text("symplectic Euler", exact=True).click()
    drag(figure, "disc around", "space", 0.6, 0.6)
    press(figure, "Step")
    has(figure, steps=19)
    expect(figure.locator(VERDICT)).to_contain_text("✓Area kept: 1.000 times")
    # A saddle tears the rim, and the remaining points do not measure it.
    for angle, momentum in ((1.6, 2.0), (0.0, 1.6)):
        send(figure, dt=0.5, steps=24, angle=angle, momentum=momentum)
        expect(figure.locator("[data-reading=area]")).to_have_text("1.000")


def exact_area(figure: Locator) -> float:
    return EXPECTED["disc-of-pendulums"](state_of(figure))["area"]


def test_runge_kutta_is_not_described_as_conserving(alone: Alone):
    figure = alone(make("disc-of-pendulums", method="runge_kutta_4"), reduced_motion=True)
    area, verdict = figure.locator("[data-reading=area]"), figure.locator(VERDICT)
    for dt, text in ((0.5, "0.9981"), (0.25, "0.99996")):  # to the significant digit
        send(figure, dt=dt)
        expect(area).to_have_text(text)
        expect(verdict).to_contain_text("lost: nearly kept, not kept")
    send(figure, dt=0.5, steps=24, angle=-1.77, momentum=-2.0)
    observed(figure.page)
    ratio = exact_area(figure)
    assert float(area.text_content()) == pytest.approx(ratio, abs=0.0006)
    assert outcome(figure) == "bad"
    share = float(verdict.inner_text().strip("✗ \n").split()[0])
    assert share == pytest.approx(100 * (1 - ratio), rel=0.01)


# Codes that die, eigenvalues, blends -------------------------------------------------------------


def test_a_hand_raises_the_water_until_no_code_is_alive(alone: Alone):
    figure, data = alone(make("codes-that-die", noise=0.5)), DATA["codes-that-die"]()
    exact = [np.interp(0.5, data["levels"], pixel) for pixel in np.transpose(data["redrawn"])]
    drawn = figure.get_by_label("from 4 codes").evaluate(OPACITIES)
    np.testing.assert_allclose(drawn, np.multiply(255, exact), atol=1.5)
    for down, noise in ((-0.2, 20), (1.2, 0.002)):
        drag(figure, "water at", "eigenvalues", 0.9, down)
        assert state_of(figure)["noise"] == pytest.approx(noise)
    put(figure, noise=0.1, beta=8.0)
    says = figure.locator(".cw-live .cw-hint").inner_text()
    assert "β = 8 moves the water from s² to 0.8." in says
    assert says.endswith(" 4 of 7 codes rise above the water.")


def test_an_eigenvalue_follows_its_handle_and_the_signal_runs_beyond_radius_1(alone: Alone):
    figure = alone(make("spectral-radius", radius=0.7), reduced_motion=True)
    says = figure.locator(".cw-live .cw-hint")
    expect(says).to_contain_text("dies out")
    drag(figure, "eigenvalue", "plane", 0.8, 0.05)
    assert state_of(figure)["radius"] > 1
    expect(says).to_contain_text("explodes")
    figure.get_by_role("checkbox").press("Space")
    agrees_with_course_lib(figure)
    expect(says).to_contain_text("neither state nor gradient runs away")
    put(figure, tanh=False, radius=0.95)
    expect(says).not_to_contain_text(re.compile("explodes|dies out"))


def test_nodes_come_closer_under_a_hand_and_only_one_rule_follows_the_hats(alone: Alone):
    figure = alone(make("error-of-blends"), reduced_motion=True)
    orders = {}
    for law, rule, factor in (
        ("fixed", "fixed 0.001", 1),
        ("ratio", "0.3 h²", 0.3),
        ("logarithm", "2 h² ln(1/h)/π²", 2),
    ):
        figure.get_by_role("radio", name=rule, exact=True).check()
        has(figure, law=law, factor=factor)
        for across, intervals in ((-0.1, 4), (1.1, 1024)):
            drag(figure, "intervals", "curves", across, 0.2)
            assert state_of(figure)["intervals"] == intervals
        orders[law] = reading(figure, "softmax-power")
        assert outcome(figure) == {"fixed": "bad", "ratio": "open", "logarithm": "good"}[law]
        put(figure, intervals=64)
        assert outcome(figure) != "good"  # no method is recommended before the smallest h
    assert orders["fixed"] == 0
    assert orders["ratio"] == 1
    assert 1.8 <= orders["logarithm"] < 2


# Deep stacks -------------------------------------------------------------------------------------

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
    figure.page.mouse.click(*place(figure, "towers", 0.97, 0.97))
    has(figure, kind="pre")
    assert state_of(figure)["layer"] <= 2
    put(figure, layer=60, depth=8)
    assert "after layer 8" in figure.inner_text()


def test_the_verdict_on_a_stack_comes_when_it_is_complete(alone: Alone):
    figure = alone(make("deep-stack", moving=True), clock=True)
    verdict, fates = figure.locator(VERDICT), figure.locator(".cw-stack-fate:visible")
    turn(figure, 2)
    assert outcome(figure) == "open"
    assert f", {state_of(figure)['depth']}: " in verdict.inner_text()
    assert fates.count() == 0
    hurry(figure, 10)
    assert outcome(figure) == "bad"
    assert fates.count() == len(KINDS_OF_STACKS)
    press(figure, "Play")
    turn(figure, 2)
    figure.get_by_role("radio", name="pre-norm").check()
    assert rests(figure)
    has(figure, depth=make("deep-stack").depth, kind="pre")


# A translator ------------------------------------------------------------------------------------

CELLS = """(el) => [...el.querySelectorAll("[data-weight]")].map((text) =>
  [Number(text.dataset.weight), Number(text.textContent),
    Number(text.previousElementSibling.getAttribute("fill-opacity"))])"""


def test_a_piece_that_is_pointed_at_lights_the_words_that_it_looks_at(alone: Alone):
    figure = alone(make("translator", place=1), reduced_motion=True)
    for panel, piece, at in (("paths", "drei", 4), ("map", "vierzig", 6)):
        figure.locator(f"[data-measure={panel}] text", has_text=piece).hover(force=True)
        has(figure, place=at)
    for key, at in (("Right", 7), ("Left", 6), ("Down", 7), ("Up", 6)):
        figure.get_by_role("button", name="piece").press(f"Arrow{key}")
        has(figure, place=at)
    weight, told, opacity = np.transpose(figure.evaluate(CELLS))
    np.testing.assert_allclose(told, weight, atol=0.0051)
    assert np.corrcoef(weight, opacity)[0, 1] > 0.9


def test_another_number_is_written_from_its_first_piece_and_judged_at_its_end(alone: Alone):
    figure = alone(make("translator", place=4), clock=True)
    for number, wanted in ((2986, "bad"), (7543, "good")):
        figure.get_by_label("Number", exact=True).select_option(str(number))
        assert state_of(figure)["place"] == 0
        hurry(figure, 12)
        agrees_with_course_lib(figure)
        assert outcome(figure) == wanted
        right = "Right is zweitausendneunhundertsechsundachtzig."
        assert (right in figure.inner_text()) == (wanted == "bad")


# Resonance ---------------------------------------------------------------------------------------


def test_energies_oscillate_and_the_total_stays_within_its_stated_bound(alone: Alone):
    figure = alone(make("resonance"), reduced_motion=True)
    verdict = figure.locator(VERDICT)
    told = figure.locator("[data-measure=layers] svg").get_attribute("aria-label")
    off = EXPECTED["resonance"](state_of(figure))["total"]
    assert off <= number_in(told.split("total stays within ")[1]) <= 1.11 * off
    expect(verdict).to_contain_text(re.compile(r"Ball [1-4] has \d+ %"))
    in_tune = reading(figure, "swing")
    figure.get_by_label("Out of tune by").press("End")
    agrees_with_course_lib(figure)
    assert reading(figure, "swing") < in_tune / 4
    put(figure, alike=True)
    expect(verdict).to_contain_text("All have 25")
    Keyboard(figure.page).move(figure.get_by_role("button", name="all four balls"))
    agrees_with_course_lib(figure)
    assert len(set(state_of(figure)["placed"][:4])) == 1


def test_a_ball_stays_under_the_hand_and_the_balls_go_on_until_they_are_stopped(alone: Alone):
    figure = alone(make("resonance", moving=True), clock=True)
    moment, ball = figure.locator(".cw-live-moment"), figure.locator("[data-ball='1']")
    turn(figure, 1)
    assert moment.inner_text() != "step 0"
    assert figure.locator(".cw-live-unseen").bounding_box()["width"] > 0
    start, end = centre(ball), place(figure, "table", 0.7, 0.35)
    Mouse(figure.page).take(start, end)
    turn(figure, 1)
    assert moment.inner_text() == "step 0"
    assert centre(ball) == pytest.approx(end, abs=1.5)
    figure.page.mouse.up()
    turn(figure, 1)
    assert moment.inner_text() != "step 0"
    agrees_with_course_lib(figure)
    press(figure, "Pause")
    before = moment.inner_text()
    press(figure, "Step")
    turn(figure, 0.1)
    assert moment.inner_text() != before
    press(figure, "Begin elsewhere")
    has(figure, placed=[], start=1)


# Listening ---------------------------------------------------------------------------------------

# The node that is marked as the far one.
MARKED = """(el) => {
  const ring = el.querySelector("[data-measure=graph] circle[stroke-dasharray]");
  return [ring.cx.baseVal.value, ring.cy.baseVal.value].map(Math.round);
}"""


def test_an_edge_to_the_far_node_carries_its_message_and_can_be_removed(alone: Alone):
    figure = alone(make("listening"), reduced_motion=True)
    verdict, marked = figure.locator(VERDICT), figure.evaluate(MARKED)
    before = reading(figure, "share")
    for rounds in (1, 4, 9):
        put(figure, rounds=rounds)
        assert figure.evaluate(MARKED) == marked
        said = f"Not yet: {rounds} of 9 steps" if rounds < 9 else "Over-squashed"
        expect(verdict).to_contain_text(said)
        press(figure, "Join the far node")
        agrees_with_course_lib(figure)
        course = figure.locator(".cw-live-joined").get_attribute("d")
        ends = [float(part) for part in re.findall(r"-?[\d.]+", course)]
        assert ends[-2:] == pytest.approx(marked, abs=1)
        if rounds == 9:
            assert reading(figure, "share") > 300 * before
            expect(verdict).to_contain_text("Joined: 1 in 8.9 in place of 1 in 3,300")
        press(figure, "Cut that edge")
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
# The end of a tour, if not the first value of its knob.
ENDS = {"spectral-radius": 1}


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
        assert (top < len(values) - 1) == (name == "spectral-radius")
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
    turn(figure, 2)
    press(figure, "Join")
    drag(figure, "listens", "graph", 0.5, 0.05)
    played(figure)
    has(figure, rounds=make("listening").rounds, graph="tree", joined=True)
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
