"""What stands in an address for a value of a trait."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import numpy as np


def in_an_address(value: Any) -> str:
    """A value as a reader would write it after a trait's name."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) or not isinstance(value, Iterable):
        return str(value)
    gap = ";" if np.ndim(value) == 2 else ","
    return gap.join(map(in_an_address, value))


def query_of(state: dict[str, Any]) -> str:
    """The part of an address behind the question mark."""
    return "&".join(f"{name}={quote(in_an_address(value))}" for name, value in state.items())


def go_to(page: Any, address: str) -> None:
    """Change the address of a page as a reader does in the browser's own line."""
    page.evaluate("(address) => { location.hash = address; }", address)


def is_in_an_address(value: Any, asked: str) -> bool:
    """Whether what is asked for in an address is this value; a record goes by its name."""
    text = value["name"] if isinstance(value, dict) else in_an_address(value)
    try:
        return float(text) == float(asked)
    except ValueError:
        return text == asked
