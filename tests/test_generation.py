"""The choice of the next token against plain Python, and writing against reading all again."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from course_lib.generation import KeyValueCache, generate, next_token_probabilities, sample
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
    """A decoder whose logits are far apart, so that its choices show."""
    torch.manual_seed(0)
    made = Decoder(11, 8, 2, 2, tokens=tokens, d_hidden=20, **options).double()
    with torch.no_grad():
        made.embedding.token.weight.mul_(40)
    return made


# The distribution ---------------------------------------------------------------------------------


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


@given(LOGITS, TEMPERATURES)
def test_without_cuts_it_is_the_softmax(logits: list, temperature: float) -> None:
    probability = next_token_probabilities(tensor(*logits), temperature=temperature)
    torch.testing.assert_close(probability, (tensor(*logits) / temperature).softmax(dim=-1))
    for nothing in ({"top_k": len(logits)}, {"top_p": 1}, {"top_p": 1.0}):
        cut = next_token_probabilities(tensor(*logits), temperature=temperature, **nothing)
        torch.testing.assert_close(cut, probability)


@given(LOGITS, TEMPERATURES, st.floats(0.01, 1))
def test_top_p_keeps_the_smallest_set_that_reaches_p(
    logits: list, temperature: float, top_p: float
) -> None:
    whole = next_token_probabilities(tensor(*logits), temperature=temperature)
    kept = next_token_probabilities(tensor(*logits), temperature=temperature, top_p=top_p) > 0
    assert whole[kept].sum() >= top_p - 2e-9
    # Without its least probable token the set would fall short of p.
    assert whole[kept].sum() - whole[kept].min() < top_p
    if not kept.all():
        assert whole[~kept].max() <= whole[kept].min()


@pytest.mark.parametrize(
    ("top_p", "kept"), [(0.01, 1), (0.1, 1), (0.2, 2), (0.3, 3), (0.31, 4), (0.8, 8), (0.999, 10)]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rounding_does_not_decide_where_top_p_ends(
    top_p: float, kept: int, dtype: torch.dtype
) -> None:
    # Ten times 0.1: three add up to 0.30000000000000004, eight to 0.7999999999999999.
    probability = next_token_probabilities(torch.zeros(10, dtype=dtype), top_p=top_p)
    assert probability.count_nonzero() == kept
    assert (probability[:kept] > 0).all()


def test_top_p_looks_at_what_top_k_left() -> None:
    # 0.4, 0.3, 0.2, 0.1: of the first two, 0.4 is 4/7 and reaches one half.
    logits = tensor(0.4, 0.3, 0.2, 0.1).log()
    assert next_token_probabilities(logits, top_k=2, top_p=0.5).tolist() == [1, 0, 0, 0]
    assert next_token_probabilities(logits, top_p=0.5).count_nonzero() == 2


def test_of_equal_logits_the_lower_id_goes_first() -> None:
    logits = tensor(1, 2, 2, 1, 2)
    assert next_token_probabilities(logits, top_k=1).tolist() == [0, 1, 0, 0, 0]
    assert next_token_probabilities(logits, top_k=2).tolist() == [0, 0.5, 0.5, 0, 0]
    fourth = next_token_probabilities(logits, top_k=4)
    assert fourth[0] > 0
    assert fourth[3] == 0


def test_top_k_ranks_logits_even_where_a_high_temperature_levels_them() -> None:
    logits = tensor(0.0, 1e-9, 2e-9)
    assert next_token_probabilities(logits, temperature=1e300, top_k=1).tolist() == [0, 0, 1]


def test_a_tiny_temperature_and_huge_logits_give_no_nan() -> None:
    logits = tensor(1e300, 1.0, -1e300, -math.inf)
    for temperature in (1e-300, 1, 1e300):
        probability = next_token_probabilities(logits, temperature=temperature)
        assert probability.isfinite().all()
        assert probability[3] == 0
    assert next_token_probabilities(tensor(1.0, 0.999), temperature=1e-300).tolist() == [1, 0]


def test_temperature_sharpens_below_one_and_flattens_above() -> None:
    logits = tensor(0.0, 1.0, 2.0)
    likeliest = [
        next_token_probabilities(logits, temperature=temperature)[2].item()
        for temperature in (0.2, 0.5, 1, 2, 100)
    ]
    assert likeliest == sorted(likeliest, reverse=True)
    assert likeliest[0] > 0.99
    assert abs(likeliest[-1] - 1 / 3) < 0.01


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_rows_of_a_batch_are_independent_and_keep_their_dtype(dtype: torch.dtype) -> None:
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0)).to(dtype)
    given = {"temperature": 0.8, "top_k": 5, "top_p": 0.7}
    rows = next_token_probabilities(logits, **given)
    assert rows.dtype == dtype
    assert torch.equal(rows[1, 2], next_token_probabilities(logits[1, 2], **given))
    assert next_token_probabilities(logits[:0], **given).shape == (0, 3, 7)


def test_the_distribution_can_be_differentiated() -> None:
    logits = tensor(0.1, 2.0, 1.0, 0.5).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda z: next_token_probabilities(z, temperature=0.7, top_k=3, top_p=0.9), (logits,)
    )


def test_the_logits_are_left_as_they_were() -> None:
    logits = tensor(3, 1, 2)
    next_token_probabilities(logits, temperature=0.5, top_k=2, top_p=0.5)
    assert logits.tolist() == [3, 1, 2]


def test_samples_have_the_frequencies_of_the_distribution() -> None:
    probability = tensor(0.5, 0.0, 0.3, 0.2).expand(50_000, 4)
    ids = sample(probability, generator=torch.Generator().manual_seed(0))
    frequency = torch.bincount(ids, minlength=4) / 50_000
    torch.testing.assert_close(frequency.double(), probability[0], rtol=0, atol=0.01)
    assert frequency[1] == 0


def test_a_generator_in_the_same_state_draws_the_same_ids() -> None:
    probability = torch.full((2, 20, 5), 0.2)
    first, second, third = (
        sample(probability, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
    )
    assert first.shape == (2, 20)
    assert torch.equal(first, second)
    assert not torch.equal(first, third)
    assert sample(probability[:0]).shape == (0, 20)


# Writing ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("position", ["learned", "sinusoidal", "rotary", "none"])
@pytest.mark.parametrize("batch", [(), (2, 2)], ids=str)
def test_greedy_writing_takes_the_most_probable_token_each_time(
    batch: tuple[int, ...], position: str
) -> None:
    decoder = model(position=position, tied=False)
    prompt = torch.randint(11, (*batch, 3), generator=torch.Generator().manual_seed(1))
    ids = prompt
    for _ in range(9):
        ids = torch.cat([ids, decoder(ids)[..., -1:, :].argmax(dim=-1)], dim=-1)
    assert torch.equal(generate(decoder, prompt, steps=9, top_k=1), ids)
    assert torch.equal(generate(decoder, prompt, steps=9, temperature=1e-12), ids)


def test_writing_draws_from_the_distribution_of_the_whole_text() -> None:
    decoder, given = model(), {"temperature": 1.3, "top_k": 6, "top_p": 0.9}
    prompt = torch.tensor([[1, 2], [3, 4]])
    ids, dice = prompt, torch.Generator().manual_seed(5)
    for _ in range(8):
        probability = next_token_probabilities(decoder(ids)[:, -1], **given)
        ids = torch.cat([ids, sample(probability, generator=dice)[:, None]], dim=-1)
    dice = torch.Generator().manual_seed(5)
    assert torch.equal(generate(decoder, prompt, steps=8, generator=dice, **given), ids)


def test_first_tokens_have_the_frequencies_of_the_model() -> None:
    decoder, prompt = model(), torch.tensor([1, 2])
    ids = generate(
        decoder, prompt.expand(20_000, 2), steps=1, generator=torch.Generator().manual_seed(0)
    )
    frequency = torch.bincount(ids[:, -1], minlength=11) / 20_000
    expected = decoder(prompt)[-1].softmax(dim=-1)
    assert expected.max() < 0.9
    torch.testing.assert_close(frequency.double(), expected, rtol=0, atol=0.015)


def test_a_sequence_that_has_stopped_is_filled_up() -> None:
    decoder = model()
    prompt = torch.tensor([[1, 4], [2, 4], [3, 4], [4, 4]])
    dice = [torch.Generator().manual_seed(3) for _ in range(2)]
    free = generate(decoder, prompt, steps=10, temperature=3, generator=dice[0])
    stopped = generate(decoder, prompt, steps=10, temperature=3, generator=dice[1], stop=4)
    assert (free[:, 2:] == 4).any()
    for row, other in zip(free.tolist(), stopped.tolist(), strict=True):
        # A stop in the prompt is the reader's, not the writer's.
        end = row.index(4, 2) if 4 in row[2:] else len(row)
        assert other == row[:end] + [4] * (len(row) - end)


def test_the_prompt_comes_back_and_no_steps_add_nothing() -> None:
    prompt = torch.tensor([5, 6, 7], dtype=torch.int32)
    ids = generate(model(), prompt, steps=4)
    assert ids.dtype == torch.int32
    assert torch.equal(ids[:3], prompt)
    assert len(ids) == 7
    assert torch.equal(generate(model(), prompt, steps=0), prompt)


def test_writing_may_fill_all_positions_and_one_more() -> None:
    # The last token is written, not read.
    assert len(generate(model(tokens=5), torch.tensor([1, 2]), steps=4)) == 6


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
    real = torch.tensor([[True] * 4, [True, True, False, False]])
    ids = start = torch.zeros(2, 1, dtype=torch.int64)
    for _ in range(6):
        logits = translator(source, ids, source_mask=real)
        ids = torch.cat([ids, logits[:, -1:].argmax(dim=-1)], dim=-1)
    written = generate(
        translator.decoder,
        start,
        steps=6,
        top_k=1,
        context=translator.encode(source, source_mask=real),
        context_mask=real[:, None, None, :],
    )
    assert torch.equal(written, ids)


# Bad input ----------------------------------------------------------------------------------------

FLAT = torch.zeros(2, 5)
PROMPT = torch.tensor([[1, 2, 3]])


def write(**given: object) -> Tensor:
    return generate(model(), PROMPT, **{"steps": 3, **given})


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"temperature": 0}, ValueError, r"temperature is 0; expected a number above 0; .*top_k=1"),
        ({"temperature": -1.0}, ValueError, r"temperature is -1.0; expected .* above 0"),
        ({"temperature": math.nan}, ValueError, r"temperature is nan"),
        ({"temperature": math.inf}, ValueError, r"temperature is inf"),
        ({"temperature": "hot"}, TypeError, r"temperature is a str; expected a number"),
        ({"top_k": 0}, ValueError, r"top_k is 0; expected 1 or more"),
        ({"top_k": 2.0}, TypeError, r"top_k is 2.0, a float; expected an integer"),
        ({"top_k": 12}, ValueError, r"top_k is 12; expected \d+ at most, the size of the vocab"),
        ({"top_p": 0}, ValueError, r"top_p is 0; expected a number in \(0, 1\]"),
        ({"top_p": -0.1}, ValueError, r"top_p is -0.1; expected a number in \(0, 1\]"),
        ({"top_p": 1.1}, ValueError, r"top_p is 1.1; expected a number in \(0, 1\]"),
        ({"top_p": math.nan}, ValueError, r"top_p is nan"),
    ],
    ids=str,
)
def test_a_bad_choice_of_tokens_gets_a_message_that_helps(
    given: dict, error: type, message: str
) -> None:
    with pytest.raises(error, match=message):
        next_token_probabilities(FLAT, **given)
    with pytest.raises(error, match=message):
        write(**given)


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: next_token_probabilities(FLAT.long()),
            TypeError,
            r"logits has dtype torch.int64; .*logits.float\(\)",
        ),
        (lambda: next_token_probabilities(FLAT / 0), ValueError, r"logits holds nan or \+inf"),
        (
            lambda: next_token_probabilities(FLAT - math.inf),
            ValueError,
            r"every logit of a row is -inf, so that no token may follow",
        ),
        (
            lambda: next_token_probabilities(FLAT[:, :0]),
            ValueError,
            r"number of logits, is 0; expected 1",
        ),
        (lambda: sample(FLAT.long()), TypeError, r"probability has dtype torch.int64"),
        (
            lambda: generate(EncoderDecoder(7, 11, 8, 2, 1, tokens=9), PROMPT, steps=1),
            TypeError,
            r"model is a EncoderDecoder; expected a Decoder; .* pass model.decoder and context=",
        ),
        (
            lambda: generate(model(), PROMPT[:, :0], steps=1),
            ValueError,
            r"prompt has shape \(1, 0\), a sequence of no tokens; .*token that stands for the st",
        ),
        (
            lambda: generate(model(), PROMPT + 9, steps=1),
            ValueError,
            r"prompt holds 11; expected 0 to 10.*the model has never seen",
        ),
        (lambda: generate(model(), "Ada", steps=1), TypeError, r"prompt is a str"),
        (lambda: generate(model(), PROMPT.double(), steps=1), TypeError, r"prompt.long\(\)"),
        (lambda: write(steps=-1), ValueError, r"steps is -1; expected 0 or more"),
        (
            lambda: write(steps=11),
            ValueError,
            r"steps is 11 after a prompt of 3 tokens; expected 10 at most, .* has 12 positions",
        ),
        (
            lambda: generate(model(tokens=2), PROMPT, steps=0),
            ValueError,
            r"prompt has 3 tokens; expected 2 at most",
        ),
        (lambda: write(stop=11), ValueError, r"stop is 11; expected an id of the vocabulary, 0 to"),
        (lambda: write(stop=-1), ValueError, r"stop is -1; expected 0 or more"),
    ],
)
def test_bad_input_gets_a_message_that_helps(call: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_cache_is_empty_at_first() -> None:
    assert KeyValueCache().tokens == 0
