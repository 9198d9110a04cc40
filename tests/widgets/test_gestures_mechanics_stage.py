import math
import re
from typing import Any

import numpy as np
import pytest
import torch
from agreement import agrees_with_course_lib
from clock import CLOCK, plays, turn
from gestures import Point, look_at_time, press, spot, time_of
from in_the_page import tensor
from judges.energy_drift import parts_of, trajectory
from judges.mechanics_stage import READ, perceptron
from playwright.sync_api import Locator, expect
from reading import state_of
from small_widgets import seeded
from widget_page import Shown, shows

from course_lib import mechanics
from course_lib.symplectic import SympNet
from course_lib.widgets import MechanicsStage
from course_lib.widgets.kit.runs import METHODS
from course_lib.widgets.mechanics_stage.mechanics_stage import PACE, SCENES

shown = shows(MechanicsStage, folded=True, moving=False)
SIDE, ROD = 320, 120
# The boxes of a body and of its circle: springs reach from wall to wall, and an arrow stands still.
OUTLINE = """(el) => [el, el.querySelector("circle")].flatMap((part) => {
  const { x, y, width, height } = part.getBBox();
  return [x, y, x + width, y + height];
})"""


def acts(widget: Locator) -> dict[str, Any]:
    return widget.evaluate(READ)["acts"]


def look_at(widget: Locator, share: float) -> None:
    look_at_time(widget, share)
    agrees_with_course_lib(widget)


def point_of(widget: Locator, run: str, place: Point) -> Point:
    scene = widget.locator(f"[data-run={run}] .cw-scene")
    return spot(scene, place[0] / SIDE, place[1] / SIDE)


def test_it_plays_by_itself_each_system_at_its_own_pace(shown: Shown):
    widget = shown(moving=True, page=CLOCK)
    for name, scene in SCENES.items():
        if name != "Pendulum":  # its first method
            widget.get_by_role("combobox", name="System").select_option(name)
        turn(widget, 0.1)
        before = time_of(widget)
        assert 0 < before < scene.pace
        turn(widget, 1)
        assert time_of(widget) - before == pytest.approx(scene.pace, rel=0.03)
        agrees_with_course_lib(widget)


def test_another_system_takes_the_body_out_of_the_hand(shown: Shown):
    widget = shown()
    scene, mouse = widget.locator(".cw-scene").first, widget.page.mouse
    mouse.move(*spot(scene))
    mouse.down()
    widget.get_by_role("combobox", name="System").select_option("RigidBody")
    mouse.move(*spot(scene, 0.7))
    mouse.up()
    assert state_of(widget)["z"].numpy() == pytest.approx(SCENES["RigidBody"].z)
    agrees_with_course_lib(widget)


def test_every_system_moves_as_its_trajectory_does_and_nothing_below_moves(shown: Shown):
    widget = shown(methods=[*METHODS][-2:], page={"width": 374})
    body, transport = widget.locator(".cw-body").last, widget.locator(".cw-act-transport")
    for name in SCENES:
        widget.get_by_role("combobox", name="System").select_option(name)
        look_at(widget, 0)
        before, places = transport.bounding_box()["y"], []
        for share in (0.0335, 0.4, 1.0):
            look_at(widget, share)
            places.append(body.evaluate(OUTLINE))
            assert transport.bounding_box()["y"] == before
        assert np.ptp(places, axis=0).max() > 10, f"the body of {name} hardly moves"


def test_a_run_without_a_next_state_stays_where_it_stops(shown: Shown):
    widget = shown(mechanics.Kepler(), dt=0.5, methods=["implicit_midpoint"])
    look_at(widget, 1)
    assert acts(widget)["implicit_midpoint"]["fate"] == "Stops at step 6: it finds no next state."


def test_a_pendulum_over_the_top_is_reported_and_its_glass_overflows(shown: Shown):
    widget = shown()
    start, method = (tensor([1.2]), tensor([0.0])), mechanics.explicit_euler
    run = mechanics.integrate(mechanics.Pendulum(), *start, dt=0.1, steps=400, method=method)
    over = int((run.q[:, 0].abs() > math.pi).long().argmax())
    act = widget.locator("[data-run=explicit_euler]")
    for step, there in ((over - 1, False), (over, True), (400, True)):
        look_at(widget, step / 800)
        told = acts(widget)["explicit_euler"]["fate"]
        assert (f"Over the top at step {over}" in told) == there
        assert act.locator(".cw-puddle").count() == int(run.energy[step] > 2)
    assert acts(widget)["stoermer_verlet"]["fate"] == ""


def test_at_the_end_the_verdict_names_the_methods_that_keep_the_energy(shown: Shown):
    methods = {"explicit_euler": "gone", "stoermer_verlet": "kept", "runge_kutta_4": "gone"}
    widget = shown(methods=[*methods], z=[1.2, 0.0], dt=1.0)
    answer = widget.locator("[data-reading=lead]")
    before = widget.locator(".cw-acts").bounding_box()
    assert not answer.is_visible()
    look_at(widget, 1.0)
    assert widget.locator(".cw-acts").bounding_box() == before
    start = {"system": "Pendulum", "parameters": "{}", "q": (1.2,), "p": (0.0,)}
    for method, outcome in methods.items():
        error = trajectory(**start, dt=1.0, steps=80, method=method)[1]
        line = widget.locator(".cw-act-outcome", has_text=METHODS[method])
        assert line.get_attribute("data-outcome") == outcome
        sign = line.get_by_role("img").get_attribute("aria-label")
        assert sign == ("kept" if outcome == "kept" else "not kept")
        text = line.text_content()
        said = parts_of(re.search(r"(?:off by|within) (.*%)", text)[1])
        assert said == pytest.approx(float(error.max()), rel=0.051)
    # A new start is a new question.
    widget.get_by_role("button", name="Pendulum; arrow").first.press("ArrowRight")
    expect(answer).to_be_hidden()


def test_a_bob_can_be_dragged_on_any_stage_and_starts_at_rest(shown: Shown):
    widget, angle = shown(moving=True, page=CLOCK), -2.0
    turn(widget, 2 * math.pi / SCENES["Pendulum"].pace)
    end = SIDE / 2 + ROD * math.sin(angle), SIDE / 2 + ROD * math.cos(angle)
    carry(widget, "stoermer_verlet", (SIDE / 2, SIDE / 2 + ROD), end, stride=0.015)
    turn(widget, 0.05)
    assert_start(widget, [angle, 0.0])
    assert time_of(widget) == 0
    assert not plays(widget)
    agrees_with_course_lib(widget)
    widget.page.mouse.up()
    turn(widget, 0.5)
    assert time_of(widget) > 0
    assert plays(widget)


def carry(
    widget: Locator, run: str, start: Point, end: Point, *, stride: float = 0, rest: float = 0
) -> None:
    """Drag from one point of a stage to another, in five steps."""
    mouse = widget.page.mouse
    mouse.move(*point_of(widget, run, start))
    mouse.down()
    for share in (0.2, 0.4, 0.6, 0.8, 1):
        turn(widget, stride)
        x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
        mouse.move(*point_of(widget, run, (x, y)))
    turn(widget, rest)


def assert_start(widget: Locator, expected: list[float]) -> None:
    np.testing.assert_allclose(state_of(widget)["z"], expected, atol=0.03)


def test_a_thrown_planet_has_the_speed_of_the_pointer(shown: Shown):
    widget = shown(mechanics.Kepler(), page=CLOCK)
    carry(widget, "explicit_euler", (240, 160), (240, 190), stride=0.03)
    widget.page.mouse.up()
    turn(widget, 0.1)
    assert time_of(widget) > 0
    pixel = 4 / SIDE
    speed = 30 * pixel / (5 * 0.03 * SCENES["Kepler"].pace)
    assert_start(widget, [80 * pixel, -30 * pixel, 0, -speed])
    agrees_with_course_lib(widget)


def test_a_released_planet_moves_on_a_circle_in_the_same_direction(shown: Shown):
    widget = shown(mechanics.Kepler(mass=2.0, gravity=1.5), z=[1.6, 0.0, 0.0, -1.0], page=CLOCK)
    # A pointer at rest for a tenth of a second throws nothing.
    carry(widget, "explicit_euler", (288, 160), (240, 80), stride=0.015, rest=0.12)
    widget.page.mouse.up()
    turn(widget, 0.1)
    assert time_of(widget) > 0
    q, p = state_of(widget)["z"].tensor_split(2)
    torch.testing.assert_close(q, tensor([1.0, 1.0]), atol=0.02, rtol=0)
    assert float(q @ p) == pytest.approx(0, abs=1e-3)
    assert float(q[0] * p[1] - q[1] * p[0]) < 0
    assert float(p @ p) == pytest.approx(4 * 1.5 / float(q.norm()), rel=1e-3)


def test_networks_continue_from_where_the_reader_lets_go(shown: Shown):
    networks = {
        "SympNet": seeded(SympNet, 2, layers=4, width=6),
        "perceptron": seeded(perceptron, 4, 8, 4),
    }
    start = {"z": [0.5, -0.5, 0.0, 0.0], "dt": 0.3}
    widget = shown(mechanics.CoupledOscillators(), networks=networks, **start, page=CLOCK)
    assert widget.get_by_role("slider", name="Step size").count() == 0  # it was learned
    assert "Whose water does not stay?" in widget.locator(".cw-act-question").inner_text()
    look_at(widget, 0.02)
    found = acts(widget)
    assert list(found) == ["truth", "network SympNet", "network perceptron"]
    x, y = found["truth"]["balls"][1]
    carry(widget, "truth", (x, y), (x + 40, y))
    widget.page.mouse.up()
    turn(widget, 0.5)
    assert time_of(widget) == pytest.approx(0.5 * PACE * 0.3, rel=0.05)
    agrees_with_course_lib(widget)
    press(widget, "Pause")
    assert state_of(widget)["z"][1] > 0
    look_at(widget, 1.0)
    told = " ".join(widget.locator(".cw-act-outcome").all_text_contents())
    assert all(name in told for name in networks)


def test_there_is_room_for_three_methods_and_a_message_if_none_is_chosen(shown: Shown):
    widget = shown(methods=[*METHODS][:3])
    boxes = widget.get_by_role("checkbox").all()
    assert [box.is_enabled() for box in boxes] == [True, True, True, False, False]
    for box in boxes[:3]:
        box.uncheck()
    widget.get_by_text("Switch an integrator on.").wait_for()
    assert all(box.is_enabled() for box in boxes)
