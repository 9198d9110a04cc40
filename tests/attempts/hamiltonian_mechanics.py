"""Attempts at the exercises of lecture 11, right and wrong."""

from torch import Tensor

from course_lib import mechanics


def position_verlet(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    q = q + dt / 2 * system.grad_p(q, p)
    p = p - dt * system.grad_q(q, p)
    return q + dt / 2 * system.grad_p(q, p), p


def drift_first(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    q = q + dt * system.grad_p(q, p)
    return q, p - dt * system.grad_q(q, p)


def fourth_order(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    outer = 1 / (2 - 2 ** (1 / 3))
    for part in (outer, 1 - 2 * outer, outer):
        q, p = position_verlet(system, q, p, part * dt)
    return q, p


RIGHT = {
    "drift, then kick": ("symplectic_stepper", drift_first),
    "position Verlet": ("symplectic_stepper", position_verlet),
    "position Verlet in numpy": (
        "symplectic_stepper",
        lambda *inputs: tuple(part.numpy() for part in position_verlet(*inputs)),
    ),
    "order four": ("symplectic_stepper", fourth_order),
    "symplectic Euler": ("symplectic_stepper", mechanics.symplectic_euler),
    "Störmer–Verlet": ("symplectic_stepper", mechanics.stoermer_verlet),
    "implicit midpoint": ("symplectic_stepper", mechanics.implicit_midpoint),
}


def restarting(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    halfway = q + dt / 2 * system.grad_p(q, p)
    p = p - dt * system.grad_q(halfway, p)
    return q + dt * system.grad_p(q, p), p


def trapezoid(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    """Symplectic where the force is linear, and only there."""
    arrived = q + dt * system.grad_p(q, p)
    halfway = q + dt / 2 * system.grad_p(q, p)
    p = p - dt / 2 * (system.grad_q(q, p) + system.grad_q(arrived, p))
    return halfway + dt / 2 * system.grad_p(q, p), p


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


def scaled(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    """Symplectic Euler that then puts the energy right."""
    new_q, new_p = mechanics.symplectic_euler(system, q, p, dt)
    ratio = (system.energy(q, p) + 1) / (system.energy(new_q, new_p) + 1)
    return new_q, new_p * ratio.abs().sqrt()[..., None]


def wrong_last_kick(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
    """Störmer–Verlet that gives back in its last kick what it took in the first."""
    q, p = mechanics.stoermer_verlet(system, q, p, dt)
    return q, p + dt * system.grad_q(q, p)


def moved(q_part: float, p_part: float) -> object:
    """Explicit Euler with each half of the field multiplied by a number."""

    def step(system: object, q: Tensor, p: Tensor, dt: float) -> tuple[Tensor, Tensor]:
        q_dot, p_dot = system.field(q, p)
        return q + q_part * dt * q_dot, p + p_part * dt * p_dot

    return step


# What was tried, what it breaks, the smallest input, and a word of the hint.
WRONG = {
    "explicit Euler": (
        "symplectic_stepper",
        mechanics.explicit_euler,
        "a parallelogram of states of the oscillator keeps",
        "dt = 0.5",
        "The area was -1 and becomes -1.25",
    ),
    "Runge–Kutta 4": (
        "symplectic_stepper",
        mechanics.runge_kutta_4,
        "a parallelogram of states of the oscillator keeps",
        "dt = 1.0",
        "becomes -0.9878",
    ),
    "drift from the start again": (
        "symplectic_stepper",
        restarting,
        "a parallelogram of states of the oscillator keeps",
        "p = tensor([[0.],\n              [1.],\n              [0.]])",
        "Mind the old values",
    ),
    "energy put right by force": (
        "symplectic_stepper",
        scaled,
        "a parallelogram of states of the oscillator keeps",
        "system = HarmonicOscil",
        "a corner and its two neighbours",
    ),
    "symplectic for linear forces": (
        "symplectic_stepper",
        trapezoid,
        "a small parallelogram of states of the pendulum keeps",
        "system = Pendulum",
        "a corner and its two neighbours",
    ),
    "coordinates one by one": (
        "symplectic_stepper",
        one_by_one,
        "with two pairs, the oriented areas in both planes",
        "system = CoupledOscill",
        "The area was 0",
    ),
    "backwards in time": (
        "symplectic_stepper",
        moved(-1, -1),
        "a tiny step goes where the field points",
        "dt = 0.001",
        "backwards",
    ),
    "force of the wrong sign": (
        "symplectic_stepper",
        lambda system, q, p, dt: drift_first(system, q, p + 2 * dt * system.grad_q(q, p), dt),
        "a tiny step goes where the field points",
        "dt = 0.001",
        "force pushes the wrong way",
    ),
    "a wrong sign in the last kick": (
        "symplectic_stepper",
        wrong_last_kick,
        "a tiny step goes where the field points",
        "dt = 0.001",
        "the change of p with dt times grad_q",
    ),
    "no step at all": (
        "symplectic_stepper",
        moved(0, 0),
        "a tiny step goes where the field points",
        "dt = 0.001",
        "stay where you are",
    ),
    "two steps": (
        "symplectic_stepper",
        moved(2, 2),
        "a tiny step goes where the field points",
        "dt = 0.001",
        "twice as far",
    ),
    "half a step": (
        "symplectic_stepper",
        moved(0.5, 0.5),
        "a tiny step goes where the field points",
        "dt = 0.001",
        "half as far",
    ),
    "momentum alone": (
        "symplectic_stepper",
        moved(0, 1),
        "a tiny step goes where the field points",
        "dt = 0.001",
        "Compare the change of q",
    ),
    "states that feel each other": (
        "symplectic_stepper",
        shared,
        "each state of a batch moves as it would alone",
        "p = tensor([[0.],\n              [0.]])",
        "states of a batch meet",
    ),
    "one answer for two": (
        "symplectic_stepper",
        lambda system, q, p, dt: q + dt * system.grad_p(q, p),
        "a tensor of the right kind and shape",
        "not enough values to unpack (expected 2, got 1)",
        "Read the message",
    ),
}
