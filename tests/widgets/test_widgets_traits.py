"""What each type of trait accepts and refuses; test_widgets_refusals.py tests all widgets."""

import numpy as np
import pytest
import torch
import traitlets

from course_lib.widgets.kit import traits
from course_lib.widgets.kit.base import Widget

# Traits check their own values, and their messages are tested here.


def even(_widget, value):
    if value % 2:
        raise ValueError(f"{value} is odd")
    return value


class Sampler(Widget):
    """A widget with each type of trait, some depending on one another."""

    _module = "soft_lookup/soft_lookup.js"

    names = traits.Several(traits.Text(), "guests", distinct=True, least=2, most=3, read_only=True)
    places = traits.Array("guests", "xy=2", within=2, called="points")
    alphabet = traits.Text(default="abc", distinct=True, shortest=1, read_only=True)
    table = traits.Array("rows", "columns", most={"rows columns": 6, "rows": 4}, optional=True)
    ink = traits.Array("height", within=(0, 1), default=[0.5])
    modes = traits.Data(lambda self: ["on", "off"] if len(self.names) == 3 else ["on"])
    switch = traits.Switch(default=False)
    level = traits.Number(0, 1, default=0.5)
    count = traits.Integer(2, 8, default=2, rule=even)
    word = traits.Text(alphabet=lambda self: self.alphabet, shortest=1, longest=5, default="abc")
    rest = traits.Text(longest=lambda self: 6 - len(self.word), default="")
    letter = traits.Index(of=lambda self: len(self.word), default=lambda self: len(self.word) - 1)
    place = traits.Index(of=lambda self: len(self.word), unset=True)
    hidden = traits.Several(traits.Index(of=lambda self: len(self.word)), default=())
    most = traits.Integer(0, lambda self: len(self.word), default=0)
    colour = traits.Choice("red", "blue", default="red")
    size = traits.Choice(1, 2, default=1)
    mode = traits.Choice(
        "on", offered=lambda self: self.modes, needs={"off": "3 names"}, default="on"
    )

    def describe(self) -> str:
        return "A sampler."


def sampler(**changes):
    return Sampler(**{"names": ["Ada", "Ben"], "points": [[0, 0], [1, 1]]} | changes)


def test_a_value_is_kept_alike_from_a_constructor_and_an_assignment():
    for name, given, kept in (
        ("level", 0, 0.0),
        ("level", np.float32(1), 1.0),
        ("count", np.int64(4), 4),
        ("hidden", (2, 0), [2, 0]),
    ):
        constructed, assigned = sampler(**{name: given}), sampler()
        setattr(assigned, name, given)
        for widget in (constructed, assigned):
            assert getattr(widget, name) == kept
            assert type(getattr(widget, name)) is type(kept)
    assert sampler(hidden=iter([1])).hidden == [1]


def test_data_may_be_any_array_of_real_numbers_and_is_the_widget_s_own():
    rows = [[1, 2], [3, 4]]
    for value in (
        rows,
        np.array(rows),
        np.array(rows, dtype=np.float16).T.copy().T,
        torch.tensor(rows, dtype=torch.float64, requires_grad=True),
        torch.tensor(rows, dtype=torch.bfloat16),
    ):
        widget = sampler(table=value)
        assert widget.table.dtype == np.float32
        assert widget.table.flags.c_contiguous
        np.testing.assert_array_equal(widget.table, rows)
    table = np.ones((2, 2), dtype=np.float32)
    widget = sampler(table=table)
    table[0, 0] = 9
    assert widget.table[0, 0] == 1
    assert sampler(table=None).table.shape == (0, 0)
    assert sampler(word="ab", letter=None).letter == 1


OF_ANOTHER_TYPE = {
    "switch": [1], "level": ["1" * 10_000, True, None, 1j], "count": [2.0, True],
    "hidden": [["a"], 1], "names": ["A" * 10_000, [1, 2], None], "word": [5], "alphabet": [["a"]],
    "table": [[[True, False]], [["a", "b"]], [[1, None]], [[1j, 2]]],
}  # fmt: skip
NOT_ALLOWED = {
    "level": [-0.1, 2, np.nan], "count": [1, 9, 3], "letter": [3, -1], "place": [-2, 3],
    "most": [-1, 4], "hidden": [[0, 3]], "word": ["", "abcabc", "X" * 10_000, "a\ud800"],
    "rest": ["abcd"],
    "names": [[], ["Ada"], list("abcd"), ["Ada", "Ada"], ["Ada", "x" * 81]],
    "alphabet": ["abcba", ""], "colour": ["green" * 2000, None, ["red"]], "size": [True, 3],
    "mode": ["off", "dim"], "points": [[[0, 3], [0, 0]], [[0, 0, 0]] * 2, [[0, 0]] * 3],
    "ink": [[2], [-0.1]],
    "table": [
        np.ones((2, 4)), np.ones((5, 1)), [[1, 2], [3]], [1, 2], [[]], [[1, np.nan]],
        [[1, -np.inf]], [[1, 1e300]],
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("error", "table"), [(TypeError, OF_ANOTHER_TYPE), (ValueError, NOT_ALLOWED)]
)
def test_a_value_is_refused_by_name_alike_by_a_constructor_and_on_assignment(error, table):
    widget = sampler()
    called = {trait.called: name for name, trait in widget._declared().items()}
    for name, values in table.items():
        trait = called[name]
        before, read_only = getattr(widget, trait), widget.traits()[trait].read_only
        for value in values:
            said = "odd" if (name, value) == ("count", 3) else name
            with pytest.raises(error, match=said) as caught:
                sampler(**{name: value})
            assert len(str(caught.value)) < 3 * traits.LONGEST_NAME
            if not read_only:
                with pytest.raises(error, match=said):
                    setattr(widget, trait, value)
            assert getattr(widget, trait) is before


def test_drawn_data_cannot_be_replaced_in_python_or_by_the_page():
    widget = sampler()
    for name in ("names", "alphabet"):
        with pytest.raises(traitlets.TraitError, match="read-only"):
            setattr(widget, name, getattr(widget, name))
        with pytest.raises(ValueError, match=f"{name} came from the page, which cannot change it"):
            widget.set_state({name: getattr(widget, name)})


def test_an_array_that_arrives_broken_is_refused():
    widget, good = sampler(), traits.Array._encode(np.zeros(2, dtype=np.float32), None)
    before = widget.ink
    for value in (
        *(None, "AAAA", [1.0, 2.0], {}, {"shape": [2]}, good | {"shape": [3]}),
        *(good | {"base64": "A"}, good | {"base64": "ä"}, good | {"shape": "2"}),
        traits.Array._encode(np.array([np.nan, np.inf], dtype=np.float32), None),
    ):
        with pytest.raises(ValueError, match="ink"):
            widget.set_state({"ink": value})
        assert widget.ink is before


def test_names_and_their_values_have_equal_length():
    with pytest.raises(ValueError, match="points has the size 2 along guests; expected 3"):
        sampler(names=list("abc"))
    with pytest.raises(ValueError, match="mode 'off' needs 3 names"):
        sampler(mode="off")
    assert sampler(names=list("abc"), points=[[0, 0]] * 3, mode="off").mode == "off"


def test_values_that_no_longer_fit_are_adjusted():
    widget = sampler(letter=2, place=2, hidden=[0, 2], most=3, rest="xyz")
    widget.word = "ab"
    assert (widget.letter, widget.place, widget.hidden, widget.most) == (1, -1, [0], 2)
    widget.word = "abcab"
    assert (widget.letter, widget.rest) == (1, "")
