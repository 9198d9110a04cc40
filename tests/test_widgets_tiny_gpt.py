from functools import partial

import pytest
import torch
from small_widgets import decoder, make
from torch.nn import functional as F

from course_lib.generation import next_token_probabilities

pytestmark = pytest.mark.usefixtures("plain_calls")

ALPHABET = "·abcde"
LATIN = "·abcdefghijklmnopqrstuvwxyz"


widget = partial(make, "TinyGPT")


def test_what_rounding_costs_is_the_difference_of_two_losses_and_little():
    model = decoder(27, 48, heads=4, layers=3, tokens=64, d_hidden=228)
    shown = widget(model=model, alphabet=LATIN)
    ids, targets = torch.randint(27, (2, 8, 64))
    targets[:, 9:] = -100
    before, after = shown.losses(ids, targets)
    for loss, decoded in ((before, model), (after, shown.model)):
        with torch.no_grad():
            logits = decoded.double()(ids)
        assert loss == pytest.approx(F.cross_entropy(logits.mT, targets).item(), abs=1e-9)
    assert 0 < abs(before - after) < 5e-3 * before


def test_the_description_says_what_course_lib_expects_next_if_anything_may_come():
    for start, ids in (("·", [0, 2, 1, 4, 5]), (None, [2, 1, 4, 5])):
        shown = widget(start=start, temperature=0.7, top_k=4, top_p=0.8, written="e")
        text = shown.describe()
        assert "“bade”" in text
        with torch.no_grad():
            logits = shown.model.double()(torch.tensor(ids))[-1]
        probability = next_token_probabilities(logits, temperature=0.7, top_k=4, top_p=0.8)
        best = probability.argsort(descending=True, stable=True)[0]
        assert f"first: {ALPHABET[best]} {probability[best]:.3f}" in text
    assert widget(written="·").describe().endswith("It is finished.")
    assert widget(prompt="abcdeab", written="c").describe().endswith("It is finished.")
    assert "may come next" in widget(prompt="abcdeab").describe()


def test_a_longer_prompt_takes_the_room_of_what_was_written():
    shown = widget(prompt="ab", written="cde")
    assert (shown.top_k, shown.top_p) == (6, 1.0)  # every letter is kept
    shown.prompt = "aba"
    assert shown.written == "cde"
    shown.prompt = "ababab"
    assert shown.written == ""
