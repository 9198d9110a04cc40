"""EnergyDrift: a small one, what it displays, and what course_lib says it should."""

import functools
import json

import torch
from playwright.sync_api import Locator
from reading import assert_scientific, state_of
from torch import Tensor

from course_lib import mechanics
from course_lib.widgets import EnergyDrift


# Most operations of a hand leave most runs as they were.
@functools.cache
def energy_errors(
    *,
    system: str,
    parameters: str,
    q: tuple[float, ...],
    p: tuple[float, ...],
    dt: float,
    steps: int,
    method: str,
) -> Tensor:
    """Relative energy errors of a run; the system's ``parameters`` are JSON."""
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
    energy = run.energy[run.energy.isfinite()]
    return (energy - energy[0]).abs() / (energy[0].abs() or 1)


def make(name: str = "Ada") -> EnergyDrift:
    pendulum = mechanics.Pendulum()
    q, p = torch.tensor([1.2], dtype=torch.float64), torch.tensor([0.0], dtype=torch.float64)
    run = mechanics.integrate(pendulum, q, p, dt=0.1, steps=500)
    return EnergyDrift(pendulum, q=q, p=p, dt=0.1, steps=500, rollouts={name: run})


def displayed(widget: Locator) -> None:
    state = state_of(widget)
    spec = next(spec for spec in state["systems"] if spec["name"] == state["system"])
    run = {name: state[name] for name in ("system", "dt", "steps")}
    run["parameters"] = json.dumps(spec["parameters"])

    def errors_of(method: str, *, nudge: float) -> Tensor:
        """The errors of a run that begins ``nudge`` away from where the reader put it."""
        start = {name: tuple((state[name] * (1 + nudge)).tolist()) for name in ("q", "p")}
        return energy_errors(**run, **start, method=method)

    names = dict(state["method_names"])
    rows = widget.locator(".cw-weights tbody tr")
    shown_rows = [[cell.strip() for cell in row.split("\t")] for row in rows.all_inner_texts()]
    assert [row[0] for row in shown_rows][: len(state["methods"])] == [
        names[method] for method in state["methods"]
    ]
    for method, (_, largest, last) in zip(state["methods"], shown_rows, strict=False):
        errors = errors_of(method, nudge=0.0)
        # In a chaotic orbit rounding decides; a start moved by as much says which digits are real.
        others = errors_of(method, nudge=1e-13)
        if len(errors) < state["steps"] + 1 or last.startswith("lost"):
            assert last.startswith("lost at step")
            lost = int(last.removeprefix("lost at step "))
            # What grows without bound does so at a rate that rounding sways a little.
            slack = 2 + 0.01 * lost + 10 * abs(len(errors) - len(others))
            assert abs(lost - min(len(errors), len(others))) <= slack
            continue
        if len(others) < len(errors):
            continue
        rounding = 1e-12
        for text, exact, other in (
            (largest, errors.max(), others.max()),
            (last, errors[-1], others[-1]),
        ):
            doubt = rounding + 100 * abs(float(exact - other))
            assert_scientific(text, float(exact), doubt=doubt)
