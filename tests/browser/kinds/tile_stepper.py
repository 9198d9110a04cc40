"""TileStepper: a small one, what it displays, and what course_lib says it should."""

import math
import re
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
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
from course_lib.widgets import TileStepper

Visit = tuple[slice, slice]
MOST_SHOWN = 4
STORY = re.compile(
    r"Query (\d+): its maximum rises from (\S+) to (\S+), so its sum and output shrink by "
    r"e(\S+) ≈ (\S+) before this tile adds to them\."
)


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
    """What the tile of one visit says; a visit of no keys says nothing."""
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
    """Rows of S, P and O that are written, where row after row goes through each operator."""
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


def in_tiles(query_tile: int, key_tile: int, *, step: int, moving: bool = False) -> TileStepper:
    random = np.random.default_rng(6)
    query, key, value = random.normal(size=(10, 3)), *random.normal(size=(2, 11, 3))
    tiles = {"query_tile": query_tile, "key_tile": key_tile}
    return TileStepper(query, key, value, **tiles, causal=True, step=step, moving=moving)


def make() -> TileStepper:
    return in_tiles(4, 3, step=5)


def make_for_a_hand() -> TileStepper:
    """Of large tiles: a slider leads to small ones, and then a short drag to another tile."""
    return in_tiles(8, 9, step=2)


def displayed(widget: Locator) -> None:
    state = state_of(widget)
    plan, step = visits_of(state), state["step"]
    visits = plan[:step]
    page = widget.evaluate(
        """(el) => {
          const texts = (within, what) =>
            [...within.querySelectorAll(what)].map((e) => e.textContent);
          const slider = el.querySelector("[role=slider]");
          const layer = (name) => el.querySelector(`[data-layer=${name}]`);
          const canvas = el.querySelector(".cw-tile-picture canvas");
          const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          return {
            place: Number(slider.getAttribute("aria-valuenow")),
            places: Number(slider.getAttribute("aria-valuemax")),
            rows: [...el.querySelectorAll(".cw-tile-rows tbody tr")]
              .map((row) => texts(row, "th, td")),
            heads: texts(el.querySelector(".cw-tile-rows thead"), "th"),
            readings: Object.fromEntries([...el.querySelectorAll("[data-reading]")]
              .map((e) => [e.dataset.reading, e.textContent])),
            bars: Object.fromEntries([...el.querySelectorAll("[data-bar]")]
              .map((e) => [e.dataset.bar, Number(e.style.getPropertyValue("--cw-length"))])),
            alpha: [...pixels.data].filter((_, i) => i % 4 === 3),
            visited: (layer("visited").getAttribute("d").match(/M/g) ?? []).length,
            powers: texts(el, ".cw-tile-story sup"),
            verdict: el.querySelector(".cw-tile-verdict").textContent,
            stored: ["S", "P", "O"].map((name) => {
              const square = layer(`naive-${name}`).previousElementSibling.getBBox();
              const boxes = layer(`naive-${name}`).getAttribute("d").matchAll(/h(\\S+?)v(\\S+?)h/g);
              const area = [...boxes].reduce((sum, [, w, h]) => sum + w * h, 0);
              return area / (square.width * square.height);
            }),
            ends: Object.fromEntries([...el.querySelectorAll("[data-load]")].map((e) => {
              const { x, y, width, height } = e.getBBox();
              return [e.dataset.load, [x, y, x + width, y + height]];
            })),
            chip: (({ x, y, width, height }) => [x, y, x + width, y + height])(
              el.querySelector(".cw-tile-picture rect[rx]").getBBox()),
            room: Object.fromEntries([...el.querySelectorAll("[data-room]")].map((e) => {
              const { x, width } = e.getAttribute("d") ? e.getBBox() : { x: 0, width: 0 };
              return [e.dataset.room, [x, width]];
            })),
            tight: texts(el, ".cw-tile-tight"),
            won: el.querySelector(".cw-tile-won").textContent,
          };
        }"""
    )
    assert (page["place"], page["places"]) == (step, len(plan))
    assert page["visited"] == max(0, step - 1)
    assert_tally(state, visits, page)
    assert_places(state, visits, page)
    assert_room(state, page)
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


def assert_places(state: dict[str, Any], visits: list[Visit], page: dict[str, Any]) -> None:
    """The naive S, P and O fill one after the other; what is in hand lies on the chip."""
    rows = naive_rows(state, len(visits))
    assert page["stored"] == pytest.approx([n / len(state["query"]) for n in rows], abs=1e-6)
    assert set(page["ends"]) == (set("QKVO") if visits else set())
    finished = visits and visits[-1][1] == last_tiles(state)[visits[-1][0].start]
    left, top, right, bottom = page["chip"]
    outside = {
        name
        for name, (x0, y0, x1, y1) in page["ends"].items()
        if x0 < left or y0 < top or x1 > right or y1 > bottom
    }
    if fits(state):
        assert outside == ({"O"} if finished else set())
    elif visits:
        assert len(outside - {"O"}) > 0


def held_bytes(state: dict[str, Any]) -> int:
    tiles = {name: state[name] for name in ("query_tile", "key_tile", "bytes_each")}
    return on_chip_bytes(state["query"].shape[1], **tiles)


def fits(state: dict[str, Any]) -> bool:
    return held_bytes(state) <= state["chip_bytes"]


def assert_room(state: dict[str, Any], page: dict[str, Any]) -> None:
    """Assert that the bar under the chip is as long as the bytes, and ends where the chip does."""
    (start, taken), (_, over), (end, _) = (page["room"][name] for name in ("taken", "over", "end"))
    held, most = held_bytes(state), state["chip_bytes"]
    assert (taken + over) / (end - start) == pytest.approx(held / most, rel=1e-4)
    assert (over > 0) == (not fits(state))
    told = f"{held:,} of {most:,} bytes"
    assert page["tight"] == ([] if fits(state) else [told, "✗ does not fit"])
    assert (f"does not fit: {told}" in page["won"]) == (not fits(state))


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
    assert_story(page, rows.start, before, after)


def assert_story(page: dict[str, Any], first: int, before: Partial, after: Partial) -> None:
    """The numbers of a sentence on the query whose report was rescaled most, if one was."""
    fell = before.maximum - after.maximum
    told = STORY.fullmatch(page["readings"]["story"])
    assert (told is not None) == bool(((fell < 0) & (before.total > 0)).any())
    if told is None:
        return
    r = int(told[1]) - 1 - first
    assert fell[r] == fell.min()
    numbers = [before.maximum[r], after.maximum[r], fell[r], fell[r].exp()]
    assert page["powers"] == [told[4]]
    assert all(agrees(text, n) for text, n in zip(told.groups()[1:], numbers, strict=True))


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
