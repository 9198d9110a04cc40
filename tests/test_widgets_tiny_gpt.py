import pytest
import torch
from seeded import perturbed
from small_widgets import payload
from torch.nn import functional as F

from course_lib.generation import next_token_probabilities
from course_lib.training import parameter_count
from course_lib.transformer import Decoder
from course_lib.transformer_parts import POSITIONS
from course_lib.widgets import TinyGPT
from course_lib.widgets.tiny_gpt import decoder_of

# The widget checks what it is given itself, and its messages are what is tested here.
pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "·abcde"
LATIN = "·abcdefghijklmnopqrstuvwxyz"
MOST_BYTES = 250_000


def decoder(vocabulary=6, d_model=8, heads=2, layers=2, *, tokens=8, seed=0, **options):
    torch.manual_seed(seed)
    model = Decoder(vocabulary, d_model, heads, layers, tokens=tokens, **options)
    return perturbed(model, 0.3)


def widget(model=None, alphabet=ALPHABET, **options):
    return TinyGPT(
        decoder() if model is None else model,
        alphabet,
        **{"prompt": "bad", "start": "·", "stop": "·"} | options,
    )


# The journey of the weights ----------------------------------------------------------------------


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("position", POSITIONS)
def test_every_kind_of_decoder_arrives_as_it_left_but_for_the_rounding(position, norm, tied):
    model = decoder(position=position, norm=norm, tied=tied)
    state = payload(widget(model))["state"]
    there = decoder_of(state["facts"], state["weights"])
    ids = torch.randint(6, (5, 8))
    with torch.no_grad():
        assert torch.allclose(there(ids), model(ids), rtol=0, atol=0.01)
    assert not there.training
    assert (there.readout.weight is there.embedding.token.weight) == tied
    assert {name: value.shape for name, value in there.state_dict().items()} == {
        name: value.shape for name, value in model.state_dict().items()
    }


def test_the_model_of_the_widget_is_in_float32_what_the_page_computes_with():
    shown = widget()
    state = payload(shown)["state"]
    ids = torch.randint(6, (4, 8))
    with torch.no_grad():
        ours = shown.model(ids)
        theirs = decoder_of(state["facts"], state["weights"]).double()(ids)
    assert ours.dtype == torch.float32
    assert torch.allclose(ours.double(), theirs, rtol=0, atol=1e-4)


def test_what_rounding_costs_is_the_difference_of_two_losses():
    model = decoder(27, 16, 2, 2, tokens=12)
    shown = widget(model, LATIN)
    ids, targets = torch.randint(27, (2, 20, 12))
    targets[:, 9:] = -100
    before, after = shown.losses(ids, targets)
    for loss, decoded in ((before, model), (after, shown.model)):
        with torch.no_grad():
            logits = decoded.double()(ids)
        assert loss == pytest.approx(F.cross_entropy(logits.mT, targets).item(), abs=1e-9)
    assert before != after
    assert abs(before - after) < 1e-3


@pytest.mark.parametrize(
    ("shape", "bits"),
    [
        ({"d_model": 32, "heads": 4, "layers": 2}, 16),
        ({"d_model": 48, "heads": 4, "layers": 3, "tokens": 14}, 13),
        ({"d_model": 48, "heads": 4, "layers": 3, "tokens": 64, "d_hidden": 228}, 11),
    ],
)
def test_a_page_carries_as_many_bits_as_fit_into_its_budget(shape, bits):
    model = decoder(27, **shape)
    assert parameter_count(model) <= 100_000
    shown = widget(model, LATIN, prompt="mar")
    assert shown.bits == bits
    assert len(shown.static_html().encode()) <= MOST_BYTES


def test_the_largest_model_loses_little():
    shape = {"d_model": 48, "heads": 4, "layers": 3, "tokens": 64, "d_hidden": 228}
    shown = widget(decoder(27, **shape), LATIN)
    before, after = shown.losses(*torch.randint(27, (2, 16, 64)))
    assert abs(before - after) < 5e-3 * before


# Words -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["·", None])
def test_the_description_says_what_course_lib_expects_next(start):
    shown = widget(start=start, temperature=0.7, top_k=4, top_p=0.8, written="e")
    text = shown.describe()
    assert "“bade”" in text
    ids = torch.tensor([0, 2, 1, 4, 5] if start else [2, 1, 4, 5])
    with torch.no_grad():
        logits = shown.model.double()(ids)[-1]
    probability = next_token_probabilities(logits, temperature=0.7, top_k=4, top_p=0.8)
    best = probability.argsort(descending=True, stable=True)[0]
    assert f"first: {ALPHABET[best]} {probability[best]:.3f}" in text


def test_the_description_of_a_finished_or_a_full_text_expects_nothing():
    assert widget(written="·").describe().endswith("It is finished.")
    assert widget(prompt="abcdeab", written="c").describe().endswith("It is finished.")
    assert "may come next" in widget(prompt="abcdeab").describe()


# Traits ------------------------------------------------------------------------------------------


def test_without_cuts_every_letter_is_kept():
    shown = widget()
    assert (shown.top_k, shown.top_p, shown.temperature) == (6, 1.0, 0.8)
    assert (shown.start, shown.stop, shown.place, shown.option, shown.draws) == (0, 0, -1, -1, 0)
    assert (widget(start=None, stop=None).start, widget(stop=None).stop) == (-1, -1)


def test_a_longer_prompt_takes_the_room_of_what_was_written():
    shown = widget(prompt="ab", written="cde")
    shown.prompt = "aba"
    assert shown.written == "cde"
    shown.prompt = "ababab"
    assert shown.written == ""
