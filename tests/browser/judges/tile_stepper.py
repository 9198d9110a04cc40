import math
from fractions import Fraction
from functools import reduce

import torch
from reading import agrees
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

from .scraped import Found, assert_said, near, number_in, scraper

READ = scraper("""return {
  place: numberOf(one("[role=slider]"), "aria-valuenow"),
  places: numberOf(one("[role=slider]"), "aria-valuemax"),
  rows: all(".cw-tile-rows tbody tr", cellsOf),
  heads: all(".cw-tile-rows thead th"),
  readings: readings(),
  bars: Object.fromEntries(all("[data-bar]", (e) =>
    [e.dataset.bar, Number(e.style.getPropertyValue("--cw-length"))])),
  alpha: opaque(one(".cw-tile-picture canvas")),
  verdict: one(".cw-tile-verdict").textContent,
};""")
Visit = tuple[slice, slice]
MOST_SHOWN = 4


def visits_of(state: Found) -> list[Visit]:
    tiling = {name: state[name] for name in ("query_tile", "key_tile", "causal")}
    plan = tile_plan(len(state["query"]), len(state["key"]), **tiling)
    return [(rows, columns) for rows, tiles in plan for columns in tiles]


def visible(state: Found) -> Tensor:
    queries, keys = len(state["query"]), len(state["key"])
    if not state["causal"]:
        return torch.ones(queries, keys, dtype=torch.bool)
    return causal_mask(keys)[keys - queries :]


def report_of(state: Found, visit: Visit) -> Partial:
    """The partial result of the tile of one visit, empty without keys."""
    rows, columns = visit
    key, value = state["key"][columns], state["value"][columns]
    mask = visible(state)[rows, columns]
    return partial_attention(state["query"][rows], key, value, mask=mask, scale=state["scale"])


def last_tiles(state: Found) -> dict[int, slice]:
    """For each tile of queries, by its first query, the last tile of keys that it visits."""
    return {rows.start: columns for rows, columns in visits_of(state)}


def moved(state: Found, visits: list[Visit]) -> tuple[int, int]:
    """Bytes after these visits, in tiles and naively, counted array by array."""
    (n, d), m, tiled = state["query"].shape, len(state["key"]), 0
    for rows, columns in visits:
        ends = (columns.start == 0) + (columns == last_tiles(state)[rows.start])
        tiled += d * (ends * (rows.stop - rows.start) + 2 * (columns.stop - columns.start))
    # The naive operators go row by row. S out; S back and P out; P back: four numbers for a score.
    gone = Fraction(4 * n * len(visits), len(visits_of(state)))
    s, p, o = (max(0, min(n, math.floor(x))) for x in (gone, (gone - n) / 2, gone - 3 * n))
    naive = d * (s + m * (s > 0) + m * (o > 0) + o) + m * (s + 2 * p + o)
    return tiled * state["bytes_each"], naive * state["bytes_each"]


def displayed(state: Found, page: Found) -> None:
    plan, step = visits_of(state), state["step"]
    assert (page["place"], page["places"]) == (step, len(plan))
    assert_tally(state, plan[:step], page)
    assert_reports(state, plan[:step], page)
    columns = state["query"], state["key"], state["value"]
    whole = attention(*columns, mask=visible(state), scale=state["scale"])
    written = min((rows.start for rows, _ in plan[step:]), default=len(whole))
    assert f"written: {written} of {len(whole)}." in page["verdict"]
    assert ("difference" in page["readings"]) == (written > 0)
    if written:
        difference = number_in(page["readings"]["difference"])
        assert difference < 1e-12 * max(1.0, float(whole.abs().max()))


def assert_tally(state: Found, visits: list[Visit], page: Found) -> None:
    (queries, d), keys = state["query"].shape, len(state["key"])
    tiles = {name: state[name] for name in ("query_tile", "key_tile", "bytes_each")}
    tiled, naive = moved(state, visits)
    totals = (
        tiled_bytes(queries, keys, d, **tiles, causal=state["causal"]),
        naive_bytes(queries, keys, d, bytes_each=state["bytes_each"]),
    )
    expected = {
        "tiled-moved": tiled,
        "naive-moved": naive,
        "tiled-held": on_chip_bytes(d, **tiles),
        "naive-held": state["bytes_each"] * queries * keys,
    }
    assert {name: number_in(page["readings"][name]) for name in expected} == expected
    finished = len(visits) == len(visits_of(state))
    assert ("ratio" in page["readings"]) == finished
    if finished:
        assert (tiled, naive) == totals
        assert agrees(page["readings"]["ratio"], totals[1] / totals[0])
    longest = max(totals)
    near(page["bars"], {"tiled": tiled / longest, "naive": naive / longest}, 1e-9)


def assert_reports(state: Found, visits: list[Visit], page: Found) -> None:
    rows, columns = visits[-1] if visits else (visits_of(state)[0][0], slice(0, 0))
    empty = report_of(state, (rows, slice(0, 0)))
    earlier = [report_of(state, visit) for visit in visits[:-1] if visit[0] == rows]
    before = reduce(merge, earlier, empty)
    after = merge(before, report_of(state, (rows, columns)))
    finished = columns == last_tiles(state)[rows.start]
    output = (finish(after) if finished else after.output)[:, :MOST_SHOWN]
    assert all(head.endswith("/ℓ") == finished for head in page["heads"][4:])
    assert [int(row[0]) for row in page["rows"]] == list(range(rows.start + 1, rows.stop + 1))
    factors = (before.maximum - after.maximum).exp()
    for r, (_, maximum, factor, *rest) in enumerate(page["rows"]):
        largest = after.maximum[r]
        assert maximum == "−∞" if largest == -math.inf else agrees(maximum, largest)
        assert factor == "–" if before.total[r] == 0 else agrees(factor, factors[r])
        assert_said(rest, [after.total[r], *output[r]])

    score = state["scale"] * state["query"][rows] @ state["key"][columns].mT
    weights = torch.zeros(len(state["query"]), len(state["key"]), dtype=torch.float64)
    weights[rows, columns] = (score - after.maximum[:, None]).exp()
    weights.masked_fill_(~visible(state), 0)
    near(page["alpha"], 255 * weights.flatten(), atol=0.51)
