"""What the tests of the widgets' mathematics share: each draws its cases from a seeded generator.

All cases of a test are computed in one call to the browser, and compared to 1e-6. Arguments go
through JSON in double precision.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

DRAWS = 200

Javascript = Callable[[str, str, list[list[Any]]], list[Any]]


def tensor(numbers: Any) -> torch.Tensor:
    return torch.as_tensor(numbers, dtype=torch.float64)


def assert_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-6, atol=1e-6)


def stirred(integer: int) -> int:
    """The mixing function "lowbias32" of C. Wellons, in Python's whole numbers."""
    h = integer % 2**32
    h = ((h ^ (h >> 16)) * 0x7FEB352D) % 2**32
    h = ((h ^ (h >> 15)) * 0x846CA68B) % 2**32
    return h ^ (h >> 16)


def uniform(seed: int, n: int) -> float:
    """Draw ``n`` of a seed, as the page draws it."""
    return stirred(stirred(seed) + (n + 1) * 0x9E3779B9) / 2**32
