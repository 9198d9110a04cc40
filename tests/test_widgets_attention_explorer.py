import json
import re

import numpy as np
import pytest
import torch
from filmed import expected_next, weights_of
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from small_widgets import payload

from course_lib.widgets import AttentionExplorer
from course_lib.widgets.traits import Array

TOKENS = ["the", "cat", "sat"]
RESET = {"typed": "", "query": 2, "layer": 0, "head": 0, "step": 0}


def weights(*leading, tokens=3, seed=0):
    """Rows of softmax weights (*leading, tokens, tokens)."""
    score = np.random.default_rng(seed).normal(size=(*leading, tokens, tokens))
    return np.exp(score) / np.exp(score).sum(-1, keepdims=True)


def causal_rows(*leading, tokens):
    rows = np.tril(weights(*leading, tokens=tokens))
    return rows / rows.sum(-1, keepdims=True)


def explorer(tokens=TOKENS, given_=None, **options):
    return AttentionExplorer(tokens, weights(2, 3) if given_ is None else given_, **options)


def one_head(tokens):
    return weights(1, 1, tokens=len(tokens), seed=5)


@settings(max_examples=15)
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
    np.testing.assert_allclose(widget.weights, given_, rtol=1e-6, atol=1e-30)
    assert tokens[int(given_[0, 0, 0].float().argmax())] in widget.describe()
    json.dumps(widget.page_state(), allow_nan=False)


def test_the_description_names_the_chosen_head_the_query_and_where_it_looks_at_a_step():
    given_ = np.zeros((2, 2, 3, 3, 3))  # rows may miss one by a thousandth
    given_[..., 0] = 0.9991
    given_[1, 1, 2, 1] = [0.25, 0.0, 0.7505]
    widget = explorer(given_=given_, steps=[0, "end"], layer=1, head=2, query=1)
    assert widget.steps == ["0", "end"]
    assert "most at the (place 1)" in widget.describe()
    widget.step = 1
    assert "layer 2, head 3" in widget.describe()
    assert "cat (place 2) looks most at sat (place 3), with weight 0.75" in widget.describe()


def test_a_page_carries_the_weights_and_no_field_to_type_in():
    widget = explorer(attention=one_head)
    widget.typed = "one two"
    assert widget.plugged
    state = payload(widget)["state"]
    assert state["plugged"] is False
    assert state["typed"] == state["error"] == ""
    assert state["tokens"] == ["one", "two"]
    assert np.array_equal(Array._decode(state["weights"], None), widget.weights)


def test_a_page_has_the_last_snapshot_exactly_and_the_others_to_a_level():
    for given_ in (weights(6, 2, 2, tokens=7), causal_rows(6, 2, 2, tokens=7)):
        state = explorer(list("abcdefg"), given_, steps=range(6)).page_state()
        found = weights_of(json.loads(json.dumps(state["weights"]))).numpy()
        np.testing.assert_allclose(found[-1], given_[-1], rtol=1e-6)
        assert np.abs(found - given_).max() < 1 / 255
        assert found.min() >= 0
        np.testing.assert_allclose(found.sum(-1), 1, rtol=1e-6)


def test_the_guesses_of_a_page_are_the_most_probable_and_of_equals_the_earlier():
    guesses = np.array([[0.1, 0.2, 0.5, 0.2], [0.25] * 4, [0.0, 0.0, 0.0, 1.0]])
    widget = explorer(vocabulary=list("wxyz"), guesses=guesses, query=2)
    ids, probabilities = expected_next(widget.page_state()["guesses"])
    assert ids.tolist() == [[2, 1, 3], [0, 1, 2], [3, 0, 1]]
    rows = np.take_along_axis(guesses, ids.astype(int), axis=-1)
    assert np.abs(probabilities - rows).max() <= 0.5 / 255
    assert "expects z to come next, with probability 1.00" in widget.describe()


def test_replace_draws_something_else_and_keeps_the_choices_that_still_exist():
    widget = explorer(layer=1, head=2, query=2)
    before = widget.weights
    with pytest.raises(ValueError, match="size 3 along query; expected 2"):
        widget.replace(["a", "b"], weights(1, 1))
    assert (widget.tokens, widget.layer) == (TOKENS, 1)
    assert widget.weights is before
    widget.replace(["a", "b"], weights(1, 3, tokens=2))
    assert (widget.layer, widget.head, widget.query) == (0, 2, 1)
    assert widget.tokens == ["a", "b"]


def test_typed_tokens_go_to_the_function_and_its_weights_are_drawn_under_its_name():
    asked = []

    def my_attention(tokens):
        asked.append(list(tokens))
        count = len(tokens)
        tokens.clear()  # a list of its own
        return weights(2, 3, tokens=count, seed=5)

    widget = explorer(attention=my_attention, layer=1, head=2)
    assert (widget.source, widget.given) == ("", None)
    widget.typed = "  on the   mat "
    assert asked == [["on", "the", "mat"]]
    assert widget.tokens == ["on", "the", "mat"]
    np.testing.assert_allclose(widget.weights, weights(2, 3, seed=5), rtol=1e-6)
    assert (widget.layer, widget.head, widget.error, widget.answers) == (1, 2, "", 1)
    assert (widget.source, widget.given) == ("my_attention", None)
    widget.typed = " ".join(TOKENS)
    np.testing.assert_allclose(Array._decode(widget.given, widget), weights(2, 3), rtol=1e-6)
    widget.set_state(RESET)
    assert (widget.source, widget.given) == ("", None)


@pytest.mark.usefixtures("plain_calls")
def test_what_a_function_or_a_reader_does_wrong_is_explained_until_the_next_answer():
    wrong = {
        "dog": (KeyError("dog"), r"KeyError in answer, line \d+: 'dog'"),
        "a b": (None, "cannot be drawn: .*real numbers"),
        "a c": (np.ones((1, 1, 2, 2)), "sums to 2"),
        "a d": (weights(1, 1), "size 3 along query; expected 2"),
        "a e": (weights(4, 1, 1, tokens=2), "layers, heads, query, key"),
    }

    def answer(tokens):
        output, _ = wrong.get(" ".join(tokens), (weights(1, 1, tokens=1), ""))
        if isinstance(output, Exception):
            raise output
        return output

    widget = explorer(attention=answer)
    before = widget.weights
    for answers, (typed, (_, words)) in enumerate(wrong.items(), start=1):
        widget.typed = typed
        assert re.search(words, widget.error)
        assert (widget.tokens, widget.answers) == (TOKENS, answers)
        assert widget.weights is before
    # These are refused before the function is asked.
    for typed, words in (
        ("   ", "at least one token"),
        (" ".join("x" * 65), "tokens has 65 entries"),
        ("x" * 10_000, "has 10000 letters"),
    ):
        widget.typed = typed
        assert words in widget.error
        assert len(widget.error) < 300
    widget.typed = "a"
    assert (widget.error, widget.tokens) == ("", ["a"])
    silent = explorer()
    silent.typed = "a b"
    assert (silent.tokens, silent.answers) == (TOKENS, 0)


def test_a_function_keeps_the_names_of_snapshots_if_it_returns_as_many():
    for leading, steps in (((2, 1, 1), ["start", "end"]), ((1, 1), [])):
        widget = explorer(
            given_=weights(2, 1, 1),
            steps=["start", "end"],
            step=1,
            attention=lambda tokens, leading=leading: weights(*leading, tokens=len(tokens)),
        )
        widget.typed = "a b"
        assert (widget.error, widget.steps) == ("", steps)
        assert widget.step == (1 if steps else 0)
        assert widget.weights.shape == (*leading, 2, 2)


def test_reset_brings_the_first_picture_back_with_its_guesses_and_losses():
    widget = explorer(
        steps=["start", "end"],
        given_=weights(2, 2, 3),
        losses=[2.0, 1.0],
        vocabulary=["a", "b"],
        guesses=np.full((2, 3, 2), 0.5),
        attention=one_head,
    )
    before = widget.weights
    for words in ("a b", "a", "   "):
        widget.set_state({"typed": words})
        assert widget.guesses.size == widget.losses.size == 0
    assert widget.tokens == ["a"]
    assert widget.error != ""
    widget.set_state(RESET)
    assert (widget.tokens, widget.steps, widget.query) == (TOKENS, ["start", "end"], 2)
    np.testing.assert_array_equal(widget.weights, before)
    assert (widget.losses.tolist(), widget.guesses.shape) == ([2.0, 1.0], (2, 3, 2))
    assert widget.error == ""
    # What Python has drawn since the last question stays.
    widget.set_state({"typed": "a b"})
    widget.replace(["x", "y", "z"], weights(1, 1))
    widget.set_state(RESET)
    assert widget.tokens == ["x", "y", "z"]
