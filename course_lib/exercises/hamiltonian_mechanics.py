"""The checker of lecture 11: a symplectic step."""

from collections.abc import Callable
from functools import wraps

import torch
from hypothesis import strategies as st
from torch import Tensor

from course_lib.exercises._checker import Attempt, Exercise, Result, close
from course_lib.exercises._inputs import NUMBERS, tensors
from course_lib.mechanics import CoupledOscillators, HamiltonianSystem, HarmonicOscillator, Pendulum


class _Stepping(Exercise):
    """A checker whose attempts answer with a pair, q and p, here one above the other."""

    def __call__(self, attempt: object) -> Result:
        if self._misuse(attempt):
            return super().__call__(attempt)

        # A wrong pair fails in the first line, which is then shown as the line that failed.
        @wraps(attempt)
        def paired(system: object, q: Tensor, p: Tensor, dt: float) -> Tensor:
            q, p = attempt(system, q, p, dt)
            return torch.stack([torch.as_tensor(q), torch.as_tensor(p)])

        paired.__name__ = getattr(attempt, "__name__", type(attempt).__name__)
        return super().__call__(paired)


STEPS = (0.5, 1.0, 0.25)
TINY = 0.001
LEEWAY = 50 * TINY  # a step of order one misses by a few times dt, float32 by less
SHORT = 1 / 512


@st.composite
def _moving(
    draw: Callable,
    *systems: HamiltonianSystem,
    states: int = 0,
    steps: tuple = STEPS,
    numbers: tuple = NUMBERS,
) -> tuple[HamiltonianSystem, Tensor, Tensor, float]:
    """Draw a system, a state or several of them, and a step."""
    system = draw(st.sampled_from(systems))
    shape = (states, system.dim) if states else (system.dim,)
    q, p = (draw(tensors(*shape, numbers=numbers)) for _ in "qp")
    return system, q, p, draw(st.sampled_from(steps))


@st.composite
def _corners(
    draw: Callable, *systems: HamiltonianSystem, side: float = 1.0
) -> tuple[HamiltonianSystem, Tensor, Tensor, float]:
    """Draw a state and the ends of two arrows from it, as a batch of three states."""
    system, q, p, dt = draw(_moving(*systems, states=3))
    q[1:], p[1:] = q[0] + side * q[1:], p[0] + side * p[1:]
    return system, q, p, dt


symplectic_stepper = _Stepping(
    "symplectic_stepper",
    "symplectic_stepper(system, q, p, dt): one step of length dt, as the pair q, p, symplectic for "
    "every system of the form H = T(p) + V(q). Shapes: (*batch, dim), as they came. The system "
    "offers grad_q(q, p) and grad_p(q, p).",
    inputs=_moving(HarmonicOscillator(), Pendulum(), CoupledOscillators()),
    shape=lambda system, q, p, dt: (2, *q.shape),  # noqa: ARG005 - shown by name
)


@symplectic_stepper.property(
    "a tiny step goes where the field points",
    hint="Compare the change of q with dt times grad_p, and the change of p with dt times grad_q. "
    "Are the signs those of Hamilton's equations?",
    # Nothing is at rest, so that a missing drift or kick does not hide behind a zero.
    inputs=_moving(
        HarmonicOscillator(),
        Pendulum(),
        CoupledOscillators(),
        steps=(TINY,),
        numbers=(1.0, -1.0, 2.0),
    ),
)
def _(attempt: Attempt, system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> bool | str:
    q_dot, p_dot = system.field(q, p)
    went = (attempt(system, q, p, dt) - torch.stack([q, p])) / dt

    def along(q_dot: Tensor, p_dot: Tensor) -> bool:
        return bool(((went - torch.stack([q_dot, p_dot])).abs() <= LEEWAY).all())

    if along(q_dot, p_dot):
        return True
    for hint, wrong in {
        "You stay where you are. Do the new q and p leave your function?": (0 * q_dot, 0 * p_dot),
        "You follow the motion backwards. Look at both signs.": (-q_dot, -p_dot),
        "The force pushes the wrong way: which of Hamilton's two equations has a minus?": (
            q_dot,
            -p_dot,
        ),
        "You arrive twice as far as you should. How often do you drift and kick, and for how "
        "long each time?": (2 * q_dot, 2 * p_dot),
        "You arrive half as far as you should. Do your parts of a step add up to dt?": (
            q_dot / 2,
            p_dot / 2,
        ),
    }.items():
        if along(*wrong):
            return hint
    return False


@symplectic_stepper.property(
    "each state of a batch moves as it would alone",
    hint="Only the last axis belongs to one state. Where do states of a batch meet in your step?",
    inputs=_moving(Pendulum(), CoupledOscillators(), states=2),
)
def _(attempt: Attempt, system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> bool:
    together = attempt(system, q, p, dt)
    alone = [attempt(system, one_q, one_p, dt) for one_q, one_p in zip(q, p, strict=True)]
    return close(together, torch.stack(alone, dim=1))


@symplectic_stepper.property(
    "a parallelogram of states of the oscillator keeps its oriented area",
    hint="",
    inputs=_corners(HarmonicOscillator()),
)
def _(attempt: Attempt, system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> bool | str:
    return _keeps_area(attempt(system, q, p, dt), torch.stack([q, p]), slack=1e-4)


@symplectic_stepper.property(
    "a small parallelogram of states of the pendulum keeps its oriented area",
    hint="",
    inputs=_corners(Pendulum(), side=SHORT),
)
def _(attempt: Attempt, system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> bool | str:
    return _keeps_area(attempt(system, q, p, dt), torch.stack([q, p]), slack=0.01)


@symplectic_stepper.property(
    "with two pairs, the oriented areas in both planes keep their sum",
    hint="",
    inputs=_corners(CoupledOscillators(), side=SHORT),
)
def _(attempt: Attempt, system: HamiltonianSystem, q: Tensor, p: Tensor, dt: float) -> bool | str:
    return _keeps_area(attempt(system, q, p, dt), torch.stack([q, p]), slack=0.01)


def _keeps_area(after: Tensor, before: Tensor, *, slack: float) -> bool | str:
    """Whether the two arrows between three states span the area that they spanned before."""

    def area(states: Tensor) -> float:
        (u_q, v_q), (u_p, v_p) = (part[1:] - part[0] for part in states.double())
        return float((u_q * v_p - u_p * v_q).sum())

    def length(states: Tensor) -> float:
        return float((states[:, 1:] - states[:, :1]).double().square().sum())

    old, new = area(before), area(after)
    if abs(new - old) <= slack * (length(before) + length(after)):
        return True
    return (
        f"The three states are a corner and its two neighbours. The area was {old:.4g} and "
        f"becomes {new:.4g}. Which line of your step changes q by something that depends on q, "
        "or p by something that depends on p? Mind the old values, too."
    )
