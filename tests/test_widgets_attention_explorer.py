import json
import re
from string import ascii_lowercase

import numpy as np
import pytest
import torch
from filmed import expected_next, weights_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from small_widgets import payload

from course_lib.attention import attention_weights, causal_mask
from course_lib.widgets import AttentionExplorer
from course_lib.widgets.traits import Array

TOKENS = ["the", "cat", "sat"]


def weights(*leading, tokens=3, seed=0):
    """Rows of softmax weights (*leading, tokens, tokens)."""
    score = np.random.default_rng(seed).normal(size=(*leading, tokens, tokens))
    return np.exp(score) / np.exp(score).sum(-1, keepdims=True)


def causal_rows(*leading, tokens):
    rows = np.tril(weights(*leading, tokens=tokens))
    return rows / rows.sum(-1, keepdims=True)


def explorer(tokens=TOKENS, given_=None, **options):
    return AttentionExplorer(tokens, weights(2, 3) if given_ is None else given_, **options)


# What is drawn -----------------------------------------------------------------------------------


def test_tokens_and_weights_arrive_as_they_were_given():
    widget = explorer()
    assert widget.tokens == TOKENS
    assert widget.weights.shape == (2, 3, 3, 3)
    np.testing.assert_allclose(widget.weights, weights(2, 3), rtol=1e-6)
    assert widget.steps == []
    assert not widget.plugged


def test_weights_from_the_library_are_drawable_with_and_without_a_mask():
    x = torch.randn(1, 2, 3, 4)
    for mask in (None, causal_mask(3)):
        explorer(given_=attention_weights(x, x, mask=mask))


@given(
    hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=4, max_dims=4, max_side=4).map(lambda s: (*s[:3], s[2])),
        elements=st.floats(-30, 30),
    )
)
def test_every_softmax_can_be_drawn_and_described(score):
    given_ = torch.from_numpy(score).softmax(-1)
    tokens = [f"token {i}" for i in range(score.shape[-1])]
    widget = AttentionExplorer(tokens, given_)
    assert tokens[int(given_[0, 0, 0].float().argmax())] in widget.describe()
    json.dumps(widget.page_state(), allow_nan=False)


def test_snapshots_carry_their_names_in_a_fifth_axis():
    widget = explorer(given_=weights(4, 2, 3), steps=[0, 50, 100, "end"], step=3)
    assert widget.weights.shape == (4, 2, 3, 3, 3)
    assert widget.steps == ["0", "50", "100", "end"]


def test_the_description_names_the_chosen_head_the_query_and_where_it_looks():
    given_ = np.zeros((2, 3, 3, 3))
    given_[..., 0] = 1
    given_[1, 2, 1] = [0.25, 0.0, 0.75]
    text = explorer(given_=given_, layer=1, head=2, query=1).describe()
    assert "layer 2, head 3" in text
    assert "cat (place 2) looks most at sat (place 3), with weight 0.750" in text


def test_the_description_reads_the_chosen_snapshot():
    given_ = np.zeros((2, 1, 1, 3, 3))
    given_[0, ..., 0], given_[1, ..., 2] = 1, 1
    widget = explorer(given_=given_, steps=[0, 9])
    assert "most at the (place 1)" in widget.describe()
    widget.step = 1
    assert "most at sat (place 3)" in widget.describe()


# The page ----------------------------------------------------------------------------------------


def test_a_page_carries_the_weights_and_no_field_to_type_in():
    widget = explorer(attention=lambda tokens: weights(2, 3, tokens=len(tokens)))
    widget.typed = "one two"
    assert widget.plugged
    state = payload(widget)["state"]
    assert state["plugged"] is False
    assert state["typed"] == state["error"] == ""
    assert state["tokens"] == ["one", "two"]
    assert np.array_equal(Array._decode(state["weights"], None), widget.weights)


def test_thirteen_tokens_two_by_two_heads_and_five_snapshots_weigh_less_than_sixty_kilobytes():
    widget = explorer(list("odiracmydirac"), weights(5, 2, 2, tokens=13), steps=range(5))
    assert len(widget.static_html().encode()) < 60_000


def test_a_page_has_the_last_snapshot_exactly_and_the_others_to_a_level():
    for given_ in (weights(6, 2, 2, tokens=7), causal_rows(6, 2, 2, tokens=7)):
        state = explorer(list("abcdefg"), given_, steps=range(6)).page_state()
        found = weights_of(json.loads(json.dumps(state["weights"]))).numpy()
        np.testing.assert_allclose(found[-1], given_[-1], rtol=1e-6)
        assert np.abs(found - given_).max() < 1 / 255
        assert found.min() >= 0
        np.testing.assert_allclose(found.sum(-1), 1, rtol=1e-6)


def test_fifty_one_snapshots_with_guesses_and_losses_weigh_less_than_sixty_kilobytes():
    widget = explorer(
        list("odiracmydirac"),
        causal_rows(51, 2, 2, tokens=13),
        steps=range(51),
        losses=range(51),
        vocabulary=list(ascii_lowercase),
        guesses=np.full((51, 13, 26), 1 / 26),
    )
    assert len(widget.static_html().encode()) < 60_000


def test_the_guesses_of_a_page_are_the_most_probable_and_of_equals_the_earlier():
    guesses = np.array([[0.1, 0.2, 0.5, 0.2], [0.25] * 4, [0.0, 0.0, 0.0, 1.0]])
    widget = explorer(vocabulary=list("wxyz"), guesses=guesses, query=2)
    ids, probabilities = expected_next(widget.page_state()["guesses"])
    assert ids.tolist() == [[2, 1, 3], [0, 1, 2], [3, 0, 1]]
    rows = np.take_along_axis(guesses, ids.astype(int), axis=-1)
    assert np.abs(probabilities - rows).max() <= 0.5 / 255
    assert "expects z to come next, with probability 1.00" in widget.describe()


def test_other_tokens_come_without_the_guesses_and_losses_of_the_first_until_reset():
    widget = explorer(
        steps=["start", "end"],
        given_=weights(2, 2, 3),
        losses=[2.0, 1.0],
        vocabulary=["a", "b"],
        guesses=np.full((2, 3, 2), 0.5),
        attention=lambda tokens: weights(1, 1, tokens=len(tokens)),
    )
    widget.set_state({"typed": "a b"})
    assert widget.guesses.size == widget.losses.size == 0
    widget.set_state(RESET)
    assert (widget.losses.tolist(), widget.guesses.shape) == ([2.0, 1.0], (2, 3, 2))


# Traits ------------------------------------------------------------------------------------------


def test_replace_draws_something_else_and_keeps_the_choices_that_still_exist():
    widget = explorer(layer=1, head=2, query=2)
    widget.replace(["a", "b"], weights(1, 3, tokens=2))
    assert (widget.layer, widget.head, widget.query) == (0, 2, 1)
    assert widget.tokens == ["a", "b"]


def test_replace_with_bad_weights_leaves_the_picture_as_it_was():
    widget = explorer(layer=1)
    before = widget.weights
    with pytest.raises(ValueError, match="size 3 along query; expected 2"):
        widget.replace(["a", "b"], weights(1, 1))
    assert widget.tokens == TOKENS
    assert widget.weights is before
    assert widget.layer == 1


# A function plugged in ---------------------------------------------------------------------------


def test_typed_tokens_go_to_the_function_and_its_weights_are_drawn():
    asked = []

    def my_attention(tokens):
        asked.append(tokens)
        return weights(1, 1, tokens=len(tokens), seed=5)

    widget = explorer(attention=my_attention, layer=1, head=2)
    widget.typed = "  on the   mat "
    assert asked == [["on", "the", "mat"]]
    assert widget.tokens == ["on", "the", "mat"]
    np.testing.assert_allclose(widget.weights, weights(1, 1, seed=5), rtol=1e-6)
    assert (widget.layer, widget.head) == (0, 0)
    assert widget.error == ""
    assert widget.answers == 1


def test_the_page_hears_whose_weights_are_drawn_and_what_they_were_at_first():
    def my_attention(tokens):
        return weights(1, 2, tokens=len(tokens), seed=5)

    first = weights(1, 2)
    widget = explorer(given_=first, attention=my_attention)
    assert (widget.source, widget.given) == ("", None)
    widget.typed = "a b"
    assert (widget.source, widget.given) == ("my_attention", None)
    widget.typed = " ".join(TOKENS)
    assert widget.source == "my_attention"
    np.testing.assert_allclose(Array._decode(widget.given, widget), first, rtol=1e-6)
    widget.set_state(RESET)
    assert (widget.source, widget.given) == ("", None)


def test_the_function_may_change_its_list_without_harm():
    def greedy(tokens):
        count = len(tokens)
        tokens.clear()
        return weights(1, 1, tokens=count)

    widget = explorer(attention=greedy)
    widget.typed = "a b"
    assert widget.tokens == ["a", "b"]


def test_an_exception_of_the_function_is_shown_with_its_kind_and_place():
    def my_attention(tokens):
        raise KeyError(tokens[0])

    widget = explorer(attention=my_attention)
    before = widget.weights
    widget.typed = "dog"
    assert re.fullmatch(r"KeyError in my_attention, line \d+: 'dog'", widget.error)
    assert widget.answers == 1
    assert widget.tokens == TOKENS
    assert widget.weights is before


@pytest.mark.usefixtures("plain_calls")
@pytest.mark.parametrize(
    ("output", "words"),
    [
        (None, "real numbers"),
        ("weights", "real numbers"),
        (np.ones((1, 1, 2, 2)), "sums to 2"),
        (weights(1, 1), "size 3 along query; expected 2"),
        (weights(tokens=2), "layers, heads, query, key"),
        (np.full((1, 1, 2, 2), np.nan), "NaN"),
        ([[[[1.0], [0.5, 0.5]]]], "differ in length"),
        (weights(4, 1, 1, tokens=2), "layers, heads, query, key"),
    ],
)
def test_an_output_that_cannot_be_drawn_is_explained(output, words):
    widget = explorer(attention=lambda _: output)
    widget.typed = "a b"
    assert widget.error.startswith("The function returned something that cannot be drawn: ")
    assert words in widget.error
    assert widget.tokens == TOKENS


def test_the_next_good_answer_clears_the_error():
    def fussy(tokens):
        if len(tokens) < 2:
            raise ValueError("I need two")
        return weights(1, 1, tokens=len(tokens))

    widget = explorer(attention=fussy)
    widget.typed = "a"
    assert widget.error.endswith(": I need two")
    widget.typed = "a b"
    assert widget.error == ""
    assert widget.answers == 2


def test_blanks_alone_are_answered_with_advice_and_not_with_a_call():
    def never(tokens):
        raise AssertionError(tokens)

    widget = explorer(attention=never)
    widget.typed = "   "
    assert widget.error == "Type at least one token; spaces separate tokens."


def test_without_a_function_typing_changes_nothing():
    widget = explorer()
    widget.typed = "a b"
    assert widget.tokens == TOKENS
    assert widget.answers == 0


def test_a_function_that_returns_snapshots_keeps_their_names():
    widget = explorer(
        given_=weights(2, 1, 1),
        steps=["start", "end"],
        attention=lambda tokens: weights(2, 1, 1, tokens=len(tokens)),
    )
    widget.typed = "a b"
    assert widget.error == ""
    assert widget.steps == ["start", "end"]
    assert widget.weights.shape == (2, 1, 1, 2, 2)


def test_a_function_without_snapshots_takes_the_place_of_the_snapshots():
    widget = explorer(
        given_=weights(2, 1, 1),
        steps=["start", "end"],
        step=1,
        attention=lambda tokens: weights(1, 1, tokens=len(tokens)),
    )
    widget.typed = "a b"
    assert widget.error == ""
    assert (widget.steps, widget.step) == ([], 0)


RESET = {"typed": "", "query": 2, "layer": 0, "head": 0, "step": 0}


def test_reset_brings_the_first_tokens_back_before_what_was_chosen_among_them():
    widget = explorer(
        steps=["start", "end"],
        given_=weights(2, 2, 3),
        attention=lambda tokens: weights(1, 1, tokens=len(tokens)),
    )
    before = widget.weights
    for words in ("a b", "a", "   "):
        widget.set_state({"typed": words})
    assert widget.tokens == ["a"]
    assert widget.error != ""
    widget.set_state(RESET)
    assert (widget.tokens, widget.steps, widget.query) == (TOKENS, ["start", "end"], 2)
    np.testing.assert_array_equal(widget.weights, before)
    assert widget.error == ""


def test_reset_keeps_what_python_has_drawn_since_the_last_question():
    widget = explorer(attention=lambda tokens: weights(1, 1, tokens=len(tokens)))
    widget.set_state({"typed": "a b"})
    widget.replace(["x", "y", "z"], weights(1, 1))
    widget.set_state(RESET)
    assert widget.tokens == ["x", "y", "z"]


def test_a_row_may_miss_one_by_a_thousandth():
    for amount in (9e-4, -9e-4):
        given_ = weights(2, 3)
        given_[1, 0, 2, 0] += amount
        explorer(given_=given_)


def test_words_that_cannot_be_drawn_are_refused_before_the_function_is_asked():
    def never(tokens):
        raise AssertionError(tokens)

    widget = explorer(attention=never)
    widget.typed = " ".join("x" * 65)
    assert widget.error.startswith("tokens has 65 entries; expected 1 to 64")
    widget.typed = "x" * 10_000
    assert widget.error.startswith("tokens 'x")
    assert widget.error.endswith(
        "has 10000 letters; expected 80 at most, for which there is room; shorten it"
    )
    assert widget.tokens == TOKENS
