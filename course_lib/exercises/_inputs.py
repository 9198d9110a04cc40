"""Inputs of the checkers: small tensors of few, round numbers."""

import math
from collections.abc import Callable
from functools import cache

import torch
from hypothesis import strategies as st
from torch import Tensor

NUMBERS = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0)  # the simplest first, where shrinking leads
SIZES = st.sampled_from((1, 2, 3))


@st.composite
def tensors(draw: Callable, *shape: int, numbers: tuple = NUMBERS) -> Tensor:
    """Draw a float32 tensor of few, round numbers."""
    return torch.tensor(draw(_lists(math.prod(shape), numbers))).reshape(shape)


@cache
def _lists(count: int, numbers: tuple) -> st.SearchStrategy[list]:
    return st.lists(st.sampled_from(numbers), min_size=count, max_size=count)
