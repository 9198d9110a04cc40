"""The mathematics of TinyGPT's JavaScript, run in Chromium, against PyTorch and course_lib."""

import math

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor, uniform
from seeded import perturbed
from torch.nn import functional as F

from course_lib.generation import next_token_probabilities
from course_lib.transformer import Decoder
from course_lib.widgets import TinyGPT
from course_lib.widgets.packed_weights import pack
from course_lib.widgets.tiny_gpt import decoder_of

pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "·abcdefgh"
GENERATION = "js/maths/generation.js"


def widget_of(**options: object) -> TinyGPT:
    """A small decoder whose parameters are large enough for every part of it to matter."""
    torch.manual_seed(0)
    model = Decoder(len(ALPHABET), 12, 3, 2, tokens=10, **options)
    return TinyGPT(perturbed(model, 0.5), ALPHABET, start="·", stop="·")


@pytest.mark.parametrize(
    "options",
    [
        {"position": "none"},
        {"position": "sinusoidal", "tied": False},
        {"position": "learned", "norm": "post"},
        {"position": "rotary"},
    ],
    ids=lambda options: options["position"],
)
def test_logits_and_attention_in_the_page_are_those_of_the_decoder_that_travelled(
    javascript: Javascript, random: np.random.Generator, options: dict[str, object]
):
    widget = widget_of(**options)
    texts = [random.integers(9, size=size).tolist() for size in (1, 10, 7, 10)]
    # What was read before does not change what is read after, whatever they share.
    texts[2] = texts[1][:5] + texts[2][:4]
    state = widget.page_state()
    [runs] = javascript(GENERATION, "readTexts", [[state["facts"], state["weights"], texts]])
    double = widget.model.double()
    for run, ids in zip(runs, texts, strict=True):
        with torch.no_grad():
            logits = double(torch.tensor(ids))
            attended = double.attention_weights(torch.tensor(ids))
        np.testing.assert_allclose([x["logits"] for x in run], logits, rtol=0, atol=1e-10)
        assert_close([x["own"] for x in run], logits.softmax(-1))
        for t, letter in enumerate(run):
            assert_close(letter["attention"], attended[:, :, t, : t + 1])


def test_weights_arrive_in_javascript_bit_by_bit(javascript: Javascript):
    widget = widget_of(tied=False)
    for bits in (11, 13, 16):
        packed = pack(widget._original, most_bytes=10**6, fewest_bits=bits, most_bits=bits)
        [there] = javascript(
            "js/maths/transformer.js", "unpackTransformer", [[widget.facts, packed]]
        )
        here = decoder_of(widget.facts, packed).state_dict()
        assert_exactly = np.testing.assert_array_equal
        assert_exactly(there["token"], here["embedding.token.weight"].flatten())
        block = there["blocks"][1]
        assert_exactly(block["contract"]["bias"], here["blocks.1.mlp.contract.bias"])
        assert_exactly(block["mlpNorm"]["weight"], here["blocks.1.mlp_residual.norm.weight"])
        assert_exactly(there["readout"]["weight"], here["readout.weight"].flatten())


def test_erf_and_gelu_are_those_of_torch_to_the_last_digits(
    javascript: Javascript, random: np.random.Generator
):
    x = [*random.normal(scale=3, size=DRAWS).tolist(), 0.0, 1e-300, 5.9, 6.1, -6.1, 40.0, -40.0]
    erf = javascript("js/maths/transformer.js", "erf", [[z] for z in x])
    gelu = javascript("js/maths/transformer.js", "gelu", [[z] for z in x])
    np.testing.assert_allclose(erf, torch.erf(tensor(x)), rtol=1e-13, atol=0)
    np.testing.assert_allclose(gelu, F.gelu(tensor(x)), rtol=1e-12, atol=1e-14)


def test_the_choice_of_the_next_letter_is_that_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(DRAWS):
        count = int(random.integers(1, 12))
        # Whole numbers tie, others do not.
        logits = random.normal(scale=3, size=count)
        logits = (logits if random.uniform() < 0.5 else logits.round()).tolist()
        temperature = float(np.exp(random.uniform(math.log(0.1), math.log(5))))
        top_p = float(random.choice([0.05, 0.25, 0.5, 0.75, 1.0, random.uniform(0.01, 1)]))
        cases.append([logits, temperature, int(random.integers(1, count + 1)), top_p])
    # Equal shares whose sum reaches p, or would if rounding did not keep it just below.
    cases += [[[0.0] * n, 1.0, n, k / n] for n in range(2, 13) for k in range(1, n + 1)]
    cases += [[[1e4, 0.0, -1e4], 0.1, 3, 0.05], [[3.0, 1.0, 2.0], 1.0, 1, 1.0]]
    for found, (logits, temperature, top_k, top_p) in zip(
        javascript(GENERATION, "chooseAmong", cases), cases, strict=True
    ):
        options = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
        expected = next_token_probabilities(tensor(logits), **options)
        np.testing.assert_allclose(found["probability"], expected, rtol=1e-10, atol=1e-15)
        assert (np.asarray(found["probability"]) == 0).tolist() == (expected == 0).tolist()
        assert found["order"] == tensor(logits).sort(descending=True, stable=True).indices.tolist()
        assert found["leftByK"] == top_k
        kept = expected.count_nonzero()
        # A probability may also be too small for a number of 64 bits.
        assert found["leftByP"] == kept or (top_p == 1 and found["leftByP"] == top_k)


def test_draws_are_those_of_the_documented_generator(
    javascript: Javascript, random: np.random.Generator
):
    cases = [*random.integers(0, 2**32, size=(DRAWS, 2)).tolist(), [0, 0], [2**32 - 1, 2**32 - 2]]
    assert javascript(GENERATION, "uniform", cases) == [uniform(*case) for case in cases]


def test_a_letter_is_drawn_where_the_strip_of_probabilities_has_it(
    javascript: Javascript, random: np.random.Generator
):
    rows = [random.dirichlet(np.full(9, 0.3)).tolist() for _ in range(20)]
    for row, ends in zip(
        rows, javascript("js/tiny_gpt/draw.js", "endsOf", [[row] for row in rows]), strict=True
    ):
        assert_close(ends, tensor(row).cumsum(0))
    cases = [[row, random.uniform()] for row in rows for _ in range(20)]
    expected = [min(int((tensor(row).cumsum(0) <= u).sum()), 8) for row, u in cases]
    assert javascript(GENERATION, "drawFrom", cases) == expected
    # The ends of the unit interval draw letters that have a probability.
    short = [0.0, 0.3, 0.7 - 1e-12, 0.0]
    cases = [[short, 0.0], [short, 1 - 2**-32], [short, 1 - 1e-16], [[1.0], 0.999]]
    assert javascript(GENERATION, "drawFrom", cases) == [1, 2, 2, 0]


def test_the_needle_starts_at_an_end_of_the_strip_stays_on_it_and_rests_where_it_was_drawn(
    javascript: Javascript, random: np.random.Generator
):
    times = np.linspace(0, 2, 41).tolist()
    resting = javascript("js/tiny_gpt/draw.js", "rests", [[time] for time in times])
    assert resting == sorted(resting)
    for u in [0, 0.5, *random.uniform(size=10)]:
        found = javascript("js/tiny_gpt/draw.js", "needleAt", [[u, time] for time in times])
        assert found[0] == pytest.approx(1 if u < 0.5 else 0)
        assert all(-1e-12 <= place <= 1 + 1e-12 for place in found)
        assert all(place == u for place, rests in zip(found, resting, strict=True) if rests)


def test_a_beginning_that_the_model_cannot_read_is_told_why(javascript: Javascript):
    reasons = {
        ("", 0): "",
        ("", -1): "Type at least one letter",
        ("aXbX", 0): "never seen X. It knows a b ␣ <.",
        ("a\N{SLIGHTLY SMILING FACE}", 0): "never seen \N{SLIGHTLY SMILING FACE}.",
        ("a·", -1): "· stands for the start or the end",
        ("abab", 0): "",
        ("ababa", 0): "That is 5 letters; the model has room for 4.",
        ("ababa", -1): "",
    }
    cases = [[text, "·ab <", start, 0, 5] for text, start in reasons]
    found = javascript("js/tiny_gpt/words.js", "proofread", cases)
    for words, reason in zip(found, reasons.values(), strict=True):
        assert reason in words
        assert bool(words) == bool(reason)
