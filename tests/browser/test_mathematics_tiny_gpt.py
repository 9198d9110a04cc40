"""The mathematics of TinyGPT's JavaScript, run in Chromium, against PyTorch and course_lib."""

import math

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor, uniform
from seeded import perturbed

from course_lib.generation import next_token_probabilities
from course_lib.transformer import Decoder
from course_lib.transformer_parts import POSITIONS
from course_lib.widgets import TinyGPT
from course_lib.widgets.packed_weights import pack
from course_lib.widgets.tiny_gpt import decoder_of

pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "·abcdefgh"
MASK = 2**32 - 1


def random_decoder(seed: int = 0, **options: object) -> Decoder:
    """A small decoder whose parameters are large enough for every part of it to matter."""
    torch.manual_seed(seed)
    shape = {"d_model": 12, "heads": 3, "layers": 2, "tokens": 10} | options
    model = Decoder(len(ALPHABET), **shape)
    return perturbed(model, 0.5)


def widget_of(model: Decoder) -> TinyGPT:
    return TinyGPT(model, ALPHABET, start="·", stop="·")


# The whole --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("position", "norm", "tied"),
    [
        *[(position, "pre", True) for position in POSITIONS],
        ("learned", "post", True),
        ("rotary", "post", False),
        ("learned", "pre", False),
    ],
)
def test_logits_and_attention_in_the_page_are_those_of_the_decoder_that_travelled(
    javascript: Javascript,
    random: np.random.Generator,
    position: str,
    norm: str,
    tied: bool,  # noqa: FBT001 - pytest hands it over
):
    widget = widget_of(random_decoder(position=position, norm=norm, tied=tied))
    texts = [random.integers(9, size=size).tolist() for size in (1, 10, 7, 10)]
    # The last but one shares a beginning with the last, and the first nothing with the second.
    texts[2] = texts[1][:5] + texts[2][:4]
    state = widget.page_state()
    runs = javascript(
        "js/maths/generation.js", "readTexts", [[state["facts"], state["weights"], texts]]
    )[0]
    double = widget.model.double()
    for run, ids in zip(runs, texts, strict=True):
        with torch.no_grad():
            logits = double(torch.tensor(ids))
            attended = double.attention_weights(torch.tensor(ids))
            single = widget.model(torch.tensor(ids))
        found = [letter["logits"] for letter in run]
        np.testing.assert_allclose(found, logits, rtol=0, atol=1e-10)
        # The model as a lecture runs it, in float32.
        np.testing.assert_allclose(found, single, rtol=0, atol=1e-4)
        assert_close([letter["own"] for letter in run], logits.softmax(-1))
        for t, letter in enumerate(run):
            assert_close(letter["attention"], attended[:, :, t, : t + 1])


def test_the_largest_model_in_the_page_agrees_with_pytorch_to_a_ten_thousandth(
    javascript: Javascript,
):
    torch.manual_seed(3)
    model = Decoder(27, 48, 4, 3, tokens=64, d_hidden=228)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    widget = TinyGPT(model, "·abcdefghijklmnopqrstuvwxyz", start="·", stop="·")
    ids = torch.randint(27, (64,))
    state = widget.page_state()
    arguments = [state["facts"], state["weights"], [ids.tolist()]]
    [[run]] = javascript("js/maths/generation.js", "readTexts", [arguments])
    with torch.no_grad():
        expected = widget.model(ids)
    np.testing.assert_allclose([r["logits"] for r in run], expected, rtol=0, atol=1e-4)


def test_what_was_read_before_does_not_change_what_is_read_after(
    javascript: Javascript, random: np.random.Generator
):
    state = widget_of(random_decoder()).page_state()
    texts = [random.integers(3, size=random.integers(1, 11)).tolist() for _ in range(30)]
    given = state["facts"], state["weights"]
    [together] = javascript("js/maths/generation.js", "readTexts", [[*given, texts]])
    apart = javascript("js/maths/generation.js", "readTexts", [[*given, [text]] for text in texts])
    assert together == [run for [run] in apart]


@pytest.mark.parametrize("options", [{}, {"position": "none", "norm": "post", "tied": False}])
def test_weights_arrive_in_javascript_bit_by_bit(
    javascript: Javascript, options: dict[str, object]
):
    widget = widget_of(random_decoder(**options))
    for bits in (11, 13, 16):
        packed = repacked(widget, bits)
        [there] = javascript(
            "js/maths/transformer.js", "unpackTransformer", [[widget.facts, packed]]
        )
        here = decoder_of(widget.facts, packed).state_dict()
        for name, found in (
            ("embedding.token.weight", there["token"]),
            ("blocks.0.attention.query.weight", there["blocks"][0]["query"]["weight"]),
            ("blocks.1.mlp.contract.bias", there["blocks"][1]["contract"]["bias"]),
            ("blocks.1.mlp_residual.norm.weight", there["blocks"][1]["mlpNorm"]["weight"]),
            ("readout.weight", there["readout"]["weight"]),
        ):
            np.testing.assert_array_equal(found, here[name].flatten())


# The choice -------------------------------------------------------------------------------------


def test_the_choice_of_the_next_letter_is_that_of_course_lib(
    javascript: Javascript, random: np.random.Generator
):
    cases = []
    for _ in range(DRAWS):
        count = int(random.integers(1, 12))
        # Whole numbers tie, others do not.
        logits = random.normal(scale=3, size=count)
        logits = (logits if random.uniform() < 0.5 else logits.round()).tolist()
        settings = [
            float(np.exp(random.uniform(math.log(0.1), math.log(5)))),
            int(random.integers(1, count + 1)),
            float(random.choice([0.05, 0.25, 0.5, 0.75, 0.9, 1.0, random.uniform(0.01, 1)])),
        ]
        cases.append([logits, *settings])
    # Equal shares whose sum reaches p, or would if rounding did not keep it just below.
    cases += [[[0.0] * n, 1.0, n, k / n] for n in range(2, 13) for k in range(1, n + 1)]
    cases += [[[1e4, 0.0, -1e4], 0.1, 3, 0.05], [[3.0, 1.0, 2.0], 1.0, 1, 1.0]]
    for found, (logits, temperature, top_k, top_p) in zip(
        javascript("js/maths/generation.js", "chooseAmong", cases), cases, strict=True
    ):
        options = {"temperature": temperature, "top_k": top_k}
        expected = next_token_probabilities(tensor(logits), **options, top_p=top_p)
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
    cases = [*random.integers(0, 2**32, size=(DRAWS, 2)).tolist(), [0, 0], [MASK, MASK - 1]]
    for found, (seed, n) in zip(
        javascript("js/maths/generation.js", "uniform", cases), cases, strict=True
    ):
        assert found == uniform(seed, n)
        assert 0 <= found < 1


def test_draws_of_one_seed_and_first_draws_of_many_are_spread_evenly(javascript: Javascript):
    count, bins = 20_000, 50
    along = javascript("js/maths/generation.js", "uniform", [[7, n] for n in range(count)])
    across = javascript("js/maths/generation.js", "uniform", [[seed, 0] for seed in range(count)])
    for draws in (along, across):
        found, _ = np.histogram(draws, bins=bins, range=(0, 1))
        chi_squared = ((found - count / bins) ** 2 / (count / bins)).sum()
        # Its mean is 49 and its standard deviation 10 where draws are even.
        assert chi_squared < 49 + 4 * 10
        assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 4 / math.sqrt(count)


def test_a_letter_is_drawn_as_often_as_its_probability_says(
    javascript: Javascript, random: np.random.Generator
):
    probability = random.dirichlet(np.ones(6))
    probability[2] = 0
    probability /= probability.sum()
    steps = (np.arange(1000) + 0.5) / 1000
    ids = javascript(
        "js/maths/generation.js", "drawFrom", [[probability.tolist(), u] for u in steps.tolist()]
    )
    found = np.bincount(ids, minlength=6) / 1000
    np.testing.assert_allclose(found, probability, atol=1.1e-3)
    assert found[2] == 0


def test_the_ends_of_the_unit_interval_draw_letters_that_have_a_probability(
    javascript: Javascript,
):
    short = [0.0, 0.3, 0.7 - 1e-12, 0.0]
    cases = [[short, 0.0], [short, 1 - 2**-32], [short, 1 - 1e-16], [[1.0], 0.999]]
    assert javascript("js/maths/generation.js", "drawFrom", cases) == [1, 2, 2, 0]


# Words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "start", "said"),
    [
        ("ab", 0, ""),
        ("", 0, ""),
        ("", -1, "Type at least one letter"),
        ("aXbX", 0, "never seen X. It knows a b ␣ <."),
        ("a\N{SLIGHTLY SMILING FACE}", 0, "never seen \N{SLIGHTLY SMILING FACE}."),
        ("a·", 0, "· stands for the start or the end"),
        ("a·", -1, "· stands for the start or the end"),
        ("abab", 0, ""),
        ("ababa", 0, "That is 5 letters; the model has room for 4."),
        ("ababa", -1, ""),
    ],
)
def test_a_beginning_that_the_model_cannot_read_is_told_why(
    javascript: Javascript, text: str, start: int, said: str
):
    [found] = javascript("js/tiny_gpt/words.js", "proofread", [[text, "·ab <", start, 0, 5]])
    assert said in found
    assert bool(found) == bool(said)


def repacked(widget: TinyGPT, bits: int) -> dict[str, object]:
    """The widget's weights once more, in a number of bits that its size would not ask for."""
    packed = pack(widget._original, most_bytes=10**6, fewest_bits=bits, most_bits=bits)
    assert packed["bits"] == bits
    return packed


def test_the_needle_starts_at_an_end_of_the_strip_stays_on_it_and_rests_where_it_was_drawn(
    javascript: Javascript, random: np.random.Generator
):
    module = "js/tiny_gpt/draw.js"
    numbers = [0, 0.5, *random.uniform(size=DRAWS)]
    for u in numbers:
        times = np.linspace(0, 2, 41).tolist()
        found = javascript(module, "needleAt", [[u, time] for time in times])
        assert found[0] == pytest.approx(1 if u < 0.5 else 0)
        assert all(-1e-12 <= place <= 1 + 1e-12 for place in found)
        resting = javascript(module, "rests", [[time] for time in times])
        assert resting == sorted(resting)
        assert all(place == u for place, rests in zip(found, resting, strict=True) if rests)


def test_the_strip_lays_probabilities_end_to_end_as_a_draw_adds_them_up(
    javascript: Javascript, random: np.random.Generator
):
    module = "js/maths/generation.js"
    for _ in range(20):
        probability = random.dirichlet(np.full(9, 0.3)).tolist()
        [ends] = javascript("js/tiny_gpt/draw.js", "endsOf", [[probability]])
        assert_close(ends, tensor(probability).cumsum(0))
        draws = random.uniform(size=20).tolist()
        found = javascript(module, "drawFrom", [[probability, u] for u in draws])
        assert found == [min(sum(end <= u for end in ends), 8) for u in draws]
