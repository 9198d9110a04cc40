import functools
import itertools
import json
import math
from collections.abc import Callable

import torch
from in_the_page import tensor
from reading import agrees, decoded
from scipy.spatial.transform import Rotation
from torch import Tensor, nn

from course_lib import mechanics

from .energy_drift import trajectory
from .scraped import Found, near, scraper

STAGE, ROD = 320, 120
READ = scraper("""return {
  time: dataOf("time"),
  acts: Object.fromEntries(all(".cw-act", (act) => {
    const surface = act.querySelector(".cw-surface");
    const [energy, first] = act.querySelectorAll(".cw-act-told b");
    return [act.dataset.run, {
      name: act.querySelector(".cw-act-name").textContent.trim(),
      balls: [...act.querySelectorAll(".cw-body > circle")].map((e) => numbersOf(e, "cx", "cy")),
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
    start, stepper = tensor(z), getattr(mechanics, method)
    states = mechanics.integrate(body, start, dt=dt, steps=steps, method=stepper).q
    rates = (states[1:] + states[:-1]) / 2 / tensor(inertia)
    stands = [Rotation.identity()]
    for rate in rates.numpy():
        stands.append(stands[-1] * Rotation.from_rotvec(dt * rate))
    return states, stands


def state_at(states: Tensor, moment: float) -> Tensor | None:
    """The state after ``moment`` steps, interpolated linearly; None after an overflow."""
    before, part = int(moment), moment % 1
    if before + (part > 0) >= len(states):
        return None
    return torch.lerp(states[before], states[before + (part > 0)], part)


def balls_of(spec: Found, state: Tensor) -> Tensor:
    q, middle = state[: len(state) // 2], STAGE / 2
    share = q / tensor(spec["reach"])[: len(q)]
    if spec["name"] == "Pendulum":
        return middle + ROD * torch.stack((q.sin(), q.cos()), -1)
    if spec["name"] == "HarmonicOscillator":
        return torch.stack((middle + 120 * share, middle + 0 * q), -1)
    if spec["name"] == "CoupledOscillators":
        return torch.stack((STAGE * tensor([0.3, 0.7]) + 64 * share, middle + 0 * q), -1)
    return middle + middle * torch.stack((share[0], -share[1]))[None]


def perceptron(*sizes: int) -> nn.Sequential:
    layers = [(nn.Linear(*pair), nn.Tanh()) for pair in itertools.pairwise(sizes)]
    return nn.Sequential(*itertools.chain(*layers))[:-1]


def energy_at(energy: Callable[[Tensor], Tensor], states: Tensor, moment: float) -> float:
    """The energy at a moment, interpolated linearly between two steps."""
    before, part = int(moment), moment % 1
    return float(torch.lerp(energy(states[before]), energy(states[before + (part > 0)]), part))


def displayed(state: Found, found: Found) -> None:
    spec = next(spec for spec in state["systems"] if spec["name"] == state["system"])
    name, parameters, z, dt = spec["name"], spec["parameters"], state["z"], state["dt"]
    rigid = name == "RigidBody"
    lists = {key: tuple(value) for key, value in parameters.items() if isinstance(value, list)}
    system = getattr(mechanics, name)(**parameters | lists)
    energy = system.energy if rigid else lambda x: system.energy(*x.tensor_split(2))
    steps = math.floor(spec["span"] / dt + 0.5)
    assert 0 <= found["time"] <= steps * dt + 1e-9
    first = float(energy(z))

    def run_of(method: str, nudge: float) -> Tensor:
        start = tuple((z * (1 + nudge)).tolist())
        if rigid:
            return tumbled(tuple(parameters["inertia"]), start, dt, steps, method)[0]
        given = {"system": name, "parameters": json.dumps(parameters)}
        given |= {"q": start[: system.dim], "p": start[system.dim :]}
        return trajectory(**given, dt=dt, steps=steps, method=method)[0]

    titles = dict(state["method_names"])
    for method in state["methods"]:
        act = found["acts"][method]
        assert act["name"] == titles[method]
        moment = min(steps, found["time"] / dt)
        # In a chaotic orbit rounding decides; a slightly moved start shows the significant digits.
        states, moved = (run_of(method, nudge) for nudge in (0, 1e-13))
        at, other = (state_at(each, moment) for each in (states, moved))
        assert agrees(act["first"], first)
        if at is None:
            stops = act["fate"].startswith("Stops at step")  # it stays there
            assert stops or act["fate"].startswith("Lost at step")
            assert bool(act["balls"]) == stops
        elif other is not None and 1000 * float((at - other).abs().max()) < 1e-5:
            assert_act(act, spec, at, energy_at(energy, states, moment), first)
    for run in state["rollouts"]:
        act, states = found["acts"].get(f"rollout {run['name']}"), decoded(run["states"])
        if act:  # it has the step of the stage
            moment = min(found["time"] / run["dt"], len(states) - 1)
            at, height = state_at(states, moment), energy_at(energy, states, moment)
            assert_act(act, spec, at, height, first)


def assert_act(act: Found, spec: Found, at: Tensor, energy: float, first: float) -> None:
    if abs(energy) < 1e8:  # larger ones have another format
        assert agrees(act["energy"], energy)
    if act["water"] is not None and abs(energy - first) > 1e-3 * abs(first):
        assert (act["water"] < act["mark"]) == (energy > first)
    if spec["name"] != "RigidBody":
        balls = balls_of(spec, at)
        # The view widens for a planet.
        outside = ((balls < 0) | (balls > STAGE)).any() and spec["name"] != "Kepler"
        near(act["balls"], [] if outside else balls.tolist(), atol=1e-3)
