"""TinyGPT: a small one, what it displays, and what course_lib says it should."""

import math
import re
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator
from reading import agrees, assert_scientific, state_of
from reading_letters import READ_LETTERS
from torch import Tensor

from course_lib.generation import next_token_probabilities
from course_lib.transformer import Decoder
from course_lib.widgets import TinyGPT
from course_lib.widgets.folding import folded
from course_lib.widgets.tiny_gpt import decoder_of

READ = (
    f"(el) => {{{READ_LETTERS}"
    """
  const text = (selector) => el.querySelector(selector).textContent;
  const variable = (e, name) => e.style.getPropertyValue(name);
  const strip = el.querySelector(".cw-t-text");
  return {
    width: el.querySelector("[data-measure=strip]").getBoundingClientRect().width,
    tiles: [...strip.children].map((tile) => ({
      text: tile.textContent,
      kind: tile.className.split(" ")[0].replace("cw-t-", ""),
      here: tile.classList.contains("cw-t-here"),
      share: variable(tile, "--share"),
    })),
    place: ["min", "now", "max"].map((name) => Number(strip.getAttribute(`aria-value${name}`))),
    said: strip.getAttribute("aria-valuetext"),
    odds: text(".cw-t-odds"),
    heading: text(".cw-l-heading"),
    ...bars,
    readout: text(".cw-l-readout"),
    kept: text(".cw-l-readout + p"),
    remark: el.querySelector(".cw-t-remark")?.textContent ?? "",
    strip: [".cw-t-even", ".cw-t-odd", ".cw-t-drawn"].map((kind) =>
      [...el.querySelector(kind).getAttribute("d").matchAll(/M(\\S+) \\S+h(\\S+)v/g)]
        .map((found) => found.slice(1).map(Number))),
    across: el.querySelector(".cw-t-strip").viewBox.baseVal.width - 2,
    beginnings: [...el.querySelectorAll(".cw-t-beginnings button")].map((button) =>
      [button.textContent, button.getAttribute("aria-pressed") === "true"]),
    cards,
    typed: el.querySelector("input[type=text]").value,
    message: text(".cw-complaint"),
  };
}"""
)
SETTINGS = ("temperature", "top_k", "top_p")
MOST_BARS = 24
BARS_IF_NARROW = 16
NARROW = 480
TAIL = 5
"""So many letters before the one in question stand in the heading."""


def make() -> TinyGPT:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(9)
        model = Decoder(7, 8, 2, 2, tokens=12)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return TinyGPT(
        model,
        "·abcde<",
        prompt="bad",
        written="ce",
        start="·",
        stop="·",
        top_k=5,
        top_p=0.9,
        beginnings={"to a": "a", "to b": "b"},
        moving=False,
    )


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
    assert page["place"] == [2 - lead, place + 1, last + 1]

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
    assert_strip(page, probability, chosen)
    names = zip(state["beginning_names"], state["beginnings"], strict=True)
    pressed = [[name, prompt == state["prompt"]] for name, prompt in names]
    assert page["beginnings"] == pressed
    assert_cut(page, state, logits, probability)
    assert_heads(page, spelled(letters, ids[: place + lead]), attention)
    remarks = [words for words, holds in (("the end", finished), ("positions", full)) if holds]
    assert bool(page["remark"]) == bool(remarks)
    assert not remarks or remarks[0] in page["remark"]
    if page["typed"] == state["prompt"]:
        assert page["message"] == ""
    elif folded(page["typed"], letters) == state["prompt"]:
        read = "".join(spelled(letters, [letters.index(letter) for letter in state["prompt"]]))
        assert page["message"] == f"Read as {read}."


def spelled(letters: str, ids: list[int]) -> list[str]:
    return [{" ": "␣", "\n": "⏎"}.get(letters[i], letters[i]) for i in ids]


def assert_text(
    page: dict[str, Any],
    state: dict[str, Any],
    ids: list[int],
    shares: Tensor,
    place: int,
    *,
    coming: bool,
) -> None:
    """A tile for each letter, of the tint of its probability, and the product of all."""
    lead = int(state["start"] >= 0)
    names = spelled(state["alphabet"], ids)
    tiles = page["tiles"]
    assert [tile["text"] for tile in tiles] == names + ["?"] * coming
    kinds = ["mark"] * lead + ["typed"] * len(state["prompt"]) + ["written"] * len(state["written"])
    assert [tile["kind"] for tile in tiles] == kinds + ["coming"] * coming
    assert [i for i, tile in enumerate(tiles) if tile["here"]] == [place + lead]
    found = [float(tile["share"] or "nan") for tile in tiles]
    expected = [math.nan, *shares.sqrt().tolist(), *([math.nan] * coming)]
    assert found == pytest.approx(expected, abs=1e-4, nan_ok=True)
    read = names[lead : place + lead]
    before = ("…" * (len(read) > TAIL) + "".join(read[-TAIL:])) or "the start"
    if place + lead < len(ids):
        who = "you typed" if place < len(state["prompt"]) else "it wrote"
        assert page["heading"] == f"After {before} {who} {names[place + lead]}, out of:"
        assert agrees(page["said"].rpartition(" ")[2], shares[place + lead - 1])
    else:
        assert page["heading"] == f"After {before}, what comes next?"
    if len(shares):
        assert page["odds"].startswith("The model gives" if lead else "Given its first letter")
        product = re.search(r"(?:\d\.\d·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", page["odds"])[0]
        assert_scientific(product, float(shares.prod()))
    else:
        assert page["odds"] == "Nothing is written yet."


def most_of(page: dict[str, Any]) -> int:
    """How many letters have a bar, beside those that are spoken of."""
    return MOST_BARS if page["width"] >= NARROW else BARS_IF_NARROW


def assert_bars(
    page: dict[str, Any],
    state: dict[str, Any],
    logits: Tensor,
    probability: Tensor,
    chosen: int | None,
) -> None:
    """Outlined the model's softmax, filled what is drawn from, in the order that was asked for."""
    own, columns = logits.softmax(-1), page["columns"]
    names = spelled(state["alphabet"], list(range(len(own))))
    ids = [names.index(column["name"]) for column in columns]
    height = torch.tensor([column["scale"] for column in columns], dtype=torch.float64)
    assert page["top"] >= max(own.max(), probability.max()) - 1e-6
    for name, expected in (("outline", own), ("fill", probability)):
        found = torch.tensor([column[name] for column in columns], dtype=torch.float64)
        assert (found / height * page["top"]).numpy() == pytest.approx(expected[ids], abs=1e-4)
    assert [column["cut"] for column in columns] == (probability[ids] == 0).tolist()
    assert [i for i, column in zip(ids, columns, strict=True) if column["chosen"]] == (
        [] if chosen is None else [chosen]
    )
    # The option is the one that was chosen, or the one at which the mouse points.
    [option] = [i for i, column in zip(ids, columns, strict=True) if column["ring"]]
    ranked = logits.sort(descending=True, stable=True).indices.tolist()
    shown = {*ranked[: most_of(page)], option} | ({chosen} - {None})
    expected = [i for i in ranked if i in shown]
    order = [ids[i] for i in sorted(range(len(ids)), key=lambda i: columns[i]["at"][::-1])]
    assert order == (expected if state["order"] == "probability" else sorted(expected))
    assert page["rank"] == order.index(option) + 1
    name, _, numbers = page["readout"].rpartition(": the model says ")
    assert name == names[option]
    said, drawn = numbers.split(", drawn with ")
    assert agrees(said, own[option])
    assert agrees(drawn, probability[option])
    others = re.search(r"The other (\d+) letters share (\S+)\. ", page["kept"])
    assert (others is None) == (len(shown) == len(own))
    if others:
        assert int(others[1]) == len(own) - len(shown)
        assert agrees(others[2], own.sum() - own[sorted(shown)].sum())


def assert_strip(page: dict[str, Any], probability: Tensor, chosen: int | None) -> None:
    """All probabilities end to end, in the order of the alphabet; what was drawn is lit."""
    ends = (1 + probability.cumsum(0) * page["across"]).tolist()
    places = list(zip([1.0, *ends], ends, strict=False))
    even, odd, lit = ([(x, x + w) for x, w in boxes] for boxes in page["strip"])
    found = np.array(sorted(even + odd))
    # What is too narrow to be drawn is left out.
    wide = np.array([place for place in places if place[1] - place[0] > 0.01])
    nearest = np.abs(found[:, None] - wide).max(-1).min(0)
    assert nearest == pytest.approx(0, abs=0.01)
    assert np.diff(found).sum() == pytest.approx(page["across"], abs=0.001 * len(found))
    if chosen is not None:
        assert lit == [pytest.approx(places[chosen], abs=0.01)]


def assert_cut(
    page: dict[str, Any], state: dict[str, Any], logits: Tensor, probability: Tensor
) -> None:
    """How many letters top-k leaves, and how many top-p leaves of these."""
    count = len(state["alphabet"])
    by_k = next_token_probabilities(
        logits, temperature=state["temperature"], top_k=state["top_k"]
    ).count_nonzero()
    by_p = int(probability.count_nonzero())
    assert by_k == state["top_k"]
    expected = {}
    if by_k < count:
        expected["top-k"] = int(by_k)
    if by_p < by_k:
        expected["top-p"] = by_p
    found = re.findall(r"(top-[kp]) [\d.]+ leaves (\d+)", page["kept"], re.IGNORECASE)
    assert {name.lower(): int(left) for name, left in found} == expected
    assert ("None of the" in page["kept"]) == (not expected)
    by_rank = state["order"] == "probability"
    assert page["captions"] == [
        f"{name} keeps {left}"
        for name, left in expected.items()
        if by_rank and left <= len(page["columns"])
    ]
    assert ("no choice" in page["kept"]) == (by_p == 1)


def assert_heads(page: dict[str, Any], names: list[str], attention: Tensor) -> None:
    """The text once for each head, its letters as blue as the head looks at them."""
    layers, heads, tokens = attention.shape
    assert len(page["cards"]) == layers * heads
    for card, row in zip(page["cards"], attention.flatten(0, 1), strict=True):
        assert card["letters"] == names
        weights = [float(weight) for weight in card["weights"]]
        assert weights == pytest.approx(row.sqrt().tolist(), abs=1e-4)
        name, _, weight = card["most"].rpartition(" ")
        assert agrees(weight, row.max())
        best = int(re.search(r"place (\d+) of (\d+)", card["label"])[1]) - 1
        assert row[best] >= row.max() - 1e-6
        assert name == names[best]
        assert card["label"].endswith(f"of {tokens}, weight {weight}")
    labels = [card["label"].partition(" looks")[0] for card in page["cards"]]
    pairs = [(layer + 1, head + 1) for layer in range(layers) for head in range(heads)]
    assert labels == [f"Layer {layer}, head {head}" for layer, head in pairs]
