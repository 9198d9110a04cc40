r"""Hamiltonian mechanics: systems, the integrators that respect them, and a test of symplecticity.

The module reads in the order of lecture 11. A Hamiltonian system moves by
$\dot q = \partial H/\partial p,\ \dot p = -\partial H/\partial q$. A stepper replaces that flow by
a map that takes one step. :func:`integrate` repeats the map, and :func:`symplecticity_error` asks
of any map, learned or not, whether it keeps the structure of the flow.

Positions ``q`` and momenta ``p`` are ``(*batch, dim)``. Bad input raises ``TypeError`` or
``ValueError`` with what was given, what was expected and what to do. A trajectory that fails on the
way raises :class:`IntegrationError`, which carries what was computed up to there. HLW is Hairer,
Lubich and Wanner, Geometric Numerical Integration, 2nd edition (2006).
"""

import functools
import importlib.util
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, fx, nn

from course_lib.checks import check_floating, check_number, check_shapes, check_size

# What a formula runs on: the coordinates one by one, each a tensor, an array, a number or a symbol;
# and a module of functions, torch, NumPy or math, which agree on their names.
Components = Any
Functions = Any

# A contraction by a half gains one bit a sweep, so these are far more than float64 can use.
SWEEPS = 200


# Systems --------------------------------------------------------------------------------------


class HamiltonianSystem:
    r"""A system with canonical pairs: $\dot q = \nabla_p H(q, p),\ \dot p = -\nabla_q H(q, p)$.

    Write your own with ``name``, ``dim``, ``energy``, ``grad_q`` and ``grad_p``, each of these
    three on tensors ``(*batch, dim)``. ``separable`` says that $H = T(p) + V(q)$.
    Source: HLW (2006), section I.1.
    """

    name: ClassVar[str] = "Hamiltonian system"
    dim: ClassVar[int]
    separable: ClassVar[bool] = False
    canonical: ClassVar[bool] = True

    def energy(
        self, q: Float[Tensor, "*batch dim"], p: Float[Tensor, "*batch dim"]
    ) -> Float[Tensor, "*batch"]:
        """The Hamiltonian $H(q, p)$."""
        raise NotImplementedError(f"{type(self).__name__} has no energy; write energy(q, p)")

    def grad_q(
        self, q: Float[Tensor, "*batch dim"], p: Float[Tensor, "*batch dim"]
    ) -> Float[Tensor, "*batch dim"]:
        r"""The gradient $\nabla_q H$: the force, with its sign reversed."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient; write grad_q(q, p)")

    def grad_p(
        self, q: Float[Tensor, "*batch dim"], p: Float[Tensor, "*batch dim"]
    ) -> Float[Tensor, "*batch dim"]:
        r"""The gradient $\nabla_p H$: the velocity."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient; write grad_p(q, p)")

    def field(
        self, q: Float[Tensor, "*batch dim"], p: Float[Tensor, "*batch dim"]
    ) -> tuple[Float[Tensor, "*batch dim"], Float[Tensor, "*batch dim"]]:
        r"""Where the flow goes: $(\nabla_p H, -\nabla_q H)$."""
        return self.grad_p(q, p), -self.grad_q(q, p)

    def check(self, q: Tensor, p: Tensor) -> None:
        """Raise unless ``q`` and ``p`` are floating point, both of shape ``(*batch, dim)``."""
        check_floating(q=q, p=p)
        check_shapes(q=(q, f"*batch {self.dim}"), p=(p, f"*batch {self.dim}"))

    def check_start(self, q: Tensor, p: Tensor) -> None:
        """Raise ``ValueError`` for a state that no trajectory can start from: a nan, an inf."""
        for name, tensor in (("q", q), ("p", p)):
            if not tensor.isfinite().all():
                raise ValueError(
                    f"{name} holds nan or inf; expected a finite state to start from; "
                    f"find them with {name}.isfinite()"
                )


class _Mechanical(HamiltonianSystem):
    r"""Masses in a potential, $H = \sum_i p_i^2/2m_i + V(q)$, written coordinate by coordinate.

    ``_masses``, ``_potential`` and ``_slope`` (its gradient) run on any kind of number. They take
    the coordinates of ``q`` and a module ``f`` of functions: torch for tensors, and
    :func:`integrate` hands in symbols. Every parameter is above 0.
    """

    separable = True

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            check_number(name, value, positive=True)

    def energy(
        self, q: Float[Tensor, "*batch dim"], p: Float[Tensor, "*batch dim"]
    ) -> Float[Tensor, "*batch"]:
        """The Hamiltonian $H(q, p)$, kinetic and potential energy."""
        self.check(q, p)
        kinetic = (p * p / (2 * p.new_tensor(self._masses()))).sum(dim=-1)
        return kinetic + self._potential(q.unbind(-1), torch)

    def grad_q(
        self, q: Float[Tensor, "*batch dim"], p: Float[Tensor, "*batch dim"]
    ) -> Float[Tensor, "*batch dim"]:
        r"""The gradient of the potential $\nabla V(q)$, in closed form."""
        self.check(q, p)
        return torch.stack(self._slope(q.unbind(-1), torch), dim=-1)

    def grad_p(
        self, q: Float[Tensor, "*batch dim"], p: Float[Tensor, "*batch dim"]
    ) -> Float[Tensor, "*batch dim"]:
        """The velocity $p_i/m_i$."""
        self.check(q, p)
        return p / p.new_tensor(self._masses())

    def _on_symbols(self, f: Functions) -> SimpleNamespace:
        """The gradients and the field on arrays of symbols, as a stepper asks for them."""

        def grad_q(q: Components, p: Components) -> Components:  # noqa: ARG001 - V is of q alone
            return _vector(self._slope(q, f))

        def grad_p(q: Components, p: Components) -> Components:  # noqa: ARG001 - T is of p alone
            return _vector([one / mass for one, mass in zip(p, self._masses(), strict=True)])

        def field(q: Components, p: Components) -> tuple[Components, Components]:
            return grad_p(q, p), -grad_q(q, p)

        return SimpleNamespace(grad_q=grad_q, grad_p=grad_p, field=field)


@dataclass(frozen=True, kw_only=True)
class HarmonicOscillator(_Mechanical):
    r"""A mass on a spring: $H = p^2/2m + k q^2/2$; ``stiffness`` is $k$.

    Source: HLW (2006), section I.1.
    """

    name = "harmonic oscillator"
    dim = 1
    mass: float | int = 1.0
    stiffness: float | int = 1.0

    def _masses(self) -> Components:
        return (self.mass,)

    def _potential(self, q: Components, f: Functions) -> Any:  # noqa: ARG002 - nothing but products
        return self.stiffness / 2 * q[0] * q[0]

    def _slope(self, q: Components, f: Functions) -> Components:  # noqa: ARG002 - the same
        return (self.stiffness * q[0],)


@dataclass(frozen=True, kw_only=True)
class Pendulum(_Mechanical):
    r"""A mass on a rod: $H = p^2/(2 m \ell^2) + m g \ell\,(1 - \cos q)$.

    The angle ``q`` counts from the lowest point, where the energy is 0.
    Source: HLW (2006), section I.1, up to the constant.
    """

    name = "pendulum"
    dim = 1
    mass: float | int = 1.0
    length: float | int = 1.0
    gravity: float | int = 1.0

    def _masses(self) -> Components:
        return (self.mass * self.length**2,)

    def _potential(self, q: Components, f: Functions) -> Any:
        # 1 - cos q = 2 sin²(q/2), without the cancellation near the lowest point.
        half = f.sin(q[0] / 2)
        return self.mass * self.gravity * self.length * 2 * half * half

    def _slope(self, q: Components, f: Functions) -> Components:
        return (self.mass * self.gravity * self.length * f.sin(q[0]),)


@dataclass(frozen=True, kw_only=True)
class CoupledOscillators(_Mechanical):
    r"""Two oscillators, and between them a spring that stiffens as the first one moves out.

    $H = p_1^2/2m_1 + p_2^2/2m_2 + k_1 q_1^2/2 + k_2 q_2^2/2 + k\,\sigma(q_1)(q_2 - q_1)^2/2$ with
    the logistic $\sigma$; ``coupling`` is $k$. Source: Brantner and Kraus, GeometricMachineLearning
    (2024), with its parameters; the kinetic terms are printed in q there.
    """

    name = "coupled oscillators"
    dim = 2
    mass1: float | int = 2.0
    mass2: float | int = 1.0
    stiffness1: float | int = 1.5
    stiffness2: float | int = 0.3
    coupling: float | int = 1.0

    def _masses(self) -> Components:
        return self.mass1, self.mass2

    def _potential(self, q: Components, f: Functions) -> Any:
        springs = self.stiffness1 / 2 * q[0] * q[0] + self.stiffness2 / 2 * q[1] * q[1]
        stretch = q[1] - q[0]
        return springs + self.coupling / 2 * _logistic(q[0], f) * stretch * stretch

    def _slope(self, q: Components, f: Functions) -> Components:
        gate, stretch = _logistic(q[0], f), q[1] - q[0]
        pull = self.coupling * gate * stretch
        return (
            self.stiffness1 * q[0] - pull + pull * (1 - gate) * stretch / 2,
            self.stiffness2 * q[1] + pull,
        )


@dataclass(frozen=True, kw_only=True)
class Kepler(_Mechanical):
    r"""A planet in the plane: $H = |p|^2/2m - m\mu/|q|$, with the sun at the origin.

    ``gravity`` is $\mu$. An ellipse of eccentricity $e$ and semi-major axis 1 starts, for
    $m = \mu = 1$, from $q = (1 - e, 0)$ and $p = (0, \sqrt{(1 + e)/(1 - e)})$.
    Source: HLW (2006), section I.2.
    """

    name = "Kepler"
    dim = 2
    mass: float | int = 1.0
    gravity: float | int = 1.0

    def _masses(self) -> Components:
        return self.mass, self.mass

    def _potential(self, q: Components, f: Functions) -> Any:
        return -self.mass * self.gravity / f.sqrt(q[0] * q[0] + q[1] * q[1])

    def _slope(self, q: Components, f: Functions) -> Components:
        square = q[0] * q[0] + q[1] * q[1]
        pull = self.mass * self.gravity / (square * f.sqrt(square))
        return pull * q[0], pull * q[1]

    def check_start(self, q: Tensor, p: Tensor) -> None:
        """Raise ``ValueError`` also for a planet in the sun, where the energy is infinite."""
        super().check_start(q, p)
        if (q == 0).all(dim=-1).any():
            raise ValueError(
                "q is (0, 0), the sun itself, where the Kepler problem is singular; expected a "
                "start at some distance; choose another, say q = (1 - e, 0)"
            )


@dataclass(frozen=True, kw_only=True)
class HenonHeiles(_Mechanical):
    r"""A star in a galaxy: $H = |p|^2/2 + |q|^2/2 + \lambda(q_1^2 q_2 - q_2^3/3)$.

    ``strength`` is $\lambda$. Orbits near the origin stay bounded below the energy
    $1/6\lambda^2$, and turn from regular to chaotic as they come near it.
    Source: Hénon and Heiles (1964); HLW (2006), section I.3.
    """

    name = "Hénon–Heiles"
    dim = 2
    strength: float | int = 1.0

    def _masses(self) -> Components:
        return 1.0, 1.0

    def _potential(self, q: Components, f: Functions) -> Any:  # noqa: ARG002 - nothing but products
        bowl = (q[0] * q[0] + q[1] * q[1]) / 2
        return bowl + self.strength * (q[0] * q[0] * q[1] - q[1] * q[1] * q[1] / 3)

    def _slope(self, q: Components, f: Functions) -> Components:  # noqa: ARG002 - the same
        return (
            q[0] + 2 * self.strength * q[0] * q[1],
            q[1] + self.strength * (q[0] * q[0] - q[1] * q[1]),
        )


@dataclass(frozen=True, kw_only=True)
class RigidBody:
    r"""A free rigid body, by its angular momentum: $\dot z = \nabla K \times \nabla H$.

    $H = \frac12\sum_i z_i^2/I_i$ is the energy for the moments of ``inertia`` $I$, and
    $K = \frac12\sum_i w_i z_i^2$ a Casimir; the ``weights`` $w$ are 1 for a body in the usual
    coordinates. So $\dot z = (A z_2 z_3,\ B z_3 z_1,\ C z_1 z_2)$ with ``coefficients``
    $(A, B, C) = w \times 1/I$. The flow preserves $H$, $K$ and volume.

    Three coordinates make no canonical pairs. The body takes the steppers that use the field alone,
    with ``q`` the state and no ``p``: ``integrate(body, z, dt=..., steps=...,
    method=implicit_midpoint)``. The implicit midpoint rule keeps every quadratic invariant, so it
    keeps both $H$ and $K$; ``symplectic_euler`` and ``stoermer_verlet`` raise ``ValueError``.
    Source: HLW (2006), section VII.5; the default inertia is that of Bajārs (2023).
    """

    name: ClassVar[str] = "rigid body"
    dim: ClassVar[int] = 3
    separable: ClassVar[bool] = False
    canonical: ClassVar[bool] = False
    inertia: tuple[float | int, float | int, float | int] = (2.0, 1.0, 2 / 3)
    weights: tuple[float | int, float | int, float | int] = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        for name in ("inertia", "weights"):
            values = getattr(self, name)
            if len(values) != self.dim:
                raise ValueError(
                    f"{name} is {values}; expected one number for each axis; pass three"
                )
            for axis, value in enumerate(values, start=1):
                check_number(f"{name} of axis {axis}", value, positive=True)

    @classmethod
    def from_coefficients(cls, A: float | int, B: float | int, C: float | int) -> "RigidBody":
        r"""The body that moves by $\dot z = (A z_2 z_3,\ B z_3 z_1,\ C z_1 z_2)$.

        Only $A + B + C = 0$ comes from moments of inertia and keeps $|z|$. Any other sum stands for
        a body in stretched coordinates: ``weights`` other than 1 that are found here. Raises
        ``ValueError`` where no positive weights exist, since the motion may then escape.
        """
        for name, value in (("A", A), ("B", B), ("C", C)):
            check_number(name, value)
        forward = sum(value for value in (A, B, C) if value > 0)
        backward = -sum(value for value in (A, B, C) if value < 0)
        if (forward == 0) != (backward == 0):
            raise ValueError(
                f"A, B, C are {A}, {B}, {C}, of one sign, so the motion may escape to infinity; "
                "expected two signs at least; reverse one of them"
            )
        ratio = math.sqrt(backward / forward) if forward else 1.0
        w = tuple(ratio if value > 0 else 1 / ratio if value < 0 else 1.0 for value in (A, B, C))
        # (A, B, C) is orthogonal to w, so w × h gives it back for h = (A, B, C) × w / |w|² + s w,
        # whatever s is; this s makes every entry of h positive.
        square = w[0] ** 2 + w[1] ** 2 + w[2] ** 2
        h = tuple(turned / square for turned in _cross((A, B, C), w))
        s = 2 * max(-turned / weight for turned, weight in zip(h, w, strict=True)) or 1.0
        moments = tuple(1 / (turned + s * weight) for turned, weight in zip(h, w, strict=True))
        return cls(inertia=moments, weights=w)

    @property
    def coefficients(self) -> tuple[float, float, float]:
        r"""$(A, B, C)$ of $\dot z = (A z_2 z_3,\ B z_3 z_1,\ C z_1 z_2)$."""
        return _cross(self.weights, tuple(1 / moment for moment in self.inertia))

    def energy(self, z: Float[Tensor, "*batch 3"]) -> Float[Tensor, "*batch"]:
        r"""The kinetic energy $H = \frac12\sum_i z_i^2/I_i$."""
        self.check(z)
        return (z * z / z.new_tensor(self.inertia)).sum(dim=-1) / 2

    def casimir(self, z: Float[Tensor, "*batch 3"]) -> Float[Tensor, "*batch"]:
        r"""$K = \frac12\sum_i w_i z_i^2$, which would be conserved under any other energy too."""
        self.check(z)
        return (z * z * z.new_tensor(self.weights)).sum(dim=-1) / 2

    def field(
        self, z: Float[Tensor, "*batch 3"], p: Float[Tensor, "*batch none"] | None = None
    ) -> Any:
        r"""Where the flow goes, $\nabla K \times \nabla H$; with an empty ``p``, for it too."""
        self.check(z, p)
        velocity = torch.stack(self._velocity(z.unbind(-1)), dim=-1)
        return velocity if p is None else (velocity, p)

    def check(self, z: Tensor, p: Tensor | None = None) -> None:
        """Raise unless ``z`` is floating point ``(*batch, 3)``, and ``p`` left out or empty."""
        check_floating(z=z)
        check_shapes(z=(z, f"*batch {self.dim}"))
        if p is not None and p.numel() > 0:
            raise ValueError(
                f"p has shape {tuple(p.shape)}; expected none, for a rigid body has no canonical "
                "pairs; pass the angular momentum as q and leave p out"
            )

    def check_start(self, z: Tensor, p: Tensor) -> None:
        """Raise ``ValueError`` for a state that no trajectory can start from: a nan, an inf."""
        HamiltonianSystem.check_start(self, z, p)

    def _velocity(self, z: Components) -> Components:
        A, B, C = self.coefficients
        return A * z[1] * z[2], B * z[2] * z[0], C * z[0] * z[1]

    def _on_symbols(self, f: Functions) -> SimpleNamespace:  # noqa: ARG002 - nothing but products
        """The field on arrays of symbols, as a stepper asks for it."""
        return SimpleNamespace(field=lambda z, p: (_vector(self._velocity(z)), p))


# Steppers -------------------------------------------------------------------------------------


def _stepper(*, implicit: bool = False, needs_pairs: bool = False) -> Callable[[Callable], Any]:
    """Make a stepper ``(system, q, p, dt) -> (q, p)`` of its bare formula.

    The stepper checks its arguments. The formula of an implicit one is an equation: it takes the
    new state as well, and is swept until that settles. ``needs_pairs`` refuses systems that are
    not canonical and separable, where the formula would not be explicit.
    """

    def decorate(formula: Callable) -> Any:
        @functools.wraps(formula)
        def step(system: Any, q: Tensor, p: Tensor, dt: float | int) -> tuple[Tensor, Tensor]:
            check_number("dt", dt, positive=True)
            system.check(q, p)
            _check_stepper(step, system)
            if not implicit:
                return formula(system, q, p, dt)
            sweep = functools.partial(_sweep, formula, system, q, p, dt)
            return _settle(sweep, (q, p), torch.finfo(q.dtype).eps, torch.all)

        step.implicit, step.needs_pairs = implicit, needs_pairs
        signature = inspect.signature(formula)
        arguments = list(signature.parameters.values())[:4]
        step.__signature__ = signature.replace(parameters=arguments)
        return step

    return decorate


@_stepper()
def explicit_euler(system: Any, q: Any, p: Any, dt: float | int) -> Any:
    r"""$z_{n+1} = z_n + h f(z_n)$: order 1, not symplectic; energy grows.

    Source: HLW (2006), section I.1.
    """
    q_dot, p_dot = system.field(q, p)
    return q + dt * q_dot, p + dt * p_dot


@_stepper(needs_pairs=True)
def symplectic_euler(system: Any, q: Any, p: Any, dt: float | int) -> Any:
    r"""First $p_{n+1} = p_n - h\nabla_q H$, then $q_{n+1} = q_n + h\nabla_p H(p_{n+1})$.

    Order 1, symplectic, explicit for a separable system; raises ``ValueError`` for any other.
    Source: HLW (2006), section I.1.
    """
    p = p - dt * system.grad_q(q, p)
    q = q + dt * system.grad_p(q, p)
    return q, p


@_stepper(needs_pairs=True)
def stoermer_verlet(system: Any, q: Any, p: Any, dt: float | int) -> Any:
    r"""Half a kick, a drift, half a kick: symplectic Euler and its mirror image, $h/2$ each.

    Order 2, symplectic and reversible, explicit for a separable system; raises ``ValueError`` for
    any other. Source: HLW (2006), section I.1.
    """
    p = p - dt / 2 * system.grad_q(q, p)
    q = q + dt * system.grad_p(q, p)
    p = p - dt / 2 * system.grad_q(q, p)
    return q, p


@_stepper()
def runge_kutta_4(system: Any, q: Any, p: Any, dt: float | int) -> Any:
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
    system: Any, q: Any, p: Any, dt: float | int, q_new: Any, p_new: Any
) -> Any:
    r"""$z_{n+1} = z_n + h f\big((z_n + z_{n+1})/2\big)$: order 2, symplectic for every system.

    Keeps quadratic invariants, so the energy of an oscillator and both invariants of a rigid body.
    The body is the right side of the equation, swept until the new state settles; if it does not,
    ``dt`` is too long and ``ArithmeticError`` says so. Source: HLW (2006), section I.1.
    """
    q_dot, p_dot = system.field((q + q_new) / 2, (p + p_new) / 2)
    return q + dt * q_dot, p + dt * p_dot


STEPPERS = (explicit_euler, symplectic_euler, stoermer_verlet, runge_kutta_4, implicit_midpoint)


# Trajectories ---------------------------------------------------------------------------------


class Trajectory(NamedTuple):
    """States at the times ``t``, the start included, and the energy of each."""

    t: Float[Tensor, "time"]
    q: Float[Tensor, "*batch time dim"]
    p: Float[Tensor, "*batch time dim"]
    energy: Float[Tensor, "*batch time"]


class IntegrationError(ArithmeticError):
    """A state stopped being finite: at which ``step`` and ``time``, and the ``trajectory`` before.

    ``trajectory`` holds the start and every state up to the one before ``step``, all finite.
    """

    def __init__(self, message: str, *, step: int, time: float, trajectory: Trajectory) -> None:
        super().__init__(message)
        self.step = step
        self.time = time
        self.trajectory = trajectory


def integrate(
    system: Any,
    q: Float[Tensor, "*batch dim"],
    p: Float[Tensor, "*batch dim"] | None = None,
    *,
    dt: float | int,
    steps: int,
    method: Callable[..., tuple[Tensor, Tensor]] = stoermer_verlet,
) -> Trajectory:
    """Take ``steps`` steps of length ``dt`` by ``method``, one of the steppers above or your own.

    The start is included: ``q`` comes back as ``(*batch, steps + 1, dim)``. A rigid body has no
    ``p``; leave it out. Raises ``ValueError`` for a start of the wrong shape, not finite or
    singular, and :class:`IntegrationError` as soon as any state of the batch stops being finite.

    On the CPU, where no gradient is asked for, one step of the course's own systems and steppers is
    recorded once as plain arithmetic and then repeated without PyTorch, which takes many times
    longer to call than these few operations take to run. The formulas are the same, and so are the
    numbers, up to rounding.
    """
    p = q[..., :0] if p is None and not getattr(system, "canonical", True) else p
    check_number("dt", dt, positive=True)
    check_size("steps", steps, minimum=0)
    system.check(q, p)
    _check_stepper(method, system)
    system.check_start(q, p)
    recorded = _record(system, method, dt, q, p)
    if recorded is None:
        q, p, reason = _repeat(lambda q, p: method(system, q, p, dt), q, p, steps)
    else:
        q, p, reason = _replay(recorded, q, p, steps)
    finite = q.isfinite().all(dim=-1) & p.isfinite().all(dim=-1)
    finite = finite.reshape(-1, finite.shape[-1]).all(dim=0)
    reached = int(finite.long().cumprod(dim=0).sum()) - 1
    q, p = q[..., : reached + 1, :], p[..., : reached + 1, :]
    t = dt * torch.arange(reached + 1, dtype=q.dtype, device=q.device)
    trajectory = Trajectory(t, q, p, system.energy(q, p) if system.canonical else system.energy(q))
    if reached < steps:
        step = reached + 1
        raise IntegrationError(
            f"{system.name} by {method.__name__}: no finite state at step {step}, "
            f"t = {step * dt:.6g} ({reason or 'overflow'}); choose dt below {dt}, "
            f"or another start; the trajectory up to step {reached} is in .trajectory",
            step=step,
            time=step * dt,
            trajectory=trajectory,
        )
    return trajectory


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
    check_floating(q=q, p=p)
    check_shapes(q=(q, "*axes"), p=(p, "*axes"))
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


def canonical_pair(
    z: Float[Tensor, "*axes features"],
) -> tuple[Float[Tensor, "*axes d"], Float[Tensor, "*axes d"]]:
    """Split a state ``(q, p)`` in one tensor, as a standard network takes it, into its two halves.

    Raises ``ValueError`` for an odd number of features, since momenta and positions come in pairs.
    """
    check_floating(z=z)
    features = check_shapes(z=(z, "*axes features"))["features"]
    if features % 2 or not features:
        raise ValueError(
            f"z has shape {tuple(z.shape)}, {features} features; expected an even number, d "
            "positions and then d momenta; a system without pairs, as a rigid body, has no q and p"
        )
    return z[..., : features // 2], z[..., features // 2 :]


# What the functions above share ---------------------------------------------------------------


def _check_stepper(method: Any, system: Any) -> None:
    if getattr(method, "needs_pairs", False) and not (system.canonical and system.separable):
        raise ValueError(
            f"{method.__name__} on a {system.name}; expected a separable system, H = T(p) + V(q), "
            "where it is explicit; use implicit_midpoint, which takes every system"
        )


def _logistic(x: Any, f: Functions) -> Any:
    # Through tanh, whose exponentials cannot overflow.
    return (1 + f.tanh(x / 2)) / 2


def _cross(a: Components, b: Components) -> Components:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _sweep(formula: Callable, *arguments: Any) -> tuple:
    """The new state by the right side of an implicit equation, and how far it moved, squared."""
    old, new = arguments[-2:], formula(*arguments)
    moved = sum(((a - b) * (a - b)).sum(-1) for a, b in zip(new, old, strict=True))
    return *new, moved / (1 + sum((b * b).sum(-1) for b in old))


def _settle(sweep: Callable, state: tuple, eps: float, everywhere: Callable) -> tuple:
    """Sweep from one state to the next until rounding is all that moves it."""
    for _ in range(SWEEPS):
        *state, moved = sweep(*state)
        if everywhere(moved <= (4 * eps) ** 2):
            return tuple(state)
    raise ArithmeticError(
        f"the implicit equation did not settle in {SWEEPS} sweeps; expected a contraction; "
        "choose a shorter dt"
    )


# The loop of integrate ------------------------------------------------------------------------


def _repeat(step: Callable, q: Tensor, p: Tensor, steps: int) -> tuple[Tensor, Tensor, str]:
    """The loop in PyTorch: for gradients, for a GPU, for systems and steppers of your own."""
    states, reason = [(q, p)], ""
    try:
        for _ in range(steps):
            states.append(step(*states[-1]))
    except ArithmeticError as error:
        reason = str(error)
    all_q, all_p = zip(*states, strict=True)
    return torch.stack(all_q, dim=-2), torch.stack(all_p, dim=-2), reason


def _record(system: Any, method: Any, dt: float | int, q: Tensor, p: Tensor) -> Any:
    """One step as plain arithmetic on the coordinates, or ``None`` where that cannot be had.

    The stepper runs once, on symbols that torch.fx writes down. One trajectory in float64 then
    runs on Python's own floats, a batch on NumPy arrays, one for each coordinate.
    """
    differentiates = torch.is_grad_enabled() and (q.requires_grad or p.requires_grad)
    fits = q.device.type == "cpu" and q.dtype in (torch.float32, torch.float64)
    own = type(system).__module__ == __name__ and method in STEPPERS
    if differentiates or not (fits and own) or importlib.util.find_spec("numpy") is None:
        return None
    import numpy as np

    one = q.dim() == 1 and q.dtype == torch.float64
    functions, everywhere = (math, bool) if one else (np, np.all)
    graph = fx.Graph()

    def symbols(name: str, size: int) -> Components:
        return _vector([fx.Proxy(graph.placeholder(f"{name}{i}")) for i in range(size)])

    arguments = [symbols("q", q.shape[-1]), symbols("p", p.shape[-1]), dt]
    if method.implicit:
        arguments += [symbols("q_new", q.shape[-1]), symbols("p_new", p.shape[-1])]
    formula, symbolic = inspect.unwrap(method), system._on_symbols(_Symbolic(functions))
    if method.implicit:
        new_q, new_p, moved = _sweep(formula, symbolic, *arguments)
        output = (*new_q, *new_p, moved)
    else:
        new_q, new_p = formula(symbolic, *arguments)
        output = (*new_q, *new_p)
    graph.output(tuple(symbol.node for symbol in output))
    recorded = fx.GraphModule(nn.Module(), graph).forward
    if not method.implicit:
        return recorded
    eps = torch.finfo(q.dtype).eps
    return lambda *old: _settle(functools.partial(recorded, *old), old, eps, everywhere)


def _replay(step: Callable, q: Tensor, p: Tensor, steps: int) -> tuple[Tensor, Tensor, str]:
    """The loop without PyTorch: ``step`` takes and gives the coordinates one by one."""
    import numpy as np

    start = torch.cat([q, p], dim=-1).detach().movedim(-1, 0).numpy()
    states = np.full((steps + 1, *start.shape), np.nan, dtype=start.dtype)
    states[0] = start
    state, reason = tuple(start.tolist() if start.ndim == 1 else start), ""
    with np.errstate(all="ignore"):
        try:
            for i in range(1, steps + 1):
                state = step(*state)
                states[i] = state
        # Python's floats fail where NumPy and PyTorch give inf or nan.
        except (ArithmeticError, ValueError) as error:
            reason = str(error)
    # (time, dim, *batch) to (*batch, time, dim)
    result = torch.from_numpy(states).movedim((0, 1), (-2, -1))
    return result[..., : q.shape[-1]].clone(), result[..., q.shape[-1] :].clone(), reason


class _Symbolic:
    """The functions of a module, called on symbols: each call is written down, not carried out."""

    def __init__(self, functions: ModuleType) -> None:
        self._functions = functions

    def __getattr__(self, name: str) -> Callable[[fx.Proxy], fx.Proxy]:
        function = getattr(self._functions, name)
        return lambda x: x.tracer.create_proxy("call_function", function, (x,), {})


def _vector(components: Components) -> Any:
    """An array of symbols, on which a stepper's arithmetic works coordinate by coordinate."""
    import numpy as np

    vector = np.empty(len(components), dtype=object)
    for i, component in enumerate(components):
        vector[i] = component
    return vector
