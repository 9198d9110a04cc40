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
