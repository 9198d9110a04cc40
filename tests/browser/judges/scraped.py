"""Common parts of scripts that read a picture, and of the numbers in its texts."""

import re
from collections.abc import Iterable, Sequence

from reading import agrees, scientific_number
from torch import Tensor

LOOK = r"""
  const one = (selector) => el.querySelector(selector);
  const textOf = (e) => e.textContent;
  const all = (selector, read = textOf) => [...el.querySelectorAll(selector)].map(read);
  const dataOf = (name) => Number(one(`[data-${name}]`).dataset[name]);
  const numberOf = (e, name) => Number(e.getAttribute(name));
  const numbersOf = (e, ...names) => names.map((name) => numberOf(e, name));
  const movedBy = (e) => e.getAttribute("transform").match(/translate\(([^)]*)\)/)[1]
    .split(" ").map(Number);
  const cellsOf = (row) => [...row.querySelectorAll("th, td")].map((cell) => cell.textContent);
  const opaque = (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return Array.from({ length: data.length / 4 }, (_, i) => data[4 * i + 3]);
  };
"""


def scraper(body: str) -> str:
    """A script of the widget ``el``, whose ``body`` returns what it finds."""
    return f"(el) => {{{LOOK}{body}}}"


NUMBER_SAID = re.compile(r"(−?)(\d\.\d·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|\d[\d,]*(?:\.\d+)?)")


def number_in(text: str) -> float:
    """The first number of a text: 1,234 or −0.52 or 2.5·10⁻⁵."""
    sign, digits = NUMBER_SAID.search(text).groups()
    size = scientific_number(digits) if "·" in digits else float(digits.replace(",", ""))
    return -size if sign else size


def assert_said(texts: Sequence[str], numbers: Iterable[float | Tensor]) -> None:
    """Assert that each text begins with its number, rounded to as many digits as it has."""
    said = list(zip(texts, numbers, strict=True))
    assert [(text, float(number)) for text, number in said if not agrees(text, number)] == []
