"""Bars over the letters that a model reads, and the attention of its heads."""

from reading import agrees
from torch import Tensor

from .scraped import Found, near

READ_LETTERS = r"""
  const chart = one(".cw-l-bars svg");
  const inRows = (parts) => parts.sort(([x, y], [u, v]) => y - v || x - u);
  // Places from above and from the left, with heights.
  const boxes = (kind) => inRows([...chart.querySelectorAll(kind)].flatMap((path) =>
    [...path.getAttribute("d").matchAll(/M(\S+) (\S+)h\S+v(\S+)h/g)]
      .map((box) => box.slice(1).map(Number)))).map(([, , height]) => unit * height);
  const ticks = [...chart.querySelectorAll("g .cw-small")];
  const [zero, top] = [true, false].map((is) => ticks.find((e) => (textOf(e) === "0") === is));
  const unit = Number(textOf(top)) / (numberOf(top, "y") - numberOf(zero, "y"));
  const labels = inRows([...chart.querySelectorAll(":scope > text[transform]")]
    .map((label) => [...movedBy(label), label]));
  const has = (name) => labels.map(([, , label]) => label.classList.contains(name));
  const cut = has("cw-l-cut");
  const filled = boxes(".cw-l-fill");
  const bars = {
    names: labels.map(([, , label]) => textOf(label)),
    chosen: has("cw-l-chosen").indexOf(true),
    looked: numberOf(chart, "aria-valuenow") - 1,
    cut,
    fill: cut.map((isCut) => (isCut ? 0 : filled.shift())),
    outline: boxes(".cw-l-outline"),
    readout: one(".cw-l-readout")?.textContent,
  };
  const cards = all(".cw-l-card", (card) => ({
    most: textOf(card.querySelector("strong")),
    letters: [...card.querySelectorAll("span")].map(textOf),
    weights: [...card.querySelectorAll("span")].map((e) =>
      Number(e.style.getPropertyValue("--weight"))),
  }));
"""


def spelled(letter: str) -> str:
    return {" ": "␣", "\n": "⏎"}.get(letter, letter)


def assert_heads(page: Found, names: list[str], attention: Tensor) -> None:
    for card, row in zip(page["cards"], attention.flatten(0, 1), strict=True):
        assert card["letters"] == names
        near(card["weights"], row.sqrt(), atol=1e-4)
        assert agrees(card["most"].rpartition(" ")[2], row.max())


def assert_bars(page: Found, ids: list[int], outline: Tensor, fill: Tensor, chosen: int) -> None:
    """Assert two bars for each letter, and which letter stands there, -1 for none."""
    near(page["outline"], outline[ids], atol=1e-4)
    near(page["fill"], fill[ids], atol=1e-4)
    assert page["chosen"] == (ids.index(chosen) if chosen >= 0 else -1)
