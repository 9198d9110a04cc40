"""Compare bars over the letters that a model reads, and the attention of its heads."""

from typing import Any

import pytest
from in_the_page import tensor
from reading import agrees
from torch import Tensor


def spelled(letter: str) -> str:
    return {" ": "␣", "\n": "⏎"}.get(letter, letter)


def assert_heights(page: dict[str, Any], name: str, expected: Tensor) -> None:
    """Assert the heights of the bars of that name, on the page's scale."""
    columns = page["columns"]
    height, scale = (tensor([column[of] for column in columns]) for of in (name, "scale"))
    found = height / scale * page["top"]
    assert found.tolist() == pytest.approx(expected.tolist(), abs=1e-4)


def assert_heads(page: dict[str, Any], names: list[str], attention: Tensor) -> None:
    """Assert that each head has the letters once, as blue as its attention weights."""
    for card, row in zip(page["cards"], attention.flatten(0, 1), strict=True):
        assert card["letters"] == names
        weights = [float(weight) for weight in card["weights"]]
        assert weights == pytest.approx(row.sqrt().tolist(), abs=1e-4)
        assert agrees(card["most"].rpartition(" ")[2], row.max())
