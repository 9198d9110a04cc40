"""What every widget does that runs a trained transformer in its page."""

import pytest
import torch
from small_widgets import decoder, encoder, make

# Widgets check what they are given themselves; models are made as a lecture makes them.
pytestmark = pytest.mark.usefixtures("plain_calls")

IDS = torch.arange(24).reshape(3, 8) % 6
EXPECTED = {"LetterHider": IDS < 3, "TinyGPT": (IDS + 1) % 6}
of_every_kind = pytest.mark.parametrize(
    ("kind", "model_of"), [("LetterHider", encoder), ("TinyGPT", decoder)]
)


@of_every_kind
def test_training_the_model_further_does_not_reach_the_widget(kind, model_of):
    model = model_of()
    shown = make(kind, model=model)
    before = shown.losses(IDS, EXPECTED[kind])
    with torch.no_grad():
        model.embedding.token.weight.zero_()
    assert shown.losses(IDS, EXPECTED[kind]) == before


@of_every_kind
def test_making_and_describing_a_widget_draws_no_random_numbers(kind, model_of):
    model = model_of()
    before = torch.get_rng_state()
    shown = make(kind, model=model)
    shown.describe()
    shown.losses(IDS, EXPECTED[kind])
    assert torch.equal(torch.get_rng_state(), before)


@of_every_kind
def test_a_model_in_training_or_in_double_precision_is_taken_too_and_left_as_it_is(kind, model_of):
    model = model_of(dropout=0.5).double().train()
    shown = make(kind, model=model)
    assert model.training
    assert next(model.parameters()).dtype == torch.float64
    with torch.no_grad():
        assert torch.allclose(shown.model(IDS), model.eval()(IDS).float(), rtol=0, atol=0.01)
