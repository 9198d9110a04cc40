"""Speculative decoding is exact: its law, summed over all random outcomes, is the target's."""

import itertools
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from course_lib import speculative_decoding as speculation
from course_lib.generation import generate, sample
from course_lib.speculative_decoding import (
    accept_or_replace,
    acceptance_rate,
    law_of,
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
    """A model whose logits depend on the last two tokens and on the place."""
    random = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(9, symbols, symbols, symbols, dtype=torch.float64, generator=random)

    def model(ids: Tensor) -> Tensor:
        before = torch.cat([ids.new_zeros(1), ids[:-1]])
        return logits[torch.arange(len(ids)), before, ids]

    return model


def written(model: Callable, prompt: Tensor, tokens: int, stop: int | None = None) -> dict:
    """The law of what the model writes alone: the product of its bets."""
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

    return law_of(process)


@pytest.mark.parametrize("ahead", range(4))
@pytest.mark.parametrize("tokens", range(5))
def test_it_writes_what_the_target_would_write(ahead: int, tokens: int) -> None:
    wanted = written(table(1), PROMPT, tokens)
    assert speculated(ahead, tokens) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("ahead", [1, 2, 5])
def test_a_token_that_ends_ends_it(ahead: int) -> None:
    wanted = written(table(1), PROMPT, 3, stop=1)
    assert speculated(ahead, 3, stop=1) == pytest.approx(wanted, abs=1e-12)


def test_a_stop_in_the_prompt_ends_nothing() -> None:
    assert PROMPT[-1] == 1
    assert len(speculated(2, 1, stop=1)) == 2


def test_the_temperature_is_that_of_the_target() -> None:
    def sharper(ids: Tensor) -> Tensor:
        return table(1)(ids) / 0.5

    wanted = written(sharper, PROMPT, 3)
    assert speculated(2, 3, temperature=0.5) == pytest.approx(wanted, abs=1e-12)


def always(drafted: int, p: Tensor, q: Tensor, **_: object) -> tuple[int, bool]:
    del p, q
    return drafted, True


def turned_over(drafted: int, p: Tensor, q: Tensor, **more: object) -> tuple[int, bool]:
    accept = (q[drafted] / p[drafted]).clamp(max=1)
    if more["choose"](torch.stack([1 - accept, accept])).item():
        return drafted, True
    return int(more["choose"](p)), False


def drawn_anew_from_all(drafted: int, p: Tensor, q: Tensor, **more: object) -> tuple[int, bool]:
    accept = (p[drafted] / q[drafted]).clamp(max=1)
    if more["choose"](torch.stack([1 - accept, accept])).item():
        return drafted, True
    return int(more["choose"](p)), False


def never_goes_on(drafted: int, p: Tensor, q: Tensor, **more: object) -> tuple[int, bool]:
    return accept_or_replace(drafted, p, q, **more)[0], True


@pytest.mark.parametrize("rule", [always, turned_over, drawn_anew_from_all, never_goes_on])
def test_another_rule_writes_something_else(
    rule: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speculation, "accept_or_replace", rule)
    found, wanted = speculated(2, 3), written(table(1), PROMPT, 3)
    assert max(abs(found[text] - wanted[text]) for text in wanted) > 1e-3


@given(symbols=st.integers(1, 5), p_seed=st.integers(0, 50), q_seed=st.integers(1, 50))
def test_one_token_has_the_law_of_the_target_and_is_accepted_as_often_as_the_two_overlap(
    symbols: int, p_seed: int, q_seed: int
) -> None:
    if symbols == 1:
        p_seed, q_seed = 1, 1
    p, q = distribution(symbols, p_seed), distribution(symbols, q_seed)

    def process(choose: Callable) -> tuple[int, bool]:
        return accept_or_replace(int(choose(q)), p, q, choose=choose)

    found = law_of(process)
    for symbol in range(symbols):
        both = found.get((symbol, True), 0) + found.get((symbol, False), 0)
        assert both == pytest.approx(p[symbol].item(), abs=1e-12)
    accepted = sum(chance for (_, kept), chance in found.items() if kept)
    overlap = sum(min(p[x].item(), q[x].item()) for x in range(symbols))
    assert accepted == pytest.approx(overlap)
    assert acceptance_rate(p, q).item() == pytest.approx(overlap)


def test_the_rate_is_one_for_equals_and_nought_for_strangers() -> None:
    p, q = torch.tensor([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0]]), torch.tensor([0.5, 0.5, 0.0])
    q = torch.stack([q, torch.tensor([0.0, 0.0, 1.0])])
    assert acceptance_rate(p, q).tolist() == [1, 0]


@pytest.mark.parametrize(("ahead", "calls"), [(0, 7), (1, 4), (2, 3), (6, 1), (9, 1)])
def test_a_draft_that_is_the_target_saves_all_it_can(ahead: int, calls: int) -> None:
    found = speculative_decoding(table(1), table(1), PROMPT, ahead=ahead, tokens=7)
    assert found[1] == calls


def test_a_draft_that_is_always_wrong_saves_nothing() -> None:
    def certain(symbol: int) -> Callable[[Tensor], Tensor]:
        logits = torch.full((2,), -torch.inf).index_fill(0, torch.tensor(symbol), 0.0)
        return lambda ids: logits.expand(len(ids), 2)

    ids, calls = speculative_decoding(certain(1), certain(0), PROMPT, ahead=3, tokens=5)
    assert ids.tolist() == [0, 1, 1, 1, 1, 1, 1]
    assert calls == 5


def test_a_round_is_over_in_one_call_if_every_draft_is_accepted() -> None:
    p, q = distribution(2, 1), distribution(2, 2)

    def same(logits: Tensor) -> Callable[[Tensor], Tensor]:
        return lambda ids: logits.expand(len(ids), 2)

    def process(choose: Callable) -> int:
        return speculative_decoding(
            same(p.log()), same(q.log()), PROMPT, ahead=2, tokens=3, choose=choose
        )[1]

    assert law_of(process)[1] == pytest.approx(acceptance_rate(p, q).item() ** 2)


def test_the_target_is_called_as_often_as_it_says_and_reads_no_more_than_it_must() -> None:
    lengths: list[int] = []

    def target(ids: Tensor) -> Tensor:
        lengths.append(len(ids))
        return table(1)(ids)

    random = torch.Generator().manual_seed(0)
    ids, calls = speculative_decoding(target, table(2), PROMPT, ahead=3, tokens=6, generator=random)
    assert len(lengths) == calls
    assert len(ids) == 8
    assert max(lengths) < 8


def test_with_decoders_it_repeats_with_its_seed_and_is_greedy_at_temperature_nought() -> None:
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


def test_the_law_of_two_coins() -> None:
    coin = torch.tensor([0.25, 0.75])
    assert law_of(lambda choose: int(choose(coin)) + int(choose(coin))) == {
        0: 0.0625,
        1: 0.375,
        2: 0.5625,
    }
    assert law_of(lambda _: "certain") == {"certain": 1.0}


def test_chance_comes_from_sampling_unless_told_otherwise() -> None:
    p, q = distribution(3, 1), distribution(3, 2)
    random = torch.Generator().manual_seed(0)
    counts = torch.zeros(3, dtype=torch.float64)
    for _ in range(2000):
        drafted = int(sample(q, generator=random))
        counts[accept_or_replace(drafted, p, q, generator=random)[0]] += 1
    assert torch.allclose(counts / 2000, p, atol=0.05)


@pytest.mark.usefixtures("plain_calls")
def test_what_nobody_can_have_drafted_is_refused() -> None:
    p, q = torch.tensor([0.5, 0.5]), torch.tensor([1.0, 0.0])
    for drafted in (1, 2):
        with pytest.raises(ValueError, match=f"drafted is {drafted}, which q gives no probability"):
            accept_or_replace(drafted, p, q)
    with pytest.raises(ValueError, match="q has shape"):
        accept_or_replace(0, p, q[:1])
    with pytest.raises(ValueError, match="ahead is -1; expected 0 or more"):
        speculative_decoding(table(1), table(2), PROMPT, ahead=-1, tokens=1)
    with pytest.raises(ValueError, match=r"prompt has shape \(1, 2\)"):
        speculative_decoding(table(1), table(2), PROMPT[None], ahead=1, tokens=1)
    with pytest.raises(TypeError, match="ids of tokens"):
        speculative_decoding(table(1), table(2), PROMPT.double(), ahead=1, tokens=1)
