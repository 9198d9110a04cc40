r"""Hamiltonian systems: energy and its gradients, in closed form.

Positions ``q`` and momenta ``p`` are ``(*batch, dim)``. Bad input raises ``TypeError`` or
``ValueError`` with what was given, what was expected and what to do. HLW is Hairer, Lubich and
Wanner, Geometric Numerical Integration, 2nd edition (2006).
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.support.checks import check_finite
from course_lib.support.contracts import Positive, checked

Coordinates = Float[Tensor, "*batch dim"]


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

    def energy(self, q: Coordinates, p: Coordinates) -> Float[Tensor, "*batch"]:
        """The Hamiltonian $H(q, p)$."""
        raise NotImplementedError(f"{type(self).__name__} has no energy; write energy(q, p)")

    def grad_q(self, q: Coordinates, p: Coordinates) -> Coordinates:
        r"""The gradient $\nabla_q H$: the force, with its sign reversed."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient; write grad_q(q, p)")

    def grad_p(self, q: Coordinates, p: Coordinates) -> Coordinates:
        r"""The gradient $\nabla_p H$: the velocity."""
        raise NotImplementedError(f"{type(self).__name__} has no gradient; write grad_p(q, p)")

    @checked
    def field(self, q: Coordinates, p: Coordinates) -> tuple[Coordinates, Coordinates]:
        r"""The vector field $(\nabla_p H, -\nabla_q H)$."""
        return self.grad_p(q, p), -self.grad_q(q, p)

    @property
    def pairs(self) -> int:
        """How many momenta belong to a state."""
        return self.dim if self.canonical else 0

    def check_start(self, q: Tensor, p: Tensor) -> None:
        """Raise ``ValueError`` for a state that no trajectory can start from: nan or inf."""
        check_finite(q=q, p=p)


@checked
@dataclass(frozen=True, kw_only=True)
class HarmonicOscillator(HamiltonianSystem):
    r"""A mass on a spring: $H = p^2/2m + k q^2/2$; ``stiffness`` is $k$.

    Source: HLW (2006), section I.1.
    """

    name = "harmonic oscillator"
    dim = 1
    separable = True
    mass: Positive = 1.0
    stiffness: Positive = 1.0

    @checked
    def energy(self, q: Coordinates, p: Coordinates) -> Float[Tensor, "*batch"]:
        """The Hamiltonian $H(q, p)$, kinetic and potential energy."""
        return (p / (2 * self.mass) * p + self.stiffness / 2 * q * q).sum(-1)

    @checked
    def grad_q(self, q: Coordinates, p: Coordinates) -> Coordinates:
        r"""The gradient of the potential $\nabla V(q)$."""
        return self.stiffness * q

    @checked
    def grad_p(self, q: Coordinates, p: Coordinates) -> Coordinates:
        """The velocity $p_i/m_i$."""
        return p / self.mass


@checked
@dataclass(frozen=True, kw_only=True)
class Pendulum(HamiltonianSystem):
    r"""A mass on a rod: $H = p^2/(2 m \ell^2) + m g \ell\,(1 - \cos q)$.

    The angle ``q`` counts from the lowest point, where the energy is 0.
    Source: HLW (2006), section I.1, up to the constant.
    """

    name = "pendulum"
    dim = 1
    separable = True
    mass: Positive = 1.0
    length: Positive = 1.0
    gravity: Positive = 1.0

    @checked
    def energy(self, q: Coordinates, p: Coordinates) -> Float[Tensor, "*batch"]:
        """The Hamiltonian $H(q, p)$, kinetic and potential energy."""
        # 1 - cos q = 2 sin²(q/2), without the cancellation near the lowest point.
        half = torch.sin(q / 2)
        potential = self.mass * self.gravity * self.length * 2 * half * half
        return (p / (2 * self.mass * self.length**2) * p + potential).sum(-1)

    @checked
    def grad_q(self, q: Coordinates, p: Coordinates) -> Coordinates:
        r"""The gradient of the potential $\nabla V(q)$."""
        return self.mass * self.gravity * self.length * torch.sin(q)

    @checked
    def grad_p(self, q: Coordinates, p: Coordinates) -> Coordinates:
        """The velocity $p_i/m_i$."""
        return p / (self.mass * self.length**2)


@checked
@dataclass(frozen=True, kw_only=True)
class CoupledOscillators(HamiltonianSystem):
    r"""Two oscillators, and between them a spring that stiffens as the first one moves out.

    $H = p_1^2/2m_1 + p_2^2/2m_2 + k_1 q_1^2/2 + k_2 q_2^2/2 + k\,\sigma(q_1)(q_2 - q_1)^2/2$ with
    the logistic $\sigma$; ``coupling`` is $k$. Source: Brantner and Kraus, GeometricMachineLearning
    (2024), with its parameters; the kinetic terms are printed in q there.
    """

    name = "coupled oscillators"
    dim = 2
    separable = True
    mass1: Positive = 2.0
    mass2: Positive = 1.0
    stiffness1: Positive = 1.5
    stiffness2: Positive = 0.3
    coupling: Positive = 1.0

    @checked
    def energy(self, q: Coordinates, p: Coordinates) -> Float[Tensor, "*batch"]:
        """The Hamiltonian $H(q, p)$, kinetic and potential energy."""
        q1, q2 = q.unbind(-1)
        p1, p2 = p.unbind(-1)
        kinetic = p1 / (2 * self.mass1) * p1 + p2 / (2 * self.mass2) * p2
        springs = self.stiffness1 / 2 * q1 * q1 + self.stiffness2 / 2 * q2 * q2
        return kinetic + (springs + self.coupling / 2 * _logistic(q1) * (q2 - q1) * (q2 - q1))

    @checked
    def grad_q(self, q: Coordinates, p: Coordinates) -> Coordinates:
        r"""The gradient of the potential $\nabla V(q)$."""
        q1, q2 = q.unbind(-1)
        gate, stretch = _logistic(q1), q2 - q1
        pull = self.coupling * gate * stretch
        slope_1 = self.stiffness1 * q1 - pull + pull * (1 - gate) * stretch / 2
        return torch.stack([slope_1, self.stiffness2 * q2 + pull], dim=-1)

    @checked
    def grad_p(self, q: Coordinates, p: Coordinates) -> Coordinates:
        """The velocity $p_i/m_i$."""
        p1, p2 = p.unbind(-1)
        return torch.stack([p1 / self.mass1, p2 / self.mass2], dim=-1)


@checked
@dataclass(frozen=True, kw_only=True)
class Kepler(HamiltonianSystem):
    r"""A planet in the plane: $H = |p|^2/2m - m\mu/|q|$, with the sun at the origin.

    ``gravity`` is $\mu$. An ellipse of eccentricity $e$ and semi-major axis 1 starts, for
    $m = \mu = 1$, from $q = (1 - e, 0)$ and $p = (0, \sqrt{(1 + e)/(1 - e)})$.
    Source: HLW (2006), section I.2.
    """

    name = "Kepler"
    dim = 2
    separable = True
    mass: Positive = 1.0
    gravity: Positive = 1.0

    @checked
    def energy(self, q: Coordinates, p: Coordinates) -> Float[Tensor, "*batch"]:
        """The Hamiltonian $H(q, p)$, kinetic and potential energy."""
        return (p / (2 * self.mass) * p).sum(-1) + self.potential(q)

    @checked
    def potential(self, q: Coordinates) -> Float[Tensor, "*batch"]:
        r"""$V(q) = -m\mu/|q|$."""
        return -self.mass * self.gravity / torch.sqrt((q * q).sum(-1))

    @checked
    def grad_q(self, q: Coordinates, p: Coordinates) -> Coordinates:
        r"""The gradient of the potential $\nabla V(q)$."""
        square = (q * q).sum(-1)[..., None]
        return self.mass * self.gravity / square * (q / torch.sqrt(square))

    @checked
    def grad_p(self, q: Coordinates, p: Coordinates) -> Coordinates:
        """The velocity $p_i/m_i$."""
        return p / self.mass

    def check_start(self, q: Tensor, p: Tensor) -> None:
        """Raise ``ValueError`` also for a planet in the sun, where the energy is infinite."""
        super().check_start(q, p)
        if (q == 0).all(dim=-1).any():
            raise ValueError(
                "q is (0, 0), the sun itself, where the Kepler problem is singular; expected a "
                "start at some distance; choose another, say q = (1 - e, 0)"
            )


@checked
@dataclass(frozen=True, kw_only=True)
class HenonHeiles(HamiltonianSystem):
    r"""A star in a galaxy: $H = |p|^2/2 + |q|^2/2 + \lambda(q_1^2 q_2 - q_2^3/3)$.

    ``strength`` is $\lambda$. Orbits near the origin stay bounded below the energy
    $1/6\lambda^2$, and turn from regular to chaotic as they come near it.
    Source: Hénon and Heiles (1964); HLW (2006), section I.3.
    """

    name = "Hénon–Heiles"
    dim = 2
    separable = True
    strength: Positive = 1.0

    @checked
    def energy(self, q: Coordinates, p: Coordinates) -> Float[Tensor, "*batch"]:
        """The Hamiltonian $H(q, p)$, kinetic and potential energy."""
        q1, q2 = q.unbind(-1)
        bowl = (q1 * q1 + q2 * q2) / 2
        potential = bowl + self.strength * (q1 * q1 * q2 - q2 * q2 * q2 / 3)
        return (p * p).sum(-1) / 2 + potential

    @checked
    def grad_q(self, q: Coordinates, p: Coordinates) -> Coordinates:
        r"""The gradient of the potential $\nabla V(q)$."""
        q1, q2 = q.unbind(-1)
        slope_1 = q1 + 2 * self.strength * q1 * q2
        return torch.stack([slope_1, q2 + self.strength * (q1 * q1 - q2 * q2)], dim=-1)

    @checked
    def grad_p(self, q: Coordinates, p: Coordinates) -> Coordinates:
        """The velocity $p_i/m_i$."""
        return p


@checked
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
    pairs: ClassVar[int] = 0
    inertia: tuple[Positive, Positive, Positive] = (2.0, 1.0, 2 / 3)
    weights: tuple[Positive, Positive, Positive] = (1.0, 1.0, 1.0)

    @classmethod
    @checked
    def from_coefficients(cls, A: float, B: float, C: float) -> "RigidBody":
        r"""The body that moves by $\dot z = (A z_2 z_3,\ B z_3 z_1,\ C z_1 z_2)$.

        Only $A + B + C = 0$ comes from moments of inertia and keeps $|z|$. Any other sum stands for
        a body in stretched coordinates: ``weights`` other than 1 that are found here. Raises
        ``ValueError`` where no positive weights exist, since the motion may then escape.
        """
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

    @checked
    def energy(self, z: Float[Tensor, "*batch 3"]) -> Float[Tensor, "*batch"]:
        r"""The kinetic energy $H = \frac12\sum_i z_i^2/I_i$."""
        return (z / z.new_tensor(self.inertia) * z).sum(dim=-1) / 2

    @checked
    def casimir(self, z: Float[Tensor, "*batch 3"]) -> Float[Tensor, "*batch"]:
        r"""$K = \frac12\sum_i w_i z_i^2$, which would be conserved under any other energy too."""
        return (z * z * z.new_tensor(self.weights)).sum(dim=-1) / 2

    @checked
    def field(
        self, z: Float[Tensor, "*batch 3"], p: Float[Tensor, "*batch 0"] | None = None
    ) -> Tensor | tuple[Tensor, Tensor]:
        r"""The vector field $\nabla K \times \nabla H$, paired with the empty ``p`` if given."""
        (A, B, C), (x, y, w) = self.coefficients, z.unbind(-1)
        velocity = torch.stack([A * y * w, B * w * x, C * x * y], dim=-1)
        return velocity if p is None else (velocity, p)

    check_start = HamiltonianSystem.check_start


# What the systems share -----------------------------------------------------------------------


def _logistic(x: Tensor) -> Tensor:
    # Through tanh, whose exponentials cannot overflow.
    return (1 + torch.tanh(x / 2)) / 2


Triple = tuple[float, float, float]


def _cross(a: Triple, b: Triple) -> Triple:
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
