"""Widgets that send a trained model to the page."""

import pytest
import small_widgets as small
import torch
from torch import nn
from torch.nn import functional as F

from course_lib.generation import next_token_probabilities
from course_lib.widgets.letter_hider.letter_hider import expected_letters

IDS = 1 + torch.arange(24).reshape(3, 8) % 6
# The argument of the model, and its part that the widget rebuilds from the sent weights.
MODELS = {
    "BasisExplorer": ("field", "field", lambda: small.basis_field()[0]),
    "GateExplorer": ("cell", "", lambda: small.seeded(nn.LSTM, 6, 5)),
    "GraphPlayground": ("network", "network", small.molecule_network),
    "JetExplorer": ("model", "network", small.particle_transformer),
    "LatentExplorer": ("vae", "decoder", small.style_vae),
    "LetterHider": ("model", "model", lambda: small.encoder(dropout=0.5)),
    "StarExplorer": ("astromer", "astromer", small.astromer),
    "TinyGPT": ("model", "model", lambda: small.decoder(dropout=0.5)),
}


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_is_sent_rounded_and_not_changed_in_any_mode_or_dtype(kind):
    argument, part, model_of = MODELS[kind]
    plain, model = (
        small.make(kind, **{argument: model_of()}).page_state(),
        model_of().double().train(),
    )
    before = {name: value.clone() for name, value in model.state_dict().items()}
    draws = torch.get_rng_state()
    shown = small.make(kind, **{argument: model})
    said, state = shown.describe(), shown.page_state()
    assert state == plain
    assert torch.equal(torch.get_rng_state(), draws)
    assert model.training
    for name, value in model.state_dict().items():
        torch.testing.assert_close(value, before[name], rtol=0, atol=0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert (shown.describe(), shown.page_state()) == (said, state)
    if part:
        there = getattr(shown, part)
        assert not there.training
        for name, parameter in there.named_parameters():
            own = before[f"{part}.{name}" if part == "decoder" else name].float()
            half_a_step = 0.5 * own.abs().max() / (2 ** (shown.bits - 1) - 1)
            # A step has 8 significant bits.
            torch.testing.assert_close(parameter, own, rtol=0, atol=1.02 * float(half_a_step))


@pytest.mark.parametrize("kind", ["GraphPlayground", "StarExplorer"])
def test_without_a_model_none_is_sent(kind):
    argument, part, _ = MODELS[kind]
    widget = small.make(kind, **{argument: None})
    travels = widget.page_state()["weights"]
    assert (getattr(widget, part), widget.bits, travels) == (None, None, None)
    assert "ASTROMER" not in widget.describe()


@pytest.mark.parametrize(
    ("kind", "model_of"), [("LetterHider", small.encoder), ("TinyGPT", small.decoder)]
)
def test_what_rounding_costs_is_the_difference_of_two_losses(kind, model_of):
    model, again = model_of(dropout=0.5).train(), model_of()
    hidden, valid = IDS < 3, (torch.arange(8) < 6).expand(3, 8)
    shown = small.make(kind, model=model)
    model.embedding.token.weight.data.zero_()  # later training does not change the page
    seen, targets, given = IDS, IDS.masked_fill(hidden, -100), {}
    if kind == "LetterHider":
        seen, targets, given = IDS.masked_fill(hidden, 0), hidden, {"valid": valid}
    found = shown.losses(IDS, targets, **given)
    targets = IDS.masked_fill(~hidden, -100) if given else targets
    for loss, one in zip(found, (again, shown.model), strict=True):
        with torch.no_grad():
            logits = one.double()(seen, **given)
        assert loss == pytest.approx(F.cross_entropy(logits.mT, targets).item(), abs=1e-9)
    assert found[0] != found[1]


def test_tiny_gpt_describes_the_next_letters_as_course_lib_computes_them():
    drawing = {"temperature": 0.7, "top_k": 4, "top_p": 0.8}
    for start, ids in (("·", [0, 2, 1, 4, 5]), (None, [2, 1, 4, 5])):
        shown = small.make("TinyGPT", start=start, written="e", **drawing)
        text = shown.describe()
        assert "“bade”" in text
        with torch.no_grad():
            logits = shown.model.double()(torch.tensor(ids))[-1]
        probability = next_token_probabilities(logits, **drawing)
        best = probability.argsort(descending=True, stable=True)[0]
        assert f"first: {shown.alphabet[best]} {probability[best]:.3f}" in text
    for finished in ({"written": "·"}, {"prompt": "abcdeabcdea", "written": "c"}):
        assert small.make("TinyGPT", **finished).describe().endswith("It is finished.")


def test_letter_hider_describes_visible_letters_and_guesses():
    shown = small.make("LetterHider", word="bead", hidden=[3, 1])
    text = shown.describe()
    assert "Of “bead” it sees “b?a?”." in text
    ids = torch.tensor([shown.alphabet.index(letter) for letter in "bead"])
    expected = expected_letters(shown.model.double(), ids, hidden=[1, 3], mask=0)
    assert torch.equal(shown.expected(), expected)
    for t in (1, 3):
        best = shown.alphabet[expected[t].argmax()]
        assert f"{best} {expected[t].max():.3f} for letter {t + 1}, {'bead'[t]}" in text
    assert small.make("LetterHider", hidden=[]).describe().endswith("No letter is hidden.")
