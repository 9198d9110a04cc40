"""TileStepper: compare its display with course_lib."""

import math
from fractions import Fraction
from functools import reduce
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator
from reading import agrees, scientific_number, state_of
from torch import Tensor

from course_lib.attention import attention, causal_mask
from course_lib.tiled_attention import (
    Partial,
    finish,
    merge,
    naive_bytes,
    on_chip_bytes,
    partial_attention,
    tile_plan,
    tiled_bytes,
)

from .scraped import scraper

READ = scraper("""return {
  place: numberOf(one("[role=slider]"), "aria-valuenow"),
  places: numberOf(one("[role=slider]"), "aria-valuemax"),
  rows: all(".cw-tile-rows tbody tr", cellsOf),
  heads: all(".cw-tile-rows thead th"),
  readings: Object.fromEntries(all("[data-reading]", (e) => [e.dataset.reading, e.textContent])),
  bars: Object.fromEntries(all("[data-bar]", (e) =>
    [e.dataset.bar, Number(e.style.getPropertyValue("--cw-length"))])),
  alpha: opaque(one(".cw-tile-picture canvas")),
  visited: (one("[data-layer=visited]").getAttribute("d").match(/M/g) ?? []).length,
  verdict: one(".cw-tile-verdict").textContent,
};""")
Visit = tuple[slice, slice]
MOST_SHOWN = 4


def visits_of(state: dict[str, Any]) -> list[Visit]:
    tiling = {name: state[name] for name in ("query_tile", "key_tile", "causal")}
    plan = tile_plan(len(state["query"]), len(state["key"]), **tiling)
    return [(rows, columns) for rows, tiles in plan for columns in tiles]


def visible(state: dict[str, Any]) -> Tensor:
    queries, keys = len(state["query"]), len(state["key"])
    if not state["causal"]:
        return torch.ones(queries, keys, dtype=torch.bool)
    return causal_mask(keys)[keys - queries :]


def report_of(state: dict[str, Any], visit: Visit) -> Partial:
    """The partial result of the tile of one visit, empty without keys."""
    rows, columns = visit
    return partial_attention(
        state["query"][rows],
        state["key"][columns],
        state["value"][columns],
        mask=visible(state)[rows, columns],
        scale=state["scale"],
    )


def last_tiles(state: dict[str, Any]) -> dict[int, slice]:
    """For each tile of queries, by its first query, the last tile of keys that it visits."""
    return {rows.start: columns for rows, columns in visits_of(state)}


def naive_rows(state: dict[str, Any], step: int) -> tuple[int, int, int]:
    """The written rows of S, P and O, when each operator goes through row by row."""
    queries, steps = len(state["query"]), len(visits_of(state))
    # S out; S back and P out; P back: four numbers for each score.
    gone = Fraction(4 * queries * step, steps)
    s = min(queries, math.floor(gone))
    p = max(0, min(queries, math.floor((gone - queries) / 2)))
    return s, p, max(0, math.floor(gone - 3 * queries))


def moved(state: dict[str, Any], visits: list[Visit]) -> tuple[int, int]:
    """Bytes after these visits, in tiles and naively, counted array by array."""
    query, key, value = state["query"], state["key"], state["value"]
    tiled = 0
    for rows, columns in visits:
        if columns.start == 0:
            tiled += query[rows].numel()
        tiled += key[columns].numel() + value[columns].numel()
        if columns == last_tiles(state)[rows.start]:
            tiled += query[rows].numel()
    s, p, o = naive_rows(state, len(visits))
    arrays = [query[:s], key[: len(key) * bool(s)], value[: len(value) * bool(o)], query[:o]]
    # S is written and read, P is written and read.
    naive = sum(array.numel() for array in arrays) + (s + p + p + o) * len(key)
    return tiled * state["bytes_each"], naive * state["bytes_each"]


def displayed(widget: Locator) -> None:
    state = state_of(widget)
    plan, step = visits_of(state), state["step"]
    visits = plan[:step]
    page = widget.evaluate(READ)
    assert (page["place"], page["places"]) == (step, len(plan))
    assert page["visited"] == max(0, step - 1)
    assert_tally(state, visits, page)
    assert_reports(state, visits, page)
    assert_outputs(state, visits, page["verdict"], page["readings"].get("difference"))


def assert_tally(state: dict[str, Any], visits: list[Visit], page: dict[str, Any]) -> None:
    queries, keys, d = len(state["query"]), len(state["key"]), state["query"].shape[1]
    each = {"bytes_each": state["bytes_each"]}
    tiles = {name: state[name] for name in ("query_tile", "key_tile")}
    tiled, naive = moved(state, visits)
    totals = {
        "tiled": tiled_bytes(queries, keys, d, **tiles, **each, causal=state["causal"]),
        "naive": naive_bytes(queries, keys, d, **each),
    }
    expected = {
        "tiled-moved": tiled,
        "naive-moved": naive,
        "tiled-held": on_chip_bytes(d, **tiles, **each),
        "naive-held": state["bytes_each"] * queries * keys,
    }
    found = {name: int(page["readings"][name].replace(",", "")) for name in expected}
    assert found == expected
    finished = len(visits) == len(visits_of(state))
    assert ("ratio" in page["readings"]) == finished
    if finished:
        assert (tiled, naive) == (totals["tiled"], totals["naive"])
        ratio = page["readings"]["ratio"].removesuffix(" times as many")
        assert agrees(ratio, totals["naive"] / totals["tiled"])
    longest = max(totals.values())
    assert page["bars"] == pytest.approx({"tiled": tiled / longest, "naive": naive / longest})


def assert_reports(state: dict[str, Any], visits: list[Visit], page: dict[str, Any]) -> None:
    rows, columns = visits[-1] if visits else (visits_of(state)[0][0], slice(0, 0))
    empty = report_of(state, (rows, slice(0, 0)))
    earlier = [report_of(state, visit) for visit in visits[:-1] if visit[0] == rows]
    before = reduce(merge, earlier, empty)
    tile = report_of(state, (rows, columns))
    after = merge(before, tile)

    finished = columns == last_tiles(state)[rows.start]
    shown_output = finish(after) if finished else after.output
    assert all(head.endswith("/ℓ") == finished for head in page["heads"][4:])
    assert [int(row[0]) for row in page["rows"]] == list(range(rows.start + 1, rows.stop + 1))
    factors = (before.maximum - after.maximum).exp()
    for r, (_, maximum, factor, total, *output) in enumerate(page["rows"]):
        if after.maximum[r] == -math.inf:
            assert maximum == "−∞"
        else:
            assert agrees(maximum, after.maximum[r])
        assert factor == "–" if before.total[r] == 0 else agrees(factor, factors[r])
        assert agrees(total, after.total[r])
        assert len(output) == min(MOST_SHOWN, state["query"].shape[1])
        assert all(agrees(text, o) for text, o in zip(output, shown_output[r], strict=False))

    score = state["scale"] * state["query"][rows] @ state["key"][columns].mT
    weights = torch.zeros(len(state["query"]), len(state["key"]), dtype=torch.float64)
    weights[rows, columns] = (score - after.maximum[:, None]).exp()
    weights.masked_fill_(~visible(state), 0)
    assert page["alpha"] == pytest.approx((255 * weights).flatten().tolist(), abs=0.51)


def assert_outputs(
    state: dict[str, Any], visits: list[Visit], verdict: str, difference: str | None
) -> None:
    whole = attention(
        state["query"], state["key"], state["value"], mask=visible(state), scale=state["scale"]
    )
    waiting = [rows.start for rows, _ in visits_of(state)[len(visits) :]]
    written = min(waiting, default=len(whole))
    assert f"written: {written} of {len(whole)}." in verdict
    assert (difference is None) == (written == 0)
    if difference not in (None, "0"):
        size = float(whole.abs().max())
        assert scientific_number(difference) < 1e-12 * max(1.0, size)
