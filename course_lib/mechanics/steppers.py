r"""One step of an integrator: ``(system, q, p, dt) -> (q, p)``.

``q`` and ``p`` are ``(*batch, dim)``. Bad input raises ``TypeError`` or ``ValueError`` with what
was given, what was expected and what to do. HLW is Hairer, Lubich and Wanner, Geometric Numerical
Integration, 2nd edition (2006).
"""

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.mechanics.systems import HamiltonianSystem, RigidBody
from course_lib.support.contracts import Positive, checked

System = RigidBody | HamiltonianSystem
Positions = Float[Tensor, "*batch system.dim"]
Momenta = Float[Tensor, "*batch system.pairs"]
State = tuple[Tensor, Tensor]

# Enough for float64's last digit if each sweep leaves two thirds of the error.
SWEEPS = 100


def _stepper(*, implicit: bool = False, needs_pairs: bool = False) -> Callable[[Callable], Any]:
    """Make a stepper ``(system, q, p, dt) -> (q, p)`` from its formula.

    The stepper checks its arguments, and ``unchecked`` is the step alone. The formula of an
    implicit one is an equation: it takes the new state as well, and is iterated until that settles,
    or else solved by Newton's method. ``needs_pairs`` refuses systems that are not canonical and
    separable, where the formula would not be explicit.
    """

    def decorate(formula: Callable) -> Any:
        def solve(system: System, q: Tensor, p: Tensor, dt: float) -> State:
            def toward(*last: Tensor) -> tuple:
                new, moved = sweep(formula, torch.finfo(q.dtype).eps, system, q, p, dt, *last)
                return *new, all((part <= 0).all() for part in moved)

            return settle(toward, (q, p), bool) or newton(formula, system, q, p, dt)

        @functools.wraps(formula)
        def step(system: System, q: Tensor, p: Tensor, dt: float) -> State:
            check_stepper(step, system)
            return step.unchecked(system, q, p, dt)

        step.implicit, step.needs_pairs = implicit, needs_pairs
        step.unchecked = solve if implicit else formula
        signature = inspect.signature(formula)
        arguments = list(signature.parameters.values())[:4]
        step.__signature__ = signature.replace(parameters=arguments)
        return checked(step)

    return decorate


@_stepper()
def explicit_euler(system: System, q: Positions, p: Momenta, dt: Positive) -> State:
    r"""$z_{n+1} = z_n + h f(z_n)$: order 1, not symplectic.

    A step multiplies the energy of a unit oscillator by $1 + h^2$.
    Source: HLW (2006), section I.1.
    """
    q_dot, p_dot = system.field(q, p)
    return q + dt * q_dot, p + dt * p_dot


@_stepper(needs_pairs=True)
def symplectic_euler(system: System, q: Positions, p: Momenta, dt: Positive) -> State:
    r"""First $p_{n+1} = p_n - h\nabla_q H$, then $q_{n+1} = q_n + h\nabla_p H(p_{n+1})$.

    Order 1, symplectic, explicit for a separable system; raises ``ValueError`` for any other.
    Source: HLW (2006), section I.1.
    """
    p = p - dt * system.grad_q(q, p)
    q = q + dt * system.grad_p(q, p)
    return q, p


@_stepper(needs_pairs=True)
def stoermer_verlet(system: System, q: Positions, p: Momenta, dt: Positive) -> State:
    r"""Half a kick, a drift, half a kick: symplectic Euler and its mirror image, $h/2$ each.

    Order 2, symplectic and reversible, explicit for a separable system; raises ``ValueError`` for
    any other. Source: HLW (2006), section I.1.
    """
    p = p - dt / 2 * system.grad_q(q, p)
    q = q + dt * system.grad_p(q, p)
    p = p - dt / 2 * system.grad_q(q, p)
    return q, p


@_stepper()
def runge_kutta_4(system: System, q: Positions, p: Momenta, dt: Positive) -> State:
    r"""Four slopes, weighed $1 : 2 : 2 : 1$: order 4, not symplectic; energy drifts.

    Source: Kutta (1901); HLW (2006), section II.1.
    """
    q1, p1 = system.field(q, p)
    q2, p2 = system.field(q + dt / 2 * q1, p + dt / 2 * p1)
    q3, p3 = system.field(q + dt / 2 * q2, p + dt / 2 * p2)
    q4, p4 = system.field(q + dt * q3, p + dt * p3)
    return q + dt / 6 * (q1 + 2 * q2 + 2 * q3 + q4), p + dt / 6 * (p1 + 2 * p2 + 2 * p3 + p4)


@_stepper(implicit=True)
def implicit_midpoint(  # noqa: PLR0917 - an equation in the old state and the new
    system: System, q: Positions, p: Momenta, dt: Positive, q_new: Positions, p_new: Momenta
) -> State:
    r"""$z_{n+1} = z_n + h f\big((z_n + z_{n+1})/2\big)$: order 2, symplectic for every system.

    Keeps quadratic invariants, so the energy of an oscillator and both invariants of a rigid body.
    The body is the right side of the equation, iterated until the new state settles; where that
    does not contract, Newton's method solves it. Raises ``ArithmeticError`` if neither does, as
    where ``dt`` is too long for a solution. Source: HLW (2006), sections I.1 and VIII.6.
    """
    q_dot, p_dot = system.field((q + q_new) / 2, (p + p_new) / 2)
    return q + dt * q_dot, p + dt * p_dot


STEPPERS = (explicit_euler, symplectic_euler, stoermer_verlet, runge_kutta_4, implicit_midpoint)


# What the steppers share ----------------------------------------------------------------------


def check_stepper(method: Any, system: System) -> None:
    """Raise ``ValueError`` where an explicit ``method`` would be implicit."""
    if getattr(method, "needs_pairs", False) and not (system.canonical and system.separable):
        raise ValueError(
            f"{method.__name__} on a {system.name}; expected a separable system, H = T(p) + V(q), "
            "where it is explicit; use implicit_midpoint, which takes every system"
        )


def sweep(formula: Callable, eps: float, *equation: Any) -> tuple[tuple, tuple]:
    """The right side of an implicit equation, and how much it moves each number beyond rounding.

    At a solution no number of the second is above 0. Rounding is relative to the size of each
    number, so that units do not matter.
    """
    _system, *old, _dt = equation[:4]
    new = formula(*equation)
    # A difference, which is nan for two infinite numbers, so that they never count as settled.
    moved = (
        abs(after - before) - 4 * eps * (abs(first) + abs(after))
        for first, before, after in zip(old, equation[4:], new, strict=True)
    )
    return new, tuple(moved)


def settle(toward: Callable, old: tuple, everywhere: Callable) -> tuple | None:
    """Sweep until only rounding moves the state; ``None`` after ``SWEEPS`` without that."""
    state = old
    for _ in range(SWEEPS):
        *state, settled = toward(*state)
        if everywhere(settled):
            return tuple(state)
    return None


def newton(formula: Callable, system: System, q: Tensor, p: Tensor, dt: Positive) -> tuple:
    r"""Solve an implicit equation $z = F(z)$ by steps $(1 + \mu - F')\,\Delta z = F(z) - z$.

    $F'$ is taken by differences, each number in units of its own size. It is solved where
    $F(z) - z$ is as small as the rounding of $z$. Newton's method has $\mu = 0$; where that does
    not converge, a $\mu$ that vanishes at the solution shortens the steps (pseudo-transient
    continuation). Source: HLW (2006), section VIII.6; Kelley and Keyes (1998).
    """
    eps, dims = torch.finfo(q.dtype).eps, [q.shape[-1], p.shape[-1]]
    old = z = torch.cat([q, p], dim=-1)
    one, solved = torch.eye(z.shape[-1]).to(z), z.isnan()

    def F(old: Tensor, z: Tensor) -> Tensor:  # noqa: N802 - the function of the equation
        return torch.cat(formula(system, *old.split(dims, -1), dt, *z.split(dims, -1)), dim=-1)

    for firmness in (0, 10, 30):
        z = torch.where(solved.all(-1, keepdim=True), z, old)
        for _ in range(15 + 10 * firmness):
            new = F(old, z)
            size = (old.abs() + new.abs()).detach()
            size = torch.where(size > 0, size, 1)
            nudge = math.sqrt(eps) * size[..., None, :]
            ahead = F(old[..., None, :], z[..., None, :] + nudge * one)
            slope = ((ahead - new[..., None, :]) / nudge).mT.detach()
            missing, gone = (new - z) / size, (z - old) / size
            far = missing.abs().amax(-1) / (missing.abs() + gone.abs()).amax(-1)
            mu = firmness * far.detach().nan_to_num()[..., None, None]  # 0 / 0 at rest
            step = torch.linalg.solve_ex((1 + mu) * one - slope, missing[..., None])[0]
            z = z + size * step[..., 0]
            solved = missing.abs() <= 16 * eps * (one - slope).abs().sum(-1)
            if solved.all():
                return z.split(dims, -1)
    raise ArithmeticError(
        f"the implicit equation is not solved, by {SWEEPS} sweeps nor by Newton's method; "
        "expected a solution near the state; choose a shorter dt"
    )
