"""GateExplorer: a small one, what it displays, and what course_lib says it should."""

import math
import re
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Locator
from reading import agrees, state_of
from torch import Tensor, nn

from course_lib import recurrent
from course_lib.widgets import GateExplorer
from course_lib.widgets.gate_explorer import PARAMETERS, Rows

READ = """(el) => {
  const texts = (selector) => [...el.querySelectorAll(selector)].map((e) => e.textContent);
  const [slider] = el.querySelectorAll("[role=slider]");
  const letters = Number(slider.getAttribute("aria-valuemax"));
  const style = getComputedStyle(el.querySelector(".cw"));
  const hex = (name) => style.getPropertyValue(`--cw-${name}`).trim();
  const rgb = (name) => [1, 3, 5].map((i) => parseInt(hex(name).slice(i, i + 2), 16));
  const glass = el.querySelector(".cw-g-vessel");
  const water = glass.querySelector(".cw-g-water");
  const course = el.querySelector(".cw-g-dots");
  const map = () => {
    const canvas = el.querySelector(".cw-g-picture canvas");
    const rows = texts(".cw-g-units text").map(Number);
    const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const field = el.querySelector(".cw-g-rows [role=slider] rect");
    const size = (name) => Number(field.getAttribute(name));
    const middle = (i, count, whole) => Math.floor(((i + 0.5) / count) * size(whole));
    const patch = (t, row) => {
      const at = middle(row, rows.length, "height") * canvas.width + middle(t, letters, "width");
      return [...all.subarray(4 * at, 4 * at + 4)];
    };
    return {
      rows,
      patches: [...Array(letters).keys()].map((t) => rows.map((_, row) => patch(t, row))),
      lines: [...el.querySelectorAll(".cw-g-equations tr")].map((line) => ({
        name: line.querySelector("th").textContent,
        numbers: line.querySelector("span + span").textContent,
        value: line.querySelector(".cw-number").textContent,
      })),
    };
  };
  return {
    inks: Object.fromEntries(["ink", ...[0, 1, 2, 3].map((i) => `series-${i}`)]
      .map((name) => [name, rgb(name)])),
    letter: Number(slider.getAttribute("aria-valuenow")) - 1,
    letters,
    said: slider.getAttribute("aria-valuetext"),
    bars: [...el.querySelectorAll(".cw-g-bar")].map((bar) => bar.getAttribute("height") / 60),
    shares: texts(".cw-g-opinion strong"),
    hints: texts(".cw-hint"),
    glass: {
      share: Number(glass.dataset.share),
      level: Number(water.dataset.level),
      full: Number(water.getAttribute("height")) / 100,
      tone: water.getAttribute("fill"),
      open: [...glass.querySelectorAll(".cw-g-shutter")].map((gate) => Number(gate.dataset.open)),
      words: [...glass.querySelectorAll("text")].map((text) => text.textContent),
    },
    course: course && {
      reach: Number(course.dataset.reach),
      top: Number(course.dataset.top),
      points: [...course.getAttribute("d").matchAll(/M([^,]+),([^h]+)h0/g)]
        .map(([, x, y]) => [Number(x), Number(y)]),
    },
    map: el.querySelector(".cw-g-rows") && map(),
  };
}"""
NAMES = {
    "forget gate": "forget",
    "input gate": "input",
    "output gate": "output",
    "reset gate": "reset",
    "update gate": "update",
    "hidden state": "hidden",
}
GATES = ("forget", "input", "output", "reset", "update")
EVALUATED = {
    "σ": lambda x: 1 / (1 + math.exp(-x)),
    "tanh": math.tanh,
}


def make(name: str = "Ada") -> GateExplorer:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        cell, readout = torch.nn.LSTM(6, 5), torch.nn.Linear(5, 2)
    with torch.no_grad():
        for parameter in (*cell.parameters(), *readout.parameters()):
            parameter.mul_(3)
    return GateExplorer(
        cell,
        "abcde ",
        text="bad cab",
        readout=readout,
        labels=[name, "b"],
        unit=2,
        letter=4,
        moving=False,
    )


def displayed(widget: Locator) -> None:
    state, page = state_of(widget), widget.evaluate(READ)
    told = quantities(state)
    steps = len(told["hidden"])
    letter, text = page["letter"], state["text"]
    assert page["letters"] == steps == len(text)
    unit = int(re.search(r"; unit (\d+) of", page["said"])[1]) - 1
    quantity = told[state["quantity"]]
    assert agrees(page["said"].split(". ")[0].rpartition(" ")[2], quantity[letter, unit])
    assert_glass(page["glass"], state, told, letter, unit)
    share = page["glass"]["share"]
    assert (page["course"] is None) == state["all_units"]
    if page["course"]:
        assert_course(page["course"], state["quantity"], quantity[:, unit], letter, share)
    assert_opinion(page, state, told)
    assert (page["map"] is not None) == state["all_units"]
    if state["all_units"]:
        assert_equations(page["map"], state, told, letter, unit)
        assert_map(page, state, told)
        assert_memory(page, state, told, unit)


def assert_glass(
    glass: dict[str, Any], state: dict[str, Any], told: dict[str, Tensor], letter: int, unit: int
) -> None:
    """First the share that is forgotten runs out, then what is written comes in, through gates."""
    kind, share = state["kind"], glass["share"]
    held = told["cell" if kind == "LSTM" else "hidden"][:, unit]
    after, before = float(held[letter]), float(held[letter - 1]) if letter else 0.0
    at = {name: float(values[letter, unit]) for name, values in told.items()}
    keep, gate, written = {
        "LSTM": lambda: (at["forget"], at["input"], at["candidate"]),
        "GRU": lambda: (at["update"], 1 - at["update"], at["candidate"]),
        "RNN": lambda: (0.0, 1.0, after),
    }[kind]()
    assert keep * before + gate * written == pytest.approx(after, abs=1e-9)
    way = max(0.0, (share - 0.25) / 0.75)
    level = np.interp(way, [0, 0.5, 1], [before, keep * before, after])
    assert glass["level"] == pytest.approx(level, abs=2e-6)
    most = float(held.abs().max()) or 1.0
    assert glass["full"] == pytest.approx(min(1, abs(level) / most), abs=1e-4)
    if abs(level) > 1e-6:
        assert glass["tone"] == f"var(--cw-series-{3 if level < 0 else 2})"
    gates = [gate, 1 - keep, *([at["output"]] if kind == "LSTM" else [])]
    assert glass["open"] == pytest.approx(gates, abs=6e-5)
    words = " ".join(glass["words"])
    if kind != "RNN":
        [lets] = re.findall(r"lets in (\S+) of (\S+)", words)
        [keeps] = re.findall(r"keeps (\S+) of (\S+)", words)
        found = zip((*lets, *keeps), (gate, written, keep, before), strict=True)
        assert all(agrees(number, expected) for number, expected in found)
    assert ("shows h = " in words) == (kind == "LSTM" and share == 1)
    if "shows h = " in words:
        assert agrees(words.partition("shows h = ")[2], at["hidden"])


def assert_course(
    course: dict[str, Any], name: str, values: Tensor, letter: int, share: float
) -> None:
    """The values of the unit so far, as heights; the last is on its way."""
    most = 1.0 if name in GATES else float(values.abs().max()) or 1.0
    assert course["reach"] == pytest.approx(most, abs=1e-6)
    way = values[: letter + 1].clone()
    way[-1] = values[max(0, letter - 1)].lerp(values[letter], share)
    heights = [y for _, y in course["points"]]
    assert len(heights) == letter + 1
    low, high = (0, 1) if name in GATES else (-most, most)
    top = course["top"]
    expected = top + 72 * (high - way) / (high - low)
    assert heights == pytest.approx(expected.tolist(), abs=1e-3)


def assert_equations(
    page: dict[str, Any], state: dict[str, Any], told: dict[str, Tensor], letter: int, unit: int
) -> None:
    largest = max(float(told[name].abs().max()) for name in told)
    if "vote" in told:
        largest = max(largest, float(state["readout"].abs().max()) * 2)
    lines = {NAMES.get(line["name"], line["name"]): line for line in page["lines"]}
    assert list(lines) == state["quantities"]
    for name, line in lines.items():
        assert agrees(line["value"], told[name][letter, unit]), name
        # The numbers in the equation are rounded to two digits, so what they come to is too.
        assert arithmetic(line["numbers"]) == pytest.approx(
            float(told[name][letter, unit]), abs=0.005 * (4 + largest)
        )


def quantities(state: dict[str, Any]) -> dict[str, Tensor]:
    """Every quantity that can be looked at, (letters, units), computed by course_lib.recurrent."""
    rows = torch.from_numpy(Rows.exactly(state["gates"]))
    letters = len(state["alphabet"])
    units = rows.shape[1] - letters - 2
    layer = getattr(recurrent, state["kind"])(letters, units).double()
    weights = rows.split([letters, units, 1, 1], dim=1)
    shapes = layer.state_dict()
    layer.load_state_dict(
        {
            name: weight.reshape(shapes[name].shape)
            for name, weight in zip(PARAMETERS, weights, strict=True)
        }
    )
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


def kept(told: dict[str, Tensor]) -> Tensor:
    return told["forget"] if "forget" in told else told["update"]


def assert_map(page: dict[str, Any], state: dict[str, Any], told: dict[str, Tensor]) -> None:
    """Units in their order; each patch as full as its number, in the ink of its sign."""
    name = state["quantity"]
    value = told[name]
    steps, units = value.shape
    order = [row - 1 for row in page["map"]["rows"]]
    assert sorted(order) == list(range(units))
    height = {
        "number": -torch.arange(units, dtype=torch.float64),
        "value": value[min(state["letter"], steps - 1)],
        "memory": kept(told).log().mean(0).exp() if state["kind"] != "RNN" else None,
    }[state["order"]]
    assert (height[order].diff() <= 1e-9).all()
    scale = 1.0
    if name == "cell":
        scale = max(1, math.ceil(value.abs().max()))
    if name == "vote":
        first, second = state["readout"][:, :-1]
        scale = float((first - second).abs().max())
    depth = value[:, order] / scale
    found = torch.tensor(page["map"]["patches"])
    assert found.shape == (*depth.shape, 4)
    # A canvas keeps eight bits of a patch's fullness, and rounds its colour once more with them.
    full = found[..., 3].double() / 255
    assert full.numpy() == pytest.approx(depth.abs().numpy(), abs=0.6 / 255)
    if name in GATES:
        plus = minus = "ink"
    else:
        plus, minus = ("series-0", "series-1") if name == "vote" else ("series-2", "series-3")
    tones = torch.tensor([page["inks"][minus], page["inks"][plus]])[(depth >= 0).long()]
    off = (found[..., :3] - tones).abs().amax(-1)
    assert (off * full <= 1).all()


def assert_opinion(page: dict[str, Any], state: dict[str, Any], told: dict[str, Tensor]) -> None:
    """The softmax of the readout after each letter, and where its largest entry changes."""
    labels = state["labels"]
    if not labels:
        assert page["shares"] == []
        return
    readout = state["readout"]
    shares = (told["hidden"] @ readout[:, :-1].mT + readout[:, -1]).softmax(-1)
    bars = torch.tensor(page["bars"], dtype=torch.float64).reshape(shares.shape)
    assert bars.numpy() == pytest.approx(shares.numpy(), abs=1e-6)
    # What the network thinks of a letter is told once its water has settled.
    letters = page["letter"] + (page["glass"]["share"] == 1)
    if letters:
        said = zip(page["shares"], shares[letters - 1], strict=True)
        assert all(agrees(text, share) for text, share in said)
    else:
        assert set(page["shares"]) == {"–"}
    leader = shares.argmax(-1).tolist()
    turns = [t + 1 for t in range(1, len(leader)) if leader[t] != leader[t - 1]]
    said = next(hint for hint in page["hints"] if hint.startswith("So far it has"))
    past = [turn for turn in turns if turn <= letters]
    assert [int(place) for place in re.findall(r"\(letter (\d+)\)", said)] == past


def assert_memory(
    page: dict[str, Any], state: dict[str, Any], told: dict[str, Tensor], unit: int
) -> None:
    """How much of its state the unit keeps at each letter, and when half of it is gone."""
    said = [hint for hint in page["hints"] if hint.startswith("Over this text")]
    if state["kind"] == "RNN":
        assert said == []
        return
    share = float(kept(told)[:, unit].log().mean().exp())
    text = said[0].partition(" keeps ")[2]
    assert agrees(text, share)
    half = math.log(0.5) / math.log(share)
    lasting = text.partition("after ")[2]
    if half > 99:
        assert lasting == "more than 99 letters."
    else:
        assert float(lasting.split()[0]) == pytest.approx(half, abs=0.051)


def arithmetic(numbers: str) -> float:
    """What an equation such as ``= 0.71·(−0.52) + σ(1.20 − 0.30)`` comes to."""
    assert re.fullmatch(r"= (?:σ|tanh|[\d.()·+− ])+", numbers), numbers
    text = numbers.removeprefix("= ").replace("·", "*").replace("−", "-")
    return float(eval(text, {"__builtins__": {}}, EVALUATED))  # noqa: S307 - matched above
