import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from seeded import perturbed
from small_widgets import payload, payload_text
from torch.nn import functional as F

from course_lib.masked_language_model import MaskedLanguageModel
from course_lib.training import parameter_count
from course_lib.transformer_parts import POSITIONS
from course_lib.widgets import LetterHider
from course_lib.widgets.letter_hider import expected_letters, masked_model_of

# The widget checks what it is given itself, and its messages are what is tested here.
pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "ab·cde"
LATIN = "·abcdefghijklmnopqrstuvwxyz"
MASK = 2
MOST_BYTES = 60_000  # of which the model takes 33,200
LARGEST = {"d_model": 32, "heads": 4, "layers": 2, "tokens": 16, "d_hidden": 128}


def encoder(vocabulary=6, d_model=8, heads=2, layers=2, *, tokens=8, seed=0, **options):
    torch.manual_seed(seed)
    model = MaskedLanguageModel(vocabulary, d_model, heads, layers, tokens=tokens, **options)
    return perturbed(model, 0.3)


def widget(model=None, alphabet=ALPHABET, **options):
    return LetterHider(
        encoder() if model is None else model,
        alphabet,
        **{"mask": "·", "word": "bead", "hidden": [1]} | options,
    )


# What is expected --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model():
    return encoder().double()


@given(size=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_a_letter_is_expected_from_those_that_are_not_hidden(model, size, seed):
    random = np.random.default_rng(seed)
    ids = torch.from_numpy(random.choice([0, 1, 3, 4, 5], size=size))
    hidden = np.flatnonzero(random.uniform(size=size) < 0.5).tolist()
    found = expected_letters(model, ids, hidden=hidden, mask=MASK)
    assert found.shape == (size, 6)
    for t in range(size):
        seen = [MASK if i in hidden or i == t else int(ids[i]) for i in range(size)]
        with torch.no_grad():
            logits = model(torch.tensor(seen))[t]
        letters = [0, 1, 3, 4, 5]
        assert torch.allclose(found[t, letters], F.softmax(logits[letters], dim=0))
        assert found[t, MASK] == 0


@given(seed=st.integers(0, 2**32 - 1))
def test_what_a_hidden_letter_is_changes_nothing(model, seed):
    random = np.random.default_rng(seed)
    ids = torch.from_numpy(random.choice([0, 1, 3, 4, 5], size=6))
    other = ids.clone()
    other[[1, 4]] = torch.from_numpy(random.choice([0, 1, 3, 4, 5], size=2))
    found, again = (expected_letters(model, x, hidden=[1, 4], mask=MASK) for x in (ids, other))
    assert torch.equal(found, again)


def test_expecting_letters_changes_neither_the_word_nor_the_model(model):
    ids = torch.tensor([0, 1, 3])
    before = {name: value.clone() for name, value in model.state_dict().items()}
    expected_letters(model, ids, hidden=[0], mask=MASK)
    assert ids.tolist() == [0, 1, 3]
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_the_widget_expects_what_its_model_expects():
    shown = widget(hidden=[0, 2])
    ids = torch.tensor([ALPHABET.index(letter) for letter in "bead"])
    expected = expected_letters(shown.model.double(), ids, hidden=[0, 2], mask=MASK)
    assert torch.equal(shown.expected(), expected)


# The journey of the weights ----------------------------------------------------------------------


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("position", POSITIONS)
def test_every_kind_of_model_arrives_as_it_left_but_for_the_rounding(position, norm):
    model = encoder(position=position, norm=norm)
    state = payload(widget(model))["state"]
    there = masked_model_of(state["facts"], state["weights"])
    ids = torch.randint(6, (5, 8))
    with torch.no_grad():
        assert torch.allclose(there(ids), model(ids), rtol=0, atol=0.01)
    assert not there.training
    assert {name: value.shape for name, value in there.state_dict().items()} == {
        name: value.shape for name, value in model.state_dict().items()
    }


def test_what_rounding_costs_is_the_difference_of_two_losses():
    model = encoder(27, **LARGEST)
    shown = widget(model, LATIN)
    ids = torch.randint(1, 27, (20, 16))
    real = torch.arange(16) < torch.randint(3, 17, (20, 1))
    hidden = (torch.rand(20, 16) < 0.4) & real
    found = shown.losses(ids, hidden, real=real)
    for loss, decoded in zip(found, (model, shown.model), strict=True):
        with torch.no_grad():
            logits = decoded.double()(ids.masked_fill(hidden, 0), real=real)
        assert loss == pytest.approx(F.cross_entropy(logits[hidden], ids[hidden]).item(), abs=1e-9)
    assert found[0] != found[1]


def test_the_largest_model_loses_little():
    shown = widget(encoder(27, **LARGEST), LATIN)
    before, after = shown.losses(torch.randint(1, 27, (50, 16)), torch.rand(50, 16) < 0.4)
    assert abs(before - after) < 0.01 * before


@pytest.mark.parametrize(
    ("shape", "bits"),
    [
        ({"d_model": 24, "heads": 4, "layers": 2, "tokens": 16}, 12),
        ({"d_model": 32, "heads": 4, "layers": 2, "tokens": 16, "d_hidden": 72}, 9),
        (LARGEST, 7),
    ],
    ids=str,
)
def test_a_page_carries_as_many_bits_as_fit_into_its_budget(shape, bits):
    model = encoder(27, **shape)
    assert parameter_count(model) <= 27_000
    words = ["strengthsstrengt"] * 8
    shown = widget(model, LATIN, word="strengthsstrengt", hidden=range(16), words=words)
    assert shown.bits == bits
    assert len(payload_text(shown).encode()) < MOST_BYTES


# Words -------------------------------------------------------------------------------------------


def test_the_description_says_what_is_seen_and_what_is_guessed():
    shown = widget(hidden=[3, 1])
    text = shown.describe()
    assert "Of “bead” it sees “b?a?”." in text
    expected = shown.expected()
    for t in (1, 3):
        best = ALPHABET[expected[t].argmax()]
        said = f"{best} {expected[t].max():.3f} for letter {t + 1}, {'bead'[t]}"
        assert said in text
    assert f"{parameter_count(encoder()):,} parameters" in text


def test_the_description_of_a_word_of_which_all_is_seen_guesses_nothing():
    assert widget(hidden=[]).describe().endswith("it sees “bead”. No letter is hidden.")


# Traits ------------------------------------------------------------------------------------------


def test_at_first_nothing_is_hidden_and_no_place_is_chosen():
    shown = LetterHider(encoder(), ALPHABET, mask="·", word="bead")
    assert (shown.hidden, shown.place, shown.option, shown.words) == ([], -1, -1, [])
    assert shown.mask == MASK


def test_hidden_places_are_put_in_order_and_said_once():
    shown = widget(hidden=(place for place in (3, 0, 3)))
    assert shown.hidden == [0, 3]
    shown.hidden = [2, 1, 2]
    assert shown.hidden == [1, 2]


def test_a_shorter_word_has_fewer_places():
    shown = widget(hidden=[0, 3], place=3)
    shown.word = "be"
    assert (shown.hidden, shown.place) == ([0], -1)
    shown.word = "beaded"
    assert (shown.hidden, shown.place) == ([0], -1)
