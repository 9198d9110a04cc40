"""Absolute discounting against its formula, with all counts anew for every context."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.generation import AbsoluteDiscounting

TEXTS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=6)
ORDERS, KEPT = st.integers(1, 4), st.integers(0, 2)


def begun(text: list[int], keep: int) -> list[object]:
    return [*text[:keep], "mark", *text[keep:]] if len(text) >= keep else list(text)


def formula(
    texts: list[list[int]],
    context: list[int],
    *,
    order: int,
    discount: float,
    keep: int,
    continuation: bool,
) -> list[float]:
    """P(x | context) for every x, with counts from a pass over all texts."""
    marked = begun(context, keep)
    kind, rest = marked[:keep], marked[keep:]

    def backed_off(symbol: int, length: int) -> float:
        if length < 0:
            return 1 / 3
        wanted = (kind, rest[len(rest) - length :])
        found, surroundings = [], set()
        for text in texts:
            for i, following in enumerate(text):
                before = begun(text[:i], keep)
                tail = before[keep:]
                if len(tail) >= length and (before[:keep], tail[len(tail) - length :]) == wanted:
                    found.append(following)
                    if length < len(tail):
                        surroundings.add((tail[-length - 1], following))
        if continuation and length < order - 1 and surroundings:
            found = [following for _, following in surroundings]
        if not found:
            return backed_off(symbol, length - 1)
        lent = discount * len(set(found)) / len(found)
        kept = max(found.count(symbol) - discount, 0) / len(found)
        return kept + lent * backed_off(symbol, length - 1)

    return [backed_off(symbol, min(order - 1, len(rest))) for symbol in range(3)]


@given(
    texts=TEXTS,
    context=st.lists(st.integers(0, 2), max_size=5),
    order=ORDERS,
    keep=KEPT,
    discount=st.floats(0, 1),
    continuation=st.booleans(),
)
def test_probabilities_are_those_of_the_formula(
    texts: list[list[int]],
    context: list[int],
    order: int,
    keep: int,
    discount: float,
    *,
    continuation: bool,
) -> None:
    options = {"order": order, "discount": discount, "keep": keep, "continuation": continuation}
    wanted = formula(texts, context, **options)
    found = AbsoluteDiscounting(texts, symbols=3, **options).probabilities(context)
    assert found.tolist() == pytest.approx(wanted, abs=1e-12)
    assert found.sum().item() == pytest.approx(1)


@given(TEXTS, ORDERS, KEPT)
def test_the_bits_of_a_text_are_the_surprise_of_each_symbol(
    texts: list[list[int]], order: int, keep: int
) -> None:
    model = AbsoluteDiscounting(texts, symbols=3, order=order, keep=keep)
    asked = [[0, 1, 2, 0], torch.tensor([2, 2])]
    wanted = [
        -math.log2(model.probabilities(text[:i])[text[i]])
        for text in ([0, 1, 2, 0], [2, 2])
        for i in range(len(text))
    ]
    assert model.bits(asked).tolist() == pytest.approx(wanted)
