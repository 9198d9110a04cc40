"""Common parts of scripts that read a picture, and of the numbers in its texts."""

from collections.abc import Iterable, Sequence
from typing import Any

from in_the_page import assert_close
from reading import agrees, quantities
from torch import Tensor

Found = dict[str, Any]  # the state of a widget, or what a script found in its page
LOOK = r"""
  const one = (selector) => el.querySelector(selector);
  const textOf = (e) => e.textContent.trim();
  const all = (selector, read = textOf) => [...el.querySelectorAll(selector)].map(read);
  const dataOf = (name) => Number(one(`[data-${name}]`).dataset[name]);
  const numberOf = (e, name) => Number(e.getAttribute(name));
  const numbersOf = (e, ...names) => names.map((name) => numberOf(e, name));
  const movedBy = (e) => e.getAttribute("transform").match(/translate\(([^)]*)\)/)[1]
    .split(" ").map(Number);
  const cellsOf = (row) => [...row.querySelectorAll("th, td")].map(textOf);
  const readings = () =>
    Object.fromEntries(all("[data-reading]", (e) => [e.dataset.reading, textOf(e)]));
  const opaque = (canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return Array.from({ length: data.length / 4 }, (_, i) => data[4 * i + 3]);
  };
"""


def scraper(body: str) -> str:
    return f"(el) => {{{LOOK}{body}}}"


def number_in(text: str) -> float:
    """The first number of a text: 1,234 or −0.52 or 2.5·10⁻⁵; of 93 %, 93."""
    return next(quantities(text.replace("%", "")))[0]


def assert_said(texts: Sequence[str], numbers: Iterable[float | Tensor]) -> None:
    """Assert that each text begins with its number, rounded to as many digits as it has."""
    said = list(zip(texts, numbers, strict=True))
    assert [(text, float(number)) for text, number in said if not agrees(text, number)] == []


def near(found: Any, expected: Any, atol: float = 1e-6) -> None:
    """Assert that numbers, also nested ones, differ by at most ``atol``."""
    assert_close(found, expected, rtol=0, atol=atol)
