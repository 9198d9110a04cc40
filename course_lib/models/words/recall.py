"""The task of lecture 4 that tests how far back networks learn: recall the first letter.

Surnames of the US census of 1990 stand in one long row of letters. A network reads a passage of it
and predicts its first letter at the end.
"""

from collections.abc import Callable
from functools import cache
from string import ascii_uppercase

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from course_lib.models.words.spelling import census_names
from course_lib.models.words.syllables import BLANK, one_hot
from course_lib.support.training import fit, seed

NAMES = 6000
LAG = 12


@cache
def surname_tape() -> Int[Tensor, " letters"]:
    """Surnames in one row, in a random order: the index of each letter in the alphabet."""
    names = sorted(census_names("last"))
    order = torch.randperm(len(names), generator=torch.Generator().manual_seed(1))[:NAMES]
    return torch.tensor([ascii_uppercase.index(letter) for i in order for letter in names[i]])


def passages(
    count: int, length: int, generator: torch.Generator
) -> Int[Tensor, "passages letters"]:
    """Passages of the tape, from random positions."""
    tape = surname_tape()
    begin = torch.randint(len(tape) - length, (count, 1), generator=generator)
    return tape[begin + torch.arange(length)]


def with_open_gate(cell: nn.Module, bias: float = 4.0) -> nn.Module:
    """Add ``bias`` to the update or forget gate of a cell, both second; return the cell."""
    units = len(cell.bias_ih_l0) // {"GRU": 3, "LSTM": 4}[type(cell).__name__]
    with torch.no_grad():
        cell.bias_ih_l0[units : 2 * units] += bias
    return cell


def untrained(kind: str) -> nn.Module:
    """A PyTorch cell of 32 units; ``LSTM, bias 4`` starts with its forget gate open."""
    name, _, opened = kind.partition(", bias ")
    cell = getattr(nn, name)(BLANK, 32, batch_first=True)  # faster than ours and the same
    return with_open_gate(cell, float(opened)) if opened else cell


class Recaller(nn.Module):
    """Predicts the first letter from the end of a passage."""

    def __init__(self, cell: nn.Module) -> None:
        super().__init__()
        self.cell = cell
        self.readout = nn.Linear(cell.hidden_size, BLANK)

    def forward(self, ids: Int[Tensor, "passages letters"]) -> Float[Tensor, "passages alphabet"]:
        """Logits of the first letter, from the last output of the cell."""
        return self.readout(self.cell(one_hot(ids))[0][:, -1])


def recall(
    make: Callable[[], nn.Module],
    *,
    number: int,
    asked: tuple[int, ...] = (150, 450),
    kind: type[Recaller] = Recaller,
) -> list[float]:
    """Train a network; return the share of first letters recalled after each step in ``asked``.

    ``make()`` returns the cell and is called after the seed is set to ``number``.
    """
    generator = seed(number)
    lessons = [passages(64, LAG + 1, generator) for _ in range(max(asked))]
    quiz = passages(1000, LAG + 1, torch.Generator().manual_seed(6))
    recaller, shares = kind(make()), []

    @torch.no_grad()
    def ask(step: int, _: float) -> None:
        if step + 1 in asked:
            said = recaller(quiz).argmax(-1)
            shares.append((said == quiz[:, 0]).double().mean().item())

    def loss(recaller: nn.Module, ids: Tensor) -> Tensor:
        return F.cross_entropy(recaller(ids), ids[:, 0])

    options = {"steps": len(lessons), "learning_rate": 1e-2, "clip": 1.0, "progress": False}
    fit(recaller, loss, lessons, **options, callback=ask)
    return shares
