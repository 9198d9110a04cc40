"""Compare functions that exist in JavaScript and in Python.

Each row names a function of a JavaScript module and one of Python that takes the same arguments;
``alike`` makes the test that calls both with random arguments from a seed. All cases of a row are
computed in one call to the browser. Arguments go through JSON in double precision.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
import torch
from playwright.sync_api import Page

from course_lib.widgets.kit.modules import module_source

DRAWS = 100

Javascript = Callable[[str, str, list[list[Any]]], list[Any]]
Draw = Callable[[np.random.Generator], Sequence[Any]]

CALL = """async ([address, written, cases]) => {
  const { default: _, ...exported } = await import(address);
  const call = new Function(...Object.keys(exported), `return ${written}`);
  const called = call(...Object.values(exported));
  return cases.map((given) => called(...given));
}"""


@dataclass(frozen=True)
class Twice:
    """A function of the page and its counterpart in Python, which takes arrays as tensors.

    In the page it is an export of a module, or an arrow function of the exports.
    """

    module: str
    javascript: str
    python: Callable[..., Any]
    draw: Draw | None = None
    cases: Sequence[Sequence[Any]] = ()  # in addition to random ones
    rtol: float = 1e-6
    atol: float = 1e-6

    def __str__(self) -> str:
        return f"{self.module.rpartition('/')[2]} {' '.join(self.javascript.split())}"


def alike(*rows: Twice) -> Callable[..., None]:
    @pytest.mark.parametrize("row", rows, ids=str)
    def in_the_page_as_in_python(blank: Page, random: np.random.Generator, row: Twice) -> None:
        drawn = [row.draw(random) for _ in range(DRAWS)] if row.draw else []
        cases = [*drawn, *row.cases]
        found_all = called(blank, row.module, row.javascript, cases)
        for given, found in zip(cases, found_all, strict=True):
            assert_close(found, row.python(*each(told, given)), rtol=row.rtol, atol=row.atol)

    return in_the_page_as_in_python


def called(blank: Page, module: str, javascript: str, cases: Sequence[Sequence[Any]]) -> list[Any]:
    address = f"data:text/javascript;charset=utf-8,{quote(module_source(module))}"
    return blank.evaluate(CALL, [address, javascript, each(plain, cases)])


def each(change: Callable[[Any], Any], value: Any) -> Any:
    """The same lists and dictionaries, with ``change`` applied to their leaves."""
    if isinstance(value, dict):
        return {name: each(change, part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [each(change, part) for part in value]
    return change(value)


def plain(leaf: Any) -> Any:
    return leaf.tolist() if isinstance(leaf, (np.ndarray, np.generic, torch.Tensor)) else leaf


def told(leaf: Any) -> Any:
    return torch.from_numpy(leaf) if isinstance(leaf, np.ndarray) else leaf


def tensor(numbers: Any) -> torch.Tensor:
    return torch.as_tensor(numbers, dtype=torch.float64)


def assert_close(found: Any, expected: Any, *, rtol: float = 1e-6, atol: float = 1e-6) -> None:
    """Compare numbers in nested containers; ``found`` may have additional names."""
    if isinstance(expected, dict):
        for name, part in expected.items():
            assert_close(found[name], part, rtol=rtol, atol=atol)
    elif isinstance(expected, (list, tuple)):
        for one, other in zip(found, expected, strict=True):
            assert_close(one, other, rtol=rtol, atol=atol)
    elif expected is None or isinstance(expected, (bool, str)):
        assert found == expected
    else:
        found, expected = np.asarray(found, dtype=float), np.asarray(expected)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def stirred(integer: int) -> int:
    """The mixing function "lowbias32" of C. Wellons, in Python's whole numbers."""
    h = integer % 2**32
    h = ((h ^ (h >> 16)) * 0x7FEB352D) % 2**32
    h = ((h ^ (h >> 15)) * 0x846CA68B) % 2**32
    return h ^ (h >> 16)


def uniform(seed: int, n: int) -> float:
    """The ``n``-th uniform number of a seed, as in the page."""
    return stirred(stirred(seed) + (n + 1) * 0x9E3779B9) / 2**32
