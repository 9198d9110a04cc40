"""EnergyDrift by hand: what moves, what is lost, what is drawn where; and what nobody would try."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from bare import Alone
from clock import observed, rests, turn
from displayed import agrees_with_course_lib
from in_the_page import tensor
from kinds.energy_drift import READ_MOTION, parts_of, point_of
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
CLOCK = {"clock": True}
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
    """Of the runs that are on: the largest of each, or where it is lost."""
    return widget.locator("tr:not(.cw-drift-off) .cw-error").all_inner_texts()


def nothing_strange(widget: Locator) -> None:
    """No number that is none stands in what is shown, nor in what is read aloud, nor in markup."""
    observed(widget.page)
    found = STRANGE.search(widget.locator(".cw").evaluate("el => el.outerHTML"))
    assert found is None


def test_a_run_is_shown_as_far_as_it_has_been_seen_judged_at_its_end_and_played_again(
    shown: Shown,
):
    widget = shown(dt=0.025, steps=600, moving=True, question="Who leaks?", page=CLOCK)
    unseen, largest = widget.locator(".cw-drift-unseen"), widget.get_by_role("columnheader").last
    lead, heard = widget.locator("[data-reading=lead]"), widget.locator(".cw-announcer")
    turn(widget, 1)
    first = motion(widget)["time"]
    assert first > 0
    assert (unseen.count(), largest.inner_text()) == (1, "so far")
    assert not lead.is_visible()
    assert "kept" not in heard.text_content()
    agrees_with_course_lib(widget)
    play(widget).click()
    assert rests(widget)
    play(widget).click()
    turn(widget, 4)
    assert motion(widget)["time"] == pytest.approx(15)
    assert_button(widget, "▶ Play")
    assert rests(widget)
    assert (unseen.count(), largest.inner_text()) == (0, "at most")
    assert widget.locator(".cw-drift-question").inner_text() == "Who leaks?"
    outcomes = [line.get_attribute("data-outcome") for line in lead.locator("p").all()]
    assert outcomes == ["kept", "gone"]
    assert "not kept" in heard.text_content()
    play(widget).click()
    turn(widget, 1)
    assert motion(widget)["time"] == pytest.approx(first, rel=0.05)
    assert unseen.count() == 0
    widget.get_by_role("slider", name="Time").press("Home")
    turn(widget, 1)
    assert not lead.is_visible()
    assert "kept" not in heard.text_content()
    widget.get_by_role("combobox", name="System").select_option("Kepler")
    turn(widget, 0.1)
    assert motion(widget)["time"] < 1
    turn(widget, 20)
    assert motion(widget)["time"] == pytest.approx(600 * state_of(widget)["dt"])


@pytest.mark.parametrize("system", SCENES)
def test_every_system_moves_as_its_trajectory_does_from_a_start_of_any_size(
    shown: Shown, system: str
):
    kind = getattr(mechanics, system)()
    widget = shown(kind, methods=list(METHODS), steps=1000)
    if system in ("Pendulum", "Kepler", "HenonHeiles"):
        assert_dashed_line(widget, kind, SCENES[system])
    balls = []
    for share in (0.0335, 0.4, 1.0):
        look_at_time(widget, share)
        agrees_with_course_lib(widget)
        balls.append(motion(widget)["bodies"]["stoermer_verlet"])
    assert np.ptp(balls, axis=0).max() > 10, "the body hardly moves"
    # Python would refuse such a start; a page has nobody who does.
    for size in (1e38, 1e-38):
        start = Array._encode(np.full(kind.dim, size, dtype=np.float32), None)
        for name in ("q", "p"):
            widget.evaluate("(el, [name, to]) => el.courseModel.set(name, to)", [name, start])
        nothing_strange(widget)


def assert_dashed_line(widget: Locator, kind: Any, scene: Any) -> None:
    """Assert that the dashed line is where the energy lets the body go."""
    line = widget.locator(".cw-drift-exact, path[stroke-dasharray='5 4']").first
    path = line.get_attribute("d")
    points = tensor([[float(x) for x in point.split()] for point in re.split("[ML]", path)[1:]])
    points = (points / (SIDE / 2) - 1) * tensor([1.0, -1.0]) * tensor(scene.reach[:2])
    if kind.dim == 1:
        found = kind.energy(points[:, :1], points[:, 1:])
    else:
        found = kind.energy(points, torch.zeros_like(points))
    assert len(points) > 40
    height = float(kind.energy(tensor(scene.q), tensor(scene.p)))
    np.testing.assert_allclose(found, height, atol=0.02 * max(1, abs(height)))


def test_on_a_telephone_curves_stand_on_their_axis_and_each_run_has_its_row(shown: Shown):
    start = {"q": [1.0, 0.5], "p": [0.0, 0.5]}
    springs, (q, p) = mechanics.CoupledOscillators(), map(tensor, start.values())
    run = mechanics.integrate(springs, q, p, dt=0.3, steps=1000)
    rollouts = dict.fromkeys(["one", "two", "three"], run)
    widget = shown(springs, **start, dt=0.3, steps=1000, rollouts=rollouts, page={"width": 374})
    assert widget.evaluate(SPILLED) == []
    assert widget.locator(".cw").bounding_box()["height"] <= 750
    rows, bodies = (
        [row.bounding_box() for row in widget.locator(css).all()]
        for css in (".cw-drift-list tr:not(.cw-drift-off):has(td)", ".cw-body")
    )
    assert len(bodies) == 5
    for row, body in zip(rows, bodies, strict=True):
        middle = body["y"] + body["height"] / 2
        assert row["y"] + 8 < middle < row["y"] + row["height"] - 8
    canvas = widget.locator(".cw-drift-chart canvas").bounding_box()
    levels = [line.bounding_box() for line in widget.locator(".cw-drift-chart path[d*=H]").all()]
    top, bottom = levels[0]["y"], levels[-1]["y"]
    assert levels[0]["x"] == pytest.approx(canvas["x"], abs=1.5)
    assert (canvas["y"], canvas["height"]) == pytest.approx((top, bottom - top), abs=1.5)


def test_a_hand_on_the_curves_takes_the_time_along_and_the_bodies_with_it(shown: Shown):
    widget = shown(page=CLOCK)
    play(widget).click()
    chart = widget.locator("svg:has(.cw-cursor)")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    mouse = widget.page.mouse
    mouse.move(box["x"] + 0.2 * box["width"], box["y"] + 50)
    mouse.down()
    for share in (0.5, 3.0, 0.4):
        mouse.move(box["x"] + 66 + share * (box["width"] - 76), box["y"] + 90)
        turn(widget, 0.5)
        assert_near(motion(widget)["cursor"], min(1, share))
        agrees_with_course_lib(widget)
    mouse.up()
    mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 50)
    turn(widget, 0.5)
    assert_near(motion(widget)["cursor"], 0.4)
    assert_button(widget, "▶ Play")


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
        observed(widget.page)
        width, found = widget.evaluate(PAINTED, "Orbit")
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
    assert errors(widget) == ["no energy"] * 2
    assert motion(widget)["bodies"] == {}
    nothing_strange(widget)


def assert_said(widget: Locator, words: str) -> None:
    assert words in widget.locator(".cw-message").inner_text()


def test_a_rollout_shorter_than_the_others_ends_before_them(shown: Shown):
    pendulum, q, p = mechanics.Pendulum(), tensor([1.2]), tensor([0.0])
    run = mechanics.integrate(pendulum, q, p, dt=0.1, steps=500)
    widget = shown(q=[1.2], p=[0.0], dt=0.1, steps=2000, methods=[], rollouts={"short": run})
    assert errors(widget)[0].endswith(", ends at 500")
    width, found = widget.evaluate(PAINTED, "Relative")
    last = max(column for column, *_ in found)
    assert last / width == pytest.approx(0.25, abs=0.01)


def test_a_run_of_python_moves_smoothly_at_first(shown: Shown):
    q, p = tensor([1.2]), tensor([0.0])
    given = {"dt": 0.2, "steps": 2000}
    run = mechanics.integrate(mechanics.Pendulum(), q, p, **given, method=mechanics.stoermer_verlet)
    widget = shown(q=[1.2], p=[0.0], **given, methods=["stoermer_verlet"], rollouts={"same": run})
    for share in (0.0001, 0.00113, 0.01, 0.02):
        look_at_time(widget, share)
        bodies = motion(widget)["bodies"]
        np.testing.assert_allclose(bodies["rollout same"], bodies["stoermer_verlet"], atol=2)


def test_what_is_drawn_of_the_beginning_is_what_the_whole_shows(shown: Shown):
    """A curve that is looked at from near has the errors of its steps."""
    widget = shown(dt=0.1, steps=10_000, methods=["explicit_euler"], moving=True, page=CLOCK)
    turn(widget, 1.5)
    width, found = widget.evaluate(PAINTED, "Relative")
    time, cursor = (motion(widget)[name] for name in ("time", "cursor"))
    state = state_of(widget)
    run = mechanics.integrate(
        mechanics.Pendulum(), state["q"], state["p"], dt=0.1, steps=400,
        method=mechanics.explicit_euler,
    )  # fmt: skip
    error = ((run.energy - run.energy[0]) / run.energy[0]).abs().numpy()
    for share in (0.3, 0.6, 0.8):
        column = round(share * width)
        top = min(row for at, row, *_ in found if at == column)
        step = share * (time / cursor / 0.1)
        exact = 300 * (1 - np.log10(np.interp(step, np.arange(401), error))) / 8
        assert top == pytest.approx(exact, abs=4)


def test_of_which_moment_the_bodies_are_is_said_where_the_page_has_no_nearer_state(shown: Shown):
    start = {"q": [1.0, 0.5], "p": [0.0, 0.5]}
    springs, (q, p) = mechanics.CoupledOscillators(), map(tensor, start.values())
    run = mechanics.integrate(springs, q, p, dt=0.3, steps=10_000)
    rollouts = dict.fromkeys(["one", "two", "three", "four"], run)
    widget = shown(springs, **start, dt=0.3, steps=10_000, rollouts=rollouts)
    said = widget.locator(".cw-drift-elsewhere")
    expect(said).to_have_count(0)
    height = widget.locator(".cw").bounding_box()["height"]
    look_at_time(widget, 0.99)
    moment = float(re.search(r"as at t = ([0-9.,]+)", said.inner_text())[1].replace(",", ""))
    bodies = tensor([x for x, _ in motion(widget)["bodies"]["rollout one"]])
    # The moment is told without its tenths.
    steps = [step for step in range(10_001) if abs(0.3 * step - moment) <= 0.5]
    exact = tensor(STAGE_AT) + 64 / 2.5 * run.q[steps]
    assert float((exact - bodies).abs().amax(-1).min()) < 0.1
    assert 0.5 < moment / 3000 < 0.99
    assert widget.locator(".cw").bounding_box()["height"] == height
    look_at_time(widget, 1.0)
    expect(said).to_have_count(0)


# Where the balls of two springs are at rest, on a stage of 320.
STAGE_AT = (0.3 * 320, 0.7 * 320)


def heun(system, q, p, dt):
    q_dot, p_dot = system.field(q, p)
    q_next, p_next = system.field(q + dt * q_dot, p + dt * p_dot)
    return q + dt / 2 * (q_dot + q_next), p + dt / 2 * (p_dot + p_next)


def test_a_stepper_of_your_own_runs_from_wherever_the_start_is_moved(shown: Shown):
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
    found = motion(widget)["bodies"]["rollout Heun"]
    bob = 160 + 120 * torch.stack((run.q[250].sin(), run.q[250].cos()), -1)
    np.testing.assert_allclose(found, bob, atol=0.01)
    assert widget.get_by_role("button", name="Back to the first start").count() == 0
    lead = widget.locator("[data-reading=lead]").inner_text()
    assert "Not kept: Heun" in lead


def test_what_python_computed_stands_greyed_where_it_does_not_belong(shown: Shown):
    springs, q, p = mechanics.CoupledOscillators(), tensor([1.0, 0.5]), tensor([0.0, 0.5])
    run = mechanics.integrate(springs, q, p, dt=0.3, steps=500)
    given = {"q": [1.0, 0.5], "p": [0.0, 0.5], "dt": 0.3, "steps": 500}
    rollouts = dict.fromkeys(["one", "two", "three"], run)
    widget = shown(
        springs, **given, methods=["stoermer_verlet"], rollouts=rollouts, question="Who stays?"
    )
    before = motion(widget)["bodies"]["rollout one"]
    verdict = widget.locator("[data-reading=lead]")
    assert "one" in verdict.inner_text()
    height = widget.locator(".cw-drift-rows").bounding_box()["y"]
    widget.locator("summary", has_text="More").click()
    widget.get_by_role("button", name="start at").press("Shift+ArrowRight")
    agrees_with_course_lib(widget)
    assert errors(widget)[1:4] == ["first start"] * 3
    np.testing.assert_allclose(motion(widget)["bodies"]["rollout one"], before, atol=1e-3)
    assert [part in verdict.inner_text() for part in ("one", "two", "three")] == [False] * 3
    assert "Kept: Störmer–Verlet (off by" in verdict.inner_text()
    assert widget.locator(".cw-drift-rows").bounding_box()["y"] == height
    colours = widget.evaluate(
        """(el) => [...el.querySelectorAll(".cw-body circle")].map((c) => c.getAttribute("fill"))"""
    )
    assert colours.count("var(--cw-muted)") == 6
    widget.get_by_role("button", name="Back to the first start").click()
    agrees_with_course_lib(widget)
    assert "first start" not in errors(widget)
    assert state_of(widget)["q"].tolist() == pytest.approx([1.0, 0.5])


def test_in_another_system_the_runs_of_python_are_named_and_the_way_back_too(shown: Shown):
    q, p = tensor([1.2]), tensor([0.0])
    run = mechanics.integrate(mechanics.Pendulum(), q, p, dt=0.1, steps=500)
    widget = shown(q=[1.2], p=[0.0], dt=0.1, steps=500, rollouts={"mine": run})
    widget.get_by_role("combobox", name="System").select_option("HarmonicOscillator")
    agrees_with_course_lib(widget)
    assert "mine" in widget.locator(".cw-drift-answer > .cw-drift-back").inner_text()
    assert len(errors(widget)) == 2
    widget.get_by_role("button", name="Back to the first start").click()
    agrees_with_course_lib(widget)
    assert state_of(widget)["system"] == "Pendulum"
    assert len(errors(widget)) == 3


def test_a_bar_beside_a_row_is_as_long_as_its_energy_now(shown: Shown):
    springs, q, p = mechanics.CoupledOscillators(), tensor([1.0, 0.5]), tensor([0.0, 0.5])
    given = {"dt": 0.3, "steps": 500}
    euler = mechanics.integrate(springs, q, p, **given, method=mechanics.explicit_euler)
    start = {"q": [1.0, 0.5], "p": [0.0, 0.5]}
    rollouts = dict.fromkeys(["one", "two", "three"], euler)
    widget = shown(springs, **start, **given, methods=["runge_kutta_4"], rollouts=rollouts)
    exact = mechanics.integrate(springs, q, p, **given, method=mechanics.runge_kutta_4)
    look_at_time(widget, 0.008)
    bars = [bar.get_attribute("aria-label") for bar in widget.locator(".cw-drift-energy").all()]
    levels = [int(re.search(r"(\d+) %", bar)[1]) for bar in bars]
    shares = [100 * float(run.energy[4] / run.energy[0]) for run in (exact, euler)]
    assert levels == pytest.approx([shares[0], *[shares[1]] * 3], abs=1)
    # From the least energy so far to the largest, where a bar of 100 is twice that at the start.
    look_at_time(widget, 0.02)
    ranges = [
        [float(line.get_attribute(name)) for name in ("x", "width")]
        for line in widget.locator(".cw-drift-energy .cw-drift-range").all()
    ]
    for (x, width), run in zip(ranges, (exact, euler, euler, euler), strict=True):
        so_far = 50 * (run.energy[:11] / run.energy[0]).clamp(0, 2)
        assert x == pytest.approx(float(so_far.min()), abs=0.5)
        assert x + width == pytest.approx(float(so_far.max()), abs=0.5)


def test_a_planet_that_leaves_is_pointed_at_and_when_it_left_is_said(shown: Shown):
    planet, scene = mechanics.Kepler(), SCENES["Kepler"]
    widget = shown(planet, methods=["explicit_euler", "stoermer_verlet"], steps=2000)
    run = mechanics.integrate(
        planet, tensor(scene.q), tensor(scene.p), dt=0.02, steps=2000,
        method=mechanics.explicit_euler,
    )  # fmt: skip
    off = (run.q.abs() > tensor(scene.reach[:2])).any(-1)
    left = 0.02 * int(off.long().argmax())
    # It comes back into the picture later.
    far_off = int((run.q.abs() / tensor(scene.reach[:2])).amax(-1).argmax())
    look_at_time(widget, far_off / 2000)
    assert set(motion(widget)["bodies"]) == {"stoermer_verlet"}
    assert widget.locator(".cw-gone-when").all_text_contents() == [f"left at t = {left:.2f}"]
    arrow = widget.locator(".cw-drift-motion .cw-gone").bounding_box()
    stage = widget.locator(".cw-drift-motion").bounding_box()
    far = run.q[far_off] / tensor(scene.reach[:2])
    middle = arrow["x"] + arrow["width"] / 2 - stage["x"]
    share = min(1.0, max(-1.0, float(far[0])))
    assert middle / stage["width"] == pytest.approx((1 + share) / 2, abs=0.1)
    look_at_time(widget, 0.5 * left / 40)
    expect(widget.locator(".cw-gone")).to_have_count(0)


def test_of_networks_the_best_one_wins_beside_the_integrators(shown: Shown):
    q, p = tensor([1.2]), tensor([0.0])
    given = {"dt": 0.2, "steps": 2000}
    methods = {"good": "symplectic_euler", "bad": "explicit_euler"}
    runs = {
        name: mechanics.integrate(
            mechanics.Pendulum(), q, p, **given, method=getattr(mechanics, method)
        )
        for name, method in methods.items()
    }
    widget = shown(q=[1.2], p=[0.0], **given, methods=["stoermer_verlet"], rollouts=runs)
    first, second = widget.locator("[data-reading=lead] p").all_inner_texts()
    assert first.strip().startswith("Kept: good (off by")
    assert first.strip().endswith("; Störmer–Verlet.")
    assert second.strip().startswith("Not kept: bad (")


def test_by_keyboard_the_focus_stays_and_where_nothing_runs_no_time_passes(shown: Shown):
    springs, q, p = mechanics.CoupledOscillators(), tensor([1.0, 0.5]), tensor([0.0, 0.5])
    run = mechanics.integrate(springs, q, p, dt=0.3, steps=500)
    given = {"q": [1.0, 0.5], "p": [0.0, 0.5], "dt": 0.3, "steps": 500}
    rollouts = dict.fromkeys(["one", "two", "three"], run)
    given |= {"methods": ["stoermer_verlet"], "rollouts": rollouts, "moving": True}
    widget = shown(springs, **given, page=CLOCK)
    focused = "(el) => el.contains(document.activeElement) && document.activeElement.tagName"
    widget.get_by_role("checkbox", name="Störmer–Verlet").press("Space")
    turn(widget, 0.1)
    assert widget.evaluate(focused) == "SUMMARY"
    widget.page.keyboard.press("Enter")
    systems = widget.get_by_role("combobox", name="System")
    systems.focus()
    systems.press("k")
    turn(widget, 1)
    assert state_of(widget)["system"] == "Kepler"
    assert widget.evaluate(focused) == "SELECT"
    assert "Switch an integrator on." in widget.inner_text()
    assert play(widget).is_disabled()
    assert motion(widget)["time"] == 0
