"""What each type of trait takes and refuses. Which widget has which: test_widgets_refusals.py."""

import base64
import json

import numpy as np
import pytest
import torch

from course_lib.widgets.base import Widget
from course_lib.widgets.traits import (
    LONGEST_NAME,
    Array,
    Choice,
    Data,
    Index,
    Integer,
    Number,
    Several,
    Switch,
    Text,
    finite_array,
    named,
)

# Traits check what they are given themselves, and their messages are what is tested here.
pytestmark = pytest.mark.usefixtures("plain_calls")


def even(_widget, value):
    if value % 2:
        raise ValueError(f"{value} is odd")
    return value


class Sampler(Widget):
    """One of each type of trait, and those that depend on one another."""

    _module = "soft_lookup.js"

    names = Several(Text(), "guests", distinct=True, least=2, most=3, read_only=True)
    places = Array("guests", "xy=2", within=2, called="points")
    alphabet = Text(default="abc", distinct=True, shortest=1, read_only=True)
    table = Array("rows", "columns", most={"rows columns": 6, "rows": 4}, optional=True)
    ink = Array("height", within=(0, 1), default=[0.5])
    modes = Data(lambda self: ["on", "off"] if len(self.names) == 3 else ["on"])
    switch = Switch(default=False)
    level = Number(0, 1, default=0.5)
    count = Integer(2, 8, default=2, rule=even)
    word = Text(alphabet=lambda self: self.alphabet, shortest=1, longest=5, default="abc")
    rest = Text(longest=lambda self: 6 - len(self.word), default="")
    letter = Index(of=lambda self: len(self.word), default=lambda self: len(self.word) - 1)
    place = Index(of=lambda self: len(self.word), unset=True)
    hidden = Several(Index(of=lambda self: len(self.word)), default=())
    most = Integer(0, lambda self: len(self.word), default=0)
    colour = Choice("red", "blue", default="red")
    size = Choice(1, 2, default=1)
    mode = Choice("on", offered=lambda self: self.modes, needs={"off": "3 names"}, default="on")

    def describe(self) -> str:
        return "A sampler."


def sampler(**changes):
    return Sampler(**{"names": ["Ada", "Ben"], "points": [[0, 0], [1, 1]]} | changes)


# What is taken -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "given", "kept"),
    [
        ("level", 0, 0.0),
        ("level", np.float32(1), 1.0),
        ("count", np.int64(4), 4),
        ("letter", 2, 2),
        ("place", -1, -1),
        ("hidden", (2, 0), [2, 0]),
        pytest.param("hidden", iter([1]), [1], id="hidden-an iterator"),
        ("word", "abcab", "abcab"),
        ("colour", "blue", "blue"),
        ("size", 2, 2),
        ("switch", True, True),
    ],
    ids=str,
)
def test_a_value_is_kept_alike_from_a_constructor_and_an_assignment(name, given, kept):
    given, again = (list(given),) * 2 if name == "hidden" else (given, given)
    constructed, assigned = sampler(**{name: given}), sampler()
    setattr(assigned, name, again)
    for widget in (constructed, assigned):
        assert getattr(widget, name) == kept
        assert type(getattr(widget, name)) is type(kept)


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2], [3, 4]],
        ((1.0, 2.0), (3.0, 4.0)),
        np.array([[1, 2], [3, 4]]),
        np.array([[1, 2], [3, 4]], dtype=np.float16),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True),
        torch.tensor([[1, 2], [3, 4]]),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.bfloat16),
        np.array([[1.0, 3.0], [2.0, 4.0]]).T,
    ],
    ids=["lists", "tuples", "integers", "half", "gradient", "tensor", "bfloat16", "transposed"],
)
def test_data_may_be_any_array_of_real_numbers(value):
    widget = sampler(table=value)
    assert widget.table.dtype == np.float32
    assert widget.table.flags.c_contiguous
    np.testing.assert_array_equal(widget.table, [[1, 2], [3, 4]])


def test_a_widget_keeps_its_data_when_the_caller_changes_theirs():
    table = np.ones((2, 2), dtype=np.float32)
    widget = sampler(table=table)
    table[0, 0] = 9
    assert widget.table[0, 0] == 1


def test_none_stands_for_a_default_that_the_widget_computes_and_for_an_optional_array():
    widget = sampler(word="ab", letter=None, table=None)
    assert widget.letter == 1
    assert widget.table.shape == (0, 0)


# What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("switch", 1, TypeError("switch must be True or False, but was given 1")),
        ("level", -0.1, "level must lie between 0 and 1, but was given -0.1"),
        ("level", 2, "level must lie between 0 and 1, but was given 2"),
        ("level", np.nan, "level must lie between"),
        ("level", "1", TypeError("level must be a number, but was given '1'")),
        ("level", True, TypeError("level must be a number, but was given True")),
        ("level", None, TypeError("level must be a number, but was given None")),
        ("level", 1j, TypeError("level must be a number")),
        ("count", 2.0, TypeError("count must be an integer, but was given 2.0")),
        ("count", True, TypeError("count must be an integer, but was given True")),
        ("count", 1, "count must lie between 2 and 8, but was given 1"),
        ("count", 3, "3 is odd"),
        (
            "letter",
            3,
            "letter must lie between 0 and 2, since it counts from 0 and their numb",
        ),
        ("letter", -1, "letter must lie between 0 and 2"),
        ("place", -2, "place must lie between -1 and 2"),
        ("most", 4, "most must lie between 0 and 3"),
        ("hidden", [0, 3], "hidden must lie between 0 and 2"),
        ("hidden", ["a"], TypeError("hidden must be an integer, but was given 'a'")),
        ("hidden", 1, TypeError("hidden must be a list of integers, but was given 1")),
        ("names", "Ada", TypeError("names must be a list of strings, but was given 'Ada'")),
        ("names", [1, 2], TypeError("names is 1; expected a string")),
        ("names", None, TypeError("names must be a list of strings, but was given None")),
        ("names", [], "names is empty; give 2 at least"),
        ("names", ["Ada"], "names has 1 entries; expected 2 to 3"),
        ("names", list("abcd"), "names has 4 entries; expected 2 to 3"),
        ("names", ["Ada", "Ada"], r"names repeats an entry in \['Ada', 'Ada'\]; rename one"),
        ("names", ["Ada", "x" * 81], "names 'x{79}… has 81 letters; expected 80 at most"),
        ("names", list("abc"), "points has the size 2 along guests; expected 3, as in names"),
        ("word", 5, TypeError("word is 5; expected a string")),
        ("word", "", "word is empty; expected one letter at least"),
        ("word", "abcabc", "word 'abcabc' has 6 letters; expected 5 at most"),
        ("word", "aXbY", "word 'aXbY' holds 'X', 'Y', which the alphabet 'abc' does not have"),
        ("rest", "abcd", "rest 'abcd' has 4 letters; expected 3 at most"),
        ("alphabet", ["a"], TypeError(r"alphabet is \['a'\]; expected a string; join a list")),
        ("alphabet", "abcba", "alphabet repeats 'a', 'b'; expected distinct characters"),
        ("colour", "green", "colour must be one of red, blue, but was given 'green'"),
        ("colour", None, "colour must be one of red, blue, but was given None"),
        ("colour", ["red"], "colour must be one of red, blue"),
        ("size", True, "size must be one of 1, 2, but was given True"),
        ("mode", "off", "mode 'off' needs 3 names; pass 3 names when the widget is made"),
        ("mode", "dim", "mode must be one of on, but was given 'dim'"),
        ("points", [[0, 3], [0, 0]], r"points must lie within \[-2, 2\], but reaches from 0 to 3"),
        ("points", [[0, 0, 0]] * 2, "points has the size 3 along xy; expected 2"),
        ("ink", [2], r"ink must lie within \[0, 1\], but reaches from 2 to 2; rescale it"),
        ("table", np.ones((2, 4)), "table has the size 8 along rows times columns; expected 6"),
        ("table", np.ones((5, 1)), "table has the size 5 along rows; expected 4 at most"),
        ("table", [[1, 2], [3]], "differ in length"),
        ("table", [1, 2], r"axes \(rows, columns\).*shape \(2,\)"),
        ("table", [[]], "at least one"),
        ("table", [[1, np.nan]], "NaN or infinite"),
        ("table", [[1, -np.inf]], "NaN or infinite"),
        ("table", [[1, 1e300]], "float32"),
        ("table", [[True, False]], TypeError("bool")),
        ("table", [["a", "b"]], TypeError("real numbers")),
        ("table", [[1, None]], TypeError("real numbers")),
        ("table", [[1j, 2]], TypeError("complex")),
        ("ink", None, TypeError("ink needs the axes .* real numbers")),
    ],
    ids=str,
)
def test_a_value_is_refused_alike_by_a_constructor_and_on_assignment(name, value, message):
    error = type(message) if isinstance(message, TypeError) else ValueError
    with pytest.raises(error, match=str(message)):
        sampler(**{name: value})
    widget = sampler()
    trait = next(n for n, trait in widget._declared().items() if trait.called == name)
    before = getattr(widget, trait)
    if not widget.traits()[trait].read_only:
        with pytest.raises(error, match=str(message)):
            setattr(widget, trait, value)
    assert getattr(widget, trait) is before


def test_a_value_of_ten_thousand_letters_does_not_fill_the_message():
    for name in ("level", "word", "colour", "names", "hidden", "switch"):
        with pytest.raises((TypeError, ValueError)) as caught:
            sampler(**{name: "x" * 10_000})
        assert len(str(caught.value)) < 3 * LONGEST_NAME


def test_a_choice_of_nothing_says_so():
    class Silent(Sampler):
        quiet = Choice(offered=lambda _: [])

    with pytest.raises(ValueError, match="quiet must be one of none, for none is offered"):
        Silent(["a", "b"], [[0, 0], [1, 1]], "on")


def test_what_has_a_name_needs_a_dict_of_names_that_can_be_read():
    assert named("runs", None) == {}
    assert named("runs", {"mine": 1}) == {"mine": 1}
    with pytest.raises(TypeError, match="runs is a list; expected a dict"):
        named("runs", [1])
    with pytest.raises(TypeError, match="runs is 1; expected a string"):
        named("runs", {1: 2})
    with pytest.raises(ValueError, match="runs is empty"):
        named("runs", {"": 2})
    with pytest.raises(ValueError, match="has 81 letters"):
        named("runs", {"x" * 81: 2})


# Traits that depend on one another ---------------------------------------------------------------


def test_what_no_longer_fits_follows_the_change():
    widget = sampler(letter=2, place=2, hidden=[0, 2], most=3, rest="xyz")
    widget.word = "ab"
    assert (widget.letter, widget.place, widget.hidden, widget.most) == (1, -1, [0], 2)
    assert widget.rest == "xyz"
    widget.word = "abcab"
    assert (widget.letter, widget.rest) == (1, "")


def test_what_comes_together_is_taken_together_in_any_order():
    widget = sampler()
    widget.set_state({"letter": 4, "hidden": [4], "word": "abcab"})
    assert (widget.word, widget.letter, widget.hidden) == ("abcab", 4, [4])
    widget.set_state({"word": "a", "letter": 0})
    assert (widget.word, widget.letter, widget.hidden) == ("a", 0, [])


def test_a_message_that_does_not_fit_together_changes_nothing_and_the_page_hears_why(monkeypatch):
    widget, sent, states = sampler(), [], []
    monkeypatch.setattr(widget, "send", sent.append)
    monkeypatch.setattr(widget, "send_state", states.append)
    with pytest.raises(ValueError, match="letter must lie between 0 and 1") as caught:
        widget.set_state({"level": 1.0, "letter": 2, "word": "ab", "place": 0, "hidden": [1]})
    with pytest.raises(ValueError, match="letter must lie between 0 and 1"):
        widget.set_state({"letter": 5, "word": "ab"})
    assert (widget.level, widget.word, widget.letter) == (0.5, "abc", 2)
    assert (widget.place, widget.hidden) == (-1, [])
    assert sent[0] == {"refused": str(caught.value)}
    assert set(states[0]) == {"level", "letter", "word", "place", "hidden"}


def test_a_refused_message_reaches_no_observer():
    widget, heard = sampler(), []
    widget.observe(heard.append, ["level", "word"])
    with pytest.raises(ValueError, match="letter"):
        widget.set_state({"level": 1.0, "word": "ab", "letter": 9})
    assert heard == []
    widget.set_state({"level": 1.0})
    assert [change["new"] for change in heard] == [1.0]


# The journey of an array -------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1,), (3,), (2, 3), (2, 2, 5, 5)], ids=str)
def test_an_array_survives_the_journey_to_javascript_and_back(shape):
    sent = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    encoded = json.loads(json.dumps(Array._encode(sent, None)))
    received = Array._decode(encoded, None)
    assert received.dtype == np.float32
    np.testing.assert_array_equal(received, sent)


def test_an_array_travels_as_little_endian_float32():
    encoded = Array._encode(np.array([1.0, -2.5], dtype=">f4"), None)
    assert encoded["shape"] == [2]
    assert base64.b64decode(encoded["base64"]) == b"\x00\x00\x80\x3f\x00\x00\x20\xc0"


def test_an_array_that_came_from_javascript_may_be_written_to():
    received = Array._decode(Array._encode(np.zeros(3, dtype=np.float32), None), None)
    received[0] = 1
    assert received[0] == 1


def test_an_array_is_named_in_what_is_said_about_it():
    with pytest.raises(ValueError, match=r"data needs the axes \(rows\)"):
        finite_array("data", [[1.0]], ("rows",))
