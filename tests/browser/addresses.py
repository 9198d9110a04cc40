"""Values of traits in addresses."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import numpy as np
from torch import Tensor


def in_an_address(value: Any) -> str:
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) or not isinstance(value, Iterable):
        return str(value)
    gap = ";" if np.ndim(value) == 2 else ","
    return gap.join(map(in_an_address, value))


def query_of(state: dict[str, Any]) -> str:
    return "&".join(f"{name}={quote(in_an_address(value))}" for name, value in state.items())


def go_to(page: Any, address: str) -> None:
    page.evaluate("(address) => { location.hash = address; }", address)


def is_in_an_address(value: Any, asked: str) -> bool:
    """Whether a part of an address stands for this value; records are given by name."""
    text = value["name"] if isinstance(value, dict) else in_an_address(value)
    try:
        return float(text) == float(asked)
    except ValueError:
        return text == asked
