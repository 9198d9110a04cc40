"""An attention-only network that learns induction heads, and its training strings.

In each string of :func:`returning_strings` a passage is repeated, so its letters can be predicted;
a :class:`StringReader` of two layers learns to. :func:`reader_accuracy` measures how well, and
:func:`head_scores` what each head does. :class:`ToldReader` needs one layer.
"""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.attention import MultiHeadAttention, causal_mask
from course_lib.support.training import fit

TOKENS = 24
LETTERS = 26


class Strings(NamedTuple):
    """Letters, the positions whose next letter is predictable, and its earlier position."""

    ids: Int[Tensor, "strings tokens"]
    known: Bool[Tensor, "strings tokens"]
    answer: Int[Tensor, "strings tokens"]


def returning_strings(count: int, generator: torch.Generator) -> Strings:
    """Random letters, each once, except for a passage of 4 to 8 that is repeated later."""
    letters = torch.rand(count, LETTERS, generator=generator).argsort(-1)
    length = torch.randint(4, 9, (count, 1), generator=generator)
    cuts = torch.rand(count, 2, generator=generator) * (TOKENS - 2 * length + 1)
    first, second = (cuts.long().sort(-1).values + torch.tensor([0, 1]) * length).split(1, dim=-1)
    place = torch.arange(TOKENS)
    earlier = place - length * (place >= second + length)
    again = (second <= place) & (place < second + length)
    ids = letters.gather(1, torch.where(again, place - second + first, earlier))
    known = (second <= place) & (place < second + length - 1)
    return Strings(ids, known, torch.where(known, place - second + first + 1, 0))


class StringReader(nn.Module):
    """An attention-only network that predicts the next letter."""

    def __init__(self, layers: int = 2, d: int = 32, heads: int = 2) -> None:
        super().__init__()
        self.letter = nn.Embedding(LETTERS, d)
        self.place = nn.Embedding(TOKENS, d)
        self.layers = nn.ModuleList(MultiHeadAttention(d, heads, bias=False) for _ in range(layers))
        self.next = nn.Linear(d, LETTERS)

    def forward(self, ids: Int[Tensor, "*batch tokens"]) -> Float[Tensor, "*batch tokens 26"]:
        """The logits of the next letter, after each letter."""
        return self.next(self.states(ids)[-1])

    def states(self, ids: Int[Tensor, "*batch tokens"]) -> list[Tensor]:
        """The residual stream: before the first layer, and after each."""
        mask = causal_mask(ids.shape[-1])
        states = [self.letter(ids) + self.place.weight[: ids.shape[-1]]]
        for layer in self.layers:
            states.append(states[-1] + layer(states[-1], mask=mask))
        return states

    def weights(
        self, ids: Int[Tensor, "*batch tokens"]
    ) -> Float[Tensor, "*batch layers heads tokens tokens"]:
        """The attention weights of each head."""
        mask = causal_mask(ids.shape[-1])
        pairs = zip(self.layers, self.states(ids), strict=False)
        return torch.stack([layer.weights(x, mask=mask) for layer, x in pairs], dim=-4)


class ToldReader(StringReader):
    """A reader of one layer whose embedding of each token includes the letter before."""

    def __init__(self) -> None:
        super().__init__(layers=1)
        self.before = nn.Embedding(LETTERS + 1, 32)

    def states(self, ids: Int[Tensor, "*batch tokens"]) -> list[Tensor]:
        """The residual stream, before and after the layer."""
        earlier = F.pad(ids[..., :-1], (1, 0), value=LETTERS)  # 26: no letter before
        x = self.letter(ids) + self.before(earlier) + self.place.weight[: ids.shape[-1]]
        return [x, x + self.layers[0](x, mask=causal_mask(ids.shape[-1]))]


def reader_loss(reader: StringReader, batch: Strings) -> Float[Tensor, ""]:
    """The mean cross-entropy of the predictable letters."""
    ids, known, _ = batch
    return F.cross_entropy(reader(ids)[known], ids.roll(-1, 1)[known])


def train_reader(
    reader: StringReader, generator: torch.Generator, *, steps: int = 500, **options: object
) -> list[float]:
    """Train on 64 fresh strings a step; return the losses. ``options`` go to ``training.fit``."""
    batches = [returning_strings(64, generator) for _ in range(steps)]
    return fit(reader, reader_loss, batches, steps=steps, learning_rate=3e-3, clip=1.0, **options)


@torch.no_grad()
def reader_accuracy(reader: StringReader, batch: Strings) -> float:
    """The share of the predictable letters that is predicted."""
    ids, known, _ = batch
    return (reader(ids)[known].argmax(-1) == ids.roll(-1, 1)[known]).double().mean().item()


@torch.no_grad()
def head_scores(
    reader: StringReader, batch: Strings
) -> tuple[Float[Tensor, "layers heads"], Float[Tensor, "layers heads"]]:
    """The mean weight of each head on the previous letter, and on the letter to be copied."""
    ids, known, answer = batch
    weights = reader.weights(ids)
    before = weights.diagonal(-1, -2, -1).mean((0, -1))
    at_known = weights.permute(1, 2, 0, 3, 4)[:, :, known]  # layer, head, known query, key
    there = answer[known].expand(*at_known.shape[:3])[..., None]
    return before, at_known.gather(-1, there).mean((-2, -1))
