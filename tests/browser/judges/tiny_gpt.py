"""TinyGPT: compare its display with course_lib."""

import math
import re
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator
from reading import agrees, assert_scientific, state_of
from reading_letters import READ_LETTERS
from torch import Tensor

from course_lib.generation import next_token_probabilities
from course_lib.widgets.tiny_gpt import decoder_of

from .letters import assert_heads, assert_heights, spelled

READ = (
    f"(el) => {{{READ_LETTERS}"
    """
  const text = (selector) => el.querySelector(selector).textContent;
  const strip = el.querySelector(".cw-t-text");
  return {
    tiles: [...strip.children].map((tile) => ({
      text: tile.textContent,
      kind: tile.className.split(" ")[0].replace("cw-t-", ""),
      here: tile.classList.contains("cw-t-here"),
      share: tile.style.getPropertyValue("--share"),
    })),
    odds: text(".cw-t-odds"),
    ...bars,
    readout: text(".cw-l-readout"),
    remark: el.querySelector(".cw-t-remark")?.textContent ?? "",
    cards,
  };
}"""
)
SETTINGS = ("temperature", "top_k", "top_p")
FEWEST_BARS = 16  # beside those that are spoken of


def displayed(widget: Locator) -> None:
    state, page = state_of(widget), widget.evaluate(READ)
    letters, facts = state["alphabet"], state["facts"]
    lead = state["start"] >= 0
    text = state["prompt"] + state["written"]
    ids = [*([state["start"]] if lead else []), *map(letters.index, text)]
    finished = state["stop"] >= 0 and text.endswith(letters[state["stop"]])
    full = len(ids) > facts["tokens"]
    last = len(text) - 1 if finished or full else len(text)
    place = last if state["place"] < 0 else max(1 - lead, min(state["place"], last))

    model = decoder_of(facts, state["weights"]).double()
    with torch.no_grad():
        read = torch.tensor(ids[: facts["tokens"]])
        own = model(read).softmax(-1)
        logits = model(read)[place + lead - 1]
        attention = model.attention_weights(read[: place + lead])[:, :, -1]
    probability = next_token_probabilities(logits, **{name: state[name] for name in SETTINGS})

    shares = own[torch.arange(len(ids) - 1), torch.tensor(ids[1:], dtype=torch.long)]
    assert_text(page, state, ids, shares, place, coming=last == len(text))
    chosen = letters.index(text[place]) if place < len(text) else None
    assert_bars(page, state, logits, probability, chosen)
    assert_heads(page, [spelled(letters[i]) for i in ids[: place + lead]], attention)
    assert bool(page["remark"]) == (finished or full)


def assert_text(
    page: dict[str, Any],
    state: dict[str, Any],
    ids: list[int],
    shares: Tensor,
    place: int,
    *,
    coming: bool,
) -> None:
    """Assert a tile for each letter, tinted by its probability, and the product of all."""
    lead = int(state["start"] >= 0)
    names = [spelled(state["alphabet"][i]) for i in ids]
    tiles = page["tiles"]
    assert [tile["text"] for tile in tiles] == names + ["?"] * coming
    kinds = ["mark"] * lead + ["typed"] * len(state["prompt"]) + ["written"] * len(state["written"])
    assert [tile["kind"] for tile in tiles] == kinds + ["coming"] * coming
    assert [i for i, tile in enumerate(tiles) if tile["here"]] == [place + lead]
    found = [float(tile["share"] or "nan") for tile in tiles]
    expected = [math.nan, *shares.sqrt().tolist(), *([math.nan] * coming)]
    assert found == pytest.approx(expected, abs=1e-4, nan_ok=True)
    if len(shares):
        product = re.search(r"(?:\d\.\d·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", page["odds"])[0]
        assert_scientific(product, float(shares.prod()))


def assert_bars(
    page: dict[str, Any],
    state: dict[str, Any],
    logits: Tensor,
    probability: Tensor,
    chosen: int | None,
) -> None:
    """Assert outlined bars of the softmax, filled ones of the sampling distribution, in order."""
    own, columns = logits.softmax(-1), page["columns"]
    names = list(map(spelled, state["alphabet"]))
    ids = [names.index(column["name"]) for column in columns]
    assert_heights(page, "outline", own[ids])
    assert_heights(page, "fill", probability[ids])
    assert [column["cut"] for column in columns] == (probability[ids] == 0).tolist()
    assert [i for i, column in zip(ids, columns, strict=True) if column["chosen"]] == (
        [] if chosen is None else [chosen]
    )
    # The option is the one that was chosen, or the one at which the mouse points.
    [option] = [i for i, column in zip(ids, columns, strict=True) if column["ring"]]
    ranked = logits.sort(descending=True, stable=True).indices.tolist()
    shown = set(ids)
    assert shown >= {*ranked[:FEWEST_BARS]}
    expected = [i for i in ranked if i in shown]
    order = [ids[i] for i in sorted(range(len(ids)), key=lambda i: columns[i]["at"][::-1])]
    assert order == (expected if state["order"] == "probability" else sorted(expected))
    name, _, numbers = page["readout"].rpartition(": the model says ")
    assert name == names[option]
    said, drawn = numbers.split(", drawn with ")
    assert agrees(said, own[option])
    assert agrees(drawn, probability[option])
