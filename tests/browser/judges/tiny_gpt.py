import math

import pytest
import torch
from reading import agrees
from torch import Tensor

from course_lib.generation import next_token_probabilities
from course_lib.widgets.tiny_gpt.tiny_gpt import decoder_of

from .letters import READ_LETTERS, assert_bars, assert_heads, spelled
from .scraped import Found, number_in, scraper

READ = scraper(
    READ_LETTERS
    + """return {
  ...bars,
  cards,
  tiles: [...one(".cw-t-text").children].map((tile) => [textOf(tile),
    tile.className.split(" ")[0].replace("cw-t-", ""),
    tile.classList.contains("cw-t-here"),
    Number(tile.style.getPropertyValue("--share") || NaN)]),
  odds: one("[data-reading=odds]").textContent,
  remark: one(".cw-t-remark")?.textContent ?? "",
};"""
)
SETTINGS = ("temperature", "top_k", "top_p")
FEWEST_BARS = 16  # beside those that are spoken of


def displayed(state: Found, page: Found) -> None:
    letters, facts = state["alphabet"], state["facts"]
    lead = int(state["start"] >= 0)
    text = state["prompt"] + state["written"]
    ids = [*[state["start"]] * lead, *map(letters.index, text)]
    finished = state["stop"] >= 0 and text.endswith(letters[state["stop"]])
    full = len(ids) > facts["tokens"]
    last = len(text) - (finished or full)
    place = last if state["place"] < 0 else max(1 - lead, min(state["place"], last))

    model = decoder_of(facts, state["weights"]).double()
    with torch.no_grad():
        own = model(torch.tensor(ids[: facts["tokens"]]))
        attention = model.attention_weights(torch.tensor(ids[: place + lead]))[:, :, -1]
    shares = own.softmax(-1)[torch.arange(len(ids) - 1), ids[1:]]
    coming = int(last == len(text))
    names = [*map(spelled, letters)]
    read = [names[i] for i in ids]
    kinds = ["mark"] * lead + ["typed"] * len(state["prompt"]) + ["written"] * len(state["written"])
    found = dict(
        zip(("text", "kind", "here", "share"), zip(*page["tiles"], strict=True), strict=True)
    )
    assert [*found["text"]] == read + ["?"] * coming
    assert [*found["kind"]] == kinds + ["coming"] * coming
    assert [i for i, here in enumerate(found["here"]) if here] == [place + lead]
    tints = [math.nan, *shares.sqrt().tolist(), *[math.nan] * coming]
    assert found["share"] == pytest.approx(tints, abs=1e-4, nan_ok=True)
    if len(shares):
        assert number_in(page["odds"].rpartition("probability ")[2]) == pytest.approx(
            float(shares.prod()), rel=0.051
        )
    chosen = letters.index(text[place]) if place < len(text) else -1
    assert_letters(page, state, own[place + lead - 1], chosen)
    assert_heads(page, read[: place + lead], attention)
    assert bool(page["remark"]) == (finished or full)


def assert_letters(page: Found, state: Found, logits: Tensor, chosen: int) -> None:
    """Assert outlined bars of the softmax, filled ones of the sampling distribution, in order."""
    own = logits.softmax(-1)
    probability = next_token_probabilities(logits, **{name: state[name] for name in SETTINGS})
    names = [*map(spelled, state["alphabet"])]
    ids = [names.index(name) for name in page["names"]]
    assert_bars(page, ids, own, probability, chosen)
    assert page["cut"] == (probability[ids] == 0).tolist()
    ranked = logits.sort(descending=True, stable=True).indices.tolist()
    assert {*ids} >= {*ranked[:FEWEST_BARS]}
    by_rank = [i for i in ranked if i in ids]
    assert ids == (by_rank if state["order"] == "probability" else sorted(by_rank))
    # The option is the one that was chosen, or the one at which the mouse points.
    option = ids[page["looked"]]
    name, _, numbers = page["readout"].rpartition(": the model says ")
    assert name == names[option]
    said, drawn = numbers.split(", drawn with ")
    assert agrees(said, own[option])
    assert agrees(drawn, probability[option])
