r"""A prompt that sets the physics: an encoder reads a few states and sets a SympNet's coefficients.

A trajectory's first states, the prompt, go through :class:`PromptEncoder`, in which one learned
query attends to all pairs of neighbours. What it finds sets the coefficients $a$ of the gradient
layers of :class:`PromptedSympNet`. For every fixed prompt that is a SympNet: a symplectic map of
one state, with an exact inverse, whatever the encoder says. A network that sets the weights of
another is a hypernetwork (Ha, Dai and Le, 2017).

States are ``(*batch, d)`` in ``q`` and in ``p``, prompts ``(*batch, prompt, d)``. Bad input raises
``TypeError`` or ``ValueError`` with what was given, what was expected and what to do.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from course_lib.attention import MultiHeadAttention
from course_lib.support.contracts import Positive, Size, checked
from course_lib.symplectic import SympNet

DATA = Path(__file__).parent / "data" / "prompted_sympnets.npz"


class PromptEncoder(nn.Module):
    r"""What some neighbouring states say about the physics behind them: ``features`` numbers.

    Each pair of neighbours, as $(z_n, (z_{n+1} - z_n) / h)$ with the time ``dt`` $= h$ between
    them, goes through a perceptron, and one learned query attends to all pairs, with ``heads``
    heads. ``pool="mean"`` weighs all pairs alike and has another perceptron, about as large, in the
    place of the attention. Raises ``ValueError`` for a prompt of fewer than two states.
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
        """Look at all pairs of neighbours."""
        y = self._pairs(q, p)
        if self.pool == "mean":
            return self.read(self.look(y.mean(dim=-2)))
        query = self.query.expand(*y.shape[:-2], 1, -1)
        return self.read(self.look(query, y).squeeze(-2))

    @checked
    def weights(
        self, q: Float[Tensor, "*batch prompt d"], p: Float[Tensor, "*batch prompt d"]
    ) -> Float[Tensor, "*batch heads pairs"]:
        """How much each head looks at each pair of neighbours."""
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
        """All layers in turn. This is the door, for an encoder opens its own."""
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
"""The networks that ``data/prompted_sympnets.npz`` has the weights of."""


@checked
def trained(kind: Literal["attention", "SympNet"] = "attention") -> nn.Module:
    """What lecture 12 shows: a prompted SympNet for coupled oscillators, trained, or a plain one.

    ``"attention"`` has read prompts of eight states, 0.3 apart, each with a coupling of its own;
    ``"SympNet"`` has learned the same steps without a prompt. The program
    ``scripts/data/train_prompted_sympnets.py`` made both, and ``data/prompted_sympnets.md`` says
    how.
    """
    import numpy as np

    network = TRAINED[kind]().double()
    with np.load(DATA) as stored:
        weights = torch.from_numpy(stored[kind]).double()
    nn.utils.vector_to_parameters(weights, network.parameters())
    return network.requires_grad_(requires_grad=False)
