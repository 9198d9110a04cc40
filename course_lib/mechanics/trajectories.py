r"""Hamiltonian mechanics: trajectories by any integrator, and a test of symplecticity.

A Hamiltonian system moves by $\dot q = \partial H/\partial p,\ \dot p = -\partial H/\partial q$;
see :mod:`course_lib.mechanics.systems`. A stepper replaces that flow by a map that takes one step;
see :mod:`course_lib.mechanics.steppers`. Here :func:`integrate` repeats the map, and
:func:`symplecticity_error` measures for any map, learned or not, how well it keeps the structure of
the flow. See :mod:`course_lib.mechanics.backward_error` for the energy of a symplectic step,
:mod:`course_lib.mechanics.time_transformation` for a variable step.

Positions ``q`` and momenta ``p`` are ``(*batch, dim)``. Bad input raises ``TypeError`` or
``ValueError`` with what was given, what was expected and what to do. A trajectory that fails on the
way raises :class:`IntegrationError`, which carries what was computed up to there. HLW is Hairer,
Lubich and Wanner, Geometric Numerical Integration, 2nd edition (2006).
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.mechanics.recording import record, replay
from course_lib.mechanics.steppers import (
    Momenta,
    Positions,
    System,
    check_stepper,
    stoermer_verlet,
)
from course_lib.support.checks import check_floating, check_shapes, check_size
from course_lib.support.contracts import Call, Count, Positive, checked, test_of

_same_state = test_of(tuple[Float[Tensor, "*q"], Float[Tensor, "*p"]])


class Trajectory(NamedTuple):
    """States at the times ``t``, the start included, and the energy of each."""

    t: Float[Tensor, "time"]
    q: Float[Tensor, "*batch time dim"]
    p: Float[Tensor, "*batch time dim"]
    energy: Float[Tensor, "*batch time"]


class IntegrationError(ArithmeticError):
    """No finite state at ``step`` and ``time``; ``trajectory`` is what was computed before.

    ``trajectory`` holds the start and every state up to the one before ``step``, all finite; the
    energy of the last of them may be too large for a float.
    """

    def __init__(self, message: str, *, step: int, time: float, trajectory: Trajectory) -> None:
        super().__init__(message)
        self.step = step
        self.time = time
        self.trajectory = trajectory


@checked
def integrate(
    system: System,
    q: Positions,
    p: Momenta | None = None,
    *,
    dt: Positive,
    steps: Count,
    method: Callable[..., tuple[Tensor, Tensor]] = stoermer_verlet,
) -> Trajectory:
    """Take ``steps`` steps of length ``dt`` by ``method``, one of the steppers above or your own.

    The start is included: ``q`` comes back as ``(*batch, steps + 1, dim)``. A rigid body has no
    ``p``; leave it out. Raises ``ValueError`` for a start of the wrong shape, not finite or
    singular, and :class:`IntegrationError` as soon as any state of the batch stops being finite, or
    the equation of an implicit step is not solved.

    On the CPU, where no gradient is needed, one step of the course's own systems and steppers is
    recorded once as plain arithmetic and then repeated without PyTorch, whose calls take many times
    longer than these few operations. The formulas are the same, and so are the numbers, up to
    rounding.
    """
    if p is None:
        if system.pairs:
            raise TypeError(f"p is missing; expected momenta for a {system.name}; pass (q, p)")
        p = q[..., :0]
    check_stepper(method, system)
    system.check_start(q, p)
    if recorded := record(system, method, dt, q, p):
        q, p, fault = replay(recorded, q, p, steps)
    else:
        take, states, fault = getattr(method, "unchecked", method), [(q, p)], ""
        try:
            for step in range(steps):
                states.append(take(system, *states[-1], dt))
                if step == 0:  # a method that keeps the shapes once keeps them
                    call = Call()
                    _same_state(call, "the start", states[0])
                    _same_state(call, f"the result of {method.__name__}", states[1])
        except ArithmeticError as error:
            fault = str(error)
        q, p = (torch.stack(parts, dim=-2) for parts in zip(*states, strict=True))
    reached = _finite_steps(q, p)
    q, p = q[..., : reached + 1, :], p[..., : reached + 1, :]
    t = dt * torch.arange(reached + 1, dtype=q.dtype, device=q.device)
    trajectory = Trajectory(t, q, p, system.energy(q, p) if system.canonical else system.energy(q))
    if reached < steps:
        step = reached + 1
        raise IntegrationError(
            f"{system.name} by {method.__name__}: no finite state at step {step}, "
            f"t = {step * dt:.6g} ({fault or 'overflow'}); expected finite ones; choose dt "
            f"below {dt}, or another start; the trajectory up to step {reached} is in .trajectory",
            step=step,
            time=step * dt,
            trajectory=trajectory,
        )
    return trajectory


def _finite_steps(q: Tensor, p: Tensor) -> int:
    """The number of steps up to which all states of a batch are finite."""
    finite = q.isfinite().all(dim=-1) & p.isfinite().all(dim=-1)
    finite = finite.reshape(-1, finite.shape[-1]).all(dim=0)
    return int(finite.long().cumprod(dim=0).sum()) - 1


@checked(calls_back=True)
def symplecticity_error(
    flow: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]],
    q: Float[Tensor, "*axes"],
    p: Float[Tensor, "*axes"],
) -> float:
    r"""How far a map is from symplectic: $\|M^\top J M - J\| / \|J\|$, $M$ its Jacobian at (q, p).

    Every entry of ``q`` is one position, and the entry of ``p`` in the same place its momentum. So
    a window ``(tokens, d)`` counts as one point of the product space of its tokens. Independent
    points of a batch give the root mean square of their errors. Memory grows with the square of
    the number of entries. In float64 a symplectic map gives some 1e-16 times its stretching.
    Raises ``ValueError`` if ``flow`` changes the shape or hides its derivative, as ``detach`` does.
    Source: HLW (2006), section VI.2.
    """
    check_size("the number of entries of q", q.numel())
    with torch.enable_grad():
        q = q.detach().clone().requires_grad_()
        p = p.detach().clone().requires_grad_()
        new_q, new_p = flow(q, p)
        check_floating(q=q, new_q=new_q, new_p=new_p)
        check_shapes(q=(q, "*axes"), new_q=(new_q, "*axes"), new_p=(new_p, "*axes"))
        image = torch.cat([new_q.reshape(-1), new_p.reshape(-1)])
        if not image.requires_grad:
            raise ValueError(
                "flow returns tensors without a derivative; expected a differentiable map; leave "
                "out detach(), numpy() and torch.no_grad() in it"
            )
        rows = [
            torch.autograd.grad(entry, (q, p), retain_graph=True, materialize_grads=True)
            for entry in image
        ]
    M = torch.stack([torch.cat([part.reshape(-1) for part in row]) for row in rows])
    zero, one = torch.zeros_like(M[: len(M) // 2, : len(M) // 2]), torch.eye(len(M) // 2).to(M)
    J = torch.cat([torch.cat([zero, one], dim=1), torch.cat([-one, zero], dim=1)])
    return float((M.T @ J @ M - J).norm() / J.norm())
