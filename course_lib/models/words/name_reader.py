"""The readers of lecture 5: one encoder layer, with or without position encodings.

They read surnames of the US census of 1990. Some classify words as names or shuffled names; some
predict masked letters in a long row of names.
"""

from collections.abc import Callable
from functools import cache, partial
from string import ascii_uppercase

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.models.words.spelling import census_names
from course_lib.position import BucketedBias, alibi_bias
from course_lib.support.training import fit, seed
from course_lib.transformer import Encoder, TokenEmbedding

LETTERS = ascii_uppercase + " "
HIDDEN = len(LETTERS)
"""The id of a masked letter."""
SHORT, LONG = 16, 128
"""The length of a window in training, and the longest in tests."""
HELD_OUT_NAMES, HELD_OUT_EIGHTS = 10_000, 2000
EIGHT = 8
ODDS = 1 / 7
"""One letter in seven is hidden."""


class Reader(nn.Module):
    """Map each token to logits.

    ``position`` is ``none``, ``learned``, ``sinusoidal`` or ``rotary``, or a bias for each
    distance, ``ALiBi`` or ``T5``.
    """

    def __init__(
        self,
        position: str,
        answers: int,
        *,
        tokens: int,
        vocabulary_size: int = HIDDEN + 1,
        d_model: int = 32,
        heads: int = 4,
    ) -> None:
        super().__init__()
        by_distance = {"ALiBi": partial(alibi_bias, heads=heads), "T5": BucketedBias(heads)}
        self.bias = by_distance.get(position)
        added = position if self.bias is None else "none"
        self.embedding = TokenEmbedding(vocabulary_size, d_model, tokens=tokens, position=added)
        self.encoder = Encoder(d_model, heads=heads, layers=1, d_hidden=64)
        self.readout = nn.Linear(d_model, answers)

    def forward(
        self,
        ids: Int[Tensor, "*batch tokens"],
        *,
        start: int = 0,
        mask: Bool[Tensor, "tokens tokens"] | None = None,
    ) -> Float[Tensor, "*batch tokens answers"]:
        """The logits of every token; the first token is at position ``start``."""
        x = self.embedding(ids, start=start)
        rotation = self.embedding.positions(ids, start=start)  # None, unless rotary
        bias = None if self.bias is None else self.bias(ids.shape[-1]).to(x)
        if bias is not None and ids.dim() > 1:
            bias = bias[None]  # the same for the whole batch
        return self.readout(self.encoder(x, mask=mask, bias=bias, position=rotation))


def learn(reader: nn.Module, loss: Callable[..., Tensor], batches: list[object]) -> None:
    """Take a step for each batch."""
    fast = partial(torch.optim.AdamW, fused=True)
    options = {"learning_rate": 1e-2, "clip": 1.0, "optimizer": fast, "progress": False}
    fit(reader, loss, batches, steps=len(batches), **options)


def near(tokens: int, reach: int) -> Bool[Tensor, "tokens tokens"]:
    """A mask: every token may look at those less than ``reach`` positions away."""
    position = torch.arange(tokens)
    return (position[:, None] - position).abs() < reach


# Surnames --------------------------------------------------------------------------------------


def letter_ids(text: str) -> Int[Tensor, " letters"]:
    """The index of each letter in :data:`LETTERS`."""
    return torch.tensor([LETTERS.index(letter) for letter in text])


@cache
def surnames() -> list[str]:
    """All surnames, in a fixed random order."""
    names = sorted(census_names("last"))
    return [
        names[i] for i in torch.randperm(len(names), generator=torch.Generator().manual_seed(0))
    ]


@cache
def names_of_eight() -> tuple[Tensor, Tensor]:
    """Surnames of eight letters: held-out ones and those for training."""
    eight = torch.stack([letter_ids(name) for name in surnames() if len(name) == EIGHT])
    return eight[:HELD_OUT_EIGHTS], eight[HELD_OUT_EIGHTS:]


@cache
def rows() -> tuple[Tensor, Tensor]:
    """Surnames in one long row: held-out ones and those for training."""
    held_out, seen = surnames()[:HELD_OUT_NAMES], surnames()[HELD_OUT_NAMES:]
    return letter_ids(" ".join(held_out)), letter_ids(" ".join(seen))


# Name or shuffle? ------------------------------------------------------------------------------


def names_and_shuffles(ids: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Names, then the same letters in another order; and 1 for a name, 0 for a shuffle."""
    shuffled = ids.gather(1, torch.rand(ids.shape, generator=generator).argsort(-1))
    changed = (shuffled != ids).any(-1)
    both = torch.cat([ids[changed], shuffled[changed]])
    return both, (torch.arange(len(both)) < changed.sum()).float()


def learn_to_judge(kind: str, mask: Tensor | None = None) -> float:
    """Train a classifier (a mean output above 0 is a name) and return its held-out accuracy."""
    random = seed(0)
    held_out, seen = names_of_eight()
    reader = Reader(kind, 1, tokens=EIGHT)
    draws = [torch.randint(len(seen), (64,), generator=random) for _ in range(100)]
    batches = [names_and_shuffles(seen[draw], random) for draw in draws]

    def opinion(reader: nn.Module, ids: Tensor) -> Tensor:
        return reader(ids, mask=mask).mean((-2, -1))

    def loss(reader: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
        return F.binary_cross_entropy_with_logits(opinion(reader, batch[0]), batch[1])

    learn(reader, loss, batches)
    ids, is_name = names_and_shuffles(held_out, torch.Generator().manual_seed(1))
    with torch.no_grad():
        return ((opinion(reader, ids) > 0) == is_name.bool()).double().mean().item()


# Hidden letters --------------------------------------------------------------------------------


def windows(
    source: Tensor, tokens: int, count: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Windows at random positions of a row, and which of their letters are masked."""
    begin = torch.randint(len(source) - tokens, (count, 1), generator=generator)
    hidden = torch.rand(count, tokens, generator=generator) < ODDS
    return source[begin + torch.arange(tokens)], hidden


def surprise(
    reader: nn.Module,
    batch: tuple[Tensor, Tensor],
    *,
    start: int = 0,
    mask: Tensor | None = None,
) -> Tensor:
    """The cross-entropy of the hidden letters."""
    ids, hidden = batch
    logits = reader(ids.masked_fill(hidden, HIDDEN), start=start, mask=mask)
    return F.cross_entropy(logits[hidden], ids[hidden])


def learn_to_guess(
    kind: str,
    value: int,
    *,
    loss: Callable[..., Tensor] = surprise,
    bias: Callable[[int], Tensor] | None = None,
    steps: int = 300,
) -> Reader:
    """Train a reader to predict masked letters in windows of :data:`SHORT` from a seed."""
    random = seed(value)
    reader = Reader(kind, len(LETTERS), tokens=LONG)
    reader.bias = reader.bias if bias is None else bias
    learn(reader, loss, [windows(rows()[1], SHORT, 64, random) for _ in range(steps)])
    return reader


@cache
def asked_windows(tokens: int) -> tuple[Tensor, Tensor]:
    """Held-out windows of ``tokens`` letters; at every length the same letters are hidden."""
    ids, hidden = windows(rows()[0], LONG, 200, torch.Generator().manual_seed(0))
    return ids.reshape(-1, tokens), hidden.reshape(-1, tokens)
