import math
import re

import numpy as np
import torch
from reading import agrees
from torch import Tensor, nn

from course_lib import recurrent
from course_lib.widgets.gate_explorer.gate_explorer import PARAMETERS, Rows

from .scraped import Found, assert_said, near, scraper

READ = scraper("""
  const slider = one("[role=slider]");
  const glass = one("svg[data-share]");
  const map = () => {
    const canvas = one(".cw-g-picture canvas");
    const rows = all(".cw-g-units text").map(Number);
    const letters = numberOf(slider, "aria-valuemax");
    const [alpha, field] = [opaque(canvas), one(".cw-g-rows [role=slider] rect")];
    const middle = (i, count, whole) => Math.floor(((i + 0.5) / count) * numberOf(field, whole));
    const depth = (t, row) => alpha[
      middle(row, rows.length, "height") * canvas.width + middle(t, letters, "width")] / 255;
    return {
      rows,
      depths: [...Array(letters).keys()].map((t) => rows.map((_, row) => depth(t, row))),
      values: all(".cw-g-equations .cw-number"),
    };
  };
  return {
    letter: numberOf(slider, "aria-valuenow") - 1,
    said: slider.getAttribute("aria-valuetext"),
    bars: all(".cw-g-bar", (bar) => numberOf(bar, "height") / 60),
    shares: all(".cw-g-opinion strong"),
    share: Number(glass.dataset.share),
    level: Number(glass.querySelector(".cw-g-water").dataset.level),
    open: all("svg[data-share] .cw-g-shutter", (gate) => Number(gate.dataset.open)),
    words: all("svg[data-share] text").join(" "),
    map: one(".cw-g-rows") && map(),
  };
""")


def displayed(state: Found, page: Found) -> None:
    told = quantities(state)
    letter, quantity = page["letter"], told[state["quantity"]]
    unit = int(re.search(r"; unit (\d+) of", page["said"])[1]) - 1
    assert agrees(page["said"].split(". ")[0].rpartition(" ")[2], quantity[letter, unit])
    assert_glass(page, state["kind"], told, letter, unit)
    if state["labels"]:
        assert_opinion(page, state, told)
    assert (page["map"] is not None) == state["all_units"]
    if state["all_units"]:
        assert_map(page["map"], state, quantity)
        assert_said(page["map"]["values"], [told[q][letter, unit] for q in state["quantities"]])


def assert_glass(page: Found, kind: str, told: dict[str, Tensor], letter: int, unit: int) -> None:
    """First the forgotten share runs out, then the written part comes in, through gates."""
    held = told["cell" if kind == "LSTM" else "hidden"][:, unit]
    after, before = float(held[letter]), float(held[letter - 1]) if letter else 0.0
    at = {name: float(values[letter, unit]) for name, values in told.items()}
    keep = at.get("forget", at.get("update", 0.0))
    gate = at.get("input", 1 - keep)
    way = (page["share"] - 0.25) / 0.75
    level = np.interp(way, [0, 0.5, 1], [before, keep * before, after])
    near(page["level"], level, atol=2e-6)
    near(page["open"], [gate, 1 - keep, *[at.get("output")] * (kind == "LSTM")], atol=6e-5)
    if kind == "LSTM" and page["share"] == 1:
        assert agrees(page["words"].partition("shows h = ")[2], at["hidden"])


def assert_map(page: Found, state: Found, value: Tensor) -> None:
    order = [row - 1 for row in page["rows"]]
    assert sorted(order) == list(range(value.shape[1]))
    if state["order"] == "number":
        assert order == sorted(order)
    if state["order"] == "value":
        assert (value[state["letter"]][order].diff() <= 1e-9).all()
    scale = 1.0
    if state["quantity"] == "cell":
        scale = max(1, math.ceil(value.abs().max()))
    if state["quantity"] == "vote":
        first, second = state["readout"][:, :-1]
        scale = float((first - second).abs().max())
    near(page["depths"], (value[:, order] / scale).abs(), atol=0.6 / 255)


def assert_opinion(page: Found, state: Found, told: dict[str, Tensor]) -> None:
    readout = state["readout"]
    shares = (told["hidden"] @ readout[:, :-1].mT + readout[:, -1]).softmax(-1)
    near(page["bars"], shares.flatten())
    # The prediction after a letter is shown once its water has settled.
    letters = page["letter"] + (page["share"] == 1)
    if letters:
        assert_said(page["shares"], shares[letters - 1])
    else:
        assert set(page["shares"]) == {"–"}


def quantities(state: Found) -> dict[str, Tensor]:
    """Every quantity that can be selected, (letters, units), computed by course_lib.recurrent."""
    rows, letters = torch.from_numpy(Rows.exactly(state["gates"])), len(state["alphabet"])
    units = rows.shape[1] - letters - 2
    layer = getattr(recurrent, state["kind"])(letters, units).double()
    shapes, weights = layer.state_dict(), rows.split([letters, units, 1, 1], dim=1)
    named = zip(PARAMETERS, weights, strict=True)
    layer.load_state_dict({name: weight.reshape(shapes[name].shape) for name, weight in named})
    places = torch.tensor([state["alphabet"].index(letter) for letter in state["text"]])
    x = nn.functional.one_hot(places, letters).double()
    with torch.no_grad():
        outputs, _ = layer(x)
        hidden = torch.cat([outputs.new_zeros(1, units), outputs])
        sums = layer.from_input(x), layer.from_hidden(hidden[:-1])
        told = {"hidden": outputs}
        if state["kind"] == "GRU":
            told |= recurrent.gru_gates(*sums)._asdict()
        if state["kind"] == "LSTM":
            told |= recurrent.lstm_gates(*sums)._asdict()
            cells = [outputs.new_zeros(units)]
            for step in range(len(x)):
                cells.append(recurrent.lstm_step(*(s[step] for s in sums), cells[-1])[1])
            told["cell"] = torch.stack(cells[1:])
    if "vote" in state["quantities"]:
        first, second = state["readout"][:, :-1]
        told["vote"] = (first - second) * outputs
    return told
