r"""Time transformation: short steps where the motion is fast, in a Hamiltonian system.

With a step that depends on the state, a method is no longer symplectic. A *time transformation*
changes the system instead: its solutions run through the same states in another time $\tau$, in
which all steps have one length.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from course_lib.mechanics.steppers import SWEEPS
from course_lib.mechanics.systems import (
    Coordinates,
    HamiltonianSystem,
)
from course_lib.support.contracts import checked


class LogarithmicHamiltonian(HamiltonianSystem):
    r"""$\Lambda = \log\big(T(p) + p_t\big) - \log\big(-V(q)\big)$, with time $t$ as one more $q$.

    The momentum of time is $p_t = -H$, so $\Lambda = 0$ at the start and ever after, and on that
    surface the flow is that of ``system`` with $\mathrm dt = \mathrm d\tau / (-V)$; for
    Kepler $\mathrm dt = r\, \mathrm d\tau / m\mu$. It is separable, so Störmer–Verlet is explicit
    and symplectic on the extended states ``(q, t)`` and ``(p, p_t)``, ``(*batch, dim + 1)``, that
    :meth:`extended` makes.

    ``system`` is one of masses in a ``potential(q)`` that is negative everywhere, as that of
    :class:`Kepler` is; raises ``TypeError`` for any other kind, ``ValueError`` at a start where $V
    \ge 0$. Source: Mikkola and Tanikawa (1999), eq. 3; Preto and Tremaine (1999), section 2.
    """

    separable = True

    @checked
    def __init__(self, system: HamiltonianSystem) -> None:
        if not hasattr(system, "potential"):
            raise TypeError(
                f"system is a {type(system).__name__}; expected masses in a potential(q) below 0, "
                "H = Σ p²/2m + V(q); choose Kepler()"
            )
        self.system = system
        self.name = f"{system.name} by another clock"
        self.dim = system.dim + 1

    @checked
    def extended(
        self, q: Float[Tensor, "*batch d"], p: Float[Tensor, "*batch d"]
    ) -> tuple[Coordinates, Coordinates]:
        """The state at time 0, and the momentum of time that belongs to its energy."""
        energy = self.system.energy(q, p)[..., None]
        return torch.cat([q, 0 * energy], dim=-1), torch.cat([p, -energy], dim=-1)

    @checked
    def energy(self, q: Coordinates, p: Coordinates) -> Float[Tensor, "*batch"]:
        r"""$\Lambda$, which is 0 on every solution that :meth:`extended` starts."""
        return (
            self._binding(p, self._velocity(q, p)).log()
            - (-self.system.potential(q[..., :-1])).log()
        )

    @checked
    def grad_q(self, q: Coordinates, p: Coordinates) -> Coordinates:
        r"""$\nabla V / (-V)$, and 0 for time."""
        slope = self.system.grad_q(q[..., :-1], p[..., :-1])
        depth = -self.system.potential(q[..., :-1])
        return torch.cat([slope / depth[..., None], 0 * q[..., -1:]], dim=-1)

    @checked
    def grad_p(self, q: Coordinates, p: Coordinates) -> Coordinates:
        r"""The velocity over $T + p_t$, and the pace of time, $1/(T + p_t)$."""
        velocity = self._velocity(q, p)
        pace = 1 / self._binding(p, velocity)[..., None]
        return torch.cat([pace * velocity, pace], dim=-1)

    def _velocity(self, q: Tensor, p: Tensor) -> Tensor:
        return self.system.grad_p(q[..., :-1], p[..., :-1])

    def _binding(self, p: Tensor, velocity: Tensor) -> Tensor:
        """$T + p_t$, where $T$ is half of momentum times velocity."""
        return (p[..., :-1] * velocity).sum(-1) / 2 + p[..., -1]

    def check_start(self, q: Tensor, p: Tensor) -> None:
        """Raise ``ValueError`` also where a logarithm has no value."""
        super().check_start(q, p)
        self.system.check_start(q[..., :-1], p[..., :-1])
        binding = self._binding(p, self._velocity(q, p))
        logarithms_of = {"T + p_t": binding, "-V": -self.system.potential(q[..., :-1])}
        for name, value in logarithms_of.items():
            if not (value > 0).all():
                raise ValueError(
                    f"{name} is {value.min().item():.3g} at the start; expected a number above 0, "
                    "whose logarithm is taken; start from .extended(q, p) where V is below 0"
                )


# Steps that depend on the state, for comparison -------------------------------------------------


def by_distance(system: Any, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    r"""Störmer–Verlet with the step $\varepsilon |q|$ from where it starts; ``dt`` is ε.

    Neither symplectic nor reversible.
    """
    return _kick_and_drift(system, q, p, dt * _distance(q))


def by_both_ends(system: Any, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    r"""Störmer–Verlet with ``dt``, ε, times the mean distance of both ends: only reversible.

    The step stands on both sides of its equation, which is solved by iteration; raises
    ``ArithmeticError`` where that does not converge.
    """
    h, rounding = dt * _distance(q), 8 * torch.finfo(q.dtype).eps
    for _ in range(SWEEPS):
        there, _p = _kick_and_drift(system, q, p, h)
        last, h = h, dt / 2 * (_distance(q) + _distance(there))
        if torch.allclose(h, last, rtol=rounding, atol=0):
            return _kick_and_drift(system, q, p, h)
    raise ArithmeticError(f"the step is not settled by {SWEEPS} sweeps; choose a shorter dt")


def _distance(q: Tensor) -> Tensor:
    return q.norm(dim=-1, keepdim=True)


def _kick_and_drift(system: Any, q: Tensor, p: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    p = p - h / 2 * system.grad_q(q, p)
    q = q + h * system.grad_p(q, p)
    return q, p - h / 2 * system.grad_q(q, p)
