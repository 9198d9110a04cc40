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
  const numbers = (e, ...names) => names.map((name) => Number(e.getAttribute(name)));
  const all = (selector) => [...el.querySelectorAll(selector)];
  const everything = () => {
    const chosen = el.querySelector(".cw-pos-clocks [role=slider]");
    return {
      layers: Object.fromEntries(all("canvas")
        .map((canvas) => [canvas.dataset.layer, pixels(canvas)])),
      clocks: all(".cw-pos-clocks [role=slider] > g").map((clock) => ({
        hands: [...clock.querySelectorAll("line")].map(hand),
        tint: ["fill", "fill-opacity"]
          .map((name) => clock.querySelector("[data-tint]").getAttribute(name)),
        share: clock.querySelector("text").textContent,
      })),
      pair: Number(chosen.getAttribute("aria-valuenow")),
      spots: all(".cw-pos-wave circle[r='5']").map((spot) => numbers(spot, "cx", "cy")),
      every: dots("every"),
      alike: dots("alike"),
      here: numbers(el.querySelector("[data-layer=here]"), "cx", "cy"),
    };
  };
  const orders = el.querySelector(".cw-pos-orders [role=slider]");
  const momentary = el.querySelector("[data-reading=momentary]");
  return {
    readings: Object.fromEntries(all("[data-reading]").map(reading)),
    sliders: Object.fromEntries(all("input[type=range]").map((input) =>
      [input.dataset.trait, [Number(input.value), Number(input.max)]])),
    way: momentary ? Number(momentary.dataset.way) : 1,
    words: all(".cw-pos-word").map((tile) =>
      [tile.dataset.word, Number(tile.getAttribute("transform").match(/-?[0-9.]+/)[0])]),
    order: orders && [orders.getAttribute("aria-valuetext"), orders.getAttribute("aria-valuenow")],
    ranks: all("[data-score]").map((bar) => ({
      score: Number(bar.dataset.score), height: Number(bar.getAttribute("height")),
    })),
    pairHands: all(".cw-pos-pair line:not([stroke-dasharray])").slice(0)
      .filter((line) => line.getAttribute("stroke-width") === "5").map(hand),
    everything: el.querySelector(".cw-pos-product") && everything(),
  };
}"""
ORDERS = {
    "DOG BITES MAN": (1, 0),
    "MAN BITES DOG": (1, 2),
    "BITES DOG MAN": (0, 1),
    "BITES MAN DOG": (0, 2),
    "MAN DOG BITES": (2, 1),
    "DOG MAN BITES": (2, 0),
}
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
        table = moments_of(state)[state["stage"]]
        return table, table
    query, key = (state[name].expand(tokens, -1) for name in ("query", "key"))
    if state["kind"] == "none":
        return query, key
    return rotary(query, base=base), rotary(key, base=base)


def moments_of(state: dict[str, Any]) -> list[Tensor]:
    """The learned table from the first moment of its training to the last."""
    return [*state["before"], state["learned"]]


def make() -> PositionExplorer:
    *before, table = np.random.default_rng(8).normal(size=(3, 24, 6))
    return PositionExplorer(
        tokens=24, d_model=6, learned=table, before=before, base=100, moving=False
    )


def displayed(widget: Locator) -> None:
    state, page = state_of(widget), widget.evaluate(READ)
    queries, keys = sides_of(state)
    score = queries @ keys.mT
    s, t, pair = (state[name] for name in ("query_position", "key_position", "pair"))
    readings = page["readings"]
    # On its way the score is no entry of the table; it is looked at when the words have arrived.
    assert page["way"] == 1
    assert_sentence(page, state, score)
    product = PRODUCTS[state["kind"]]
    share = hands(queries[s])[pair] @ hands(keys[t])[pair]
    adds, _, of = readings["adds"].partition(f" to {product} = ")
    assert agrees(adds.rpartition(" ")[2], share)
    assert agrees(readings["share"], share)
    assert agrees(of, score[s, t])
    expected = torch.stack([hands(queries[s])[pair], hands(keys[t])[pair]])
    reach = hands(torch.cat([queries, keys]))[:, pair].norm(dim=-1).max()
    drawn = torch.tensor(page["pairHands"], dtype=torch.float64)
    assert torch.allclose(drawn, 42 * expected / reach, atol=2e-3)
    assert (page["everything"] is not None) == state["everything"]
    if state["everything"]:
        assert_everything(readings, page["everything"], (queries, keys, score), state)


def assert_sentence(page: dict[str, Any], state: dict[str, Any], score: Tensor) -> None:
    """The words in their order, the score of two of them, and that of all six orders."""
    s, t, tokens = state["query_position"], state["key_position"], state["tokens"]
    sliders = page["sliders"]
    low, last = sliders["shift"]
    if tokens < 3:
        assert page["words"] == []
        return
    assert agrees(page["readings"]["momentary"], score[s, t])
    order = " ".join(word for word, _ in sorted(page["words"], key=lambda spot: spot[1]))
    together = len(page["words"]) == 3
    assert together == (0 < abs(s - t) < 3)
    if together:
        assert page["order"] == [order, str(list(ORDERS).index(order) + 1)]
        query, key = ORDERS[order]
        assert (s, t) == (low + query, low + key)
        assert last == tokens - 3
    else:
        assert (low, last) == (min(s, t), tokens - 1 - abs(s - t))
    first = low if together else min(low, tokens - 3)
    expected = torch.stack([score[first + q, first + k] for q, k in ORDERS.values()])
    assert [rank["score"] for rank in page["ranks"]] == pytest.approx(expected.tolist(), abs=2e-6)
    scale = 56 / float(expected.clamp(min=0).max() - expected.clamp(max=0).min() or 1)
    heights = [rank["height"] for rank in page["ranks"]]
    assert heights == pytest.approx((expected.abs() * scale).tolist(), abs=1e-2)
    near = 1e-9 * float(score.abs().max())
    count = 1 + int((expected.sort().values.diff() > near).sum())
    assert page["readings"]["orders"].startswith(f"Six orders, {count} ")
    if moved := re.findall(r"Was ([−\d.]+\d), is ([−\d.]+\d)", page["readings"]["moved"]):
        assert agrees(moved[0][1], score[s, t])
        assert ("the same" in page["readings"]["moved"]) <= (moved[0][0] == moved[0][1])


def assert_everything(
    readings: dict[str, str],
    page: dict[str, Any],
    told: tuple[Tensor, Tensor, Tensor],
    state: dict[str, Any],
) -> None:
    """All positions and all pairs."""
    queries, keys, score = told
    s, t, pair = (state[name] for name in ("query_position", "key_position", "pair"))
    product = PRODUCTS[state["kind"]]
    assert agrees(readings["score"], score[s, t])
    assert agrees(readings["sum"].removeprefix(f"{product} = "), score[s, t])
    assert readings["difference"] == f"s − t = {signed(s - t)}"
    tables = moments_of(state) if state["kind"] == "learned" else [torch.cat([queries, keys])]
    products = [x @ x.mT for x in tables] if state["kind"] == "learned" else [score]
    full = [max(float(x.abs().max()) for x in each) for each in (tables, products)]
    assert_matrices(page, readings["scale"], told, full)
    assert_clocks(page, queries, keys, (s, t, pair))
    assert_wave(page, queries, keys, (s, t, pair))
    assert_turn(readings["turn"], state, queries)
    assert_differences(page, readings["verdict"].replace("\u00a0", " "), score, (s, t), full[1])
    share = explained(score)
    assert readings["explained"] == f"{100 * share:.0f} %"
    assert_found(readings["found"], state, share)


def assert_found(text: str, state: dict[str, Any], share: float) -> None:
    """A success has its sign."""
    learned = state["kind"] == "learned"
    over = not learned or state["stage"] == len(state["before"])
    if state["tokens"] > 2:
        assert text.startswith("✓") == (over and share > 0.5)
    if learned:
        assert text.startswith("So far ") == (not over)


def explained(score: Tensor) -> float:
    """The share of the variance of the scores below the diagonal that lies between diagonals."""
    count = len(score)
    below = [score.diagonal(-k) for k in range(1, count)]
    values = torch.cat(below)
    if float(values.max() - values.min()) == 0:
        return 0.0
    means = torch.cat([each.mean().expand(len(each)) for each in below])
    return float((means - values.mean()).square().sum() / (values - values.mean()).square().sum())


def signed(number: int) -> str:
    return str(number).replace("-", "−")


def assert_matrices(
    page: dict[str, Any],
    legend: str,
    told: tuple[Tensor, Tensor, Tensor],
    full: list[float],
) -> None:
    """Each pixel is as deep as its entry is large, and has its sign's colour.

    The deepest is the largest entry of all moments of the training.
    """
    queries, keys, score = told
    table, scores = full
    matrices = {"queries": (queries, table), "keys": (keys.mT, table), "scores": (score, scores)}
    for name, (matrix, most) in matrices.items():
        depth, expected = np.array(page["layers"][name]), 255 * matrix.numpy() / most
        np.testing.assert_allclose(abs(depth), abs(expected), atol=0.51)
        clear = abs(expected) > 40
        assert (np.sign(depth) == np.sign(expected))[clear].all()
    scale = NUMBER.findall(legend)
    assert agrees(scale[0], table)
    assert agrees(scale[1], scores)


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
        turns = [1] if s - t == 1 else [1, s - t]
        assert numbers == [pytest.approx(k * frequency, abs=0.06) for k in turns]
        assert scientific_or_zero(text.rpartition(" ")[2].rstrip(".")) < 1e-12
        return
    if s == t:
        assert text == "It is the same place: the hand does not turn."
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


def assert_differences(
    page: dict[str, Any], verdict: str, score: Tensor, chosen: tuple[int, int], full: float
) -> None:
    s, t = chosen
    alike = score.diagonal(t - s)
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
        # Of a table that has hardly been trained nothing stands out, on the scales of the end.
        if axis == 1 and float(wanted.max() - wanted.min()) < 1e-4 * full:
            assert float(found.max() - found.min()) < 0.1
            continue
        rate = (found.max() - found.min()) / (wanted.max() - wanted.min())
        assert rate > 0
        expected = found.min() + rate * (wanted - wanted.min())
        assert torch.allclose(found, expected, atol=0.03)
    assert page["here"] == pytest.approx(drawn[s, t].tolist(), abs=0.011)
    column = drawn.diagonal(t - s).mT
    assert torch.allclose(torch.tensor(page["alike"], dtype=torch.float64), column, atol=0.011)
