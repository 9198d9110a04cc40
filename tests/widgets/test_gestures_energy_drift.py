from typing import Any

import numpy as np
import pytest
import torch
from agreement import agrees_with_course_lib
from clock import CLOCK, observed, plays, rests, turn
from gestures import look_at_time, press, spot, time_of
from in_the_page import tensor
from judges.energy_drift import READ, parts_of, trajectory
from judges.scraped import near
from playwright.sync_api import Locator, expect
from reading import state_of
from torch import Tensor
from widget_page import Shown, shows

from course_lib import mechanics
from course_lib.widgets import EnergyDrift
from course_lib.widgets.energy_drift.energy_drift import SCENES
from course_lib.widgets.kit.runs import METHODS, REACH

shown = shows(EnergyDrift, folded=True, moving=False)
# The painted pixels of a canvas, by the start of its name: [column, row, red, green, blue].
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


def motion(widget: Locator) -> dict[str, Any]:
    return widget.evaluate(READ)


def errors(widget: Locator) -> list[str]:
    """The largest error of each active run, or where it overflows."""
    return widget.locator("tr:not(.cw-drift-off) .cw-error").all_inner_texts()


def test_a_run_is_shown_as_far_as_it_has_been_seen_judged_at_its_end_and_played_again(shown: Shown):
    widget = shown(dt=0.025, steps=600, moving=True, question="Who leaks?", page=CLOCK)
    unseen, largest = widget.locator(".cw-future"), widget.get_by_role("columnheader").last
    lead, heard = widget.locator("[data-reading=lead]"), widget.locator(".cw-announcer")
    turn(widget, 1)
    first = time_of(widget)
    assert first > 0
    assert (unseen.count(), largest.inner_text()) == (1, "so far")
    assert not lead.is_visible()
    assert "kept" not in heard.text_content()
    agrees_with_course_lib(widget)
    turn(widget, 4)
    assert time_of(widget) == pytest.approx(15)
    assert rests(widget)
    assert (unseen.count(), largest.inner_text()) == (0, "at most")
    outcomes = [line.get_attribute("data-outcome") for line in lead.locator("p").all()]
    assert outcomes == ["kept", "gone"]
    said = [f"largest energy error {error.strip()}" for error in errors(widget)]
    assert [words for words in said if words not in heard.text_content()] == []
    assert "not kept" in heard.text_content()
    press(widget, "Play")
    turn(widget, 1)
    assert time_of(widget) == pytest.approx(first, rel=0.05)
    assert unseen.count() == 0
    widget.get_by_role("combobox", name="System").select_option("Kepler")
    turn(widget, 0.1)
    assert time_of(widget) < 1
    assert not lead.is_visible()
    agrees_with_course_lib(widget)


def test_every_system_moves(shown: Shown):
    widget = shown(mechanics.Pendulum(), methods=list(METHODS), steps=1000)
    for name in SCENES:
        widget.get_by_role("combobox", name="System").select_option(name)
        balls = []
        for share in (0.0335, 0.4):
            look_at_time(widget, share)
            agrees_with_course_lib(widget)
            balls.append(motion(widget)["bodies"]["stoermer_verlet"])
        assert np.ptp(balls, axis=0).max() > 10, "the body hardly moves"


def test_a_drag_on_the_curves_moves_time_and_bodies(shown: Shown):
    widget = shown(page=CLOCK)
    press(widget, "Play")
    chart, mouse = widget.locator("svg:has(.cw-cursor)"), widget.page.mouse
    mouse.move(*spot(chart, 0.2))
    mouse.down()
    x, y = spot(chart, 0)
    width = chart.bounding_box()["width"]
    for share in (0.5, 3.0, 0.4):
        mouse.move(x + 66 + share * (width - 76), y)
        turn(widget, 0.5)
        assert motion(widget)["cursor"] == pytest.approx(min(1, share), abs=0.01)
        agrees_with_course_lib(widget)
    mouse.up()
    mouse.move(*spot(chart, 0.9))
    turn(widget, 0.5)
    assert motion(widget)["cursor"] == pytest.approx(0.4, abs=0.01)
    assert not plays(widget)


def run_of(widget: Locator, method: str, steps: int) -> tuple[Tensor, Tensor]:
    """States and errors of a run of the widget's system with standard parameters."""
    state = state_of(widget)
    start = {name: tuple(state[name].tolist()) for name in "qp"}
    given = {"system": state["system"], "parameters": "{}", "dt": state["dt"]}
    return trajectory(**given, **start, steps=steps, method=method)


def test_dots_of_the_portrait_follow_the_runs_in_the_colours_of_the_theme(shown: Shown):
    widget = shown(mechanics.Kepler(), methods=["stoermer_verlet"], steps=300)
    q, reach = run_of(widget, "stoermer_verlet", 300)[0][:, :2], tensor(REACH["Kepler"][:2])
    points, colours = 0.5 * (1 + tensor([1, -1]) * q / reach), set()
    for theme in ("light", "dark"):
        widget.page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        observed(widget.page)
        width, found = widget.evaluate(PAINTED, "Orbit")
        found = tensor(found)
        apart = torch.cdist(found[:, :2], points * (width - 1))
        assert apart.amin(0).max() < 1.5, "a state has no dot"
        assert apart.amin(1).max() < 1.5, "a dot has no state"
        [colour] = {tuple(pixel) for pixel in found[:, 2:].tolist()}
        colours.add(colour)
    near(motion(widget)["moments"], 320 * points[:1])
    assert colours == {(0x0B, 0x66, 0xA8), (0x58, 0xB0, 0xF0)}


def test_leaving_the_picture_and_overflow_are_described_in_words(shown: Shown):
    widget = shown(mechanics.HenonHeiles(), methods=["explicit_euler"], steps=1000)
    states, _ = run_of(widget, "explicit_euler", 1000)
    step, reach = len(states), tensor(REACH["HenonHeiles"][:2])
    outside = int((states[:, :2].abs() > reach).any(-1).long().argmax())
    assert widget.locator(".cw-message").inner_text() == (
        f"Explicit Euler leaves the picture at t = {outside * 0.1:.2f} and loses all at step "
        f"{step}, t = {step * 0.1:.2f}: its energy outgrows all numbers."
    )
    look_at_time(widget, 0.5)
    assert motion(widget)["bodies"] == {}
    agrees_with_course_lib(widget)


def test_a_run_without_a_next_state_stops_there_and_says_so(shown: Shown):
    widget = shown(mechanics.Kepler(), dt=0.5, steps=100, methods=["implicit_midpoint"])
    assert widget.locator(".cw-message").inner_text() == (
        "Implicit midpoint stops at step 1, t = 0.50: its step is too long to find the next state."
    )
    agrees_with_course_lib(widget)


def test_a_planet_cannot_be_put_into_the_sun_and_a_message_says_so(shown: Shown):
    widget = shown(mechanics.Kepler(), q=[0.04, 0.0], p=[0.0, 1.0])
    start, alert = widget.get_by_role("button", name="start at"), widget.get_by_role("alert")
    start.press("ArrowLeft")
    expect(alert).to_contain_text("q is 0, 0, the sun itself")
    agrees_with_course_lib(widget)
    start.press("ArrowUp")
    expect(alert).to_have_count(0)
    assert state_of(widget)["q"].tolist() == pytest.approx([0.04, 0.04])
    agrees_with_course_lib(widget)


def test_the_enlarged_beginning_agrees_with_the_whole_curve(shown: Shown):
    widget = shown(dt=0.1, steps=10_000, methods=["explicit_euler"], moving=True, page=CLOCK)
    turn(widget, 1.5)
    width, found = widget.evaluate(PAINTED, "Relative")
    moment, error = motion(widget), run_of(widget, "explicit_euler", 400)[1].numpy()
    for share in (0.3, 0.6, 0.8):
        column = round(share * width)
        top = min(row for at, row, *_ in found if at == column)
        step = share * moment["time"] / moment["cursor"] / 0.1
        exact = 300 * (1 - np.log10(np.interp(step, np.arange(401), error))) / 8
        assert top == pytest.approx(exact, abs=4)


def heun(system, q, p, dt):
    q_dot, p_dot = system.field(q, p)
    q_next, p_next = system.field(q + dt * q_dot, p + dt * p_dot)
    return q + dt / 2 * (q_dot + q_next), p + dt / 2 * (p_dot + p_next)


def test_a_custom_stepper_runs_from_a_moved_start(shown: Shown):
    given = {"dt": 0.2, "steps": 500, "methods": ["stoermer_verlet"]}
    widget = shown(**given, steppers={"Heun": heun}, question="Which one leaks?")
    widget.get_by_role("button", name="start at").press("Shift+ArrowRight")
    agrees_with_course_lib(widget)
    state = state_of(widget)
    assert state["q"].item() > 1.21
    run = mechanics.integrate(
        mechanics.Pendulum(), state["q"], state["p"], dt=0.2, steps=500, method=heun
    )
    error = (run.energy / run.energy[0] - 1).abs()
    assert parts_of(errors(widget)[-1]) == pytest.approx(float(error.max()), rel=0.051)
    look_at_time(widget, 0.5)
    own = run_of(widget, "stoermer_verlet", 500)[0]
    for name, q in (("rollout Heun", run.q[250]), ("stoermer_verlet", own[250, :1])):
        bob = 160 + 120 * torch.stack((q.sin(), q.cos()), -1)
        near(motion(widget)["bodies"][name], bob, atol=0.01)
    assert "Not kept: Heun" in widget.locator("[data-reading=lead]").inner_text()
    assert widget.get_by_role("button", name="Back to the first start").count() == 0


def test_stored_results_of_python_are_greyed_for_other_settings(shown: Shown):
    springs, start = mechanics.CoupledOscillators(), {"q": [1.0, 0.5], "p": [0.0, 0.5]}
    run = mechanics.integrate(springs, *map(tensor, start.values()), dt=0.3, steps=500)
    given = {"dt": 0.3, "steps": 500, "methods": ["stoermer_verlet"], "question": "Who stays?"}
    rollouts = dict.fromkeys(["one", "two", "three"], run)
    widget = shown(springs, **start, **given, rollouts=rollouts)
    before = motion(widget)["bodies"]["rollout one"]
    verdict = widget.locator("[data-reading=lead]")
    assert "one" in verdict.inner_text()
    widget.locator("summary", has_text="More").click()
    widget.get_by_role("button", name="start at").press("Shift+ArrowRight")
    agrees_with_course_lib(widget)
    assert errors(widget)[1:4] == ["first start"] * 3
    np.testing.assert_allclose(motion(widget)["bodies"]["rollout one"], before, atol=1e-3)
    assert [part in verdict.inner_text() for part in ("one", "two", "three")] == [False] * 3
    assert "Kept: Störmer–Verlet (off by" in verdict.inner_text()
    assert widget.locator(".cw-body circle[fill='var(--cw-muted)']").count() == 6
    press(widget, "Back to the first start")
    agrees_with_course_lib(widget)
    assert "first start" not in errors(widget)
    assert state_of(widget)["q"].tolist() == pytest.approx([1.0, 0.5])
