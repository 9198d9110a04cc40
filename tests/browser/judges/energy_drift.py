"""EnergyDrift: compare its display with course_lib."""

import functools
import json
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator
from reading import state_of
from torch import Tensor

from course_lib import mechanics

from .scraped import number_in, scraper

STAGE = 320
ROD = 120
READ_MOTION = scraper("""
  const cursor = one(".cw-cursor");
  const circles = (part) => (part.matches("circle") ? [part] : [...part.children])
    .filter((e) => e.matches("circle")).map((e) => numbersOf(e, "cx", "cy"));
  const byRun = (selector) =>
    Object.fromEntries(all(selector, (part) => [part.dataset.run, circles(part)]));
  return {
    time: dataOf("time"),
    cursor: (Number(/^M([^ ]+) /.exec(cursor.getAttribute("d"))[1]) - 66)
      / (cursor.ownerSVGElement.viewBox.baseVal.width - 76),
    bodies: byRun(".cw-body"),
    height: one(".cw-body")?.ownerSVGElement.viewBox.baseVal.height,
    moments: byRun(".cw-moment"),
  };
""")


# Cached, since most operations change few runs.
@functools.cache
def trajectory(
    *,
    system: str,
    parameters: str,
    q: tuple[float, ...],
    p: tuple[float, ...],
    dt: float,
    steps: int,
    method: str,
) -> tuple[Tensor, Tensor]:
    """States and relative energy errors of a run; the system's ``parameters`` are JSON."""
    try:
        run = mechanics.integrate(
            getattr(mechanics, system)(**json.loads(parameters)),
            torch.tensor(q, dtype=torch.float64),
            torch.tensor(p, dtype=torch.float64),
            dt=dt,
            steps=steps,
            method=getattr(mechanics, method),
        )
    except mechanics.IntegrationError as error:
        run = error.trajectory
    kept = int(run.energy.isfinite().long().cumprod(0).sum())
    energy = run.energy[:kept]
    error = (energy - energy[0]).abs() / (energy[0].abs() or 1)
    return torch.cat((run.q, run.p), -1)[:kept], error


def state_at(states: Tensor, moment: float) -> Tensor | None:
    """The state after ``moment`` steps, interpolated linearly; None after an overflow."""
    before, part = int(moment), moment % 1
    if before + (part > 0) >= len(states):
        return None
    return torch.lerp(states[before], states[before + (part > 0)], part)


def balls_of(spec: dict[str, Any], state: Tensor, lane: float) -> Tensor:
    """The positions of the balls of a system on the stage."""
    reach, middle = torch.tensor(spec["reach"], dtype=state.dtype), STAGE / 2
    q = state[: len(state) // 2]
    share = q / reach[: len(q)]
    if spec["name"] == "Pendulum":
        return middle + ROD * torch.stack((q.sin(), q.cos()), -1)
    if spec["name"] == "HarmonicOscillator":
        return torch.stack((middle + 120 * share, torch.full_like(q, lane)), -1)
    if spec["name"] == "CoupledOscillators":
        rest = STAGE * torch.tensor([0.3, 0.7], dtype=q.dtype)
        return torch.stack((rest + 64 * share, torch.full_like(q, lane)), -1)
    return middle + middle * torch.stack((share[0], -share[1]))[None]


def point_of(spec: dict[str, Any], plane: dict[str, Any], state: Tensor) -> Tensor:
    """The position of a state in the phase portrait; an angle between −π and π."""
    turned = state.clone()
    if spec["period"]:
        turned[: len(state) // 2] -= (
            spec["period"] * (state[: len(state) // 2] / spec["period"]).round()
        )
    share = (turned / torch.tensor(spec["reach"], dtype=state.dtype))[[plane["x"], plane["y"]]]
    return (STAGE / 2 * (1 + share * torch.tensor([1, -1])))[None]


def assert_place(found: list[list[float]] | None, exact: Tensor, other: Tensor) -> None:
    """Assert the positions of balls, or that balls outside the picture are absent."""
    # In a chaotic orbit rounding decides; a slightly moved start shows the significant digits.
    doubt = 1e-6 + 1000 * float((exact - other).abs().max())
    if not doubt < STAGE:
        return
    outside = float((exact - STAGE / 2).abs().max()) - STAGE / 2
    if found is None:
        assert outside > -doubt
    else:
        assert outside < doubt
        torch.testing.assert_close(
            torch.tensor(found, dtype=exact.dtype), exact, rtol=0, atol=doubt
        )


def parts_of(text: str) -> float:
    """The error in per cent that ``text`` contains: 62 %, 7,600 %, 2.5·10⁻⁴ %, > 10⁶ %."""
    if text == "> 10⁶ %":
        return 1e4
    assert text.endswith(" %")
    return number_in(text) / 100


def assert_parts(text: str, expected: float, *, doubt: float) -> None:
    """Assert that ``text`` has an error to two digits, or within ``doubt`` of it."""
    if text.startswith(">"):
        assert expected > 1e4
        return
    assert parts_of(text) == pytest.approx(expected, rel=0.051, abs=doubt)


def displayed(widget: Locator) -> None:
    state = state_of(widget)
    spec = next(spec for spec in state["systems"] if spec["name"] == state["system"])
    run = {name: state[name] for name in ("system", "dt", "steps")}
    run["parameters"] = json.dumps(spec["parameters"])

    def run_of(method: str, *, nudge: float) -> tuple[Tensor, Tensor]:
        """A run that starts ``nudge`` away from the chosen start."""
        start = {name: tuple((state[name] * (1 + nudge)).tolist()) for name in ("q", "p")}
        return trajectory(**run, **start, method=method)

    motion = widget.evaluate(READ_MOTION)
    end = state["dt"] * state["steps"]
    assert 0 <= motion["time"] <= end
    assert motion["cursor"] == pytest.approx(motion["time"] / end, abs=1e-6)
    moment = min(state["steps"], motion["time"] / state["dt"])
    plane = spec["planes"][min(state["plane"], len(spec["planes"]) - 1)]
    received = widget.locator(".cw-drift-list tbody tr:not(:has(input))").count()
    for i, method in enumerate(state["methods"]):
        exact, other = (state_at(run_of(method, nudge=by)[0], moment) for by in (0.0, 1e-13))
        body, point = (motion[part].get(method) for part in ("bodies", "moments"))
        if exact is None and other is None:
            assert body is None
            assert point is None
        if exact is None or other is None:
            continue
        lane = (motion["height"] or STAGE) * (i + 0.5) / (len(state["methods"]) + received)
        assert_place(body, *(balls_of(spec, where, lane) for where in (exact, other)))
        assert_place(point, *(point_of(spec, plane, where) for where in (exact, other)))

    names = dict(state["method_names"])
    methods = [method for method in names if method in state["methods"]]
    rows = widget.locator(".cw-drift-list tbody tr:not(.cw-drift-off)")
    shown_rows = [[cell.strip() for cell in row.split("\t")] for row in rows.all_inner_texts()]
    so_far = widget.locator(".cw-drift-list th", has_text="so far").count() > 0
    assert [row[0] for row in shown_rows][: len(methods)] == [names[method] for method in methods]
    for method, (_, largest) in zip(methods, shown_rows, strict=False):
        errors = run_of(method, nudge=0.0)[1]
        if so_far:
            errors = errors[: int(moment + 1e-6) + 1]
            if not largest.startswith(">"):
                assert parts_of(largest) >= 0.949 * float(errors.max())
            continue
        # In a chaotic orbit rounding decides; a slightly moved start shows the significant digits.
        others = run_of(method, nudge=1e-13)[1]
        if len(errors) < state["steps"] + 1 or largest.startswith("lost"):
            assert largest.startswith("lost at")
            lost = int(largest.removeprefix("lost at "))
            # Rounding slightly changes the rate of unbounded growth.
            slack = 2 + 0.01 * lost + 10 * abs(len(errors) - len(others))
            assert abs(lost - min(len(errors), len(others))) <= slack
            continue
        if len(others) < len(errors):
            continue
        rounding = 1e-12
        doubt = rounding + 100 * abs(float(errors.max() - others.max()))
        assert_parts(largest, float(errors.max()), doubt=doubt)
