"""TileStepper: walk through attention tile by tile, and count what moves."""

from __future__ import annotations

import math
from typing import Any

import traitlets
from numpy.typing import ArrayLike

from course_lib.tiled_attention import naive_bytes, tile_plan, tiled_bytes
from course_lib.widgets.base import Widget
from course_lib.widgets.traits import Array, finite_array, number_between

MOST_TOKENS = 24
MOST_FEATURES = 8
SMALLEST_SCALE, LARGEST_SCALE = 1e-3, 1e3
BYTES = (1, 2, 4, 8)


class TileStepper(Widget):
    r"""Softmax attention in tiles, one (query tile, key tile) pair at a time.

    The picture is the score matrix $QK^\top/\sqrt d$ with the tile in hand lit, those before it
    filled and those that ``causal`` skips hatched. Beside it stand the running maximum $m$, sum
    $\ell$ and output $o$ of the queries in hand, with the factor $e^{m_\text{old} - m}$ by which
    the tile rescaled them, and a tally of the bytes moved so far. The naive algorithm's tally
    stands at the same stage: its three operators on the scores that the tiles have settled, skipped
    ones included. A number takes ``bytes_each`` bytes, and 4 bytes where tiles accumulate.

    ``query`` and ``key`` are ``(tokens, d)``, ``value`` has the shape of ``key``; at most 24 tokens
    and 8 features each. ``scale`` takes the place of $1/\sqrt d$.

    Traits, synced both ways: ``step``, how many tiles have been visited, ``query_tile``,
    ``key_tile`` and ``causal``. Raises ``TypeError`` and ``ValueError`` for data that cannot be
    drawn. Source: Dao et al. (2022), algorithm 1; Milakov and Gimelshein (2018), section 3.1.
    """

    _module = "tile_stepper.js"

    query = Array(read_only=True)
    key = Array(read_only=True)
    value = Array(read_only=True)
    scale = traitlets.Float(read_only=True).tag(sync=True)
    bytes_each = traitlets.Int(read_only=True).tag(sync=True)
    query_tile = traitlets.Int(1).tag(sync=True)
    key_tile = traitlets.Int(1).tag(sync=True)
    causal = traitlets.Bool(default_value=False).tag(sync=True)
    step = traitlets.Int().tag(sync=True)

    def __init__(
        self,
        query: ArrayLike,
        key: ArrayLike,
        value: ArrayLike,
        *,
        query_tile: int = 4,
        key_tile: int = 4,
        causal: bool = False,
        scale: float | None = None,
        step: int = 0,
        bytes_each: int = 2,
        **dom: Any,
    ) -> None:
        queries, keys, values = (
            finite_array(name, array, ("tokens", "d"))
            for name, array in (("query", query), ("key", key), ("value", value))
        )
        _check_sizes(queries.shape, keys.shape, values.shape)
        integers = {"query_tile": query_tile, "key_tile": key_tile, "step": step}
        for name, number in integers.items():
            if isinstance(number, bool) or not isinstance(number, int):
                raise TypeError(f"{name} must be an integer, but was given {number!r}")
        if not isinstance(causal, bool):
            raise TypeError(f"causal must be True or False, but was given {causal!r}")
        if isinstance(bytes_each, bool) or bytes_each not in BYTES:
            raise ValueError(
                f"bytes_each must be one of {', '.join(map(str, BYTES))}, the sizes of a number, "
                f"but was given {bytes_each!r}"
            )
        if scale is None:
            scale = 1 / math.sqrt(queries.shape[1])
        self.set_trait("query", queries)
        self.set_trait("key", keys)
        self.set_trait("value", values)
        self.set_trait("scale", number_between("scale", scale, SMALLEST_SCALE, LARGEST_SCALE))
        self.set_trait("bytes_each", bytes_each)
        # The plan depends on all of them, so they are right before the step is held against it.
        self._check_tile("query_tile", query_tile)
        self._check_tile("key_tile", key_tile)
        self._check_causal(causal=causal)
        super().__init__(causal=causal, **integers, **dom)

    def describe(self) -> str:
        """How many tiles there are, and what they move against the naive algorithm."""
        queries, keys, d = self._lengths()
        each = {"bytes_each": self.bytes_each}
        tiled = tiled_bytes(queries, keys, d, **self._tiling(), **each)
        skipped = " Tiles that lie wholly in the future are skipped." if self.causal else ""
        return (
            f"Attention of {queries} queries to {keys} keys with {d} features, in tiles of "
            f"{self.query_tile} queries by {self.key_tile} keys: {self.step} of "
            f"{self._tiles()} tiles are visited.{skipped} All of them move {tiled:,} bytes, the "
            f"naive algorithm {naive_bytes(queries, keys, d, **each):,}."
        )

    def _lengths(self) -> tuple[int, int, int]:
        return len(self.query), len(self.key), self.query.shape[1]

    def _tiling(self) -> dict[str, Any]:
        return {"query_tile": self.query_tile, "key_tile": self.key_tile, "causal": self.causal}

    def _tiles(self) -> int:
        """How many tiles are visited from the first to the last."""
        queries, keys, _ = self._lengths()
        return sum(len(tiles) for _, tiles in tile_plan(queries, keys, **self._tiling()))

    def _check_tile(self, name: str, value: int) -> None:
        most = len(getattr(self, name.removesuffix("_tile")))
        if not 1 <= value <= most:
            raise ValueError(
                f"{name} must lie between 1 and {most}, the number of tokens, but was given {value}"
            )

    def _check_causal(self, *, causal: bool) -> None:
        queries, keys, _ = self._lengths()
        if causal and queries > keys:
            raise ValueError(
                f"causal needs a key for each query, but there are {queries} queries and {keys} "
                "keys; drop the first queries, or leave causal False"
            )

    @traitlets.validate("query_tile", "key_tile")
    def _within_the_sequence(self, proposal: dict[str, Any]) -> int:
        self._check_tile(proposal["trait"].name, proposal["value"])
        return proposal["value"]

    @traitlets.validate("causal")
    def _a_key_for_each_query(self, proposal: dict[str, Any]) -> bool:
        self._check_causal(causal=proposal["value"])
        return proposal["value"]

    @traitlets.validate("step")
    def _within_the_plan(self, proposal: dict[str, Any]) -> int:
        value = proposal["value"]
        if not 0 <= value <= self._tiles():
            raise ValueError(
                f"step must lie between 0 and {self._tiles()}, the number of tiles, but was given "
                f"{value}"
            )
        return value

    @traitlets.observe("query_tile", "key_tile", "causal")
    def _stay_within_the_plan(self, _change: dict[str, Any]) -> None:
        self.step = min(self.step, self._tiles())


def _check_sizes(query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...]) -> None:
    if query[1] != key[1]:
        raise ValueError(
            f"query has {query[1]} features and key {key[1]}; both need the same d; "
            "project one of them"
        )
    if value != key:
        raise ValueError(
            f"value has the shape {value} and key {key}; give each key a value of d features"
        )
    if max(query[0], key[0]) > MOST_TOKENS or key[1] > MOST_FEATURES:
        raise ValueError(
            f"there are {query[0]} queries and {key[0]} keys of {key[1]} features; at most "
            f"{MOST_TOKENS} tokens and {MOST_FEATURES} features can be read in a picture; "
            "show a part of them"
        )
