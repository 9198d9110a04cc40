"""Masked language modelling: masks, attention and the loss."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded_tensors import perturbed, some_ids
from torch import Tensor, nn

from course_lib.transformer import MaskedLanguageModel, hide, masked_loss

POSITIONS = ["learned", "sinusoidal", "rotary", "none"]
MASK, VOCABULARY = 4, 11


def shaken(position: str = "learned", **options: object) -> MaskedLanguageModel:
    """A model with every parameter at random."""
    torch.manual_seed(0)
    given = {"tokens": 9, "d_hidden": 20, "position": position, **options}
    return perturbed(MaskedLanguageModel(VOCABULARY, 8, 2, 2, **given).double(), 0.3)


def padding(*lengths: int, tokens: int) -> Tensor:
    return torch.arange(tokens) < torch.tensor(lengths)[:, None]


def test_a_model_is_embedding_blocks_norm_and_the_embedding_again() -> None:
    for norm in ["pre", "post"]:
        for position in POSITIONS:
            model, ids = shaken(position, norm=norm), some_ids(3, 6)
            x, places = model.embedding(ids), torch.arange(6) if position == "rotary" else None
            for block in model.encoder.blocks:
                x = block(x, position=places)
            x = model.encoder.norm(x)
            torch.testing.assert_close(model.encode(ids), x)
            weight = model.embedding.token.weight
            torch.testing.assert_close(model(ids), nn.functional.linear(x, weight))


def test_a_lens_reading_is_the_answer_if_later_blocks_add_nothing() -> None:
    for position in POSITIONS:
        model, ids = shaken(position), some_ids(2, 6)
        valid = padding(6, 4, tokens=6)
        readings = model.logit_lens(ids, valid=valid)
        torch.testing.assert_close(readings[-1], model(ids, valid=valid))
        with torch.no_grad():
            for place in (1, 0):
                block = model.encoder.blocks[place]
                for last in (block.attention.output, block.mlp.contract):
                    last.weight.zero_()
                    last.bias.zero_()
                torch.testing.assert_close(model(ids, valid=valid), readings[place])


def test_padding_changes_nothing_for_the_tokens_that_are_real() -> None:
    for position in POSITIONS:
        model, ids = shaken(position), some_ids(3, 9)
        lengths = (9, 1, 4)
        logits = model(ids, valid=padding(*lengths, tokens=9))
        weights = model.attention_weights(ids, valid=padding(*lengths, tokens=9))
        for i, length in enumerate(lengths):
            torch.testing.assert_close(logits[i, :length], model(ids[i, :length]))
            assert not weights[:, i, :, :, length:].any()
            own = model.attention_weights(ids[i, :length])
            torch.testing.assert_close(weights[:, i, :, :length, :length], own)


def test_attention_weights_are_those_of_the_blocks() -> None:
    model, ids = shaken("rotary"), some_ids(3, 6)
    weights = model.attention_weights(ids)
    assert weights.shape == (2, 3, 2, 6, 6)
    block, x = model.encoder.blocks[0], model.embedding(ids)
    seen = block.attention_residual.norm(x)
    torch.testing.assert_close(weights[0], block.attention.weights(seen, position=torch.arange(6)))
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3, 2, 6, dtype=torch.float64))


BATCHES = st.lists(st.integers(1, 12), min_size=1, max_size=5)


@given(BATCHES, st.floats(0.01, 1.0), st.integers(0, 2**32 - 1))
def test_the_share_of_every_sequence_is_chosen_and_one_at_least(
    lengths: list, share: float, seed: int
) -> None:
    tokens = max(lengths)
    ids, valid = some_ids(len(lengths), tokens), padding(*lengths, tokens=tokens)
    random = torch.Generator().manual_seed(seed)
    given = {"mask": MASK, "vocabulary_size": VOCABULARY, "valid": valid, "generator": random}
    seen, hidden = hide(ids, share=share, **given)
    assert not (hidden & ~valid).any()
    assert torch.equal(seen[~hidden], ids[~hidden])
    for chosen, length in zip(hidden.sum(-1).tolist(), lengths, strict=True):
        assert abs(chosen - max(1, share * length)) <= 0.5 + 1e-4


def test_of_the_chosen_eight_in_ten_are_masked_one_is_random_and_one_stays() -> None:
    ids = torch.full((2000, 50), 7)
    random = torch.Generator().manual_seed(0)
    seen, hidden = hide(ids, mask=MASK, vocabulary_size=VOCABULARY, share=0.5, generator=random)
    n = hidden.sum().item()
    assert n == 2000 * 25
    counts = torch.bincount(seen[hidden], minlength=VOCABULARY).double() / n
    # One in ten of the random ids is the true one, so 0.1 + 0.1 / 10 keep theirs.
    expected = torch.full((VOCABULARY,), 0.01, dtype=torch.float64)
    expected[MASK], expected[7] = 0.8, 0.11
    spread = (expected * (1 - expected) / n).sqrt()
    assert ((counts - expected).abs() < 4 * spread).all()


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
