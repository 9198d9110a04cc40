r"""Networks that learn one step of two coupled springs, and then feed on their own output.

What lecture 12 trains in view, what its evidence trains beside it, and
``benchmarks/symplectic_rollouts.py`` from several seeds.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from course_lib.checks import check_divides
from course_lib.mechanics import CoupledOscillators, IntegrationError, Trajectory, integrate
from course_lib.support.contracts import Size, checked
from course_lib.training import fit, seed

SYSTEM, STEP = CoupledOscillators(), 0.3
"""Two springs with a third between them, and the time from one state to the next."""

States = tuple[Tensor, Tensor]
Picked = tuple[Int64[Tensor, "batch"], Int64[Tensor, "batch"]]


def reference(starts: int, length: int, generator: torch.Generator) -> States:
    """States STEP apart, from random starts in [-1, 1]⁴, by a fine step."""
    q, p = 2 * torch.rand(2, starts, 2, generator=generator, dtype=torch.float64) - 1
    run = integrate(SYSTEM, q, p, dt=STEP / 10, steps=10 * length)
    return run.q[:, ::10], run.p[:, ::10]


class Perceptron(nn.Module):
    """A state (starts, d) of q and p to the next; nothing is built in."""

    @checked
    def __init__(self, d: Size, width: Size = 56) -> None:
        super().__init__()
        self.d = d
        self.move = nn.Sequential(nn.Linear(2 * d, width), nn.Tanh(), nn.Linear(width, 2 * d))

    @checked
    def forward(self, q: Float[Tensor, "*batch d"], p: Float[Tensor, "*batch d"]) -> States:
        """The state after (q, p)."""
        z = torch.cat([q, p], dim=-1)
        return (z + self.move(z)).chunk(2, dim=-1)


class StandardTransformer(nn.Module):
    """Windows (starts, tokens, d) of q and p to the next window; nothing is built in."""

    @checked
    def __init__(self, d: Size, tokens: Size, width: Size = 16) -> None:
        super().__init__()
        check_divides("heads", 4, "width", width)
        self.d, self.tokens = d, tokens
        self.embed = nn.Linear(2 * d, width)
        self.position = nn.Parameter(0.1 * torch.randn(tokens, width))
        block = nn.TransformerEncoderLayer(
            width, 4, dim_feedforward=2 * width, dropout=0, norm_first=True, batch_first=True
        )
        self.blocks = nn.TransformerEncoder(block, 2, enable_nested_tensor=False)
        self.read = nn.Linear(width, 2 * d)

    @checked
    def forward(
        self, q: Float[Tensor, "starts tokens d"], p: Float[Tensor, "starts tokens d"]
    ) -> States:
        """The window after (q, p)."""
        z = torch.cat([q, p], dim=-1)
        return (z + self.read(self.blocks(self.embed(z) + self.position))).chunk(2, dim=-1)


def pieces(
    data: States, i: Tensor, t: Tensor, *, tokens: int = 1, shift: int = 1
) -> tuple[States, States]:
    """Windows of the trajectories i at the times t, and the windows so many states later.

    A window of one token is a state.
    """
    if tokens > 1:
        i, t = i[..., None], t[..., None] + torch.arange(tokens)
    q, p = data
    return (q[i, t], p[i, t]), (q[i, t + shift], p[i, t + shift])


def missed(model: Callable[..., States], pair: tuple[States, States]) -> Float[Tensor, ""]:
    """Mean squared error of what comes next."""
    before, after = pair
    return sum((a - b).square().mean() for a, b in zip(model(*before), after, strict=True))


def comes_next(
    data: States, *, tokens: int = 1, shift: int = 1
) -> Callable[[Callable[..., States], Picked], Tensor]:
    """The loss of a model at picked (trajectory, time): how far it misses what comes next."""
    return lambda model, picked: missed(model, pieces(data, *picked, tokens=tokens, shift=shift))


def learn(
    make: Callable[[], nn.Module],
    loss: Callable[[Any, Any], Tensor],
    *,
    last: int,
    learning_rate: float | int = 2e-2,
    updates: int = 1500,
    trajectories: int = 200,
    progress: bool = True,
) -> nn.Module:
    """Train a model on random (trajectory, time) up to the time ``last``.

    Adam, with a learning rate that falls to zero along a cosine.
    """
    pick = seed(0)
    model = make().double()
    batches = [
        tuple(torch.randint(size, (64,), generator=pick) for size in (trajectories, last + 1))
        for _ in range(updates)
    ]

    def annealed(parameters: Iterable[nn.Parameter], lr: float) -> torch.optim.Optimizer:
        adam = torch.optim.Adam(parameters, lr=lr, fused=True)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, updates)
        adam.register_step_post_hook(lambda *_: schedule.step())
        return adam

    options = {"learning_rate": learning_rate, "optimizer": annealed, "progress": progress}
    fit(model, loss, batches, steps=updates, **options)
    return model


def roll_out(
    model: Callable[..., States], q: Tensor, p: Tensor, *, shift: int = 1, steps: int = 10_000
) -> Trajectory:
    """From known states so many steps on; a map of windows goes ``shift`` states at a time.

    Where a number overflows, what was finite before it.
    """

    def step(_system: object, q: Tensor, p: Tensor, _dt: float) -> States:
        return model(q, p)

    try:
        with torch.inference_mode():
            return integrate(SYSTEM, q, p, dt=shift * STEP, steps=steps // shift, method=step)
    except IntegrationError as error:
        return error.trajectory
