"""EnergyDrift by hand: what moves, what is lost, what is drawn where; and what nobody would try."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from bare import Alone
from displayed import agrees_with_course_lib
from frames import COUNT_FRAMES, FRAMES_WHILE_IDLE, SOME_FRAMES, WATCH_MOMENTS
from in_the_page import tensor
from kinds.energy_drift import READ_MOTION, point_of
from looks import SPILLED
from playwright.sync_api import Locator, expect
from reading import eventually, state_of

from course_lib import mechanics
from course_lib.widgets import EnergyDrift
from course_lib.widgets.energy_drift import METHODS, SCENES
from course_lib.widgets.traits import Array

pytestmark = pytest.mark.usefixtures("plain_calls")

Shown = Callable[..., Locator]
SIDE = 320
STRANGE = re.compile("NaN|Infinity|undefined")
# The moment that the next frame of a film shows.
FIRST_MOMENT = """async (el) => {
  await new Promise(requestAnimationFrame);
  return el.querySelector("[data-time]").dataset.time;
}"""
# The painted pixels of the canvas with a name that begins so: [column, row, red, green, blue].
PAINTED = """(el, name) => {
  const canvas = el.querySelector(`canvas[aria-label^="${name}"]`);
  const { data, width } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = [];
  for (let at = 0; at < data.length; at += 4) {
    const place = [(at / 4) % width, Math.floor(at / 4 / width)];
    if (data[at + 3]) found.push([...place, ...data.slice(at, at + 3)]);
  }
  return [width, found];
}"""


@pytest.fixture
def shown(alone: Alone) -> Shown:
    """Opens a page with one EnergyDrift, still unless told otherwise, and gives that widget."""

    def shown(*system: Any, page: dict[str, Any] | None = None, **given: Any) -> Locator:
        return alone(EnergyDrift(*system, **{"moving": False} | given), **page or {})

    return shown


def play(widget: Locator) -> Locator:
    return widget.get_by_role("button", name=re.compile("Play|Pause"))


def assert_button(widget: Locator, name: str) -> None:
    assert play(widget).inner_text() == name


def motion(widget: Locator) -> dict[str, Any]:
    return widget.evaluate(READ_MOTION)


def look_at_time(widget: Locator, share: float) -> None:
    """Put the slider of time there, as a hand does."""
    widget.get_by_role("slider", name="Time").evaluate(
        """(slider, share) => {
          slider.value = share * slider.max;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        share,
    )
    eventually(widget, lambda: assert_near(motion(widget)["cursor"], share))


def assert_near(found: float, expected: float) -> None:
    assert found == pytest.approx(expected, abs=0.01)


def errors(widget: Locator) -> list[str]:
    """Of the runs that are on: the largest and the last of each."""
    return widget.locator("tr:not(.cw-drift-off) .cw-error").all_inner_texts()


def nothing_strange(widget: Locator) -> None:
    """No number that is none stands in what is shown, nor in what is read aloud, nor in markup."""
    widget.evaluate(SOME_FRAMES)
    found = STRANGE.search(widget.locator(".cw").evaluate("el => el.outerHTML"))
    assert found is None


def test_nothing_moves_until_play_is_pressed_and_nothing_after_a_pause(shown: Shown):
    widget = shown(page={"init": COUNT_FRAMES, "reduced_motion": True})
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    assert motion(widget)["time"] == 0
    play(widget).click()
    moments = widget.evaluate(WATCH_MOMENTS)
    play(widget).click()
    assert moments[-1][1] > moments[0][1] > 0
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    agrees_with_course_lib(widget)


def test_it_moves_by_itself_until_its_end_and_stands_there(shown: Shown):
    widget = shown(dt=0.01, steps=600, moving=True, page={"init": COUNT_FRAMES})
    assert_button(widget, "❚❚ Pause")
    moments = widget.evaluate(WATCH_MOMENTS)
    assert moments[-1][1] > moments[0][1] > 0
    widget.page.wait_for_function(
        "() => document.querySelector('[data-time]').dataset.time === '6'"
    )
    eventually(widget, lambda: assert_button(widget, "▶ Play"))
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    agrees_with_course_lib(widget)


@pytest.mark.parametrize(
    "still", [{}, {"moving": True, "page": {"reduced_motion": True}}], ids=["python", "reader"]
)
def test_it_stands_still_for_those_who_asked_for_it(shown: Shown, still: dict[str, Any]):
    widget = shown(**still)
    widget.evaluate(SOME_FRAMES)
    assert motion(widget)["time"] == 0
    assert_button(widget, "▶ Play")


def test_another_system_moves_from_its_start(shown: Shown):
    widget = shown(dt=0.005, steps=100, moving=True)
    eventually(widget, lambda: assert_button(widget, "▶ Play"))
    widget.get_by_role("combobox", name="System").select_option("Kepler")
    assert_button(widget, "❚❚ Pause")
    play(widget).click()
    agrees_with_course_lib(widget)


def test_unless_the_reader_sets_the_speed_it_quickens(shown: Shown):
    widget = shown(dt=0.1, steps=10_000)
    play(widget).click()
    speed = widget.get_by_role("slider", name="Speed")
    eventually(widget, lambda: assert_faster(speed, 3.2), frames=3000)
    frames, moments = np.array(widget.evaluate(WATCH_MOMENTS)).T
    rates = np.diff(moments) / np.minimum(np.diff(frames), 0.1)
    assert rates[-1] > rates[0] > 3.1
    play(widget).click()
    play(widget).click()
    eventually(widget, lambda: assert_near(float(speed.get_attribute("aria-valuetext")[:-2]), 3))


def assert_faster(speed: Locator, least: float) -> None:
    assert float(speed.get_attribute("aria-valuetext").removesuffix(" ×")) > least


@pytest.mark.parametrize("speed", [1, 3, 100])
def test_a_second_of_the_page_is_as_long_for_the_bodies_as_the_speed_says(shown: Shown, speed: int):
    widget = shown()
    slider = widget.get_by_role("slider", name="Speed")
    if speed != 3:
        slider.press("Home" if speed == 1 else "End")
    play(widget).click()
    frames, moments = np.array(widget.evaluate(WATCH_MOMENTS)).T
    # A late frame counts as a tenth of a second, so that nothing leaps.
    elapsed = speed * np.minimum(np.diff(frames), 0.1)
    np.testing.assert_allclose(np.diff(moments), elapsed, atol=1e-5)


def test_a_hand_on_the_curves_takes_the_time_along_and_the_bodies_with_it(shown: Shown):
    widget = shown()
    play(widget).click()
    chart = widget.locator("svg:has(.cw-cursor)")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    mouse = widget.page.mouse
    mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 50)
    mouse.down()
    for share in (0.5, 0.75, 3.0, 0.4):
        mouse.move(box["x"] + share * box["width"], box["y"] + 90)
        eventually(widget, lambda: assert_near(motion(widget)["cursor"], min(1, share)))  # noqa: B023
        agrees_with_course_lib(widget)
    mouse.up()
    assert_button(widget, "▶ Play")
    mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 50)
    widget.evaluate(SOME_FRAMES)
    assert_near(motion(widget)["cursor"], 0.4)


def test_at_the_end_the_bodies_stand_still_and_play_begins_again(shown: Shown):
    widget = shown(dt=0.005, steps=100, page={"init": COUNT_FRAMES})
    play(widget).click()
    widget.page.wait_for_function(
        "() => document.querySelector('[data-time]').dataset.time === '0.5'"
    )
    eventually(widget, lambda: assert_button(widget, "▶ Play"))
    assert widget.page.evaluate(FRAMES_WHILE_IDLE) == 0
    agrees_with_course_lib(widget)
    play(widget).click()
    assert float(widget.evaluate(FIRST_MOMENT)) < 0.5


@pytest.mark.parametrize("system", SCENES)
def test_every_system_moves_as_its_trajectory_does(shown: Shown, system: str):
    widget = shown(getattr(mechanics, system)(), methods=list(METHODS), steps=1000)
    balls = []
    for share in (0.0, 0.0335, 0.4, 1.0):
        look_at_time(widget, share)
        agrees_with_course_lib(widget)
        balls.append(motion(widget)["bodies"]["stoermer_verlet"])
    assert np.ptp(balls, axis=0).max() > 10, "the body hardly moves"
    nothing_strange(widget)


@pytest.mark.parametrize("system", ["Pendulum", "Kepler", "HenonHeiles"])
def test_the_dashed_line_is_where_the_energy_lets_the_body_go(shown: Shown, system: str):
    kind, scene = getattr(mechanics, system)(), SCENES[system]
    widget = shown(kind)
    path = widget.locator("path[stroke-dasharray='5 4']").get_attribute("d")
    points = tensor([[float(x) for x in point.split()] for point in re.split("[ML]", path)[1:]])
    reach = tensor(scene.reach[:2])
    points = (points / (SIDE / 2) - 1) * tensor([1.0, -1.0]) * reach
    if kind.dim == 1:
        found = kind.energy(points[:, :1], points[:, 1:])
    else:
        found = kind.energy(points, torch.zeros_like(points))
    assert len(points) > 40
    height = float(kind.energy(tensor(scene.q), tensor(scene.p)))
    np.testing.assert_allclose(found, height, atol=0.02 * max(1, abs(height)))


def test_dots_of_the_portrait_lie_where_the_runs_went_in_the_colours_of_the_theme(shown: Shown):
    widget = shown(mechanics.Kepler(), methods=["stoermer_verlet"], steps=300)
    state = state_of(widget)
    spec = next(spec for spec in state["systems"] if spec["name"] == "Kepler")
    run = mechanics.integrate(mechanics.Kepler(), state["q"], state["p"], dt=0.02, steps=300)
    points = torch.cat(
        [point_of(spec, spec["planes"][0], z) for z in torch.cat((run.q, run.p), -1)]
    )
    colours = set()
    for theme in ("light", "dark"):
        widget.page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        widget.evaluate(SOME_FRAMES)
        width, found = widget.evaluate(PAINTED, "Phase portrait")
        found = tensor(found)
        apart = torch.cdist(found[:, :2], points / SIDE * (width - 1))
        assert apart.amin(0).max() < 1.5, "a state has no dot"
        assert apart.amin(1).max() < 1.5, "a dot has no state"
        [colour] = {tuple(pixel) for pixel in found[:, 2:].tolist()}
        colours.add(colour)
    assert colours == {(0x0B, 0x66, 0xA8), (0x58, 0xB0, 0xF0)}


def test_who_leaves_the_picture_and_who_loses_all_is_said_in_words(shown: Shown):
    star = mechanics.HenonHeiles()
    widget = shown(star, methods=["explicit_euler", "stoermer_verlet"], steps=1000)
    state, scene = state_of(widget), SCENES["HenonHeiles"]
    with pytest.raises(mechanics.IntegrationError) as lost:
        mechanics.integrate(
            star, state["q"], state["p"], dt=0.1, steps=1000, method=mechanics.explicit_euler
        )
    run = lost.value.trajectory
    step = int(run.energy.isfinite().long().cumprod(0).sum())
    outside = int((run.q.abs() > tensor(scene.reach[:2])).any(-1).long().argmax())
    said = widget.locator(".cw-message").inner_text()
    assert said == (
        f"Explicit Euler leaves the picture at t = {outside * 0.1:.2f} and loses all at step "
        f"{step}, t = {step * 0.1:.2f}: its energy outgrows all numbers."
    )
    look_at_time(widget, 0.5)
    assert set(motion(widget)["bodies"]) == {"stoermer_verlet"}
    nothing_strange(widget)


@pytest.mark.parametrize("system", SCENES)
@pytest.mark.parametrize("size", [1e38, 1e-38])
def test_a_start_of_any_size_is_drawn_without_a_strange_number(
    shown: Shown, system: str, size: float
):
    kind = getattr(mechanics, system)()
    widget = shown(kind, q=[0.5] * kind.dim, p=[0.5] * kind.dim, methods=list(METHODS), steps=200)
    # Python would refuse such a start; a page has nobody who does.
    start = Array._encode(np.full(kind.dim, size, dtype=np.float32), None)
    for name in ("q", "p"):
        widget.evaluate("(el, [name, to]) => el.courseModel.set(name, to)", [name, start])
    nothing_strange(widget)
    look_at_time(widget, 0.5)
    nothing_strange(widget)


def test_a_planet_is_not_put_into_the_sun_and_that_is_said_until_the_next_deed(shown: Shown):
    widget = shown(mechanics.Kepler(), q=[0.04, 0.0], p=[0.0, 1.0])
    start = widget.get_by_role("button", name="start at")
    start.press("ArrowLeft")
    expect(widget.get_by_role("alert")).to_contain_text("q is 0, 0, the sun itself")
    assert state_of(widget)["q"].tolist() == pytest.approx([0.04, 0])
    nothing_strange(widget)
    start.press("ArrowUp")
    expect(widget.get_by_role("alert")).to_have_count(0)
    assert state_of(widget)["q"].tolist() == pytest.approx([0.04, 0.04])
    nothing_strange(widget)


def test_where_the_energy_is_no_finite_number_no_integrator_starts_and_that_is_said(shown: Shown):
    widget = shown(mechanics.HarmonicOscillator(stiffness=1e308), q=[1000.0], p=[0.0])
    eventually(widget, lambda: assert_said(widget, "Explicit Euler cannot start"))
    assert errors(widget)[1::2] == ["no energy"] * 2
    assert motion(widget)["bodies"] == {}
    nothing_strange(widget)


def assert_said(widget: Locator, words: str) -> None:
    assert words in widget.locator(".cw-message").inner_text()


def test_a_rollout_shorter_than_the_others_ends_before_them(shown: Shown):
    pendulum, q, p = mechanics.Pendulum(), tensor([1.2]), tensor([0.0])
    run = mechanics.integrate(pendulum, q, p, dt=0.1, steps=500)
    widget = shown(q=[1.2], p=[0.0], dt=0.1, steps=2000, methods=[], rollouts={"short": run})
    assert errors(widget)[1] == "ends at 500"
    width, found = widget.evaluate(PAINTED, "Relative")
    last = max(column for column, *_ in found)
    assert last / width == pytest.approx(0.25, abs=0.01)


FUTURE = """(el) => el.querySelectorAll("svg:has(.cw-cursor) > rect").length"""


def test_while_it_moves_what_is_to_come_is_faint(shown: Shown):
    widget = shown(methods=["stoermer_verlet"], steps=400)
    opaque = PAINTED.replace("if (data[at + 3])", "if (data[at + 3] === 255)")
    dots = {}
    for share in (0.0, 0.1, 1.0):
        look_at_time(widget, share)
        dots[share] = len(widget.evaluate(opaque, "Phase portrait")[1])
        assert widget.evaluate(FUTURE) == (0 < share < 1)
    assert dots[0.1] < dots[0.0] == dots[1.0]


def test_everything_is_in_one_view(shown: Shown):
    start = {"q": [0.6, 0.0], "p": [0.0, 1.5], "dt": 0.02, "steps": 500}
    run = mechanics.integrate(
        mechanics.Kepler(), tensor(start["q"]), tensor(start["p"]), dt=0.02, steps=500
    )
    rollouts = dict.fromkeys(["one", "two", "three", "four"], run)
    for width, most in ((756, 600), (374, 1100)):
        for given in ({}, {"rollouts": rollouts}):
            widget = shown(mechanics.Kepler(), **start, **given, page={"width": width})
            assert widget.locator(".cw").bounding_box()["height"] <= most
            pictures = ("motion", "portrait")
            boxes = [widget.locator(f".cw-drift-{name}").bounding_box() for name in pictures]
            assert boxes[0]["y"] == boxes[1]["y"]
            assert widget.evaluate(SPILLED) == []


def test_rollouts_are_dashed_each_in_its_own_way_and_integrators_are_not(shown: Shown):
    pendulum, q, p = mechanics.Pendulum(), tensor([1.2]), tensor([0.0])
    run = mechanics.integrate(pendulum, q, p, dt=0.1, steps=500)
    names = [f"run {i}" for i in range(5)]
    start = {"q": [1.2], "p": [0.0], "dt": 0.1, "steps": 500}
    widget = shown(**start, methods=list(METHODS), rollouts=dict.fromkeys(names, run))
    lines = widget.locator(".cw-drift-line path")
    dashes = [line.get_attribute("stroke-dasharray") for line in lines.all()]
    assert dashes[:5] == ["none"] * 5
    assert len(set(dashes[5:]) - {"none"}) == 5
    assert "dashed" in widget.text_content()

    alone = shown(**start, methods=[], rollouts={"dashed": run})
    opaque = PAINTED.replace("if (data[at + 3])", "if (data[at + 3] === 255)")  # no wash
    width, found = alone.evaluate(opaque, "Relative")
    assert 0.6 < len({column for column, *_ in found}) / width < 0.8  # thirty in forty-two


def test_reset_brings_back_the_system_the_start_and_the_first_moment(shown: Shown):
    widget = shown(q=[0.7], p=[0.1])
    before = state_of(widget)
    widget.get_by_role("combobox", name="System").select_option("Kepler")
    agrees_with_course_lib(widget)
    assert state_of(widget)["dt"] == SCENES["Kepler"].dt
    look_at_time(widget, 0.3)
    play(widget).click()
    widget.get_by_role("button", name="Reset").click()
    eventually(widget, lambda: assert_near(motion(widget)["time"], 0))
    assert str(state_of(widget)) == str(before)
    assert_button(widget, "▶ Play")
    agrees_with_course_lib(widget)


def test_in_a_column_of_200_pixels_nothing_sticks_out(shown: Shown):
    widget = shown(methods=list(METHODS), page={"width": 200})
    assert widget.page.evaluate("() => document.documentElement.scrollWidth") <= 200
