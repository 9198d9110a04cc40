"""MechanicsStage: compare its display with course_lib."""

import functools
import itertools
import json
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator
from reading import agrees, decoded, state_of
from scipy.spatial.transform import Rotation
from torch import Tensor, nn

from course_lib import mechanics

from .energy_drift import STAGE, balls_of, trajectory
from .energy_drift import state_at as pairs_at
from .scraped import scraper

BOTTOM, TOP = 286, 56
ARROW = 105
EYE = Rotation.from_euler("yx", [-0.5, 0.35]).as_matrix()
READ = scraper("""return {
  time: dataOf("time"),
  acts: Object.fromEntries(all(".cw-act", (act) => {
    const surface = act.querySelector(".cw-surface");
    const [energy, first] = act.querySelectorAll(".cw-act-told b");
    return [act.dataset.run, {
      name: act.querySelector(".cw-act-name").textContent.trim(),
      balls: [...act.querySelectorAll(".cw-body > circle")].map((e) => numbersOf(e, "cx", "cy")),
      gone: act.querySelectorAll(".cw-gone").length,
      water: surface && numberOf(surface, "cy"),
      mark: Number(/^M[^ ]+ ([^H]+)H/.exec(act.querySelector(".cw-mark").getAttribute("d"))[1]),
      energy: energy.textContent,
      first: first.textContent,
      fate: act.querySelector(".cw-act-told strong").textContent,
    }];
  })),
};""")


@functools.cache
def tumbled(
    inertia: tuple[float, ...], z: tuple[float, ...], dt: float, steps: int, method: str
) -> tuple[Tensor, list[Rotation]]:
    """States and orientations of a rigid body: a rotation per step, at the mean of two rates."""
    body = mechanics.RigidBody(inertia=inertia)
    start, stepper = torch.tensor(z, dtype=torch.float64), getattr(mechanics, method)
    states = mechanics.integrate(body, start, dt=dt, steps=steps, method=stepper).q
    rates = (states[1:] + states[:-1]) / 2 / torch.tensor(inertia, dtype=torch.float64)
    stands = [Rotation.identity()]
    for rate in rates.numpy():
        stands.append(stands[-1] * Rotation.from_rotvec(dt * rate))
    return states, stands


def tip_at(states: Tensor, stands: list[Rotation], inertia: Any, dt: float, moment: float) -> Any:
    """A state of the body, and the visible tip of its angular momentum."""
    before, part = int(moment), moment % 1
    state, stand = pairs_at(states, moment), stands[before]
    if part > 0:
        rate = (
            (states[before] + states[before + 1]) / 2 / torch.tensor(inertia, dtype=torch.float64)
        )
        stand = stand * Rotation.from_rotvec(part * dt * rate.numpy())
    across, up, _ = ARROW * EYE @ stand.apply(state.numpy())
    return state, torch.tensor([[STAGE / 2 + across, STAGE / 2 - up]])


def glass_of(name: str, parameters: dict[str, Any], first: float) -> tuple[float, float]:
    """The energies of an empty glass and of a full one."""
    if name == "Kepler":
        return first - (abs(first) or 1), 0.0 if first < 0 else first + (first or 1)
    top = 2 * parameters.get("mass", 0) * parameters.get("gravity", 0) * parameters.get("length", 0)
    return 0.0, top if name == "Pendulum" and first < 0.9 * top else 2 * (first or 1)


def perceptron(*sizes: int) -> nn.Sequential:
    """Linear layers with tanh between them."""
    layers = [(nn.Linear(*pair), nn.Tanh()) for pair in itertools.pairwise(sizes)]
    return nn.Sequential(*itertools.chain(*layers))[:-1]


def energy_at(energy: Callable[[Tensor], Tensor], states: Tensor, moment: float) -> float:
    """The energy at a moment, interpolated linearly between two steps."""
    before, part = int(moment), moment % 1
    return float(torch.lerp(energy(states[before]), energy(states[before + (part > 0)]), part))


def displayed(widget: Locator) -> None:
    state, found = state_of(widget), widget.evaluate(READ)
    spec = next(spec for spec in state["systems"] if spec["name"] == state["system"])
    name, parameters, z, dt = spec["name"], spec["parameters"], state["z"], state["dt"]
    lists = {key: tuple(value) for key, value in parameters.items() if isinstance(value, list)}
    system = getattr(mechanics, name)(**parameters | lists)
    energy = system.energy if name == "RigidBody" else lambda x: system.energy(*x.tensor_split(2))
    steps = math.floor(spec["span"] / dt + 0.5)
    assert 0 <= found["time"] <= steps * dt + 1e-9
    first, widens = float(energy(z)), name == "Kepler"
    floor, rim = glass_of(name, parameters, first)

    def run_of(method: str, nudge: float) -> Any:
        start = tuple((z * (1 + nudge)).tolist())
        if name == "RigidBody":
            return tumbled(tuple(parameters["inertia"]), start, dt, steps, method)
        q, p = start[: system.dim], start[system.dim :]
        given = {"system": name, "parameters": json.dumps(parameters), "q": q, "p": p}
        return trajectory(**given, dt=dt, steps=steps, method=method)[:1]

    def shown_at(run: Any, moment: float) -> tuple[Tensor | None, Tensor | None]:
        if name == "RigidBody":
            return tip_at(*run, parameters["inertia"], dt, moment)
        at = pairs_at(run[0], moment)
        return at, None if at is None else balls_of(spec, at, STAGE / 2)

    titles = dict(state["method_names"])
    for method in state["methods"]:
        assert method in found["acts"]
        act = found["acts"].pop(method)
        assert act["name"] == titles[method]
        moment = min(steps, found["time"] / dt)
        (at, balls), (other, others) = (shown_at(run_of(method, by), moment) for by in (0, 1e-13))
        assert agrees(act["first"], first)
        assert act["mark"] == pytest.approx(water_of(first, floor, rim), abs=1e-4)
        if at is None:
            stops = act["fate"].startswith("Stops at step")  # it stays there
            assert stops or act["fate"].startswith("Lost at step")
            assert bool(act["balls"]) == stops
        if at is None or other is None:
            continue
        # In a chaotic orbit rounding decides; a slightly moved start shows the significant digits.
        doubt = 1e-6 + 1000 * float((balls - others).abs().max())
        if doubt < 1e-3:
            states = run_of(method, 0)[0]
            assert_act(
                act, at, balls, energy_at(energy, states, moment), (floor, rim), widens=widens
            )
    others = {
        f"rollout {run['name']}": (run["name"], decoded(run["states"]), run["dt"])
        for run in state["rollouts"]
    }
    for key, act in found["acts"].items():
        if not key.startswith("rollout"):
            continue  # networks, and the reference
        title, states, own_dt = others[key]
        moment = min(found["time"] / own_dt, len(states) - 1)
        assert act["name"] == title
        at, height = pairs_at(states, moment), energy_at(energy, states, moment)
        assert_act(act, at, balls_of(spec, at, STAGE / 2), height, (floor, rim), widens=widens)


def water_of(energy: float, floor: float, rim: float) -> float:
    share = min(1.0, max(0.0, (energy - floor) / (rim - floor)))
    return BOTTOM - share * (BOTTOM - TOP)


def assert_act(
    act: dict[str, Any],
    at: Tensor,
    balls: Tensor,
    energy: float,
    glass: tuple[float, float],
    *,
    widens: bool,
) -> None:
    floor, rim = glass
    level = (energy - floor) / (rim - floor)
    if abs(energy) < 1e8:  # larger ones have another format
        assert agrees(act["energy"], energy)
    if level > 0.006:
        assert act["water"] == pytest.approx(water_of(energy, floor, rim), abs=1e-3)
    elif level < 0.004:
        assert act["water"] is None
    # The arrow of a rigid body may reach beyond the stage, and the view widens for a planet.
    outside = ((balls < 0) | (balls > STAGE)).any(-1) & (len(at) % 2 == 0) & (not widens)
    assert act["gone"] == int(outside.sum())
    if outside.any():
        assert act["balls"] == []
    else:
        torch.testing.assert_close(
            torch.tensor(act["balls"], dtype=torch.float64), balls, rtol=0, atol=1e-3
        )
