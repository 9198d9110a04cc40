import json
import re

import numpy as np
import pytest
from small_widgets import distributions, make, payload
from snapshots import expected_next, weights_of

from course_lib.widgets.kit.traits import Array

TOKENS = ["the", "cat", "sat"]
RESET = {"typed": "", "query": 2, "layer": 0, "head": 0, "step": 0}
FILM = ("steps", "losses", "vocabulary", "guesses", "rivals")
HEADS = distributions(2, 3, 3, 3).numpy()


def explorer(tokens=TOKENS, weights=HEADS, **options):
    """One picture of three tokens without animation, by default."""
    given = {"tokens": tokens, "weights": weights, "step": 0}
    return make("AttentionExplorer", **dict.fromkeys(FILM) | given | options)


def one_head(tokens):
    return distributions(1, 1, len(tokens), len(tokens), seed=5)


def test_the_description_names_the_head_the_query_and_its_weights_at_a_step():
    weights = np.zeros((2, 2, 3, 3, 3))  # rows may differ from sum 1 by a thousandth
    weights[..., 0] = 0.9991
    weights[1, 1, 2, 1] = [0.25, 0.0, 0.7505]
    widget = explorer(weights=weights, steps=[0, "end"], step=1, layer=1, head=2, query=1)
    assert "layer 2, head 3" in widget.describe()
    assert "cat (place 2) looks most at sat (place 3), with weight 0.75" in widget.describe()


def test_a_page_has_the_weights_and_no_text_field():
    widget = explorer(attention=one_head)
    widget.typed = "one two"
    assert widget.plugged
    assert "typed" not in widget.limits()
    state = payload(widget)["state"]
    assert state["plugged"] is False
    assert state["typed"] == state["error"] == ""
    assert state["tokens"] == ["one", "two"]
    assert np.array_equal(Array._decode(state["weights"], None), widget.weights)


def test_a_page_has_the_last_snapshot_exactly_and_the_others_to_a_level():
    rows = distributions(6, 2, 2, 7, 7).numpy()
    past = np.tril(rows)
    for weights in (rows, past / past.sum(-1, keepdims=True)):
        state = explorer(list("abcdefg"), weights, steps=range(6)).page_state()
        found = weights_of(json.loads(json.dumps(state["weights"]))).numpy()
        np.testing.assert_allclose(found[-1], weights[-1], rtol=1e-6)
        assert np.abs(found - weights).max() < 1 / 255
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


def test_typed_tokens_go_to_the_function_and_its_weights_are_drawn_under_its_name():
    asked = []

    def my_attention(tokens):
        asked.append(list(tokens))
        tokens.clear()  # a new list
        return distributions(2, 3, 3, 3, seed=5)

    widget = explorer(attention=my_attention, layer=1, head=2)
    widget.typed = "  on the   mat "
    assert asked == [["on", "the", "mat"]]
    assert widget.tokens == ["on", "the", "mat"]
    np.testing.assert_allclose(widget.weights, distributions(2, 3, 3, 3, seed=5), rtol=1e-6)
    assert (widget.layer, widget.head, widget.error) == (1, 2, "")
    assert (widget.source, widget.given) == ("my_attention", None)


def test_errors_of_a_function_or_a_reader_are_explained_until_the_next_answer():
    answers = {"a b": None, "a d": distributions(1, 1, 3, 3), "a": distributions(1, 1, 1, 1)}
    widget = explorer(attention=lambda tokens: answers[" ".join(tokens)])
    before = widget.weights
    for typed, words in {
        "dog": r"KeyError in <lambda>, line \d+: 'dog'",
        "a b": "cannot be drawn: .*real numbers",
        "a d": "size 3 along query; expected 2",
        # These are refused before the function is called.
        "   ": "at least one token",
        " ".join("x" * 65): "tokens has 65 entries",
    }.items():
        widget.typed = typed
        assert re.search(words, widget.error)
        assert len(widget.error) < 300
        assert widget.tokens == TOKENS
        assert widget.weights is before
    widget.typed = "a"
    assert (widget.error, widget.tokens) == ("", ["a"])
    silent = explorer()
    silent.typed = "a b"
    assert silent.tokens == TOKENS


def test_reset_brings_the_first_picture_back_and_replace_draws_another_that_stays():
    widget = make("AttentionExplorer", attention=one_head)
    names = ("tokens", "weights", "source", "given", *FILM)
    first = {name: getattr(widget, name) for name in names}
    for words in ("a", "   "):
        widget.set_state({"typed": words})
        assert widget.guesses.size == widget.losses.size == 0
    widget.set_state(RESET)
    for name, value in first.items():
        np.testing.assert_array_equal(getattr(widget, name), value)
    assert (widget.query, widget.error) == (2, "")

    widget = explorer(layer=1, head=2, query=2, attention=one_head)
    with pytest.raises(ValueError, match="size 3 along query; expected 2"):
        widget.replace(["a", "b"], distributions(1, 1, 3, 3))
    assert (widget.tokens, widget.layer) == (TOKENS, 1)
    widget.replace(["a", "b"], distributions(1, 3, 2, 2))
    assert (widget.layer, widget.head, widget.query) == (0, 2, 1)
    widget.set_state(RESET | {"query": 1})
    assert widget.tokens == ["a", "b"]


def test_the_keys_of_cross_attention_are_those_of_a_context():
    rows = distributions(2, 3, 3, 5)
    widget = explorer(weights=rows, context=list("abcde"), query=2)
    assert f"looks most at {'abcde'[int(rows[0, 0, 2].argmax())]}" in widget.describe()
    assert "causal" not in widget.limits()
    film = explorer(weights=rows.expand(4, -1, -1, -1, -1), context=list("abcde"), steps=range(4))
    found = weights_of(json.loads(json.dumps(film.page_state()["weights"])))
    np.testing.assert_allclose(found, film.weights, atol=1 / 255)
    for wrong, said in (
        ({"context": list("abc")}, "size 5 along key; expected 3"),
        ({"causal": True}, "causal is True beside a context"),
        ({"attention": one_head}, "attention was given beside a context"),
    ):
        with pytest.raises(ValueError, match=said):
            explorer(weights=rows, **{"context": list("abcde")} | wrong)
    widget.replace(TOKENS, HEADS)
    assert widget.context == []
    widget.causal = True
    widget.replace(TOKENS, rows, context=list("abcde"))
    assert not widget.causal
