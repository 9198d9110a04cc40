"""Masked language modelling: what is hidden, who sees it, and what is counted."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from course_lib.attention import causal_mask
from course_lib.masked_language_model import MaskedLanguageModel, hide, masked_loss
from course_lib.training import fit, parameter_count

POSITIONS = ["learned", "sinusoidal", "rotary", "none"]
MASK, VOCABULARY = 4, 11


def shaken(position: str = "learned", **options: object) -> MaskedLanguageModel:
    """A model with every parameter at random."""
    torch.manual_seed(0)
    given = {"tokens": 9, "d_hidden": 20, "position": position, **options}
    model = MaskedLanguageModel(VOCABULARY, 8, 2, 2, **given).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, dtype=torch.float64))
    return model


def some_ids(*shape: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(VOCABULARY, shape, generator=generator)


def padding(*lengths: int, tokens: int) -> Tensor:
    return torch.arange(tokens) < torch.tensor(lengths)[:, None]


# The model --------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("position", POSITIONS)
def test_a_model_is_embedding_blocks_norm_and_the_embedding_again(position: str, norm: str) -> None:
    model, ids = shaken(position, norm=norm), some_ids(3, 6)
    x, places = model.embedding(ids), torch.arange(6) if position == "rotary" else None
    for block in model.encoder.blocks:
        x = block(x, position=places)
    x = model.encoder.norm(x)
    torch.testing.assert_close(model.encode(ids), x)
    weight = model.embedding.token.weight
    torch.testing.assert_close(model(ids), nn.functional.linear(x, weight))


@pytest.mark.parametrize("position", POSITIONS)
def test_a_reading_is_the_answer_when_all_later_blocks_add_nothing(position: str) -> None:
    model, ids = shaken(position), some_ids(2, 6)
    real = padding(6, 4, tokens=6)
    readings = model.logit_lens(ids, real=real)
    torch.testing.assert_close(readings[-1], model(ids, real=real))
    with torch.no_grad():
        for place in (1, 0):
            block = model.encoder.blocks[place]
            for last in (block.attention.output, block.mlp.contract):
                last.weight.zero_()
                last.bias.zero_()
            torch.testing.assert_close(model(ids, real=real), readings[place])


def test_after_post_norm_blocks_the_lens_norms_nothing() -> None:
    model, ids = shaken(norm="post"), some_ids(2, 6)
    readings = model.logit_lens(ids)
    weight = model.embedding.token.weight
    torch.testing.assert_close(readings[0], model.embedding(ids) @ weight.T)
    torch.testing.assert_close(readings[-1], model(ids))


def test_there_are_no_parameters_beyond_embedding_and_encoder() -> None:
    model = shaken()
    parts = parameter_count(model.embedding) + parameter_count(model.encoder)
    assert parameter_count(model) == parts


@pytest.mark.parametrize("position", POSITIONS)
def test_padding_changes_nothing_for_the_tokens_that_are_real(position: str) -> None:
    model, ids = shaken(position), some_ids(3, 9)
    lengths = (9, 1, 4)
    logits = model(ids, real=padding(*lengths, tokens=9))
    weights = model.attention_weights(ids, real=padding(*lengths, tokens=9))
    for i, length in enumerate(lengths):
        torch.testing.assert_close(logits[i, :length], model(ids[i, :length]))
        assert not weights[:, i, :, :, length:].any()
        own = model.attention_weights(ids[i, :length])
        torch.testing.assert_close(weights[:, i, :, :length, :length], own)


def test_every_place_hears_of_every_other() -> None:
    model, ids = shaken(), some_ids(6)
    for t in range(6):
        changed = ids.clone()
        changed[t] = (ids[t] + 1) % VOCABULARY
        assert (model(changed) - model(ids)).abs().amax(dim=-1).min() > 1e-6


def test_without_positions_the_model_is_permutation_equivariant() -> None:
    ids, order = some_ids(9), torch.randperm(9, generator=torch.Generator().manual_seed(0))
    bare, placed = shaken("none"), shaken("learned")
    torch.testing.assert_close(bare(ids[order]), bare(ids)[order])
    assert not torch.allclose(placed(ids[order]), placed(ids)[order])


def test_attention_weights_are_those_of_the_blocks() -> None:
    model, ids = shaken("rotary"), some_ids(3, 6)
    weights = model.attention_weights(ids)
    assert weights.shape == (2, 3, 2, 6, 6)
    block, x = model.encoder.blocks[0], model.embedding(ids)
    seen = block.attention_residual.norm(x)
    torch.testing.assert_close(weights[0], block.attention.weights(seen, position=torch.arange(6)))
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3, 2, 6, dtype=torch.float64))


def test_batches_of_any_number_of_axes_are_read_one_by_one() -> None:
    model, ids = shaken(), some_ids(2, 3, 5)
    real = padding(5, 2, 3, tokens=5).expand(2, 3, 5)
    logits = model(ids, real=real)
    assert logits.shape == (2, 3, 5, VOCABULARY)
    torch.testing.assert_close(logits[1, 2], model(ids[1, 2], real=real[1, 2]))


def test_a_new_model_finds_every_token_about_equally_likely() -> None:
    torch.manual_seed(0)
    model = MaskedLanguageModel(27, 32, 4, 2, tokens=12)
    ids = torch.randint(27, (64, 12))
    loss = masked_loss(model(ids), ids, torch.ones_like(ids, dtype=torch.bool))
    assert abs(loss.item() - math.log(27)) < 0.15


def test_dropout_acts_in_training_alone() -> None:
    model, ids = shaken(dropout=0.5), some_ids(6)
    assert not torch.equal(model(ids), model(ids))
    model.eval()
    assert torch.equal(model(ids), model(ids))


@pytest.mark.slow
def test_a_model_learns_to_look_to_both_sides() -> None:
    """The middle of three tokens is the sum of its neighbours: neither side alone tells it."""
    torch.manual_seed(0)
    a, b = torch.arange(5).repeat_interleave(5), torch.arange(5).repeat(5)
    ids = torch.stack([a, (a + b) % 5, b], dim=1)
    seen, hidden = ids.clone(), torch.zeros_like(ids, dtype=torch.bool)
    seen[:, 1], hidden[:, 1] = 5, True
    model = MaskedLanguageModel(6, 16, 2, 2, tokens=3)
    fit(
        model,
        lambda model, batch: masked_loss(model(batch), ids, hidden),
        [seen],
        steps=150,
        learning_rate=1e-2,
        progress=False,
    )
    assert torch.equal(model(seen)[:, 1].argmax(-1), ids[:, 1])

    left_alone = model.encoder(model.embedding(seen), mask=causal_mask(3))
    right = (left_alone @ model.embedding.token.weight.T)[:, 1].argmax(-1) == ids[:, 1]
    assert right.double().mean() <= 0.6  # one in five by chance


# Hiding -----------------------------------------------------------------------------------------

BATCHES = st.lists(st.integers(1, 12), min_size=1, max_size=5)


@given(BATCHES, st.floats(0.01, 1.0), st.integers(0, 2**32 - 1))
def test_the_share_of_every_sequence_is_chosen_and_one_at_least(
    lengths: list, share: float, seed: int
) -> None:
    tokens = max(lengths)
    ids, real = some_ids(len(lengths), tokens), padding(*lengths, tokens=tokens)
    random = torch.Generator().manual_seed(seed)
    given = {"mask": MASK, "vocabulary": VOCABULARY, "real": real, "generator": random}
    seen, hidden = hide(ids, share=share, **given)
    assert not (hidden & ~real).any()
    assert torch.equal(seen[~hidden], ids[~hidden])
    for chosen, length in zip(hidden.sum(-1).tolist(), lengths, strict=True):
        assert abs(chosen - max(1, share * length)) <= 0.5 + 1e-4


def test_of_the_chosen_eight_in_ten_are_masked_one_is_random_and_one_stays() -> None:
    ids = torch.full((2000, 50), 7)
    random = torch.Generator().manual_seed(0)
    seen, hidden = hide(ids, mask=MASK, vocabulary=VOCABULARY, share=0.5, generator=random)
    n = hidden.sum().item()
    assert n == 2000 * 25
    counts = torch.bincount(seen[hidden], minlength=VOCABULARY).double() / n
    # One in ten of the random ids is the true one, so 0.1 + 0.1 / 10 keep theirs.
    expected = torch.full((VOCABULARY,), 0.01, dtype=torch.float64)
    expected[MASK], expected[7] = 0.8, 0.11
    spread = (expected * (1 - expected) / n).sqrt()
    assert ((counts - expected).abs() < 4 * spread).all()


def test_every_place_is_equally_likely_to_be_chosen() -> None:
    ids = some_ids(20_000, 5)
    random = torch.Generator().manual_seed(0)
    _, hidden = hide(ids, mask=MASK, vocabulary=VOCABULARY, generator=random)
    share = hidden.double().mean(0)
    assert ((share - 1 / 5).abs() < 4 * math.sqrt(0.16 / 20_000)).all()


def test_the_same_generator_state_hides_the_same_and_nothing_is_changed_in_place() -> None:
    ids = some_ids(4, 9)
    before = ids.clone()
    first, second = (
        hide(ids, mask=MASK, vocabulary=VOCABULARY, generator=torch.Generator().manual_seed(3))
        for _ in range(2)
    )
    assert torch.equal(first[0], second[0])
    assert torch.equal(first[1], second[1])
    assert torch.equal(ids, before)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_hidden_sequences_keep_their_dtype(dtype: torch.dtype) -> None:
    seen, _ = hide(some_ids(3, 9).to(dtype), mask=0, vocabulary=VOCABULARY)
    assert seen.dtype == dtype


def test_a_vocabulary_of_two_has_one_other_id() -> None:
    seen, _ = hide(torch.zeros(10, 50, dtype=torch.int64), mask=1, vocabulary=2, share=1.0)
    assert set(seen.unique().tolist()) == {0, 1}


# The loss ---------------------------------------------------------------------------------------


def test_the_loss_is_the_mean_surprise_at_the_hidden_places_alone() -> None:
    ids, random = some_ids(3, 5), torch.Generator().manual_seed(0)
    logits = torch.randn(3, 5, VOCABULARY, generator=random, dtype=torch.float64)
    hidden = torch.rand(3, 5, generator=random) < 0.4
    surprise = [
        -math.log(logits[i, t].softmax(-1)[ids[i, t]]) for i, t in hidden.nonzero().tolist()
    ]
    expected = sum(surprise) / len(surprise)
    assert masked_loss(logits, ids, hidden).item() == pytest.approx(expected, rel=1e-12)
    elsewhere = torch.where(hidden[..., None], logits, 100 * logits)
    assert torch.equal(masked_loss(elsewhere, ids, hidden), masked_loss(logits, ids, hidden))


# Errors -----------------------------------------------------------------------------------------

IDS = torch.zeros(2, 5, dtype=torch.int64)
REAL = torch.ones(2, 5, dtype=torch.bool)
LOGITS = torch.zeros(2, 5, VOCABULARY)
BAD_MODEL = {
    "empty": ({"ids": IDS[:, :0]}, ValueError, "a sequence of no tokens"),
    "floating": ({"ids": IDS.float()}, TypeError, "convert it with ids.long()"),
    "out of range": ({"ids": IDS + VOCABULARY}, ValueError, "ids holds 11; expected 0 to 10"),
    "negative": ({"ids": IDS - 1}, ValueError, "ids holds -1"),
    "too long": ({"ids": IDS.repeat(1, 2)}, ValueError, "10 tokens"),
    "list": ({"ids": [[1, 2]]}, TypeError, "ids is a list"),
    "numbers for real": ({"ids": IDS, "real": IDS}, TypeError, "real has dtype torch.int64"),
    "another shape": ({"ids": IDS, "real": REAL[:, :4]}, ValueError, "real has shape (2, 4)"),
    "one for all": ({"ids": IDS, "real": REAL[0]}, ValueError, "real has shape (5,)"),
    "all padding": (
        {"ids": IDS, "real": torch.tensor([[True], [False]]).expand(2, 5)},
        ValueError,
        "every token of sequence (1,)",
    ),
}
BAD_HIDE = {
    "no share": ({"share": 0}, ValueError, "share is 0; expected a finite number above 0"),
    "more than all": ({"share": 1.5}, ValueError, "share is 1.5"),
    "nan": ({"share": math.nan}, ValueError, "share is nan"),
    "mask outside": ({"mask": VOCABULARY}, ValueError, "mask is 11"),
    "mask below": ({"mask": -1}, ValueError, "mask is -1"),
    "mask a letter": ({"mask": "a"}, TypeError, "mask is 'a'"),
    "vocabulary of one": ({"mask": 0, "vocabulary": 1}, ValueError, "vocabulary is 1"),
    "ids outside": ({"ids": IDS + VOCABULARY}, ValueError, "ids holds 11"),
    "empty": ({"ids": IDS[:, :0]}, ValueError, "a sequence of no tokens"),
    "all padding": ({"real": ~REAL}, ValueError, "every token of sequence (0,)"),
}
BAD_LOSS = {
    "nothing hidden": ({"hidden": ~REAL}, ValueError, "nothing to guess"),
    "places for flags": ({"hidden": IDS}, TypeError, "hidden has dtype torch.int64"),
    "another length": ({"logits": LOGITS[:, :4]}, ValueError, "ids has shape (2, 5)"),
    "ids outside": ({"ids": IDS + VOCABULARY}, ValueError, "ids holds 11"),
    "no logits": ({"logits": LOGITS[0, 0]}, ValueError, "logits has shape (11,)"),
}


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize("case", BAD_MODEL)
def test_a_model_says_what_is_wrong_with_its_input(case: str) -> None:
    wrong, kind, message = BAD_MODEL[case]
    model = shaken()
    for call in (model, model.encode, model.attention_weights):
        with pytest.raises(kind) as caught:
            call(**wrong)
        assert message in str(caught.value)


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize("case", BAD_HIDE)
def test_hide_says_what_is_wrong_with_its_input(case: str) -> None:
    wrong, kind, message = BAD_HIDE[case]
    arguments = {"ids": IDS, "mask": MASK, "vocabulary": VOCABULARY, **wrong}
    with pytest.raises(kind) as caught:
        hide(arguments.pop("ids"), **arguments)
    assert message in str(caught.value)


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize("case", BAD_LOSS)
def test_the_loss_says_what_is_wrong_with_its_input(case: str) -> None:
    wrong, kind, message = BAD_LOSS[case]
    with pytest.raises(kind) as caught:
        masked_loss(**{"logits": LOGITS, "ids": IDS, "hidden": REAL, **wrong})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"position": "absolute"}, "position is 'absolute'"),
        ({"norm": "middle"}, "norm is 'middle'"),
        ({"tokens": 0}, "tokens is 0"),
        ({"dropout": 2.0}, "dropout is 2.0"),
    ],
)
def test_a_model_that_cannot_be_built_says_why(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MaskedLanguageModel(VOCABULARY, 8, 2, 2, **{"tokens": 9, **options})
    with pytest.raises(ValueError, match="heads is 3, which does not divide d_model"):
        MaskedLanguageModel(VOCABULARY, 8, 3, 2, tokens=9)
