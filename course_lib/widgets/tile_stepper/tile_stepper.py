"""TileStepper: walk through attention tile by tile, and count what moves."""

from __future__ import annotations

import math
from typing import Any

from course_lib.tiled_attention import naive_bytes, on_chip_bytes, tile_plan, tiled_bytes
from course_lib.widgets.kit.base import MovingWidget
from course_lib.widgets.kit.traits import Array, Choice, Integer, Number, Switch

MOST = {"tokens": 24, "d": 8}
LARGEST_CHIP = 2**30


def _room_for_two_small_tiles(stepper: Any) -> int:
    """A chip on which tiles can grow, but not until they hold every token of the largest figure."""
    features, each = stepper.query.shape[1], stepper.bytes_each
    return 2 * on_chip_bytes(features, query_tile=4, key_tile=4, bytes_each=each)


def _a_key_for_each_query(stepper: Any, causal: bool) -> bool:  # noqa: FBT001 - a trait's rule
    queries, keys = len(stepper.query), len(stepper.key)
    if causal and queries > keys:
        raise ValueError(
            f"causal needs a key for each query, but there are {queries} queries and {keys} "
            "keys; drop the first queries, or leave causal False"
        )
    return causal


class TileStepper(MovingWidget):
    r"""Softmax attention in tiles, one (query tile, key tile) pair at a time.

    The picture is the score matrix $QK^\top/\sqrt d$ with the tile in hand lit, those before it
    filled and those that ``causal`` skips hatched. Queries, keys and values travel from slow memory
    to the chip, and finished outputs back; the bytes moved so far are counted. Below stand the
    running maximum $m$, sum $\ell$ and output $o$ of the queries in hand, with the factor
    $e^{m_\text{old} - m}$ by which the tile rescaled them. Beside it the naive algorithm carries
    $S$ and $P$ to memory and back. It has gone the same share of its own way: first all of $S$,
    then $P$, then $O$. A number takes ``bytes_each`` bytes, and 4 bytes where tiles accumulate.

    ``query`` and ``key`` are ``(tokens, d)``, ``value`` has the shape of ``key``; at most 24 tokens
    and 8 features each. ``scale`` takes the place of $1/\sqrt d$. The chip has room for
    ``chip_bytes``, by default twice what tiles of 4 by 4 take. A pair of tiles that takes more
    (:func:`course_lib.tiled_attention.on_chip_bytes`) is drawn over the rim of the chip; the run
    goes on, so that its bytes can be compared.

    Traits, synced both ways: ``step``, how many tiles have been visited, ``query_tile``,
    ``key_tile`` and ``causal``. It is ``moving`` at once, up to the last tile, unless the reader
    has asked for less motion or you for none. Raises ``TypeError`` and ``ValueError`` for data that
    cannot be drawn. Source: Dao et al. (2022), algorithm 1; Milakov and Gimelshein (2018), section
    3.1.
    """

    query = Array("tokens=queries", "d", most=MOST, read_only=True)
    key = Array("tokens=keys", "d", most=MOST, read_only=True)
    value = Array("tokens=keys", "d", read_only=True)
    scale = Number(
        1e-3, 1e3, default=lambda self: 1 / math.sqrt(self.query.shape[1]), read_only=True
    )
    bytes_each = Choice(1, 2, 4, 8, default=2, read_only=True)
    chip_bytes = Integer(1, LARGEST_CHIP, default=_room_for_two_small_tiles, read_only=True)
    query_tile = Integer(1, lambda self: len(self.query), default=4)
    key_tile = Integer(1, lambda self: len(self.key), default=4)
    causal = Switch(default=False, rule=_a_key_for_each_query)
    step = Integer(0, lambda self: self._tiles(), default=0)

    def describe(self) -> str:
        """How many tiles there are, and what they move against the naive algorithm."""
        queries, keys, d = self._lengths()
        each = {"bytes_each": self.bytes_each}
        tiled = tiled_bytes(queries, keys, d, **self._tiling(), **each)
        tiles = {"query_tile": self.query_tile, "key_tile": self.key_tile}
        held = on_chip_bytes(d, **tiles, **each)
        fits = "fits" if held <= self.chip_bytes else "does not fit"
        skipped = " Tiles that lie wholly in the future are skipped." if self.causal else ""
        return (
            f"Attention of {queries} queries to {keys} keys with {d} features, in tiles of "
            f"{self.query_tile} queries by {self.key_tile} keys: {self.step} of "
            f"{self._tiles()} tiles are visited.{skipped} All of them move {tiled:,} bytes, the "
            f"naive algorithm {naive_bytes(queries, keys, d, **each):,}. A pair of tiles takes "
            f"{held:,} bytes and {fits} on the chip, which has {self.chip_bytes:,}."
        )

    def _lengths(self) -> tuple[int, int, int]:
        return len(self.query), len(self.key), self.query.shape[1]

    def _tiling(self) -> dict[str, Any]:
        return {"query_tile": self.query_tile, "key_tile": self.key_tile, "causal": self.causal}

    def _tiles(self) -> int:
        """How many tiles are visited from the first to the last."""
        queries, keys, _ = self._lengths()
        return sum(len(tiles) for _, tiles in tile_plan(queries, keys, **self._tiling()))
