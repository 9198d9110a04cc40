"""PositionExplorer: put order into attention, swap its words, and watch a score."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from course_lib.position import check_even, rotary, sinusoidal
from course_lib.support.checks import check_size
from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.traits import Array, Choice, Data, Index, Integer, Number, Switch

NAMES = {
    "none": "no positions",
    "sinusoidal": "sinusoids",
    "learned": "a learned table",
    "rotary": "rotary positions",
}


def _even(_widget: Any, d_model: int) -> int:
    check_even("d_model", d_model)
    return d_model


def _first_rows(explorer: Any, table: NDArray[np.float32]) -> NDArray[np.float32]:
    """The rows of a learned table that are shown, all of which must be there if it is."""
    if 0 < len(table) < explorer.tokens:
        raise ValueError(
            f"learned has the shape {table.shape}; expected a row for each of {explorer.tokens} "
            f"tokens; pass tokens={len(table)}, or train a table with more rows"
        )
    return table[: explorer.tokens]


class PositionExplorer(MovingWidget):
    r"""The score between two positions, for each way of putting order into attention.

    It begins with three words. The query stands at BITES and the key at DOG; their places can be
    swapped, and the picture says which orders differ in the score. Beside it stand the clocks of
    one pair of features. ``everything`` adds all positions and all pairs.

    That picture is a product of matrices: rows of the query's side, times columns of the key's,
    give the scores of all positions $s$ and $t$. With ``kind`` ``"sinusoidal"`` and ``"learned"``
    both sides are the table that is added to the tokens, $p_s \cdot p_t$; with ``"rotary"`` they
    are one query and one key, turned by their positions, $R_s q \cdot R_t k$; with ``"none"`` they
    are the query and the key themselves. Every pair of features is a clock hand, whose share of the
    score stands below it; for the chosen ``pair`` the hand is drawn out along the positions. Below
    that stands the score of every $(s, t)$ against $s - t$.

    ``tokens`` is the number of positions (2 to 48) and ``d_model`` the even number of features (2
    to 32). ``learned`` is a trained table, such as ``LearnedPosition.weight``, of ``d_model``
    features; its first ``tokens`` rows are shown. Without one, ``"learned"`` is not offered.
    ``before`` are that table's same rows at evenly spaced moments of its training, from the first
    on; with them the reader chooses a ``stage``, of which the last is ``learned``.
    ``query`` and ``key`` have ``d_model`` entries each; whichever is not given is drawn from a
    normal distribution with ``seed``. ``base`` is as in :func:`course_lib.position.sinusoidal`.

    Traits, synced both ways: ``kind``, ``query_position`` $s$, ``key_position`` $t$, and ``pair``,
    which all count from 0; ``stage``; and ``everything``. If it is ``moving``, it plays at the
    start: the words change places, and then move on together; or the table is trained. It does not
    for readers who asked for less motion. Raises
    ``TypeError`` and ``ValueError`` for what cannot be drawn.
    Sources: Vaswani et al. (2017), section 3.5; Gehring et al. (2017), section 3.1; Su et al.
    (2021), eq. 34.
    """

    tokens = Integer(2, 48, default=32, read_only=True)
    d_model = Integer(2, 32, default=16, rule=_even, read_only=True)
    base = Number(1, 1e9, default=10_000, read_only=True)
    learned = Array("rows", "d_model", optional=True, rule=_first_rows, read_only=True)
    before = Array("moments", "rows", "d_model", optional=True, read_only=True)
    query = Array("d_model", default=lambda self: self._drawn()[0], read_only=True)
    key = Array("d_model", default=lambda self: self._drawn()[1], read_only=True)
    kinds = Data(lambda self: [kind for kind in NAMES if kind != "learned" or self.learned.size])
    kind = Choice(
        *NAMES,
        offered=lambda self: self.kinds,
        needs={"learned": "a trained table as learned"},
        default="sinusoidal",
    )
    # The query stands behind the key, as in a model that reads from left to right.
    query_position = Index(of=lambda self: self.tokens, default=1)
    key_position = Index(of=lambda self: self.tokens, default=0)
    pair = Index(of=lambda self: self.d_model // 2, default=0)
    stage = Index(of=lambda self: len(self.before) + 1, default=lambda self: len(self.before))
    everything = Switch(default=False)

    def __init__(self, *, seed: int = 0, **given: Any) -> None:
        check_size("seed", seed, minimum=0)
        self._seed = seed
        super().__init__(**given)

    def describe(self) -> str:
        """The score of the two positions, and whether it knows more than their difference."""
        queries, keys = self._sides()
        score = queries @ keys.mT
        s, t = self.query_position, self.key_position
        alike = score.diagonal(t - s)
        least, most = float(alike.min()), float(alike.max())
        return (
            f"The scores of {self.tokens} by {self.tokens} positions with {NAMES[self.kind]} and "
            f"{self.d_model} features. The query at {s} and the key at {t} have the score "
            f"{float(score[s, t]):.2f}. The scores of all pairs of positions with the difference "
            f"{s - t} lie between {least:.2f} and {most:.2f}."
        )

    def _sides(self) -> tuple[Tensor, Tensor]:
        """What the score multiplies, (tokens, d_model) of the query's and of the key's side."""
        if self.kind == "sinusoidal":
            table = sinusoidal(self.tokens, self.d_model, base=self.base, dtype=torch.float64)
            return table, table
        if self.kind == "learned":
            tables = [*self.before, self.learned]
            table = torch.from_numpy(tables[self.stage]).double()
            return table, table
        query, key = (
            torch.from_numpy(vector).double().expand(self.tokens, -1)
            for vector in (self.query, self.key)
        )
        if self.kind == "none":
            return query, key
        return rotary(query, base=self.base), rotary(key, base=self.base)

    def _drawn(self) -> NDArray[np.float64]:
        return np.random.default_rng(self._seed).normal(size=(2, self.d_model))
