"""Read a widget: its state, and the numbers in the page."""

import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from unicodedata import normalize

import pytest
import torch
from clock import PATIENCE, clock_stands, observed, turn
from playwright.sync_api import Locator
from torch import Tensor

from course_lib.widgets.basis_explorer.basis_explorer import Curve
from course_lib.widgets.kit.traits import Array, Ink

NUMBER = re.compile(r"[−-]?\d+(?:\.\d+)?")
QUANTITY = re.compile(r"([−-]?\d+(?:,\d{3})*)(\.\d+)?(?:·10(−?\d+))?(\s?%)?")
# What a widget says, to the eye and to a screen reader.
SAYS = """(el) => [el.querySelector(".cw").innerText,
  ...[...el.querySelectorAll("[aria-label], [aria-valuetext]")]
    .filter((it) => it.checkVisibility())
    .flatMap((it) => [it.ariaLabel, it.ariaValueText])].join("\\n")"""
# Exceptions of assertions, or of computations with an inconsistent state.
MIXED = (
    *(AssertionError, AttributeError, ArithmeticError, LookupError, RuntimeError),
    *(TypeError, ValueError),
)
A_STRIDE = 0.2  # seconds of a stopped clock

# A payload is long, so it is parsed once, for the names of the traits.
STATE = """(el) => {
  el.courseNames ??= Object.keys(JSON.parse(el.nextElementSibling.textContent).state);
  return Object.fromEntries(el.courseNames.map((name) => [name, el.courseModel.get(name)]));
}"""
SET = """(el, traits) => {
  for (const [name, value] of Object.entries(traits)) el.courseModel.set(name, value);
}"""
# Records each value of a trait from now on.
NOTE_VALUES = """(el, name) => {
  el.courseValues = [];
  el.courseModel.on(`change:${name}`, () => el.courseValues.push(el.courseModel.get(name)));
}"""
VALUES = "(el) => el.courseValues"


def state_of(widget: Locator) -> dict[str, Any]:
    """The widget's traits, as its model in the page has them now; arrays as float64 tensors."""
    return found_by(widget, "() => null")[0]


def found_by(widget: Locator, script: str) -> tuple[dict[str, Any], Any]:
    """The widget's traits, and what a script finds at the same moment."""
    state, found = widget.evaluate(f"(el) => [({STATE})(el), ({script})(el)]")
    return {name: decoded(value) for name, value in state.items()}, found


def send(widget: Locator, **traits: Any) -> None:
    """Set traits of the model in the page, as Python does."""
    widget.evaluate(SET, traits)


def decoded(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"shape", "base64"}:
        return torch.from_numpy(Array._decode(value, None)).double()
    if isinstance(value, dict) and set(value) == {"shape", "base64", "levels"}:
        return torch.from_numpy(Ink._decode(value, None)).double()
    if isinstance(value, dict) and set(value) == {"int16"}:
        return torch.from_numpy(Curve._decode(value, None)).double()
    return value


def agrees(text: str, expected: float | Tensor) -> bool:
    """Whether ``text`` begins with ``expected``, rounded to as many digits as the text has."""
    number = NUMBER.match(text.strip())
    assert number is not None, f"{text!r} begins with no number"
    digits = len(number[0].partition(".")[2])
    # Half a unit of the last digit, and room for float32 against float64 at a tie.
    room = 0.5 * 10**-digits + 2e-6
    return float(number[0].replace("−", "-")) == pytest.approx(float(expected), abs=room)


def quantities(text: str) -> Iterator[tuple[float, float]]:
    """The numbers in a text, each with half a unit of its last digit; 93 % is 0.93."""
    for whole, decimals, power, percent in QUANTITY.findall(normalize("NFKC", text)):
        unit = 10.0 ** int(power.replace("−", "-") or 0) / (100 if percent else 1)
        number = float(whole.replace(",", "").replace("−", "-") + decimals)
        yield number * unit, 0.5 * unit * 10.0 ** -len(decimals.lstrip("."))


def unread(text: str, widget: Locator, address: str) -> list[float]:
    """The numbers in a text that are neither in an address nor, to as many digits, in a widget."""
    shown = [number for number, _ in quantities(f"{address}\n{widget.evaluate(SAYS)}")]
    return [
        said
        for said, room in quantities(text)
        if not any(abs(number - said) < 1.001 * room for number in shown)
    ]


def eventually(widget: Locator, assertion: Callable[[], None], *, seconds: float = 5) -> None:
    """Repeat an assertion until it holds; with a stopped clock for this many seconds of it.

    Between two frames the numbers belong to another state than the picture, and computations with
    both may raise. Exceptions of Playwright are raised at once.
    """
    deadline = time.monotonic() + PATIENCE / 1000
    turned = clock_stands(widget.page)
    while True:
        try:
            assertion()
        except MIXED:
            over = seconds < 0 if turned else time.monotonic() > deadline
            if over:
                raise
        else:
            return
        if turned:
            turn(widget, A_STRIDE)
            seconds -= A_STRIDE
        else:
            observed(widget.page)
