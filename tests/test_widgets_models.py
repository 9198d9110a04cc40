"""What every widget does that carries a trained model into its page."""

from itertools import product

import pytest
import torch
from small_widgets import (
    astromer,
    basis_field,
    decoder,
    encoder,
    make,
    molecule_network,
    particle_transformer,
    payload,
    seeded,
    style_vae,
)
from torch import nn

from course_lib.transformer_parts import POSITIONS
from course_lib.widgets.letter_hider import masked_model_of
from course_lib.widgets.tiny_gpt import decoder_of

pytestmark = pytest.mark.usefixtures("plain_calls")

IDS = torch.arange(24).reshape(3, 8) % 6
EXPECTED = {"LetterHider": IDS < 3, "TinyGPT": (IDS + 1) % 6}
MODELS = {
    "BasisExplorer": ("field", lambda: basis_field()[0]),
    "GateExplorer": ("cell", lambda: seeded(nn.LSTM, 5, 4)),
    "GraphPlayground": ("network", molecule_network),
    "JetExplorer": ("model", particle_transformer),
    "LatentExplorer": ("vae", style_vae),
    "LetterHider": ("model", encoder),
    "StarExplorer": ("astromer", astromer),
    "TinyGPT": ("model", decoder),
}


def test_making_and_describing_a_widget_changes_no_model_draws_nothing_and_hears_of_no_training():
    for kind, (argument, model_of) in MODELS.items():
        model, draws = model_of(), torch.get_rng_state()
        before = {name: value.clone() for name, value in model.state_dict().items()}
        shown = make(kind, **{argument: model})
        said, state = shown.describe(), shown.page_state()
        assert torch.equal(torch.get_rng_state(), draws), kind
        assert all(torch.equal(value, before[n]) for n, value in model.state_dict().items()), kind
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.zero_()
        assert (shown.describe(), shown.page_state()) == (said, state), kind
        carried = getattr(shown, "decoder" if kind == "LatentExplorer" else argument, None)
        if isinstance(carried, nn.Module):
            assert not carried.training
            assert any(parameter.any() for parameter in carried.parameters()), kind


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "model_of", "rebuilt", "readouts"),
    [
        ("LetterHider", encoder, masked_model_of, [{}]),
        ("TinyGPT", decoder, decoder_of, [{"tied": True}, {"tied": False}]),
    ],
)
def test_every_kind_of_model_arrives_as_it_left_but_for_the_rounding(
    kind, model_of, rebuilt, readouts
):
    for position, norm, readout in product(POSITIONS, ("pre", "post"), readouts):
        model = model_of(position=position, norm=norm, **readout)
        shown = make(kind, model=model)
        state = payload(shown)["state"]
        there = rebuilt(state["facts"], state["weights"])
        assert not there.training
        if readout:
            tied = there.readout.weight is there.embedding.token.weight
            assert tied == readout["tied"]
        with torch.no_grad():
            assert torch.allclose(there(IDS), model(IDS), rtol=0, atol=0.01), (position, norm)
            # The model of the widget is in float32 what the page computes with.
            ours = shown.model(IDS)
            assert torch.allclose(ours.double(), there.double()(IDS), rtol=0, atol=1e-4)
        assert ours.dtype == torch.float32


@pytest.mark.parametrize(("kind", "model_of"), [("LetterHider", encoder), ("TinyGPT", decoder)])
def test_a_model_in_training_or_in_double_precision_is_taken_too_and_left_as_it_is(kind, model_of):
    model = model_of(dropout=0.5).double().train()
    draws = torch.get_rng_state()
    shown = make(kind, model=model)
    before = shown.losses(IDS, EXPECTED[kind])
    assert torch.equal(torch.get_rng_state(), draws)
    assert model.training
    assert next(model.parameters()).dtype == torch.float64
    with torch.no_grad():
        assert torch.allclose(shown.model(IDS), model.eval()(IDS).float(), rtol=0, atol=0.01)
        model.embedding.token.weight.zero_()
    assert shown.losses(IDS, EXPECTED[kind]) == before
