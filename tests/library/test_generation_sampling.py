"""The choice of the next token against plain Python, and generation against full forward passes."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from course_lib.generation import generate, next_token_probabilities, sample
from course_lib.transformer import Decoder, EncoderDecoder

# Few different values, so that ties are common.
LOGITS = st.lists(st.sampled_from([-3.0, -1.0, 0.0, 0.5, 2.0, 9.0]), min_size=1, max_size=8)
TEMPERATURES = st.sampled_from([0.1, 0.7, 1.0, 3])


def by_hand(
    logits: list[float], temperature: float, top_k: int | None, top_p: float | None
) -> list[float]:
    """The definition in plain Python, by sets of tokens that grow one by one."""
    raised = [math.exp((logit - max(logits)) / temperature) for logit in logits]
    probability = [each / sum(raised) for each in raised]
    order = sorted(range(len(logits)), key=lambda token: (-logits[token], token))
    kept = order[:top_k]
    if top_p is not None:
        total, reached, nucleus = sum(probability[token] for token in kept), 0.0, []
        for token in kept:
            if nucleus and top_p < 1 and reached >= top_p - 1e-9:
                break
            nucleus.append(token)
            reached += probability[token] / total
        kept = nucleus
    total = sum(probability[token] for token in kept)
    return [probability[t] / total if t in kept else 0.0 for t in range(len(logits))]


def tensor(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64)


def model(*, tokens: int = 12, **options: object) -> Decoder:
    """A decoder whose logits are far apart, so that its choices are distinct."""
    torch.manual_seed(0)
    made = Decoder(11, 8, 2, 2, tokens=tokens, d_hidden=20, **options).double()
    with torch.no_grad():
        made.embedding.token.weight.mul_(40)
    return made


@given(LOGITS, TEMPERATURES, st.none() | st.integers(1, 8), st.none() | st.floats(0.01, 1))
def test_the_distribution_is_its_definition(
    logits: list, temperature: float, top_k: int | None, top_p: float | None
) -> None:
    top_k = None if top_k is None else min(top_k, len(logits))
    actual = next_token_probabilities(
        tensor(*logits), temperature=temperature, top_k=top_k, top_p=top_p
    )
    expected = tensor(*by_hand(logits, temperature, top_k, top_p))
    torch.testing.assert_close(actual, expected, rtol=1e-12, atol=1e-14)


def test_rounding_does_not_decide_where_top_p_ends() -> None:
    for top_p, kept in [(0.01, 1), (0.1, 1), (0.2, 2), (0.3, 3), (0.31, 4), (0.8, 8), (0.999, 10)]:
        for dtype in [torch.float32, torch.float64]:
            # Ten times 0.1: three add up to 0.30000000000000004, eight to 0.7999999999999999.
            probability = next_token_probabilities(torch.zeros(10, dtype=dtype), top_p=top_p)
            assert probability.count_nonzero() == kept
            assert (probability[:kept] > 0).all()


def test_rows_of_a_batch_are_independent_and_keep_their_dtype() -> None:
    for dtype in [torch.bfloat16, torch.float32, torch.float64]:
        logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0)).to(dtype)
        given = {"temperature": 0.8, "top_k": 5, "top_p": 0.7}
        rows = next_token_probabilities(logits, **given)
        assert rows.dtype == dtype
        assert torch.equal(rows[1, 2], next_token_probabilities(logits[1, 2], **given))
        assert next_token_probabilities(logits[:0], **given).shape == (0, 3, 7)


def test_samples_have_the_frequencies_of_the_distribution() -> None:
    probability = tensor(0.5, 0.0, 0.3, 0.2).expand(50_000, 4)
    ids = sample(probability, generator=torch.Generator().manual_seed(0))
    frequency = torch.bincount(ids, minlength=4) / 50_000
    torch.testing.assert_close(frequency.double(), probability[0], rtol=0, atol=0.01)
    assert frequency[1] == 0


def test_writing_draws_from_the_distribution_of_the_whole_text() -> None:
    decoder, given = model(), {"temperature": 1.3, "top_k": 6, "top_p": 0.9}
    prompt = torch.tensor([[1, 2], [3, 4]])
    ids, dice = prompt, torch.Generator().manual_seed(5)
    for _ in range(8):
        probability = next_token_probabilities(decoder(ids)[:, -1], **given)
        ids = torch.cat([ids, sample(probability, generator=dice)[:, None]], dim=-1)
    dice = torch.Generator().manual_seed(5)
    assert torch.equal(generate(decoder, prompt, steps=8, generator=dice, **given), ids)


def test_a_sequence_that_has_stopped_is_filled_up() -> None:
    decoder = model()
    prompt = torch.tensor([[1, 4], [2, 4], [3, 4], [4, 4]])
    dice = [torch.Generator().manual_seed(3) for _ in range(2)]
    free = generate(decoder, prompt, steps=10, temperature=3, generator=dice[0])
    stopped = generate(decoder, prompt, steps=10, temperature=3, generator=dice[1], stop=4)
    assert (free[:, 2:] == 4).any()
    for row, other in zip(free.tolist(), stopped.tolist(), strict=True):
        # A stop token in the prompt does not stop generation.
        end = row.index(4, 2) if 4 in row[2:] else len(row)
        assert other == row[:end] + [4] * (len(row) - end)


def test_the_model_keeps_its_mode_and_writes_without_dropout() -> None:
    decoder, prompt = model(dropout=0.5), torch.tensor([1])
    first, second = (generate(decoder.train(), prompt, steps=9, top_k=1) for _ in range(2))
    assert decoder.training
    assert torch.equal(first, second)
    generate(decoder.eval(), prompt, steps=2)
    assert not decoder.training
    hook = decoder.register_forward_pre_hook(lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        generate(decoder.train(), prompt, steps=2)
    hook.remove()
    assert decoder.training


def test_a_translator_writes_what_it_would_score() -> None:
    torch.manual_seed(0)
    translator = EncoderDecoder(7, 11, 8, 2, 2, tokens=12).double()
    with torch.no_grad():
        translator.decoder.embedding.token.weight.mul_(40)
    source = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]])
    valid = torch.tensor([[True] * 4, [True, True, False, False]])
    ids = start = torch.zeros(2, 1, dtype=torch.int64)
    for _ in range(6):
        logits = translator(source, ids, source_mask=valid)
        ids = torch.cat([ids, logits[:, -1:].argmax(dim=-1)], dim=-1)
    written = generate(
        translator.decoder,
        start,
        steps=6,
        top_k=1,
        context=translator.encode(source, source_mask=valid),
        context_mask=valid[:, None, None, :],
    )
    assert torch.equal(written, ids)
