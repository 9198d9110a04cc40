from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_widgets import encoder, make
from torch.nn import functional as F

from course_lib.training import parameter_count
from course_lib.widgets.letter_hider import expected_letters

pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "ab·cde"
LATIN = "·abcdefghijklmnopqrstuvwxyz"
MASK = 2


widget = partial(make, "LetterHider")


@pytest.fixture(scope="module")
def model():
    return encoder().double()


@settings(max_examples=15)
@given(size=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_a_letter_is_expected_from_those_that_are_not_hidden(model, size, seed):
    random = np.random.default_rng(seed)
    letters = [0, 1, 3, 4, 5]
    ids, other = (torch.from_numpy(random.choice(letters, size=size)) for _ in range(2))
    hidden = np.flatnonzero(random.uniform(size=size) < 0.5).tolist()
    found = expected_letters(model, ids, hidden=hidden, mask=MASK)
    for t in range(size):
        seen = [MASK if i in hidden or i == t else int(ids[i]) for i in range(size)]
        with torch.no_grad():
            logits = model(torch.tensor(seen))[t]
        assert torch.allclose(found[t, letters], F.softmax(logits[letters], dim=0))
        assert found[t, MASK] == 0
    # What a hidden letter is changes nothing.
    other = ids.index_copy(0, torch.tensor(hidden, dtype=torch.long), other[hidden])
    assert torch.equal(expected_letters(model, other, hidden=hidden, mask=MASK), found)


def test_what_rounding_costs_is_the_difference_of_two_losses_and_little():
    model = encoder(27, 32, heads=4, layers=2, tokens=16, d_hidden=128)
    shown = widget(model=model, alphabet=LATIN)
    ids = torch.randint(1, 27, (20, 16))
    real = torch.arange(16) < torch.randint(3, 17, (20, 1))
    hidden = (torch.rand(20, 16) < 0.4) & real
    before, after = shown.losses(ids, hidden, real=real)
    for loss, decoded in ((before, model), (after, shown.model)):
        with torch.no_grad():
            logits = decoded.double()(ids.masked_fill(hidden, 0), real=real)
        assert loss == pytest.approx(F.cross_entropy(logits[hidden], ids[hidden]).item(), abs=1e-9)
    assert 0 < abs(before - after) < 0.01 * before


def test_the_description_says_what_is_seen_and_what_is_guessed():
    shown = widget(hidden=[3, 1])
    text = shown.describe()
    assert "Of “bead” it sees “b?a?”." in text
    ids = torch.tensor([ALPHABET.index(letter) for letter in "bead"])
    expected = expected_letters(shown.model.double(), ids, hidden=[1, 3], mask=MASK)
    assert torch.equal(shown.expected(), expected)
    for t in (1, 3):
        best = ALPHABET[expected[t].argmax()]
        said = f"{best} {expected[t].max():.3f} for letter {t + 1}, {'bead'[t]}"
        assert said in text
    assert f"{parameter_count(encoder()):,} parameters" in text
    assert widget(hidden=[]).describe().endswith("it sees “bead”. No letter is hidden.")


def test_hidden_places_are_put_in_order_and_said_once_and_leave_with_their_letters():
    shown = widget(hidden=(place for place in (3, 0, 3)))
    assert shown.hidden == [0, 3]
    shown.place = 3
    shown.word = "be"
    assert (shown.hidden, shown.place) == ([0], -1)
