"""Speculative decoding is exact: summed over random outcomes it has the target distribution."""

import itertools
import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from course_lib.generation import (
    accept_or_replace,
    acceptance_rate,
    exact_distribution,
    generate,
    speculative_decoding,
)
from course_lib.transformer import Decoder

PROMPT = torch.tensor([0, 1])


def distribution(symbols: int, seed: int) -> Tensor:
    """A random distribution, with a zero for every third seed."""
    weights = torch.rand(
        symbols, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)
    )
    if seed % 3 == 0:
        weights[seed % symbols] = 0
    return weights / weights.sum()


def table(seed: int, symbols: int = 2) -> Callable[[Tensor], Tensor]:
    """A model whose logits depend on the last two tokens and on the position."""
    random = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(9, symbols, symbols, symbols, dtype=torch.float64, generator=random)

    def model(ids: Tensor) -> Tensor:
        before = torch.cat([ids.new_zeros(1), ids[:-1]])
        return logits[torch.arange(len(ids)), before, ids]

    return model


def written(model: Callable, prompt: Tensor, tokens: int, stop: int | None = None) -> dict:
    """The distribution of the model's own texts: the product of its conditionals."""
    found: dict[tuple[int, ...], float] = {}
    for text in itertools.product(range(2), repeat=tokens):
        ended = text.index(stop) + 1 if stop in text else tokens
        ids, probability = prompt, 1.0
        for symbol in text:
            probability *= model(ids)[-1].softmax(-1)[symbol].item()
            ids = torch.cat([ids, torch.tensor([symbol])])
        found[text[:ended]] = found.get(text[:ended], 0) + probability
    return found


def speculated(ahead: int, tokens: int, *, target: int = 1, draft: int = 2, **more: object) -> dict:
    def process(choose: Callable) -> tuple[int, ...]:
        models = table(target), table(draft)
        ids, _ = speculative_decoding(
            *models, PROMPT, ahead=ahead, tokens=tokens, choose=choose, **more
        )
        return tuple(ids[len(PROMPT) :].tolist())

    return exact_distribution(process)


def test_it_has_the_distribution_of_the_target() -> None:
    for ahead, tokens in [(0, 3), (1, 0), (1, 4), (2, 3), (3, 2)]:
        wanted = written(table(1), PROMPT, tokens)
        assert speculated(ahead, tokens) == pytest.approx(wanted, abs=1e-12)


def test_an_end_token_stops_it() -> None:
    for ahead in [1, 2, 5]:
        wanted = written(table(1), PROMPT, 3, stop=1)
        assert speculated(ahead, 3, stop=1) == pytest.approx(wanted, abs=1e-12)


def test_the_temperature_is_that_of_the_target() -> None:
    def sharper(ids: Tensor) -> Tensor:
        return table(1)(ids) / 0.5

    wanted = written(sharper, PROMPT, 3)
    assert speculated(2, 3, temperature=0.5) == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=20)
@given(symbols=st.integers(1, 5), p_seed=st.integers(0, 50), q_seed=st.integers(1, 50))
def test_one_token_has_the_target_distribution_and_the_acceptance_of_the_overlap(
    symbols: int, p_seed: int, q_seed: int
) -> None:
    if symbols == 1:
        p_seed, q_seed = 1, 1
    p, q = distribution(symbols, p_seed), distribution(symbols, q_seed)

    def process(choose: Callable) -> tuple[int, bool]:
        return accept_or_replace(int(choose(q)), p, q, choose=choose)

    found = exact_distribution(process)
    for symbol in range(symbols):
        both = found.get((symbol, True), 0) + found.get((symbol, False), 0)
        assert both == pytest.approx(p[symbol].item(), abs=1e-12)
    accepted = sum(chance for (_, kept), chance in found.items() if kept)
    overlap = sum(min(p[x].item(), q[x].item()) for x in range(symbols))
    assert accepted == pytest.approx(overlap)
    assert acceptance_rate(p, q).item() == pytest.approx(overlap)


def test_a_token_that_rounding_alone_rejects_is_kept() -> None:
    p, q = (torch.tensor([x, 0.7], dtype=torch.float64) for x in (0.3, math.nextafter(0.3, 1)))
    found = exact_distribution(lambda choose: accept_or_replace(0, p, q, choose=choose))
    assert found == pytest.approx({(0, True): 1.0})


def test_a_draft_equal_to_the_target_is_always_accepted() -> None:
    for ahead, calls in [(0, 7), (1, 4), (2, 3), (6, 1), (9, 1)]:
        found = speculative_decoding(table(1), table(1), PROMPT, ahead=ahead, tokens=7)
        assert found[1] == calls


def test_with_decoders_it_is_reproducible_and_greedy_at_temperature_zero() -> None:
    torch.manual_seed(0)
    target, draft = (Decoder(5, 8, 2, layers, tokens=9).eval() for layers in (2, 1))
    runs = [
        speculative_decoding(
            target,
            draft,
            PROMPT,
            ahead=3,
            tokens=7,
            temperature=temperature,
            generator=torch.Generator().manual_seed(4),
        )[0].tolist()
        for temperature in (1.0, 1.0, 1e-5)
    ]
    assert runs[0] == runs[1]
    assert runs[2] == generate(target, PROMPT, steps=7, top_k=1).tolist()
