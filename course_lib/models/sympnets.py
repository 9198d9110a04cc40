r"""Prompted SympNets: an encoder reads a few states and sets the coefficients of a SympNet.

A trajectory's first states, the prompt, go through :class:`PromptEncoder`, in which one learned
query attends to all pairs of neighbours. Its output sets the coefficients $a$ of the gradient
layers of :class:`PromptedSympNet`. For every fixed prompt that is a SympNet: a symplectic map of
one state, with an exact inverse, whatever the encoder returns. A network that sets the weights of
another is a hypernetwork (Ha, Dai and Le, 2017).

States are ``(*batch, d)`` in ``q`` and in ``p``, prompts ``(*batch, prompt, d)``. Bad input raises
``TypeError`` or ``ValueError`` with what was given, what was expected and what to do.

Then come networks that learn one step of two coupled springs and are rolled out: lecture 12 and its
evidence train them, and ``benchmarks/symplectic_rollouts.py`` from several seeds.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn
from torch.optim.lr_scheduler import CosineAnnealingLR

from course_lib.attention import MultiHeadAttention
from course_lib.mechanics import CoupledOscillators, IntegrationError, Trajectory, integrate
from course_lib.models.stored import load
from course_lib.support.checks import check_divides
from course_lib.support.contracts import Positive, Size, checked
from course_lib.support.training import fit, seed
from course_lib.symplectic import SympNet


class PromptEncoder(nn.Module):
    r"""Encode some successive states as ``features`` numbers about the physics behind them.

    Each pair of neighbours, as $(z_n, (z_{n+1} - z_n) / h)$ with the time ``dt`` $= h$ between
    them, goes through a perceptron, and one learned query attends to all pairs, with ``heads``
    heads. ``pool="mean"`` weighs all pairs alike and replaces the attention by a perceptron of
    about its size. Raises ``ValueError`` for a prompt of fewer than two states.
    """

    @checked
    def __init__(
        self,
        d: Size,
        *,
        dt: Positive = 1.0,
        features: Size = 32,
        heads: Size = 4,
        pool: Literal["attention", "mean"] = "attention",
    ) -> None:
        super().__init__()
        self.d, self.dt, self.features = d, dt, features
        self.pair = nn.Sequential(
            nn.Linear(4 * d, features), nn.Tanh(), nn.Linear(features, features), nn.Tanh()
        )
        if pool == "attention":
            self.query = nn.Parameter(torch.randn(1, features) / features**0.5)
            self.look = MultiHeadAttention(features, heads)
        else:
            self.look = nn.Sequential(
                nn.Linear(features, 2 * features), nn.Tanh(), nn.Linear(2 * features, features)
            )
        self.pool = pool
        self.read = nn.Sequential(nn.Linear(features, features), nn.Tanh())

    @checked
    def forward(
        self, q: Float[Tensor, "*batch prompt d"], p: Float[Tensor, "*batch prompt d"]
    ) -> Float[Tensor, "*batch features"]:
        """Encode the prompt by attention to all pairs of neighbours."""
        y = self._pairs(q, p)
        if self.pool == "mean":
            return self.read(self.look(y.mean(dim=-2)))
        query = self.query.expand(*y.shape[:-2], 1, -1)
        return self.read(self.look(query, y).squeeze(-2))

    @checked
    def weights(
        self, q: Float[Tensor, "*batch prompt d"], p: Float[Tensor, "*batch prompt d"]
    ) -> Float[Tensor, "*batch heads pairs"]:
        """The weight of each head on each pair of neighbours."""
        y = self._pairs(q, p)
        if self.pool == "mean":
            return y.new_full((*y.shape[:-2], 1, y.shape[-2]), 1 / y.shape[-2])
        return self.look.weights(self.query.expand(*y.shape[:-2], 1, -1), y).squeeze(-2)

    def _pairs(self, q: Tensor, p: Tensor) -> Tensor:
        if (states := q.shape[-2]) <= 1:
            raise ValueError(
                f"the prompt has {states} state; expected two or more, neighbours in time; "
                "pass a longer one"
            )
        z = torch.cat([q, p], dim=-1)
        step = (z[..., 1:, :] - z[..., :-1, :]) / self.dt
        return self.pair(torch.cat([z[..., :-1, :], step], dim=-1))


class PromptedSympNet(nn.Module):
    r"""A SympNet whose amplitudes follow from a prompt: $a = a_0 + W\,\mathrm{encoder}(Z_0)$.

    Every layer is $q \mathrel{+}= K^\top \mathrm{diag}(a) \tanh(Kp + b)$ or the same in $p$, as in
    :class:`~course_lib.symplectic.GradientLayer`, so the map of the state is symplectic for every
    prompt $Z_0$ and every ``encoder``. ``encoder`` maps what is passed as ``context`` to
    ``features`` numbers; :class:`PromptEncoder` unless given. $W$ begins at zero, so a fresh
    network is a SympNet that ignores its prompt.
    Source: Jin et al. (2020) for the layers, Ha, Dai and Le (2017) for a network that sets another.
    """

    @checked
    def __init__(
        self,
        d: Size,
        *,
        encoder: nn.Module | None = None,
        features: Size = 32,
        layers: Size = 8,
        width: Size = 16,
    ) -> None:
        super().__init__()
        self.encoder = PromptEncoder(d, features=features) if encoder is None else encoder
        self.sympnet = SympNet(d, layers=layers, width=width)
        self.head = nn.Linear(features, layers * width, bias=False)
        nn.init.zeros_(self.head.weight)
        self.d, self.width = d, width

    def amplitudes(self, *context: Tensor) -> Float[Tensor, "*batch layers width"]:
        r"""The coefficients $a$ of all layers, as this context sets them."""
        own = torch.stack([layer.a for layer in self.sympnet.layers])
        return own + self.head(self.encoder(*context)).unflatten(-1, (-1, self.width))

    def forward(
        self,
        q: Float[Tensor, "*batch d"],
        p: Float[Tensor, "*batch d"],
        *,
        context: tuple[Tensor, ...],
    ) -> tuple[Float[Tensor, "*batch d"], Float[Tensor, "*batch d"]]:
        """One step of the SympNet that this context sets."""
        return self._steps(q, p, self.amplitudes(*context), 1)

    def inverse(
        self,
        q: Float[Tensor, "*batch d"],
        p: Float[Tensor, "*batch d"],
        *,
        context: tuple[Tensor, ...],
    ) -> tuple[Float[Tensor, "*batch d"], Float[Tensor, "*batch d"]]:
        """Undo the step, exactly but for rounding, given the same context."""
        return self._steps(q, p, self.amplitudes(*context), -1)

    def given(self, *context: Tensor) -> Callable[[Any, Tensor, Tensor, Any], tuple]:
        """A stepper for ``integrate`` that reads this context once, before the first step."""
        a = self.amplitudes(*context)
        return lambda _system, q, p, _dt: self._steps(q, p, a, 1)

    @checked
    def _steps(
        self,
        q: Float[Tensor, "*batch d"],
        p: Float[Tensor, "*batch d"],
        amplitudes: Float[Tensor, "*#batch layers width"],
        sign: int,
    ) -> tuple[Float[Tensor, "*batch d"], Float[Tensor, "*batch d"]]:
        """Apply all layers; the contract of the states is checked here."""
        pairs = list(zip(self.sympnet.layers, amplitudes.unbind(-2), strict=True))
        for layer, amplitude in pairs if sign > 0 else reversed(pairs):
            if layer.update == "q":
                q = q + sign * layer.gradient(p, amplitude)
            else:
                p = p - sign * layer.gradient(q, amplitude)
        return q, p


TRAINED: dict[str, Callable[[], nn.Module]] = {
    "attention": lambda: PromptedSympNet(2, encoder=PromptEncoder(2, dt=0.3)),
    "SympNet": lambda: SympNet(2),
}
"""The networks whose weights are in ``data/prompted_sympnets.npz``."""


@checked
def load_sympnet(kind: Literal["attention", "SympNet"] = "attention") -> nn.Module:
    """A trained SympNet of lecture 12 for coupled oscillators, prompted or plain.

    ``"attention"`` was trained with prompts of eight states, 0.3 apart, each with its own coupling;
    ``"SympNet"`` learned the same steps without a prompt.
    ``scripts/data/train_prompted_sympnets.py`` trained both, and ``data/prompted_sympnets.md`` says
    how.
    """
    name = "prompted_sympnets.npz"
    network, _ = load(name, lambda _: TRAINED[kind]().double(), weights=kind)
    return network.requires_grad_(requires_grad=False)


SYSTEM, STEP = CoupledOscillators(), 0.3
"""Two springs with a third between them, and the time from one state to the next."""

States = tuple[Tensor, Tensor]
Picked = tuple[Int64[Tensor, "batch"], Int64[Tensor, "batch"]]


def reference(starts: int, length: int, generator: torch.Generator) -> States:
    """Trajectories from random starts in [-1, 1]⁴ with states STEP apart, by a fine step."""
    q, p = 2 * torch.rand(2, starts, 2, generator=generator, dtype=torch.float64) - 1
    run = integrate(SYSTEM, q, p, dt=STEP / 10, steps=10 * length)
    return run.q[:, ::10], run.p[:, ::10]


class Perceptron(nn.Module):
    """Baseline without structure: maps a state (starts, d) of q and p to the next."""

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
    """Baseline without structure: maps windows (starts, tokens, d) of q and p to the next."""

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
    """Windows of the trajectories i at the times t, and the windows ``shift`` states later.

    A window of one token is a state.
    """
    if tokens > 1:
        i, t = i[..., None], t[..., None] + torch.arange(tokens)
    q, p = data
    return (q[i, t], p[i, t]), (q[i, t + shift], p[i, t + shift])


def missed(model: Callable[..., States], pair: tuple[States, States]) -> Float[Tensor, ""]:
    """Mean squared error of the predicted states."""
    before, after = pair
    return sum((a - b).square().mean() for a, b in zip(model(*before), after, strict=True))


def comes_next(
    data: States, *, tokens: int = 1, shift: int = 1
) -> Callable[[Callable[..., States], Picked], Tensor]:
    """A loss for ``fit``: the error of a model's next states at picked (trajectory, time)."""
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

    adam = partial(torch.optim.Adam, fused=True)
    options = {"learning_rate": learning_rate, "optimizer": adam, "schedule": CosineAnnealingLR}
    fit(model, loss, batches, steps=updates, progress=progress, **options)
    return model


def roll_out(
    model: Callable[..., States], q: Tensor, p: Tensor, *, shift: int = 1, steps: int = 10_000
) -> Trajectory:
    """Iterate a model from known states; a map of windows moves ``shift`` states at a time.

    Stops before the first number that is not finite.
    """

    def step(_system: object, q: Tensor, p: Tensor, _dt: float) -> States:
        return model(q, p)

    try:
        with torch.inference_mode():
            return integrate(SYSTEM, q, p, dt=shift * STEP, steps=steps // shift, method=step)
    except IntegrationError as error:
        return error.trajectory
