"""The mathematics of LetterHider's JavaScript, run in Chromium, against PyTorch and course_lib."""

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from seeded import perturbed

from course_lib.masked_language_model import MaskedLanguageModel
from course_lib.transformer_parts import POSITIONS
from course_lib.widgets import LetterHider
from course_lib.widgets.letter_hider import expected_letters

pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "abc·defgh"
MASK = 3


def widget_of(seed: int = 0, **options: object) -> LetterHider:
    """A small model whose parameters are large enough for every part of it to matter."""
    torch.manual_seed(seed)
    shape = {"d_model": 12, "heads": 3, "layers": 2, "tokens": 10} | options
    model = MaskedLanguageModel(len(ALPHABET), **shape)
    return LetterHider(perturbed(model, 0.5), ALPHABET, mask="·", word="bad")


def random_word(random: np.random.Generator, most: int = 10) -> tuple[list[int], list[int]]:
    """The ids of a word without the mask, and some of its places."""
    size = int(random.integers(1, most + 1))
    ids = random.choice([0, 1, 2, 4, 5, 6, 7, 8], size=size).tolist()
    return ids, np.flatnonzero(random.uniform(size=size) < random.uniform()).tolist()


@pytest.mark.parametrize(
    ("position", "norm"),
    [*[(position, "pre") for position in POSITIONS], ("learned", "post"), ("rotary", "post")],
)
def test_what_is_expected_of_each_letter_is_what_the_model_that_travelled_expects(
    javascript: Javascript, random: np.random.Generator, position: str, norm: str
):
    widget = widget_of(position=position, norm=norm)
    state = widget.page_state()
    given = state["facts"], state["weights"]
    words = [random_word(random) for _ in range(20)]
    found = javascript(
        "js/maths/hidden_letters.js",
        "expectLetters",
        [[*given, ids, hidden, MASK] for ids, hidden in words],
    )
    double = widget.model.double()
    for letters, (ids, hidden) in zip(found, words, strict=True):
        word = torch.tensor(ids)
        expected = expected_letters(double, word, hidden=hidden, mask=MASK)
        assert_close([letter["probability"] for letter in letters], expected)
        # The model as a lecture runs it, in float32.
        single = expected_letters(widget.model, word, hidden=hidden, mask=MASK)
        np.testing.assert_allclose(
            [letter["probability"] for letter in letters], single, rtol=0, atol=1e-5
        )
        for t, letter in enumerate(letters):
            seen = word.clone()
            seen[[*hidden, t]] = MASK
            with torch.no_grad():
                attended = double.attention_weights(seen)[:, :, t]
            assert_close(letter["attention"], attended)


def test_the_largest_model_in_the_page_agrees_with_pytorch(javascript: Javascript):
    torch.manual_seed(3)
    model = MaskedLanguageModel(27, 32, 4, 2, tokens=16, d_hidden=128)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    widget = LetterHider(model, "·abcdefghijklmnopqrstuvwxyz", mask="·", word="a")
    ids, state = torch.randint(1, 27, (16,)), widget.page_state()
    given = [state["facts"], state["weights"], ids.tolist(), [0, 5, 6], 0]
    [found] = javascript("js/maths/hidden_letters.js", "expectLetters", [given])
    expected = expected_letters(widget.model.double(), ids, hidden=[0, 5, 6], mask=0)
    assert_close([letter["probability"] for letter in found], expected)


def test_the_mask_is_never_expected(javascript: Javascript, random: np.random.Generator):
    cases = [
        [random.normal(scale=5, size=(size := int(random.integers(2, 12)))).tolist(), size // 2]
        for _ in range(DRAWS)
    ]
    for found, (logits, mask) in zip(
        javascript("js/maths/hidden_letters.js", "withoutMask", cases), cases, strict=True
    ):
        others = [id_ for id_ in range(len(logits)) if id_ != mask]
        assert found[mask] == 0
        assert_close(np.array(found)[others], tensor(logits)[others].softmax(0))


def test_a_hidden_letter_is_seen_as_the_mask(javascript: Javascript, random: np.random.Generator):
    cases = [[*random_word(random), MASK] for _ in range(DRAWS)]
    for found, (ids, hidden, _) in zip(
        javascript("js/maths/hidden_letters.js", "sightOf", cases), cases, strict=True
    ):
        places = torch.zeros(len(ids), dtype=torch.bool)
        places[hidden] = True
        assert found == torch.tensor(ids).masked_fill(places, MASK).tolist()


def test_letters_are_ranked_by_probability_and_equal_ones_by_the_alphabet(
    javascript: Javascript, random: np.random.Generator
):
    # Of so few different numbers, many are equal.
    cases = [[random.integers(4, size=9).tolist()] for _ in range(DRAWS)]
    for found, [shares] in zip(
        javascript("js/maths/numerics.js", "ranking", cases), cases, strict=True
    ):
        assert found == tensor(shares).argsort(descending=True, stable=True).tolist()


def test_unsureness_is_the_exponential_of_the_mean_entropy(
    javascript: Javascript, random: np.random.Generator
):
    cases = [
        [random.dirichlet(np.full(7, 0.5), size=random.integers(1, 6)).tolist()]
        for _ in range(DRAWS)
    ]
    cases += [[[[0, 0.25, 0.25, 0.25, 0.25, 0]]], [[[1.0, 0.0]]]]
    found = javascript("js/maths/hidden_letters.js", "unsureness", cases)
    expected = [torch.special.entr(tensor(p)).sum(-1).mean().exp() for [p] in cases]
    assert_close(found, expected)
    assert found[-2:] == pytest.approx([4, 1])


def test_ordinals_are_those_of_english(javascript: Javascript):
    said = "1st 2nd 3rd 4th 9th 10th 11th 12th 13th 14th 20th 21st 22nd 23rd 24th 101st 111th"
    numbers = [int(word[:-2]) for word in said.split()]
    found = javascript("js/letter_hider/words.js", "ordinal", [[n] for n in numbers])
    assert found == said.split()


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("ab", ""),
        ("abab", ""),
        ("", "Type at least one letter."),
        ("aXbX", "never seen X. It knows a b ␣ <."),
        ("a\N{SLIGHTLY SMILING FACE}", "never seen \N{SLIGHTLY SMILING FACE}."),
        ("a·", "· stands for a hidden letter"),
        ("ababa", "That is 5 letters; the model has room for 4."),
    ],
)
def test_a_word_that_the_model_cannot_read_is_told_why(
    javascript: Javascript, word: str, said: str
):
    [found] = javascript("js/letter_hider/words.js", "proofread", [[word, "·ab <", 0, 4]])
    assert said in found
    assert bool(found) == bool(said)
