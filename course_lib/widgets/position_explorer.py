"""PositionExplorer: put order into attention, move two tokens, and watch their score."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import traitlets
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from course_lib.checks import check_number, check_size
from course_lib.position import check_even, rotary, sinusoidal
from course_lib.widgets.base import Widget
from course_lib.widgets.traits import Array, finite_array, one_of

MOST_TOKENS = 48
MOST_FEATURES = 32
LARGEST_BASE = 1e9
KINDS = ("none", "sinusoidal", "learned", "rotary")
NAMES = {
    "none": "no positions",
    "sinusoidal": "sinusoids",
    "learned": "a learned table",
    "rotary": "rotary positions",
}


class PositionExplorer(Widget):
    r"""The score between two positions, for each way of putting order into attention.

    The picture is a product of matrices: rows of the query's side, times columns of the key's side,
    give the scores of all positions $s$ and $t$. With ``kind`` ``"sinusoidal"`` and ``"learned"``
    both sides are the table that is added to the tokens, $p_s \cdot p_t$; with ``"rotary"`` they
    are one query and one key, turned by their positions, $R_s q \cdot R_t k$; with ``"none"`` they
    are the query and the key themselves. Every pair of features is a clock hand, whose share of the
    score stands below it; for the chosen ``pair`` the hand is drawn out along the positions. Below
    that stands the score of every $(s, t)$ against $s - t$.

    ``tokens`` is the number of positions (2 to 48) and ``d_model`` the even number of features (2
    to 32). ``learned`` is a trained table, such as ``LearnedPosition.weight``, of ``d_model``
    features; its first ``tokens`` rows are shown. Without one, ``"learned"`` is not offered.
    ``query`` and ``key`` have ``d_model`` entries each; whichever is not given is drawn from a
    normal distribution with ``seed``. ``base`` is as in :func:`course_lib.position.sinusoidal`.

    Traits, synced both ways: ``kind``, ``query_position`` $s$, ``key_position`` $t$, and ``pair``,
    which all count from 0. Raises ``TypeError`` and ``ValueError`` for what cannot be drawn.
    Sources: Vaswani et al. (2017), section 3.5; Gehring et al. (2017), section 3.1; Su et al.
    (2021), eq. 34.
    """

    _module = "position_explorer.js"

    tokens = traitlets.Int(read_only=True).tag(sync=True)
    d_model = traitlets.Int(read_only=True).tag(sync=True)
    base = traitlets.Float(read_only=True).tag(sync=True)
    learned = Array(read_only=True)
    query = Array(read_only=True)
    key = Array(read_only=True)
    kinds = traitlets.List(traitlets.Unicode(), read_only=True).tag(sync=True)
    kind = traitlets.Unicode("sinusoidal").tag(sync=True)
    query_position = traitlets.Int().tag(sync=True)
    key_position = traitlets.Int().tag(sync=True)
    pair = traitlets.Int().tag(sync=True)

    def __init__(
        self,
        *,
        tokens: int = 32,
        d_model: int = 16,
        kind: str = "sinusoidal",
        learned: ArrayLike | None = None,
        query: ArrayLike | None = None,
        key: ArrayLike | None = None,
        base: float | int = 10_000,
        seed: int = 0,
        query_position: int | None = None,
        key_position: int | None = None,
        pair: int | None = None,
        **dom: Any,
    ) -> None:
        tokens, d_model = _checked_sizes(tokens, d_model)
        one_of("kind", kind, KINDS)
        if kind == "learned" and learned is None:
            raise ValueError(
                'kind is "learned", but no table was given; '
                "pass the weight of a trained LearnedPosition as learned"
            )
        check_number("base", base, minimum=1, maximum=LARGEST_BASE)
        check_size("seed", seed, minimum=0)
        drawn = np.random.default_rng(seed).normal(size=(2, d_model))
        self.set_trait("tokens", tokens)
        self.set_trait("d_model", d_model)
        self.set_trait("base", float(base))
        self.set_trait("learned", _table(learned, tokens, d_model))
        self.set_trait("query", _vector("query", query, drawn[0]))
        self.set_trait("key", _vector("key", key, drawn[1]))
        self.set_trait("kinds", [k for k in KINDS if k != "learned" or learned is not None])
        # The query stands behind the key, as in a model that reads from left to right.
        chosen = {
            "query_position": 2 * tokens // 3 if query_position is None else query_position,
            "key_position": tokens // 2 if key_position is None else key_position,
            "pair": min(1, d_model // 2 - 1) if pair is None else pair,
        }
        for name, value in chosen.items():
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name} must be an integer that counts from 0; given {value!r}")
        super().__init__(kind=kind, **chosen, **dom)

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
            table = torch.from_numpy(self.learned).double()
            return table, table
        query, key = (
            torch.from_numpy(vector).double().expand(self.tokens, -1)
            for vector in (self.query, self.key)
        )
        if self.kind == "none":
            return query, key
        return rotary(query, base=self.base), rotary(key, base=self.base)

    @traitlets.validate("kind")
    def _offered(self, proposal: dict[str, Any]) -> str:
        return one_of("kind", proposal["value"], tuple(self.kinds))

    @traitlets.validate("query_position", "key_position", "pair")
    def _within(self, proposal: dict[str, Any]) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        size, of = (self.d_model // 2, "pairs") if name == "pair" else (self.tokens, "positions")
        if not 0 <= value < size:
            raise ValueError(
                f"{name} must lie between 0 and {size - 1}, since it counts from 0 and the number "
                f"of {of} is {size}, but was given {value}"
            )
        return value


def _checked_sizes(tokens: object, d_model: object) -> tuple[int, int]:
    check_size("tokens", tokens, minimum=2)
    check_even("d_model", d_model)
    if tokens > MOST_TOKENS:
        raise ValueError(
            f"tokens is {tokens}; expected {MOST_TOKENS} at most, whose scores can be told apart "
            "in the picture; show fewer positions"
        )
    if d_model > MOST_FEATURES:
        raise ValueError(
            f"d_model is {d_model}; expected {MOST_FEATURES} at most, whose clocks can be told "
            "apart in the picture; show fewer features"
        )
    return int(tokens), int(d_model)


def _table(learned: ArrayLike | None, tokens: int, d_model: int) -> NDArray[np.float32]:
    """The rows of the learned table that are shown; none if there is no table."""
    if learned is None:
        return np.zeros((0, d_model), dtype=np.float32)
    table = finite_array("learned", learned, ("tokens", "d_model"))
    if table.shape[1] != d_model:
        raise ValueError(
            f"learned has the shape {table.shape}; expected d_model = {d_model} columns; "
            f"pass d_model={table.shape[1]}, or a table with {d_model} features"
        )
    if len(table) < tokens:
        raise ValueError(
            f"learned has the shape {table.shape}; expected a row for each of {tokens} tokens; "
            f"pass tokens={len(table)}, or train a table with more rows"
        )
    return table[:tokens]


def _vector(name: str, given: ArrayLike | None, drawn: NDArray[np.float64]) -> NDArray[np.float32]:
    vector = finite_array(name, drawn if given is None else given, ("d_model",))
    if vector.shape != drawn.shape:
        raise ValueError(
            f"{name} has {len(vector)} entries; expected d_model = {len(drawn)}; "
            "pass one number for each feature"
        )
    return vector
