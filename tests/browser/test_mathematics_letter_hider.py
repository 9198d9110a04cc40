"""The mathematics of LetterHider's JavaScript, run in Chromium, against PyTorch and course_lib."""

import numpy as np
import pytest
import torch
from in_the_page import DRAWS, Javascript, assert_close, tensor
from seeded import perturbed

from course_lib.masked_language_model import MaskedLanguageModel
from course_lib.widgets import LetterHider
from course_lib.widgets.letter_hider import expected_letters

pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "abc·defgh"
MASK = 3
LETTERS = "js/maths/hidden_letters.js"


def random_word(random: np.random.Generator, most: int = 10) -> tuple[list[int], list[int]]:
    """The ids of a word without the mask, and some of its places."""
    size = int(random.integers(1, most + 1))
    ids = random.choice([0, 1, 2, 4, 5, 6, 7, 8], size=size).tolist()
    return ids, np.flatnonzero(random.uniform(size=size) < random.uniform()).tolist()


@pytest.mark.parametrize(("position", "norm"), [("sinusoidal", "pre"), ("rotary", "post")])
def test_what_is_expected_of_each_letter_is_what_the_model_that_travelled_expects(
    javascript: Javascript, random: np.random.Generator, position: str, norm: str
):
    torch.manual_seed(0)
    model = MaskedLanguageModel(len(ALPHABET), 12, 3, 2, tokens=10, position=position, norm=norm)
    widget = LetterHider(perturbed(model, 0.5), ALPHABET, mask="·", word="bad")
    state, words = widget.page_state(), [random_word(random) for _ in range(8)]
    given = state["facts"], state["weights"]
    found = javascript(LETTERS, "expectLetters", [[*given, *word, MASK] for word in words])
    double = widget.model.double()
    for letters, (ids, hidden) in zip(found, words, strict=True):
        word = torch.tensor(ids)
        expected = expected_letters(double, word, hidden=hidden, mask=MASK)
        assert_close([letter["probability"] for letter in letters], expected)
        for t, letter in enumerate(letters):
            seen = word.clone()
            seen[[*hidden, t]] = MASK
            with torch.no_grad():
                attended = double.attention_weights(seen)[:, :, t]
            assert_close(letter["attention"], attended)


def test_letters_are_ranked_by_probability_and_equal_ones_by_the_alphabet(
    javascript: Javascript, random: np.random.Generator
):
    # Of so few different numbers, many are equal.
    cases = [[random.integers(4, size=9).tolist()] for _ in range(DRAWS)]
    expected = [tensor(x).argsort(descending=True, stable=True).tolist() for [x] in cases]
    assert javascript("js/maths/numerics.js", "ranking", cases) == expected


def test_unsureness_is_the_exponential_of_the_mean_entropy(
    javascript: Javascript, random: np.random.Generator
):
    cases = [
        [random.dirichlet(np.full(7, 0.5), size=random.integers(1, 6)).tolist()] for _ in range(50)
    ]
    cases += [[[[0, 0.25, 0.25, 0.25, 0.25, 0]]], [[[1.0, 0.0]]]]
    expected = [torch.special.entr(tensor(p)).sum(-1).mean().exp() for [p] in cases]
    assert_close(javascript(LETTERS, "unsureness", cases), expected)


def test_ordinals_are_those_of_english_and_what_cannot_be_read_is_told_why(javascript: Javascript):
    said = ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "20th", "21st", "22nd", "111th"]
    assert javascript("js/letter_hider/words.js", "ordinal", [[int(n[:-2])] for n in said]) == said
    reasons = {
        "abab": "",
        "": "at least one letter",
        "aXbX": "never seen X. It knows a b ␣ <.",
        "a\N{SLIGHTLY SMILING FACE}": "never seen \N{SLIGHTLY SMILING FACE}.",
        "a·": "· stands for a hidden letter",
        "ababa": "5 letters; the model has room for 4",
    }
    cases = [[word, "·ab <", 0, 4] for word in reasons]
    found = javascript("js/letter_hider/words.js", "proofread", cases)
    for words, reason in zip(found, reasons.values(), strict=True):
        assert reason in words
        assert bool(words) == bool(reason)
