"""MechanicsStage: a small one, what it displays, and what course_lib says it should."""

import torch
from course_lib import mechanics
from course_lib.widgets import MechanicsStage


def make(name: str = "Ada") -> MechanicsStage:
    start = torch.tensor([1.2], dtype=torch.float64)
    run = mechanics.integrate(mechanics.Pendulum(), start, 0 * start, dt=0.05, steps=200)
    return MechanicsStage(rollouts={name: run}, moving=False)


def displayed(widget) -> None:
    pass
