from torch import Tensor

from course_lib import mechanics


def drift_first(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    q = q + dt * system.grad_p(q, p)
    return q, p - dt * system.grad_q(q, p)


RIGHT = {
    "symplectic_stepper": [
        drift_first,
        lambda *inputs: tuple(part.numpy() for part in mechanics.stoermer_verlet(*inputs)),
        mechanics.implicit_midpoint,
    ],
}


def one_by_one(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    """Symplectic with a single pair, and only there."""
    q, p = q.clone(), p.clone()
    for i in range(q.shape[-1]):
        p[..., i] -= dt * system.grad_q(q, p)[..., i]
        q[..., i] += dt * system.grad_p(q, p)[..., i]
    return q, p


def shared(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    together = q.dim() > 1
    pull = dt**2 * q.mean(0) if together else 0 * q
    return drift_first(system, q, p - pull, dt)


WRONG = {
    "symplectic_stepper": [mechanics.explicit_euler, "p rounded", one_by_one, shared],
}
