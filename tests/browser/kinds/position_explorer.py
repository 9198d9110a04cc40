"""PositionExplorer: a small one, what it displays, and what course_lib says it should."""

import math
import re
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator
from reading import NUMBER, agrees, scientific_number, shown, state_of
from torch import Tensor

from course_lib.position import rotary, sinusoidal
from course_lib.widgets import PositionExplorer

READ = """(el) => {
  const reading = (e) => [e.dataset.reading, e.textContent];
  const hand = (line) => [Number(line.getAttribute("x2")), -Number(line.getAttribute("y2"))];
  const pixels = (canvas) => {
    const { width, height } = canvas;
    const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
    const at = (i) => (data[4 * i] >= data[4 * i + 2] ? 1 : -1) * data[4 * i + 3];
    return Array.from({ length: height }, (_, y) =>
      Array.from({ length: width }, (_, x) => at(y * width + x)));
  };
  const dots = (name) => [...el.querySelector(`[data-layer=${name}]`).getAttribute("d")
    .matchAll(/M(\\S+) (\\S+)h0/g)].map(([, x, y]) => [Number(x), Number(y)]);
  const here = el.querySelector("[data-layer=here]");
  const clocks = [...el.querySelectorAll(".cw-pos-clocks [role=slider] > g")];
  const chosen = el.querySelector(".cw-pos-clocks [role=slider]");
  const handle = el.querySelector(".cw-pos-product [role=button]");
  return {
    readings: Object.fromEntries([...el.querySelectorAll("[data-reading]")].map(reading)),
    layers: Object.fromEntries([...el.querySelectorAll("canvas")]
      .map((canvas) => [canvas.dataset.layer, pixels(canvas)])),
    clocks: clocks.map((clock) => ({
      hands: [...clock.querySelectorAll("line")].map(hand),
      tint: ["fill", "fill-opacity"]
        .map((name) => clock.querySelector("[data-tint]").getAttribute(name)),
      share: clock.querySelector("text").textContent,
    })),
    pair: Number(chosen.getAttribute("aria-valuenow")),
    said: chosen.getAttribute("aria-valuetext"),
    handle: handle.getAttribute("aria-label"),
    spots: [...el.querySelectorAll(".cw-pos-wave circle[r='5']")]
      .map((spot) => ["cx", "cy"].map((name) => Number(spot.getAttribute(name)))),
    every: dots("every"),
    alike: dots("alike"),
    here: ["cx", "cy"].map((name) => Number(here.getAttribute(name))),
    sliders: Object.fromEntries([...el.querySelectorAll("input[type=range]")].map((input) =>
      [input.dataset.trait, [Number(input.value), Number(input.max)]])),
    shift: el.querySelector("input[data-trait=shift] + output").textContent,
  };
}"""
PRODUCTS = {
    "none": "q · k",
    "sinusoidal": "pₛ · pₜ",
    "learned": "Pₛ · Pₜ",
    "rotary": "Rₛq · Rₜk",
}


def sides_of(state: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """What the score multiplies, on the query's and on the key's side, computed by course_lib."""
    tokens, base = state["tokens"], state["base"]
    if state["kind"] == "sinusoidal":
        table = sinusoidal(tokens, state["d_model"], base=base, dtype=torch.float64)
        return table, table
    if state["kind"] == "learned":
        return state["learned"], state["learned"]
    query, key = (state[name].expand(tokens, -1) for name in ("query", "key"))
    if state["kind"] == "none":
        return query, key
    return rotary(query, base=base), rotary(key, base=base)


def make() -> PositionExplorer:
    table = np.random.default_rng(8).normal(size=(24, 6))
    return PositionExplorer(tokens=24, d_model=6, learned=table, base=100)


def displayed(widget: Locator) -> None:
    state, page = state_of(widget), widget.evaluate(READ)
    queries, keys = sides_of(state)
    score = queries @ keys.mT
    s, t, pair = (state[name] for name in ("query_position", "key_position", "pair"))
    readings = page["readings"]
    assert readings["product"] == PRODUCTS[state["kind"]]
    assert agrees(readings["score"], score[s, t])
    assert agrees(readings["sum"].removeprefix(f"{PRODUCTS[state['kind']]} = "), score[s, t])
    assert readings["difference"] == f"s − t = {signed(s - t)}"
    assert page["handle"] == f"query at {s}, key at {t}; arrow keys move them"
    assert page["sliders"] == {
        "query_position": [s, state["tokens"] - 1],
        "key_position": [t, state["tokens"] - 1],
        "shift": [min(s, t), state["tokens"] - 1 - abs(s - t)],
    }
    assert page["shift"] == f"{s}, {t}"
    assert_matrices(page, queries, keys, score)
    assert_clocks(page, queries, keys, (s, t, pair))
    assert_wave(page, queries, keys, (s, t, pair))
    assert readings["title"].startswith(f"Pair {pair} by position: feature ")
    assert NUMBER.findall(readings["title"])[-1] == str(2 * pair + 1)
    assert_turn(readings["turn"], state, queries)
    assert_differences(page, score, s, t)


def signed(number: int) -> str:
    return str(number).replace("-", "−")


def assert_matrices(page: dict[str, Any], queries: Tensor, keys: Tensor, score: Tensor) -> None:
    """Each pixel is as deep as its entry is large, and has the colour of its sign."""
    table = max(float(queries.abs().max()), float(keys.abs().max()))
    full = {"queries": table, "keys": table, "scores": float(score.abs().max())}
    matrices = {"queries": queries, "keys": keys.mT, "scores": score}
    for name, matrix in matrices.items():
        depth, expected = np.array(page["layers"][name]), 255 * matrix.numpy() / full[name]
        np.testing.assert_allclose(abs(depth), abs(expected), atol=0.51)
        clear = abs(expected) > 40
        assert (np.sign(depth) == np.sign(expected))[clear].all()
    scale = NUMBER.findall(page["readings"]["scale"])
    assert agrees(scale[0], full["queries"])
    assert agrees(scale[1], full["scores"])


def hands(row: Tensor) -> Tensor:
    return row.unflatten(-1, (-1, 2))


def assert_clocks(
    page: dict[str, Any], queries: Tensor, keys: Tensor, chosen: tuple[int, int, int]
) -> None:
    s, t, pair = chosen
    share = (hands(queries[:, None]) * hands(keys[None])).sum(-1)
    full = float(share.abs().max())
    assert len(page["clocks"]) == share.shape[-1]
    assert page["pair"] == pair
    assert agrees(page["said"].rpartition(" ")[2], share[s, t, pair])
    drawn = torch.tensor([clock["hands"] for clock in page["clocks"]], dtype=torch.float64)
    expected = torch.stack([hands(keys[t]), hands(queries[s])], dim=1)
    longest = hands(torch.cat([queries, keys])).norm(dim=-1).max()
    # The longest hand of all positions fills the clock; a pixel is the unit here.
    radius = drawn.norm(dim=-1).max() / expected.norm(dim=-1).max()
    assert torch.allclose(drawn, radius * expected, atol=2e-3)
    assert 10 < radius * longest < 40
    for clock, each in zip(page["clocks"], share[s, t].tolist(), strict=True):
        colour, opacity = clock["tint"]
        assert agrees(clock["share"], each)
        assert float(opacity) == pytest.approx(0.4 * abs(each) / full, abs=6e-5)
        assert abs(each) < 1e-9 or ("accent" in colour) == (each < 0)


def assert_wave(
    page: dict[str, Any], queries: Tensor, keys: Tensor, chosen: tuple[int, int, int]
) -> None:
    """The spots stand over their positions, as high as the hands."""
    s, t, pair = chosen
    reach = hands(torch.cat([queries, keys]))[:, pair].norm(dim=-1).max()
    height = torch.stack([keys[t, 2 * pair + 1], queries[s, 2 * pair + 1]]) / reach
    dial = 52
    (x_t, y_t), (x_s, y_s) = page["spots"]
    for y, expected in zip((y_t, y_s), height.tolist(), strict=True):
        assert y == pytest.approx(dial + 10 - dial * expected, abs=0.01)
    assert np.sign(round(x_s - x_t, 3)) == np.sign(s - t)


def assert_turn(text: str, state: dict[str, Any], queries: Tensor) -> None:
    """The angles by which the chosen hand turns, measured on the rows themselves."""
    s, t, pair = (state[name] for name in ("query_position", "key_position", "pair"))
    numbers = [shown(n) for n in re.findall(r"[−-]?\d+\.\d+(?=°)", text)]
    if state["kind"] == "none":
        assert numbers == []
        return
    frequency = math.degrees(state["base"] ** (-2 * pair / state["d_model"]))
    if state["kind"] == "rotary":
        assert numbers == [pytest.approx(frequency, abs=0.06)]
        return
    if state["kind"] == "sinusoidal":
        assert numbers == [
            pytest.approx(frequency, abs=0.06),
            pytest.approx((s - t) * frequency, abs=0.06),
        ]
        assert scientific_or_zero(text.rpartition(" ")[2].rstrip(".")) < 1e-12
        return
    # With the first feature across and the second up, arctan2(across, up) grows clockwise.
    across, up = hands(queries)[:, pair].mT
    angle = torch.rad2deg(torch.atan2(across, up))
    start = [i for i in range(len(queries)) if 0 <= i + s - t < len(queries)]
    turns = torch.tensor([float(angle[i + s - t] - angle[i]) for i in start])
    turns = (turns + 180) % 360 - 180
    expected = [float(turns[start.index(t)]), float(turns.min()), float(turns.max())]
    for found, wanted in zip(numbers, expected, strict=True):
        # Half a turn may be told as 180 or as −180 degrees.
        assert abs((found - wanted + 180) % 360 - 180) < 0.06


def scientific_or_zero(text: str) -> float:
    return 0.0 if text == "0" else scientific_number(text)


def assert_differences(page: dict[str, Any], score: Tensor, s: int, t: int) -> None:
    alike = score.diagonal(t - s)
    verdict = page["readings"]["verdict"]
    counted, _, told = verdict.partition(f"s − t = {signed(s - t)}. ")
    assert counted.startswith("One pair" if len(alike) == 1 else f"{len(alike)} pairs")
    numbers = NUMBER.findall(told)
    if float(alike.max() - alike.min()) < 1e-9 * float(score.abs().max()):
        assert len(numbers) == 1
        assert agrees(numbers[0], alike[0])
    else:
        assert len(numbers) == 2
        assert agrees(numbers[0], alike.min())
        assert agrees(numbers[1], alike.max())

    # Dots: across by the difference, up by the score; two of them fix the scales.
    tokens = len(score)
    position = torch.arange(tokens, dtype=torch.float64)
    points = torch.stack([position[:, None] - position[None], -score], dim=-1)
    drawn = torch.tensor(page["every"], dtype=torch.float64).unflatten(0, (tokens, tokens))
    for axis in range(2):
        found, wanted = drawn[..., axis].flatten(), points[..., axis].flatten()
        if float(wanted.max() - wanted.min()) < 1e-9:
            assert float(found.max() - found.min()) < 0.02
            continue
        rate = (found.max() - found.min()) / (wanted.max() - wanted.min())
        assert rate > 0
        expected = found.min() + rate * (wanted - wanted.min())
        assert torch.allclose(found, expected, atol=0.03)
    assert page["here"] == pytest.approx(drawn[s, t].tolist(), abs=0.011)
    column = drawn.diagonal(t - s).mT
    assert torch.allclose(torch.tensor(page["alike"], dtype=torch.float64), column, atol=0.011)
